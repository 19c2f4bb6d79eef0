"""How like pulses that were held out are to what volumes make of them: the score of a size.

It is the Bhattacharyya distance of `tussock.learn.scoring.scores`, at bins as fine as chance allows: the finest of a few at which the
held-out pulses and those learned from, two samples of one truth, differ by no more than `_CHANCE`. Pulses by themselves
(`tussock.learn.likelihood`) ask for larger volumes: where leaves end each of them somewhere else, no model knows how far the next
one goes, and only what blurs is never wrong by much. Of many pulses together it can be known, and is blurred by large volumes.

A size that loses or gains hits is none, however well the rest is distributed: more than `_TOLERATED` of the hits, and
beyond chance, weighs `_DEAR` times as much as the same distance. Pulses that look at the same leaf are right or wrong together, so
chance is not that of so many pulses: it is told by how much `_SECTORS` sectors of azimuth, with as many pulses each, differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tussock.learn.box import box_corners
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.scan_volumes import simulate_volumes
from tussock.learn.scoring.scores import bhattacharyya
from tussock.scene.volumes import Volumes

__all__ = ["HeldOutScore"]

_BINS = ((0.09, 0.002), (0.2, 0.01), (0.5, 0.03), (1.0, 0.1), (2.0, 0.25))
"""[deg] and [m]; the first are those of Deschaud et al. (2012)"""
_CHANCE = 0.5
_TOLERATED = 0.01
_DEAR = 10.0
_SECTORS = 64


class HeldOutScore:
    """Scores volumes that were learned from ``training`` by the pulses of ``test``; both are of one sensor.

    Where volumes are learned in a ``box``, a pulse that ended outside it only says that it came as far as it did, and one that is
    foretold to end outside it, in a volume that reaches through the wall, counts as one that did.
    """

    def __init__(
        self, training: MeasuredPulses, test: MeasuredPulses, *, box: Sequence[float] | None, seed: int,
        threads: int | None,
    ) -> None:  # fmt: skip
        self._asked, self._seed, self._threads = test, seed, threads
        self._box, self._sector = box, np.empty(len(test), np.int64)
        self._sector[np.argsort(test.azimuths, kind="stable")] = np.arange(len(test)) * _SECTORS // len(test)
        self._ends = np.full(len(test), np.inf)
        if box is not None:
            self._ends = np.where(test.hit & ~test.inside(box), test.ranges, np.inf)
        self._test, known = _within(test, box), _within(training, box)
        self._bins = next((bins for bins in _BINS if _distance(self._test, known, bins) <= _CHANCE), _BINS[-1])

    def of(self, volumes: Volumes) -> float:
        """Higher is better, 0 is the best there can be."""
        found = simulate_volumes(volumes, self._asked, seed=self._seed, threads=self._threads)
        found = replace(found, ranges=np.where(found.ranges < self._ends, found.ranges, np.nan))
        if self._box is not None and found.hit.any():
            low, high = box_corners(self._box)
            points = found.points
            found = replace(found, ranges=np.where(((points >= low) & (points < high)).all(1), found.ranges, np.nan))
        more = np.bincount(self._sector, found.hit.astype(np.float64) - self._test.hit, _SECTORS)
        by_chance = 2.0 * float(np.std(more, ddof=1)) * np.sqrt(_SECTORS)
        off = max(abs(float(more.sum())) - _TOLERATED * float(self._test.hit.sum()) - by_chance, 0.0) / len(found)
        return -_distance(self._test, found, self._bins) - _DEAR * off


def _within(pulses: MeasuredPulses, box: Sequence[float] | None) -> MeasuredPulses:
    """What ended outside the box counts as no return."""
    return pulses if box is None else replace(pulses, ranges=np.where(pulses.inside(box), pulses.ranges, np.nan))


def _distance(one: MeasuredPulses, two: MeasuredPulses, bins: tuple[float, float]) -> float:
    return bhattacharyya(one, two, angle_bin=float(np.deg2rad(bins[0])), range_bin=bins[1])
