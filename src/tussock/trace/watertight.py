"""Which shapes must not leak: where a ray on an edge must meet one of the two triangles that share it.

Embree's fast triangle test may miss both. Its robust test never does, at a cost, and is chosen for each hierarchy. A
shape needs it if it has a part that is closed, or an open one that is large: terrain, a floor of two triangles, the
bark of a trunk. Blades of grass and leaves are many small open parts; a ray that slips through the middle of one, once
in some hundred thousand, meets what a ray beside it meets.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tussock.scene.mesh import Mesh

__all__ = ["needs_to_be_tight"]

_LARGE = 0.1  # [m²] an open part of this size is no blade and no leaf
_TOO_MANY = 1_000_000  # triangles that are not looked through: a shape of so many is taken for one that must be tight

_known: WeakKeyDictionary[Mesh, bool] = WeakKeyDictionary()


def needs_to_be_tight(mesh: Mesh) -> bool:
    """Whether rays must not slip between the triangles of a mesh."""
    if mesh not in _known:
        _known[mesh] = len(mesh.triangles) > _TOO_MANY or _has_tight_part(mesh)
    return _known[mesh]


def _has_tight_part(mesh: Mesh) -> bool:
    areas = mesh.areas
    if areas.max() >= _LARGE:
        return True
    # Corners at the same place are one corner: many files repeat them for every triangle.
    words = np.ascontiguousarray(mesh.vertices).view(np.dtype((np.void, mesh.vertices.itemsize * 3)))
    _, corner = np.unique(words.ravel(), return_inverse=True)
    triangles = corner.astype(np.int64)[mesh.triangles]
    part = _parts(triangles)
    if np.bincount(part, areas).max() >= _LARGE:
        return True
    open_parts = np.zeros(int(part.max()) + 1, np.bool_)
    open_parts[part[_has_rim(triangles)]] = True
    return not bool(open_parts.all())


def _parts(triangles: NDArray[np.int64]) -> NDArray[np.int32]:
    """Number of the connected part that each triangle (m, 3) belongs to, shape (m,)."""
    a, b, c = triangles.T
    ends = (np.concatenate([a, b]), np.concatenate([b, c]))
    corners = int(triangles.max()) + 1
    _, label = connected_components(
        coo_array((np.ones(2 * len(a), np.bool_), ends), (corners, corners)), directed=False
    )
    return np.asarray(label[a], np.int32)


def _has_rim(triangles: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether each triangle (m, 3) has an edge that no other one has."""
    ends = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    _, edge, sides = np.unique(ends[:, 0] << 32 | ends[:, 1], return_inverse=True, return_counts=True)
    return np.asarray((sides[edge] == 1).reshape(-1, 3).any(1))
