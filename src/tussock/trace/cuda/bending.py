"""A ray at a plant that the wind bends, for a thread of a graphics processor: the piece of it that goes on into the shape.

The pieces are those of `tussock.trace.wind.straightened`, with the tips that Embree's callbacks read. A walk asks for one after the other and
begins each anew, so that it need not remember the ray in the coordinates of the plant.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tussock.kernels import Array, Real, Whole, inline_kernel
from tussock.trace.hit_tables import HitTables, material_of
from tussock.trace.ray import Ray
from tussock.trace.triangles import Corners
from tussock.trace.wind.straightened import Plant, on_parabola, pieces_of, share_of, straightened, upright
from tussock.trace.wind.sway import Tip, swayed_alone

__all__ = ["BENDS", "PLANT_BOX", "Bent", "Copy", "bent_corners", "has_bent", "is_bent", "next_piece"]

BENDS = 1 << 30
"""in `Trees.placement_ids`, added to the root of a shape whose copy bends"""
PLANT_BOX = 8
"""columns of `Trees.plants`: what `tussock.trace.wind.straightened.Plant` holds of a shape, from its lowest corner on"""


class Copy(NamedTuple):
    """A copy that bends, as `Trees.placement_ids` has it."""

    root: Whole
    geometry: Whole
    copy: Whole


class Bent(NamedTuple):
    """A piece of a ray."""

    pieces: Whole
    """how many there are; 0 where the ray misses the plant, or has met something before this one begins"""
    root: Whole
    """of the shape"""
    ray: Ray


@inline_kernel
def has_bent(plants: Array) -> bool:
    """Whether anything bends in a world; left out, with all that follows, where nothing does."""
    return len(plants) > 0


@inline_kernel
def is_bent(root: Whole) -> bool:
    return root >= 0 and root & np.int32(BENDS) != 0


@inline_kernel
def next_piece(plant: Plant, tables: HitTables, named: Copy, ray: Ray, far: Real, piece: Whole) -> Bent:
    """Piece number ``piece`` of a ray in the shape of a copy that is bent; what it met so far is ``far`` away."""
    tips, row = tables.sway.tips, tables.sway.first[named.geometry] + named.copy
    place = np.float32(ray.time) * np.float32(tips.shape[1] - 1)
    node = min(int(place), tips.shape[1] - 3)
    at = place - np.float32(node)
    tip = Tip(
        on_parabola(tips[row, node, 0], tips[row, node + 1, 0], tips[row, node + 2, 0], at),
        on_parabola(tips[row, node, 1], tips[row, node + 1, 1], tips[row, node + 2, 1], at),
        on_parabola(tips[row, node, 2], tips[row, node + 1, 2], tips[row, node + 2, 2], at),
    )
    whole = Ray(ray.x, ray.y, ray.z, ray.dx, ray.dy, ray.dz, np.float32(ray.near), np.float32(far), ray.time)
    made = upright(plant, whole, tip)
    pieces = pieces_of(made.rise)
    part = straightened(plant, made, tip.x, tip.y, share_of(pieces), piece)
    left = pieces if (made.ray.near <= made.ray.far) & (part.near <= whole.far) else 0
    return Bent(left, np.int32(named.root - np.int32(BENDS)), part)


@inline_kernel
def bent_corners(
    tables: HitTables, geometry: Whole, copy: Whole, primitive: Whole, time: Real, at: Corners
) -> Corners:  # fmt: skip
    """A triangle of a shape, where the wind has taken it at a ray's time; as it is where nothing bends."""
    if tables.sway.first[geometry] < 0:
        return at
    material = material_of(tables, geometry, primitive)
    return swayed_alone(tables.sway, geometry, copy, time, at, material)
