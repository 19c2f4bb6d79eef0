"""Top-down partition: every cluster is cut in two by 2-means until nothing is left to gain.

Deschaud et al. (2012), section III.C.2, after Kalaiah and Varshney (2005). Stopping rule: a cluster is left whole
when it has too few points for two (`_FEWEST` each), or when it is as small as asked for: its largest standard
deviation is at most that of a cube of the given size. All clusters of a level are cut at once; the first cut is the
plane through the mean across the longest axis, so no chance is involved.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["split_in_two"]

_FEWEST = 6
_ROUNDS = 12
_LEVELS = 48


def split_in_two(points: NDArray[np.float64], size: float) -> NDArray[np.int64]:
    """The number of each point's cluster (n,), from 0 without gaps; ``size`` [m] at which a cluster is small enough."""
    labels = np.zeros(len(points), np.int64)
    open_points = np.arange(len(points))
    clusters = 1
    for _ in range(_LEVELS):
        part, groups = _renumbered(labels[open_points])
        means, axes, lengths, counts = _shapes(points[open_points], part, groups)
        divisible = (counts >= 2 * _FEWEST) & (lengths > size / math.sqrt(12))
        keep = divisible[part]
        open_points = open_points[keep]
        if not len(open_points):
            break
        part, groups = _renumbered(part[keep])
        means, axes, lengths = means[divisible], axes[divisible], lengths[divisible]
        upper = _halves(points[open_points], part, groups, means, axes * lengths[:, None])
        # The upper half gets a new number; a cut that left one side too small is undone and the cluster closed.
        above = np.bincount(part[upper], minlength=groups)
        whole = np.bincount(part, minlength=groups)
        good = (above >= _FEWEST) & (whole - above >= _FEWEST)
        number = clusters + np.cumsum(good) - 1
        labels[open_points] = np.where(upper & good[part], number[part], labels[open_points])
        clusters += int(good.sum())
        open_points = open_points[good[part]]
        if not len(open_points):
            break
    return labels


def _renumbered(labels: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    unique, part = np.unique(labels, return_inverse=True)
    return part.ravel(), len(unique)


def _shapes(
    points: NDArray[np.float64], part: NDArray[np.int64], groups: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Mean, longest axis, standard deviation along it, and number of points of every cluster."""
    counts = np.bincount(part, minlength=groups)
    means = _means(points, part, groups, counts)
    off = points - means[part]
    covariances = np.empty((groups, 3, 3))
    for a in range(3):
        for b in range(a, 3):
            covariances[:, a, b] = covariances[:, b, a] = np.bincount(part, off[:, a] * off[:, b], groups) / counts
    values, vectors = np.linalg.eigh(covariances)
    return means, vectors[:, :, 2], np.sqrt(np.maximum(values[:, 2], 0)), counts


def _means(
    points: NDArray[np.float64], part: NDArray[np.int64], groups: int, counts: NDArray[np.int64]
) -> NDArray[np.float64]:
    sums = np.stack([np.bincount(part, points[:, a], groups) for a in range(3)], 1)
    return sums / np.maximum(counts, 1)[:, None]


def _halves(
    points: NDArray[np.float64], part: NDArray[np.int64], groups: int, means: NDArray[np.float64],
    step: NDArray[np.float64],
) -> NDArray[np.bool_]:  # fmt: skip
    """Which of the two centres of its cluster each point ends up with (Lloyd's iterations), shape (n,)."""
    low, high = means - step, means + step
    upper = np.zeros(len(points), np.bool_)
    for _ in range(_ROUNDS):
        # Nearer to `high` than to `low`: on the upper side of the plane half-way between them.
        normal = (high - low)[part]
        nearer = ((points - ((low + high) / 2)[part]) * normal).sum(1) > 0
        if np.array_equal(nearer, upper):
            break
        upper = nearer
        side = part + groups * upper
        counts = np.bincount(side, minlength=2 * groups)
        centres = _means(points, side, 2 * groups, counts)
        low = np.where(counts[:groups, None] > 0, centres[:groups], low)
        high = np.where(counts[groups:, None] > 0, centres[groups:], high)
    return upper
