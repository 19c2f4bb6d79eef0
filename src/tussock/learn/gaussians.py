"""A Gaussian for the returns of each volume: maximum likelihood, made safe where points are few or flat.

Deschaud et al. (2012), section III.C.1: "care must be taken". The covariance is drawn towards a small round one as
if `_PRIOR_POINTS` more points had been seen with a spread of `_PRIOR_SHARE` of the volume's own size, and no
direction is thinner than `_THINNEST`. With one point that leaves a small ball, with many the plain estimate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["fit_gaussians", "packed"]

_PRIOR_POINTS = 1.0
_PRIOR_SHARE = 0.16
"""of the side of a voxel; a uniform voxel has 0.29"""
_THINNEST = 1e-3
"""[m] half a range step of a Velodyne: finer is not measured"""


def fit_gaussians(
    points: NDArray[np.float64], labels: NDArray[np.int64], count: int, size: NDArray[np.float64] | float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means (count, 3) [m] and covariances (count, 3, 3) [m²] of labelled points; ``size`` [m] of each volume."""
    n = np.bincount(labels, minlength=count).astype(float)
    # Away from a rough middle first: squares of world coordinates would drown the millimetres.
    middle = points.mean(0)
    near = points - middle
    means = np.stack([np.bincount(labels, near[:, a], count) for a in range(3)], 1) / n[:, None]
    off = near - means[labels]
    covariances = np.empty((count, 3, 3))
    for a in range(3):
        for b in range(a, 3):
            covariances[:, a, b] = covariances[:, b, a] = np.bincount(labels, off[:, a] * off[:, b], count)
    prior = _PRIOR_POINTS * (_PRIOR_SHARE * np.broadcast_to(np.asarray(size, float), (count,))) ** 2
    covariances += prior[:, None, None] * np.eye(3)
    covariances /= (n + _PRIOR_POINTS)[:, None, None]
    covariances += _THINNEST**2 * np.eye(3)
    return means + middle, covariances


def packed(matrices: NDArray[np.float64]) -> NDArray[np.float32]:
    """Symmetric matrices as (xx, xy, xz, yy, yz, zz), shape (n, 6)."""
    rows, columns = np.triu_indices(3)
    return matrices[:, rows, columns].astype(np.float32)
