"""What a surface is made of, as the LIDAR sees it."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, model_validator

from tussock.quantities import Fraction
from tussock.scene.response import VegetationResponse
from tussock.scene.texture import TextureField
from tussock.settings import Settings

__all__ = ["Material"]


class Material(Settings):
    """A named surface. Shares of the light are fractions, 0 to 1, and together at most 1."""

    name: str = "default"
    reflectance: Fraction = 0.3
    """diffuse share ρ (or K_d) at the sensor's wavelength; where only a colour is given, its grey value"""
    specular: Fraction = 0.0
    """share in the lobe about the mirror direction, K_s of Phong"""
    shininess: Annotated[float, Field(ge=1.0, le=10_000.0)] = 20.0
    """exponent α of the lobe: the higher, the narrower"""
    retro: Annotated[float, Field(ge=0.0, le=10_000.0)] = 0.0
    """gain of a retro-reflector over a white wall; signs and tail lights have 10 to 1000"""
    mirror: Fraction = 0.0
    """share that goes on as from a mirror, giving no return here"""
    transmission: Fraction = 0.0
    """share that goes on through the surface"""
    refractive_index: Annotated[float, Field(ge=1.0, le=4.0)] = 1.0
    """of the inside of a closed body that transmits; keep 1 for a pane modelled as a single sheet"""
    color: tuple[Fraction, Fraction, Fraction] | None = None
    """linear RGB for pictures, 0 to 1"""
    texture: TextureField | None = None
    """a picture instead of the colour, where the mesh has texture coordinates"""
    translucency: Fraction = 0.0
    """share of the colour that thin leaves also have in light from behind; for pictures"""
    variation: Fraction = 0.0
    """how much the colour differs from place to place and from plant to plant; for pictures"""
    response: VegetationResponse | None = None
    """range error of pulses that meet it, for coarse shapes that stand for plants; None: as the object says"""
    label: str | None = None
    """class label of triangles of this material; overrides the object's (a tree's trunk and leaves)"""

    @model_validator(mode="before")
    @classmethod
    def _grey_of_the_color(cls, data: Any) -> Any:
        # Jayaraman et al.: the grey value of the visible colour where no LIDAR reflectance is known.
        if isinstance(data, dict) and data.get("reflectance") is None and data.get("color") is not None:
            try:
                red, green, blue = (float(part) for part in data["color"])
            except (TypeError, ValueError):
                return data
            grey = 0.2126 * red + 0.7152 * green + 0.0722 * blue
            room = 1.0 - sum(float(data.get(key) or 0.0) for key in ("specular", "mirror", "transmission"))
            return {**data, "reflectance": min(max(grey, 0.0), max(room, 0.0), 1.0)}
        return data

    @model_validator(mode="after")
    def _shares_sum_to_one_at_most(self) -> Material:
        total = self.reflectance + self.specular + self.mirror + self.transmission
        if total > 1.0 + 1e-9:
            raise ValueError(
                f"reflectance + specular + mirror + transmission of {self.name!r} must be at most 1, and is {total:g}"
            )
        return self
