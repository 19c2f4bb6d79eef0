"""Chance as a function of counters: the same seed gives the same bits in any order, on any number of threads.

Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011) turns a key (the seed) and
a counter into four 32-bit words. The counter names the draw: which pulse, which frame, what for. Nothing is
carried from one draw to the next, so a scan can be cut anywhere. The functions work inside Numba kernels on
numbers; those whose names end in `_array` do the same, bit by bit, on NumPy arrays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import IntEnum, unique
from typing import Any, NamedTuple

import numpy as np
from numba import uint32, uint64
from numpy.typing import ArrayLike, NDArray

from tussock.elementary import cosine_of_turns, logarithm, sine_of_turns
from tussock.errors import InputError
from tussock.kernels import inline_kernel, kernel

__all__ = [
    "Chance",
    "Purpose",
    "chance_of",
    "chances_of",
    "check_seed",
    "normal_array",
    "normal_pair",
    "philox",
    "random_words",
    "seed_key",
    "uniform",
    "uniform_array",
    "words_array",
]


@unique
class Purpose(IntEnum):
    """What a draw is for; part of the counter, so that no two effects ever share a number."""

    LASER_BIAS = 1
    RAY_NOISE = 2
    BEAM_SAMPLE = 3
    POINTING = 4
    DROPOUT = 5
    VEGETATION = 6
    VOLUME = 7
    PLANT = 8
    POPULATE = 9
    TERRAIN = 10
    IMAGE_NOISE = 11
    PIXEL_SAMPLE = 12
    HELD_OUT = 13
    FALSE_ALARM = 14
    INTERFERENCE = 15
    WAVEFORM_NOISE = 16
    WEATHER = 17
    VOLUME_BEHIND = 18
    IMU = 20
    GPS = 40
    COMPASS = 41
    ODOMETRY = 42
    VEHICLE_IMU = 43
    SITE = 44
    WIND = 48
    WORLD = 50


_M0, _M1 = 0xD2511F53, 0xCD9E8D57
_W0, _W1 = 0x9E3779B9, 0xBB67AE85
_MASK = 0xFFFFFFFF
_PURPOSE_BITS = 8
_TO_UNIT = np.float32(2.0**-32)


def check_seed(seed: int) -> int:
    """A seed is a whole number from 0 to 2⁶⁴ − 1."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= int(seed) < 2**64:
        raise InputError.of("seed", "must be a whole number from 0 to 2^64 - 1", seed)
    return int(seed)


def seed_key(seed: int) -> tuple[np.uint32, np.uint32]:
    """The two key words of a seed."""
    seed = check_seed(seed)
    return np.uint32(seed & _MASK), np.uint32(seed >> 32)


@inline_kernel
def philox(k0: Any, k1: Any, c0: Any, c1: Any, c2: Any, c3: Any) -> Any:
    """Four random words of the key (k0, k1) and the counter (c0, c1, c2, c3): ten rounds."""
    begin = uint32(c0), uint32(c1), uint32(c2), uint32(c3), uint32(k0), uint32(k1)
    x0, x1, x2, x3, _, _ = _five_rounds(_five_rounds(begin))
    return x0, x1, x2, x3


@inline_kernel
def _five_rounds(state: Any) -> Any:
    # One after the other, not in a loop: then a loop over lanes, which draws for sixteen pulses, becomes vector code.
    return _round(_round(_round(_round(_round(state)))))


@inline_kernel
def _round(state: Any) -> Any:
    """The words and the key after one more round."""
    x0, x1, x2, x3, key0, key1 = state
    p0 = uint64(_M0) * uint64(x0)
    p1 = uint64(_M1) * uint64(x2)
    y0 = uint32(p1 >> uint64(32)) ^ x1 ^ key0
    y2 = uint32(p0 >> uint64(32)) ^ x3 ^ key1
    return (
        uint32(y0), uint32(p1), uint32(y2), uint32(p0), uint32(key0 + uint32(_W0)), uint32(key1 + uint32(_W1)),
    )  # fmt: skip


class Chance(NamedTuple):
    """What all draws of a frame have in common."""

    key0: np.uint32
    key1: np.uint32
    frame: np.uint32
    """low 32 bits of the frame's number"""
    epoch: np.uint32
    """the rest of it, in the bits above those of the purposes"""


