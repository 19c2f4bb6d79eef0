"""From the true range to the measured one: eq (2) of BlenSor, then the sensor's steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import inline_kernel
from tussock.randomness import Purpose, normal_array

__all__ = ["laser_biases", "noisy_range", "quantised"]


def laser_biases(sigma: float, lasers: int, seed: int) -> NDArray[np.float32]:
    """The bias ε_bias of every laser [m], shape (lasers,): fixed by the seed, the same in every frame."""
    return (sigma * normal_array(seed, Purpose.LASER_BIAS, 0, np.arange(lasers))).astype(np.float32)


@inline_kernel
def noisy_range(true_range: Any, bias: Any, sigma: Any, normal: Any) -> Any:
    """dist_noisy = dist_real + ε_bias + ε_ray, never negative [m]"""
    return max(true_range + bias + sigma * normal, np.float32(0.0))


@inline_kernel
def quantised(value: Any, step: Any) -> Any:
    """The nearest whole multiple of ``step``; a step of 0 leaves the value alone."""
    if step <= np.float32(0.0):
        return value
    return np.float32(math.floor(value / step + np.float32(0.5))) * step
