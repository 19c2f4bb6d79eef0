"""Which pulses have to do with a box: those whose line passes through it, wherever they ended.

Points in a box say nothing of the pulses that went through it. Hit rates and scores of a part of a scan need both.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.learn.box import box_corners
from tussock.learn.measured_pulses import MeasuredPulses

__all__ = ["meets_box", "through_box"]


def through_box(pulses: MeasuredPulses, box: Sequence[float]) -> MeasuredPulses:
    """The pulses whose line, from the sensor on, meets a box (x0, y0, z0, x1, y1, z1) [m].

    >>> pulses = tussock.MeasuredPulses.of([0, 0, 0], [[1, 0, 0], [0, 1, 0]], [4.0, 4.0])
    >>> len(tussock.through_box(pulses, [1, -1, -1, 3, 1, 1]))
    1
    """
    low, high = box_corners(box)
    meets = meets_box(pulses.origins, pulses.directions, low, high)
    if not meets.any():
        raise InputError.of("box", "no pulse passes through the box", list(box))
    return pulses.select(meets)


def meets_box(
    origins: NDArray[np.float64], directions: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Whether the lines of pulses (n, 3) meet a box between two corners [m], shape (n,)."""
    # The three slabs: a pulse is in the box from the last that it enters to the first that it leaves.
    enter, leave = np.full(len(origins), -np.inf), np.full(len(origins), np.inf)
    for axis in range(3):
        start, way = origins[:, axis], directions[:, axis]
        with np.errstate(divide="ignore", invalid="ignore"):
            one, two = (low[axis] - start) / way, (high[axis] - start) / way
        inside = (start >= low[axis]) & (start <= high[axis])
        nearer, farther = np.minimum(one, two), np.maximum(one, two)
        along = way == 0
        if along.any():
            nearer = np.where(along, np.where(inside, -np.inf, np.inf), nearer)
            farther = np.where(along, np.where(inside, np.inf, -np.inf), farther)
        enter, leave = np.maximum(enter, nearer), np.minimum(leave, farther)
    meets: NDArray[np.bool_] = (enter <= leave) & (leave >= 0)
    return meets
