"""How many pulses passed each volume and how many ended in it, shell by shell, and how many got away.

Deschaud et al. (2012), section III.C: ρ = m/(m+n). A pulse ends in the volume that its return was put into by the
partition; it passes the volumes that it meets before. Both are told by the very walk that simulates volumes, so
what is counted is what will be sampled. Pulses are walked in parallel.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import borrowed, kernel
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.partition.voxels import into_voxels
from tussock.learn.pulse_rays import PulseRays, rays_of_pulses
from tussock.scene.volumes import WHOLE
from tussock.threads import run_on_threads
from tussock.trace.ray import ray_in_row
from tussock.trace.volume_cells import new_walk, start_walk
from tussock.trace.volume_hits import Gaussians, closest, next_volume, shell_of

__all__ = ["closure_of", "count_pulses"]

_BLOCK = 2048  # pulses a thread takes at a time
_MOST_COPIES = 8  # counters are kept once a thread
_PRIOR_ESCAPES = 0.5
_AROUND = (16, 4)  # [cells] what counts as around a volume, wide and near: a block and a brick of the grid
_LEAST_PASSING = 1e-3  # probability of passing all volumes so far, below which a pulse counts as stopped
_UNIT = 2.0**24  # shares of pulses are added as whole numbers, so that their order, and the threads, do not matter


def count_pulses(
    gaussians: Gaussians, pulses: MeasuredPulses, labels: NDArray[np.int64], threads: int
) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
    """Pulses that passed and that ended in each shell of each volume, both (volumes, shells + 1).

    ``labels`` is the volume of each return, −1 for a pulse without return or one that ended in no volume. The last
    column is what lies outside all shells.
    """
    workers = min(threads, _MOST_COPIES)
    volumes, shells = gaussians.shells.shape
    passed = np.zeros((workers, volumes, shells + 1), np.uint32)
    ended = np.zeros((workers, volumes, shells + 1), np.uint32)
    run_on_threads(_count, workers, gaussians, rays_of_pulses(pulses), labels, (passed, ended))
    for more in range(1, workers):
        passed[0] += passed[more]
        ended[0] += ended[more]
    return passed[0], ended[0]


@kernel
def _count(worker: int, workers: int, gaussians: Any, rays: PulseRays, labels: Any, counts: Any) -> None:
    _count_all(worker, workers, gaussians, rays, labels, counts, new_walk())


@kernel
def _count_all(worker: int, workers: int, gaussians: Any, rays: PulseRays, labels: Any, counts: Any, walk: Any) -> None:
    gaussians, walk, labels = borrowed(gaussians), borrowed(walk), borrowed(labels)
    origins, directions, ranges, reach = borrowed(rays)
    passed, ended = borrowed(counts)
    listing = gaussians.cells.listing[0]
    edges2 = gaussians.edges2
    for first in range(worker * _BLOCK, len(ranges), workers * _BLOCK):
        for b in range(first, min(first + _BLOCK, len(ranges))):
            own = labels[b]
            end = ranges[b] if ranges[b] == ranges[b] else reach
            ray = ray_in_row(origins, directions, b, end)
            if own >= 0:
                distance2 = closest(gaussians, own, ray)[2]
                ended[worker, own, shell_of(edges2, 0, distance2)] += np.uint32(1)
            if not start_walk(gaussians.cells, 0, walk, ray):
                continue
            while True:
                i, shell, t, _ = next_volume(gaussians, 0, walk, ray)
                # In a grid of voxels nothing that was crossed lies behind the own one; ellipsoids overlap.
                if i < 0 or (i == own and not listing):
                    break
                if i != own and (t < end or not listing):
                    passed[worker, i, shell] += np.uint32(1)


def closure_of(
    gaussians: Gaussians,
    pulses: MeasuredPulses,
    labels: NDArray[np.int64],
    without_own: NDArray[np.float32],
    threads: int,
) -> NDArray[np.float64]:
    """The closure of each volume, shape (n,): 1 − pulses that got away behind it / pulses that would by the shells.

    Where few are expected, it is shrunk towards that of the volumes around it, and theirs towards that of the whole
    model: of the ground nothing gets away, of a crown before the sky much does. Every pulse is asked: a
    sample would leave a lone plant before the sky to its neighbours' figures.

    A pulse says nothing of others like it in the volume that its own return made: there it counts as if it had not been
    seen. ``without_own`` (volumes, shells) is what the permeability is then to be multiplied with.
    """
    workers = min(threads, _MOST_COPIES)
    expected = np.zeros((workers, len(gaussians.means)), np.int64)
    observed = np.zeros((workers, len(gaussians.means)), np.int64)
    owners = Owners(labels, without_own)
    run_on_threads(_escape, workers, gaussians, rays_of_pulses(pulses), owners, (expected, observed))
    would, did = expected.sum(0) / _UNIT, observed.sum(0)
    usual = np.full(len(would), min(did.sum() / max(would.sum(), 1e-9), 1.0))
    for around in _around(gaussians):
        usual = _shrunk(did, would, usual, around)
    closure: NDArray[np.float64] = np.clip(1.0 - _shrunk(did, would, usual, np.arange(len(would))), 0.0, 1.0)
    return closure


def _around(gaussians: Gaussians) -> list[NDArray[np.int64]]:
    """The wide and the near surroundings that each volume is in, as numbers, shape (n,) each."""
    cells = gaussians.cells
    if cells.listing[0]:
        means, cell = gaussians.means.astype(np.float64), float(cells.cell[0])
        return [into_voxels(means, side * cell)[0] for side in _AROUND]
    # Voxels stand in the order of the grid, brick by brick and block by block.
    brick = np.repeat(np.arange(len(cells.brick_first)), np.diff(cells.brick_first, append=len(gaussians.means)))
    block = np.repeat(np.arange(len(cells.block_first)), np.diff(cells.block_first, append=len(cells.brick_first)))
    return [block[brick], brick]


def _shrunk(
    did: NDArray[np.int64], would: NDArray[np.float64], usual: NDArray[np.float64], groups: NDArray[np.int64]
) -> NDArray[np.float64]:
    """did / would of each volume's group, shrunk towards what is usual in it: (did + k·usual) / (would + k)."""
    members = np.bincount(groups)
    prior = _PRIOR_ESCAPES * np.bincount(groups, usual) / members
    share: NDArray[np.float64] = (np.bincount(groups, did) + prior) / (np.bincount(groups, would) + _PRIOR_ESCAPES)
    return share[groups]


