"""Which triangle is beyond each edge of a triangle."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

__all__ = ["BORDER", "LEFT_ALONE", "beyond_edges"]

BORDER, LEFT_ALONE = -1, -2
"""in place of a neighbour: there is none, and the surface ends; there are several, or another surface may go on"""
_LARGE = 0.1
"""[m²] an open part of this size is no blade and no leaf"""
_MIX = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9], np.uint64)
"""odd numbers that spread the bits of coordinates"""


def beyond_edges(vertices: NDArray[np.float32], triangles: NDArray[np.uint32]) -> NDArray[np.int32]:
    """What is beyond the edges ab, bc and ca of triangles (m, 3): 3 · neighbour + which of its edges this is, shape (m, 3).

    Corners at the same place are one corner: many files repeat them for every triangle. At the border of a part of the
    shape that is as large as a floor or a wall another surface may go on: it says `LEFT_ALONE`.
    """
    corners = _places(vertices)[triangles]
    begin, end = corners.ravel(), np.roll(corners, -1, axis=1).ravel()
    edge = np.minimum(begin, end).astype(np.uint64) << np.uint64(32)
    edge |= np.maximum(begin, end)
    order = np.argsort(edge)
    edge = edge[order]
    starts = np.flatnonzero(np.concatenate([[True], edge[1:] != edge[:-1]]))
    del edge  # of a large shape each of these is half a gigabyte
    sharing = np.diff(np.append(starts, len(order)))
    found = np.full(len(order), LEFT_ALONE, np.int32)
    found[order[starts[sharing == 1]]] = BORDER
    one, other = order[starts[sharing == 2]], order[starts[sharing == 2] + 1]
    found[one], found[other] = other, one
    del order, starts, sharing, one, other
    found[begin == end] = LEFT_ALONE
    beyond = found.reshape(-1, 3)
    if (found == BORDER).any():
        beyond[_in_large_parts(vertices, triangles, beyond)[:, None] & (beyond == BORDER)] = LEFT_ALONE
    return beyond


def _in_large_parts(
    vertices: NDArray[np.float32], triangles: NDArray[np.uint32], beyond: NDArray[np.int32]
) -> NDArray[np.bool_]:
    """Which triangles belong to a floor, a wall or other ground, at whose border the next one may begin, shape (m,)."""
    areas = np.concatenate(
        [_areas(vertices, piece) for piece in np.array_split(triangles, len(triangles) // 2**20 + 1)]
    )
    shared = beyond >= 0
    rows = np.concatenate([[0], np.cumsum(shared.sum(1))])
    others = beyond[shared] // 3
    joined = csr_array((np.ones(len(others), np.bool_), others, rows), (len(beyond), len(beyond)))
    _, part = connected_components(joined, directed=False)
    return np.asarray((np.bincount(part, areas) >= _LARGE)[part])


def _areas(vertices: NDArray[np.float32], triangles: NDArray[np.uint32]) -> NDArray[np.float64]:
    """[m²] of triangles (n, 3)."""
    a, b, c = (vertices[triangles[:, k]].astype(np.float64) for k in range(3))
    return np.asarray(0.5 * np.linalg.norm(np.cross(b - a, c - a), axis=1))


def _places(vertices: NDArray[np.float32]) -> NDArray[np.uint32]:
    """A number for the place of every vertex (n, 3), the same for vertices at the same place."""
    at = np.ascontiguousarray(vertices, np.float32) + np.float32(0.0)  # −0 is 0
    mixed = np.zeros(len(at), np.uint64)
    for k in range(3):
        mixed = (mixed ^ at[:, k].copy().view(np.uint32)) * _MIX[k]
        mixed ^= mixed >> np.uint64(29)
    _, first, place = np.unique(mixed, return_index=True, return_inverse=True)
    if not np.array_equal(at[first[place]], at):  # two places have the same mixture: compare them whole
        _, place = np.unique(at, axis=0, return_inverse=True)
    return place.ravel().astype(np.uint32)
