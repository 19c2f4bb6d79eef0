"""A head of many lasers that turns about z: Velodyne, Ouster and the like.

All lasers fire once in a firing cycle, each at its own moment. The cycles form one endless stream: cycle c
starts at c·cycle_us, whatever the rotation does. Frame k owns the cycles that start in revolution k, so
neither a cut in time nor the choice of the first frame changes a pulse. At time t the head looks at

    azimuth = start_deg ∓ 2π · rotation_hz · t      (− for a head that turns clockwise seen from above)

and laser j, which fires ``firing_us[j]`` into the cycle, has turned on by that much more. Its direction is
Rz(azimuth of the cycle) · Rz(turn while waiting + azimuth_deg[j]) · (cos ε, 0, sin ε).

Offsets follow the calibration files of the HDL-64E: a laser starts ``vertical_offset_m`` away from the axis
of rotation at right angles to its beam (upwards for a level beam), and ``horizontal_offset_m`` to its left.
Where the beams themselves cross the axis of rotation, each at its own height (the "vertical correction" of the VLP-16's
manual), laser j starts on the axis, ``axis_height_m[j]`` above the sensor's origin, and ranges are counted from there.
All lasers start ``head_offset_m`` ahead of the axis, in the direction of the head (not of the beam), and
``head_height_m`` above the sensor's origin, as Ouster states its sensors.

Where not all lasers fire in every cycle, or not in the same order, the cycles take turns (`Turn`): cycle c is of turn
c mod n.

The rotation is perfectly even: the wander of a real motor (about ±1 %) is left out.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil
from typing import Annotated, Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, ValidationInfo, field_validator, model_validator

from tussock.kernels import Array, kernel
from tussock.once import once_for_each
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
from tussock.settings import Settings

__all__ = ["SpinningPattern", "Turn"]

TURN = 2 * np.pi


class Turn(Settings):
    """The firings of one cycle, where the cycles take turns."""

    firing_us: FiniteList = ()
    """when each laser fires, counted from the start of the cycle; empty: all at once"""
    resting: tuple[Annotated[int, Field(ge=0)], ...] = ()
    """lasers that do not fire; their firing times do not matter"""


class SpinningPattern(TurningPattern):
    """Lasers on a turning head. Give ``cycle_us`` (fixed rate) or ``steps`` (fixed angles), not both.

    >>> pattern = tussock.SpinningPattern(elevation_deg=[-1, 0, 1], steps=360, rotation_hz=10)
    >>> len(pattern.pulses(0))
    1080
    """

    kind: Literal["spinning"] = "spinning"
    elevation_deg: Elevations
    """one value a laser, in laser order"""
    azimuth_deg: DegreesList = ()
    """how far each laser looks to the left of the head's azimuth; empty: straight ahead"""
    vertical_offset_m: FiniteList = ()
    horizontal_offset_m: FiniteList = ()
    axis_height_m: FiniteList = ()
    """how far above the sensor's origin each laser's beam leaves the axis of rotation [m]; empty: at the origin"""
    head_offset_m: float = 0.0
    """how far ahead of the axis all lasers start, where the head looks [m]"""
    head_height_m: float = 0.0
    """how far above the sensor's origin they start [m]"""
    start_deg: Degrees = 0.0
    """where the head looks at time 0, counter-clockwise from x"""
    firing_us: FiniteList = ()
    """when each laser fires, counted from the start of the cycle; empty: all at once"""
    turns: tuple[Turn, ...] = ()
    """where the cycles take turns: the firings of each in turn, instead of firing_us"""
    cycle_us: Positive | None = None
    """time from one firing cycle to the next"""
    steps: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """firing cycles in a revolution, at any rotation rate"""
    clockwise: bool = True
    """seen from above"""

    @field_validator("azimuth_deg", "vertical_offset_m", "horizontal_offset_m", "axis_height_m", "firing_us")
    @classmethod
    def _one_a_laser(cls, values: tuple[float, ...], info: ValidationInfo) -> tuple[float, ...]:
        lasers = len(info.data.get("elevation_deg", values))
        return per_laser(values, lasers, str(info.field_name)) if values else values

    @model_validator(mode="after")
    def _timing(self) -> Self:
        if (self.cycle_us is None) == (self.steps is None):
            raise ValueError("needs either cycle_us or steps, and only one of them")
        if self.turns and self.firing_us:
            raise ValueError("needs either firing_us or turns, and only one of them")
        cycle = float(self.cycle * 1_000_000)
        for turn in self.order:
            if any(laser >= self.lasers for laser in turn.resting) or len(set(turn.resting)) >= self.lasers:
                raise ValueError(f"turns: resting must be some of the lasers 0 to {self.lasers - 1}, and not all")
            times = [
                time
                for laser, time in enumerate(per_laser(turn.firing_us, self.lasers, "firing_us"))
                if laser not in turn.resting
            ]
            if min(times) < 0 or max(times) >= cycle:
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
    def order(self) -> tuple[Turn, ...]:
        """The firings of the cycles in turn: one turn where all cycles are alike."""
        return self.turns or (Turn(firing_us=self.firing_us),)

    @property
    def firings(self) -> tuple[int, ...]:
        """How many lasers fire in the cycles of each turn."""
        return tuple(self.lasers - len(set(turn.resting)) for turn in self.order)

    @property
    def repeats(self) -> bool:
        """Whether every revolution holds the same pulses: a whole number of all turns."""
        return _repeats(self)

    def cycles(self, frame: int) -> range:
        """The cycles that start in revolution ``frame``, as numbers in the endless stream."""
        ratio = self.cycles_per_revolution
        return range(ceil(frame * ratio), ceil((frame + 1) * ratio))

    def pulses(self, frame: int) -> Pulses:
        return _revolution(self, 0 if self.repeats else frame)

    def pulse_count(self, frame: int) -> int:
        cycles, turns = self.cycles(0 if self.repeats else frame), len(self.order)
        whole, rest = divmod(len(cycles), turns)
        return whole * sum(self.firings) + sum(self.firings[(cycles.start + n) % turns] for n in range(rest))


