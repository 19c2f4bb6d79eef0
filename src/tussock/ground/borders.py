"""A border on the ground that runs across the cells: triangles are cut along it, and the surface stays as it is.

The border is where a signed distance is zero, taken as linear along each edge of a triangle (marching triangles). A
triangle that it crosses becomes three; the new corners lie on its edges, so every height is what it was.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import FloatArray
from tussock.scene.material import Material

__all__ = ["Border", "cut"]

_LEAST = 0.02
"""of an edge, from its end to where it is cut: no slivers"""

Triangles = NDArray[np.int64]


class Border(NamedTuple):
    """The ground where ``distance`` is negative is of this material, cut along the line where it is zero."""

    distance: Callable[[FloatArray, FloatArray], FloatArray]
    """[m], of x and y [m], arrays of one shape"""
    material: Material


def cut(vertices: FloatArray, triangles: Triangles, distance: FloatArray) -> tuple[FloatArray, Triangles, Triangles]:
    """Triangles (m, 3) of vertices (n, 3) cut where ``distance`` (n,) changes its sign.

    Vertices, of which the first n are those given; triangles, none with corners on both sides; and which of the given
    triangles each is a part of.
    """
    inside = distance[triangles] < 0
    count = inside.sum(1)
    crossed = (count == 1) | (count == 2)
    # The corner that is alone on its side comes first; the order around the triangle stays.
    alone = np.argmax(inside == (count == 1)[:, None], axis=1)[crossed]
    split = triangles[crossed]
    row = np.arange(len(split))
    a, b, c = (split[row, (alone + k) % 3] for k in range(3))
    edges = np.sort(np.concatenate([np.stack([a, b], 1), np.stack([a, c], 1)]), axis=1)
    every, which = np.unique(edges, axis=0, return_inverse=True)
    which = which.reshape(-1)
    low, high = distance[every[:, 0]], distance[every[:, 1]]
    along = np.clip(low / np.where(low == high, 1.0, low - high), _LEAST, 1 - _LEAST)[:, None]
    new = vertices[every[:, 0]] * (1 - along) + vertices[every[:, 1]] * along
    p, q = len(vertices) + which[: len(split)], len(vertices) + which[len(split) :]
    parts = [np.stack(corners, 1) for corners in ((a, p, q), (p, b, c), (p, c, q))]
    places = np.flatnonzero(crossed)
    whole = np.flatnonzero(~crossed)
    of = np.concatenate([whole, places, places, places])
    order = np.argsort(of, kind="stable")  # parts of a triangle stay beside their neighbours
    return np.concatenate([vertices, new]), np.concatenate([triangles[whole], *parts])[order], of[order]
