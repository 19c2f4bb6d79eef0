"""Wheel odometry: how fast the wheels turn, which is not how fast the vehicle moves where they slip."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from tussock.drive.sensing.errors import Errors, ErrorSettings
from tussock.drive.sensing.readings import OdometryReadings, sample_times
from tussock.drive.vehicles.body import Driven
from tussock.randomness import Purpose, normal_array
from tussock.settings import Settings

__all__ = ["Odometer", "Odometry"]


class Odometry(Settings):
    name: str = "odometry"
    description: str = ""
    rate_hz: Annotated[float, Field(gt=0.0, le=1000.0)] = 50.0
    scale_error: Annotated[float, Field(ge=0.0, lt=0.5)] = 0.0
    """standard deviation of the wheels' size against the one believed: one draw a run"""
    turn_scale_error: Annotated[float, Field(ge=0.0, lt=0.5)] = 0.0
    """the same of the effective track"""
    speed_m_s: ErrorSettings = ErrorSettings()
    turn_rate_deg_s: ErrorSettings = ErrorSettings()
    sources: dict[str, str] = Field(default_factory=dict)


class Odometer:
    def __init__(self, odometry: Odometry, *, seed: int) -> None:
        self.odometry = odometry
        dt = 1 / odometry.rate_hz
        draws = normal_array(seed, Purpose.ODOMETRY, 1 << 16, np.arange(2)).astype(float)
        self._scale = 1 + odometry.scale_error * float(draws[0])
        self._turn_scale = 1 + odometry.turn_scale_error * float(draws[1])
        self._speed = Errors(odometry.speed_m_s, dt, axes=1, seed=seed, purpose=Purpose.ODOMETRY, stream=0)
        self._turn = Errors(odometry.turn_rate_deg_s, dt, axes=1, seed=seed, purpose=Purpose.ODOMETRY, stream=1)

    def read(self, driven: Driven) -> OdometryReadings:
        """The readings of one step. Wheels that stand say so: they have no noise."""
        _, times = sample_times(self.odometry.rate_hz, float(driven.times[0]), float(driven.times[-1]))
        speed, rate = (np.interp(times, driven.times, driven.column(name)) for name in ("wheel_speed", "turn_rate"))
        speed_error, rate_error = self._speed.take(len(times))[:, 0], self._turn.take(len(times))[:, 0]
        turning = (np.abs(speed) > 0) | (np.abs(rate) > 0)
        return OdometryReadings(
            times,
            np.where(turning, self._scale * speed + speed_error, 0.0),
            np.where(turning, self._turn_scale * rate + np.deg2rad(rate_error), 0.0),
        )
