"""What a sensor fires: one row per pulse, in firing order, in the sensor's own coordinates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import sealed
from tussock.shown import Shown

__all__ = ["Pulses"]


@dataclass(frozen=True, eq=False, repr=False)
class Pulses(Shown):
    """The pulses of one frame. Nothing here knows the pose: `simulate` places each pulse at its own time.

    The arrays are read-only, as they are shared: copy one to change it.

    >>> pulses = tussock.load_sensor("vlp-16").pulses(0)
    >>> pulses.directions.shape == (len(pulses), 3)
    True
    """

    directions: NDArray[np.float32]
    """unit vectors, sensor frame, shape (n, 3)"""
    origins: NDArray[np.float32] | None
    """[m], sensor frame, shape (n, 3); None: all pulses leave from the sensor's origin"""
    offsets: NDArray[np.float64]
    """[s] since the start of the frame, not decreasing, shape (n,)"""
    lasers: NDArray[np.uint16]
    """shape (n,)"""
    azimuths: NDArray[np.float32]
    """[rad], as the sensor reports it, counter-clockwise from x, shape (n,)"""
    elevations: NDArray[np.float32]
    """[rad], as the sensor reports it, shape (n,)"""

    def __post_init__(self) -> None:
        # Patterns keep their pulses for later frames and for all sensors of their kind: nobody may change them.
        for array in vars(self).values():
            if array is not None:
                sealed(array)

    def __len__(self) -> int:
        return len(self.lasers)
