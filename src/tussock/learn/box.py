"""A box in space, as people give it: the lowest and the highest corner."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError

__all__ = ["box_corners"]


def box_corners(box: Sequence[float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The lowest and the highest corner [m] of x0, y0, z0, x1, y1, z1."""
    corners = np.asarray(box, float).ravel()
    if corners.shape != (6,) or not np.isfinite(corners).all() or not (corners[:3] < corners[3:]).all():
        raise InputError.of("box", "must be x0,y0,z0,x1,y1,z1 with x0 < x1 and so on [m]", list(box))
    return corners[:3], corners[3:]
