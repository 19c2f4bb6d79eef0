from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tussock.kernels import kernel
from tussock.randomness import Purpose, words_array
from tussock.signal.range_noise import biases_of, deviate, laser_biases, noisy_range, quantised

f = np.float32


@kernel
def _draw(words: np.ndarray, laplace: bool, out: np.ndarray) -> None:
    for i in range(len(words)):
        out[i] = deviate(words[i, 0], words[i, 1], laplace)


@pytest.mark.parametrize(("laplace", "shape"), [(False, stats.norm()), (True, stats.laplace(scale=np.sqrt(0.5)))])
def test_deviates_follow_their_distribution(laplace: bool, shape: object) -> None:
    draws = np.zeros(100_000, np.float32)
    _draw(words_array(4, Purpose.RAY_NOISE, 0, np.arange(len(draws))), laplace, draws)
    assert abs(draws.mean()) < 5 / np.sqrt(len(draws))
    assert draws.std() == pytest.approx(1.0, abs=0.015)
    assert stats.kstest(draws.astype(float), shape.cdf).pvalue > 1e-3


def test_the_ends_of_laplace_are_finite() -> None:
    words = np.array([[0, 0], [0xFFFFFFFF, 0], [0x7FFFFFFF, 0], [0x80000000, 0]], np.uint32)
    draws = np.zeros(4, np.float32)
    _draw(words, True, draws)
    assert np.isfinite(draws).all()
    assert draws[0] == -draws[1], "even about 0"
    assert 11 < draws[1] < 13
    assert abs(draws[2]) < 1e-6
    assert abs(draws[3]) < 1e-6


def test_eq_2_of_blensor() -> None:
    assert float(noisy_range(f(10), f(0.1), f(0.02), f(-2))) == pytest.approx(10.06)
    assert float(noisy_range(f(0.1), f(-0.3), f(0), f(0))) == 0.0


def test_biases_are_fixed_by_the_seed() -> None:
    biases = laser_biases(0.05, 5000, 3)
    assert biases.dtype == np.float32
    assert np.array_equal(biases[:64], laser_biases(0.05, 64, 3)), "a laser keeps its bias whatever stands beside it"
    assert not np.array_equal(biases, laser_biases(0.05, 5000, 4))
    assert biases.std() == pytest.approx(0.05, rel=0.05)
    assert not laser_biases(0.0, 16, 3).any()


@pytest.mark.parametrize(
    ("value", "step", "expected"),
    [
        (1.2345, 0.0, 1.2345),
        (1.2345, 0.01, 1.23),
        (1.2351, 0.01, 1.24),
        (0.001, 0.002, 0.002),
        (99.9989, 0.002, 99.998),
    ],
)
def test_steps(value: float, step: float, expected: float) -> None:
    assert float(quantised(f(value), f(step))) == pytest.approx(expected, abs=2e-5)


def test_biases_of_many_sensors_are_those_of_each() -> None:
    for sigma in (0.02, 1.0):
        many = biases_of(sigma, 5, [3, 4, 2**64 - 1])
        assert many.shape == (3, 5)
        for row, seed in zip(many, (3, 4, 2**64 - 1), strict=True):
            assert (row == laser_biases(sigma, 5, seed)).all()
    assert (biases_of(0.0, 5, [1, 2]) == np.zeros((2, 5), np.float32)).all()
