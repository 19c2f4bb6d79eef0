"""How many pulses passed each volume and how many ended in it, shell by shell, and how many got away.

Deschaud et al. (2012), section III.C: ρ = m/(m+n). A pulse ends in the volume that its return was put into by the
partition; it passes the volumes that it meets before. Both are told by the very walk that simulates volumes, so
what is counted is what will be sampled. Pulses are walked in parallel, and may come in parts. The permeability of a
shell that few pulses met is shrunk towards that of the whole volume, as if `_PRIOR_PULSES` more had been seen.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import int64
from numpy.typing import NDArray

from tussock.kernels import borrowed, inline_kernel, kernel, taken
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.partition.levels import Levelled
from tussock.learn.partition.voxels import into_voxels
from tussock.learn.pulse_rays import PulseRays, rays_of_pulses
from tussock.learn.walks.grid_walks import LEAST_PASSING, UNIT, count_in_grid, escape_in_grid
from tussock.learn.walks.side_by_side import side_by_side
from tussock.scene.volumes import WHOLE
from tussock.threads import run_jobs, run_on_threads
from tussock.trace.ray import ray_in_row
from tussock.trace.volume_cells import new_walk, start_walk, volume_at
from tussock.trace.volume_hits import Gaussians, closest, next_volume, shell_of

__all__ = [
    "SEEN_THROUGH", "Counting", "Escapes", "around_volumes", "filled_shells", "find_volumes", "permeabilities", "shrunk", "without_own",
]  # fmt: skip

_BLOCK = 2048  # pulses a thread takes at a time
_MOST_COPIES = 8  # counters are kept once a thread
_PRIOR_PULSES = 1.0
_PRIOR_ESCAPES = 0.5
SEEN_THROUGH = 8
"""pulses that passed a filled volume within τ, and say that nothing is there"""
_AROUND = (16, 4)  # [cells] what counts as around a volume, wide and near: a block and a brick of the grid


class Counting:
    """Pulses that passed and that ended in each shell of each volume, added up over parts.

    ``seen`` are the first and the last scan that ended in each volume, shape (volumes, 2): pulses of other scans that pass
    it within ``near`` shells of its middle are counted by themselves. Without it none are.
    """

    def __init__(
        self, gaussians: Gaussians, threads: int, *, seen: NDArray[np.int64] | None = None, near: int = 0
    ) -> None:
        self._gaussians, self._workers, self._near = gaussians, min(threads, _MOST_COPIES), near
        volumes, shells = gaussians.shells.shape
        self._seen = np.zeros((0, 2), np.int32) if seen is None else np.ascontiguousarray(seen, np.int32)
        # What one pulse adds stands side by side: passed, by shell and outside; passed in other scans; ended, likewise.
        self._counts = np.zeros((self._workers, volumes, 2 * shells + 3), np.uint32)
        self._shells = shells

    def add(self, pulses: MeasuredPulses, labels: NDArray[np.int64]) -> None:
        """``labels`` is the volume of each return, −1 for a pulse without return or one that ended in no volume."""
        asked = Asked(labels, pulses.turns, self._seen, self._near, side_by_side(pulses), np.zeros(1, np.int64))
        count = _count if self._gaussians.cells.listing[0] else count_in_grid
        run_on_threads(count, self._workers, self._gaussians, rays_of_pulses(pulses), asked, self._counts)

    def totals(self) -> tuple[NDArray[np.uint32], NDArray[np.uint32]]:
        """Passed and ended, both (volumes, shells + 1); the last column is what lies outside all shells."""
        counts, s = _added_up(self._counts), self._shells
        passed, ended = run_jobs([counts[:, : s + 1].copy, counts[:, s + 2 :].copy], self._workers)
        return passed, ended

    def otherwise(self) -> NDArray[np.uint32]:
        """Pulses that passed each volume in scans before the first and after the last that ended there, (volumes,)."""
        return _added_up(self._counts)[: len(self._seen), self._shells + 1].copy()


class Asked(NamedTuple):
    """What counting wants to know of pulses and volumes."""

    labels: NDArray[np.int64]
    """the volume of each return, −1 for none, shape (n,)"""
    turns: NDArray[np.int64]
    """the scan of each pulse, shape (n,)"""
    seen: NDArray[np.int32]
    """the first and the last scan that ended in each volume, shape (volumes, 2), or no rows"""
    near: int
    """shells that count as the middle of a volume"""
    order: NDArray[np.int64]
    """in which pulses are taken, shape (n,)"""
    next_block: NDArray[np.int64]
    """of pulses, the first that no thread has taken, shape (1,)"""


def _added_up(counts: NDArray[Any]) -> NDArray[Any]:
    """What all threads have counted, in the place of the first."""
    for more in range(1, len(counts)):
        counts[0] += counts[more]
        counts[more] = 0
    return counts[0]


def find_volumes(
    gaussians: Gaussians, pulses: MeasuredPulses, inside: NDArray[np.bool_], threads: int
) -> NDArray[np.int64]:
    """The volume of each return that is ``inside`` what was learned, −1 for all other pulses, shape (n,): of voxels."""
    labels = np.empty(len(pulses), np.int64)
    run_on_threads(_find, threads, gaussians.cells, rays_of_pulses(pulses), np.ascontiguousarray(inside), labels)
    return labels


@kernel
def _find(worker: int, workers: int, cells: Any, rays: PulseRays, inside: Any, labels: Any) -> None:
    cells, inside, labels = borrowed(cells), borrowed(inside), borrowed(labels)
    origins, directions, ranges, _ = borrowed(rays)
    cell = cells.cell[0]
    for first in range(worker * _BLOCK, len(labels), workers * _BLOCK):
        for p in range(first, min(first + _BLOCK, len(labels))):
            labels[p] = -1
            if inside[p]:
                t = ranges[p]
                x = int64(math.floor((origins[p, 0] + directions[p, 0] * t) / cell))
                y = int64(math.floor((origins[p, 1] + directions[p, 1] * t) / cell))
                z = int64(math.floor((origins[p, 2] + directions[p, 2] * t) / cell))
                labels[p] = volume_at(cells, 0, x, y, z)


def permeabilities(
    passed: NDArray[np.uint32], ended: NDArray[np.uint32], within: NDArray[np.bool_], plain: bool
) -> tuple[NDArray[np.float32], NDArray[np.uint16], NDArray[np.uint32]]:
    """ρ of the paper, the permeability of the shells in 1/65535, and the pulses seen; ``within``: shells inside τ."""
    met = passed + ended
    whole_met = met.sum(1, dtype=np.uint32)
    # ρ = m/(m+n) of the pulses within τ; a volume that none came that near to has the ρ of all that it met.
    whole = passed.sum(1, dtype=np.float32) / np.maximum(whole_met, 1)
    m, near = passed[:, within].sum(1, dtype=np.float32), met[:, within].sum(1, dtype=np.float32)
    rho = np.where(near > 0, m / np.maximum(near, 1), whole).astype(np.float32)
    if plain:
        return rho, np.round(rho[:, None] * WHOLE).astype(np.uint16), whole_met
    shells = (passed + np.float32(_PRIOR_PULSES) * whole[:, None]) / (met + np.float32(_PRIOR_PULSES))
    return rho, np.round(shells * np.float32(WHOLE)).astype(np.uint16), whole_met


def filled_shells(
    rho: NDArray[np.float32], shells: NDArray[np.uint16], tree: Levelled, passed: NDArray[np.uint32],
    ended: NDArray[np.uint32],
) -> tuple[NDArray[np.float32], NDArray[np.uint16]]:  # fmt: skip
    """ρ and shells with those of filled volumes: as in the brick or block around, and the pulses that passed them.

    A filled volume is a guess that counts as one pulse in each shell.
    """
    rho, shells = rho.copy(), shells.copy()
    s = shells.shape[1]
    for level in range(2):
        rows = np.flatnonzero(tree.filled & (tree.levels == level))
        if not len(rows):
            continue
        around = tree.inside(level + 1)
        seen = np.flatnonzero(~tree.filled)
        through, stopped = (_by_group(around, seen, counts[:, :s]) for counts in (passed, ended))
        met = through + stopped
        whole = (through.sum(1) / np.maximum(met.sum(1), 1))[:, None]
        usual = ((through + whole) / (met + 1))[around[rows]]
        share = (passed[rows, :s] + usual) / (passed[rows, :s] + 1.0)
        shells[rows] = np.round(share * WHOLE).astype(np.uint16)
        rho[rows] = usual.mean(1)
    return rho, shells


def _by_group(groups: NDArray[np.int64], rows: NDArray[np.int64], counts: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Sums of the chosen rows by their group, shape (groups, columns); of whole numbers, so the same in any order."""
    chosen, size = groups[rows], int(groups.max()) + 1
    return np.stack([np.bincount(chosen, np.take(column, rows), size) for column in counts.T], 1)


