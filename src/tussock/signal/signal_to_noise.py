"""How far an echo stands out of the noise, and whether it is seen.

The receiver's noise is that of the darkness, the sunlight and the amplifier: Gaussian, the same for every echo. An echo
of corrected energy E (1: a white wall that fills the beam) at the range r has the signal-to-noise ratio

    s = s₀·E·(1 m/r)ⁿ,

n = 2 for what spreads as 1/r². It is seen if signal and noise together pass the threshold T, so with the probability
Φ(s − T), Φ the normal distribution (the radar equation and its threshold: Skolnik, Introduction to Radar Systems,
ch. 2). A data sheet that says "10 % at 80 m with probability 0.9" fixes s₀: Φ(s₀·0.1/80² − T) = 0.9. One that names
two such points fixes n too.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np

from tussock.elementary import exponential, logarithm
from tussock.kernels import inline_kernel

__all__ = ["Target", "is_seen", "sensitivity", "signal_to_noise"]

_TWO = np.float32(2.0)


class Target(NamedTuple):
    """A wall that a data sheet speaks of, and how surely it is seen."""

    reflectivity: float
    distance_m: float
    probability: float = 0.9


def sensitivity(targets: tuple[Target, ...], threshold: float) -> tuple[float, float]:
    """s₀ and n of a receiver that sees one or two targets as surely as they say."""
    ratios = [threshold + NormalDist().inv_cdf(target.probability) for target in targets]
    near = targets[0]
    if len(targets) == 1:
        return ratios[0] / near.reflectivity * near.distance_m**2, 2.0
    far = targets[1]
    drop = math.log((far.reflectivity / ratios[1]) / (near.reflectivity / ratios[0]))
    exponent = drop / math.log(far.distance_m / near.distance_m)
    return ratios[0] / near.reflectivity * near.distance_m**exponent, exponent


@inline_kernel
def signal_to_noise(energy: Any, distance: Any, scale: Any, exponent: Any) -> Any:
    """s of an echo of corrected energy at a distance [m]; ``scale`` is s₀."""
    if exponent == _TWO:
        return scale * energy / (distance * distance)
    return scale * energy * exponential(-exponent * logarithm(distance))


@inline_kernel
def is_seen(ratio: Any, draw: Any, threshold: Any) -> Any:
    """Whether signal and noise pass the threshold; ``draw`` is a standard normal deviate."""
    return ratio + draw >= threshold
