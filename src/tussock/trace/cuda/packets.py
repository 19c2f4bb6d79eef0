"""A packet of one ray, for a thread: what `tussock.trace.packets` is to Embree, under the same names.

The functions of a pulse are written for lanes of packets. With these in place of Embree's, and one lane, the same
source is what one thread does for one pulse (`tussock.trace.cuda.rebound`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import Real, Whole, inline_kernel, kernel
from tussock.trace.cuda.meeting import Named, exact_ray, in_world, triangle_at
from tussock.trace.cuda.walk import STACK, Trees, is_stopped, name_of, nearest_hit
from tussock.trace.hit_tables import HitTables, material_of
from tussock.trace.ray import Hit, Ray
from tussock.trace.triangles import meet_triangle

__all__ = [
    "LANES",
    "LEAVES",
    "NOTHING",
    "Packet",
    "Traced",
    "Ways",
    "distance_at",
    "empty_hit",
    "empty_lane",
    "find_surfaces",
    "hit_at",
    "intersect",
    "is_hit",
    "keep_behind",
    "keep_hit",
    "load_ray",
    "meet_hit",
    "name_hit",
    "new_packet",
    "occluded",
    "ray_at",
    "resolve",
    "say_close",
    "set_hit",
    "stop_light",
    "take_hit",
    "take_sub_ray",
    "trace_onward",
    "trace_sub_ray",
    "trace_surfaces",
    "was_stopped",
]  # fmt: skip

LANES = 1
LEAVES = 2
"""behind which is traced beforehand: behind a third one of plants next to nothing is left"""
NOTHING = np.uint32(0xFFFFFFFF)
_X, _Y, _Z, _DX, _DY, _DZ, _NEAR, _FAR, _TIME, _NX, _NY, _NZ, _U, _V, _NUMBERS = range(15)
_MASK, _GEOMETRY, _PRIMITIVE, _COPY, _BITS = range(5)


class Packet(NamedTuple):
    """One ray and what it met."""

    numbers: NDArray[np.float32]
    """the ray, the normal, and the place on the triangle, shape (14,)"""
    bits: NDArray[np.uint32]
    """mask, geometry, primitive and copy, shape (4,)"""
    masks: NDArray[np.uint32]
    """all bits for a ray in use, 0 for an idle one, shape (1,)"""
    materials: NDArray[np.int32]
    """what it met, −1 for nothing, shape (1,)"""
    stack: NDArray[np.int32]
    """nodes that wait, shape (128,)"""


class Traced(NamedTuple):
    """What sub-rays met that were traced beforehand, one column a pulse."""

    numbers: NDArray[np.float32]
    """distance, normal, place on the triangle, shape (6, sub-rays, pulses)"""
    ids: NDArray[np.uint32]
    """geometry, primitive and copy, shape (3, sub-rays, pulses)"""
    behind: NDArray[np.float32]
    """as ``numbers``, of what is behind the first leaves of the sub-rays that go through leaves, `LEAVES` rows each"""
    behind_ids: NDArray[np.uint32]
    met: NDArray[np.uint8]
    """1 for pulses whose probes met anything (`tussock.pulse.adaptive`), shape (pulses,); or empty"""


class Ways(NamedTuple):
    """What stands and what moves, in place of the handles of Embree's scenes."""

    standing: Trees
    moving: Trees
    moves: bool
    traced: Traced
    first: int
    """column of ``traced`` that the first pulse of the sensor has"""
    begun: int
    """what is to be added to a column for its place in the order of the sensor's pulses"""


@kernel
def new_packet() -> Packet:
    bits = np.zeros(_BITS, np.uint32)
    bits[_GEOMETRY] = NOTHING
    return Packet(
        np.zeros(_NUMBERS, np.float32), bits, np.full(1, NOTHING), np.full(1, -1, np.int32), np.zeros(STACK, np.int32)
    )


@inline_kernel
def load_ray(packet: Packet, l: int, ray: Ray, mask: Whole) -> None:
    numbers, bits = packet.numbers, packet.bits
    numbers[_X], numbers[_Y], numbers[_Z] = ray.x, ray.y, ray.z
    numbers[_DX], numbers[_DY], numbers[_DZ] = ray.dx, ray.dy, ray.dz
    numbers[_NEAR], numbers[_FAR], numbers[_TIME] = ray.near, ray.far, ray.time
    bits[_MASK], bits[_GEOMETRY], bits[_COPY] = mask, NOTHING, 0


@inline_kernel
def empty_lane(packet: Packet, l: int) -> None:
    packet.numbers[_FAR] = np.float32(-1.0)


