"""Numbers as settings take them. Whatever is a `float` of a `Settings` is finite: NaN and infinity are refused there."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

__all__ = [
    "FieldOfView", "Fraction", "NotNegative", "Pair", "Positive", "Rate", "Sigma", "TargetDistance", "TargetReflectivity", "Triple"
]  # fmt: skip

Positive = Annotated[float, Field(gt=0.0)]


def _usual(rate: float) -> float:
    if not 1e-6 <= rate <= 1e9:
        raise ValueError("must be from 1e-06 to 1e+09 a second")
    return rate


Rate = Annotated[Positive, AfterValidator(_usual)]
"""[1/s] of something that comes again and again: at least every eleven days"""
TargetDistance = Annotated[float, Field(ge=0.01, le=1e6)]
"""[m] to a wall that a sheet speaks of"""
TargetReflectivity = Annotated[float, Field(ge=1e-6, le=1.0)]
"""of that wall"""
Sigma = Annotated[float, Field(ge=0.0, le=1e6)]
"""a standard deviation, whose square is a number too"""
NotNegative = Annotated[float, Field(ge=0.0)]
Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
FieldOfView = Annotated[float, Field(gt=0.0, lt=180.0)]
"""[deg] of a flat image"""
Pair = tuple[float, float]
Triple = tuple[float, float, float]