class Owners(NamedTuple):
    """Which volume's each return is, and what that volume would be without it."""

    labels: NDArray[np.int64]
    """the volume of each return, −1 for none, shape (n,)"""
    without_own: NDArray[np.float32]
    """what a pulse's own volume's permeability is multiplied with, shape (volumes, shells)"""


@kernel
def _escape(worker: int, workers: int, gaussians: Any, rays: PulseRays, owners: Owners, sums: Any) -> None:
    _escape_all(worker, workers, gaussians, rays, owners, sums, new_walk())


@kernel
def _escape_all(
    worker: int, workers: int, gaussians: Any, rays: PulseRays, owners: Owners, sums: Any, walk: Any
) -> None:
    gaussians, walk = borrowed(gaussians), borrowed(walk)
    origins, directions, ranges, reach = borrowed(rays)
    labels, without_own = borrowed(owners)
    expected, observed = borrowed(sums)
    for first in range(worker * _BLOCK, len(ranges), workers * _BLOCK):
        for b in range(first, min(first + _BLOCK, len(ranges))):
            ray = ray_in_row(origins, directions, b, reach)
            end = ranges[b] if ranges[b] == ranges[b] else reach
            left, last, known = 1.0, -1, True
            if not start_walk(gaussians.cells, 0, walk, ray):
                continue
            while True:
                i, shell, t, _ = next_volume(gaussians, 0, walk, ray)
                if i < 0:
                    break
                if shell < 0:
                    continue
                # A pulse that ended in front of a volume, on something else, does not tell what would have become of it.
                known = known and (labels[b] >= 0 or t < end)
                passing = gaussians.shells[i, shell] / WHOLE
                if i == labels[b]:
                    passing = min(passing * without_own[i, shell], 1.0)
                left *= passing
                last = i
                if left < _LEAST_PASSING:
                    break
            if last >= 0 and known and left >= _LEAST_PASSING:
                expected[worker, last] += np.int64(left * _UNIT)
                if labels[b] < 0:
                    observed[worker, last] += 1
