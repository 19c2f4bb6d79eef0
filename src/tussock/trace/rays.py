"""Tracing plain rays: the nearest surface along each, without sensor, beam or receiver."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import kernel
from tussock.threads import resolve_threads, run_on_threads
from tussock.trace import packets as row
from tussock.trace.packets import LANES, NOTHING, intersect, lane_masks, new_packet
from tussock.trace.world import World

__all__ = ["trace_rays"]

_PACKETS = 64  # a thread takes at a time


def trace_rays(
    world: World, origins: NDArray[np.float64], directions: NDArray[np.float64], reach: float, *,
    threads: int | None = None,
) -> NDArray[np.float32]:  # fmt: skip
    """Range [m] to what stands nearest along each ray (n, 3), NaN where nothing does within ``reach``; shape (n,)."""
    ranges = np.empty(len(directions), np.float32)
    start = np.broadcast_to(np.asarray(origins, np.float64) - world.origin, directions.shape).astype(np.float32)
    way = np.ascontiguousarray(directions, np.float32)
    run_on_threads(
        _trace, resolve_threads(threads), world.handle, np.ascontiguousarray(start), way, np.float32(reach), ranges
    )
    return ranges


@kernel
def _trace(worker: int, workers: int, scene: Any, origins: Any, directions: Any, reach: Any, ranges: Any) -> None:
    packet, bits = new_packet()
    masks = lane_masks()
    rays = len(directions)
    packets = (rays + LANES - 1) // LANES
    for turn in range(worker, (packets + _PACKETS - 1) // _PACKETS, workers):
        for p in range(turn * _PACKETS, min(packets, (turn + 1) * _PACKETS)):
            for l in range(LANES):
                i = min(p * LANES + l, rays - 1)
                for a in range(3):
                    packet[row.ORG_X + a, l] = origins[i, a]
                    packet[row.DIR_X + a, l] = directions[i, a]
                packet[row.TNEAR, l] = 0.0
                packet[row.TIME, l] = 0.0
                packet[row.TFAR, l] = reach
                bits[row.MASK, l] = NOTHING
                bits[row.FLAGS, l] = 0
                bits[row.GEOM, l] = NOTHING
                bits[row.INST, l] = NOTHING
            intersect(scene, packet, masks)
            for l in range(min(LANES, rays - p * LANES)):
                hit = bits[row.GEOM, l] != NOTHING
                ranges[p * LANES + l] = packet[row.TFAR, l] if hit else np.float32(np.nan)
