"""A pasture fence: posts 2.5 m apart with two rails between them, one mesh a field of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tussock.ground.populate import Ground
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box
from tussock.scene.surfaces import SURFACES

__all__ = ["FIELD", "fence_along", "fence_field"]

FIELD = 2.5
"""[m] from post to post"""


def fence_field() -> Mesh:
    """One post at the origin and the rails to the next, along x; the post goes 20 cm into the ground."""
    wood = SURFACES["bark"].changed(name="fence", label="fence", color=(0.30, 0.24, 0.17))
    post = _moved(box((0.10, 0.10, 1.40), material=wood), (0.0, 0.0, 0.50))
    rails = [_moved(box((FIELD, 0.04, 0.11), material=wood), (FIELD / 2, 0.05, z)) for z in (0.55, 1.02)]
    return Mesh.joined([post, *rails])


def fence_along(line: ArrayLike, ground: Ground) -> Placements:
    """Fields along a line (n, 2) [m], each from the ground under its post to that under the next."""
    corners = np.asarray(line, float)
    way = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(corners, axis=0).T))])
    at = np.arange(0.0, way[-1], FIELD)
    posts = np.stack([np.interp(at, way, corners[:, i]) for i in (0, 1)], 1)
    height = ground(posts[:, 0], posts[:, 1])
    step, rise = np.diff(posts, axis=0), np.diff(height)
    matrices = np.zeros((len(step), 3, 4))
    along = step / FIELD
    # Sheared, not tilted: posts stay upright and rails follow the slope.
    matrices[:, :2, 0], matrices[:, 2, 0] = along, rise / FIELD
    matrices[:, 0, 1], matrices[:, 1, 1] = -along[:, 1], along[:, 0]
    matrices[:, 2, 2] = 1.0
    matrices[:, :2, 3], matrices[:, 2, 3] = posts[:-1], height[:-1]
    return Placements(matrices)


def _moved(part: Mesh, by: tuple[float, float, float]) -> Mesh:
    vertices: NDArray[np.float64] = part.vertices.astype(float) + np.array(by)
    return Mesh.of(vertices, part.triangles, part.materials)
