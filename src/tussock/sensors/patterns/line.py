"""Line scanners: fixed emitters shine on a turning mirror (Ibeo LUX, SICK LMS, Hokuyo).

The mirror turns about z and is tilted by 45°: at mirror yaw α its normal is n = (cos α, sin α, −1)/√2. The
emitters sit below it and look up; emitter j leans by its pitch ε out of the axis, towards x:
d = (sin ε, 0, cos ε). The reflected beam d' = d − 2 (d·n) n is

    d' = (sin ε sin²α + cos ε cos α,  sin α (cos ε − sin ε cos α),  sin ε cos α)

At α = 0 the beam has yaw 0 and pitch ε: the fan is as the emitters made it. At α = 90° every pitch is 0 and the
yaw is 90° − ε: all pitch spacing has become yaw spacing. In between the two mix (BlenSor, section 3.3 and
figure 3). A single emitter with ε = 0 scans the flat line α.

One revolution of the mirror is one scan. With ``interlace`` r, a frame is r scans, each shifted by one step, so
that together they have the step ``resolution_deg`` and each alone r times that (SICK LMS-291).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tussock.quantities import Positive
from tussock.sensors.patterns.pattern import Degrees, Elevations, TurningPattern, pulses_from_directions
from tussock.sensors.pulses import Pulses

__all__ = ["LinePattern", "reflected"]


class LinePattern(TurningPattern):
    """A turning mirror; all emitters fire together at each step of it.

    >>> pattern = tussock.LinePattern(first_deg=-90, last_deg=90, resolution_deg=1.0, rotation_hz=75)
    >>> len(pattern.pulses(0))
    181
    """

    kind: Literal["line"] = "line"
    emitter_pitch_deg: Elevations = (0.0,)
    first_deg: Degrees
    """mirror yaw of the first step, counter-clockwise from x"""
    last_deg: Degrees
    resolution_deg: Positive
    """between neighbouring steps of a frame"""
    interlace: Annotated[int, Field(ge=1, le=16)] = 1
    """scans that make a frame"""
    clockwise: bool = False

    @model_validator(mode="after")
    def _window(self) -> Self:
        width = self.last_deg - self.first_deg
        if not 0 < width < 360:
            raise ValueError("last_deg must lie above first_deg, by less than a whole turn")
        if width / self.resolution_deg < self.interlace - 1 + 1e-9:
            raise ValueError("resolution_deg must give every scan of a frame at least one step")
        return self

    @property
    def frame_period(self) -> float:
        return self.interlace / self.rotation_hz

    @property
    def lasers(self) -> int:
        return len(self.emitter_pitch_deg)

    def pulses(self, frame: int) -> Pulses:
        return _frame(self)


@lru_cache(maxsize=16)
def _frame(pattern: LinePattern) -> Pulses:
    # The tolerance keeps the last step of 100° / 0.1° and the like, which binary fractions would lose.
    steps = int((pattern.last_deg - pattern.first_deg) / pattern.resolution_deg + 1e-9) + 1
    step = np.concatenate([np.arange(scan, steps, pattern.interlace) for scan in range(pattern.interlace)])
    scan = step % pattern.interlace
    turned = step * pattern.resolution_deg
    yaw = np.deg2rad(pattern.last_deg - turned if pattern.clockwise else pattern.first_deg + turned)
    offset = (scan + turned / 360) / pattern.rotation_hz
    count = pattern.lasers
    directions = reflected(yaw[:, None], np.deg2rad(pattern.emitter_pitch_deg)[None, :])
    return pulses_from_directions(
        directions.reshape(-1, 3), np.repeat(offset, count), np.tile(np.arange(count), len(step))
    )


def reflected(yaw: NDArray[np.float64], pitch: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unit vectors of emitter rays of ``pitch`` after a mirror at ``yaw`` [rad], shape (…, 3)."""
    yaw, pitch = np.broadcast_arrays(yaw, pitch)
    ray = np.stack([np.sin(pitch), np.zeros_like(pitch), np.cos(pitch)], -1)
    normal = np.stack([np.cos(yaw), np.sin(yaw), -np.ones_like(yaw)], -1) / np.sqrt(2)
    return ray - 2 * np.sum(ray * normal, -1, keepdims=True) * normal
