"""Numbers as settings take them. Whatever is a `float` of a `Settings` is finite: NaN and infinity are refused there."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

__all__ = ["FieldOfView", "Fraction", "NotNegative", "Pair", "Positive", "Triple"]

Positive = Annotated[float, Field(gt=0.0)]
NotNegative = Annotated[float, Field(ge=0.0)]
Fraction = Annotated[float, Field(ge=0.0, le=1.0)]
FieldOfView = Annotated[float, Field(gt=0.0, lt=180.0)]
"""[deg] of a flat image"""
Pair = tuple[float, float]
Triple = tuple[float, float, float]
