"""The hot loop: pulses meet the world, and what is left are returns.

Pulses go through in groups of sixteen, one a lane of Embree's packets, in firing order. For each group:

    aim       the pulse's origin and axes in the world, at its own time
    load      one sub-ray of every lane into the packet
    trace     the nearest surface, among what stands and what moves, or the volume in front of it
    scatter   what comes back from it
    respond   scattered ranges, and what stands behind, where the surface stands for a plant
    follow    what goes on from mirrors and glass
    listen    which echoes the hits make, what is measured of each, and which are reported
              (or receive: the same for hits one by one)

Each step is a file of its own here; the physics is in `tussock.signal`. A group always holds the same pulses,
however the work is cut into blocks and threads, so the results have the same bits.
"""

from __future__ import annotations

import numpy as np

from tussock.kernels import Array, kernel, loop_kernel
from tussock.pulse.aim import AIM_ROWS, aim_lanes, aim_origins, load_lanes, standing_pose
from tussock.pulse.follow import anything_goes_on, extra_hits, follow_lanes, new_waiting
from tussock.pulse.listen import listen_lanes
from tussock.pulse.receive import receive_lanes
from tussock.pulse.record import record_lanes
from tussock.pulse.reflect import clear_added, rows_in_use, scatter_lanes
from tussock.pulse.tables import Scanning, Scratch, Slots, new_chosen, new_heard, new_hits
from tussock.pulse.vegetation import ERROR_ROWS, respond_lanes
from tussock.trace.packets import LANES, new_packet
from tussock.trace.placed_volumes import new_volume_walk
from tussock.trace.surroundings import trace_surfaces, trace_volumes

__all__ = ["pulse_loop"]


@kernel
def pulse_loop(worker: int, workers: int, block: int, scanning: Scanning, slots: Slots, block_counts: Array) -> None:
    """Fire the pulses of this worker's blocks; ``block`` is a multiple of 16."""
    rays = len(scanning.firing.stencil)
    bends = scanning.around.tables.bends and scanning.receiving.bounces > 0
    doubles = len(scanning.around.tables.responses) > 0 and slots.range.shape[1] > 1
    hits = new_hits(rays, (extra_hits(rays) if bends else 0) + (rays if doubles else 0))
    scratch = Scratch(
        new_packet(),
        new_packet(),
        standing_pose(scanning.poses),
        np.zeros(AIM_ROWS * LANES, np.float32),  # left and up stay 0 for a beam without spread: not garbage
        np.zeros((ERROR_ROWS, LANES), np.float32),
        np.arange(LANES),
        hits,
        new_chosen(len(hits.ranges)),
        new_heard(len(hits.ranges)),
        np.zeros(LANES, np.float32),
        new_waiting(),
        new_volume_walk(),
    )
    _fire(worker, workers, block, scanning, slots, block_counts, scratch)


@loop_kernel
def _fire(
    worker: int, workers: int, block: int, scanning: Scanning, slots: Slots, block_counts: Array, scratch: Scratch
) -> None:
    around, firing, poses, receiving, chance = scanning
    packet, hits = scratch.packet, scratch.hits
    filled, responds, dual = len(around.volumes.model) > 0, len(around.tables.responses) > 0, slots.range.shape[1] > 1
    bends = around.tables.bends and receiving.bounces > 0
    pulses, rays = len(firing.lasers), len(firing.stencil)
    reach = receiving.max_range / receiving.media.inner
    aim_origins(firing, 0, scratch.turn, scratch.aim)
    for b in range(worker, (pulses + block - 1) // block, workers):
        found = 0
        for first in range(b * block, min(pulses, (b + 1) * block), LANES):
            aim_lanes(firing, poses, first, chance, scratch.turn, scratch.aim)
            lanes = min(LANES, pulses - first)
            if filled:
                for l in range(LANES):
                    scratch.pulses[l] = first + l
            for k in range(rays):
                load_lanes(packet, scratch.aim, firing, k, first, chance, reach, scratch.weights)
                trace_surfaces(around, packet)
                if filled:
                    trace_volumes(around, packet, lanes, scratch.pulses, chance, scratch.walk)
                scatter_lanes(around, receiving, packet, k, scratch.weights, hits)
                if responds:
                    respond_lanes(scanning, scratch, k, first, lanes, dual)
                if bends and anything_goes_on(around.tables, packet, lanes):
                    follow_lanes(scanning, scratch, first, lanes)
            used = rows_in_use(hits, rays)
            if receiving.echoes:
                found += listen_lanes(scanning, first, used, lanes, hits, scratch.heard, slots)
                if len(slots.recording.samples) > 0:
                    record_lanes(scanning, first, used, lanes, hits, scratch.heard, slots.recording)
            else:
                found += receive_lanes(scanning, first, used, hits, scratch.chosen, slots)
            clear_added(hits, rays, used)
        block_counts[b] = found
