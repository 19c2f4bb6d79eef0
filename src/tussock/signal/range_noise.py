"""From the true range to the measured one.

Eq (2) of BlenSor: measured = true + bias of the laser + noise of the ray; then the sensor's own steps. The noise
is normal or Laplace with the standard deviation asked for; the bias of a laser never changes.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.elementary import logarithm
from tussock.kernels import inline_kernel
from tussock.randomness import Purpose, normal_array, normal_pair, uniform

__all__ = ["deviate", "laser_biases", "noisy_range", "quantised"]

_ROOT_HALF = np.float32(math.sqrt(0.5))


def laser_biases(sigma: float, lasers: int, seed: int) -> NDArray[np.float32]:
    """The bias ε_bias of every laser [m], shape (lasers,): fixed by the seed, the same in every frame."""
    return _biases(sigma, lasers, seed).copy()


@lru_cache(maxsize=64)
def _biases(sigma: float, lasers: int, seed: int) -> NDArray[np.float32]:
    return (sigma * normal_array(seed, Purpose.LASER_BIAS, 0, np.arange(lasers))).astype(np.float32)


@inline_kernel
def deviate(word0: Any, word1: Any, laplace: Any) -> Any:
    """A draw of mean 0 and standard deviation 1, normal or Laplace."""
    if not laplace:
        return normal_pair(word0, word1)[0]
    # The inverse of Laplace's distribution function; b = 1/√2 for a standard deviation of 1.
    u = uniform(word0) - np.float32(0.5) + np.float32(2.0**-25)
    size = _ROOT_HALF * -logarithm(np.float32(1.0) - np.float32(2.0) * abs(u))
    return size if u > np.float32(0.0) else -size


@inline_kernel
def noisy_range(true_range: Any, bias: Any, sigma: Any, draw: Any) -> Any:
    """dist_noisy = dist_real + ε_bias + ε_ray, never negative [m]"""
    return max(true_range + bias + sigma * draw, np.float32(0.0))


@inline_kernel
def quantised(value: Any, step: Any) -> Any:
    """The nearest whole multiple of ``step``; a step of 0 leaves the value alone."""
    if step <= np.float32(0.0):
        return value
    return np.floor(value / step + np.float32(0.5)) * step
