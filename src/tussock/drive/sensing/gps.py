"""GPS: fixes at its rate, with white and drifting error; x is east and y north of the scene's origin."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from tussock.drive.sensing.errors import Errors, ErrorSettings
from tussock.drive.sensing.readings import GpsFixes, sample_times
from tussock.drive.vehicles.attitude import matrices
from tussock.drive.vehicles.body import Driven
from tussock.randomness import Purpose
from tussock.settings import Settings

__all__ = ["Gps", "GpsReceiver"]


class Gps(Settings):
    """A receiver and its antenna."""

    name: str = "gps"
    description: str = ""
    rate_hz: Annotated[float, Field(gt=0.0, le=1000.0)] = 10.0
    horizontal_m: ErrorSettings = ErrorSettings()
    vertical_m: ErrorSettings = ErrorSettings()
    velocity_m_s: ErrorSettings = ErrorSettings()
    antenna_m: tuple[float, float, float] = (0.0, 0.0, 2.0)
    """where on the body"""
    quality: Literal[1, 2, 4, 5] = 1
    """what NMEA sentences say of a fix: 1 plain, 2 with corrections (DGPS, SBAS), 4 RTK fixed, 5 RTK float"""
    sources: dict[str, str] = Field(default_factory=dict)


class GpsReceiver:
    """A receiver at work."""

    def __init__(self, gps: Gps, *, seed: int) -> None:
        self.gps = gps
        dt = 1 / gps.rate_hz
        self._level = Errors(gps.horizontal_m, dt, axes=2, seed=seed, purpose=Purpose.GPS, stream=0)
        self._high = Errors(gps.vertical_m, dt, axes=1, seed=seed, purpose=Purpose.GPS, stream=1)
        self._speed = Errors(gps.velocity_m_s, dt, axes=2, seed=seed, purpose=Purpose.GPS, stream=2)

    def read(self, driven: Driven) -> GpsFixes:
        """The fixes of one step."""
        start, end = float(driven.times[0]), float(driven.times[-1])
        _, times = sample_times(self.gps.rate_hz, start, end)
        count = len(times)
        if not count:
            return GpsFixes(times, np.empty((0, 3)), np.empty((0, 2)))
        rows = np.stack([np.interp(times, driven.times, driven.rows[:, k]) for k in range(7)])
        antenna = rows[:3].T + matrices(*rows[3:6]) @ np.array(self.gps.antenna_m)
        yaw, speed = rows[3], rows[6] * np.cos(rows[4])  # what is level of a way along the slope
        velocities = speed[:, None] * np.stack([np.cos(yaw), np.sin(yaw)], 1) + self._speed.take(count)
        errors = np.concatenate([self._level.take(count), self._high.take(count)], 1)
        return GpsFixes(times, antenna + errors, velocities)
