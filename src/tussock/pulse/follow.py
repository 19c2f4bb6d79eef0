"""Rays that go on from mirrors and glass and through leaves, with what energy is left.

A surface may be mirror, glass, and a little of both. Each part goes on as a ray of its own until it has met
`bounces` surfaces or carries next to nothing. What such a ray meets is one more hit of its pulse, at the whole
optical path. Light passes every mirror and pane twice, out and back, so a surface that turns or passes the
share s leaves s² of the energy; one that turns it back inside, totally, leaves all. What a leaf lets through is spread as
well (`tussock.signal.leaves`): its ray ends where next to nothing would find back. One sub-ray in sixteen goes through
leaves for all of them: what is behind a leaf is a small part of its echo.

Waiting rays stand in a stack and are traced in packets like all others: as soon as they fill one, or when all sub-rays of the
group are traced.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tussock.kernels import Array, Real, inline_kernel, kernel, loop_kernel
from tussock.pulse.reflect import add_hit, returned_energy
from tussock.pulse.sub_rays import lanes_of, number_of, pulse_number, pulse_of
from tussock.pulse.tables import Lot, Part, Scanning, Scratch, Waiting
from tussock.signal.bending import reflected, refracted
from tussock.signal.film import film_mirror
from tussock.signal.leaves import depth_of_light, share_behind_leaf
from tussock.signal.media import Media, beyond
from tussock.trace.hit_tables import GLOSS, INDEX, LEAF, MIRROR, TRANSMISSION
from tussock.trace.packets import LANES, NOTHING, Packet, hit_at, load_ray, ray_at, say_close
from tussock.trace.ray import Hit, Ray, skin_at
from tussock.trace.surroundings import trace_onward, trace_volumes

__all__ = [
    "ONE_IN", "Travel", "anything_goes_on", "extra_hits", "follow_lanes", "let_through", "may_go_on", "mirrored", "new_waiting",
    "passed_through", "setting_out", "stands_for", "through_leaves",
]  # fmt: skip

_FAINT = np.float32(1e-4)  # a ray that carries less is not followed
_DIM = np.float32(1 / 64)  # nor is one behind a leaf of which less finds back
_DEPTH = 256
_NUMBERS = 19
ONE_IN = 16
"""sub-rays goes through leaves"""
LEAF_PATH = 16
"""where `Travel.leaf` stands in a row of waiting rays"""


class Travel(NamedTuple):
    """What a ray has behind it."""

    energy: Real
    """share of the sub-ray that it carries"""
    path: Real
    """[m] optical path so far"""
    bounces: Real
    """surfaces that it has left"""
    media: Media
    """what it is in"""
    leaf: Real
    """[m] path to the first leaf that it came through, 0 for none: from there on its light is spread"""
    stands_for: Real
    """what all sub-rays carry over what those carry that go through leaves; 0: it goes through none"""
    weight: Real
    """what its sub-ray carries of the pulse"""


@kernel
def extra_hits(rays: int) -> int:
    """Room for hits of a pulse beyond one a sub-ray; what a pulse meets after that is dropped."""
    return 16 + 8 * rays


@kernel
def new_waiting() -> Any:
    return Waiting(
        np.zeros((_DEPTH, _NUMBERS), np.float32), np.zeros(_DEPTH, np.int64),
        np.zeros((LANES, _NUMBERS), np.float32), np.zeros(LANES, np.int64), np.zeros(LANES, np.int64),
        np.zeros(1, np.float32),
    )  # fmt: skip


@inline_kernel
def may_go_on(scanning: Scanning) -> bool:
    """Whether there is anything in the scene that light goes on from."""
    bends = scanning.around.tables.bends or through_leaves(scanning)
    return bends and scanning.receiving.bounces > 0


@inline_kernel
def through_leaves(scanning: Scanning) -> bool:
    """Whether light goes on through leaves: it has no place in a beam without width, nor among hits one by one."""
    wide = bool(scanning.firing.half_width > np.float32(0.0)) and len(scanning.firing.weights) > 1
    return scanning.around.tables.leaves and scanning.receiving.echoes and wide


@inline_kernel
def _goes_through(scanning: Scanning, k: int) -> bool:
    """Whether sub-ray ``k`` goes through leaves: of adaptive beams those that every pulse has."""
    return k % ONE_IN == 0 and k < scanning.firing.probes


@inline_kernel
def stands_for(scanning: Scanning) -> Real:
    """`Travel.stands_for` of the sub-rays that go through leaves."""
    weights, mine, all_of_them = scanning.firing.weights, np.float32(0.0), np.float32(0.0)
    if not through_leaves(scanning):
        return np.float32(0.0)
    for i in range(len(weights)):
        all_of_them += weights[i]
        mine += weights[i] if _goes_through(scanning, i) else np.float32(0.0)
    return all_of_them / mine


@inline_kernel
def setting_out(scanning: Scanning, k: int, weight: Real, leaves: Real) -> Travel:
    """Sub-ray ``k`` of a ``weight`` before it has met anything; ``leaves`` is `stands_for`."""
    none = np.float32(0.0)
    through = leaves if _goes_through(scanning, k) else none
    return Travel(np.float32(1.0), none, none, scanning.receiving.media, none, through, weight)


@inline_kernel
def anything_goes_on(scanning: Scanning, packet: Packet, part: Part, lanes: int) -> bool:
    """Whether any ray of a packet, of the first ``lanes`` pulses, met a mirror, glass or a leaf that it goes on from."""
    optics, found, bends = scanning.around.tables.optics, False, scanning.around.tables.bends
    leaves, used = through_leaves(scanning), lanes_of(part, lanes)
    if not bends and part.along:  # then a packet has one lane that may go through a leaf, or none
        for l in range(-part.ray % ONE_IN, used, ONE_IN):
            if leaves and _goes_through(scanning, part.ray + l) and packet.materials[l] >= 0:
                found |= optics[packet.materials[l], LEAF] > np.float32(0.0)
        return found
    for l in range(used):
        through, material = leaves and _goes_through(scanning, number_of(part, l)), packet.materials[l]
        if (through or bends) and material >= 0:
            found |= optics[material, MIRROR] > np.float32(0.0)
            found |= optics[material, TRANSMISSION] > np.float32(0.0)
            found |= optics[material, GLOSS] > np.float32(0.0)
            found |= through & (optics[material, LEAF] > np.float32(0.0))
    return found


@loop_kernel
def follow_lanes(scanning: Scanning, scratch: Scratch, part: Part, lot: Lot, count: int, last: bool) -> int:
    """Let the rays of a traced and scattered packet go on, beside ``count`` that wait already; how many wait afterwards.

    If they fill a packet, or if this was the ``last`` of the group, all are followed until nothing is left of them.
    """
    packet, waiting = scratch.packet, scratch.waiting
    for l in range(lanes_of(part, lot.lanes)):
        if packet.materials[l] >= 0:
            start = setting_out(scanning, number_of(part, l), scratch.weights[l], waiting.stands_for[0])
            count = _go_on(scanning, packet, l, start, pulse_of(part, l), waiting, count)
    if count >= LANES or (last and count > 0):
        _follow(scanning, scratch, part.ray, lot, count)
        count = 0
    return count


@inline_kernel
def _follow(scanning: Scanning, scratch: Scratch, k: int, lot: Lot, count: int) -> None:
    """Trace the ``count`` rays that wait, and what goes on from them; the packet is used for that.

    ``k`` is the number of their sub-ray where there is one ray in a packet.
    """
    around, receiving = scanning.around, scanning.receiving
    packet, hits, waiting = scratch.packet, scratch.hits, scratch.waiting
    rounds = 0
    say_close(packet, False)
    while count > 0:
        taken = min(count, LANES)
        count -= taken
        for l in range(LANES):
            packet.masks[l] = NOTHING if l < taken else 0
            w = min(l, taken - 1)
            for i in range(_NUMBERS):
                waiting.taken[l, i] = waiting.numbers[count + w, i]
            waiting.owners[l] = waiting.lanes[count + w]
            waiting.pulses[l] = pulse_number(lot, waiting.owners[l])
            load_ray(packet, l, _ray_in(waiting.taken[l]), NOTHING)
        trace_onward(around, packet, lot.first, k // ONE_IN, rounds, waiting.taken[0, LEAF_PATH] > np.float32(0.0))
        rounds += 1
        if len(around.volumes.model) > 0:
            trace_volumes(around, packet, taken, waiting.pulses, scanning.chance, scratch.walk)
        for l in range(taken):
            ray, hit, travel = ray_at(packet, l), hit_at(packet, l), _travel_in(waiting.taken[l])
            if hit.material >= 0:
                path = travel.path + hit.distance * travel.media.inner
                share = travel.weight * travel.energy
                if travel.leaf > np.float32(0.0):
                    share *= travel.stands_for
                    share *= share_behind_leaf(path - travel.leaf, _spot_at(scanning, travel.leaf))
                back = share * returned_energy(around, receiving, ray, hit, path)
                if back > np.float32(0.0):
                    add_hit(hits, waiting.owners[l], path, back, hit)
                count = _go_on(scanning, packet, l, travel, waiting.owners[l], waiting, count)
    for l in range(LANES):
        packet.masks[l] = NOTHING


@inline_kernel
def _turned(optics: Array, ray: Ray, hit: Hit) -> Real:
    """Share of the light that a surface turns like a mirror."""
    share = optics[MIRROR]
    if optics[GLOSS] > np.float32(0.0):
        nx, ny, nz = _unit_normal(hit)
        cosine = min(abs(ray.dx * nx + ray.dy * ny + ray.dz * nz), np.float32(1.0))
        share += film_mirror(optics[GLOSS], cosine)
    return share


@inline_kernel
def mirrored(optics: Array, ray: Ray, hit: Hit, travel: Travel, max_range: Real) -> tuple[Ray, Travel]:
    """The ray that a mirror turns back."""
    nx, ny, nz = _unit_normal(hit)
    dx, dy, dz = reflected(ray.dx, ray.dy, ray.dz, nx, ny, nz)
    share = _turned(optics, ray, hit)
    left = travel.energy * share * share
    path = travel.path + hit.distance * travel.media.inner
    onwards = Travel(
        left, path, travel.bounces + np.float32(1.0), travel.media, travel.leaf, travel.stands_for, travel.weight
    )
    return _leaving(ray, hit, dx, dy, dz, onwards, max_range), onwards


@inline_kernel
def passed_through(optics: Array, ray: Ray, hit: Hit, travel: Travel, max_range: Real) -> tuple[Ray, Travel]:
    """The ray that glass lets through, bent; or turned back inside, where it cannot leave."""
    nx, ny, nz = _unit_normal(hit)
    entering = ray.dx * nx + ray.dy * ny + ray.dz * nz < np.float32(0.0)
    before, behind = travel.media, beyond(travel.media, optics[INDEX], entering)
    dx, dy, dz, passed = refracted(ray.dx, ray.dy, ray.dz, nx, ny, nz, before.inner / behind.inner)
    path, bounces = travel.path + hit.distance * before.inner, travel.bounces + np.float32(1.0)
    if passed:
        left = travel.energy * optics[TRANSMISSION] * optics[TRANSMISSION]
        onwards = Travel(left, path, bounces, behind, travel.leaf, travel.stands_for, travel.weight)
    else:
        onwards = Travel(travel.energy, path, bounces, before, travel.leaf, travel.stands_for, travel.weight)
    return _leaving(ray, hit, dx, dy, dz, onwards, max_range), onwards


@inline_kernel
def let_through(optics: Array, ray: Ray, hit: Hit, travel: Travel, scanning: Scanning) -> tuple[Ray, Travel]:
    """The ray that goes on behind a leaf, straight on, as far as anything that matters finds back."""
    path = travel.path + hit.distance * travel.media.inner
    leaf = travel.leaf if travel.leaf > np.float32(0.0) else path
    left = travel.energy * optics[LEAF] * optics[LEAF]
    onwards = Travel(left, path, travel.bounces + np.float32(1.0), travel.media, leaf, travel.stands_for, travel.weight)
    end = min(leaf + depth_of_light(left, _spot_at(scanning, leaf), _DIM), scanning.receiving.max_range)
    return _leaving(ray, hit, ray.dx, ray.dy, ray.dz, onwards, end), onwards


@inline_kernel
def _spot_at(scanning: Scanning, path: Real) -> Real:
    """[m] radius of a disc as large as the spot after a ``path``."""
    return path * np.float32(math.sqrt(scanning.firing.half_width * scanning.firing.half_height))


@inline_kernel
def _unit_normal(hit: Hit) -> tuple[Real, Real, Real]:
    length2 = hit.nx * hit.nx + hit.ny * hit.ny + hit.nz * hit.nz
    unit = np.float32(1.0) / np.float32(math.sqrt(length2 + np.float32(1e-37)))
    return hit.nx * unit, hit.ny * unit, hit.nz * unit


@inline_kernel
def _leaving(ray: Ray, hit: Hit, dx: Real, dy: Real, dz: Real, travel: Travel, max_range: Real) -> Ray:
    """A ray from where another ended, as far as the sensor's range still goes."""
    t = hit.distance
    x, y, z = ray.x + t * ray.dx, ray.y + t * ray.dy, ray.z + t * ray.dz
    nx, ny, nz = _unit_normal(hit)
    size = abs(nx * x) + abs(ny * y) + abs(nz * z) + t
    near = skin_at(size, dx * nx + dy * ny + dz * nz)
    return Ray(x, y, z, dx, dy, dz, near, (max_range - travel.path) / travel.media.inner, ray.time)


