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

__all__ = ["added", "fit_gaussians", "inverse", "regular"]

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
    means, scatter, counts = np.zeros((count, 3)), np.zeros((count, 6)), np.zeros(count)
    _fit(points, labels, counts, means, scatter)
    return means, regular(scatter, counts, np.full(count, size))


def regular(scatter: NDArray[np.float64], counts: NDArray[Any], size: NDArray[np.float64]) -> NDArray[np.float64]:
    """Covariances of ``counts`` points whose Σ (p − mean)(p − mean)ᵀ is known, shape (n, 6), in volumes of a ``size`` [m]."""
    round_part = np.array([1.0, 0, 0, 1.0, 0, 1.0])
    prior = _PRIOR_POINTS * (_PRIOR_SHARE * size) ** 2
    spread: NDArray[np.float64] = (scatter + prior[:, None] * round_part) / (counts + _PRIOR_POINTS)[:, None]
    return spread + _THINNEST**2 * round_part


def added(own: NDArray[np.float64], counts: NDArray[Any], size: float) -> NDArray[np.float64]:
    """What `regular` adds to the variance [m²] that ``counts`` points have along a line by themselves, shape (n,); below 0 where the
    prior is the thinner one."""
    prior = (_PRIOR_SHARE * size) ** 2
    return (prior - own) * _PRIOR_POINTS / (counts + _PRIOR_POINTS) + _THINNEST**2


@kernel
def _fit(points: Any, labels: Any, counts: Any, means: Any, covariances: Any) -> None:
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


def inverse(packed: NDArray[np.float64]) -> NDArray[np.float64]:
    """Inverses of symmetric matrices (xx, xy, xz, yy, yz, zz), in the same form, shape (n, 6)."""
    a, b, c, d, e, f = packed.T
    cofactors = np.stack([d * f - e * e, c * e - b * f, b * e - c * d, a * f - c * c, b * c - a * e, a * d - b * b], 1)
    determinant = a * cofactors[:, 0] + b * cofactors[:, 1] + c * cofactors[:, 2]
    return cofactors / determinant[:, None]
