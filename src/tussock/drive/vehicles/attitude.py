"""Attitudes of a body from yaw, pitch (nose down positive) and roll (left side up positive), in plain arithmetic.

The body is turned about z, then about its own y, then about its own x. The loop asks for these a few times a step, for
a handful of moments; general rotation classes cost more than the whole step there.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.arrays import FloatArray

__all__ = ["matrices", "quaternions", "rates_between", "times"]


def quaternions(yaw: Any, pitch: Any, roll: Any) -> FloatArray:
    """Unit quaternions (x, y, z, w) of angles [rad] (n,); shape (n, 4)."""
    half = 0.5 * np.stack(np.broadcast_arrays(yaw, pitch, roll)).astype(np.float64)
    (cy, cp, cr), (sy, sp, sr) = np.cos(half), np.sin(half)
    return np.stack(
        [
            cy * cp * sr - sy * sp * cr,
            cy * sp * cr + sy * cp * sr,
            sy * cp * cr - cy * sp * sr,
            cy * cp * cr + sy * sp * sr,
        ],
        -1,
    )


def matrices(yaw: Any, pitch: Any, roll: Any) -> FloatArray:
    """Rotation matrices of angles [rad] (n,); shape (n, 3, 3), columns are the body's axes in the world."""
    angles = np.stack(np.broadcast_arrays(yaw, pitch, roll)).astype(np.float64)
    (cy, cp, cr), (sy, sp, sr) = np.cos(angles), np.sin(angles)
    rows = (
        np.stack([cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr], -1),
        np.stack([sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr], -1),
        np.stack([-sp, cp * sr, cp * cr], -1),
    )
    return np.stack(rows, -2)


def times(a: FloatArray, b: FloatArray) -> FloatArray:
    """Products a·b of quaternions (n, 4) and (n, 4) or (4,)."""
    ax, ay, az, aw = np.moveaxis(a, -1, 0)
    bx, by, bz, bw = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
            aw * bw - ax * bx - ay * by - az * bz,
        ],
        -1,
    )


def rates_between(turns: FloatArray, dt: float) -> FloatArray:
    """Turn rates [rad/s] in the body's axes between quaternions (n, 4) that are ``dt`` [s] apart; shape (n − 1, 3)."""
    back = turns[:-1] * np.array([-1.0, -1.0, -1.0, 1.0])
    step = times(back, turns[1:])
    step = np.where(step[:, 3:] < 0, -step, step)
    sine = np.linalg.norm(step[:, :3], axis=1, keepdims=True)
    angle = 2 * np.arctan2(sine, step[:, 3:])
    return step[:, :3] * np.where(sine > 1e-12, angle / np.maximum(sine, 1e-12), 2.0) / dt
