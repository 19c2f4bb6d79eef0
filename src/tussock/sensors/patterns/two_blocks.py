"""The HDL-64E as Goodin et al. (2018) simulate it: two blocks of lasers that take turns, 3 upper : 1 lower.

Section 3.5.2. The sensor measures ``points_hz`` points a second whatever its rotation rate ω. The lasers of one
block fire together, so with L = 32 lasers a block fires every L / points_hz = 32 µs. The upper block alone would
step by eq (7) and the lower one by eq (6):

    δ_upper = 360° / (N − 1),      N = points_hz / (L·ω)         (= 250000 / 8ω)
    δ_lower = 360° / (N/4 − 1)                                   (= 250000 / 32ω)

Every fourth firing of the upper block is discarded and the next one of the lower block takes its place. The −1
is theirs: the first and the last firing of a scan look the same way. Each scan starts anew straight ahead.

The paper's table 4 gives a vertical resolution of 0.41875°; its end angles, used here, are 0.4254° apart.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Literal, Self

import numpy as np
from pydantic import model_validator

from tussock.quantities import Positive
from tussock.sensors.patterns.pattern import Elevations, TurningPattern, decimal, pulses_from_angles
from tussock.sensors.pulses import Pulses

__all__ = ["TwoBlocksPattern"]


class TwoBlocksPattern(TurningPattern):
    """Upper and lower block in turns; lasers 0…L−1 are the upper block, L…2L−1 the lower.

    >>> isinstance(tussock.load_sensor("hdl-64e-mavs").pattern, tussock.TwoBlocksPattern)
    True
    """

    kind: Literal["two-blocks"] = "two-blocks"
    upper_elevation_deg: Elevations
    lower_elevation_deg: Elevations
    points_hz: Positive = 1_000_000.0
    """points a second of both blocks together"""
    clockwise: bool = True

    @model_validator(mode="after")
    def _equal_blocks(self) -> Self:
        if len(self.upper_elevation_deg) != len(self.lower_elevation_deg):
            raise ValueError("upper_elevation_deg and lower_elevation_deg must hold the same number of lasers")
        if self.firings_per_revolution < 8:
            raise ValueError("points_hz must allow at least 8 firings of a block in a revolution")
        return self

    @property
    def firings_per_revolution(self) -> Fraction:
        """N of eqs (6) and (7)."""
        return decimal(self.points_hz) / (len(self.upper_elevation_deg) * decimal(self.rotation_hz))

    @property
    def upper_step_deg(self) -> float:
        """eq (7)"""
        return float(360 / (self.firings_per_revolution - 1))

    @property
    def lower_step_deg(self) -> float:
        """eq (6)"""
        return float(360 / (self.firings_per_revolution / 4 - 1))

    @property
    def lasers(self) -> int:
        return 2 * len(self.upper_elevation_deg)

    def pulses(self, frame: int) -> Pulses:
        whole = self.firings_per_revolution.denominator == 1
        return _revolution(self, 0 if whole else frame)


@lru_cache(maxsize=8)
def _revolution(pattern: TwoBlocksPattern, frame: int) -> Pulses:
    ratio = pattern.firings_per_revolution
    first, stop = ceil(frame * ratio), ceil((frame + 1) * ratio)
    block = len(pattern.upper_elevation_deg)
    firing = np.arange(stop - first)
    lower = firing % 4 == 3
    step = np.where(lower, firing // 4 * pattern.lower_step_deg, firing * pattern.upper_step_deg)
    azimuth = np.deg2rad(step) * (-1.0 if pattern.clockwise else 1.0)
    between = block / pattern.points_hz
    start = float((first - frame * ratio) * block / decimal(pattern.points_hz))
    elevation = np.where(
        lower[:, None], np.deg2rad(pattern.lower_elevation_deg), np.deg2rad(pattern.upper_elevation_deg)
    )
    return pulses_from_angles(
        np.repeat(azimuth, block),
        elevation.ravel(),
        np.repeat(start + firing * between, block),
        (np.arange(block) + block * lower[:, None]).ravel(),
    )
