"""Leaves: small folded ovals of four triangles each.

A leaf is a flat six-cornered oval, 0.6 as wide as it is long, folded a little along its middle. The area of its
surface is exact, so a plant can be given the leaf area that it shall have.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import FloatArray

__all__ = ["LEAF_AREA", "LEAF_TRIANGLES", "leaf_shapes"]


LEAF_TRIANGLES = 4

_OUTLINE = np.array([[0.0, 0.0], [0.35, 0.30], [0.75, 0.22], [1.0, 0.0]])
"""right half: along and across the leaf, in lengths of the leaf"""
_FOLD = 0.35
"""angle of each half to the flat [rad]"""

_x, _y = _OUTLINE.T
LEAF_AREA = float(np.sum(_x[1:] * _y[:-1] - _x[:-1] * _y[1:]))
"""area of a leaf of length 1 m, both halves, one side [m²]"""


def leaf_shapes(
    bases: FloatArray, axes: FloatArray, normals: FloatArray, lengths: FloatArray
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Vertices (6 n, 3) [m] and triangles (4 n, 3) of leaves.

    ``bases`` (n, 3) [m], where they are fixed; ``axes`` (n, 3), unit vectors to their tips; ``normals``
    (n, 3), roughly the side that faces the light; ``lengths`` (n,) [m].
    """
    aside = np.cross(normals, axes)
    aside /= np.maximum(np.linalg.norm(aside, axis=1, keepdims=True), 1e-12)
    up = np.cross(axes, aside)
    right = np.cos(_FOLD) * aside + np.sin(_FOLD) * up
    left = -np.cos(_FOLD) * aside + np.sin(_FOLD) * up
    size = lengths[:, None]

    def corner(row: int, sideways: FloatArray) -> FloatArray:
        along, out = _OUTLINE[row]
        return bases + size * (along * axes + out * sideways)

    corners = [bases, corner(1, left), corner(2, left), corner(3, left), corner(2, right), corner(1, right)]
    vertices = np.stack(corners, 1).reshape(-1, 3)
    one = np.array([[0, 3, 2], [0, 2, 1], [0, 4, 3], [0, 5, 4]])
    triangles = one[None] + 6 * np.arange(len(bases))[:, None, None]
    return vertices, triangles.reshape(-1, 3)
