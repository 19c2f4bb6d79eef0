"""Rays that go on from mirrors and glass, with what energy is left.

A surface may be mirror, glass, and a little of both. Each part goes on as a ray of its own until it has met
`bounces` surfaces or carries next to nothing. What such a ray meets is one more hit of its pulse, at the whole
optical path. Light passes every mirror and pane twice, out and back, so a surface that turns or passes the
share s leaves s² of the energy.

Waiting rays stand in a stack and are traced in packets like all others. Around glass is air: a body of glass in
water, or one inside another, is beyond it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tussock.kernels import kernel, loop_kernel
from tussock.pulse.scatter import cosine_of_hit, resolve_hit, returned_energy
from tussock.signal.bending import reflected, refracted
from tussock.trace import packets as row
from tussock.trace.packets import LANES, NOTHING, intersect
from tussock.trace.world import INDEX, MIRROR, TRANSMISSION

__all__ = ["Waiting", "extra_hits", "follow_lanes", "new_waiting"]

_FAINT = np.float32(1e-4)  # a ray that carries less is not followed
_SKIN = np.float32(2.0**-21)  # off the surface, as a share of the coordinates: four steps of a float32
# Sixteen rays leave at most two each; every sixteen taken off the stack put at most two each back, 16 times.
_DEPTH = 2 * LANES + 16 * LANES


class Waiting(NamedTuple):
    """The stack of rays still to be traced, and the sixteen that are being traced."""

    rays: Any
    """origin, direction, energy, path so far [m], refractive index around it, ray time; shape (depth, 10)"""
    owners: Any
    """lane of the pulse that the ray belongs to, and how often it has gone on; shape (depth, 2)"""
    traced: Any
    """as `rays`, shape (lanes, 10)"""
    traced_owners: Any


@kernel
def new_waiting() -> Waiting:
    return Waiting(
        np.empty((_DEPTH, 10), np.float32), np.empty((_DEPTH, 2), np.int64),
        np.empty((LANES, 10), np.float32), np.empty((LANES, 2), np.int64),
    )  # fmt: skip


@kernel
def extra_hits(rays: int) -> int:
    """Room for hits of a pulse beyond one a sub-ray: four each (two panes) and some; beyond it the dimmest go."""
    return 4 * rays + 20


@loop_kernel
def follow_lanes(
    packet: Any, bits: Any, masks: Any, standing: Any, moving: Any, tables: Any, receiving: Any, rays: int, hits: Any,
    waiting: Any, lanes: int,
) -> None:  # fmt: skip
    """Follow the rays of a traced and scattered packet until none is left."""
    count = 0
    for l in range(lanes):
        if hits.materials[l] >= 0:
            count = _push(packet, tables, receiving, hits.materials[l], l, l, 0, np.float32(1.0), np.float32(0.0),
                          np.float32(1.0), waiting, count)  # fmt: skip
    while count > 0:
        taken = min(count, LANES)
        count -= taken
        _load(packet, bits, masks, receiving, waiting, count, taken)
        intersect(standing, packet, masks)
        if moving != 0:
            intersect(moving, packet, masks)
        for l in range(taken):
            material = resolve_hit(packet, bits, tables, l)
            if material < 0:
                continue
            owner, bounces = waiting.traced_owners[l, 0], waiting.traced_owners[l, 1]
            energy, path, index = waiting.traced[l, 6], waiting.traced[l, 7], waiting.traced[l, 8]
            distance = path + packet[row.TFAR, l] * index
            back = returned_energy(tables, receiving, material, cosine_of_hit(packet, l), distance, energy)
            if back > np.float32(0.0):
                _keep(bits, hits, rays, owner, l, distance, back)
            count = _push(
                packet, tables, receiving, material, l, owner, bounces, energy, path, index, waiting, count
            )
    for l in range(LANES):
        masks[l] = NOTHING


@loop_kernel
def _load(packet: Any, bits: Any, masks: Any, receiving: Any, waiting: Any, first: int, taken: int) -> None:
    """Put the rays ``first`` to ``first + taken`` of the stack into the packet; the other lanes are idle."""
    for l in range(LANES):
        w = first + min(l, taken - 1)
        for i in range(10):
            waiting.traced[l, i] = waiting.rays[w, i]
        for i in range(2):
            waiting.traced_owners[l, i] = waiting.owners[w, i]
        for i in range(3):
            packet[row.ORG_X + i, l] = waiting.rays[w, i]
            packet[row.DIR_X + i, l] = waiting.rays[w, 3 + i]
        packet[row.TNEAR, l] = np.float32(0.0)
        packet[row.TFAR, l] = (receiving.max_range - waiting.rays[w, 7]) / waiting.rays[w, 8]
        packet[row.TIME, l] = waiting.rays[w, 9]
        bits[row.GEOM, l] = NOTHING
        bits[row.INST, l] = NOTHING
        bits[row.INST_PRIM, l] = 0
        masks[l] = NOTHING if l < taken else 0


@loop_kernel
def _keep(bits: Any, hits: Any, rays: int, owner: int, l: int, distance: Any, energy: Any) -> None:
    """One more hit of the pulse ``owner``: into a free row, or into that of its dimmest hit on the way."""
    at = hits.used[owner]
    if at < hits.ranges.shape[0]:
        hits.used[owner] = at + 1
    else:
        at = rays
        for k in range(rays, hits.ranges.shape[0]):
            if hits.energies[k, owner] < hits.energies[at, owner]:
                at = k
        if hits.energies[at, owner] >= energy:
            return
    hits.ranges[at, owner], hits.energies[at, owner] = distance, energy
    hits.ids[0, at, owner] = bits[row.GEOM, l]
    hits.ids[1, at, owner] = bits[row.PRIM, l]
    hits.ids[2, at, owner] = bits[row.INST_PRIM, l]


@loop_kernel
def _push(
    packet: Any, tables: Any, receiving: Any, material: Any, l: int, owner: int, bounces: int, energy: Any, path: Any,
    index: Any, waiting: Any, count: int,
) -> int:  # fmt: skip
    """Put what goes on from the hit of lane ``l`` onto the stack; the new height of the stack."""
    mirror, through = tables.optics[material, MIRROR], tables.optics[material, TRANSMISSION]
    if (mirror <= np.float32(0.0) and through <= np.float32(0.0)) or bounces >= receiving.bounces:
        return count
    dx, dy, dz = packet[row.DIR_X, l], packet[row.DIR_Y, l], packet[row.DIR_Z, l]
    nx, ny, nz = packet[row.NG_X, l], packet[row.NG_Y, l], packet[row.NG_Z, l]
    unit = np.float32(1.0) / np.float32(math.sqrt(nx * nx + ny * ny + nz * nz + np.float32(1e-37)))
    nx, ny, nz = nx * unit, ny * unit, nz * unit
    left = energy * mirror * mirror
    if left > _FAINT and count < _DEPTH:
        rx, ry, rz = reflected(dx, dy, dz, nx, ny, nz)
        _set(packet, l, rx, ry, rz, nx, ny, nz, left, path, index, index, owner, bounces, waiting, count)
        count += 1
    left = energy * through * through
    if left > _FAINT and count < _DEPTH:
        entering = dx * nx + dy * ny + dz * nz < np.float32(0.0)
        beyond = tables.optics[material, INDEX] if entering else np.float32(1.0)
        rx, ry, rz, passed = refracted(dx, dy, dz, nx, ny, nz, index / beyond)
        beyond = beyond if passed else index
        _set(packet, l, rx, ry, rz, nx, ny, nz, left, path, index, beyond, owner, bounces, waiting, count)
        count += 1
    return count


@loop_kernel
def _set(
    packet: Any, l: int, dx: Any, dy: Any, dz: Any, nx: Any, ny: Any, nz: Any, energy: Any, path: Any, index: Any,
    beyond: Any, owner: int, bounces: int, waiting: Any, at: int,
) -> None:  # fmt: skip
    """Write the ray (dx, dy, dz) that leaves the hit of lane ``l``, a hair off the surface on its own side."""
    t = packet[row.TFAR, l]
    x = packet[row.ORG_X, l] + t * packet[row.DIR_X, l]
    y = packet[row.ORG_Y, l] + t * packet[row.DIR_Y, l]
    z = packet[row.ORG_Z, l] + t * packet[row.DIR_Z, l]
    hair = _SKIN * max(abs(x), abs(y), abs(z), t, np.float32(1.0))
    if dx * nx + dy * ny + dz * nz < np.float32(0.0):
        hair = -hair
    rays = waiting.rays
    rays[at, 0], rays[at, 1], rays[at, 2] = x + hair * nx, y + hair * ny, z + hair * nz
    rays[at, 3], rays[at, 4], rays[at, 5] = dx, dy, dz
    rays[at, 6], rays[at, 7], rays[at, 8], rays[at, 9] = energy, path + t * index, beyond, packet[row.TIME, l]
    waiting.owners[at, 0], waiting.owners[at, 1] = owner, bounces + 1
