"""A compass that also knows its tilt: yaw, pitch and roll, each with its error.

A magnetic compass is disturbed by iron nearby, which turns with the vehicle or stays with the place; here all of that
is a drift around the true heading.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from tussock.drive.sensing.errors import Errors, ErrorSettings
from tussock.drive.sensing.readings import CompassReadings, sample_times
from tussock.drive.vehicles.body import Driven
from tussock.randomness import Purpose
from tussock.settings import Settings

__all__ = ["Compass", "CompassAtWork"]


class Compass(Settings):
    name: str = "compass"
    description: str = ""
    rate_hz: Annotated[float, Field(gt=0.0, le=1000.0)] = 50.0
    heading_deg: ErrorSettings = ErrorSettings()
    tilt_deg: ErrorSettings = ErrorSettings()
    """of pitch and of roll"""
    sources: dict[str, str] = Field(default_factory=dict)


class CompassAtWork:
    def __init__(self, compass: Compass, *, seed: int) -> None:
        self.compass = compass
        dt = 1 / compass.rate_hz
        self._heading = Errors(compass.heading_deg, dt, axes=1, seed=seed, purpose=Purpose.COMPASS, stream=0)
        self._tilt = Errors(compass.tilt_deg, dt, axes=2, seed=seed, purpose=Purpose.COMPASS, stream=1)

    def read(self, driven: Driven) -> CompassReadings:
        """The readings of one step."""
        _, times = sample_times(self.compass.rate_hz, float(driven.times[0]), float(driven.times[-1]))
        truth = np.stack([np.interp(times, driven.times, driven.column(name)) for name in ("yaw", "pitch", "roll")], 1)
        errors = np.concatenate([self._heading.take(len(times)), self._tilt.take(len(times))], 1)
        angles = truth + np.deg2rad(errors)
        angles[:, 0] = (angles[:, 0] + np.pi) % (2 * np.pi) - np.pi
        return CompassReadings(times, angles)
