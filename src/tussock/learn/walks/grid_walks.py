"""The two walks of learning through a grid of voxels, many pulses together.

They count what those of `tussock.learn.permeability` count of volumes that may overlap. In a grid nothing that was crossed lies
behind a pulse's own volume, so what is crossed can be written down first and measured later (`tussock.learn.walks.crossings`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import int64, uint64
from numpy.typing import NDArray

from tussock.kernels import borrowed, fetch, kernel, taken
from tussock.learn.pulse_rays import PulseRays
from tussock.learn.walks.crossings import AHEAD, FULL, measure, new_crossings
from tussock.scene.volumes import WHOLE
from tussock.trace.ray import ray_in_row
from tussock.trace.volume_cells import END, EXIT, Walk, new_walk, start_walk
from tussock.trace.volume_runs import LONGEST, next_cells

__all__ = ["LEAST_PASSING", "UNIT", "count_in_grid", "escape_in_grid"]

LEAST_PASSING = 1e-3
"""probability of passing all volumes so far, below which a pulse counts as stopped"""
UNIT = 2.0**24
"""shares of pulses are added as whole numbers, so that their order, and the threads, do not matter"""
_BLOCK = 2048  # pulses a thread takes at a time
_STEP = 8  # volumes a pulse goes through before it is asked whether anything is left of it
_POOL = FULL // (_STEP + LONGEST)  # pulses that go on together


@kernel
def count_in_grid(worker: int, workers: int, gaussians: Any, rays: PulseRays, asked: Any, counts: Any) -> None:
    """Count who passed and who ended; see `tussock.learn.permeability.Counting`."""
    _count(worker, gaussians, rays, asked, counts, (new_walk(), new_crossings()))


@kernel
def _count(worker: int, gaussians: Any, rays: PulseRays, asked: Any, counts: Any, own: Any) -> None:
    gaussians, rays = borrowed(gaussians), borrowed(rays)
    walk, crossings = borrowed(own)
    volumes, pulses = crossings.volumes, crossings.pulses
    origins, directions, ranges, reach = rays
    labels, order, next_block = borrowed(asked.labels), borrowed(asked.order), borrowed(asked.next_block)
    n = 0
    first = taken(next_block) * _BLOCK
    while first < len(ranges):
        for k in range(first, min(first + _BLOCK, len(ranges))):
            b = order[k]
            last = labels[b]
            ray = ray_in_row(origins, directions, b, ranges[b] if ranges[b] == ranges[b] else reach)
            going = start_walk(gaussians.cells, 0, walk, ray)
            arrived = False
            while going:
                before, n = n, next_cells(gaussians.cells, 0, walk, last, volumes, n, FULL)
                for c in range(before, n):
                    pulses[c] = b
                arrived = n > before and volumes[n - 1] == last
                going = n >= FULL and not arrived
                if n >= FULL:
                    _add_crossings(worker, gaussians, rays, asked, crossings, n, counts)
                    n = 0
            if last >= 0 and not arrived:  # rounding put the return beside the way
                volumes[n], pulses[n] = last, b
                n += 1
        first = taken(next_block) * _BLOCK
    _add_crossings(worker, gaussians, rays, asked, crossings, n, counts)


@kernel
def _add_crossings(
    worker: int, gaussians: Any, rays: PulseRays, asked: Any, crossings: Any, n: int, counts: Any
) -> None:
    """Count the first ``n`` crossings: a pulse ends in its own volume and passes the others."""
    labels, turns, seen, near, _, _ = borrowed(asked)
    volumes, pulses, _, shells, _, _ = borrowed(crossings)
    measure(gaussians, rays, crossings, n)
    mine, here, asks = borrowed(counts)[worker], volumes[:n], len(seen) > 0
    outside = gaussians.shells.shape[1]
    rows, row = uint64(mine.ctypes.data), uint64(mine.shape[1] * mine.itemsize)
    seen_at = uint64(seen.ctypes.data)
    # Nobody can guess which pulse ends, in which shell and which scan: to add nothing costs less than to guess wrong.
    for c in range(len(here)):
        later = uint64(here[min(c + AHEAD, len(here) - 1)])
        fetch(rows + later * row)
        fetch(rows + later * row + row - uint64(4))
        if asks:
            fetch(seen_at + later * uint64(8))
        i, p, shell = uint64(here[c]), uint64(pulses[c]), int64(shells[c])
        own = int64(here[c] == labels[p])
        mine[i, uint64(shell + own * (outside + 2))] += np.uint32(1)
        if asks:
            elsewhen = int64(turns[p] < seen[i, 0]) | int64(turns[p] > seen[i, 1])
            mine[i, uint64(outside + 1)] += np.uint32(elsewhen & int64(shell < near) & (1 - own))


class _Pool(NamedTuple):
    """Scratch of a thread: pulses that go on together, one a place, as long as anything is left of them."""

    at: NDArray[np.int64]
    """rows of `Walk.at`, shape (m, 7)"""
    ray: NDArray[np.float64]
    """rows of `Walk.ray`, shape (m, 13)"""
    left: NDArray[np.float64]
    """what is left of each, shape (m,)"""
    last: NDArray[np.int64]
    """the volume that each met last, −1: none, shape (m,)"""
    ends: NDArray[np.int64]
    """where the crossings of each end, shape (m,)"""
    going: NDArray[np.int64]
    """places of those that go on, shape (m,)"""


@kernel
def _new_pool() -> Any:
    m = _POOL
    return _Pool(
        np.zeros((m, 7), np.int64), np.zeros((m, 13)), np.zeros(m), np.zeros(m, np.int64), np.zeros(m, np.int64),
        np.zeros(m, np.int64),
    )  # fmt: skip


@kernel
def escape_in_grid(worker: int, workers: int, gaussians: Any, rays: PulseRays, owners: Any, sums: Any) -> None:
    """Count who would get away and who did; see `tussock.learn.permeability.Escapes`."""
    _escape(worker, gaussians, rays, owners, sums, (new_walk(), new_crossings(), _new_pool()))


@kernel
def _escape(worker: int, gaussians: Any, rays: PulseRays, owners: Any, sums: Any, own: Any) -> None:
    gaussians, rays = borrowed(gaussians), borrowed(rays)
    walk, crossings, pool = borrowed(own)
    origins, directions, ranges, reach = rays
    labels, without_own, order, next_block = borrowed(owners)
    own_at, row = uint64(without_own.ctypes.data), uint64(without_own.shape[1] * without_own.itemsize)
    first = taken(next_block) * _POOL
    while first < len(ranges):
        going = 0
        for k in range(min(_POOL, len(ranges) - first)):
            b = order[first + k]
            fetch(own_at + uint64(max(labels[b], 0)) * row)
            state = Walk(pool.at[k], pool.ray[k], walk.met, walk.met_ray)
            if start_walk(gaussians.cells, 0, state, ray_in_row(origins, directions, b, reach)):
                pool.left[k], pool.last[k], pool.going[going] = 1.0, -1, k
                going += 1
        while going > 0:
            n = 0
            for g in range(going):
                k, before = pool.going[g], n
                state = Walk(pool.at[k], pool.ray[k], walk.met, walk.met_ray)
                n = next_cells(gaussians.cells, 0, state, -1, crossings.volumes, n, n + _STEP)
                for c in range(before, n):
                    crossings.pulses[c] = order[first + k]
                pool.ends[k] = n
            measure(gaussians, rays, crossings, n)
            going = _multiply(worker, gaussians, rays, owners, sums, (crossings, pool), (first, going))
        first = taken(next_block) * _POOL


@kernel
def _multiply(
    worker: int, gaussians: Any, rays: PulseRays, owners: Any, sums: Any, own: Any, some: tuple[int, int]
) -> int:
    """Take what pulses crossed from what is left of them; ``some``: the first of all, and how many go on. How many do so still."""
    labels, without_own, order, _ = borrowed(owners)
    expected, observed = borrowed(sums)
    (volumes, pulses, nearest, shells, passing, _), pool = borrowed(own)
    ranges, reach, all_shells = borrowed(rays.ranges), rays.reach, borrowed(gaussians.shells)
    n = 0
    for g in range(some[1]):
        n = pool.ends[pool.going[g]]
    here, outside = volumes[:n], all_shells.shape[1]
    shells_at, row = uint64(all_shells.ctypes.data), uint64(outside * all_shells.itemsize)
    for c in range(len(here)):
        fetch(shells_at + uint64(here[min(c + AHEAD, len(here) - 1)]) * row)
        i, p, shell = uint64(here[c]), uint64(pulses[c]), int64(shells[c])
        inner = uint64(min(shell, outside - 1))
        share = all_shells[i, inner] / WHOLE
        if here[c] == labels[p]:
            share = min(share * without_own[i, inner], 1.0)
        passing[c] = share if shell < outside else 1.0
    going, c = 0, 0
    for g in range(some[1]):
        k, begin = pool.going[g], c
        b, end = order[some[0] + k], pool.ends[k]
        left, last, known = pool.left[k], pool.last[k], labels[b] >= 0
        stop = ranges[b] if ranges[b] == ranges[b] else reach
        while c < end and left >= LEAST_PASSING:
            left *= passing[c]
            if shells[c] < outside:
                # A pulse that ended in front of a volume, on something else, does not tell what would have become of it.
                if not known and nearest[c] >= stop:
                    left = 0.0
                last = here[c]
            c += 1
        c = end
        pool.left[k], pool.last[k] = left, last
        if left < LEAST_PASSING:
            continue
        if end - begin >= _STEP and pool.ray[k, EXIT] < pool.ray[k, END]:
            pool.going[going] = k
            going += 1
        elif last >= 0:
            expected[worker, last] += np.int64(left * UNIT)
            if labels[b] < 0:
                observed[worker, last] += 1
    return going
