"""What the small sensors say during one step of the loop."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tussock.arrays import FloatArray

__all__ = ["CompassReadings", "GpsFixes", "ImuReadings", "OdometryReadings", "Readings", "sample_times"]


class GpsFixes(NamedTuple):
    times: FloatArray
    """[s], shape (n,)"""
    positions: FloatArray
    """[m] of the antenna in the scene's coordinates (x east, y north, z up), shape (n, 3)"""
    velocities: FloatArray
    """[m/s] over the ground, shape (n, 2)"""


class CompassReadings(NamedTuple):
    times: FloatArray
    angles: FloatArray
    """[rad] yaw (counter-clockwise from x, −π to π), pitch (nose down), roll (left side up), shape (n, 3)"""


class OdometryReadings(NamedTuple):
    times: FloatArray
    speeds: FloatArray
    """[m/s] as the wheels turn, shape (n,)"""
    turn_rates: FloatArray
    """[rad/s], left positive, shape (n,)"""


class ImuReadings(NamedTuple):
    times: FloatArray
    forces: FloatArray
    """[m/s²] specific force in the body's axes, +9.81 along z at rest, shape (n, 3)"""
    rates: FloatArray
    """[rad/s] in the body's axes, shape (n, 3)"""


class Readings(NamedTuple):
    """All of one step; any of them may have none in it."""

    gps: GpsFixes
    compass: CompassReadings
    odometry: OdometryReadings
    imu: ImuReadings


def sample_times(rate_hz: float, start: float, end: float) -> tuple[int, FloatArray]:
    """The number of the first reading in [start, end) and the times [s] of all of them, shape (n,)."""
    first, last = (int(np.ceil(time * rate_hz - 1e-6)) for time in (start, end))
    return first, np.arange(first, last) / rate_hz
