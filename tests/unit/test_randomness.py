from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tussock.errors import InputError
from tussock.kernels import kernel
from tussock.randomness import (
    Purpose,
    chance_of,
    chances_of,
    check_seed,
    normal_array,
    normal_pair,
    philox,
    seed_key,
    uniform,
    uniform_array,
    words_array,
)

# Key, counter and result of Philox4x32-10 as Random123 publishes them (kat_vectors).
KNOWN = [
    ((0, 0), (0, 0, 0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 4, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0xA4093822, 0x299F31D0),
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@kernel
def _kernel_words(k0: int, k1: int, counters: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(counters)):
        w = philox(k0, k1, counters[i, 0], counters[i, 1], counters[i, 2], counters[i, 3])
        out[i, 0], out[i, 1], out[i, 2], out[i, 3] = w[0], w[1], w[2], w[3]


@kernel
def _kernel_draws(words: np.ndarray, uniforms: np.ndarray, normals: np.ndarray) -> None:
    for i in range(len(words)):
        uniforms[i] = uniform(words[i, 0])
        normals[i, 0], normals[i, 1] = normal_pair(words[i, 0], words[i, 1])


@pytest.mark.parametrize(("key", "counter", "words"), KNOWN)
def test_known_answers(key: tuple, counter: tuple, words: tuple) -> None:
    out = np.zeros((1, 4), np.uint32)
    _kernel_words(key[0], key[1], np.array([counter], np.int64), out)
    assert tuple(out[0]) == words, "kernel"
    seed = key[0] | key[1] << 32
    index, frame, draw, purpose = counter
    assert tuple(words_array(seed, purpose, frame, index, draw)) == words, "array"
    plain = tuple(int(word) for word in philox(*key, *counter))
    assert plain == words, "called from Python"


def test_kernel_and_array_agree_on_every_counter() -> None:
    rng = np.random.default_rng(1)
    counters = rng.integers(0, 2**32, (5000, 4))
    out = np.zeros((5000, 4), np.uint32)
    seed = 0x0123456789ABCDEF
    k0, k1 = seed_key(seed)
    _kernel_words(k0, k1, counters, out)
    index, frame, draw, _ = counters.T
    for purpose in (Purpose.RAY_NOISE, Purpose.PLANT):
        counters[:, 3] = purpose
        _kernel_words(k0, k1, counters, out)
        assert np.array_equal(words_array(seed, purpose, frame, index, draw), out)
    uniforms, normals = np.zeros(5000, np.float32), np.zeros((5000, 2), np.float32)
    _kernel_draws(out, uniforms, normals)
    assert np.array_equal(uniform_array(seed, purpose, frame, index, draw), uniforms)
    assert np.array_equal(normal_array(seed, purpose, frame, index, draw), normals[:, 0])
    radius = np.sqrt(-2 * np.log((out[:, 0] + 1.0) / 2**32))
    angle = 2 * np.pi * (out[:, 1] >> 8) / 2**24
    assert np.abs(radius * np.cos(angle) - normals[:, 0]).max() < 2e-6, "Box and Muller"
    assert np.abs(radius * np.sin(angle) - normals[:, 1]).max() < 2e-6


def test_ends_of_the_scale() -> None:
    words = np.array([[0, 0], [0xFFFFFFFF, 0xFFFFFFFF], [0, 0xFFFFFFFF], [0xFFFFFFFF, 0]], np.uint32)
    uniforms, normals = np.zeros(4, np.float32), np.zeros((4, 2), np.float32)
    _kernel_draws(words, uniforms, normals)
    assert uniforms.min() == 0.0
    assert uniforms.max() < 1.0
    assert np.isfinite(normals).all()
    assert 6.6 < np.abs(normals).max() < 6.7, "√(64 ln 2)"


def test_broadcasting_and_independence_of_order() -> None:
    grid = uniform_array(3, Purpose.POPULATE, np.arange(4)[:, None], np.arange(5))
    assert grid.shape == (4, 5)
    assert grid[2, 3] == uniform_array(3, Purpose.POPULATE, 2, 3)
    back = uniform_array(3, Purpose.POPULATE, 0, np.arange(1000)[::-1])
    assert np.array_equal(back[::-1], uniform_array(3, Purpose.POPULATE, 0, np.arange(1000)))


def test_uniforms_are_uniform() -> None:
    draws = uniform_array(11, Purpose.BEAM_SAMPLE, 0, np.arange(200_000)).astype(float)
    assert abs(draws.mean() - 0.5) < 5 * np.sqrt(1 / 12 / 200_000)
    assert stats.kstest(draws, "uniform").pvalue > 1e-3


def test_normals_are_normal() -> None:
    draws = normal_array(11, Purpose.RAY_NOISE, 0, np.arange(200_000)).astype(float)
    assert abs(draws.mean()) < 5 / np.sqrt(200_000)
    assert abs(draws.var() - 1) < 5 * np.sqrt(2 / 200_000)
    assert abs(stats.skew(draws)) < 5 * np.sqrt(6 / 200_000)
    assert abs(stats.kurtosis(draws)) < 5 * np.sqrt(24 / 200_000)
    assert stats.kstest(draws, "norm").pvalue > 1e-3


def test_a_pair_of_normals_is_independent() -> None:
    words = words_array(5, Purpose.POINTING, 0, np.arange(100_000))
    uniforms, normals = np.zeros(100_000, np.float32), np.zeros((100_000, 2), np.float32)
    _kernel_draws(words, uniforms, normals)
    assert abs(np.corrcoef(normals.T)[0, 1]) < 5 / np.sqrt(100_000)
    assert abs(np.corrcoef((normals**2).T)[0, 1]) < 5 / np.sqrt(100_000)


@pytest.mark.parametrize("what", ["seed", "purpose", "frame", "index", "draw"])
def test_each_part_of_the_counter_gives_other_numbers(what: str) -> None:
    base = {"seed": 1, "purpose": Purpose.VOLUME, "frame": 2, "draw": 3}
    index = np.arange(50_000)
    one = uniform_array(base["seed"], base["purpose"], base["frame"], index, base["draw"]).astype(float)
    if what == "index":
        other = np.roll(one, 1)
    else:
        base[what] = Purpose.PLANT if what == "purpose" else base[what] + 1
        other = uniform_array(base["seed"], base["purpose"], base["frame"], index, base["draw"]).astype(float)
    assert abs(np.corrcoef(one, other)[0, 1]) < 5 / np.sqrt(50_000)


def test_purposes_differ() -> None:
    assert len({int(purpose) for purpose in Purpose}) == len(Purpose)


def test_seeds() -> None:
    assert seed_key(0x0123456789ABCDEF) == (0x89ABCDEF, 0x01234567)
    assert check_seed(np.int64(5)) == 5
    for bad in (-1, 2**64, 1.0, "1", None, True):
        with pytest.raises(InputError, match=r"^seed: must be a whole number from 0 to 2\^64 - 1, got "):
            check_seed(bad)


def test_the_chance_of_many_seeds_is_that_of_each() -> None:
    seeds = [0, 1, 2**32 - 1, 2**32, 2**64 - 1]
    for frame in (0, 7, 2**32 + 5, 2**56 - 1):
        many = chances_of(seeds, frame)
        assert many.dtype == np.uint32
        assert many.tolist() == [[int(word) for word in chance_of(seed, frame)] for seed in seeds]
