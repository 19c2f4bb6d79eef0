"""Which of the hits that Embree finds are true: a filter that it calls back where a ray is traced again.

Embree is handed triangles with a margin (`tussock.trace.exact.margins`), so that none is lost to its single precision, and
some are met that a ray passes by. Those are told by our own arithmetic (`tussock.trace.triangles`), which is the same on
every processor. It is done once a ray has been traced; the few rays that met no more than a margin, or an edge, are traced
again, and then Embree asks this filter at every triangle that it comes to. Which of two is nearer our own arithmetic says
as well: Embree is told that what it has found is a little further off, so that it asks of all that may be nearer. At shapes that have cut-outs
(`tussock.trace.exact.cut_outs`) it is asked at once.

What a filter is handed (rtcSetGeometryIntersectFilterFunction, Embree 4 API):

    arguments  0 valid   16 context   24 rays   32 hits   40 how many
    rays       twelve rows, the eleventh of them the lane   hits  nine rows: normal, u, v, primitive, geometry, instance, copy
    context    1936 `HitTables.known`   2000 start, direction and time of the rays in the world, seven rows of 16
               2448 how far the nearest hit so far is, by our own arithmetic, a row of 16

Copies that sway are where no straight ray meets them (`tussock.trace.sway_geometry`): what Embree finds of them is
taken as it is, but for what is cut out of them.
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
    float32_view,
    float64_view,
    inline_kernel,
    int32_view,
    int64_view,
    uint16_view,
    uint32_at,
    uint32_view,
    uint64_at,
    uint64_view,
)  # fmt: skip
from tussock.trace.exact.cut_outs import is_there
from tussock.trace.normals import PlacedCopies
from tussock.trace.placed_copies import apply_transform, transform_of
from tussock.trace.ray import Ray
from tussock.trace.triangles import Corners, Meeting, Triangles, corners_of, meet_triangle

__all__ = ["CUT_OUTS", "FILTER", "KNOWN_AT", "NEAREST_AT", "QUERY_CONTEXT", "RAYS_AT", "Filtered", "known_to_filters"]

QUERY_CONTEXT = 48
"""bytes into `Packet.query` where the context of a query begins; eight bytes on, what a frame hands to callbacks"""
KNOWN_AT, RAYS_AT, NEAREST_AT = 1936, 2000, 2448
"""bytes into the context"""
(
    FILTER, CUT_OUTS, _VERTICES, _INDICES, _CORNERS, _FIRST, _STEPS, _COPIES, _STANDING, _MOVING, _SWAY, _UV, _MATERIALS,
    _PRIMITIVES, _WORDS,
) = range(15)  # fmt: skip
"""words of `HitTables.known`: where the filter is, and the tables that it reads"""
_LANES = 16
_MANY = 1 << 40  # how long tables are is not asked
_NEVER = np.inf
_BEYOND = 2.0**-16
"""of the distance, by which Embree looks on: what it says of a grazing triangle may be off by more than steps"""
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
    """`tussock.trace.exact.cut_outs.CutOuts.rows`; of length 0 where nothing is cut out"""


def known_to_filters(tables: Filtered) -> NDArray[np.uint64]:
    """`HitTables.known`: addresses, which hold for as long as the arrays live."""
    known = np.zeros(_WORDS, np.uint64)
    known[FILTER] = callback_address(_keep_true)
    known[CUT_OUTS] = tables.cut_outs.ctypes.data if len(tables.cut_outs) else 0
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


def _keep_true(arguments: Any) -> None:
    """Strike out the lanes whose ray passes beside the triangle."""
    context, rays, hits = uint64_at(arguments, 2), uint64_at(arguments, 3), uint64_at(arguments, 4)
    count = np.int64(uint32_at(arguments, 10))
    valid = uint32_view(uint64_at(arguments, 0), count)
    known = uint64_at(context, KNOWN_AT // 8)
    for i in range(count):
        if valid[i] != 0:
            named = _Named(
                uint32_at(hits, 6 * count + i), uint32_at(hits, 5 * count + i), uint32_at(hits, 7 * count + i),
                uint32_at(hits, 8 * count + i),
            )  # fmt: skip
            lane = np.int64(uint32_at(rays, 10 * count + i))
            said = _Said(
                float32_at(rays, 8 * count + i), float32_at(hits, 3 * count + i), float32_at(hits, 4 * count + i)
            )
            t = _true_distance(known, context + np.uint64(RAYS_AT), lane, named, said)
            nearest = float64_view(context + np.uint64(NEAREST_AT), _LANES)
            if t < nearest[lane]:
                nearest[lane] = t
                float32_view(rays, 9 * count)[8 * count + i] = np.float32(t + _BEYOND * t)
            else:
                valid[i] = np.uint32(0)


class _Said(NamedTuple):
    """Where Embree says that a triangle is met."""

    distance: Real
    u: Real
    v: Real


@inline_kernel
def _true_distance(known: Whole, rays: Whole, lane: Whole, named: _Named, said: _Said) -> Real:
    """[m] how far a triangle is along a ray, infinity where the ray passes beside it or what it meets is cut out."""
    geometry = named.geometry if named.instance == _NO_INSTANCE else named.instance
    distance, u, v = np.float64(said.distance), np.float64(said.u), np.float64(said.v)
    if int64_view(uint64_at(known, _SWAY), _MANY)[geometry] < 0:
        met = _meeting(known, rays, lane, named)
        if not met.inside:
            return _NEVER
        distance, u, v = met.distance, met.u, met.v
    corners = uint64_view(uint64_at(known, _UV), _MANY)[geometry]
    if corners == 0:
        return distance
    material = np.int64(int32_view(uint64_at(known, _MATERIALS), _MANY)[geometry])
    if material < 0:
        material = np.int64(uint16_view(uint64_at(known, _PRIMITIVES), _MANY)[-1 - material + named.primitive])
    there = is_there(uint64_at(known, CUT_OUTS), material, corners, named.primitive, u, v)
    return distance if there else _NEVER


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