@inline_kernel
def ray_at(packet: Packet, l: int) -> Ray:
    n = packet.numbers
    return Ray(n[_X], n[_Y], n[_Z], n[_DX], n[_DY], n[_DZ], n[_NEAR], n[_FAR], n[_TIME])


@inline_kernel
def hit_at(packet: Packet, l: int) -> Hit:
    n, bits = packet.numbers, packet.bits
    return Hit(
        n[_FAR], n[_NX], n[_NY], n[_NZ], n[_U], n[_V], bits[_GEOMETRY], bits[_PRIMITIVE], bits[_COPY],
        packet.materials[0],
    )  # fmt: skip


@inline_kernel
def say_close(packet: Packet, close: bool) -> None:
    """Nothing to say: there is one ray."""
    return


@inline_kernel
def set_hit(packet: Packet, l: int, hit: Hit) -> None:
    numbers, bits = packet.numbers, packet.bits
    numbers[_FAR] = hit.distance
    numbers[_NX], numbers[_NY], numbers[_NZ], numbers[_U], numbers[_V] = hit.nx, hit.ny, hit.nz, hit.u, hit.v
    bits[_GEOMETRY], bits[_PRIMITIVE], bits[_COPY] = hit.geometry, hit.primitive, hit.copy
    packet.materials[0] = hit.material


@inline_kernel
def distance_at(packet: Packet, l: int) -> Real:
    return packet.numbers[_FAR]


@inline_kernel
def is_hit(packet: Packet, l: int) -> bool:
    return packet.bits[_GEOMETRY] != NOTHING


@inline_kernel
def was_stopped(packet: Packet, l: int) -> bool:
    return packet.numbers[_FAR] < np.float32(0.0)


@inline_kernel
def intersect(trees: Trees, tables: HitTables, packet: Packet) -> Whole:
    """The nearest hit of the ray, if it is in use: which triangle of the trees, −1 for none."""
    triangle = np.int32(-1)
    if packet.masks[0] != np.uint32(0):
        met = nearest_hit(trees, tables, ray_at(packet, 0), packet.bits[_MASK], packet.stack)
        if met.placement >= 0:
            triangle = met.triangle
            packet.numbers[_FAR] = met.distance
            name_hit(trees, packet, met.placement, triangle)
    return triangle


@inline_kernel
def name_hit(trees: Trees, packet: Packet, placement: Whole, triangle: Whole) -> None:
    """What the trees' own numbers stand for."""
    named, bits = name_of(trees, placement, triangle), packet.bits
    bits[_GEOMETRY], bits[_COPY], bits[_PRIMITIVE] = named.geometry, named.copy, named.primitive


@inline_kernel
def meet_hit(trees: Trees, tables: HitTables, packet: Packet, triangle: Whole) -> None:
    """Distance, normal and place on the triangle by the arithmetic that Embree's hits go through as well."""
    numbers, bits = packet.numbers, packet.bits
    named = Named(bits[_GEOMETRY], bits[_COPY], bits[_PRIMITIVE], triangle)
    whole = in_world(tables, named, numbers[_TIME], triangle_at(trees.triangles, triangle))
    ray = exact_ray(numbers[_X], numbers[_Y], numbers[_Z], numbers[_DX], numbers[_DY], numbers[_DZ])
    found, side = meet_triangle(ray, whole.at), whole.side
    numbers[_FAR], numbers[_U], numbers[_V] = np.float32(found.distance), np.float32(found.u), np.float32(found.v)
    numbers[_NX], numbers[_NY], numbers[_NZ] = (
        np.float32(side * found.nx), np.float32(side * found.ny), np.float32(side * found.nz),
    )  # fmt: skip


@inline_kernel
def take_hit(
    standing: Trees, moving: Trees, tables: HitTables, packet: Packet, placement: Whole, triangle: Whole, moves: Whole
) -> None:  # fmt: skip
    """What a walk came to, named and met: among what stands, or, where ``moves`` is not 0, what moves; −1 for nothing."""
    if placement >= 0:
        if moves != 0:
            name_hit(moving, packet, placement, triangle)
            meet_hit(moving, tables, packet, triangle)
        else:
            name_hit(standing, packet, placement, triangle)
            meet_hit(standing, tables, packet, triangle)


@inline_kernel
def occluded(trees: Trees, tables: HitTables, packet: Packet) -> None:
    """Whether the ray, if it is in use, meets anything; see `was_stopped`."""
    if packet.masks[0] != np.uint32(0) and is_stopped(
        trees, tables, ray_at(packet, 0), packet.bits[_MASK], packet.stack
    ):
        packet.numbers[_FAR] = np.float32(-np.inf)


