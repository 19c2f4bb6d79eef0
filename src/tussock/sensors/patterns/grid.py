"""A fixed grid of beams without moving parts to model: solid-state scanners, single beams, test set-ups.

Every elevation is a laser of its own and fires at every azimuth. The beams fire one after another at
``pulse_hz``, row by row or column by column in the order listed, or all at once where no rate is given.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from tussock.quantities import Positive
from tussock.sensors.patterns.pattern import DegreesList, Elevations, FramedPattern, pulses_from_angles
from tussock.sensors.pulses import Pulses

__all__ = ["GridPattern"]


class GridPattern(FramedPattern):
    """Azimuths times elevations, the same in every frame.

    >>> pattern = tussock.GridPattern(azimuth_deg=[-1, 0, 1], elevation_deg=[0, 1], frame_hz=10)
    >>> len(pattern.pulses(0))
    6
    """

    kind: Literal["grid"] = "grid"
    azimuth_deg: Annotated[DegreesList, Field(min_length=1, max_length=65535)]
    """counter-clockwise from x, in firing order"""
    elevation_deg: Elevations
    order: Literal["rows", "columns"] = "rows"
    """rows: all azimuths of an elevation, then the next elevation; columns: the other way round"""
    pulse_hz: Positive | None = None

    @model_validator(mode="after")
    def _fits_a_frame(self) -> Self:
        count = len(self.azimuth_deg) * len(self.elevation_deg)
        if self.pulse_hz and count / self.pulse_hz > (1 + 1e-9) / self.frame_hz:
            raise ValueError(f"pulse_hz is too slow for {count} pulses {self.frame_hz:g} times a second")
        return self

    @property
    def lasers(self) -> int:
        return len(self.elevation_deg)

    def pulses(self, frame: int) -> Pulses:
        return _grid(self)


@lru_cache(maxsize=8)
def _grid(pattern: GridPattern) -> Pulses:
    azimuth, elevation = np.deg2rad(pattern.azimuth_deg), np.deg2rad(pattern.elevation_deg)
    laser = np.arange(len(elevation))
    if pattern.order == "rows":
        lasers = np.repeat(laser, len(azimuth))
        azimuths = np.tile(azimuth, len(laser))
    else:
        lasers = np.tile(laser, len(azimuth))
        azimuths = np.repeat(azimuth, len(laser))
    offsets = np.arange(len(lasers)) / pattern.pulse_hz if pattern.pulse_hz else np.zeros(len(lasers))
    return pulses_from_angles(azimuths, elevation[lasers], offsets, lasers)
