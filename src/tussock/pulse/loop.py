"""The hot loop: pulses meet the world, and what is left are returns.

Pulses go through in groups of sixteen, one a lane of Embree's packets, in firing order. For each group:

    aim       the pulse's origin and axes in the world, at its own time
    load      one sub-ray of every lane into the packet
    intersect the nearest surface, among what stands and what moves
    scatter   what comes back from it
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
from tussock.pulse.scatter import scatter_lanes
from tussock.pulse.tables import new_chosen, new_hits
from tussock.trace.packets import LANES, intersect, lane_masks, new_packet

__all__ = ["pulse_loop"]


@kernel
def pulse_loop(
    worker: int, workers: int, block: int, standing: Any, moving: Any, tables: Any, firing: Any, poses: Any,
    receiving: Any, slots: Any, block_counts: Any,
) -> None:  # fmt: skip
    """Fire the pulses of this worker's blocks; ``block`` is a multiple of 16."""
    packet, bits = new_packet()
    rays = len(firing.stencil)
    bends = tables.bends and receiving.bounces > 0
    hits = new_hits(rays, extra_hits(rays) if bends else 0)
    scratch = Scratch(
        packet,
        bits,
        lane_masks(),
        standing_pose(poses),
        np.zeros((AIM_ROWS, LANES), np.float32),  # no row may hold a NaN: 0 × NaN is not 0
    )
    _fire(worker, workers, block, standing, moving, bends, tables, firing, poses, receiving, slots, block_counts,
          scratch, hits, new_chosen(len(hits.ranges)), new_waiting())  # fmt: skip


class Scratch(NamedTuple):
    """Memory that a worker uses again for every group."""

    packet: Any
    bits: Any
    masks: Any
    turn: Any
    """pose of every lane"""
    aim: Any
    """origin and axes of every lane in the world"""


@loop_kernel
def _fire(
    worker: int, workers: int, block: int, standing: Any, moving: Any, bends: bool, tables: Any, firing: Any,
    poses: Any, receiving: Any, slots: Any, block_counts: Any, scratch: Any, hits: Any, chosen: Any,
    waiting: Any,
) -> None:  # fmt: skip
    packet, bits, masks, turn, aim = scratch
    key0, key1, frame = receiving.key0, receiving.key1, receiving.frame
    pulses, rays = len(firing.lasers), len(firing.stencil)
    for b in range(worker, (pulses + block - 1) // block, workers):
        found = 0
        for first in range(b * block, min(pulses, (b + 1) * block), LANES):
            aim_lanes(firing, poses, first, key0, key1, frame, turn, aim)
            if bends:
                hits.used[:] = rays
            for k in range(rays):
                load_lanes(packet, bits, aim, firing, k, first, key0, key1, frame, receiving.max_range)
                intersect(standing, packet, masks)
                if moving != 0:
                    intersect(moving, packet, masks)
                scatter_lanes(packet, bits, tables, receiving, k, hits)
                if bends:
                    follow_lanes(
                        packet, bits, masks, standing, moving, tables, receiving, rays, hits, waiting,
                        min(LANES, pulses - first),
                    )  # fmt: skip
            found += receive_lanes(receiving, firing.lasers, first, rays, hits, chosen, slots)
        block_counts[b] = found
