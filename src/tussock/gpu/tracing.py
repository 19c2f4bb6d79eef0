"""The first loops of a scan on a graphics processor, one thread a sub-ray: where it goes, what it meets, how, and what is
behind that if it is a leaf.

Each is short, so that a thread needs few registers while it walks through the trees, which is where the time goes. The
sub-rays of a pulse are neighbours, and pulses go in the order of the lasers: threads that are in step are to meet the
same things.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from tussock.gpu.sharing import Many, Span, one_of
from tussock.pulse.aim import AIM_ROWS, POSE_ROWS, aim_lanes, aim_origins, load_lanes, stand
from tussock.pulse.follow import ONE_IN, let_through, setting_out, stands_for
from tussock.pulse.tables import Lot, Part, Scanning
from tussock.trace.cuda.packets import (
    LEAVES,
    NOTHING,
    Packet,
    Traced,
    empty_hit,
    find_surfaces,
    hit_at,
    keep_behind,
    keep_hit,
    ray_at,
    resolve,
    take_hit,
    take_sub_ray,
)  # fmt: skip
from tussock.trace.cuda.walk import STACK, Trees, four, nearest_hit
from tussock.trace.hit_tables import LEAF, HitTables
from tussock.trace.ray import SKIN, Ray

__all__ = ["RayTable", "aim_kernel", "behind_kernel", "hit_kernel", "walk_kernel"]

cuda: Any = import_module("numba.cuda")
float32, float64, int32, int64, uint32 = (
    getattr(numba, name) for name in ("float32", "float64", "int32", "int64", "uint32")
)


class RayTable(NamedTuple):
    """Sub-rays between two loops, one row each."""

    starts: NDArray[np.float32]
    """[m] and the time within the frame, shape (n, 4)"""
    ways: NDArray[np.float32]
    """unit direction, and how far [m], shape (n, 4)"""
    far: NDArray[np.float32]
    """[m] of what was met, shape (n,)"""
    met: NDArray[np.int32]
    """placement, −1 for nothing, triangle, and whether it moves, shape (3, n)"""

    @classmethod
    def with_room(cls, make: Any, rays: int) -> RayTable:
        """For so many rays; ``make(shape, dtype)`` makes its arrays."""
        f4 = np.float32
        return cls(make((rays, 4), f4), make((rays, 4), f4), make(rays, f4), make((3, rays), np.int32))


def aim_kernel(
    scanning: Scanning, many: Many, traced: Traced, rays: RayTable, span: Span, waiting: NDArray[np.int32]
) -> None:  # fmt: skip
    """One thread a sub-ray: where it starts and where it goes. The first also empty the queues (`tussock.gpu.queues`)."""
    i = int64(cuda.grid(1))
    turn, aim = cuda.local.array(POSE_ROWS, float64), cuda.local.array(AIM_ROWS, float32)
    weights, numbers, bits = cuda.local.array(1, float32), cuda.local.array(16, float32), cuda.local.array(8, uint32)
    masks, materials, stack = cuda.local.array(1, uint32), cuda.local.array(1, int32), cuda.local.array(1, int32)
    firing = scanning.firing
    pulses, count = len(firing.lasers), len(firing.stencil)
    if i < len(waiting):
        for kind in range(waiting.shape[1]):
            waiting[i, kind] = 0
    if i < span.pulses * count:
        packet: Any = Packet(numbers, bits, masks, materials, stack)
        j, k = span.first + i // count, i % count
        s = j // pulses
        p = int64(span.order[j - s * pulses])
        for a in range(AIM_ROWS):
            aim[a] = np.float32(0.0)
        one = one_of(scanning, many, traced, span, s, 0)
        stand(one.poses, turn)
        lot = Lot(p, 1, 1, one.chance)
        aim_origins(firing, Lot(0, 1, 1, one.chance), turn, aim)
        aim_lanes(firing, one.poses, lot, turn, aim)
        reach = one.receiving.max_range / one.receiving.media.inner
        load_lanes(packet, aim, firing, Part(True, 0, k, 1), lot, reach, weights)
        ray = ray_at(packet, 0)
        rays.starts[i, 0], rays.starts[i, 1], rays.starts[i, 2], rays.starts[i, 3] = ray.x, ray.y, ray.z, ray.time
        rays.ways[i, 0], rays.ways[i, 1], rays.ways[i, 2], rays.ways[i, 3] = ray.dx, ray.dy, ray.dz, ray.far


def walk_kernel(trees: Trees, tables: HitTables, rays: RayTable, count: int, moving: bool) -> None:
    """One thread a sub-ray: what it meets first, among what stands, then among what moves."""
    i = int64(cuda.grid(1))
    stack = cuda.local.array(STACK, int32)
    if i < count:
        start, way = four(rays.starts, 4, i, 0), four(rays.ways, 4, i, 0)
        far = rays.far[i] if moving else way[3]
        ray = Ray(start[0], start[1], start[2], way[0], way[1], way[2], SKIN, far, start[3])
        met = nearest_hit(trees, tables, ray, NOTHING, stack)
        if met.placement >= 0 or not moving:
            rays.far[i] = met.distance
            rays.met[0, i], rays.met[1, i], rays.met[2, i] = met.placement, met.triangle, np.int32(moving)


def hit_kernel(
    standing: Trees, moving: Trees, tables: HitTables, rays: RayTable, traced: Traced, sub_rays: int, count: int
) -> None:  # fmt: skip
    """One thread a sub-ray: the place and the normal of what it met, in double precision, to where pulses look for it."""
    i = int64(cuda.grid(1))
    numbers, bits = cuda.local.array(16, float32), cuda.local.array(8, uint32)
    masks, materials, stack = cuda.local.array(1, uint32), cuda.local.array(1, int32), cuda.local.array(1, int32)
    if i < count:
        packet: Any = Packet(numbers, bits, masks, materials, stack)
        start, way = four(rays.starts, 4, i, 0), four(rays.ways, 4, i, 0)
        ray = Ray(start[0], start[1], start[2], way[0], way[1], way[2], SKIN, rays.far[i], start[3])
        empty_hit(packet, ray)
        take_hit(standing, moving, tables, packet, rays.met[0, i], rays.met[1, i], rays.met[2, i])
        keep_hit(packet, traced, i % sub_rays, i // sub_rays)


def behind_kernel(scanning: Scanning, many: Many, traced: Traced, rays: RayTable, span: Span) -> None:
    """One thread a sub-ray that goes through leaves: what is behind the leaf, if it met one, and behind that if it is one."""
    t = int64(cuda.grid(1))
    numbers, bits = cuda.local.array(16, float32), cuda.local.array(8, uint32)
    masks, materials, stack = cuda.local.array(1, uint32), cuda.local.array(1, int32), cuda.local.array(STACK, int32)
    pulses, through = len(scanning.firing.lasers), traced.behind.shape[1] // LEAVES
    if t < span.pulses * through:
        packet: Any = Packet(numbers, bits, masks, materials, stack)
        masks[0] = NOTHING
        column, i = t // through, t % through
        j, k = span.first + column, i * ONE_IN
        s = j // pulses
        p = int64(span.order[j - s * pulses])
        one: Any = one_of(scanning, many, traced, span, s, column - p)
        row = column * len(scanning.firing.stencil) + k
        start, way = four(rays.starts, 4, row, 0), four(rays.ways, 4, row, 0)
        empty_hit(packet, Ray(start[0], start[1], start[2], way[0], way[1], way[2], SKIN, way[3], start[3]))
        take_sub_ray(one.around, packet, p, k)
        resolve(one.around.tables, packet)
        travel, level = setting_out(one, k, np.float32(1.0), stands_for(one)), 0
        while level < LEAVES and materials[0] >= 0 and travel.bounces < one.receiving.bounces:
            optics = one.around.tables.optics[materials[0]]
            if optics[LEAF] <= np.float32(0.0):
                break
            onward, travel = let_through(optics, ray_at(packet, 0), hit_at(packet, 0), travel, one)
            if onward.far <= onward.near:
                break
            empty_hit(packet, onward)
            find_surfaces(one.around, packet)
            keep_behind(packet, traced, i * LEAVES + level, column)
            resolve(one.around.tables, packet)
            level += 1
