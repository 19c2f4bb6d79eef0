"""A pulse meets volumes as one beam: its axis is asked once, and all its sub-rays end there that come so far.

Permeability, closure and the share of second returns were counted from whole pulses, so how many sub-rays sample a beam
must change none of them. The volumes are asked as they were learned, as if nothing else stood there; a surface before
the volume in which the pulse ends is met by the sub-rays that meet it, and the others end in the volume.

A second return comes from what the first left: from volumes further behind, or from the surface that the first sub-ray
found, whichever is nearer. It carries `_LEFT` of what would come back from there, and no more than that of the first.

Left out: copies of other volumes behind the first. Their second returns were not among those learned.
"""

from __future__ import annotations

import numpy as np

from tussock.kernels import Real, Whole, inline_kernel, kernel, loop_kernel
from tussock.pulse.aim import axes_at, stencil_ray
from tussock.pulse.reflect import add_hit, returned_energy
from tussock.pulse.sub_rays import lanes_of, number_of, pulse_number, pulse_of
from tussock.pulse.tables import Ended, Lot, Part, Scanning, Scratch
from tussock.return_modes import ModeNumber
from tussock.trace.hit_tables import material_of
from tussock.trace.packets import LANES, hit_at, ray_at, set_hit
from tussock.trace.placed_volumes import end_again, end_in_copies
from tussock.trace.ray import Hit, Ray

__all__ = ["end_beams", "new_ended", "stop_lanes"]

_LEFT = np.float32(0.5)
_LAST, _SECOND = int(ModeNumber.LAST), int(ModeNumber.SECOND)
_NONE, _ONE, _TWO = 0, 1, 2  # returns of a beam from volumes


@kernel
def new_ended() -> Ended:
    """Room for where the beam of every lane ends in volumes."""
    return Ended(
        np.zeros(LANES, np.int64), np.zeros((2, LANES), np.float32), np.zeros((2, LANES), np.int64),
        np.zeros((2, LANES), np.int64),
    )  # fmt: skip


@loop_kernel
def end_beams(scanning: Scanning, scratch: Scratch, lot: Lot, returns: int) -> None:
    """Where the beams of a group of pulses end in volumes, for a sensor that reports so many returns."""
    around, receiving, ended = scanning.around, scanning.receiving, scratch.ended
    volumes = around.volumes
    one, nothing = np.float32(1.0), np.float32(0.0)
    reach = receiving.max_range / receiving.media.inner
    again = returns > 1 or receiving.mode == _LAST or receiving.mode == _SECOND
    for l in range(lot.lanes):
        ray = stencil_ray(axes_at(scratch.aim, l), one, nothing, nothing, reach)
        t, volume, copy = end_in_copies(volumes, scratch.walk, ray, True, pulse_number(lot, l), scanning.chance)
        ended.returns[l] = _NONE
        if volume < 0:
            continue
        ended.returns[l] = _ONE
        _keep(ended, 0, l, np.float32(ray.near + t), volume, copy)
        if again:
            behind = np.float32(ray.near + t) + _gap(scanning, copy)
            rest = Ray(ray.x, ray.y, ray.z, ray.dx, ray.dy, ray.dz, behind, ray.far, ray.time)
            does, t, volume = end_again(
                volumes, scratch.walk, rest, volume, copy, pulse_number(lot, l), scanning.chance
            )
            if does:
                ended.returns[l] = _TWO
                _keep(ended, 1, l, np.float32(behind + t), volume, copy)


@inline_kernel
def _gap(scanning: Scanning, copy: Whole) -> Real:
    """[m] between two returns that the receiver tells apart, at least."""
    volumes = scanning.around.volumes
    return max(volumes.gaussians.gap[volumes.model[copy]], scanning.receiving.listening.separation)


@inline_kernel
def _keep(ended: Ended, row: int, l: int, distance: Real, volume: Whole, copy: Whole) -> None:
    ended.distances[row, l], ended.volumes[row, l], ended.copies[row, l] = distance, volume, copy


@loop_kernel
def stop_lanes(scanning: Scanning, scratch: Scratch, part: Part, lanes: int) -> None:
    """End every ray of a packet where the beam of its pulse ends, unless it met a surface before."""
    packet, ended = scratch.packet, scratch.ended
    for l in range(lanes_of(part, lanes)):
        hit, p = hit_at(packet, l), pulse_of(part, l)
        if ended.returns[p] > _NONE and ended.distances[0, p] < hit.distance:
            ray = ray_at(packet, l)
            end = _hit(scanning, ended, 0, p, ray)
            if number_of(part, l) == 0 and ended.returns[p] == _TWO:
                _add_second(scanning, scratch, l, p, end)
            set_hit(packet, l, end)


@inline_kernel
def _add_second(scanning: Scanning, scratch: Scratch, l: int, p: int, first: Hit) -> None:
    """One more hit of the pulse ``p`` of the group, behind the ``first``: the next volume, or the surface that ray ``l`` met."""
    around, receiving, ended = scanning.around, scanning.receiving, scratch.ended
    ray, second = ray_at(scratch.packet, l), hit_at(scratch.packet, l)
    if ended.volumes[1, p] >= 0 and ended.distances[1, p] < second.distance:
        second = _hit(scanning, ended, 1, p, ray)
    if second.material >= 0 and second.distance >= first.distance + _gap(scanning, ended.copies[0, p]):
        inner = receiving.media.inner
        energy = returned_energy(around, receiving, ray, second, second.distance * inner)
        most = returned_energy(around, receiving, ray, first, first.distance * inner)
        add_hit(scratch.hits, p, second.distance * inner, _LEFT * min(energy, most), second)


@inline_kernel
def _hit(scanning: Scanning, ended: Ended, row: int, l: int, ray: Ray) -> Hit:
    """A volume that a beam ended in, as a hit on a surface that faces it."""
    volumes, volume, copy = scanning.around.volumes, ended.volumes[row, l], ended.copies[row, l]
    geometry = volumes.geometry[copy]
    return Hit(
        ended.distances[row, l], -ray.dx, -ray.dy, -ray.dz, np.float32(0.0), np.float32(0.0), geometry,
        np.uint32(volume), volumes.number[copy], material_of(scanning.around.tables, geometry, volume),
    )  # fmt: skip
