"""Needles: narrow rhombs of two triangles, each standing for the needles that grow side by side there.

A rhomb is a quarter as wide as it is long. The area of its surface is exact, so a conifer can be given the
needle area that it shall have. The round section of a real needle is left out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import FloatArray

__all__ = ["NEEDLE_AREA", "NEEDLE_TRIANGLES", "needle_shapes"]


NEEDLE_TRIANGLES = 2
_WIDTH = 1 / 4
NEEDLE_AREA = _WIDTH / 2
"""area of a rhomb of length 1 m, one side [m²]"""


def needle_shapes(
    bases: FloatArray, axes: FloatArray, normals: FloatArray, lengths: FloatArray
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Vertices (4 n, 3) [m] and triangles (2 n, 3); arguments as for `tussock.plants.leaves.leaf_shapes`."""
    aside = np.cross(normals, axes)
    aside /= np.maximum(np.linalg.norm(aside, axis=1, keepdims=True), 1e-12)
    along, across = lengths[:, None] * axes, 0.5 * _WIDTH * lengths[:, None] * aside
    middle = bases + 0.4 * along
    vertices = np.stack([bases, middle - across, bases + along, middle + across], 1).reshape(-1, 3)
    one = np.array([[0, 1, 2], [0, 2, 3]])
    return vertices, (one[None] + 4 * np.arange(len(bases))[:, None, None]).reshape(-1, 3)
