"""Two wedge prisms that turn independently and bend one beam or a few (Risley prisms): Livox Mid-40 and Avia.

The beam starts along x and meets four faces: the flat and the slanted face of the first prism, then the slanted
and the flat face of the second. At each face it is refracted by Snell's law in vector form: with the unit normal
n against the ray d, c = −n·d and r = n₁/n₂,

    d' = r d + (r c − √(1 − r² (1 − c²))) n

The slanted face of prism i leans by its wedge angle towards the roll angle θᵢ = 2π·(rpm/60)·t about x. Prisms
that turn against each other at unequal speed draw a rosette that never quite repeats; its rim is where both
wedges point the same way, its centre where they cancel. Several emitters, each leaning up or down a little, fire in
turn, one pulse each. The faces' distances, a few centimetres, are left out:
all pulses leave from the sensor's origin.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from tussock.arrays import FloatArray
from tussock.sensors.patterns.pattern import FiniteList, decimal, pulses_from_directions
from tussock.sensors.patterns.stream import StreamPattern, cut_of, phases
from tussock.sensors.pulses import Pulses

__all__ = ["RisleyPattern"]

Wedge = Annotated[float, Field(gt=0.0, lt=60.0)]


class RisleyPattern(StreamPattern):
    """Lasers through two turning wedges.

    >>> isinstance(tussock.load_sensor("livox-mid-40").pattern, tussock.RisleyPattern)
    True
    """

    kind: Literal["risley"] = "risley"
    prism_rpm: Annotated[FiniteList, Field(min_length=2, max_length=2)]
    """of the first and the second prism; counter-clockwise seen from in front is positive"""
    wedge_deg: tuple[Wedge, Wedge]
    refractive_index: Annotated[float, Field(ge=1.0, le=4.0)]

    @model_validator(mode="after")
    def _lets_light_through(self) -> Self:
        around = np.linspace(0, 2 * np.pi, 37)
        first, second, pitch = (
            grid.ravel() for grid in np.meshgrid(around, around, np.deg2rad(self.emitter_pitch_deg))
        )
        if not np.isfinite(_through_prisms(self, first, second, pitch)).all():
            raise ValueError("wedge_deg is so steep that the beam is reflected inside a prism")
        return self

    def pulses(self, frame: int) -> Pulses:
        return _frame(self, frame)


@lru_cache(maxsize=8)
def _frame(pattern: RisleyPattern, frame: int) -> Pulses:
    cut = cut_of(pattern, frame)
    rolls = [phases(pattern, decimal(rpm) / 60, cut.numbers) for rpm in pattern.prism_rpm]
    directions = _through_prisms(pattern, rolls[0], rolls[1], np.deg2rad(pattern.emitter_pitch_deg)[cut.lasers])
    return pulses_from_directions(directions, cut.offsets, cut.lasers)


def _through_prisms(pattern: RisleyPattern, roll1: FloatArray, roll2: FloatArray, pitch: FloatArray) -> FloatArray:
    """Unit vectors behind the second prism of rays that lean up by ``pitch`` [rad], (n, 3); NaN where none gets through."""
    axis = np.tile([1.0, 0.0, 0.0], (len(roll1), 1))
    emitted = np.stack([np.cos(pitch), np.zeros_like(pitch), np.sin(pitch)], -1)
    glass, (wedge1, wedge2) = pattern.refractive_index, np.deg2rad(pattern.wedge_deg)
    ray = _refracted(emitted, axis, 1 / glass)
    ray = _refracted(ray, _face(roll1, wedge1), glass)
    ray = _refracted(ray, _face(roll2, -wedge2), 1 / glass)
    return _refracted(ray, axis, glass)


def _face(roll: FloatArray, wedge: float) -> FloatArray:
    """Normals of a slanted face along the light, shape (n, 3)."""
    lean = np.sin(wedge)
    return np.stack([np.full_like(roll, np.cos(wedge)), lean * np.cos(roll), lean * np.sin(roll)], -1)


def _refracted(ray: FloatArray, normal: FloatArray, ratio: float) -> FloatArray:
    """Snell's law; ``normal`` points along the light, ``ratio`` is index before / index behind."""
    cosine = np.sum(ray * normal, -1, keepdims=True)
    under_root = 1 - ratio**2 * (1 - cosine**2)
    root = np.sqrt(np.where(under_root >= 0, under_root, np.nan))
    return ratio * ray - (ratio * cosine - root) * normal
