"""A Gaussian for the returns of each volume: maximum likelihood, made safe where points are few or flat.

Deschaud et al. (2012), section III.C.1: "care must be taken". The covariance is shrunk towards a small round one as
if `_PRIOR_POINTS` more points had been seen with a spread of `_PRIOR_SHARE` of the volume's own size, and no
direction is thinner than `_THINNEST`. With one point that leaves a small ball, with many the plain estimate.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import kernel

__all__ = ["fit_gaussians", "inverse"]

_PRIOR_POINTS = 1.0
_PRIOR_SHARE = 0.16
"""of the side of a voxel; a uniform voxel has 0.29"""
_THINNEST = 1e-3
"""[m] half a range step of a Velodyne: finer is not measured"""


def fit_gaussians(
    points: NDArray[np.float64], labels: NDArray[np.int64], count: int, size: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Means (count, 3) [m] and covariances (xx, xy, xz, yy, yz, zz) [m²], shape (count, 6), of labelled points.

    ``size`` [m] is that of a volume.
    """
    means, covariances = np.zeros((count, 3)), np.zeros((count, 6))
    _fit(points, labels, _PRIOR_POINTS, (_PRIOR_SHARE * size) ** 2, _THINNEST**2, means, covariances)
    return means, covariances


@kernel
def _fit(points: Any, labels: Any, weight: float, prior: float, least: float, means: Any, covariances: Any) -> None:
    counts = np.zeros(len(means))
    for p in range(len(points)):
        i = labels[p]
        counts[i] += 1.0
        for a in range(3):
            means[i, a] += points[p, a]
    for i in range(len(means)):
        for a in range(3):
            means[i, a] /= counts[i]
    # Squares are taken from the mean, in a second sweep: those of world coordinates would drown the millimetres.
    for p in range(len(points)):
        i = labels[p]
        x, y, z = points[p, 0] - means[i, 0], points[p, 1] - means[i, 1], points[p, 2] - means[i, 2]
        row = covariances[i]
        row[0] += x * x
        row[1] += x * y
        row[2] += x * z
        row[3] += y * y
        row[4] += y * z
        row[5] += z * z
    for i in range(len(means)):
        for k in range(6):
            round_part = weight * prior if k in (0, 3, 5) else 0.0
            covariances[i, k] = (covariances[i, k] + round_part) / (counts[i] + weight)
            if k in (0, 3, 5):
                covariances[i, k] += least


def inverse(packed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inverses of symmetric matrices (xx, xy, xz, yy, yz, zz), in the same form, shape (n, 6)."""
    a, b, c, d, e, f = packed.T
    cofactors = np.stack([d * f - e * e, c * e - b * f, b * e - c * d, a * f - c * c, b * c - a * e, a * d - b * b], 1)
    determinant = a * cofactors[:, 0] + b * cofactors[:, 1] + c * cofactors[:, 2]
    return cofactors / determinant[:, None]
