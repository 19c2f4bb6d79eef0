"""What every scan pattern can do: say how long a frame takes, and list the pulses of any frame.

A pattern is pure geometry and time in the sensor's own frame (x forward, y left, z up, azimuth
counter-clockwise from x). Frame k covers the time k·T to (k+1)·T of one endless stream of pulses, so a run
cut into parts fires exactly the pulses of the whole run.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, field_validator

from tussock.quantities import Positive, Rate
from tussock.sensors.pulses import Pulses
from tussock.settings import Settings

__all__ = [
    "Degrees",
    "DegreesList",
    "Elevations",
    "FiniteList",
    "FramedPattern",
    "Pattern",
    "RateLimits",
    "TurningPattern",
    "decimal",
    "per_laser",
    "pulses_from_angles",
    "pulses_from_directions",
    "towards",
]

Degrees = Annotated[float, Field(ge=-360.0, le=360.0)]


def _evenly(value: Any) -> Any:
    """``{ first = -24.8, last = 2.0, count = 64 }`` stands for evenly spaced values."""
    if not isinstance(value, dict):
        return value
    if set(value) != {"first", "last", "count"}:
        raise ValueError("must be a list, or a table of first, last and count")
    count = value["count"]
    if not isinstance(count, int) or isinstance(count, bool) or not 1 <= count <= 65535:
        raise ValueError("count must be a whole number from 1 to 65535")
    try:
        first, last = float(value["first"]), float(value["last"])
    except (TypeError, ValueError):
        raise ValueError("first and last must be numbers") from None
    return tuple(np.linspace(first, last, count).tolist())


FiniteList = Annotated[tuple[float, ...], BeforeValidator(_evenly)]
DegreesList = Annotated[tuple[Degrees, ...], BeforeValidator(_evenly)]
RateLimits = tuple[Positive, Positive] | None


def _between_the_poles(values: tuple[float, ...]) -> tuple[float, ...]:
    if any(abs(value) > 90 for value in values):
        raise ValueError("elevations must lie within -90 and 90 degrees")
    return values


Elevations = Annotated[DegreesList, Field(min_length=1, max_length=65535), AfterValidator(_between_the_poles)]


class Pattern(Settings):
    """Base of all patterns; `kind` in a file chooses one of them."""

    kind: str

    def model_post_init(self, context: Any) -> None:
        # A pattern made in Python need not name its kind, but a changed copy is parsed and must find it.
        self.__pydantic_fields_set__.add("kind")

    @property
    @abstractmethod
    def frame_period(self) -> float:
        """[s] from the start of one frame to the start of the next."""

    @property
    @abstractmethod
    def lasers(self) -> int:
        """How many lasers (or pixels' own biases) the pattern tells apart."""

    @abstractmethod
    def pulses(self, frame: int) -> Pulses:
        """The pulses of frame ``frame`` in firing order; the arrays are shared and read-only."""

    def told(self) -> dict[str, Any]:
        """Its settings, and of a file the contents, not where it lies: the same on every machine."""
        return self.model_dump(mode="json")

    def pulse_count(self, frame: int) -> int:
        """How many pulses frame ``frame`` has."""
        return len(self.pulses(frame))


class FramedPattern(Pattern):
    """Base of patterns whose frames are cut at a rate of their own."""

    frame_hz: Rate

    @property
    def frame_period(self) -> float:
        return 1.0 / self.frame_hz


class TurningPattern(Pattern):
    """Base of patterns with a head or a mirror that turns; a frame is one revolution unless told otherwise.

    >>> isinstance(tussock.load_sensor("vlp-16").pattern, tussock.TurningPattern)
    True
    """

    rotation_hz_limits: RateLimits = None
    """the data sheet's slowest and fastest rotation"""
    rotation_hz: Rate
    """revolutions a second"""

    @field_validator("rotation_hz")
    @classmethod
    def _within_limits(cls, value: float, info: ValidationInfo) -> float:
        limits = info.data.get("rotation_hz_limits")
        if limits and not limits[0] <= value <= limits[1]:
            raise ValueError(f"must lie within {limits[0]:g} and {limits[1]:g} Hz, the limits of rotation_hz_limits")
        return value

    @property
    def frame_period(self) -> float:
        return 1.0 / self.rotation_hz


def decimal(value: float) -> Fraction:
    """The number as it is written in a data sheet: 46.08 is 4608/100, not its nearest binary fraction."""
    return Fraction(repr(float(value)))


def towards(azimuths: NDArray[np.float64], elevations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unit vectors for azimuths and elevations [rad], shape (n, 3)."""
    level = np.cos(elevations)
    return np.stack([level * np.cos(azimuths), level * np.sin(azimuths), np.sin(elevations)], -1)


def pulses_from_angles(
    azimuths: NDArray[np.float64],
    elevations: NDArray[np.float64],
    offsets: NDArray[np.float64],
    lasers: NDArray[np.integer],
) -> Pulses:
    """Pulses from the sensor's origin: azimuths, elevations [rad], offsets [s], lasers, each of shape (n,)."""
    return pulses_from_directions(towards(azimuths, elevations), offsets, lasers)


def pulses_from_directions(
    directions: NDArray[np.float64], offsets: NDArray[np.float64], lasers: NDArray[np.integer]
) -> Pulses:
    """Pulses from the sensor's origin along unit vectors of shape (n, 3); offsets [s] and lasers (n,)."""
    x, y, z = directions.T
    return Pulses(
        directions=directions.astype(np.float32),
        origins=None,
        offsets=np.asarray(offsets, np.float64),
        lasers=lasers.astype(np.uint16),
        azimuths=np.arctan2(y, x).astype(np.float32),
        elevations=np.arctan2(z, np.hypot(x, y)).astype(np.float32),
    )


def per_laser(values: Sequence[float], lasers: int, name: str) -> tuple[float, ...]:
    """One value for each laser; nothing given means zero for all."""
    if len(values) == 0:
        return (0.0,) * lasers
    if len(values) != lasers:
        raise ValueError(f"{name} must list one value for each of the {lasers} lasers, not {len(values)}")
    return tuple(values)
