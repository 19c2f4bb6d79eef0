"""What gives way, seen from above: how much plant stands in every cell of half a metre, and how high.

``area`` is the plant area index below the vehicle's roof: one side of all blades, leaves and twigs together, over the
ground's area. Shapes are sampled: a number of points, spread over their plant triangles by area, stands for each copy,
moved as the copy is. Thin trunks, which a vehicle pushes over, add the force that brings them down.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.drive.site.ground import Ground, height_near
from tussock.drive.site.obstacles import Body
from tussock.kernels import kernel
from tussock.randomness import Purpose, uniform_array
from tussock.scene.scene import SceneObject

__all__ = ["Plants", "add_plants", "add_stems"]

_CELL = 0.5
_SAMPLES = 8_000_000
"""points that all copies of a shape together are sampled with"""
_FEWEST, _MOST = 32, 4096
"""points a copy"""


class Plants(NamedTuple):
    """Plants by cell, fit for kernels."""

    low_x: float
    low_y: float
    cell: float
    """[m]"""
    area: NDArray[np.float32]
    """plant area over ground area, shape (along x, along y)"""
    height: NDArray[np.float32]
    """[m] above the ground of the highest plant below the roof"""
    stems: NDArray[np.float32]
    """[N] to bring down all thin trunks that stand in the cell"""
    pressed: NDArray[np.uint8]
    """1 where a vehicle has passed"""

    @classmethod
    def over(cls, ground: Ground) -> Plants:
        """None yet, over the whole ground."""
        high_x, high_y = ground.high
        shape = int((high_x - ground.low_x) / _CELL) + 1, int((high_y - ground.low_y) / _CELL) + 1
        return cls.none(ground.low_x, ground.low_y, _CELL, shape)

    @classmethod
    def none(cls, low_x: float, low_y: float, cell: float, shape: tuple[int, int]) -> Plants:
        area, height, stems = (np.zeros(shape, np.float32) for _ in range(3))
        return cls(low_x, low_y, cell, area, height, stems, np.zeros(shape, np.uint8))


def add_plants(plants: Plants, ground: Ground, thing: SceneObject, chosen: NDArray[np.bool_], body: Body) -> None:
    """Add the ``chosen`` triangles (m,) of all copies of an object."""
    matrices = thing.placements.matrices
    count = int(np.clip(_SAMPLES // len(matrices), _FEWEST, _MOST))
    points, area = _spread(thing, chosen, count)
    # A copy's area goes with the square of its size.
    shares = area / count * np.cbrt(np.abs(np.linalg.det(matrices[:, :, :3]))) ** 2
    _add(plants, ground, points, np.ascontiguousarray(matrices), shares, body.height)


def add_stems(plants: Plants, thing: SceneObject, copies: NDArray[np.bool_], forces: NDArray[np.float64]) -> None:
    """Add ``forces`` [N] (n,) of the ``copies`` (n,) of an object whose trunks give way."""
    places = thing.placements.matrices[copies, :2, 3]
    at = ((places - [plants.low_x, plants.low_y]) / plants.cell).astype(int)
    inside = ((places >= [plants.low_x, plants.low_y]) & (at < plants.stems.shape)).all(1)
    np.add.at(plants.stems, tuple(at[inside].T), forces[copies][inside].astype(np.float32))


def _spread(thing: SceneObject, chosen: NDArray[np.bool_], count: int) -> tuple[NDArray[np.float64], float]:
    """Points (count, 3) over some triangles of a mesh, and the triangles' whole area [m²]."""
    corners = thing.mesh.vertices[thing.mesh.triangles[chosen]].astype(np.float64)
    sums = np.cumsum(thing.mesh.areas[chosen])
    u, v = (uniform_array(0, Purpose.SITE, thing.id, np.arange(count), draw).astype(np.float64) for draw in range(2))
    # Stratified in area: point k lies in the triangle where the cumulative area passes (k + ½) / count of the whole.
    which = np.minimum(np.searchsorted(sums, (np.arange(count) + 0.5) / count * sums[-1]), len(sums) - 1)
    # Uniform in the triangle: the half of the unit square beyond its diagonal is folded back.
    flip = u + v > 1
    u, v = np.where(flip, 1 - u, u)[:, None], np.where(flip, 1 - v, v)[:, None]
    a, b, c = (corners[which, k] for k in range(3))
    return a + u * (b - a) + v * (c - a), float(sums[-1])


@kernel
def _add(plants: Any, ground: Any, points: Any, matrices: Any, shares: Any, roof: float) -> None:
    nx, ny = plants.area.shape
    per_ground = 1.0 / plants.cell**2
    for k in range(len(matrices)):
        m = matrices[k]
        for p in points:
            x = m[0, 0] * p[0] + m[0, 1] * p[1] + m[0, 2] * p[2] + m[0, 3]
            y = m[1, 0] * p[0] + m[1, 1] * p[1] + m[1, 2] * p[2] + m[1, 3]
            i, j = int((x - plants.low_x) / plants.cell), int((y - plants.low_y) / plants.cell)
            if x < plants.low_x or y < plants.low_y or i >= nx or j >= ny:
                continue
            high = m[2, 0] * p[0] + m[2, 1] * p[1] + m[2, 2] * p[2] + m[2, 3] - height_near(ground, x, y)
            if high <= roof:
                plants.area[i, j] += shares[k] * per_ground
                plants.height[i, j] = max(plants.height[i, j], high)