def chance_of(seed: int, frame: int) -> Chance:
    """The chance of frame number ``frame``, 0 to 2⁵⁶ − 1, under a seed."""
    return Chance(*seed_key(seed), np.uint32(frame & _MASK), np.uint32(frame >> 32 << _PURPOSE_BITS))


def chances_of(seeds: Sequence[int], frame: int) -> NDArray[np.uint32]:
    """The chance of one frame under many seeds that were checked, shape (seeds, 4)."""
    many = np.array(seeds, np.uint64)
    words = np.empty((len(many), 4), np.uint32)
    words[:, 0], words[:, 1] = many & np.uint64(_MASK), many >> np.uint64(32)
    words[:, 2:] = chance_of(0, frame)[2:]
    return words


@inline_kernel
def random_words(chance: Chance, index: Any, number: Any, purpose: int) -> Any:
    """Four random words: draw ``number`` of pulse or pixel ``index``, for a purpose."""
    return philox(chance.key0, chance.key1, index, chance.frame, number, uint32(chance.epoch) | uint32(purpose))


@inline_kernel
def uniform(word: Any) -> Any:
    """A word as a float32 in [0, 1)."""
    # 24 bits: what a float32 holds exactly, so that 1.0 cannot appear by rounding.
    return np.float32(uint32(word) >> uint32(8)) * np.float32(2.0**-24)


@inline_kernel
def normal_pair(word0: Any, word1: Any) -> Any:
    """Two words as two independent standard normal float32 (Box-Muller)."""
    u = (np.float32(word0) + np.float32(1.0)) * _TO_UNIT  # (0, 1]: the logarithm stays finite
    radius = np.float32(math.sqrt(np.float32(-2.0) * logarithm(u)))
    turns = np.float32(np.uint32(word1) >> np.uint32(8)) * np.float32(2.0**-24)
    return radius * cosine_of_turns(turns), radius * sine_of_turns(turns)


def words_array(seed: int, purpose: int, frame: ArrayLike, index: ArrayLike, draw: ArrayLike = 0) -> NDArray[np.uint32]:
    """The four words of every (frame, index, draw), broadcast together; shape (..., 4).

    The counter is (index, frame, draw, purpose), as in the kernels.
    """
    key0, key1 = (int(k) for k in seed_key(seed))
    mask = np.uint64(_MASK)
    x0, x1, x2, x3 = (
        np.array(a, np.uint64) & mask
        for a in np.broadcast_arrays(np.asarray(index), np.asarray(frame), np.asarray(draw), np.asarray(int(purpose)))
    )
    shift = np.uint64(32)
    for _ in range(10):
        p0, p1 = np.uint64(_M0) * x0, np.uint64(_M1) * x2
        x0, x1, x2, x3 = (
            (p1 >> shift) ^ x1 ^ np.uint64(key0),
            p1 & mask,
            (p0 >> shift) ^ x3 ^ np.uint64(key1),
            p0 & mask,
        )
        key0, key1 = (key0 + _W0) & _MASK, (key1 + _W1) & _MASK
    return np.stack([x0, x1, x2, x3], -1).astype(np.uint32)


def uniform_array(
    seed: int, purpose: int, frame: ArrayLike, index: ArrayLike, draw: ArrayLike = 0
) -> NDArray[np.float32]:
    """Uniform float32 in [0, 1) from the first word of each counter."""
    words = words_array(seed, purpose, frame, index, draw)[..., 0]
    return (words >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24)


def normal_array(
    seed: int, purpose: int, frame: ArrayLike, index: ArrayLike, draw: ArrayLike = 0
) -> NDArray[np.float32]:
    """Standard normal float32 from the first two words of each counter: the first of `normal_pair`, bit by bit."""
    words = words_array(seed, purpose, frame, index, draw)
    normals = np.empty(words.shape[:-1], np.float32)
    _first_normals(words.reshape(-1, 4), normals.reshape(-1))
    return normals


@kernel
def _first_normals(words: Any, out: Any) -> None:
    for i in range(len(words)):
        out[i] = normal_pair(words[i, 0], words[i, 1])[0]
