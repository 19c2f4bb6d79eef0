"""What a surface is made of, as the LIDAR sees it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tussock.settings import Settings

__all__ = ["Material"]

Fraction = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class Material(Settings):
    """A named surface. Reflectance is the diffuse albedo ρ at the sensor's wavelength, 0 to 1."""

    name: str = "default"
    reflectance: Fraction = 0.3
    color: tuple[Fraction, Fraction, Fraction] | None = None
    """linear RGB for pictures, 0 to 1"""
    label: str | None = None
    """class label of triangles of this material; overrides the object's (a tree's trunk and leaves)"""
