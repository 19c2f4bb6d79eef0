"""How many pulses passed each volume and how many ended in it, shell by shell.

Deschaud et al. (2012), section III.C: ρ = m/(m+n). A pulse ends in the volume that its return was put into by the
partition; it passes the volumes that it meets before. Both are told by the very walk that simulates volumes, so
what is counted is what will be drawn. Beams are walked in parallel.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import borrowed, kernel
from tussock.learn.beams import Beams
from tussock.threads import run_on_threads
from tussock.trace.volume_cells import new_walk, start_walk
from tussock.trace.volume_hits import Gaussians, closest, next_volume, shell_of

__all__ = ["count_beams"]

_BLOCK = 2048  # beams a thread takes at a time
_MOST_COPIES = 8  # counters are kept once a thread


def count_beams(
    gaussians: Gaussians, beams: Beams, labels: NDArray[np.int64], threads: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pulses that passed and that ended in each shell of each volume, both (volumes, shells + 1).

    ``labels`` is the volume of each return, −1 for a pulse without return or one that ended in no volume. The last column is what lies outside
    all shells.
    """
    workers = min(threads, _MOST_COPIES)
    volumes, shells = gaussians.shells.shape
    passed = np.zeros((workers, volumes, shells + 1), np.uint32)
    ended = np.zeros((workers, volumes, shells + 1), np.uint32)
    run_on_threads(
        _count, workers, gaussians, beams.origins, beams.directions, beams.ranges, labels, beams.reach, passed, ended
    )
    return passed.sum(0, dtype=np.int64), ended.sum(0, dtype=np.int64)


@kernel
def _count(
    worker: int, workers: int, gaussians: Any, origins: Any, directions: Any, ranges: Any, labels: Any, reach: float,
    passed: Any, ended: Any,
) -> None:  # fmt: skip
    _count_all(worker, workers, gaussians, origins, directions, ranges, labels, reach, passed, ended, new_walk())


@kernel
def _count_all(
    worker: int, workers: int, gaussians: Any, origins: Any, directions: Any, ranges: Any, labels: Any, reach: float,
    passed: Any, ended: Any, walk: Any,
) -> None:  # fmt: skip
    gaussians, walk, origins, directions = (
        borrowed(gaussians),
        borrowed(walk),
        borrowed(origins),
        borrowed(directions),
    )
    ranges, labels, passed, ended = borrowed(ranges), borrowed(labels), borrowed(passed), borrowed(ended)
    listing = gaussians.cells.listing[0]
    means, precisions, edges2 = gaussians.means, gaussians.precisions, gaussians.edges2
    for first in range(worker * _BLOCK, len(ranges), workers * _BLOCK):
        for b in range(first, min(first + _BLOCK, len(ranges))):
            ox, oy, oz = origins[b, 0], origins[b, 1], origins[b, 2]
            dx, dy, dz = directions[b, 0], directions[b, 1], directions[b, 2]
            own = labels[b]
            end = ranges[b] if ranges[b] == ranges[b] else reach
            if own >= 0:
                distance2 = closest(means, precisions, own, ox, oy, oz, dx, dy, dz)[2]
                ended[worker, own, shell_of(edges2, 0, distance2)] += np.uint32(1)
            if not start_walk(gaussians.cells, 0, walk, ox, oy, oz, dx, dy, dz, end):
                continue
            while True:
                i, t, _, distance2 = next_volume(gaussians, 0, walk, ox, oy, oz, dx, dy, dz)
                # In a grid of voxels nothing that was crossed lies behind the own one; ellipsoids overlap.
                if i < 0 or (i == own and not listing):
                    break
                if i != own and (t < end or not listing):
                    passed[worker, i, shell_of(edges2, 0, distance2)] += np.uint32(1)
