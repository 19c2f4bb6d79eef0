"""Rays that go on from mirrors and glass, with what energy is left.

A surface may be mirror, glass, and a little of both. Each part goes on as a ray of its own until it has met
`bounces` surfaces or carries next to nothing. What such a ray meets is one more hit of its pulse, at the whole
optical path. Light passes every mirror and pane twice, out and back, so a surface that turns or passes the
share s leaves s² of the energy.

Waiting rays stand in a stack and are traced in packets like all others.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tussock.kernels import kernel
from tussock.pulse.reflect import resolve_hit
from tussock.pulse.volumes import energy_of_hit, volumes_in_the_way
from tussock.signal.bending import reflected, refracted
from tussock.trace import packets as row
from tussock.trace.hit_tables import INDEX, MIRROR, TRANSMISSION
from tussock.trace.packets import LANES, NOTHING, intersect

__all__ = ["Waiting", "extra_hits", "follow_lanes", "new_waiting"]

_FAINT = np.float32(1e-4)  # a ray that carries less is not followed
_SKIN = np.float32(1e-4)  # [m] how far off the surface it starts
_DEPTH = 256


class Waiting(NamedTuple):
    """The stack of rays still to be traced."""

    rays: Any
    """origin, direction, energy, path so far [m], refractive index around it, ray time; shape (depth, 10)"""
    lanes: Any
    bounces: Any
    taken_rays: Any
    """those of the packet that is traced; the stack may already grow over them"""
    taken_lanes: Any
    taken_bounces: Any


@kernel
def extra_hits(rays: int) -> int:
    """Room for hits of a pulse beyond one a sub-ray; what a pulse meets after that is dropped."""
    return 16 + 8 * rays


@kernel
def new_waiting() -> Waiting:
    return Waiting(
        np.empty((_DEPTH, 10), np.float32), np.empty(_DEPTH, np.int64), np.empty(_DEPTH, np.int64),
        np.empty((LANES, 10), np.float32), np.empty(LANES, np.int64), np.empty(LANES, np.int64),
    )  # fmt: skip


@kernel
def follow_lanes(
    packet: Any, bits: Any, masks: Any, standing: Any, moving: Any, tables: Any, volumes: Any, walk: Any,
    receiving: Any, hits: Any, waiting: Any, first: int, lanes: int,
) -> None:  # fmt: skip
    """Follow the rays of a traced and scattered packet until none is left."""
    rays, owners, bounces = waiting.taken_rays, waiting.taken_lanes, waiting.taken_bounces
    count = 0
    for l in range(lanes):
        material = hits.materials[l]
        if material >= 0:
            count = _push(packet, tables, receiving, material, l, l, np.float32(1.0), np.float32(0.0), np.float32(1.0),
                          0, waiting, count)  # fmt: skip
    while count > 0:
        taken = min(count, LANES)
        count -= taken
        for l in range(taken):
            owners[l], bounces[l] = waiting.lanes[count + l], waiting.bounces[count + l]
            for i in range(10):
                rays[l, i] = waiting.rays[count + l, i]
        for l in range(LANES):
            w = min(l, taken - 1)
            for i in range(3):
                packet[row.ORG_X + i, l] = rays[w, i]
                packet[row.DIR_X + i, l] = rays[w, 3 + i]
            packet[row.TNEAR, l] = _SKIN
            packet[row.TIME, l] = rays[w, 9]
            packet[row.TFAR, l] = (receiving.max_range - rays[w, 7]) / rays[w, 8]
            bits[row.GEOM, l] = NOTHING
            bits[row.INST, l] = NOTHING
            bits[row.INST_PRIM, l] = 0
            masks[l] = NOTHING if l < taken else 0
        intersect(standing, packet, masks)
        if moving != 0:
            intersect(moving, packet, masks)
        if len(volumes.model) > 0:
            volumes_in_the_way(packet, bits, masks, taken, owners, first, volumes, walk, receiving.key0,
                               receiving.key1, receiving.frame)  # fmt: skip
        for l in range(taken):
            material = resolve_hit(packet, bits, tables, l)
            if material < 0:
                continue
            owner, energy, path, index = owners[l], rays[l, 6], rays[l, 7], rays[l, 8]
            distance = path + packet[row.TFAR, l] * index
            back = energy * energy_of_hit(packet, bits, tables, volumes, receiving, material, l, distance)
            at = hits.used[owner]
            if back > np.float32(0.0) and at < hits.ranges.shape[0]:
                hits.ranges[at, owner], hits.energies[at, owner] = distance, back
                hits.ids[0, at, owner] = bits[row.GEOM, l]
                hits.ids[1, at, owner] = bits[row.PRIM, l]
                hits.ids[2, at, owner] = bits[row.INST_PRIM, l]
                hits.used[owner] = at + 1
            count = _push(
                packet, tables, receiving, material, l, owner, energy, path, index, bounces[l], waiting, count
            )
    for l in range(LANES):
        masks[l] = NOTHING


@kernel
def _push(
    packet: Any, tables: Any, receiving: Any, material: Any, l: int, owner: int, energy: Any, path: Any, index: Any,
    bounces: int, waiting: Any, count: int,
) -> int:  # fmt: skip
    """Put what goes on from the hit of lane ``l`` onto the stack; the new height of the stack."""
    mirror, through = tables.optics[material, MIRROR], tables.optics[material, TRANSMISSION]
    if (mirror <= np.float32(0.0) and through <= np.float32(0.0)) or bounces >= receiving.bounces:
        return count
    dx, dy, dz = packet[row.DIR_X, l], packet[row.DIR_Y, l], packet[row.DIR_Z, l]
    nx, ny, nz = packet[row.NG_X, l], packet[row.NG_Y, l], packet[row.NG_Z, l]
    unit = np.float32(1.0) / np.float32(math.sqrt(nx * nx + ny * ny + nz * nz + np.float32(1e-37)))
    nx, ny, nz = nx * unit, ny * unit, nz * unit
    t = packet[row.TFAR, l]
    here = path + t * index
    x, y, z = packet[row.ORG_X, l] + t * dx, packet[row.ORG_Y, l] + t * dy, packet[row.ORG_Z, l] + t * dz
    left = energy * mirror * mirror
    if left > _FAINT and count < _DEPTH:
        rx, ry, rz = reflected(dx, dy, dz, nx, ny, nz)
        _set(waiting, count, x, y, z, rx, ry, rz, left, here, index, packet[row.TIME, l], owner, bounces + 1)
        count += 1
    left = energy * through * through
    if left > _FAINT and count < _DEPTH:
        entering = dx * nx + dy * ny + dz * nz < np.float32(0.0)
        beyond = tables.optics[material, INDEX] if entering else np.float32(1.0)
        rx, ry, rz, passed = refracted(dx, dy, dz, nx, ny, nz, index / beyond)
        beyond = beyond if passed else index
        _set(waiting, count, x, y, z, rx, ry, rz, left, here, beyond, packet[row.TIME, l], owner, bounces + 1)
        count += 1
    return count


@kernel
def _set(
    waiting: Any, at: int, x: Any, y: Any, z: Any, dx: Any, dy: Any, dz: Any, energy: Any, path: Any, index: Any,
    time: Any, owner: int, bounces: int,
) -> None:  # fmt: skip
    ray = waiting.rays[at]
    ray[0], ray[1], ray[2], ray[3], ray[4], ray[5] = x, y, z, dx, dy, dz
    ray[6], ray[7], ray[8], ray[9] = energy, path, index, time
    waiting.lanes[at], waiting.bounces[at] = owner, bounces
