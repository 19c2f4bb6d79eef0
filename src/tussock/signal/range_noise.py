"""From the true range to the measured one.

Eq (2) of BlenSor: measured = true + bias of the laser + noise of the ray; then the sensor's own steps. The noise
is normal or Laplace with the standard deviation asked for; the bias of a laser never changes.

The standard deviation grows as the signal falls. With s the signal-to-noise ratio of the echo,

    σ² = floor² + shot/s + thermal/s².

Thermal: no receiver times a Gaussian pulse of length σ_p in steady noise better than √2·σ_p/s, the bound of Cramér and
Rao (Kay, Fundamentals of Statistical Signal Processing, vol. 1, sec. 3.11: var ≥ 1/(s²·B²), B = 1/√2σ_p the
rms bandwidth). Shot: the photons of the echo itself arrive spread over the pulse, and the error of their mean falls with the
root of their number (Baltsavias 1999, ISPRS J. 54, 199-214, has both laws). What the data sheet states for one
target fixes what is left: `spread_of_ranges`. Ouster's sheet of the OS1 shows the whole curve: 1.5 cm at s = 250, 3 cm
at 100, 10 cm at 12; shot = 860 cm² and thermal = (64 cm)² give 1.9, 3.0 and 10.0 cm.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.elementary import logarithm
from tussock.kernels import inline_kernel
from tussock.randomness import Purpose, normal_array, normal_pair, uniform

__all__ = [
    "RangeSpread",
    "biases_of",
    "deviate",
    "laser_biases",
    "noisy_range",
    "quantised",
    "range_sigma",
    "rest_of_noise",
    "spread_of_ranges",
]

_ROOT_HALF = np.float32(math.sqrt(0.5))


class RangeSpread(NamedTuple):
    """σ² of a range = floor + shot/s + thermal/s² [m²]."""

    floor: float
    shot: float
    thermal: float


def spread_of_ranges(sigma: float, ratio: float, pulse_sigma: float, floor: float = 0.0) -> RangeSpread:
    """The spread of a sensor with σ = ``sigma`` [m] at the signal-to-noise ``ratio`` of its sheet's target.

    Thermal noise is the bound of the pulse's length ``pulse_sigma`` [m], as far as the sheet leaves room for it; shot
    noise makes up the rest. ``floor`` [m] is what remains of the strongest signal. A ratio of 0: σ is constant.
    """
    if ratio <= 0.0:
        return RangeSpread(sigma**2, 0.0, 0.0)
    room, bound = max(sigma**2 - floor**2, 0.0), 2.0 * pulse_sigma**2
    if room * ratio**2 <= bound:  # no room for shot noise; however weak the target, nothing is divided by nothing
        return RangeSpread(min(floor, sigma) ** 2, 0.0, room * ratio**2)
    return RangeSpread(min(floor, sigma) ** 2, (room - bound / ratio**2) * ratio, bound)


def laser_biases(sigma: float, lasers: int, seed: int) -> NDArray[np.float32]:
    """The bias ε_bias of every laser [m], shape (lasers,): fixed by the seed, the same in every frame."""
    return _biases(sigma, lasers, seed).copy()


def biases_of(sigma: float, lasers: int, seeds: Sequence[int]) -> NDArray[np.float32]:
    """The biases of many sensors of a kind [m], shape (seeds, lasers)."""
    if sigma == 0:
        return np.zeros((len(seeds), lasers), np.float32)
    return np.stack([laser_biases(sigma, lasers, seed) for seed in seeds])


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
def range_sigma(ratio: Any, floor: Any, shot: Any, thermal: Any) -> Any:
    """σ of a range [m] at a signal-to-noise ratio; the three terms of `RangeSpread`."""
    weak = np.float32(1.0) / max(ratio, np.float32(1.0))  # what stands below the noise is not timed worse than that
    return np.float32(math.sqrt(floor + weak * (shot + weak * thermal)))


@inline_kernel
def rest_of_noise(sigma: Any, held: Any) -> Any:
    """σ [m] of the noise that is still to be added to a range which ``held`` [m²] of it is in already."""
    return np.float32(math.sqrt(max(sigma * sigma - held, np.float32(0.0))))


@inline_kernel
def noisy_range(true_range: Any, bias: Any, sigma: Any, draw: Any) -> Any:
    """dist_noisy = dist_real + ε_bias + ε_ray, never negative [m]"""
    return max(true_range + bias + sigma * draw, np.float32(0.0))


@inline_kernel
def quantised(value: Any, step: Any) -> Any:
    """The nearest whole multiple of ``step`` of a value that is not negative; a step of 0 leaves it alone."""
    if step <= np.float32(0.0):
        return value
    steps = value / step + np.float32(0.5)
    # From 2²³ on a float32 has no fraction to cut off.
    whole = np.float32(np.int32(steps)) if steps < np.float32(2.0**23) else steps
    return whole * step