@inline_kernel
def _go_on(
    scanning: Scanning, packet: Packet, l: int, travel: Travel, owner: int, waiting: Waiting, count: int
) -> int:  # fmt: skip
    """Put what goes on from the hit of lane ``l`` onto the stack; the new height of the stack."""
    ray, hit, receiving = ray_at(packet, l), hit_at(packet, l), scanning.receiving
    optics = scanning.around.tables.optics[hit.material]
    if travel.bounces < receiving.bounces:
        share = _turned(optics, ray, hit)
        if travel.energy * share * share > _FAINT and count < _DEPTH:
            _push(waiting, count, mirrored(optics, ray, hit, travel, receiving.max_range), owner)
            count += 1
        if travel.energy * optics[TRANSMISSION] * optics[TRANSMISSION] > _FAINT and count < _DEPTH:
            _push(waiting, count, passed_through(optics, ray, hit, travel, receiving.max_range), owner)
            count += 1
        if optics[LEAF] > np.float32(0.0) and travel.stands_for > np.float32(0.0) and count < _DEPTH:
            going = let_through(optics, ray, hit, travel, scanning)
            if going[0].far > going[0].near:
                _push(waiting, count, going, owner)
                count += 1
    return count


@inline_kernel
def _push(waiting: Waiting, at: int, going: tuple[Ray, Travel], lane: int) -> None:
    ray, travel, row = going[0], going[1], waiting.numbers[at]
    row[0], row[1], row[2], row[3], row[4], row[5] = ray.x, ray.y, ray.z, ray.dx, ray.dy, ray.dz
    row[6], row[7], row[8] = ray.near, ray.far, ray.time
    row[9], row[10], row[11], row[12] = travel.energy, travel.path, travel.bounces, travel.media.inner
    row[13], row[14], row[15], row[LEAF_PATH] = (
        travel.media.second,
        travel.media.third,
        travel.media.fourth,
        travel.leaf,
    )
    row[17], row[18] = travel.stands_for, travel.weight
    waiting.lanes[at] = lane


@inline_kernel
def _ray_in(row: Array) -> Ray:
    return Ray(row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8])


@inline_kernel
def _travel_in(row: Array) -> Travel:
    return Travel(row[9], row[10], row[11], Media(row[12], row[13], row[14], row[15]), row[LEAF_PATH], row[17], row[18])
