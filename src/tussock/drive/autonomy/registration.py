"""Registration: a frame's points brought into the map by the estimate of GPS and compass.

Each point is moved by where the vehicle is believed to have been when its pulse was fired. Heights come out relative to
the ground under the wheels: what is level with it is at 0, wherever the vehicle stands. Places are float64: those of a
national grid lie millions of metres from its zero, where float32 has steps of half a metre.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.arrays import FloatArray
from tussock.drive.autonomy.estimate import Estimate
from tussock.drive.vehicles.attitude import matrices
from tussock.frames.frame import Frame
from tussock.kernels import kernel
from tussock.poses import Pose

__all__ = ["register"]

_STEPS = 16
"""poses that a frame's time is cut into; between them points move straight on"""


def register(frame: Frame, estimate: Estimate, mount: Pose) -> FloatArray:
    """Points on the map [m], shape (n, 3): x and y as in the scene, z above the ground under the wheels.

    ``estimate`` is that of the frame's end, ``mount`` is ``T_body_sensor``.
    """
    hit = frame.hit
    xyz, times = (frame.xyz, frame.time) if hit.all() else (frame.xyz[hit], frame.time[hit])
    start = float(frame.meta["start_s"])
    period = max(estimate.time - start, 1e-9)
    back = period * (1 - np.arange(_STEPS + 1) / _STEPS)  # [s] before the estimate
    yaws = estimate.yaw - estimate.turn_rate * back
    turns = matrices(yaws, estimate.pitch, estimate.roll)
    middle = 0.5 * (yaws + estimate.yaw)
    table = np.zeros((len(back), 3, 4))
    table[:, :, :3] = turns @ mount.rotation
    table[:, :, 3] = turns @ mount.position
    ahead = estimate.speed * np.cos(estimate.pitch) * back
    table[:, 0, 3] += estimate.x - ahead * np.cos(middle)
    table[:, 1, 3] += estimate.y - ahead * np.sin(middle)
    out = np.empty((len(xyz), 3))
    _place(xyz, times, start, period / _STEPS, table, out)
    return out


@kernel
def _place(xyz: Any, times: Any, start: float, step: float, table: Any, out: Any) -> None:
    last = len(table) - 2
    for k in range(len(xyz)):
        p = (times[k] - start) / step
        i = min(max(int(p), 0), last)
        u = p - i
        x, y, z = xyz[k, 0], xyz[k, 1], xyz[k, 2]
        for a in range(3):
            m, n = table[i, a], table[i + 1, a]
            before = m[0] * x + m[1] * y + m[2] * z + m[3]
            after = n[0] * x + n[1] * y + n[2] * z + n[3]
            out[k, a] = before + u * (after - before)
