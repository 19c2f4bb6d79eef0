"""What rays can meet during one span of time, and the one way to find what they meet.

First what stands, then what moves, then the volumes in front of that: a ray that ends in a volume has not reached
what is behind it, and looks like a hit on a surface that faces it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tussock.kernels import Array, Real, Whole, apart_kernel, inline_kernel, loop_kernel
from tussock.randomness import Chance
from tussock.trace.hit_tables import HitTables, material_of
from tussock.trace.packets import (
    LANES,
    MET,
    NOTHING,
    PASSED,
    Packet,
    band_at,
    beyond_edge,
    forget_hit,
    hit_at,
    intersect,
    is_near_edge,
    keep_ends,
    let_cut_out,
    name_triangle,
    note_ties,
    noted,
    occluded,
    ray_at,
    resolve,
    set_hit,
    set_near,
    stop_noting,
    strike_off,
    take_nearest,
)
from tussock.trace.placed_volumes import VolumeTables, VolumeWalk, end_in_copies
from tussock.trace.ray import Hit, Ray

__all__ = [
    "Surroundings",
    "find_surfaces",
    "held_noise",
    "meet_volume",
    "stop_light",
    "trace_onward",
    "trace_sub_ray",
    "trace_surfaces",
    "trace_volumes",
]

_TURNS = 100
"""triangles that a ray may pass by at their edges; it meets the last"""


class Surroundings(NamedTuple):
    """A world over one span of time, for kernels."""

    standing: Any
    """Embree's scene of what stands; or all that the trees of another tracer hold (`tussock.trace.cuda.packets.Ways`)"""
    moving: int
    """Embree's scene of what moves, 0 for none"""
    tables: HitTables
    volumes: VolumeTables
    moment: int
    """where in memory it says which time this is, for what sways (`Swaying.moment`); 0 where nothing does"""


@inline_kernel
def find_surfaces(around: Surroundings, packet: Packet) -> None:
    """The nearest surface of every lane in use: how far it is, and nothing else."""
    let_cut_out(around.tables, packet)
    intersect(around.standing, packet, around.moment)
    if around.moving != 0:
        intersect(around.moving, packet, around.moment)


@inline_kernel
def trace_surfaces(around: Surroundings, packet: Packet) -> None:
    """The nearest surface of every lane in use, resolved: see `hit_at`."""
    if len(around.tables.neighbours) > 0:
        keep_ends(packet)
        _find_in_order(around, packet)
    else:
        find_surfaces(around, packet)
    if resolve(around.tables, packet):
        _settle_edges(around, packet)


@apart_kernel
def _find_in_order(around: Surroundings, packet: Packet) -> None:
    """As `find_surfaces`; which of several that are about as far is the nearest our own arithmetic says (`tussock.trace.rounding.ties`)."""
    if around.moment != 0:
        find_surfaces(around, packet)
        return
    note_ties(around.tables, packet)
    intersect(around.standing, packet, 0)
    if around.moving != 0:
        intersect(around.moving, packet, 0)
    stop_noting(packet)
    for l in range(LANES):
        if packet.masks[l] != 0 and noted(packet, l) > 1:
            take_nearest(around.tables, packet, l)


@apart_kernel
def _settle_edges(around: Surroundings, packet: Packet) -> None:
    """Where rays pass near an edge of what they met, let them meet what our own arithmetic says (`tussock.trace.rounding.edges`)."""
    used = 0
    for l in range(LANES):
        used |= int(packet.masks[l] != 0) << l
        packet.masks[l] = 0
    for l in range(LANES):
        if used >> l & 1 and is_near_edge(packet, l):
            packet.masks[l] = NOTHING  # alone: the others keep what they met
            _settle_lane(around, packet, l)
            packet.masks[l] = 0
    for l in range(LANES):
        packet.masks[l] = NOTHING if used >> l & 1 else np.uint32(0)


@inline_kernel
def _settle_lane(around: Surroundings, packet: Packet, l: int) -> None:
    begin, last, step = ray_at(packet, l).near, NOTHING, 0.0
    for _ in range(_TURNS):
        word = beyond_edge(around.tables, packet, l)
        if word == MET:
            break
        if word == PASSED:
            strike_off(packet, l)
            if not take_nearest(around.tables, packet, l):
                # Embree may find the same triangle again where it is seen from the side: each time the ray begins further on.
                hit = hit_at(packet, l)
                step = 2.0 * step if hit.primitive == last else 4.0 * band_at(packet, l)
                last = hit.primitive
                set_near(packet, l, max(hit.distance, ray_at(packet, l).near) + step)
                forget_hit(packet, l)
                _find_in_order(around, packet)
        else:
            name_triangle(packet, l, word)
        if not resolve(around.tables, packet):
            break
    set_near(packet, l, begin)


@inline_kernel
def trace_sub_ray(around: Surroundings, packet: Packet, first: int, k: int) -> None:
    """As `trace_surfaces`, for sub-ray ``k`` of the pulses from ``first`` on; other machines trace those beforehand."""
    trace_surfaces(around, packet)


@inline_kernel
def trace_onward(around: Surroundings, packet: Packet, first: int, i: int, rounds: int, leaf: bool) -> None:
    """As `trace_surfaces`, for rays that go on from what a sub-ray of the pulses from ``first`` on met.

    Other machines trace the rays behind the first leaves that a sub-ray meets beforehand: this one is behind a ``leaf``, after
    so many ``rounds`` of its pulse, and of the sub-rays that go through leaves it is the ``i``-th.
    """
    trace_surfaces(around, packet)


@inline_kernel
def stop_light(around: Surroundings, packet: Packet) -> None:
    """Which lanes in use have anything in their way: see `was_stopped`."""
    let_cut_out(around.tables, packet)
    occluded(around.standing, packet, around.moment)
    if around.moving != 0:
        occluded(around.moving, packet, around.moment)


@loop_kernel
def trace_volumes(
    around: Surroundings, packet: Packet, lanes: int, pulses: Array, chance: Chance, walk: VolumeWalk
) -> None:
    """End the rays of a traced packet in volumes in front of what they met; lane ``l`` belongs to ``pulses[l]``.

    Lanes from ``lanes`` on and idle lanes are left alone.
    """
    for l in range(lanes):
        if packet.masks[l] != 0:
            set_hit(packet, l, meet_volume(around, ray_at(packet, l), hit_at(packet, l), pulses[l], chance, walk))


@inline_kernel
def meet_volume(
    around: Surroundings, ray: Ray, hit: Hit, pulse: Whole, chance: Chance, walk: VolumeWalk
) -> Hit:  # fmt: skip
    """The volume that a ray ends in before ``hit``, else ``hit``; the ray ends where the hit is."""
    volumes = around.volumes
    t, volume, copy = end_in_copies(volumes, walk, ray, hit.material < 0, pulse, chance)
    if volume < 0:
        return hit
    geometry = volumes.geometry[copy]
    return Hit(
        np.float32(ray.near + t), -ray.dx, -ray.dy, -ray.dz, np.float32(0.0), np.float32(0.0), geometry,
        np.uint32(volume), volumes.number[copy], material_of(around.tables, geometry, volume),
    )  # fmt: skip


@inline_kernel
def held_noise(around: Surroundings, geometry: Whole, primitive: Whole) -> Real:
    """[m²] variance of a sensor's range noise that what was hit has in it already: volumes are learned from ranges."""
    if geometry >= around.tables.first_volume and geometry != NOTHING:
        return around.volumes.gaussians.held[primitive]
    return np.float32(0.0)
