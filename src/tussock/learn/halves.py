"""Two halves of the pulses of a place, to see what one foretells of the other.

Along a drive the halves take turns: every `APART` metres of the way the other one begins, so that what one half has seen from
some places is asked of others between them, as a drive is foretold. As long as the sensor has not moved that far, each
pulse falls to a half by chance, as when a scan from the same place is foretold.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import int64, uint64
from numpy.typing import NDArray

from tussock.kernels import borrowed, kernel
from tussock.learn.measured_pulses import MeasuredPulses

__all__ = ["APART", "Halves", "moved"]

APART = 2.0
"""[m]"""


def moved(*parts: MeasuredPulses) -> bool:
    """Whether the sensor, or what was joined, was at places that far apart."""
    along = [[part.origins[:, axis] for part in parts] for axis in range(3)]
    return max(float(max(map(np.max, some)) - min(map(np.min, some))) for some in along) >= APART


class Halves:
    """Tells the half of pulses that come one after the other, however they are cut into parts."""

    def __init__(self) -> None:
        self._start = np.full(3, np.nan)
        self._stretch = np.zeros(1, np.int64)

    def of(self, pulses: MeasuredPulses) -> NDArray[np.bool_]:
        """Whether each is of the second half, shape (n,)."""
        second = np.empty(len(pulses), np.bool_)
        _take_turns(pulses.origins, pulses.azimuths.view(np.uint64), pulses.turns, self._start, self._stretch, second)
        return second


@kernel
def _take_turns(origins: Any, azimuths: Any, turns: Any, start: Any, stretch: Any, second: Any) -> None:
    origins, azimuths, turns, second = borrowed((origins, azimuths, turns, second))
    x, y, z, number = start[0], start[1], start[2], stretch[0]
    for p in range(len(second)):
        px, py, pz = origins[p, 0], origins[p, 1], origins[p, 2]
        if x != x:
            x, y, z = px, py, pz
        if (px - x) ** 2 + (py - y) ** 2 + (pz - z) ** 2 >= APART**2:
            x, y, z = px, py, pz
            number += 1
        word = azimuths[p] ^ (uint64(int64(turns[p])) << uint64(40))
        word = (word ^ (word >> uint64(32))) * uint64(0xD6E8FEB86659FD93)
        chance = (word >> uint64(61)) & uint64(1)
        second[p] = chance == uint64(1) if number == 0 else number % 2 == 1
    start[0], start[1], start[2], stretch[0] = x, y, z, number