@once_for_each
def _repeats(pattern: SpinningPattern) -> bool:
    return (pattern.cycles_per_revolution / len(pattern.order)).denominator == 1


@lru_cache(maxsize=8)
def _revolution(pattern: SpinningPattern, frame: int) -> Pulses:
    cycles = pattern.cycles(frame)
    # Exact: in float64 the start of a late cycle would wander, and with it the cut between frames.
    start = float(cycles.start * pattern.cycle - frame / decimal(pattern.rotation_hz))
    table = _laser_table(pattern)
    phase = cycles.start % len(pattern.order)
    count = pattern.pulse_count(frame)
    out = _Fired(
        np.empty((count, 3), np.float32),
        np.empty((count if np.any(table.origin) else 0, 3), np.float32),
        np.empty(count),
        np.empty(count, np.uint16),
        np.empty(count, np.float32),
        np.empty(count, np.float32),
    )
    turn = TURN * pattern.rotation_hz * (-1.0 if pattern.clockwise else 1.0)
    head = _Head(start, float(pattern.cycle), turn, float(np.deg2rad(pattern.start_deg)), len(cycles), phase)
    _fire(head, table, out)
    return Pulses(
        directions=out.directions,
        origins=out.origins if len(out.origins) else None,
        offsets=out.offsets,
        lasers=out.lasers,
        azimuths=out.azimuths,
        elevations=out.elevations,
    )


class _Head(NamedTuple):
    """How the head turns through the cycles of one revolution."""

    start: float
    """[s] of the first cycle"""
    cycle: float
    """[s]"""
    turn: float
    """[rad/s]"""
    begin: float
    """[rad] at time 0"""
    cycles: int
    phase: int
    """turn of the first cycle"""