@inline_kernel
def resolve(tables: HitTables, packet: Packet) -> None:
    """The material of what was met."""
    numbers, bits = packet.numbers, packet.bits
    geometry = bits[_GEOMETRY]
    if geometry == NOTHING:
        numbers[_NX] = numbers[_NY] = numbers[_NZ] = np.float32(0.0)
        packet.materials[0] = np.int32(-1)
        return
    packet.materials[0] = material_of(tables, geometry, bits[_PRIMITIVE])


@inline_kernel
def find_surfaces(around: Any, packet: Packet) -> None:
    """As `tussock.trace.surroundings.find_surfaces`, through trees; ``around.standing`` is `Ways`."""
    ways = around.standing
    standing = intersect(ways.standing, around.tables, packet)
    moving = intersect(ways.moving, around.tables, packet) if ways.moves else np.int32(-1)
    if moving >= 0:
        meet_hit(ways.moving, around.tables, packet, moving)
    elif standing >= 0:
        meet_hit(ways.standing, around.tables, packet, standing)


@inline_kernel
def trace_surfaces(around: Any, packet: Packet) -> None:
    """As `tussock.trace.surroundings.trace_surfaces`; what a ray near an edge meets is what the walk says."""
    find_surfaces(around, packet)
    resolve(around.tables, packet)


@inline_kernel
def stop_light(around: Any, packet: Packet) -> None:
    ways = around.standing
    occluded(ways.standing, around.tables, packet)
    if ways.moves:
        occluded(ways.moving, around.tables, packet)


@inline_kernel
def empty_hit(packet: Packet, ray: Ray) -> None:
    """A ray that has met nothing so far."""
    load_ray(packet, 0, ray, NOTHING)
    numbers = packet.numbers
    numbers[_NX] = numbers[_NY] = numbers[_NZ] = numbers[_U] = numbers[_V] = np.float32(0.0)
    packet.bits[_PRIMITIVE] = np.uint32(0)


@inline_kernel
def keep_hit(packet: Packet, traced: Traced, k: int, column: int) -> None:
    """Put what the ray met, not yet resolved, where `trace_sub_ray` looks for it."""
    _keep(packet, traced.numbers, traced.ids, k, column)


@inline_kernel
def keep_behind(packet: Packet, traced: Traced, i: int, column: int) -> None:
    """The same for what is behind a leaf, where `trace_onward` looks for it in row ``i``."""
    _keep(packet, traced.behind, traced.behind_ids, i, column)


@inline_kernel
def _keep(packet: Packet, kept: Any, kept_ids: Any, k: int, column: int) -> None:
    kept[0, k, column] = packet.numbers[_FAR]
    for i in range(5):
        kept[1 + i, k, column] = packet.numbers[_NX + i]
    for i in range(3):
        kept_ids[i, k, column] = packet.bits[_GEOMETRY + i]


@inline_kernel
def _take(packet: Packet, kept: Any, kept_ids: Any, k: int, column: int) -> None:
    packet.numbers[_FAR] = kept[0, k, column]
    for i in range(5):
        packet.numbers[_NX + i] = kept[1 + i, k, column]
    for i in range(3):
        packet.bits[_GEOMETRY + i] = kept_ids[i, k, column]


@inline_kernel
def trace_sub_ray(around: Any, packet: Packet, first: int, k: int) -> None:
    """What a sub-ray met that was traced beforehand, one thread a ray: pulses would wait for their slowest."""
    take_sub_ray(around, packet, first, k)
    resolve(around.tables, packet)


@inline_kernel
def take_sub_ray(around: Any, packet: Packet, first: int, k: int) -> None:
    """The same, not yet resolved."""
    ways = around.standing
    _take(packet, ways.traced.numbers, ways.traced.ids, k, ways.first + first)


@inline_kernel
def trace_onward(around: Any, packet: Packet, first: int, i: int, rounds: int, leaf: bool) -> None:
    """What is behind the first leaves that a sub-ray met was traced beforehand too; all else is traced now.

    Where there are mirrors, the rounds of a pulse need not be those of its leaves, but for the first.
    """
    ways = around.standing
    if leaf and rounds < LEAVES and (rounds == 0 or not around.tables.bends):
        _take(packet, ways.traced.behind, ways.traced.behind_ids, i * LEAVES + rounds, ways.first + first)
    else:
        find_surfaces(around, packet)
    resolve(around.tables, packet)
