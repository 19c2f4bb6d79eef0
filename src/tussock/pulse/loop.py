"""The hot loop: pulses meet the world, and what is left are returns.

Pulses go through in groups of sixteen, and their sub-rays in packets of up to sixteen that lie close together
(`tussock.pulse.sub_rays`). What they meet goes into a table with a row for every sub-ray and a column, a *lane*, for every
pulse. For each group:

    aim       the pulse's origin and axes in the world, at its own time
    end       where its beam ends in volumes
    load      sub-rays of a pulse, or one of every pulse, into the packet
    trace     the nearest surface, among what stands and what moves, or the volume in front of it
    scatter   what comes back from it
    respond   spread ranges, and what stands behind, where the surface stands for a plant
    follow    what goes on from mirrors and glass, and through leaves
    finish    the sub-rays that are traced only where the first ones say so
    weather   what the air takes, and what it sends back
    listen    which echoes the hits make, what is measured of each, and which are reported
              (or receive: the same for hits one by one)

Each step is a file of its own here; the physics is in `tussock.signal`. A group always holds the same pulses,
however the work is cut into blocks and threads, so the results have the same bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import apart_kernel, inline_kernel, kernel, taken
from tussock.pulse.adaptive import finish_lanes, new_probed
from tussock.pulse.aim import AIM_ROWS, POSE_ROWS, aim_lanes, aim_origins, fetch_pulses, load_lanes, stand
from tussock.pulse.clouds import new_air_scratch
from tussock.pulse.follow import anything_goes_on, extra_hits, follow_lanes, may_go_on, new_waiting, stands_for
from tussock.pulse.listen import listen_lanes
from tussock.pulse.receive import receive_lanes
from tussock.pulse.record import add_drops, record_lanes
from tussock.pulse.reflect import clear_added, rows_in_use, scatter_lanes
from tussock.pulse.sub_rays import lot_of, packets_of, part_of
from tussock.pulse.tables import Lot, Scanning, Scratch, Slots, new_chosen, new_heard, new_hits
from tussock.pulse.vegetation import ERROR_ROWS, respond_lanes
from tussock.pulse.volumes import end_beams, new_ended, stop_lanes
from tussock.pulse.weather import air_hits, has_weather, weather_lanes
from tussock.trace.packets import LANES, new_packet
from tussock.trace.placed_volumes import new_volume_walk
from tussock.trace.surroundings import trace_sub_ray

__all__ = ["Shot", "Turns", "begin_firing", "fire_group", "meet_group", "new_scratch", "pulse_loop", "receive_group"]


class Turns(NamedTuple):
    """How pulses are handed out to threads, which are not done at the same time."""

    block: int
    """pulses that are taken together, a multiple of 16"""
    next_block: NDArray[np.int64]
    """the first block that nobody has taken, shape (1,)"""
    most: int
    """blocks that are taken in one call"""
    counts: NDArray[np.int64]
    """returns of every block, shape (blocks,)"""


class Shot(NamedTuple):
    """All that the threads of a scan share."""

    turns: Turns
    scanning: Scanning
    slots: Slots


@kernel
def pulse_loop(shot: Shot, scratch: Scratch) -> None:
    """Fire the pulses of blocks that nobody has fired yet, in the memory of one worker; both are `handed`."""
    _fire(shot, scratch)


@kernel
def new_scratch(scanning: Scanning, returns: int) -> Scratch:
    """Memory for a worker, for pulses with up to ``returns`` returns.

    It is only ever run as plain Python (`tussock.rebound.in_python`): to compile what makes some seventy arrays takes seconds.
    """
    rays = len(scanning.firing.stencil)
    bends = may_go_on(scanning)
    doubles = len(scanning.around.tables.responses) > 0 and returns > 1
    extra = (extra_hits(rays) if bends else 0) + (rays if doubles else 0) + air_hits(scanning.air)
    filled = len(scanning.around.volumes.model) > 0
    hits = new_hits(rays, extra + (1 if filled else 0))
    return Scratch(
        new_packet(),
        new_packet(),
        np.zeros(POSE_ROWS * LANES, np.float64),
        np.zeros(AIM_ROWS * LANES, np.float32),  # left and up stay 0 for a beam without spread: not garbage
        np.zeros((ERROR_ROWS, LANES), np.float32),
        np.arange(LANES),
        hits,
        new_chosen(len(hits.ranges)),
        new_heard(len(hits.ranges)),
        np.zeros(LANES, np.float32),
        np.zeros(LANES, np.float32),
        np.zeros(LANES, np.float32),
        new_waiting(),
        new_volume_walk(),
        new_ended(),
        new_air_scratch(len(scanning.air.clouds)),
        new_probed(scanning),
    )


@apart_kernel
def _fire(shot: Shot, scratch: Scratch) -> None:
    turns, scanning, slots = shot.turns, shot.scanning, shot.slots
    pulses, block = len(scanning.firing.lasers), turns.block
    begin_firing(scanning, scratch)
    for _ in range(turns.most):
        b = taken(turns.next_block)
        if b >= len(turns.counts):
            return
        found = 0
        for first in range(b * block, min(pulses, (b + 1) * block), LANES):
            lot = lot_of(scanning.firing, first, scanning.chance)
            fetch_pulses(scanning.firing, lot)
            found += fire_group(scanning, scratch, slots, lot)
        turns.counts[b] = found


@inline_kernel
def begin_firing(scanning: Scanning, scratch: Scratch) -> None:
    """What is the same for all groups: the pose of a sensor that stands, its one origin, and what goes through leaves."""
    stand(scanning.poses, scratch.turn)
    aim_origins(scanning.firing, Lot(0, 1, LANES, scanning.chance), scratch.turn, scratch.aim)
    if may_go_on(scanning):
        scratch.waiting.stands_for[0] = stands_for(scanning)


@inline_kernel
def fire_group(scanning: Scanning, scratch: Scratch, slots: Slots, lot: Lot) -> int:
    """Fire a group of pulses; how many returns there are."""
    used = meet_group(scanning, scratch, slots, lot)
    return receive_group(scanning, scratch, slots, lot, used)


@inline_kernel
def meet_group(scanning: Scanning, scratch: Scratch, slots: Slots, lot: Lot) -> int:
    """Put what a group of pulses meets into the table of hits; how many rows of it are in use."""
    around, firing, poses = scanning.around, scanning.firing, scanning.poses
    receiving, air = scanning.receiving, scanning.air
    packet, hits = scratch.packet, scratch.hits
    filled, responds, dual = len(around.volumes.model) > 0, len(around.tables.responses) > 0, slots.range.shape[1] > 1
    bends = may_go_on(scanning)
    rays = len(firing.stencil)
    reach = receiving.max_range / receiving.media.inner
    aim_lanes(firing, poses, lot, scratch.turn, scratch.aim)
    if filled:
        end_beams(scanning, scratch, lot, slots.range.shape[1])
    packets, waiting = packets_of(firing.probes), 0
    for n in range(packets):
        part, last = part_of(n, firing.probes), n == packets - 1
        load_lanes(packet, scratch.aim, firing, part, lot, reach, scratch.weights)
        trace_sub_ray(around, packet, lot.first, part.ray)
        if filled:
            stop_lanes(scanning, scratch, part, lot.lanes)
        scatter_lanes(scanning, scratch, part)
        if responds:
            respond_lanes(scanning, scratch, part, lot, dual)
        if bends and (anything_goes_on(scanning, packet, part, lot.lanes) or (last and waiting > 0)):
            waiting = follow_lanes(scanning, scratch, part, lot, waiting, last)
    if firing.probes < rays:
        finish_lanes(scanning, scratch, lot)
    used = rows_in_use(hits, rays)
    if has_weather(air):
        weather_lanes(scanning, scratch, lot, used, len(slots.recording.samples) > 0)
        used = rows_in_use(hits, rays)
    return used


@inline_kernel
def receive_group(scanning: Scanning, scratch: Scratch, slots: Slots, lot: Lot, used: int) -> int:
    """Turn the first ``used`` rows of hits of a group into returns, and leave room for the next; how many there are."""
    receiving, hits, rays = scanning.receiving, scratch.hits, len(scanning.firing.stencil)
    if receiving.echoes:
        found = listen_lanes(scanning, scratch, lot, used, slots)
        if len(slots.recording.samples) > 0:
            add_drops(scanning, scratch)
            used = rows_in_use(hits, rays)
            record_lanes(scanning, lot, used, hits, scratch.heard, slots.recording)
    else:
        found = receive_lanes(scanning, lot, used, hits, scratch.chosen, slots)
    clear_added(hits, rays, used)
    return found
