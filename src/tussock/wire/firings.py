"""Every pulse that a sensor's packets tell of, in the order of firing, whatever the make of the sensor.

What reads packets makes these; what learns, measures, compares and shows takes them. A pulse without return is among
them: where it went, and that nothing came back, is as much a measurement as a range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["COLUMN_NAMES", "Firings"]


@dataclass(frozen=True, eq=False)
class Firings:
    """One row a pulse, in the sensor's frame at the pulse's own time."""

    sensor: str
    """name of the model"""
    kinds: tuple[str, ...]
    """which returns of a pulse the columns of `ranges` hold, as ``strongest``, ``last``"""
    times: NDArray[np.float64]
    """[s] Unix time of firing by the clock of the recorder, shape (n,)"""
    lasers: NDArray[np.uint16]
    """number of the laser by the manufacturer, shape (n,)"""
    rings: NDArray[np.uint16]
    """its rank by elevation, from the lowest up, shape (n,)"""
    turns: NDArray[np.int32]
    """number of the revolution, from 0 for the first 360° of the recording, shape (n,)"""
    azimuths: NDArray[np.float64]
    """[rad] where the laser looked, counter-clockwise from x, shape (n,)"""
    origins: NDArray[np.float64]
    """[m], shape (n, 3)"""
    directions: NDArray[np.float64]
    """unit vectors, shape (n, 3)"""
    ranges: NDArray[np.float64]
    """[m] from the origin, NaN without return, shape (n, kinds)"""
    intensity: NDArray[np.float32]
    """relative, 1 for a white wall met head-on, 0 without return, shape (n, kinds)"""
    complete: bool = True
    """whether the pulses without return are among the rows; some packets do not tell where those went"""

    def __len__(self) -> int:
        return len(self.ranges)

    def select(self, rows: Any) -> Firings:
        """The chosen rows (a mask or indices)."""
        columns = {name: getattr(self, name)[rows] for name in COLUMN_NAMES}
        return Firings(self.sensor, self.kinds, complete=self.complete, **columns)


COLUMN_NAMES = ("times", "lasers", "rings", "turns", "azimuths", "origins", "directions", "ranges", "intensity")