def without_own(met: NDArray[np.uint32]) -> NDArray[np.float32]:
    """What the permeability is to be multiplied with where a pulse must not vouch for itself, (volumes, shells).

    Leave-one-out: without the pulse itself n is one less in its own volume and m the same, so that the share which
    passes, m/(m + n), is (m + n)/(m + n − 1) times as large.
    """
    seen = met.astype(np.float32) + np.float32(_PRIOR_PULSES)
    return seen / np.maximum(seen - 1, np.float32(_PRIOR_PULSES))


@kernel
def _count(worker: int, workers: int, gaussians: Any, rays: PulseRays, asked: Asked, counts: Any) -> None:
    _count_all(worker, gaussians, rays, asked, counts, new_walk())


@kernel
def _count_all(worker: int, gaussians: Any, rays: PulseRays, asked: Asked, counts: Any, walk: Any) -> None:
    gaussians, walk = borrowed(gaussians), borrowed(walk)
    labels, turns, seen, near, order, next_block = borrowed(asked)
    origins, directions, ranges, reach = borrowed(rays)
    mine, edges2, outside = borrowed(counts)[worker], gaussians.edges2, gaussians.shells.shape[1]
    first = taken(next_block) * _BLOCK
    while first < len(ranges):
        for k in range(first, min(first + _BLOCK, len(ranges))):
            b = order[k]
            own = labels[b]
            end = ranges[b] if ranges[b] == ranges[b] else reach
            ray = ray_in_row(origins, directions, b, end)
            if own >= 0:
                distance2 = closest(gaussians, own, ray)[2]
                mine[own, _column(shell_of(edges2, 0, distance2), outside) + outside + 2] += np.uint32(1)
            if not start_walk(gaussians.cells, 0, walk, ray):
                continue
            while True:
                i, shell, t, _ = next_volume(gaussians, 0, walk, ray)
                if i < 0:
                    break
                if i != own and t < end:
                    mine[i, _column(shell, outside)] += np.uint32(1)
                    if len(seen) > 0 and 0 <= shell < near and (turns[b] < seen[i, 0] or turns[b] > seen[i, 1]):
                        mine[i, outside + 1] += np.uint32(1)
        first = taken(next_block) * _BLOCK


