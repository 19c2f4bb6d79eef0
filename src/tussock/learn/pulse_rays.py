"""Pulses as kernels take them: plain arrays that travel together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tussock.arrays import shown
from tussock.learn.measured_pulses import MeasuredPulses

__all__ = ["PulseRays", "rays_of_pulses"]


class PulseRays(NamedTuple):
    """Where pulses start, where they go and how far they came."""

    origins: NDArray[np.float64]
    """[m], shape (n, 3)"""
    directions: NDArray[np.float64]
    """unit vectors, shape (n, 3)"""
    ranges: NDArray[np.float64]
    """[m], NaN without return, shape (n,)"""
    reach: float
    """[m] as far as a pulse without return has certainly met nothing"""


def rays_of_pulses(pulses: MeasuredPulses, origin: ArrayLike = 0.0) -> PulseRays:
    """The pulses in the frame that begins at ``origin`` [m] of theirs."""
    start = np.asarray(origin, np.float64)
    origins = shown(pulses.origins - start) if start.any() else pulses.origins
    return PulseRays(origins, pulses.directions, pulses.ranges, float(pulses.reach))
