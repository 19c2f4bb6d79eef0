"""How fast the range of a return grows: the radial speed that a coherent (FMCW) sensor measures by the Doppler shift.

    ṙ = (v_object − v_origin)·d

with d the direction of the pulse, v_origin the velocity of where it left from, and v_object that of the point it met: of
whatever carries the object, at the pulse's own time. Away is positive. The turning of the sensor's own head changes
where d points and not the length of the way, so it has no part in it.

Left out: shapes that change (forms), and what is seen in a mirror, whose own motion counts there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tussock.frames.collect import Fired
from tussock.poses import Trajectory

__all__ = ["range_rates"]

_STEP = 1e-4  # [s] of the central differences that make velocities
_KNOT = 1e-3  # [s] between velocities of a moving sensor, which are interpolated


def range_rates(
    columns: Mapping[str, NDArray[Any]], fired: Fired, path: Trajectory, movers: Mapping[int, Trajectory]
) -> NDArray[np.float32]:
    """ṙ of every row of a frame [m/s]; NaN where nothing was met.

    ``path`` is the sensor's, ``movers`` the paths of objects that move, by their ids.
    """
    met = columns["object_id"] > 0
    rates = np.where(met, np.float32(0.0), np.float32(np.nan)).astype(np.float32)
    if path.moving and len(rates):
        pulse = columns["pulse"]
        origins = fired.origins[pulse if len(fired.origins) > 1 else np.zeros(len(pulse), int)]
        rates -= _along(_sensor_velocities(path, columns["time"], origins), fired.directions[pulse])
    for number, motion in movers.items():
        rows = np.flatnonzero(columns["object_id"] == number)
        if len(rows):
            positions, quaternions = path.at(columns["time"][rows])
            turn = Rotation.from_quat(quaternions)
            points = turn.apply(columns["true_xyz"][rows].astype(np.float64)) + positions
            towards = turn.apply(fired.directions[columns["pulse"][rows]].astype(np.float64))
            rates[rows] += _along(_carried(motion, columns["time"][rows], points), towards)
    return rates


def _sensor_velocities(
    path: Trajectory, times: NDArray[np.float64], origins: NDArray[np.float32]
) -> NDArray[np.float64]:
    """Velocities of points fixed to the sensor, in its own coordinates [m/s], shape (n, 3)."""
    first, last = float(times.min()), float(times.max())
    knots = np.linspace(first, last, max(2, int(np.ceil((last - first) / _KNOT)) + 1))
    before, after = (np.clip(knots + d, path.times[0], path.times[-1]) for d in (-_STEP, _STEP))
    (p0, q0), (p1, q1), (_, q) = path.at(before), path.at(after), path.at(knots)
    span = np.maximum(after - before, 1e-12)[:, None]
    home = Rotation.from_quat(q).inv()
    velocity = home.apply((p1 - p0) / span)
    spin = home.apply((Rotation.from_quat(q1) * Rotation.from_quat(q0).inv()).as_rotvec() / span)
    at = np.stack([np.interp(times, knots, column) for column in velocity.T], 1)
    if origins.any():
        at = at + np.cross(np.stack([np.interp(times, knots, column) for column in spin.T], 1), origins)
    return at


def _carried(motion: Trajectory, times: NDArray[np.float64], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Velocities of points [m], each fixed to a moving object at its own time [s]; shape (n, 3), world."""
    before, after = (np.clip(times + d, motion.times[0], motion.times[-1]) for d in (-_STEP, _STEP))
    positions, quaternions = motion.at(times)
    fixed = Rotation.from_quat(quaternions).inv().apply(points - positions)
    (p0, q0), (p1, q1) = motion.at(before), motion.at(after)
    moved = Rotation.from_quat(q1).apply(fixed) + p1 - Rotation.from_quat(q0).apply(fixed) - p0
    return moved / np.maximum(after - before, 1e-12)[:, None]


def _along(vectors: NDArray[np.float64], directions: NDArray[Any]) -> NDArray[np.float32]:
    return np.einsum("ni,ni->n", vectors, directions).astype(np.float32)
