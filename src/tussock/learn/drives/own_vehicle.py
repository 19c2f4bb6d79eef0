"""The vehicle that carries the sensor: its returns move along and would smear over the whole drive.

It is given as a box in the sensor's coordinates, or found: a direction in which a near return stays at the same range
while the vehicle drives shows the vehicle itself. What it hides is not known, so its pulses are left out altogether.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tussock.learn.box import box_corners
from tussock.learn.measured_pulses import MeasuredPulses

__all__ = ["OwnVehicle", "find_vehicle"]

_STEP = np.deg2rad(1.0)
_COLUMNS = 360
_NEAR = 4.0  # [m] what a vehicle is within
_STILL = 0.05  # [m] spread of its ranges in a direction
_MOSTLY = 0.5  # of the pulses in a direction
_FEWEST = 20


class OwnVehicle:
    """Which pulses end on the vehicle itself: in a box (x0, y0, z0, x1, y1, z1) [m], or nearer than a table says."""

    def __init__(self, *, box: Sequence[float] | None = None, table: NDArray[np.float64] | None = None) -> None:
        self._box = None if box is None else box_corners(box)
        self._table = table

    def met_by(self, pulses: MeasuredPulses) -> NDArray[np.bool_]:
        """Of pulses in the sensor's coordinates, shape (n,)."""
        own = np.zeros(len(pulses), np.bool_)
        with np.errstate(invalid="ignore"):
            if self._box is not None:
                low, high = self._box
                points = pulses.points
                own |= np.all((points >= low) & (points <= high), axis=1)
            if self._table is not None:
                rings = np.minimum(pulses.rings, len(self._table) - 1)
                own |= pulses.ranges <= self._table[rings, _column(pulses)]
        return own

    @property
    def directions(self) -> int:
        """how many degrees of how many rings it hides, where it was found"""
        return 0 if self._table is None else int((self._table > 0).sum())


def find_vehicle(parts: Iterable[MeasuredPulses]) -> OwnVehicle:
    """The vehicle in pulses of a drive, in the sensor's coordinates; they should be spread over all of it."""
    rings = 1 << 16
    number, total, square, fired = (np.zeros((0, _COLUMNS)) for _ in range(4))
    for pulses in parts:
        most = int(pulses.rings.max()) + 1
        if most > len(number):
            number, total, square, fired = (
                np.vstack([array, np.zeros((min(most, rings) - len(array), _COLUMNS))])
                for array in (number, total, square, fired)
            )
        place = pulses.rings.astype(np.int64) * _COLUMNS + _column(pulses)
        near = pulses.hit & (np.nan_to_num(pulses.ranges, nan=np.inf) < _NEAR)
        size, shape = number.size, number.shape
        fired += np.bincount(place, minlength=size).reshape(shape)
        number += np.bincount(place[near], minlength=size).reshape(shape)
        total += np.bincount(place[near], pulses.ranges[near], size).reshape(shape)
        square += np.bincount(place[near], pulses.ranges[near] ** 2, size).reshape(shape)
    mean = total / np.maximum(number, 1)
    spread = np.sqrt(np.maximum(square / np.maximum(number, 1) - mean**2, 0))
    own = (number >= _FEWEST) & (number >= _MOSTLY * fired) & (spread <= _STILL)
    return OwnVehicle(table=np.where(own, mean + 3 * np.maximum(spread, 0.02), 0.0))


def _column(pulses: MeasuredPulses) -> NDArray[np.int64]:
    return (np.mod(pulses.azimuths, 2 * np.pi) / _STEP).astype(np.int64) % _COLUMNS
