"""Where the vehicle believes to be: GPS says the place, the compass the attitude, the wheels what lies in between.

A fix is taken as it is and moved on to the end of the step by the wheels' speed along the heading. Heading, pitch and
roll are the means of the compass's readings of the step, the heading turned by the wheels' turn rate to each moment.
Height is not estimated: points are registered relative to the ground under the wheels.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tussock.drive.sensing.gps import Gps
from tussock.drive.sensing.readings import Readings

__all__ = ["Estimate", "Estimator"]


class Estimate(NamedTuple):
    """The believed pose at ``time`` and how it got there."""

    time: float
    """[s] end of the step"""
    x: float
    y: float
    """[m]"""
    yaw: float
    pitch: float
    roll: float
    """[rad]"""
    speed: float
    """[m/s] mean of the step"""
    turn_rate: float
    """[rad/s]"""


class Estimator:
    """Keeps the estimate from step to step; it starts where the vehicle was put."""

    def __init__(self, gps: Gps, x: float, y: float, yaw: float) -> None:
        self._antenna = gps.antenna_m
        self._last = Estimate(0.0, x, y, yaw, 0.0, 0.0, 0.0, 0.0)

    def update(self, readings: Readings, end: float) -> Estimate:
        """The estimate at the ``end`` [s] of a step from what was read during it."""
        last, (gps, compass, odometry, _) = self._last, readings
        speed = float(odometry.speeds.mean()) if len(odometry.times) else last.speed
        turn = float(odometry.turn_rates.mean()) if len(odometry.times) else last.turn_rate
        yaw = last.yaw + turn * (end - last.time)
        pitch, roll = last.pitch, last.roll
        if len(compass.times):
            # Each reading turned on to the end of the step; a mean of directions, so that ±180° are one.
            headings = compass.angles[:, 0] + turn * (end - compass.times)
            yaw = float(np.arctan2(np.sin(headings).mean(), np.cos(headings).mean()))
            pitch, roll = (float(mean) for mean in compass.angles[:, 1:].mean(0))
        if len(gps.times):
            x, y = self._of_antenna(gps.positions[-1], yaw, pitch, roll)
            since = end - float(gps.times[-1])
        else:
            x, y, since = last.x, last.y, end - last.time
        middle = yaw - 0.5 * turn * since
        ahead = speed * np.cos(pitch) * since
        self._last = Estimate(
            end, x + ahead * float(np.cos(middle)), y + ahead * float(np.sin(middle)), yaw, pitch, roll, speed, turn
        )
        return self._last

    def _of_antenna(self, antenna: np.ndarray, yaw: float, pitch: float, roll: float) -> tuple[float, float]:
        """Where on the map the body's origin is when its antenna is there: a leaning mast is beside it."""
        dx, dy, dz = self._antenna
        lean = dz * np.sin(pitch) + dx * np.cos(pitch)
        side = dy * np.cos(roll) - dz * np.sin(roll)
        c, s = np.cos(yaw), np.sin(yaw)
        return float(antenna[0] - lean * c + side * s), float(antenna[1] - lean * s - side * c)
