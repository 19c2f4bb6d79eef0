"""Needles: pairs of slender triangles that spread from the shoot, each standing for the needles side by side there.

Each of a pair is an eighth as wide at the shoot as it is long and runs out into a point, so that a twig looks like a
brush. The area of their surface is exact, so a conifer can be given the needle area that it shall have. The round
section of a real needle is left out.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import FloatArray

__all__ = ["NEEDLE_AREA", "NEEDLE_TRIANGLES", "needle_shapes"]


NEEDLE_TRIANGLES = 2
_WIDTH = 1 / 8
_SPREAD = 0.35
"""[rad] of each of a pair from their middle"""
NEEDLE_AREA = 2 * _WIDTH / 2
"""area of a pair of length 1 m, one side [m²]"""


def needle_shapes(
    bases: FloatArray, axes: FloatArray, normals: FloatArray, lengths: FloatArray
) -> tuple[FloatArray, NDArray[np.int64]]:
    """Vertices (6 n, 3) [m] and triangles (2 n, 3) of n pairs; arguments as for `tussock.plants.leaves.leaf_shapes`."""
    aside = np.cross(normals, axes)
    aside /= np.maximum(np.linalg.norm(aside, axis=1, keepdims=True), 1e-12)
    corners = []
    for side in (-1.0, 1.0):
        along = np.cos(_SPREAD) * axes + side * np.sin(_SPREAD) * aside
        across = np.cos(_SPREAD) * aside - side * np.sin(_SPREAD) * axes
        half = 0.5 * _WIDTH * lengths[:, None] * across
        # The second starts a little further on, as needles do.
        foot = bases + (0.3 if side > 0 else 0.0) * lengths[:, None] * axes
        corners += [foot - half, foot + lengths[:, None] * along, foot + half]
    return np.stack(corners, 1).reshape(-1, 3), np.arange(6 * len(bases)).reshape(-1, 3)
