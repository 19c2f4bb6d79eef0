"""How often a pulse returns a second time, volume by volume.

Where a sensor reports two returns, some of the pulses that end in a volume return again from what stands behind. The
share of each volume is counted among the pulses that have another volume behind theirs, as simulation asks it
(`tussock.trace.volume_hits.end_behind`), and is shrunk towards that of the volumes around it where those are few.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import borrowed, kernel
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.permeability import around_volumes, shrunk
from tussock.learn.pulse_rays import PulseRays, rays_of_pulses
from tussock.threads import run_on_threads
from tussock.trace.ray import Ray
from tussock.trace.volume_cells import new_walk, start_walk
from tussock.trace.volume_hits import Gaussians, next_volume

__all__ = ["GAPS", "Behind", "gap_of", "gaps_between"]

GAPS = 20_001
"""centimetres that distances between two returns are counted by"""

_BLOCK = 2048
_MOST_COPIES = 8
_NEAREST = 0.05  # quantile of the distances between two returns that counts as the smallest
_PRIOR_PULSES = 0.5


def gaps_between(pulses: MeasuredPulses) -> NDArray[np.int64]:
    """How many pulses have two returns so many centimetres apart, shape (`GAPS`,); the last counts all beyond."""
    twice = np.flatnonzero(np.isfinite(pulses.others))
    apart = np.abs(pulses.others[twice] - pulses.ranges[twice])
    apart = apart[np.isfinite(apart)]
    return np.bincount(np.minimum(apart * 100, GAPS - 1).astype(np.int64), minlength=GAPS)


def gap_of(gaps: NDArray[np.int64]) -> float:
    """[m] what lies between two returns of a pulse at least; 0 where no pulse has two."""
    total = gaps.sum()
    return float(np.searchsorted(np.cumsum(gaps), _NEAREST * total) / 100 + 0.005) if total else 0.0


class Behind:
    """Pulses with two returns, and pulses that have a volume behind the one they ended in, added up over parts."""

    def __init__(self, gaussians: Gaussians, gap: float, threads: int) -> None:
        self._gaussians, self._gap, self._workers = gaussians, gap, min(threads, _MOST_COPIES)
        volumes = len(gaussians.means)
        self._did, self._could = np.zeros(volumes, np.int64), np.zeros((self._workers, volumes), np.int64)

    def add(self, pulses: MeasuredPulses, labels: NDArray[np.int64]) -> None:
        """``labels`` is the volume of each return, −1 for a pulse without return or one that ended in no volume."""
        rays = rays_of_pulses(pulses)
        run_on_threads(_look_behind, self._workers, self._gaussians, rays, labels, self._gap, self._could)
        twice = np.isfinite(pulses.others) & (labels >= 0)
        np.add.at(self._did, labels[twice], 1)

    def totals(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Those that did return twice, and those that could, both (volumes,)."""
        return self._did, self._could.sum(0)

    @staticmethod
    def share(gaussians: Gaussians, did: NDArray[np.int64], could: NDArray[np.int64]) -> NDArray[np.float64]:
        """Of the pulses that ended in each volume with another one behind, the share with two returns, shape (volumes,)."""
        volumes, might = len(did), could.astype(np.float64)
        if not did.any():
            return np.zeros(volumes)
        usual = np.full(volumes, min(did.sum() / max(might.sum(), 1e-9), 1.0))
        for around in around_volumes(gaussians):
            usual = shrunk(did, might, usual, around, _PRIOR_PULSES)
        return np.clip(shrunk(did, might, usual, np.arange(volumes), _PRIOR_PULSES), 0.0, 1.0)


@kernel
def _look_behind(
    worker: int, workers: int, gaussians: Any, rays: PulseRays, labels: Any, gap: float, could: Any
) -> None:
    _look_behind_all(worker, workers, gaussians, rays, labels, gap, (could, new_walk()))


@kernel
def _look_behind_all(
    worker: int, workers: int, gaussians: Any, rays: PulseRays, labels: Any, gap: float, own: Any
) -> None:
    gaussians, labels = borrowed(gaussians), borrowed(labels)
    could, walk = borrowed(own)
    origins, directions, ranges, _ = borrowed(rays)
    for first in range(worker * _BLOCK, len(ranges), workers * _BLOCK):
        for b in range(first, min(first + _BLOCK, len(ranges))):
            if labels[b] < 0:
                continue
            t = ranges[b] + gap
            dx, dy, dz = directions[b, 0], directions[b, 1], directions[b, 2]
            ray = Ray(
                origins[b, 0] + t * dx, origins[b, 1] + t * dy, origins[b, 2] + t * dz, dx, dy, dz, 0.0, np.inf, 0.0
            )
            going = start_walk(gaussians.cells, 0, walk, ray)
            while going:
                i, shell, t, _ = next_volume(gaussians, 0, walk, ray)
                going = i >= 0
                if going and shell >= 0 and t > 0.0:
                    could[worker, labels[b]] += 1
                    going = False
