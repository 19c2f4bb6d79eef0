"""Two even motions at rates that have no common measure, so that a scan does not repeat: Livox Mid-360 and Horizon.

The beam turns about z, or swings to and fro between two azimuths, and at the same time swings between two elevations:

    azimuth = a₀ + 2π f_a t,  or  a_mid + a_half · sin 2π f_a t          elevation = e_mid + e_half · sin 2π f_e t

Several emitters look a little above or below each other and fire in turn, one pulse each. The outermost of them reach
the limits. How Livox drives its optics is not published; this is the form that its manuals draw, with rates of ours.
Where a table of the real directions is at hand, use a pattern of the kind ``table``.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from tussock.quantities import Positive
from tussock.sensors.patterns.pattern import Degrees, decimal, pulses_from_angles
from tussock.sensors.patterns.stream import StreamPattern, cut_of, phases
from tussock.sensors.pulses import Pulses

__all__ = ["SweepPattern"]

_Pair = Annotated[tuple[Degrees, Degrees], Field(min_length=2, max_length=2)]


class SweepPattern(StreamPattern):
    """Emitters that sweep azimuth and elevation at once.

    >>> isinstance(tussock.load_sensor("livox-mid-360").pattern, tussock.SweepPattern)
    True
    """

    kind: Literal["sweep"] = "sweep"
    azimuth_deg: _Pair
    """limits, counter-clockwise from x; a whole turn apart: the beam turns, counter-clockwise from the first"""
    azimuth_hz: Positive
    """turns, or swings to and fro, a second"""
    elevation_deg: _Pair
    """limits"""
    elevation_hz: Positive
    """swings up and down a second"""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        if not 0 < self.azimuth_deg[1] - self.azimuth_deg[0] <= 360:
            raise ValueError("azimuth_deg must rise from the first limit to the second, by at most a turn")
        low, high = self.elevation_deg
        if not -90 <= low < high <= 90:
            raise ValueError("elevation_deg must rise from the first limit to the second, within -90 and 90")
        if max(self.emitter_pitch_deg) - min(self.emitter_pitch_deg) > high - low:
            raise ValueError("emitter_pitch_deg must not be wider than the limits of elevation_deg")
        return self

    def pulses(self, frame: int) -> Pulses:
        return _frame(self, frame)


@lru_cache(maxsize=8)
def _frame(pattern: SweepPattern, frame: int) -> Pulses:
    cut = cut_of(pattern, frame)
    across, up = (phases(pattern, decimal(rate), cut.numbers) for rate in (pattern.azimuth_hz, pattern.elevation_hz))
    left, right = np.deg2rad(pattern.azimuth_deg)
    turns = pattern.azimuth_deg[1] - pattern.azimuth_deg[0] >= 360
    azimuth = left + across if turns else (left + right) / 2 + (right - left) / 2 * np.sin(across)
    pitch = np.deg2rad(pattern.emitter_pitch_deg)
    low, high = np.deg2rad(pattern.elevation_deg)
    low, high = low - pitch.min(), high - pitch.max()
    elevation = (low + high) / 2 + (high - low) / 2 * np.sin(up) + pitch[cut.lasers]
    return pulses_from_angles(azimuth, elevation, cut.offsets, cut.lasers)
