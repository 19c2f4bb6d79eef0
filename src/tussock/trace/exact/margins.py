"""Triangles as Embree is handed them: with a margin, so that single precision loses no hit.

A ray that passes within a rounding error of an edge meets the triangle under one set of a processor's instructions and
passes it by under another. Whether it does is decided by our own arithmetic, once Embree has named the triangle; so Embree must name
it in doubt. Every edge is moved out by the margin, in the triangle's plane: the triangle grows about the middle of its
inscribed circle, x' = i + (x − i)·(1 + margin / r), with r = 2·area / perimeter and i = Σ (opposite side)·x / perimeter.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.scene.scene import SceneObject

__all__ = ["least_scales", "margin_of", "with_margin"]

_SHARE = 2.0**-21
"""of the largest coordinate: eight steps of single precision; rays that graze a triangle need more than others"""
_MOST = 1e-4
"""[m] not more, however wide a scene is: margins of blades of grass would be met as often as the blades"""
_GROWN = 1.5
"""times its size at most that a triangle is handed over, if it is smaller than margins are"""


def margin_of(largest: float, scale: float = 1.0) -> float:
    """[m] the margin of shapes in a scene whose ``largest`` coordinate [m] that is; copies are ``scale`` times as large."""
    return float(min(_SHARE * largest, _MOST) / max(scale, 1e-6))


def least_scales(objects: list[SceneObject]) -> dict[int, float]:
    """How much smaller than the shape the smallest copy is, by the id of the mesh."""
    least: dict[int, float] = {}
    for thing in objects:
        scale = float(np.linalg.norm(thing.placements.matrices[:, :, :3], axis=1).min())
        for mesh in (thing.mesh,) if thing.forms is None else thing.forms.meshes:
            least[id(mesh)] = min(scale, least.get(id(mesh), scale))
    return least


def with_margin(vertices: NDArray[Any], triangles: NDArray[Any], margin: float) -> NDArray[np.float32]:
    """Corners of triangles (m, 3) with a ``margin`` [m] all around, no two of them shared, shape (3 m, 3)."""
    corners = np.asarray(vertices, np.float64)[triangles]
    sides = np.linalg.norm(np.roll(corners, -1, 1) - np.roll(corners, -2, 1), axis=2)  # opposite to each corner
    around = sides.sum(1)
    area = 0.5 * np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = (sides[:, :, None] * corners).sum(1) / around[:, None]
        grown = np.minimum(1.0 + margin * around / (2.0 * area), _GROWN)
    flat = ~(area > 0.0)
    larger = middle[:, None] + (corners - middle[:, None]) * grown[:, None, None]
    larger[flat] = corners[flat]
    return np.ascontiguousarray(larger.reshape(-1, 3), np.float32)
