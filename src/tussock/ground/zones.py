"""Parts of the ground: where nothing shall stand, or where something only stands.

A circle, a polygon, or a strip along a line (a trail, a road, a brook). As tables of a scene file each is
told by its keys: ``{centre_m, radius_m}``, ``{corners_m}``, ``{line_m, width_m}``.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tussock.arrays import FloatArray
from tussock.kernels import kernel
from tussock.quantities import Pair, Positive
from tussock.settings import Settings

__all__ = ["Circle", "Polygon", "Strip", "Zone"]


class Circle(Settings):
    """A round zone.

    >>> pond = tussock.Circle(centre_m=(3, 4), radius_m=2)
    >>> pond.covers(np.array([3.0, 9.0]), np.array([5.0, 9.0])).tolist()
    [True, False]
    """

    centre_m: Pair
    radius_m: Positive

    def covers(self, x: FloatArray, y: FloatArray) -> NDArray[np.bool_]:
        """Which of the points x, y (n,) [m] lie inside."""
        return np.hypot(x - self.centre_m[0], y - self.centre_m[1]) <= self.radius_m


class Polygon(Settings):
    """A zone with corners.

    >>> yard = tussock.Polygon(corners_m=[(0, 0), (4, 0), (0, 4)])
    >>> yard.covers(np.array([1.0, 3.0]), np.array([1.0, 3.0])).tolist()
    [True, False]
    """

    corners_m: Annotated[list[Pair], Field(min_length=3)]

    def covers(self, x: FloatArray, y: FloatArray) -> NDArray[np.bool_]:
        """Which of the points lie inside, by the even-odd rule."""
        inside = np.zeros(np.shape(x), bool)
        corners = np.array(self.corners_m)
        for (ax, ay), (bx, by) in zip(corners, np.roll(corners, -1, 0), strict=True):
            if ay == by:
                continue
            across = (ay > y) != (by > y)
            inside ^= across & (x < ax + (y - ay) * (bx - ax) / (by - ay))
        return inside


class Strip(Settings):
    """A zone along a line, as a path.

    >>> path = tussock.Strip(line_m=[(0, 0), (10, 0)], width_m=2)
    >>> path.covers(np.array([5.0, 5.0]), np.array([0.5, 1.5])).tolist()
    [True, False]
    """

    line_m: Annotated[list[Pair], Field(min_length=2)]
    width_m: Positive

    def covers(self, x: FloatArray, y: FloatArray) -> NDArray[np.bool_]:
        """Which of the points lie within half the width of the line."""
        return self.distance(x, y) <= self.width_m / 2

    def distance(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Distance of the points from the line [m]."""
        x, y = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        flat_x, flat_y = np.ascontiguousarray(x).ravel(), np.ascontiguousarray(y).ravel()
        return _distances(flat_x, flat_y, np.array(self.line_m, float)).reshape(x.shape)


@kernel
def _distances(x: Any, y: Any, line: Any) -> Any:
    out = np.empty(len(x))
    for p in range(len(x)):
        least = np.inf
        for k in range(len(line) - 1):
            dx, dy = line[k + 1, 0] - line[k, 0], line[k + 1, 1] - line[k, 1]
            px, py = x[p] - line[k, 0], y[p] - line[k, 1]
            t = min(max((px * dx + py * dy) / max(dx * dx + dy * dy, 1e-30), 0.0), 1.0)
            least = min(least, (px - t * dx) ** 2 + (py - t * dy) ** 2)
        out[p] = np.sqrt(least)
    return out


Zone = Circle | Polygon | Strip
