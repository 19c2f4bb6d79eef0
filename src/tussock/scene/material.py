"""What a surface is made of, as the LIDAR sees it."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from tussock.scene.texture import TextureField
from tussock.settings import Settings

__all__ = ["Material"]

Fraction = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class Material(Settings):
    """A named surface. Reflectance is the diffuse albedo ρ at the sensor's wavelength, 0 to 1."""

    name: str = "default"
    reflectance: Fraction = 0.3
    color: tuple[Fraction, Fraction, Fraction] | None = None
    """linear RGB for pictures, 0 to 1"""
    texture: TextureField | None = None
    """a picture instead of the colour, where the mesh has texture coordinates"""
    translucency: Fraction = 0.0
    """share of the colour that thin leaves also have in light from behind; for pictures"""
    variation: Fraction = 0.0
    """how much the colour differs from place to place and from plant to plant; for pictures"""
    label: str | None = None
    """class label of triangles of this material; overrides the object's (a tree's trunk and leaves)"""
