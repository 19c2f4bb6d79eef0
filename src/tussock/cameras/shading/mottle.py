"""Smooth blotches in space: value noise, for clouds and for colours that differ from place to place.

Whole-numbered points of space have values from 0 to 1 by a hash of their coordinates; in between they are blended by
3 t² − 2 t³ along each axis. A function of the place alone, so a patch stays where it is from every viewpoint.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import uint32

from tussock.kernels import inline_kernel, kernel

__all__ = ["hashed", "mottle", "slope"]


@kernel
def hashed(a: Any, b: Any, c: Any) -> Any:
    """A value from 0 to 1 for three whole numbers (mixing steps of MurmurHash3)."""
    h = uint32(uint32(a) * uint32(0x8DA6B343)) ^ uint32(uint32(b) * uint32(0xD8163841))
    h = uint32(h ^ uint32(uint32(c) * uint32(0xCB1AB31F)))
    h = uint32((h ^ (h >> uint32(16))) * uint32(0x85EBCA6B))
    h = uint32((h ^ (h >> uint32(13))) * uint32(0xC2B2AE35))
    return np.float32(uint32(h ^ (h >> uint32(16))) >> uint32(8)) * np.float32(2.0**-24)


@inline_kernel
def whole_below(x: Any) -> Any:
    """⌊x⌋ without a call into the C library."""
    whole = np.int32(x)
    return whole - np.int32(1) if np.float32(whole) > x else whole


@kernel
def mottle(x: Any, y: Any, z: Any) -> Any:
    """The noise at a place, from 0 to 1."""
    i, j, k = whole_below(x), whole_below(y), whole_below(z)
    u, v, w = np.float32(x) - np.float32(i), np.float32(y) - np.float32(j), np.float32(z) - np.float32(k)
    three, two = np.float32(3.0), np.float32(2.0)
    u, v, w = u * u * (three - two * u), v * v * (three - two * v), w * w * (three - two * w)
    total = np.float32(0.0)
    for corner in range(8):
        a, b, c = corner & 1, (corner >> 1) & 1, corner >> 2
        share = (u if a else np.float32(1.0) - u) * (v if b else np.float32(1.0) - v)
        total += share * (w if c else np.float32(1.0) - w) * hashed(i + a, j + b, k + c)
    return total


@kernel
def slope(x: Any, y: Any, z: Any) -> Any:
    """How the noise rises along x, y and z at a place."""
    i, j, k = whole_below(x), whole_below(y), whole_below(z)
    u, v, w = np.float32(x) - np.float32(i), np.float32(y) - np.float32(j), np.float32(z) - np.float32(k)
    one, two, three, six = np.float32(1.0), np.float32(2.0), np.float32(3.0), np.float32(6.0)
    du, dv, dw = six * u * (one - u), six * v * (one - v), six * w * (one - w)
    u, v, w = u * u * (three - two * u), v * v * (three - two * v), w * w * (three - two * w)
    gx = gy = gz = np.float32(0.0)
    for corner in range(8):
        a, b, c = corner & 1, (corner >> 1) & 1, corner >> 2
        value = hashed(i + a, j + b, k + c)
        p, q, r = (u if a else one - u), (v if b else one - v), (w if c else one - w)
        gx += (du if a else -du) * q * r * value
        gy += p * (dv if b else -dv) * r * value
        gz += p * q * (dw if c else -dw) * value
    return gx, gy, gz
