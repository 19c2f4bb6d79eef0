"""What patterns have in common whose emitters fire in turn, evenly and for ever, and whose motions never quite repeat."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from tussock.arrays import FloatArray
from tussock.quantities import Positive
from tussock.sensors.patterns.pattern import Elevations, FramedPattern, decimal

__all__ = ["StreamPattern", "cut_of", "phases"]


class StreamPattern(FramedPattern):
    """Base of patterns that cut frames out of one even stream of pulses."""

    emitter_pitch_deg: Elevations = (0.0,)
    """how far each emitter looks above the middle, before the optics, in firing order"""
    pulse_hz: Positive
    """of all emitters together"""

    @model_validator(mode="after")
    def _frames_have_pulses(self) -> Self:
        if self.pulse_hz < self.frame_hz:
            raise ValueError("pulse_hz must not be below frame_hz: a frame needs a pulse")
        return self

    @property
    def lasers(self) -> int:
        return len(self.emitter_pitch_deg)


class Cut(NamedTuple):
    """The pulses of one frame."""

    numbers: range
    """in the stream"""
    offsets: FloatArray
    """[s] since the frame's start, shape (n,)"""
    lasers: NDArray[np.uint16]
    """shape (n,)"""


def cut_of(pattern: StreamPattern, frame: int) -> Cut:
    """Which pulses of the stream frame ``frame`` holds, and when they fire."""
    pulse_hz = decimal(pattern.pulse_hz)
    ratio = pulse_hz / decimal(pattern.frame_hz)
    numbers = range(ceil(frame * ratio), ceil((frame + 1) * ratio))
    offsets = float((numbers.start - frame * ratio) / pulse_hz) + np.arange(len(numbers)) / pattern.pulse_hz
    lasers = (numbers.start + np.arange(len(numbers))) % pattern.lasers
    return Cut(numbers, offsets, lasers.astype(np.uint16))


def phases(pattern: StreamPattern, turns_hz: Fraction, numbers: range) -> FloatArray:
    """Angle [rad] of what makes so many turns a second, at these pulses of the stream, shape (n,)."""
    # Whole turns are dropped exactly: late in a run float64 would lose the angle.
    pulse_hz = decimal(pattern.pulse_hz)
    start = float(turns_hz * numbers.start / pulse_hz % 1)
    return np.asarray(2 * np.pi * (start + np.arange(len(numbers)) * float(turns_hz / pulse_hz)))
