"""A head of many lasers that turns about z: Velodyne, Ouster and the like.

All lasers fire once in a firing cycle, each at its own moment. The cycles form one endless stream: cycle c
starts at c·cycle_us, whatever the rotation does. Frame k owns the cycles that start in revolution k, so
neither a cut in time nor the choice of the first frame changes a pulse. At time t the head looks at

    azimuth = start_deg ∓ 2π · rotation_hz · t      (− for a head that turns clockwise seen from above)

and laser j, which fires ``firing_us[j]`` into the cycle, has turned on by that much more. Its direction is
Rz(azimuth of the cycle) · Rz(turn while waiting + azimuth_deg[j]) · (cos ε, 0, sin ε).

Offsets follow the calibration files of the HDL-64E: a laser starts ``vertical_offset_m`` away from the axis
of rotation at right angles to its beam (upwards for a level beam), and ``horizontal_offset_m`` to its left.
All lasers start ``head_offset_m`` ahead of the axis, in the direction of the head (not of the beam), and
``head_height_m`` above the sensor's origin, as Ouster states its sensors.

The rotation is perfectly even: the wander of a real motor (about ±1 %) is left out.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationInfo, field_validator, model_validator

from tussock.kernels import kernel
from tussock.quantities import Positive
from tussock.sensors.patterns.pattern import (
    Degrees,
    DegreesList,
    Elevations,
    FiniteList,
    TurningPattern,
    decimal,
    per_laser,
)
from tussock.sensors.pulses import Pulses

__all__ = ["SpinningPattern"]

TURN = 2 * np.pi


class SpinningPattern(TurningPattern):
    """Lasers on a turning head. Give ``cycle_us`` (fixed rate) or ``steps`` (fixed angles), not both."""

    kind: Literal["spinning"] = "spinning"
    elevation_deg: Elevations
    """one value a laser, in laser order"""
    azimuth_deg: DegreesList = ()
    """how far each laser looks to the left of the head's azimuth; empty: straight ahead"""
    vertical_offset_m: FiniteList = ()
    horizontal_offset_m: FiniteList = ()
    head_offset_m: float = 0.0
    """how far ahead of the axis all lasers start, where the head looks [m]"""
    head_height_m: float = 0.0
    """how far above the sensor's origin they start [m]"""
    start_deg: Degrees = 0.0
    """where the head looks at time 0, counter-clockwise from x"""
    firing_us: FiniteList = ()
    """when each laser fires, counted from the start of the cycle; empty: all at once"""
    cycle_us: Positive | None = None
    """time from one firing cycle to the next"""
    steps: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """firing cycles in a revolution, at any rotation rate"""
    clockwise: bool = True
    """seen from above"""

    @field_validator("azimuth_deg", "vertical_offset_m", "horizontal_offset_m", "firing_us")
    @classmethod
    def _one_a_laser(cls, values: tuple[float, ...], info: ValidationInfo) -> tuple[float, ...]:
        lasers = len(info.data.get("elevation_deg", values))
        return per_laser(values, lasers, str(info.field_name)) if values else values

    @model_validator(mode="after")
    def _timing(self) -> Self:
        if (self.cycle_us is None) == (self.steps is None):
            raise ValueError("needs either cycle_us or steps, and only one of them")
        if self.firing_us:
            cycle = float(self.cycle * 1_000_000)
            if min(self.firing_us) < 0 or max(self.firing_us) >= cycle:
                raise ValueError(f"firing_us must lie within 0 and the cycle of {cycle:g} µs")
        if self.cycles_per_revolution < 1:
            raise ValueError("cycle_us must not be longer than a revolution")
        return self

    @property
    def cycle(self) -> Fraction:
        """[s] from one firing cycle to the next."""
        if self.cycle_us is not None:
            return decimal(self.cycle_us) / 1_000_000
        assert self.steps is not None
        return 1 / (decimal(self.rotation_hz) * self.steps)

    @property
    def cycles_per_revolution(self) -> Fraction:
        return 1 / (decimal(self.rotation_hz) * self.cycle)

    @property
    def lasers(self) -> int:
        return len(self.elevation_deg)

    @property
    def repeats(self) -> bool:
        """Whether every revolution holds the same pulses: a whole number of cycles."""
        return self.cycles_per_revolution.denominator == 1

    def cycles(self, frame: int) -> range:
        """The cycles that start in revolution ``frame``, as numbers in the endless stream."""
        ratio = self.cycles_per_revolution
        return range(ceil(frame * ratio), ceil((frame + 1) * ratio))

    def pulses(self, frame: int) -> Pulses:
        return _revolution(self, 0 if self.repeats else frame)


