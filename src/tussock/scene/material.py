"""What a surface is made of, as the LIDAR sees it.

Shares are those at 905 nm. A `spectrum` says how they change with the wavelength: factors at further wavelengths, between
which they are interpolated; outside them the nearest holds. So a surface whose reflectance is changed keeps its shape
over the wavelengths.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
from pydantic import Field, model_validator

from tussock.quantities import Fraction
from tussock.scene.response import VegetationResponse
from tussock.scene.texture import TextureField
from tussock.settings import Settings

__all__ = ["Band", "Material"]

_AT_NM = 905.0
_BESIDES = ("specular", "mirror", "transmission", "leaf_transmission")  # what else a surface does with the light


class Band(Settings):
    """What a surface does at another wavelength, as factors of what it does at 905 nm."""

    wavelength_nm: Annotated[float, Field(gt=200.0, lt=20_000.0)]
    reflectance: Annotated[float, Field(ge=0.0, le=20.0)] = 1.0
    leaf_transmission: Annotated[float, Field(ge=0.0, le=20.0)] = 1.0


class Material(Settings):
    """A named surface. Shares of the light are fractions, 0 to 1, and together at most 1.

    >>> paint = tussock.Material(name="paint", reflectance=0.6, specular=0.2, shininess=50)
    """

    name: str = "default"
    reflectance: Fraction = 0.3
    """diffuse share ρ (or K_d) at 905 nm; where only a colour is given, its grey value"""
    spectrum: tuple[Band, ...] = ()
    """how it changes with the wavelength; empty: it does not"""
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
    leaf_transmission: Fraction = 0.0
    """share that a thin leaf lets through scattered in all directions, at 905 nm"""
    refractive_index: Annotated[float, Field(ge=1.0, le=4.0)] = 1.0
    """of the inside of a closed body that transmits; keep 1 for a pane modelled as a single sheet"""
    film: Fraction = 0.0
    """share of the surface that lies under a film of water: it turns light away at grazing angles"""
    film_gloss: Fraction = 0.0
    """share of it on which the film lies smooth and is a mirror at grazing angles"""
    color: tuple[Fraction, Fraction, Fraction] | None = None
    """linear RGB for pictures, 0 to 1"""
    texture: TextureField | None = None
    """a picture instead of the colour, where the mesh has texture coordinates"""
    opacity_cutoff: Fraction = 0.5
    """where the texture is less opaque than this, there is no surface: cut out for every ray; 0: nothing is cut out"""
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
            room = 1.0 - sum(float(data.get(key) or 0.0) for key in _BESIDES)
            return {**data, "reflectance": min(max(grey, 0.0), max(room, 0.0), 1.0)}
        return data

    @model_validator(mode="after")
    def _shares_sum_to_one_at_most(self) -> Material:
        total = self.reflectance + sum(getattr(self, share) for share in _BESIDES)
        if total > 1.0 + 1e-9:
            raise ValueError(
                f"reflectance + {' + '.join(_BESIDES)} of {self.name!r} must be at most 1, and is {total:g}"
            )
        if len({band.wavelength_nm for band in self.spectrum} | {_AT_NM}) <= len(self.spectrum):
            raise ValueError(f"spectrum of {self.name!r}: each wavelength once, and 905 nm is what the factors are of")
        return self

    @property
    def least_opaque(self) -> int:
        """the texture's opacities (0 to 255) below this are cut out; 0 where nothing is"""
        if self.texture is None:
            return 0
        least = math.ceil(self.opacity_cutoff * 255.0 - 1e-6)
        return least if self.texture.least_opacity < least else 0

    def at(self, wavelength_nm: float) -> Material:
        """The material as light of a wavelength meets it; never more than all of the light."""
        if not self.spectrum or wavelength_nm == _AT_NM:
            return self
        bands = sorted((*self.spectrum, Band(wavelength_nm=_AT_NM)), key=lambda band: band.wavelength_nm)
        where = [band.wavelength_nm for band in bands]
        reflectance = self.reflectance * float(np.interp(wavelength_nm, where, [b.reflectance for b in bands]))
        through = self.leaf_transmission * float(np.interp(wavelength_nm, where, [b.leaf_transmission for b in bands]))
        room = 1.0 - self.specular - self.mirror - self.transmission
        scale = min(1.0, room / max(reflectance + through, 1e-12))
        return self.changed(reflectance=scale * reflectance, leaf_transmission=scale * through, spectrum=())
