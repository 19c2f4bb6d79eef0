"""The order in which pulses that look at the same things come one after the other.

Pulses come as they were fired: all lasers, then the next azimuth, and what one has met is met again by the same laser a step of
azimuth further on, and in the next revolution. Taken sector by sector of azimuth, and in it ring by ring, through all the revolutions
of a part, they find what they need in the processor's cache. What is added up is whole numbers, which do not mind the order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import int64
from numpy.typing import NDArray

from tussock.kernels import borrowed, kernel
from tussock.learn.measured_pulses import MeasuredPulses

__all__ = ["side_by_side"]

_SECTORS = 64
_RINGS = 1024  # with the sectors a number of 16 bits, which are sorted by counting


def side_by_side(pulses: MeasuredPulses) -> NDArray[np.int64]:
    """The rows of pulses by sector of azimuth and ring, and as they were fired where both are the same; shape (n,)."""
    keys = np.empty(len(pulses), np.uint16)
    _fill_keys(pulses.azimuths, pulses.rings, keys)
    return np.argsort(keys, kind="stable")


@kernel
def _fill_keys(azimuths: Any, rings: Any, keys: Any) -> None:
    azimuths, rings, keys = borrowed((azimuths, rings, keys))
    for p in range(len(keys)):
        turn = azimuths[p] * (0.5 / math.pi)
        sector = int64((turn - math.floor(turn)) * _SECTORS) if abs(turn) < 1e9 else int64(0)  # what is no number, too
        keys[p] = min(sector, _SECTORS - 1) * _RINGS + rings[p] % _RINGS
