"""Whether a place lies below the ground: a sensor put there by mistake sees the underside of everything."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tussock.scene.labels import GROUND
from tussock.scene.scene import Scene, SceneObject

__all__ = ["depth_below_ground"]

_MOST_COPIES = 8
"""of one shape: ground is a few large pieces; tiles beyond that are left out, for the time that they would take"""


def depth_below_ground(scene: Scene, place: ArrayLike) -> float | None:
    """How far a place (3,) [m] lies below the lowest ground over it; None where there is ground below, or none at all.

    >>> from tussock import ready_scene
    >>> depth_below_ground(ready_scene("yard"), (0, 0, 2)) is None
    True
    """
    x, y, z = np.asarray(place, np.float64)
    heights = np.concatenate([_heights(thing, x, y) for thing in scene.objects] or [np.empty(0)])
    if not len(heights) or heights.min() <= z:
        return None
    return float(heights.min() - z)


def _heights(thing: SceneObject, x: float, y: float) -> np.ndarray:
    """Heights [m] at which the vertical line through (x, y) passes the ground of an object that stands."""
    mesh = thing.mesh
    ground = np.array([(material.label or thing.label) in GROUND for material in mesh.materials])
    if thing.motion is not None or not ground.any() or len(thing.placements) > _MOST_COPIES:
        return np.empty(0)
    triangles = mesh.triangles[ground[mesh.material_of_triangles]]
    found = []
    for matrix in thing.placements.matrices:
        corners = mesh.vertices.astype(np.float64) @ matrix[:, :3].T + matrix[:, 3] - (x, y, 0.0)
        a, b, c = (corners[triangles[:, k]] for k in range(3))
        # Signed areas of the three triangles that the point makes with the corners, in plan: of one sign within.
        u, v, w = _area(b, c), _area(c, a), _area(a, b)
        total = u + v + w
        inside = ((u >= 0) & (v >= 0) & (w >= 0)) | ((u <= 0) & (v <= 0) & (w <= 0))
        inside &= total != 0
        found.append((u * a[:, 2] + v * b[:, 2] + w * c[:, 2])[inside] / total[inside])
    return np.concatenate(found) if found else np.empty(0)


def _area(p: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Twice the signed area, in plan, of the triangle of zero, p and q."""
    return p[:, 0] * q[:, 1] - p[:, 1] * q[:, 0]
