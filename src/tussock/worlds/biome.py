"""Biomes: which plants grow together, how densely, on what ground; one file of facts each in ``biomes/``."""

from __future__ import annotations

import tomllib
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Self

from pydantic import Field, model_validator

from tussock.errors import InputError, nearest
from tussock.scene.surfaces import SURFACES
from tussock.settings import Settings
from tussock.worlds.species import AGES, species_named

__all__ = ["Biome", "Layer", "Share", "Span", "Weights", "biome_named", "biome_names", "check_span"]

Number = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]
Span = tuple[Number, Number]
"""least and most"""
Weights = Annotated[dict[str, Number], Field(min_length=1)]


def check_span(name: str, span: tuple[float, float] | None, most: float | None = None) -> None:
    """The least comes first, and nothing is above ``most``."""
    if span is None:
        return
    if span[0] > span[1]:
        raise ValueError(f"{name} must be [least, most], the least first")
    if most is not None and span[1] > most:
        raise ValueError(f"{name} must be at most {most:g}")


def check_weights(name: str, weights: dict[str, float], known: tuple[str, ...]) -> None:
    """Known names only, and one of them with some weight."""
    for word in weights:
        if word not in known:
            raise ValueError(f"{name} has the unknown {word!r}; {nearest(word, known)}")
    if sum(weights.values()) <= 0:
        raise ValueError(f"{name} must have a weight above 0")


class Layer(Settings):
    """One storey of plants. Exactly one of cover, density_ha and rows_m says how many there are."""

    species: Weights
    cover: Span | None = None
    """share of the ground under tiles of grass or reeds"""
    density_ha: Span | None = None
    """plants a hectare"""
    rows_m: Span | None = None
    """planted in a square grid this far apart"""
    spacing_m: Number = 0.0
    patchy: Share = 0.0
    """0: even; 1: in dense groups with gaps between them"""
    ages: Weights = Field(default_factory=lambda: {"young": 1.0, "grown": 2.0, "old": 1.0})

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if [self.cover, self.density_ha, self.rows_m].count(None) != 2:
            raise ValueError("exactly one of cover, density_ha and rows_m must be given")
        check_span("cover", self.cover, 1.0)
        check_span("density_ha", self.density_ha, 50_000.0)
        check_span("rows_m", self.rows_m)
        if self.rows_m is not None and self.rows_m[0] < 1.0:
            raise ValueError("rows_m must be at least 1 m")
        check_weights("ages", self.ages, AGES)
        for name in self.species:
            try:
                kind = species_named(name).kind
            except InputError as error:
                raise ValueError(str(error)) from None
            if (self.cover is not None) != (kind in ("grass", "reed")) and self.cover is not None:
                raise ValueError(f"cover is for grass and reeds, and {name!r} is a {kind}")
        if sum(self.species.values()) <= 0:
            raise ValueError("species must have a weight above 0")
        return self


class Biome(Settings):
    meaning: str
    ground: str = "soil"
    """name of the surface"""
    relief_m: Span = (0.1, 1.0)
    """root mean square height of the hills"""
    wavelength_m: Span = (25.0, 70.0)
    """from crest to crest"""
    roughness: Span = (0.35, 0.5)
    deadwood_ha: Span = (0.0, 10.0)
    rocks_ha: Span = (0.0, 60.0)
    fence: Share = 0.1
    """probability of one"""
    shore: bool = False
    """open water along one side"""
    layers: Annotated[list[Layer], Field(min_length=1)]

    @model_validator(mode="after")
    def _sound(self) -> Self:
        if self.ground not in SURFACES:
            raise ValueError(f"ground has the unknown {self.ground!r}; {nearest(self.ground, SURFACES)}")
        for name in ("relief_m", "wavelength_m", "deadwood_ha", "rocks_ha"):
            check_span(name, getattr(self, name))
        check_span("roughness", self.roughness, 1.0)
        if self.wavelength_m[0] < 2.0:
            raise ValueError("wavelength_m must be at least 2 m")
        return self


@lru_cache(maxsize=1)
def _biomes() -> dict[str, Biome]:
    folder = files("tussock.worlds") / "biomes"
    found = {}
    for file in sorted(folder.iterdir(), key=lambda one: one.name):
        if file.name.endswith(".toml"):
            name = file.name.removesuffix(".toml")
            found[name] = Biome.parse(tomllib.loads(file.read_text(encoding="utf-8")), f"biome {name}")
    return found


def biome_names() -> dict[str, str]:
    """The biomes by name, each with a line on what it is.

    >>> "meadow" in tussock.biome_names()
    True
    """
    return {name: biome.meaning for name, biome in _biomes().items()}


def biome_named(name: str) -> Biome:
    if name not in _biomes():
        raise InputError(f"biome {name!r}: no such biome; {nearest(name, _biomes())}")
    return _biomes()[name]
