"""Tracing plain rays: the nearest surface along each, without sensor, beam or receiver."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import Array, Real, kernel
from tussock.threads import resolve_threads, run_on_threads
from tussock.trace.packets import LANES, NOTHING, distance_at, is_hit, load_ray, new_packet
from tussock.trace.ray import ray_in_row
from tussock.trace.surroundings import Surroundings, trace_surfaces
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
        _trace, resolve_threads(threads), world.still.surroundings, np.ascontiguousarray(start), way, np.float32(reach),
        ranges,
    )  # fmt: skip
    return ranges


@kernel
def _trace(
    worker: int, workers: int, around: Surroundings, origins: Array, directions: Array, reach: Real, ranges: Array
) -> None:  # fmt: skip
    packet = new_packet()
    rays = len(directions)
    packets = (rays + LANES - 1) // LANES
    for turn in range(worker, (packets + _PACKETS - 1) // _PACKETS, workers):
        for p in range(turn * _PACKETS, min(packets, (turn + 1) * _PACKETS)):
            for l in range(LANES):
                ray = ray_in_row(origins, directions, min(p * LANES + l, rays - 1), reach)
                load_ray(packet, l, ray, NOTHING)
            trace_surfaces(around, packet)
            for l in range(min(LANES, rays - p * LANES)):
                ranges[p * LANES + l] = distance_at(packet, l) if is_hit(packet, l) else np.float32(np.nan)