class _Lasers(NamedTuple):
    """The lasers of all turns in firing order, seen with the head at azimuth 0 at the start of a cycle."""

    first: NDArray[np.int64]
    """where the lasers of each turn begin, and the end, shape (turns + 1,)"""
    number: NDArray[np.uint16]
    firing: NDArray[np.float64]
    """[s], as all times; angles in radians, lengths in metres"""
    azimuth: NDArray[np.float64]
    elevation: NDArray[np.float64]
    direction: NDArray[np.float64]
    """shape (n, 3)"""
    origin: NDArray[np.float64]
    """shape (n, 3)"""


class _Fired(NamedTuple):
    """The columns of `Pulses`, to be filled."""

    directions: Array
    origins: Array
    offsets: Array
    lasers: Array
    azimuths: Array
    elevations: Array


def _laser_table(pattern: SpinningPattern) -> _Lasers:
    tables = [_turn_table(pattern, turn) for turn in pattern.order]
    first = np.cumsum([0, *(len(table[0]) for table in tables)])
    return _Lasers(first, *(np.concatenate(column) for column in zip(*tables, strict=True)))


def _turn_table(pattern: SpinningPattern, turn: Turn) -> tuple[NDArray, ...]:
    """The columns of `_Lasers` for one turn."""
    count = pattern.lasers
    firing = np.array(per_laser(turn.firing_us, count, "firing_us")) * 1e-6
    order = np.argsort(firing, kind="stable").astype(np.uint16)
    order = order[~np.isin(order, np.array(turn.resting, np.int64))]
    firing = firing[order]
    spin = TURN * pattern.rotation_hz * (-1.0 if pattern.clockwise else 1.0)
    waiting = spin * firing
    azimuth = np.deg2rad(per_laser(pattern.azimuth_deg, count, "azimuth_deg"))[order] + waiting
    azimuth -= TURN * np.rint(azimuth / TURN)
    elevation = np.deg2rad(pattern.elevation_deg)[order]
    up = np.array(per_laser(pattern.vertical_offset_m, count, "vertical_offset_m"))[order]
    left = np.array(per_laser(pattern.horizontal_offset_m, count, "horizontal_offset_m"))[order]
    high = np.array(per_laser(pattern.axis_height_m, count, "axis_height_m"))[order]
    c, s, level, height = np.cos(azimuth), np.sin(azimuth), np.cos(elevation), np.sin(elevation)
    ahead, above = pattern.head_offset_m, pattern.head_height_m
    origin = [
        -up * height * c - left * s + ahead * np.cos(waiting),
        -up * height * s + left * c + ahead * np.sin(waiting),
        up * level + high + above,
    ]
    return order, firing, azimuth, elevation, np.stack([level * c, level * s, height], 1), np.stack(origin, 1)


@kernel
def _fire(head: Any, table: Any, out: Any) -> None:
    """Fill the pulses of one revolution: one sine and cosine a cycle, one small rotation a pulse."""
    turns = len(table.first) - 1
    has_origin = len(out.origins) > 0
    i = 0
    for c in range(head.cycles):
        time = head.start + c * head.cycle
        looking = head.begin + head.turn * time
        looking -= TURN * np.rint(looking / TURN)
        cosine, sine = np.cos(looking), np.sin(looking)
        kind = (head.phase + c) % turns
        for j in range(table.first[kind], table.first[kind + 1]):
            x, y = table.direction[j, 0], table.direction[j, 1]
            out.directions[i, 0] = cosine * x - sine * y
            out.directions[i, 1] = sine * x + cosine * y
            out.directions[i, 2] = table.direction[j, 2]
            if has_origin:
                x, y = table.origin[j, 0], table.origin[j, 1]
                out.origins[i, 0] = cosine * x - sine * y
                out.origins[i, 1] = sine * x + cosine * y
                out.origins[i, 2] = table.origin[j, 2]
            out.offsets[i] = time + table.firing[j]
            out.lasers[i] = table.number[j]
            angle = looking + table.azimuth[j]
            out.azimuths[i] = angle - TURN if angle > np.pi else (angle + TURN if angle < -np.pi else angle)
            out.elevations[i] = table.elevation[j]
            i += 1
