"""Bottom-up partition: small ellipsoids grow together while they stay as dense as they were.

Deschaud et al. (2012), section III.C.3, after Pauling, Bosse and Zlot (2009): the points are first split into many
small ellipsoids; neighbours are merged under a limit on the density of points. Here the seeds are voxels of a third
of the given size. In each round every ellipsoid picks the neighbour with which it would be densest; pairs that pick
each other merge, if the merged ellipsoid keeps `_DENSITY_KEPT` of the density that its parts have together and does
not outgrow the given size. Rounds end when no pair is left.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from tussock.learn.partition.voxels import into_voxels

__all__ = ["grow_ellipsoids"]

_SEEDS = 3  # seeds along the given size
_DENSITY_KEPT = 0.5
_NEIGHBOURS = 8
_ROUNDS = 64


def grow_ellipsoids(points: NDArray[np.float64], size: float) -> NDArray[np.int64]:
    """The number of each point's ellipsoid (n,), from 0 without gaps; ``size`` [m] that none outgrows."""
    labels, count = into_voxels(points, size / _SEEDS)
    n = np.bincount(labels, minlength=count).astype(float)
    mean = np.stack([np.bincount(labels, points[:, a], count) for a in range(3)], 1) / n[:, None]
    off = points - mean[labels]
    squares = np.empty((count, 3, 3))
    for a in range(3):
        for b in range(3):
            squares[:, a, b] = np.bincount(labels, off[:, a] * off[:, b], count)
    floor = (size / _SEEDS) ** 2 / 12  # a seed with few points still takes up its voxel
    widest = size**2 / 12
    for _ in range(_ROUNDS):
        one, two = _best_pairs(n, mean, squares, floor, widest)
        if not len(one):
            break
        n[one], mean[one], squares[one] = _merged(n, mean, squares, one, two)
        stays = np.ones(len(n), np.bool_)
        stays[two] = False
        number = np.cumsum(stays) - 1
        number[two] = number[one]
        labels = number[labels]
        n, mean, squares = n[stays], mean[stays], squares[stays]
    return labels


def _best_pairs(
    n: NDArray[np.float64], mean: NDArray[np.float64], squares: NDArray[np.float64], floor: float, widest: float
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pairs (first, second) that pick each other and may merge; none where it is the last one."""
    none = np.zeros(0, np.int64)
    if len(n) < 2:
        return none, none
    k = min(_NEIGHBOURS, len(n) - 1)
    _, neighbours = cKDTree(mean).query(mean, k + 1)
    one = np.repeat(np.arange(len(n)), k)
    two = neighbours[:, 1:].ravel().astype(np.int64)
    count, _, both = _merged(n, mean, squares, one, two)
    covariance = both / count[:, None, None]
    volume = _volume(squares / n[:, None, None], floor)
    kept = (count / _volume(covariance, floor)) / (count / (volume[one] + volume[two]))
    fits = (kept >= _DENSITY_KEPT) & (np.linalg.eigvalsh(covariance)[:, 2] <= widest) & (one != two)
    here = np.arange(len(n))
    choice = np.where(fits, kept, 0.0).reshape(len(n), k).argmax(1)
    # Who has nobody to merge with picks itself.
    best = np.where(fits.reshape(len(n), k).any(1), two.reshape(len(n), k)[here, choice], here)
    first = np.flatnonzero((best[best] == here) & (here < best))
    return first, best[first]


def _merged(
    n: NDArray[np.float64], mean: NDArray[np.float64], squares: NDArray[np.float64], one: NDArray[np.int64],
    two: NDArray[np.int64],
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:  # fmt: skip
    """Number, mean and squares of two ellipsoids taken together."""
    count = n[one] + n[two]
    apart = mean[two] - mean[one]
    centre = mean[one] + apart * (n[two] / count)[:, None]
    share = (n[one] * n[two] / count)[:, None, None]
    return count, centre, squares[one] + squares[two] + share * apart[:, :, None] * apart[:, None, :]


def _volume(covariance: NDArray[np.float64], floor: float) -> NDArray[np.float64]:
    """Volume of the 1 σ ellipsoid, none thinner than the seeds [m³]."""
    return 4 / 3 * math.pi * np.sqrt(np.linalg.det(covariance + floor * np.eye(3)))
