"""Sixteen rays at a time: the packet that Embree traces, and the one place that knows how it looks.

`RTCRayHit16` is 21 rows of 16 lanes of 4 bytes, aligned to 64 bytes. Nothing outside this file names its rows: rays go
in by `load_ray` and come out by `ray_at`, hits come out by `hit_at`. The rows stand one after the other in flat arrays
with constants between them, so that the compiler sees that they do not overlap and makes vector code of loops over
lanes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import Array, Real, Whole, from_library, inline_kernel, int32_at, kernel
from tussock.trace.cut_outs.filter import CUT_OUTS, FILTER, KNOWN_AT, NOTING, QUERY_CONTEXT, RAYS_AT
from tussock.trace.embree import library
from tussock.trace.hit_tables import HitTables, material_of
from tussock.trace.placed_copies import apply_transform, fetch_copy, mirrored_side, transform_of
from tussock.trace.ray import Hit, Ray, levelled
from tussock.trace.rounding.edges import band_of, edge_of, ends_here, is_beyond, is_thin, nears_edge, third_corner
from tussock.trace.rounding.neighbours import BORDER, LEFT_ALONE
from tussock.trace.rounding.ties import (
    TIES_END,
    begin_notes,
    comes_first,
    note_at,
    noted_of,
    notes_in,
    strike_taken,
    take,
)
from tussock.trace.triangles import Corners, corners_of, fetch_corners, meet_triangle
from tussock.trace.wind.sway import KNOWN, swayed

__all__ = [
    "LANES", "MET", "NOTHING", "PASSED", "Packet", "band_at", "beyond_edge", "distance_at", "empty_lane", "forget_hit", "hit_at",
    "intersect", "is_hit", "is_near_edge", "keep_ends", "let_cut_out", "load_ray", "name_triangle", "new_packet", "note_ties",
    "noted", "occluded", "ray_at", "resolve", "say_close", "set_hit", "set_near", "stop_noting", "strike_off", "take_nearest",
    "was_stopped",
]  # fmt: skip

LANES = 16
_ORG_X, _ORG_Y, _ORG_Z, _TNEAR, _DIR_X, _DIR_Y, _DIR_Z, _TIME, _TFAR, _MASK, _ID, _FLAGS = range(0, 12 * LANES, LANES)
_NG_X, _NG_Y, _NG_Z, _U, _V, _PRIM, _GEOM, _INST, _INST_PRIM = range(12 * LANES, 21 * LANES, LANES)
_WORDS = 21 * LANES
_AX, _AY, _AZ, _BX, _BY, _BZ, _CX, _CY, _CZ, _SIDE, _REACH, _EDGE, _END, _KNOWN = range(0, 14 * LANES, LANES)
"""rows of `Packet.corners`"""
_HANDED = (QUERY_CONTEXT + KNOWN_AT) // 4 + 2  # whether the filter has the rays of a packet
_COHERENT = np.uint32(1 << 16)  # RTC_RAY_QUERY_FLAG_COHERENT
QUERY_WORDS = (QUERY_CONTEXT + TIES_END) // 4
NOTHING = np.uint32(0xFFFFFFFF)
"""what stands for "none" among Embree's numbers, and for a lane in use among masks"""
MET, PASSED = -1, -2
"""that a triangle is met; and that its surface ends before the ray reaches it, see `beyond_edge`"""

library()  # the symbols below must be known before a cached kernel is loaded
_intersect16: Any = from_library(library(), "rtcIntersect16", 4)
_occluded16: Any = from_library(library(), "rtcOccluded16", 4)


class Packet(NamedTuple):
    """Sixteen rays and what they met."""

    numbers: NDArray[np.float32]
    """Embree's struct, shape (336,)"""
    bits: NDArray[np.uint32]
    """the same memory as whole numbers"""
    masks: NDArray[np.uint32]
    """all bits for a lane in use, 0 for an idle one, shape (16,)"""
    materials: NDArray[np.int32]
    """what each lane met, −1 for nothing; known once it is resolved, shape (16,)"""
    corners: NDArray[np.float64]
    """the triangle that each lane met, in the world [m], nine rows; the side of mirrored copies; what `band_of` wants to know of
    a copy, −1 for one that bends; 1 where the ray passes near an edge; the far end of the ray; then the tips of plants that
    were asked for last (`tussock.trace.wind.sway.swayed`), shape (232,)"""
    query: NDArray[np.uint32]
    """what Embree hands on to callbacks, and room for them (`tussock.trace.wind.sway_geometry`, `tussock.trace.cut_outs.filter`,
    `tussock.trace.rounding.ties`), shape (1328,)"""


