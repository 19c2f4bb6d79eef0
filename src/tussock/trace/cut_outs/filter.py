"""What Embree asks of us at a hit on a shape that has cut-outs: whether there is anything where the ray meets it.

Which texel is met our own arithmetic says (`tussock.trace.triangles`), so that it is the same one on every processor.
Copies that sway are where no straight ray meets them (`tussock.trace.wind.sway_geometry`): there Embree's word is taken.

What a filter is handed (rtcSetGeometryIntersectFilterFunction, Embree 4 API):

    arguments  0 valid   16 context   24 rays   32 hits   40 how many
    rays       twelve rows, the eleventh of them the lane   hits  nine rows: normal, u, v, primitive, geometry, instance, copy
    context    1936 `HitTables.known`   2000 start, direction and time of the rays in the world, seven rows of 16
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import (
    Real,
    Whole,
    callback_address,
    float32_at,
    float32_rows,
    inline_kernel,
    int32_view,
    int64_view,
    uint16_view,
    uint32_at,
    uint32_view,
    uint64_at,
    uint64_view,
)  # fmt: skip
from tussock.trace.cut_outs.opacity import is_there
from tussock.trace.normals import PlacedCopies
from tussock.trace.placed_copies import apply_transform, transform_of
from tussock.trace.ray import Ray
from tussock.trace.triangles import Corners, Meeting, Triangles, corners_of, meet_triangle

__all__ = [
    "CUT_OUTS", "FILTER", "KNOWN_AT", "NOTING", "QUERY_CONTEXT", "RAYS_AT", "RAYS_END", "Filtered", "known_to_filters", "strike_out",
]  # fmt: skip

QUERY_CONTEXT = 48
"""bytes into `Packet.query` where the context of a query begins; eight bytes on, what a frame hands to callbacks"""
KNOWN_AT, RAYS_AT, RAYS_END = 1936, 2000, 2448
"""bytes into the context"""
(
    FILTER, CUT_OUTS, NOTING, _VERTICES, _INDICES, _CORNERS, _FIRST, _STEPS, _COPIES, _STANDING, _MOVING, _SWAY, _UV, _MATERIALS,
    _PRIMITIVES, _WORDS,
) = range(16)  # fmt: skip
"""words of `HitTables.known`: where the filter is, and the tables that it reads; where that of `tussock.trace.rounding.ties` is"""
_LANES = 16
_MANY = 1 << 40  # how long tables are is not asked
_NO_INSTANCE = np.uint32(0xFFFFFFFF)


class Filtered(NamedTuple):
    """The tables that the filter reads."""

    triangles: Triangles
    placed: PlacedCopies
    sway_first: NDArray[np.int64]
    uv: NDArray[np.uint64]
    geometry_material: NDArray[np.int32]
    primitives: NDArray[np.uint16]
    cut_outs: NDArray[np.uint64]
    """`tussock.trace.cut_outs.opacity.CutOuts.rows`; of length 0 where nothing is cut out"""


def known_to_filters(tables: Filtered, noting: int = 0) -> NDArray[np.uint64]:
    """`HitTables.known`: addresses, which hold for as long as the arrays live; ``noting``: that of the filter of ties, if any."""
    known = np.zeros(_WORDS, np.uint64)
    known[NOTING] = noting
    if len(tables.cut_outs):
        known[FILTER], known[CUT_OUTS] = callback_address(_keep_what_is_there), tables.cut_outs.ctypes.data
    read = (
        *tables.triangles,
        *tables.placed,
        tables.sway_first,
        tables.uv,
        tables.geometry_material,
        tables.primitives,
    )
    known[_VERTICES:] = [table.ctypes.data for table in read]
    return known


class _Named(NamedTuple):
    """What Embree calls a hit."""

    geometry: Whole
    primitive: Whole
    instance: Whole
    copy: Whole
    u: Real
    v: Real


def _keep_what_is_there(arguments: Any) -> None:
    """The filter of a query."""
    strike_out(arguments)


@inline_kernel
def strike_out(arguments: Any) -> None:
    """Strike out the lanes whose ray meets what is cut out."""
    context, rays, hits = uint64_at(arguments, 2), uint64_at(arguments, 3), uint64_at(arguments, 4)
    count = np.int64(uint32_at(arguments, 10))
    valid = uint32_view(uint64_at(arguments, 0), count)
    known = uint64_at(context, KNOWN_AT // 8)
    for i in range(count):
        if valid[i] != 0:
            named = _Named(
                uint32_at(hits, 6 * count + i), uint32_at(hits, 5 * count + i), uint32_at(hits, 7 * count + i),
                uint32_at(hits, 8 * count + i), float32_at(hits, 3 * count + i), float32_at(hits, 4 * count + i),
            )  # fmt: skip
            lane = np.int64(uint32_at(rays, 10 * count + i))
            if not _is_kept(known, context + np.uint64(RAYS_AT), lane, named):
                valid[i] = np.uint32(0)


@inline_kernel
def _is_kept(known: Whole, rays: Whole, lane: Whole, named: _Named) -> bool:
    """Whether there is anything where the ray of a lane meets a triangle."""
    geometry = named.geometry if named.instance == _NO_INSTANCE else named.instance
    corners = uint64_view(uint64_at(known, _UV), _MANY)[geometry]
    if corners == 0:
        return True
    u, v = np.float64(named.u), np.float64(named.v)
    if int64_view(uint64_at(known, _SWAY), _MANY)[geometry] < 0:
        met = _meeting(known, rays, lane, named)
        u, v = met.u, met.v
    material = np.int64(int32_view(uint64_at(known, _MATERIALS), _MANY)[geometry])
    if material < 0:
        material = np.int64(uint16_view(uint64_at(known, _PRIMITIVES), _MANY)[-1 - material + named.primitive])
    return is_there(uint64_at(known, CUT_OUTS), material, corners, named.primitive, u, v)


@inline_kernel
def _meeting(known: Whole, rays: Whole, lane: Whole, named: _Named) -> Meeting:
    """Where the ray of a lane meets the plane of what it is said to have met."""
    triangles = Triangles(
        uint64_view(uint64_at(known, _VERTICES), _MANY),
        uint64_view(uint64_at(known, _INDICES), _MANY),
        uint64_view(uint64_at(known, _CORNERS), _MANY),
    )
    placed_once = named.instance == _NO_INSTANCE
    geometry = named.geometry if placed_once else named.instance
    at = corners_of(triangles, geometry, named.primitive)
    if not placed_once:
        placed = PlacedCopies(
            int64_view(uint64_at(known, _FIRST), _MANY), int32_view(uint64_at(known, _STEPS), _MANY),
            int32_view(uint64_at(known, _COPIES), _MANY), float32_rows(uint64_at(known, _STANDING), _MANY),
            float32_rows(uint64_at(known, _MOVING), _MANY),
        )  # fmt: skip
        turn = transform_of(placed, geometry, named.copy, float32_at(rays, 6 * _LANES + lane))
        ax, ay, az = apply_transform(turn, at.ax, at.ay, at.az)
        bx, by, bz = apply_transform(turn, at.bx, at.by, at.bz)
        cx, cy, cz = apply_transform(turn, at.cx, at.cy, at.cz)
        at = Corners(ax, ay, az, bx, by, bz, cx, cy, cz)
    ray = Ray(
        np.float64(float32_at(rays, lane)), np.float64(float32_at(rays, _LANES + lane)),
        np.float64(float32_at(rays, 2 * _LANES + lane)), np.float64(float32_at(rays, 3 * _LANES + lane)),
        np.float64(float32_at(rays, 4 * _LANES + lane)), np.float64(float32_at(rays, 5 * _LANES + lane)), 0.0, 0.0, 0.0,
    )  # fmt: skip
    return meet_triangle(ray, at)