@lru_cache(maxsize=8)
def _revolution(pattern: SpinningPattern, frame: int) -> Pulses:
    cycles = pattern.cycles(frame)
    # Exact: in float64 the start of a late cycle would wander, and with it the cut between frames.
    start = float(cycles.start * pattern.cycle - frame / decimal(pattern.rotation_hz))
    count = len(cycles) * pattern.lasers
    laser = _laser_table(pattern)
    has_origin = bool(np.any(laser["origin"]))
    directions = np.empty((count, 3), np.float32)
    origins = np.empty((count if has_origin else 0, 3), np.float32)
    offsets, lasers = np.empty(count), np.empty(count, np.uint16)
    azimuths, elevations = np.empty(count, np.float32), np.empty(count, np.float32)
    turn = TURN * pattern.rotation_hz * (-1.0 if pattern.clockwise else 1.0)
    _fire(
        start,
        float(pattern.cycle),
        turn,
        np.deg2rad(pattern.start_deg),
        laser["number"],
        laser["firing"],
        laser["azimuth"],
        laser["elevation"],
        laser["direction"],
        laser["origin"],
        directions,
        origins,
        offsets,
        lasers,
        azimuths,
        elevations,
    )
    return Pulses(
        directions=directions,
        origins=origins if has_origin else None,
        offsets=offsets,
        lasers=lasers,
        azimuths=azimuths,
        elevations=elevations,
    )


def _laser_table(pattern: SpinningPattern) -> dict[str, NDArray]:
    """The lasers in firing order, seen with the head at azimuth 0 at the start of a cycle.

    direction, origin: shape (lasers, 3); the rest: shape (lasers,); seconds, radians and metres.
    """
    count = pattern.lasers
    firing = np.array(per_laser(pattern.firing_us, count, "firing_us")) * 1e-6
    order = np.argsort(firing, kind="stable").astype(np.uint16)
    firing = firing[order]
    turn = TURN * pattern.rotation_hz * (-1.0 if pattern.clockwise else 1.0)
    waiting = turn * firing
    azimuth = np.deg2rad(per_laser(pattern.azimuth_deg, count, "azimuth_deg"))[order] + waiting
    azimuth -= TURN * np.rint(azimuth / TURN)
    elevation = np.deg2rad(pattern.elevation_deg)[order]
    up = np.array(per_laser(pattern.vertical_offset_m, count, "vertical_offset_m"))[order]
    left = np.array(per_laser(pattern.horizontal_offset_m, count, "horizontal_offset_m"))[order]
    c, s, level, height = np.cos(azimuth), np.sin(azimuth), np.cos(elevation), np.sin(elevation)
    ahead, above = pattern.head_offset_m, pattern.head_height_m
    origin = [
        -up * height * c - left * s + ahead * np.cos(waiting),
        -up * height * s + left * c + ahead * np.sin(waiting),
        up * level + above,
    ]
    return {
        "number": order,
        "firing": firing,
        "azimuth": azimuth,
        "elevation": elevation,
        "direction": np.stack([level * c, level * s, height], 1),
        "origin": np.stack(origin, 1),
    }


@kernel
def _fire(
    start: float,
    cycle: float,
    turn: float,
    begin: float,
    number: NDArray,
    firing: NDArray,
    azimuth: NDArray,
    elevation: NDArray,
    direction: NDArray,
    origin: NDArray,
    directions: NDArray,
    origins: NDArray,
    offsets: NDArray,
    lasers: NDArray,
    azimuths: NDArray,
    elevations: NDArray,
) -> None:
    """Fill the pulses of one revolution: one sine and cosine a cycle, one small rotation a pulse."""
    count = len(number)
    has_origin = len(origins) > 0
    for c in range(len(lasers) // count):
        time = start + c * cycle
        head = begin + turn * time
        head -= TURN * np.rint(head / TURN)
        cosine, sine = np.cos(head), np.sin(head)
        for j in range(count):
            i = c * count + j
            x, y = direction[j, 0], direction[j, 1]
            directions[i, 0] = cosine * x - sine * y
            directions[i, 1] = sine * x + cosine * y
            directions[i, 2] = direction[j, 2]
            if has_origin:
                x, y = origin[j, 0], origin[j, 1]
                origins[i, 0] = cosine * x - sine * y
                origins[i, 1] = sine * x + cosine * y
                origins[i, 2] = origin[j, 2]
            offsets[i] = time + firing[j]
            lasers[i] = number[j]
            angle = head + azimuth[j]
            azimuths[i] = angle - TURN if angle > np.pi else (angle + TURN if angle < -np.pi else angle)
            elevations[i] = elevation[j]