@kernel
def _aligned(words: int) -> Any:
    """Uninitialised uint32 words on a 64-byte boundary."""
    raw = np.empty(words + 16, np.uint32)
    skip = (64 - raw.ctypes.data % 64) % 64 // 4
    return raw[skip : skip + words]


@kernel
def new_packet() -> Packet:
    """A packet with all lanes in use and nothing in it."""
    words, masks, query = _aligned(_WORDS), _aligned(LANES), _aligned(QUERY_WORDS)
    words[:] = 0
    words[_GEOM : _GEOM + LANES] = NOTHING  # a lane that never had a ray has met nothing
    words[_INST : _INST + LANES] = NOTHING
    for l in range(LANES):
        words[_ID + l] = l
    masks[:] = NOTHING
    # RTCIntersectArguments: flags, features (all), address of the context; the rest of it is nothing.
    query[:] = 0
    query[1] = NOTHING
    query.view(np.uint64)[1] = np.uint64(query.ctypes.data) + np.uint64(QUERY_CONTEXT)
    query[QUERY_CONTEXT // 4 : QUERY_CONTEXT // 4 + 2] = NOTHING  # RTCRayQueryContext: in no instance yet
    # What is computed of all lanes divides by zero in none: one that never had a ray stands across a triangle.
    numbers, corners = words.view(np.float32), np.zeros(_KNOWN + KNOWN)
    numbers[_DIR_Z : _DIR_Z + LANES] = 1.0
    numbers[_TFAR : _TFAR + LANES] = 1.0
    corners[_BX : _BX + LANES] = 1.0
    corners[_CY : _CY + LANES] = 1.0
    corners[_KNOWN:] = -1.0
    return Packet(numbers, words, masks, np.full(LANES, -1, np.int32), corners, query)


@inline_kernel
def load_ray(packet: Packet, l: int, ray: Ray, mask: Whole) -> None:
    """Put a ray into lane ``l``, and forget what the lane met before; it sees what shares a bit with ``mask``."""
    numbers, bits = packet.numbers, packet.bits
    numbers[_ORG_X + l] = ray.x
    numbers[_ORG_Y + l] = ray.y
    numbers[_ORG_Z + l] = ray.z
    numbers[_TNEAR + l] = ray.near
    numbers[_DIR_X + l] = levelled(ray.dx)
    numbers[_DIR_Y + l] = levelled(ray.dy)
    numbers[_DIR_Z + l] = levelled(ray.dz)
    numbers[_TIME + l] = ray.time
    numbers[_TFAR + l] = ray.far
    bits[_MASK + l] = mask
    bits[_FLAGS + l] = 0
    bits[_GEOM + l] = NOTHING
    bits[_INST + l] = NOTHING
    bits[_INST_PRIM + l] = 0


@inline_kernel
def empty_lane(packet: Packet, l: int) -> None:
    """Make the ray of a lane end before it starts: it costs nothing, and counts as stopped."""
    packet.numbers[_TFAR + l] = -1.0


@inline_kernel
def ray_at(packet: Packet, l: int) -> Ray:
    """The ray of lane ``l``; once traced, it ends at what it met."""
    numbers = packet.numbers
    return Ray(
        numbers[_ORG_X + l], numbers[_ORG_Y + l], numbers[_ORG_Z + l],
        numbers[_DIR_X + l], numbers[_DIR_Y + l], numbers[_DIR_Z + l],
        numbers[_TNEAR + l], numbers[_TFAR + l], numbers[_TIME + l],
    )  # fmt: skip


@inline_kernel
def hit_at(packet: Packet, l: int) -> Hit:
    """What lane ``l`` met, resolved."""
    numbers, bits = packet.numbers, packet.bits
    return Hit(
        numbers[_TFAR + l], numbers[_NG_X + l], numbers[_NG_Y + l], numbers[_NG_Z + l], numbers[_U + l],
        numbers[_V + l], bits[_GEOM + l], bits[_PRIM + l], bits[_INST_PRIM + l], packet.materials[l],
    )  # fmt: skip


@inline_kernel
def set_hit(packet: Packet, l: int, hit: Hit) -> None:
    """Let lane ``l`` have met something else."""
    numbers, bits = packet.numbers, packet.bits
    numbers[_TFAR + l] = hit.distance
    numbers[_NG_X + l], numbers[_NG_Y + l], numbers[_NG_Z + l] = hit.nx, hit.ny, hit.nz
    numbers[_U + l], numbers[_V + l] = hit.u, hit.v
    bits[_GEOM + l], bits[_PRIM + l], bits[_INST_PRIM + l] = hit.geometry, hit.primitive, hit.copy
    packet.materials[l] = hit.material


@inline_kernel
def distance_at(packet: Packet, l: int) -> Real:
    """[m] to what lane ``l`` met, or to its far end"""
    return packet.numbers[_TFAR + l]


@inline_kernel
def is_hit(packet: Packet, l: int) -> bool:
    """Whether lane ``l`` met anything, resolved or not."""
    return packet.bits[_GEOM + l] != NOTHING


@inline_kernel
def was_stopped(packet: Packet, l: int) -> bool:
    """Whether anything is in the way of lane ``l``, after `occluded`."""
    return packet.numbers[_TFAR + l] < np.float32(0.0)


@inline_kernel
def intersect(scene: int, packet: Packet, moment: int) -> None:
    """Embree finds the nearest hit of every lane in use; TFAR and the hit rows of lanes that hit are overwritten.

    ``moment`` is the address of what callbacks are to know of the frame, 0 where there are none.
    """
    _intersect16(packet.masks.ctypes.data, scene, packet.numbers.ctypes.data, _query(packet, moment))


@inline_kernel
def occluded(scene: int, packet: Packet, moment: int) -> None:
    """Embree finds out which lanes in use meet anything before TFAR; theirs becomes −∞, the hit rows stay."""
    # RTCRayHit16 begins with the RTCRay16 that this call reads.
    _occluded16(packet.masks.ctypes.data, scene, packet.numbers.ctypes.data, _query(packet, moment))


@inline_kernel
def say_close(packet: Packet, close: bool) -> None:
    """Tell Embree whether the rays lie close together: it then takes them through its trees as one, to the same hits."""
    packet.query[0] = _COHERENT if close else np.uint32(0)


@inline_kernel
def _query(packet: Packet, moment: int) -> Whole:
    """Address of the arguments of a query; 0, Embree's own, where they say nothing and no callback wants any."""
    if moment == 0 and packet.query[_HANDED] == 0 and packet.query[0] == 0:
        return np.uint64(0)
    _put_address(packet.query, QUERY_CONTEXT // 4 + 2, moment)
    return np.uint64(packet.query.ctypes.data)


@inline_kernel
def _put_address(words: Array, at: int, address: Whole) -> None:
    words[at] = np.uint32(np.uint64(address) & np.uint64(0xFFFFFFFF))
    words[at + 1] = np.uint32(np.uint64(address) >> np.uint64(32))


@inline_kernel
def let_cut_out(tables: HitTables, packet: Packet) -> None:
    """Before a packet is traced: let Embree ask the filter at shapes that have cut-outs, if there are any."""
    if tables.known[CUT_OUTS] != 0:
        _hand_over(tables, packet)
        packet.query[_HANDED] = np.uint32(1)


@inline_kernel
def _hand_over(tables: HitTables, packet: Packet) -> None:
    """Let the filter know the rays as they are in the world: Embree takes them into the coordinates of shapes."""
    query, bits, context = packet.query, packet.bits, QUERY_CONTEXT // 4
    _put_address(query, 4, tables.known[FILTER])
    _put_address(query, context + KNOWN_AT // 4, tables.known.ctypes.data)
    rays = context + RAYS_AT // 4
    for l in range(LANES):
        query[rays + l] = bits[_ORG_X + l]
        query[rays + LANES + l] = bits[_ORG_Y + l]
        query[rays + 2 * LANES + l] = bits[_ORG_Z + l]
        query[rays + 3 * LANES + l] = bits[_DIR_X + l]
        query[rays + 4 * LANES + l] = bits[_DIR_Y + l]
        query[rays + 5 * LANES + l] = bits[_DIR_Z + l]
        query[rays + 6 * LANES + l] = bits[_TIME + l]


@inline_kernel
def note_ties(tables: HitTables, packet: Packet) -> None:
    """Before a packet is traced: have all triangles noted that Embree comes upon (`tussock.trace.rounding.ties`), until `stop_noting`."""
    if tables.known[CUT_OUTS] != 0:
        _hand_over(tables, packet)
    _put_address(packet.query, 4, tables.known[NOTING])
    _put_address(packet.query, (QUERY_CONTEXT + KNOWN_AT) // 4, tables.known.ctypes.data)
    packet.query[_HANDED] = np.uint32(1)
    rays, notes = packet.numbers, notes_in(packet.query)
    for l in range(LANES):
        if packet.masks[l] != 0:  # of idle lanes the notes are kept
            begin_notes(notes, l, abs(rays[_ORG_X + l]) + abs(rays[_ORG_Y + l]) + abs(rays[_ORG_Z + l]))


@inline_kernel
def stop_noting(packet: Packet) -> None:
    """Let Embree ask no filter any more."""
    packet.query[_HANDED] = np.uint32(0)
    _put_address(packet.query, 4, 0)


@inline_kernel
def noted(packet: Packet, l: int) -> Whole:
    """How many triangles were noted for lane ``l``."""
    return noted_of(notes_in(packet.query), l)


@inline_kernel
def strike_off(packet: Packet, l: int) -> None:
    """Of what was noted for lane ``l``, what was taken last is not met."""
    strike_taken(notes_in(packet.query), l)


@inline_kernel
def take_nearest(tables: HitTables, packet: Packet, l: int) -> bool:
    """Let lane ``l`` have met the nearest of the triangles that were noted, by our own arithmetic; False where none is left."""
    notes, ray, bits = notes_in(packet.query), _exact_ray(packet.numbers, l), packet.bits
    nearest, taken = np.inf, np.int64(-1)
    for slot in range(noted(packet, l)):
        one = note_at(notes, slot, l)
        if one.primitive == NOTHING:
            continue
        copied = one.instance != NOTHING
        at = corners_of(tables.triangles, one.instance if copied else one.geometry, one.primitive)
        if copied:
            at = _in_world(tables, packet, l, one.instance, one.copy, at)
        distance = meet_triangle(ray, at).distance
        if distance < nearest or (distance == nearest and comes_first(notes, slot, taken, l)):
            nearest, taken = distance, np.int64(slot)
    if taken < 0:
        return False
    bits[_GEOM + l], bits[_PRIM + l], bits[_INST + l], bits[_INST_PRIM + l] = take(notes, taken, l)
    return True


@inline_kernel
def resolve(tables: HitTables, packet: Packet) -> bool:
    """Turn Embree's numbers into ours, in every lane in use: geometry, copy, material, and where the ray met it.

    Idle lanes keep what they have: it may be a volume, which has no triangles. Whether any ray in use passes near an edge:
    what it meets there is not settled yet, see `is_near_edge`.
    """
    for l in range(LANES):
        if packet.masks[l] != 0 and packet.bits[_GEOM + l] != NOTHING:
            _fetch_lane(tables, packet.bits, l)
    for l in range(LANES):
        if packet.masks[l] != 0:
            packet.materials[l] = _resolve_lane(tables, packet.numbers, packet.bits, packet.corners, l)
    _meet_lanes(packet)
    return _near_edges(packet) if len(tables.neighbours) > 0 else False


@inline_kernel
def _fetch_lane(tables: HitTables, bits: Array, l: int) -> None:
    """Ask for the triangle that lane ``l`` met, and for where it is placed, before they are read: both are far away."""
    instance, geometry = bits[_INST + l], bits[_GEOM + l]
    if instance != NOTHING:
        geometry = instance
        if tables.placed.steps[instance] == 1:
            fetch_copy(tables.placed, instance, bits[_INST_PRIM + l])
    fetch_corners(tables.triangles, geometry, bits[_PRIM + l])


@inline_kernel
def _resolve_lane(tables: HitTables, numbers: Array, bits: Array, corners: Array, l: int) -> Whole:
    """The material that lane ``l`` met, −1 for none; ``corners`` get the triangle."""
    if bits[_GEOM + l] == NOTHING:
        return np.int32(-1)
    instance, copy = bits[_INST + l], bits[_INST_PRIM + l]
    if instance != NOTHING:
        bits[_GEOM + l] = instance
        at = corners_of(tables.triangles, instance, bits[_PRIM + l])
        bends = tables.sway.first[instance] >= 0
        if bends:
            material = material_of(tables, instance, bits[_PRIM + l])
            at = swayed(tables.sway, instance, copy, numbers[_TIME + l], at, material, corners[_KNOWN:])
        turn = transform_of(tables.placed, instance, copy, numbers[_TIME + l])
        corners[_AX + l], corners[_AY + l], corners[_AZ + l] = apply_transform(turn, at.ax, at.ay, at.az)
        corners[_BX + l], corners[_BY + l], corners[_BZ + l] = apply_transform(turn, at.bx, at.by, at.bz)
        corners[_CX + l], corners[_CY + l], corners[_CZ + l] = apply_transform(turn, at.cx, at.cy, at.cz)
        corners[_SIDE + l] = mirrored_side(turn)
        start = abs(numbers[_ORG_X + l]) + abs(numbers[_ORG_Y + l]) + abs(numbers[_ORG_Z + l])
        corners[_REACH + l] = -1.0 if bends else start + abs(turn.x) + abs(turn.y) + abs(turn.z)
    else:
        bits[_INST_PRIM + l] = 0  # Embree says "none" where it traced no instance; it is the only copy
        at = corners_of(tables.triangles, bits[_GEOM + l], bits[_PRIM + l])
        corners[_AX + l], corners[_AY + l], corners[_AZ + l] = at.ax, at.ay, at.az
        corners[_BX + l], corners[_BY + l], corners[_BZ + l] = at.bx, at.by, at.bz
        corners[_CX + l], corners[_CY + l], corners[_CZ + l] = at.cx, at.cy, at.cz
        corners[_SIDE + l] = 1.0
        corners[_REACH + l] = 0.0
    return material_of(tables, bits[_GEOM + l], bits[_PRIM + l])


@inline_kernel
def _meet_lanes(packet: Packet) -> None:
    """Distance, normal and place on the triangle of every lane in use that met one, by our own arithmetic."""
    numbers, corners = packet.numbers, packet.corners
    for l in range(LANES):
        ray, at = _exact_ray(numbers, l), _corners_at(corners, l)
        found, side, used = meet_triangle(ray, at), corners[_SIDE + l], packet.masks[l] != 0
        met = used & (packet.materials[l] >= 0)
        length = side if met else 0.0
        numbers[_TFAR + l] = np.float32(found.distance) if met else numbers[_TFAR + l]
        numbers[_NG_X + l] = np.float32(length * found.nx) if used else numbers[_NG_X + l]
        numbers[_NG_Y + l] = np.float32(length * found.ny) if used else numbers[_NG_Y + l]
        numbers[_NG_Z + l] = np.float32(length * found.nz) if used else numbers[_NG_Z + l]
        numbers[_U + l] = np.float32(found.u) if used else numbers[_U + l]
        numbers[_V + l] = np.float32(found.v) if used else numbers[_V + l]


@inline_kernel
def _near_edges(packet: Packet) -> bool:
    """Which lanes in use pass near an edge of what they met: see `is_near_edge`. Whether any does."""
    corners, close = packet.corners, False
    for l in range(LANES):
        used = packet.masks[l] != 0
        near = used & (packet.materials[l] >= 0) & (corners[_REACH + l] >= 0.0)
        near &= nears_edge(_exact_ray(packet.numbers, l), _corners_at(corners, l), corners[_REACH + l])
        corners[_EDGE + l] = (1.0 if near else 0.0) if used else corners[_EDGE + l]
        close |= near
    return close


@inline_kernel
def _exact_ray(numbers: Array, l: int) -> Ray:
    """The ray of lane ``l`` in double precision, without its ends."""
    return Ray(
        np.float64(numbers[_ORG_X + l]), np.float64(numbers[_ORG_Y + l]), np.float64(numbers[_ORG_Z + l]),
        np.float64(numbers[_DIR_X + l]), np.float64(numbers[_DIR_Y + l]), np.float64(numbers[_DIR_Z + l]),
        0.0, 0.0, 0.0,
    )  # fmt: skip


@inline_kernel
def _corners_at(corners: Array, l: int) -> Corners:
    """The triangle that lane ``l`` met, in the world."""
    return Corners(
        corners[_AX + l], corners[_AY + l], corners[_AZ + l], corners[_BX + l], corners[_BY + l], corners[_BZ + l],
        corners[_CX + l], corners[_CY + l], corners[_CZ + l],
    )  # fmt: skip


@inline_kernel
def keep_ends(packet: Packet) -> None:
    """Before a packet is traced: keep the far ends of its rays, which hits overwrite."""
    for l in range(LANES):
        packet.corners[_END + l] = packet.numbers[_TFAR + l]


@inline_kernel
def is_near_edge(packet: Packet, l: int) -> bool:
    """Whether the ray of lane ``l`` passes near an edge of the triangle that it met; see `beyond_edge`."""
    return packet.corners[_EDGE + l] > 0.0


@inline_kernel
def band_at(packet: Packet, l: int) -> Real:
    """[m] width of the band along the edges of the triangle that lane ``l`` met."""
    return band_of(_exact_ray(packet.numbers, l), _corners_at(packet.corners, l), packet.corners[_REACH + l])


@inline_kernel
def beyond_edge(tables: HitTables, packet: Packet, l: int) -> int:
    """What lane ``l``, which passes near an edge, meets there: `MET`, `PASSED`, or the number of another triangle."""
    beyond = tables.neighbours[packet.bits[_GEOM + l]]
    if beyond == 0:
        return MET
    primitive = np.int64(packet.bits[_PRIM + l])
    ray, at, word = _exact_ray(packet.numbers, l), _corners_at(packet.corners, l), MET
    band = band_of(ray, at, packet.corners[_REACH + l])
    for i in range(3):
        other = int32_at(beyond, 3 * primitive + i)
        if other == LEFT_ALONE:
            continue
        edge = edge_of(ray, at, i, third_corner(at, i))
        if other != BORDER:
            neighbour = _triangle_beyond(tables, packet, l, other)
            goes_on = edge_of(ray, at, i, third_corner(neighbour, other % 3)).corner * edge.corner < 0.0
            if goes_on and is_beyond(edge):
                return int(other // 3)
            if goes_on or is_thin(ray, neighbour, other % 3, band):
                continue
        if ends_here(edge, band):
            word = PASSED
    return word


@inline_kernel
def _triangle_beyond(tables: HitTables, packet: Packet, l: int, other: Whole) -> Corners:
    """A neighbour of the triangle that lane ``l`` met, ``other`` = 3 · its number + an edge, in the world."""
    bits = packet.bits
    at = corners_of(tables.triangles, bits[_GEOM + l], np.uint32(other // 3))
    if bits[_INST + l] == NOTHING:
        return at
    return _in_world(tables, packet, l, bits[_GEOM + l], bits[_INST_PRIM + l], at)


@inline_kernel
def _in_world(tables: HitTables, packet: Packet, l: int, geometry: Whole, copy: Whole, at: Corners) -> Corners:
    """A triangle of a copy, at the time of lane ``l``."""
    turn = transform_of(tables.placed, geometry, copy, packet.numbers[_TIME + l])
    ax, ay, az = apply_transform(turn, at.ax, at.ay, at.az)
    bx, by, bz = apply_transform(turn, at.bx, at.by, at.bz)
    cx, cy, cz = apply_transform(turn, at.cx, at.cy, at.cz)
    return Corners(ax, ay, az, bx, by, bz, cx, cy, cz)


@inline_kernel
def name_triangle(packet: Packet, l: int, primitive: int) -> None:
    """Let lane ``l`` have met another triangle of the same shape; to be resolved."""
    packet.bits[_PRIM + l] = np.uint32(primitive)


@inline_kernel
def set_near(packet: Packet, l: int, near: Real) -> None:
    """Let the ray of lane ``l`` begin ``near`` [m] from its start."""
    packet.numbers[_TNEAR + l] = np.float32(near)


@inline_kernel
def forget_hit(packet: Packet, l: int) -> None:
    """Let lane ``l`` have met nothing, and its ray be as long as it was when `keep_ends` was called."""
    packet.numbers[_TFAR + l] = np.float32(packet.corners[_END + l])
    packet.bits[_GEOM + l] = NOTHING
    packet.bits[_INST + l] = NOTHING
    packet.bits[_INST_PRIM + l] = 0
