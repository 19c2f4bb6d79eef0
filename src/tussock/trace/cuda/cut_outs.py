"""What is cut out of the triangles of the trees: whether there is anything where a ray meets one.

As Embree's filter does (`tussock.trace.cut_outs.filter`), with the same arithmetic: the place on the triangle in double
precision, the nearest texel, no blending. A triangle whose material has cut-outs says so in its row of `Trees.triangles`, with
what the walk reads anyway.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import Array, Whole, inline_kernel
from tussock.trace.cuda.meeting import Named, meet_named
from tussock.trace.cut_outs.opacity import CutOuts, texel_at
from tussock.trace.hit_tables import HitTables
from tussock.trace.ray import Ray

__all__ = ["MATERIAL", "PLACE", "Pictures", "is_opaque", "is_solid", "pictures_of"]

PLACE, MATERIAL = 10, 11
"""columns of `Trees.triangle_ids`: row in `Pictures.places` plus 1, 0 for a triangle that is whole; number of its material"""
_BEGIN, _WIDTH, _HEIGHT, _LEAST, _COLUMNS = range(5)


class Pictures(NamedTuple):
    """The textures that cut something out, for kernels; empty where none does."""

    places: NDArray[np.float32]
    """texture coordinates of triangles, corner after corner, shape (n, 6)"""
    textures: NDArray[np.int64]
    """of materials: where their opacities begin, width, height, and the least opacity of what is there, shape (materials, 4)"""
    opacities: NDArray[np.uint8]
    """a byte a texel, picture after picture, the top row first"""


def pictures_of(cut_outs: CutOuts, places: NDArray[np.float32]) -> Pictures:
    """The textures of a world, with the texture coordinates of triangles (n, 6)."""
    textures = np.zeros((len(cut_outs.rows), _COLUMNS), np.int64)
    kept: Mapping[int, NDArray[np.uint8]] = cut_outs.opacities
    at = 0
    for number, opacity in kept.items():
        textures[number] = at, *cut_outs.rows[number, 1:].astype(np.int64)
        at += opacity.size
    whole = np.concatenate([opacity.ravel() for opacity in kept.values()]) if kept else np.zeros(0, np.uint8)
    return Pictures(places, textures, whole)


@inline_kernel
def is_solid(triangles: Array, ids: Array, pictures: Pictures, tables: HitTables, named: Named, ray: Ray) -> bool:
    """Whether there is anything where a ray, in the world, meets a triangle."""
    row = np.int64(ids[named.triangle, PLACE]) - 1
    if row < 0:
        return True
    met = meet_named(triangles, tables, named, ray)
    return is_opaque(pictures, row, np.int64(ids[named.triangle, MATERIAL]), met.u, met.v)


@inline_kernel
def is_opaque(pictures: Pictures, row: Whole, material: Whole, u: float, v: float) -> bool:
    """Whether a picture is opaque at the shares ``u`` and ``v`` of a triangle's second and third corner."""
    p, about = pictures.places, pictures.textures
    places = p[row, 0], p[row, 1], p[row, 2], p[row, 3], p[row, 4], p[row, 5]
    texel = about[material, _BEGIN] + texel_at(places, u, v, about[material, _WIDTH], about[material, _HEIGHT])
    return np.int64(pictures.opacities[texel]) >= about[material, _LEAST]
