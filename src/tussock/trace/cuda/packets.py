"""A packet of one ray, for a thread: what `tussock.trace.packets` is to Embree, under the same names.

The functions of a pulse are written for lanes of packets. With these in place of Embree's, and one lane, the same
source is what one thread does for one pulse (`tussock.trace.cuda.rebound`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import Real, Whole, inline_kernel, kernel
from tussock.trace.cuda.walk import STACK, Trees, is_stopped, nearest_hit, normal_of
from tussock.trace.hit_tables import HitTables, material_of
from tussock.trace.normals import world_normal
from tussock.trace.ray import Hit, Ray

__all__ = [
    "LANES", "NOTHING", "Packet", "Ways", "distance_at", "empty_lane", "find_surfaces", "hit_at", "intersect", "is_hit",
    "load_ray", "new_packet", "occluded", "ray_at", "resolve", "set_hit", "stop_light", "was_stopped",
]  # fmt: skip

LANES = 1
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


class Ways(NamedTuple):
    """What stands and what moves, in place of the handles of Embree's scenes."""

    standing: Trees
    moving: Trees
    moves: bool


@kernel
def new_packet() -> Packet:
    bits = np.zeros(_BITS, np.uint32)
    bits[_GEOMETRY] = NOTHING
    return Packet(
        np.zeros(_NUMBERS, np.float32), bits, np.full(1, NOTHING), np.full(1, -1, np.int32), np.empty(STACK, np.int32)
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
def intersect(trees: Trees, packet: Packet) -> None:
    """The nearest hit of the ray, if it is in use."""
    if packet.masks[0] == np.uint32(0):
        return
    met = nearest_hit(trees, ray_at(packet, 0), packet.bits[_MASK], packet.stack)
    if met.placement >= 0:
        numbers, bits = packet.numbers, packet.bits
        numbers[_FAR], numbers[_U], numbers[_V] = met.distance, met.u, met.v
        numbers[_NX], numbers[_NY], numbers[_NZ] = normal_of(trees, met.triangle)
        bits[_GEOMETRY] = np.uint32(trees.placement_ids[met.placement, 13])
        bits[_COPY] = np.uint32(trees.placement_ids[met.placement, 14])
        bits[_PRIMITIVE] = np.uint32(trees.triangle_ids[met.triangle, 9])


@inline_kernel
def occluded(trees: Trees, packet: Packet) -> None:
    """Whether the ray, if it is in use, meets anything; see `was_stopped`."""
    if packet.masks[0] != np.uint32(0) and is_stopped(trees, ray_at(packet, 0), packet.bits[_MASK], packet.stack):
        packet.numbers[_FAR] = np.float32(-np.inf)


@inline_kernel
def resolve(tables: HitTables, packet: Packet) -> None:
    """The material of what was met, and its normal in the world."""
    numbers, bits = packet.numbers, packet.bits
    geometry = bits[_GEOMETRY]
    if geometry == NOTHING:
        numbers[_NX] = numbers[_NY] = numbers[_NZ] = np.float32(0.0)
        packet.materials[0] = np.int32(-1)
        return
    if tables.placed.first[geometry] >= 0:
        numbers[_NX], numbers[_NY], numbers[_NZ] = world_normal(
            tables.placed, geometry, bits[_COPY], numbers[_TIME], numbers[_NX], numbers[_NY], numbers[_NZ]
        )
    packet.materials[0] = material_of(tables, geometry, bits[_PRIMITIVE])


@inline_kernel
def find_surfaces(around: Any, packet: Packet) -> None:
    """As `tussock.trace.surroundings.find_surfaces`, through trees; ``around.standing`` is `Ways`."""
    ways = around.standing
    intersect(ways.standing, packet)
    if ways.moves:
        intersect(ways.moving, packet)


@inline_kernel
def stop_light(around: Any, packet: Packet) -> None:
    ways = around.standing
    occluded(ways.standing, packet)
    if ways.moves:
        occluded(ways.moving, packet)