@inline_kernel
def _column(shell: Any, outside: Any) -> Any:
    return shell if shell >= 0 else outside


class Escapes:
    """Pulses that would get away behind each volume, as the last that they meet, and those that did, over parts.

    Every pulse is asked: a sample would leave a lone plant before the sky to its neighbours' figures.

    A pulse says nothing of others like it in the volume that its own return made: there it counts as if it had not been
    seen. ``own`` (volumes, shells) is what the permeability is then to be multiplied with (`without_own`).
    """

    def __init__(self, gaussians: Gaussians, own: NDArray[np.float32], threads: int) -> None:
        self._gaussians, self._own, self._workers = gaussians, own, min(threads, _MOST_COPIES)
        self._sums = tuple(np.zeros((self._workers, len(gaussians.means)), np.int64) for _ in range(2))

    def add(self, pulses: MeasuredPulses, labels: NDArray[np.int64]) -> None:
        """``labels`` is the volume of each return, −1 for a pulse without return or one that ended in no volume."""
        owners = Owners(labels, self._own, side_by_side(pulses), np.zeros(1, np.int64))
        escape = _escape if self._gaussians.cells.listing[0] else escape_in_grid
        run_on_threads(escape, self._workers, self._gaussians, rays_of_pulses(pulses), owners, self._sums)

    def totals(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Those that would get away, in 2^−24, and those that did, both (volumes,)."""
        expected, observed = (_added_up(sums) for sums in self._sums)
        return expected, observed

    @staticmethod
    def closure(gaussians: Gaussians, expected: NDArray[np.int64], observed: NDArray[np.int64]) -> NDArray[np.float64]:
        """The closure of each volume, shape (n,): 1 − pulses that got away behind it / pulses that would by the shells.

        Where few are expected, it is shrunk towards that of the volumes around it, and theirs towards that of the whole
        model: of the ground nothing gets away, of a crown before the sky much does.
        """
        would = expected / UNIT
        usual = np.full(len(would), min(observed.sum() / max(would.sum(), 1e-9), 1.0))
        for around in around_volumes(gaussians):
            usual = shrunk(observed, would, usual, around, _PRIOR_ESCAPES)
        own = shrunk(observed, would, usual, np.arange(len(would)), _PRIOR_ESCAPES)
        return np.clip(1.0 - own, 0.0, 1.0)


def around_volumes(gaussians: Gaussians) -> list[NDArray[np.int64]]:
    """The wide and the near surroundings that each volume is in, as numbers, shape (n,) each."""
    means, cell = gaussians.means.astype(np.float64), float(gaussians.cells.cell[0])
    return [into_voxels(means, side * cell)[0] for side in _AROUND]


def shrunk(
    did: NDArray[np.int64], would: NDArray[np.float64], usual: NDArray[np.float64], groups: NDArray[np.int64], k: float
) -> NDArray[np.float64]:
    """did / would of each volume's group, shrunk towards what is usual in it: (did + k·usual) / (would + k)."""
    members = np.bincount(groups)
    prior = k * np.bincount(groups, usual) / members
    share: NDArray[np.float64] = (np.bincount(groups, did) + prior) / (np.bincount(groups, would) + k)
    return share[groups]


class Owners(NamedTuple):
    """Which volume's each return is, and what that volume would be without it."""

    labels: NDArray[np.int64]
    """the volume of each return, −1 for none, shape (n,)"""
    without_own: NDArray[np.float32]
    """what a pulse's own volume's permeability is multiplied with, shape (volumes, shells)"""
    order: NDArray[np.int64]
    """in which pulses are taken, shape (n,)"""
    next_block: NDArray[np.int64]
    """of pulses, the first that no thread has taken, shape (1,)"""


@kernel
def _escape(worker: int, workers: int, gaussians: Any, rays: PulseRays, owners: Owners, sums: Any) -> None:
    _escape_all(worker, gaussians, rays, owners, sums, new_walk())


@kernel
def _escape_all(worker: int, gaussians: Any, rays: PulseRays, owners: Owners, sums: Any, walk: Any) -> None:
    gaussians, walk = borrowed(gaussians), borrowed(walk)
    origins, directions, ranges, reach = borrowed(rays)
    labels, without_own, order, next_block = borrowed(owners)
    expected, observed = borrowed(sums)
    first = taken(next_block) * _BLOCK
    while first < len(ranges):
        for k in range(first, min(first + _BLOCK, len(ranges))):
            b = order[k]
            ray = ray_in_row(origins, directions, b, reach)
            end = ranges[b] if ranges[b] == ranges[b] else reach
            left, last, known = 1.0, -1, True
            going = start_walk(gaussians.cells, 0, walk, ray)
            while going:
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
                if left < LEAST_PASSING:
                    break
            if last >= 0 and known and left >= LEAST_PASSING:
                expected[worker, last] += np.int64(left * UNIT)
                if labels[b] < 0:
                    observed[worker, last] += 1
        first = taken(next_block) * _BLOCK
