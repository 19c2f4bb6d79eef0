"""Scores as papers on simulated LIDAR scans give them, pulse by pulse and point by point.

Each pulse of one scan is paired with the one of the other that the same laser fired nearest in angle.

    chamfer          mean squared distance to the nearest point of the other scan, both ways added [m²]
    F-score          of points within 5 cm of one of the other scan: harmonic mean of the shares of both
    depth            median and root mean square of |difference of ranges|, where both pulses of a pair returned [m]
    ray drop         share of pairs that agree in whether there is a return; F-score of the pulses without
    intensity        root mean square of the difference, where both returned

So in the tables of LiDAR4D (Zheng et al. 2024) and of SimULi (2025). For whole scans, for ranges from one distance to the
next, and for labels of the real scan, where it has any. A floor, one part of the real recording against another,
says what is left when nothing is wrong but chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tussock.errors import InputError
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.scoring.scores import ANGLE_BIN

__all__ = ["NEAR", "REGIONS", "FieldScores", "field_scores", "scores_by_label", "scores_by_region"]

NEAR = 0.05
"""[m] within which two points count as the same"""
REGIONS = (0.0, 10.0, 30.0, np.inf)
"""[m] edges of the ranges that are scored by themselves"""


@dataclass(frozen=True)
class FieldScores:
    """What `field_scores` finds; NaN where nothing can be said.

    >>> way = np.random.default_rng(1).normal((5, 0, 0), 0.5, (100, 3))
    >>> pulses = tussock.MeasuredPulses.of(np.zeros(3), way, np.linalg.norm(way, axis=1))
    >>> tussock.field_scores(pulses, pulses).f_score
    1.0
    """

    pairs: int
    chamfer_m2: float
    f_score: float
    depth_median_m: float
    depth_rmse_m: float
    drop_accuracy: float
    drop_f_score: float
    intensity_rmse: float

    def plain(self) -> dict[str, Any]:
        """As plain data, ready for JSON; None where nothing can be said."""
        return {name: None if figure != figure else figure for name, figure in asdict(self).items()}


def field_scores(real: MeasuredPulses, simulated: MeasuredPulses, *, angle_bin: float = ANGLE_BIN) -> FieldScores:
    """Score a simulated scan against a real one; pairs lie within ``angle_bin`` [rad] of each other.

    >>> way = np.random.default_rng(1).normal((5, 0, 0), 0.5, (100, 3))
    >>> pulses = tussock.MeasuredPulses.of(np.zeros(3), way, np.linalg.norm(way, axis=1))
    >>> tussock.field_scores(pulses, pulses).drop_accuracy
    1.0
    """
    if not (np.isfinite(angle_bin) and angle_bin > 0):
        raise InputError.of("angle bin", "must be above 0", angle_bin)
    own, other = _pairs(real, simulated, angle_bin)
    return _scores(real, simulated, own, other)


def scores_by_region(
    real: MeasuredPulses, simulated: MeasuredPulses, *, edges: Sequence[float] = REGIONS, angle_bin: float = ANGLE_BIN
) -> dict[tuple[float, float], FieldScores]:
    """Scores of the pulses of which either scan returned from between two neighbours of ``edges`` [m], rising.

    >>> way = np.random.default_rng(1).normal((5, 0, 0), 0.5, (100, 3))
    >>> pulses = tussock.MeasuredPulses.of(np.zeros(3), way, np.linalg.norm(way, axis=1))
    >>> sorted(tussock.scores_by_region(pulses, pulses, edges=(0, 4, 10)))
    [(0, 4), (4, 10)]
    """
    steps = np.asarray(edges, float)
    if len(steps) < 2 or not (np.diff(steps) > 0).all() or steps[0] < 0:
        raise InputError.of("regions", "must be at least two rising distances from 0 on [m]", list(edges))
    own, other = _pairs(real, simulated, angle_bin)
    found = {}
    for near, far in pairwise(edges):
        with np.errstate(invalid="ignore"):
            inside = [(pulses.ranges >= near) & (pulses.ranges < far) for pulses in (real, simulated)]
        kept = inside[0][own] | inside[1][other]
        parts = (_only(real, inside[0]), _only(simulated, inside[1]))
        found[near, far] = _scores(*parts, own[kept], other[kept])
    return found


def scores_by_label(
    real: MeasuredPulses, simulated: MeasuredPulses, *, angle_bin: float = ANGLE_BIN
) -> dict[str, FieldScores]:
    """Scores of the pulses whose real return has a label, label by label; nothing where the real scan has none.

    >>> way = np.random.default_rng(1).normal((5, 0, 0), 0.5, (100, 3))
    >>> pulses = tussock.MeasuredPulses.of(np.zeros(3), way, np.linalg.norm(way, axis=1))
    >>> tussock.scores_by_label(pulses, pulses)
    {}
    """
    own, other = _pairs(real, simulated, angle_bin)
    found = {}
    for label in np.unique(real.labels[real.hit]):
        mine = real.hit & (real.labels == label)
        if label == 0 and label not in real.label_names:
            continue
        kept = mine[own]
        theirs = np.zeros(len(simulated), np.bool_)
        theirs[other[kept]] = True
        name = real.label_names.get(int(label), str(label))
        found[name] = _scores(_only(real, mine), _only(simulated, theirs), own[kept], other[kept])
    return found


def _only(pulses: MeasuredPulses, kept: NDArray[np.bool_]) -> _Points:
    return _Points(pulses, kept & pulses.hit)


@dataclass(frozen=True)
class _Points:
    """A scan, and which of its points are compared."""

    pulses: MeasuredPulses
    chosen: NDArray[np.bool_]


def _scores(
    real: MeasuredPulses | _Points,
    simulated: MeasuredPulses | _Points,
    own: NDArray[np.int64],
    other: NDArray[np.int64],
) -> FieldScores:
    one, two = (part if isinstance(part, _Points) else _Points(part, part.hit) for part in (real, simulated))
    chamfer, f_score = _clouds(one.pulses.points[one.chosen], two.pulses.points[two.chosen])
    hit_one, hit_two = one.pulses.hit[own], two.pulses.hit[other]
    both = hit_one & hit_two
    apart = np.abs(one.pulses.ranges[own] - two.pulses.ranges[other])[both]
    brighter = (one.pulses.intensity[own].astype(np.float64) - two.pulses.intensity[other])[both]
    right, wrong = (~hit_one & ~hit_two).sum(), (hit_one != hit_two).sum()
    return FieldScores(
        len(own),
        chamfer,
        f_score,
        float(np.median(apart)) if len(apart) else float("nan"),
        _rms(apart),
        float((hit_one == hit_two).mean()) if len(own) else float("nan"),
        float(2 * right / (2 * right + wrong)) if right + wrong else float("nan"),
        _rms(brighter),
    )


def _rms(values: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(values**2))) if len(values) else float("nan")


def _clouds(one: NDArray[np.float64], two: NDArray[np.float64]) -> tuple[float, float]:
    """Chamfer distance [m²] and F-score of two clouds of points (n, 3)."""
    if not len(one) or not len(two):
        return float("nan"), float("nan")
    middle = np.median(one, axis=0)  # map coordinates are far from zero
    one, two = one - middle, two - middle
    there, back = cKDTree(two).query(one)[0], cKDTree(one).query(two)[0]
    precision, recall = float((back < NEAR).mean()), float((there < NEAR).mean())
    f_score = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return float((there**2).mean() + (back**2).mean()), f_score


def _pairs(
    real: MeasuredPulses, simulated: MeasuredPulses, angle_bin: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the real scan and those of the simulated one that the same laser fired nearest, within a bin."""
    if np.array_equal(real.rings, simulated.rings) and np.array_equal(real.azimuths, simulated.azimuths):
        rows = np.arange(len(real))
        return rows, rows
    turn = 2 * np.pi
    mine, theirs = (
        pulses.rings.astype(np.float64) * 2 * turn + np.mod(pulses.azimuths, turn) for pulses in (real, simulated)
    )
    order = np.argsort(theirs, kind="stable")
    ahead = np.searchsorted(theirs[order], mine)
    best = np.zeros(len(mine), np.int64)
    apart = np.full(len(mine), np.inf)
    for step in (-1, 0):
        at = order[np.clip(ahead + step, 0, len(order) - 1)]
        off = np.abs(theirs[at] - mine)
        better = off < apart
        best[better], apart[better] = at[better], off[better]
    own = np.flatnonzero(apart <= angle_bin)
    return own, best[own]
