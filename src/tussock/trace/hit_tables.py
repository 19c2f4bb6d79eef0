"""What kernels look a hit up in: whose it is, what it is called, what its surface does to light."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import Whole, inline_kernel
from tussock.trace.normals import PlacedCopies
from tussock.trace.triangles import Triangles
from tussock.trace.wind.sway import Swaying

__all__ = [
    "DIFFUSE", "FILM", "GLOSS", "INDEX", "LEAF", "MIRROR", "RETRO", "SHININESS", "SPECULAR", "TRANSMISSION", "HitTables",
    "material_of",
]  # fmt: skip

DIFFUSE, SPECULAR, SHININESS, RETRO, MIRROR, TRANSMISSION, INDEX, FILM, GLOSS, LEAF = range(10)
"""columns of `HitTables.optics`"""


class HitTables(NamedTuple):
    """What kernels look a hit up in. A geometry number is a row of the tables ``geometry_*``."""

    geometry_object: NDArray[np.uint32]
    """object id"""
    geometry_label: NDArray[np.uint16]
    geometry_material: NDArray[np.int32]
    """the one material of the geometry; where it has several, −1 − the start of its row in ``primitives``"""
    placed: PlacedCopies
    """where copies are"""
    triangles: Triangles
    """where the triangles of geometries are"""
    neighbours: NDArray[np.uint64]
    """addresses of what is beyond their edges (`tussock.trace.rounding.neighbours.beyond_edges`), 0 where that is not known; none where
    Embree's word holds at edges"""
    primitives: NDArray[np.uint16]
    """material of every triangle of the geometries that have several"""
    optics: NDArray[np.float32]
    """what a material does to light, columns DIFFUSE to LEAF, shape (materials, 10)"""
    material_label: NDArray[np.int32]
    """label of the material, −1: the object's own"""
    shines: bool
    """whether any material has a glint or a film of water"""
    bends: bool
    """whether any material is a mirror, a smooth film of water, or lets light through as glass does"""
    leaves: bool
    """whether any material lets light through as leaves do"""
    first_volume: int
    """geometries from this number on are volumes"""
    geometry_response: NDArray[np.int64]
    """row of the geometry in ``responses``, to which the number of the material is added; −1: all hard"""
    geometry_bit: NDArray[np.uint32]
    """the one bit of the masks of a geometry that responds, 0 where it has none to itself"""
    responses: NDArray[np.float32]
    """mean and standard deviation of the range error [m], 0 and 0 for a hard surface, shape (rows, 2)"""
    air_label: NDArray[np.uint16]
    """label of what the air sends back, by its kind, shape (4,)"""
    sway: Swaying
    """what the wind moves"""
    uv: NDArray[np.uint64]
    """addresses of the texture coordinates of geometries that have cut-outs, 0 for others"""
    known: NDArray[np.uint64]
    """addresses of what `tussock.trace.cut_outs.filter` reads of these tables"""


@inline_kernel
def material_of(tables: HitTables, geometry: Whole, primitive: Whole) -> Whole:
    """Number of the material of a primitive of a geometry."""
    material = tables.geometry_material[geometry]
    if material >= 0:
        return material
    return np.int32(tables.primitives[-1 - np.int64(material) + np.int64(primitive)])
