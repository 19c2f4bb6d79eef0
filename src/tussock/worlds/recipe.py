"""A recipe: the distributions that worlds are sampled from, as a TOML file.

    name = "off-road"
    side_m = [50, 80]
    biomes = { meadow = 1, mixed-forest = 2, scrub = 1 }
    seasons = { summer = 3, autumn = 1, bare = 1 }
    slope_deg = [0, 12]
    density = [0.6, 1.2]             # times what the biome says
    people = [0, 2]
    weather = { clear = 3, fog = 1, rain = 1 }

A pair is [least, most], sampled evenly; a table holds weights. Biomes of one's own stand under ``[own.NAME]`` in the
form of the shipped ones. What is not given has the default below.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Self

from pydantic import Field, model_validator

from tussock.settings import Settings, read_toml
from tussock.worlds.biome import Biome, Span, Weights, biome_named, biome_names, check_span, check_weights
from tussock.worlds.species import Season

__all__ = ["WEATHERS", "Recipe", "load_recipe"]

WEATHERS = ("clear", "fog", "rain", "snow")
Count = Annotated[int, Field(ge=0, le=100)]
Angle = Annotated[float, Field(ge=-360.0, le=360.0)]


class Recipe(Settings):
    """Distributions that worlds are sampled from.

    >>> recipe = tussock.Recipe(side_m=(30, 40), biomes={"meadow": 1, "heath": 1})
    """

    name: str = "worlds"
    side_m: Span = (50.0, 70.0)
    """side of the square"""
    biomes: Weights = Field(default_factory=lambda: dict.fromkeys(biome_names(), 1.0))
    own: dict[str, Biome] = Field(default_factory=dict)
    """biomes beside the shipped ones"""
    seasons: Weights = Field(default_factory=lambda: {"summer": 3.0, "autumn": 1.0, "bare": 1.0})
    slope_deg: Span = (0.0, 10.0)
    """of the whole place"""
    relief: Span = (0.5, 1.5)
    """times the hills of the biome"""
    density: Span = (0.6, 1.2)
    """times the densities of the biome"""
    trail: Annotated[float, Field(ge=0.0, le=1.0)] = 0.85
    """probability of a trail"""
    trail_width_m: Span = (1.6, 3.2)
    puddles: tuple[Count, Count] = (0, 3)
    rocks: Span = (0.3, 1.5)
    """times those of the biome"""
    deadwood: Span = (0.3, 1.5)
    """times that of the biome"""
    people: tuple[Count, Count] = (0, 2)
    animals: tuple[Count, Count] = (0, 2)
    vehicles: tuple[Count, Count] = (0, 1)
    driving: Annotated[float, Field(ge=0.0, le=1.0)] = 0.5
    """probability that the first vehicle drives beside the trail; the others are parked"""
    weather: Weights = Field(default_factory=lambda: {"clear": 4.0, "fog": 1.0, "rain": 1.0})
    fog_visibility_m: Span = (30.0, 200.0)
    rain_mm_h: Span = (1.0, 25.0)
    snow_mm_h: Span = (0.2, 4.0)
    """as water"""
    sun_elevation_deg: tuple[Angle, Angle] = (10.0, 60.0)
    sun_azimuth_deg: tuple[Angle, Angle] = (0.0, 360.0)
    clouds: Span = (0.0, 0.9)

    @model_validator(mode="after")
    def _sound(self) -> Self:
        known = (*biome_names(), *self.own)
        check_weights("biomes", self.biomes, known)
        check_weights("seasons", self.seasons, tuple(Season))
        check_weights("weather", self.weather, WEATHERS)
        check_span("side_m", self.side_m, 1000.0)
        check_span("slope_deg", self.slope_deg, 45.0)
        check_span("clouds", self.clouds, 1.0)
        for name in ("relief", "density", "trail_width_m", "puddles", "rocks", "deadwood", "people", "animals"):
            check_span(name, getattr(self, name))
        for name in ("vehicles", "fog_visibility_m", "sun_elevation_deg", "sun_azimuth_deg"):
            check_span(name, getattr(self, name))
        check_span("rain_mm_h", self.rain_mm_h, 300.0)
        check_span("snow_mm_h", self.snow_mm_h, 50.0)
        if self.side_m[0] < 20.0:
            raise ValueError("side_m must be at least 20 m")
        if self.trail_width_m[0] < 0.5:
            raise ValueError("trail_width_m must be at least 0.5 m")
        if self.fog_visibility_m[0] < 5.0:
            raise ValueError("fog_visibility_m must be at least 5 m")
        shadowed = sorted(set(self.own) & set(biome_names()))
        if shadowed:
            raise ValueError(f"own.{shadowed[0]} has the name of a shipped biome; give it another name")
        return self

    def biome(self, name: str) -> Biome:
        return self.own[name] if name in self.own else biome_named(name)


def load_recipe(path: Path | str) -> Recipe:
    """Read a recipe file.

    >>> from pathlib import Path
    >>> _ = Path("small.toml").write_text("side_m = [20, 25]\\n")
    >>> tussock.load_recipe("small.toml").side_m
    (20.0, 25.0)
    """
    path = Path(path)
    data = read_toml(path)
    data.setdefault("name", path.stem)
    return Recipe.parse(data, str(path))
