"""The hot loop: pulses meet the world, and what is left are returns.

Pulses go through in groups of sixteen, one a lane of Embree's packets, in firing order. For each group:

    aim       the pulse's origin and axes in the world, at its own time
    load      one sub-ray of every lane into the packet
    intersect the nearest surface, among what stands and what moves
    volumes   end the ray before that, where it ends in a volume
    scatter   what comes back from it
    respond   scattered ranges, and what stands behind, where the surface stands for a plant
    follow    what goes on from mirrors and glass
    receive   which hits become returns, and what is measured of them

Each step is a file of its own here; the physics is in `tussock.signal`. A group always holds the same pulses,
however the work is cut into blocks and threads, so the results have the same bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tussock.kernels import kernel, loop_kernel
from tussock.pulse.aim import AIM_ROWS, aim_lanes, load_lanes, standing_pose
from tussock.pulse.follow import extra_hits, follow_lanes, new_waiting
from tussock.pulse.receive import receive_lanes
from tussock.pulse.reflect import scatter_lanes
from tussock.pulse.tables import new_chosen, new_hits
from tussock.pulse.vegetation import ERROR_ROWS, respond_lanes
from tussock.pulse.volumes import energies_of_volumes, volumes_in_the_way
from tussock.trace.packets import LANES, intersect, lane_masks, new_packet
from tussock.trace.placed_volumes import new_volume_walk

__all__ = ["pulse_loop"]


@kernel
def pulse_loop(
    worker: int, workers: int, block: int, standing: Any, moving: Any, tables: Any, volumes: Any, firing: Any,
    poses: Any, receiving: Any, slots: Any, block_counts: Any,
) -> None:  # fmt: skip
    """Fire the pulses of this worker's blocks; ``block`` is a multiple of 16."""
    packet, bits = new_packet()
    rays = len(firing.stencil)
    bends = tables.bends and receiving.bounces > 0
    doubles = len(tables.responses) > 0 and slots.range.shape[1] > 1
    hits = new_hits(rays, (extra_hits(rays) if bends else 0) + (rays if doubles else 0))
    second, second_bits = new_packet()
    scratch = Scratch(
        packet,
        bits,
        lane_masks(),
        standing_pose(poses),
        np.zeros((AIM_ROWS, LANES), np.float32),  # left and up stay 0 for a beam without spread: not garbage
        second,
        second_bits,
        lane_masks(),
        np.zeros((ERROR_ROWS, LANES), np.float32),
        np.arange(LANES),
    )
    _fire(worker, workers, block, standing, moving, bends, tables, volumes, firing, poses, receiving, slots,
          block_counts, scratch, hits, new_chosen(len(hits.ranges)), new_waiting(), new_volume_walk())  # fmt: skip


class Scratch(NamedTuple):
    """Memory that a worker uses again for every group."""

    packet: Any
    bits: Any
    masks: Any
    turn: Any
    """pose of every lane"""
    aim: Any
    """origin and axes of every lane in the world"""
    second: Any
    """packet of the rays that look behind vegetation"""
    second_bits: Any
    second_masks: Any
    errors: Any
    """range error of every lane and what it is drawn from"""
    lanes: Any
    """0 to 15"""


@loop_kernel
def _fire(
    worker: int, workers: int, block: int, standing: Any, moving: Any, bends: bool, tables: Any, volumes: Any,
    firing: Any, poses: Any, receiving: Any, slots: Any, block_counts: Any, scratch: Any, hits: Any, chosen: Any,
    waiting: Any, walk: Any,
) -> None:  # fmt: skip
    packet, bits, masks, turn, aim, second, second_bits, second_masks, errors, every = scratch
    filled, responds, dual = len(volumes.model) > 0, len(tables.responses) > 0, slots.range.shape[1] > 1
    key0, key1, frame = receiving.key0, receiving.key1, receiving.frame
    pulses, rays = len(firing.lasers), len(firing.stencil)
    for b in range(worker, (pulses + block - 1) // block, workers):
        found = 0
        for first in range(b * block, min(pulses, (b + 1) * block), LANES):
            aim_lanes(firing, poses, first, key0, key1, frame, turn, aim)
            lanes = min(LANES, pulses - first)
            for k in range(rays):
                load_lanes(packet, bits, aim, firing, k, first, key0, key1, frame, receiving.max_range)
                intersect(standing, packet, masks)
                if moving != 0:
                    intersect(moving, packet, masks)
                if filled:
                    volumes_in_the_way(packet, bits, masks, lanes, every, first, volumes, walk, key0, key1, frame)
                scatter_lanes(packet, bits, tables, receiving, k, hits)
                if filled:
                    energies_of_volumes(tables, volumes, receiving, hits, k)
                if responds:
                    respond_lanes(packet, bits, second, second_bits, second_masks, errors, standing, moving, tables,
                                  volumes, walk, every, receiving, hits, k, first, lanes, dual)  # fmt: skip
                if bends:
                    follow_lanes(packet, bits, masks, standing, moving, tables, volumes, walk, receiving, hits,
                                 waiting, first, lanes)  # fmt: skip
            found += receive_lanes(receiving, firing.lasers, first, rays, hits, chosen, slots)
        block_counts[b] = found
