"""Which pulses of a scan look at something like vegetation: a rule that knows points only.

Points are put into cells of half a metre. A cell is like vegetation where its points spread in all three directions,
the smallest spread being at least 0.3 of the largest (square roots of the eigenvalues of their covariance), with eight
points or more, and where it stands 0.4 m or more above the ground. The ground is the height that a twentieth of the
points of a column of 4 m lie below. Walls, roads and poles are flat or thin and drop out.

A *direction* (one laser, one degree) looks at vegetation where at least half of the returns that one has to learn from
ended in such cells. What is chosen so does not depend on what is scored, and pulses without return belong to it too.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.partition.voxels import into_voxels

__all__ = ["like_vegetation", "towards_vegetation"]

_CELL, _COLUMN = 0.5, 4.0  # [m]
_FEWEST = 8
_THINNEST = 0.3
_ABOVE = 0.4  # [m]
_GROUND = 0.05
_DIRECTION = float(np.deg2rad(1.0))


def like_vegetation(points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each point (n, 3) [m] lies in a cell that is like vegetation, shape (n,)."""
    labels, count = into_voxels(points, _CELL)
    members = np.bincount(labels, minlength=count)
    means = np.stack([np.bincount(labels, points[:, a], count) for a in range(3)], 1) / members[:, None]
    off = points - means[labels]
    spread = np.empty((count, 3, 3))
    for a in range(3):
        for b in range(3):
            spread[:, a, b] = np.bincount(labels, off[:, a] * off[:, b], count) / members
    values = np.linalg.eigvalsh(spread)
    thick = values[:, 0] >= _THINNEST**2 * values[:, 2]
    height = np.bincount(labels, points[:, 2] - _ground(points), count) / members
    found: NDArray[np.bool_] = (members >= _FEWEST) & thick & (height >= _ABOVE)
    return found[labels]


def _ground(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Height of the ground below each point [m], shape (n,)."""
    flat = points * [1.0, 1.0, 0.0]
    columns, count = into_voxels(flat, _COLUMN)
    order = np.lexsort((points[:, 2], columns))
    members = np.bincount(columns, minlength=count)
    lowest = np.cumsum(members) - members + (_GROUND * members).astype(np.int64)
    ground: NDArray[np.float64] = points[order, 2][lowest]
    return ground[columns]


def towards_vegetation(known: MeasuredPulses, fired: MeasuredPulses) -> NDArray[np.bool_]:
    """Whether each pulse of ``fired`` looks where the returns of ``known`` are like vegetation, shape (n,)."""
    hit = known.hit
    share = np.zeros(len(known))
    share[hit] = like_vegetation(known.points[hit])
    keys, at = np.unique(_directions(known), return_inverse=True)
    ended = np.bincount(at, share, len(keys))
    looks = (ended > 0) & (ended >= 0.5 * np.bincount(at, hit, len(keys)))
    wanted = _directions(fired)
    row = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    chosen: NDArray[np.bool_] = looks[row] & (keys[row] == wanted)
    return chosen


def _directions(pulses: MeasuredPulses) -> NDArray[np.int64]:
    """One number for each laser and degree of azimuth."""
    angle = np.floor(np.mod(pulses.azimuths, 2 * np.pi) / _DIRECTION).astype(np.int64)
    return (pulses.rings.astype(np.int64) << 16) | angle
