"""What stops a vehicle, seen from above: cells of 10 cm that something solid stands in, at the height of its body.

Solid triangles are sampled closer than the cells are wide, copy by copy. A sample counts if it lies higher above the
ground than the wheels climb and lower than the vehicle's roof. What is inside of a closed thing is not filled: nothing
gets there without crossing its side.

Trunks are weighed. The force that breaks or bends a stem of diameter d [cm] pushed at the height h [cm] is that of the
NATO reference mobility model, F = (40 lb − h/2)·d³ in inches, (10.86 − 0.0534 h)·d³ in newtons and centimetres. A stem
that takes more than the vehicle can push is solid; a thinner one gives way like a plant and is handed on as such
(`tussock.drive.site.plants`). The formula is read from MAVS, src/vehicles/rp3d_veh/mavs_rp3d_veh.cpp.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.drive.site.ground import Ground, height_near
from tussock.drive.site.kinds import Faces
from tussock.kernels import kernel
from tussock.scene.scene import SceneObject

__all__ = ["Body", "Obstacles", "mark_solids", "stem_force", "stem_widths"]

_CELL = 0.1
_LARGEST = 64_000_000
"""cells; a larger site has larger cells"""
_MARGIN = 2.0


class Body(NamedTuple):
    """What of a vehicle meets obstacles and plants."""

    climb: float
    """[m] the highest step that the wheels climb"""
    height: float
    """[m] of the roof"""
    push_height: float
    """[m] at which a stem is met"""
    push_force: float
    """[N] that it can push with"""


class Obstacles(NamedTuple):
    """Cells that are taken, fit for kernels."""

    low_x: float
    low_y: float
    cell: float
    """[m]"""
    taken: NDArray[np.uint8]
    """1 where something solid stands, shape (along x, along y)"""

    @classmethod
    def over(cls, ground: Ground) -> Obstacles:
        """None yet, over the whole ground and a little around it, where walls often stand."""
        low_x, low_y = ground.low_x - _MARGIN, ground.low_y - _MARGIN
        high_x, high_y = (edge + _MARGIN for edge in ground.high)
        cell = max(_CELL, float(np.sqrt((high_x - low_x) * (high_y - low_y) / _LARGEST)))
        shape = int(np.ceil((high_x - low_x) / cell)), int(np.ceil((high_y - low_y) / cell))
        return cls(low_x, low_y, cell, np.zeros(shape, np.uint8))


def stem_force(diameter: float | NDArray[np.float64], height: float) -> Any:
    """Force [N] that brings down a stem of ``diameter`` [m] pushed ``height`` [m] above the ground."""
    return np.maximum(10.86 - 0.0534 * 100 * height, 1.0) * (100 * np.asarray(diameter)) ** 3


def stem_widths(thing: SceneObject, faces: Faces, height: float) -> NDArray[np.float64]:
    """Diameter [m] of the one trunk of each copy at ``height`` [m]; infinite where a shape holds more than one."""
    vertices = thing.mesh.vertices[np.unique(thing.mesh.triangles[faces.trunk])].astype(np.float64)
    scale = np.cbrt(np.abs(np.linalg.det(thing.placements.matrices[:, :, :3])))
    near = vertices[np.abs(vertices[:, 2] - height / np.median(scale)) < 0.5]
    if len(near) < 3:
        near = vertices
    middle = near[:, :2].mean(0)
    away = np.hypot(*(near[:, :2] - middle).T)
    if away.max() > 1.0:  # many trunks in one mesh: too far apart to be one
        return np.full(len(thing.placements), np.inf)
    return 2 * float(np.median(away)) * scale


def mark_solids(
    obstacles: Obstacles, ground: Ground, thing: SceneObject, chosen: NDArray[np.bool_], body: Body,
    copies: NDArray[np.bool_] | None = None,
) -> None:  # fmt: skip
    """Mark the cells of the ``chosen`` triangles (m,) of an object, of all its ``copies`` or some (n,)."""
    corners = thing.mesh.vertices[thing.mesh.triangles[chosen]].astype(np.float64)
    matrices = thing.placements.matrices if copies is None else thing.placements.matrices[copies]
    _mark(obstacles, ground, corners, np.ascontiguousarray(matrices), body.climb, body.height)


@kernel
def _mark(obstacles: Any, ground: Any, corners: Any, matrices: Any, climb: float, roof: float) -> None:
    nx, ny = obstacles.taken.shape
    step = 0.5 * obstacles.cell
    world = np.empty((3, 3))
    for k in range(len(matrices)):
        for t in range(len(corners)):
            for c in range(3):
                for a in range(3):
                    m = matrices[k, a]
                    world[c, a] = m[0] * corners[t, c, 0] + m[1] * corners[t, c, 1] + m[2] * corners[t, c, 2] + m[3]
            first, second = world[1] - world[0], world[2] - world[0]
            long1, long2 = np.sqrt((first**2).sum()), np.sqrt((second**2).sum())
            n1, n2 = int(long1 / step) + 1, int(long2 / step) + 1
            for p in range(n1 + 1):
                u = p / n1
                for q in range(int((1 - u) * n2) + 1):
                    v = min(q / n2, 1 - u)
                    x = world[0, 0] + u * first[0] + v * second[0]
                    y = world[0, 1] + u * first[1] + v * second[1]
                    i = int((x - obstacles.low_x) / obstacles.cell)
                    j = int((y - obstacles.low_y) / obstacles.cell)
                    if x < obstacles.low_x or y < obstacles.low_y or i >= nx or j >= ny or obstacles.taken[i, j]:
                        continue
                    high = world[0, 2] + u * first[2] + v * second[2] - height_near(ground, x, y)
                    if climb <= high <= roof:
                        obstacles.taken[i, j] = 1
