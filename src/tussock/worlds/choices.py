"""What chance decides about a world, before anything of it is built."""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.errors import InputError
from tussock.randomness import check_seed
from tussock.worlds.recipe import Recipe
from tussock.worlds.sampling import Samples

__all__ = ["choices_of", "samples_of"]


def choices_of(recipe: Recipe, number: int, seed: int) -> dict[str, Any]:
    """What chance decides about a world, without building it."""
    s = samples_of(number, seed)
    biome_name = s.one_of("biome", recipe.biomes)
    biome = recipe.biome(biome_name)
    weather = s.one_of("weather", recipe.weather)
    chosen: dict[str, Any] = {
        "biome": biome_name,
        "season": s.one_of("season", recipe.seasons),
        "side_m": round(s.between("side", recipe.side_m)),
        "slope_deg": s.between("slope", recipe.slope_deg),
        "slope_towards_deg": s.between("slope towards", (0.0, 360.0)),
        "relief_m": s.between("relief", biome.relief_m) * s.between("relief factor", recipe.relief),
        "wavelength_m": s.between("wavelength", biome.wavelength_m),
        "roughness": s.between("roughness", biome.roughness),
        "density": s.between("density", recipe.density),
        "trail": bool(s.unit("trail") < recipe.trail),
        "trail_width_m": s.between("trail width", recipe.trail_width_m),
        "rocks_ha": s.between("rocks", biome.rocks_ha) * s.between("rocks factor", recipe.rocks),
        "deadwood_ha": s.between("deadwood", biome.deadwood_ha) * s.between("deadwood factor", recipe.deadwood),
        "puddles": s.count("puddles", recipe.puddles),
        "fence": bool(s.unit("fence") < biome.fence),
        "people": s.count("people", recipe.people),
        "animals": s.count("animals", recipe.animals),
        "vehicles": s.count("vehicles", recipe.vehicles),
        "driving": bool(s.unit("vehicle drives") < recipe.driving),
        "sun_elevation_deg": s.between("sun elevation", recipe.sun_elevation_deg),
        "sun_azimuth_deg": s.between("sun azimuth", recipe.sun_azimuth_deg),
        "clouds": s.between("clouds", recipe.clouds),
        "weather": weather,
    }
    chosen["driving"] = chosen["driving"] and chosen["vehicles"] > 0
    if weather == "fog":
        chosen["visibility_m"] = s.between("visibility", recipe.fog_visibility_m)
    if weather == "rain":
        chosen["rain_mm_h"] = s.between("rain", recipe.rain_mm_h)
    if weather == "snow":
        chosen["snow_mm_h"] = s.between("snow", recipe.snow_mm_h)
    return chosen


def samples_of(number: int, seed: int) -> Samples:
    """Everything that chance may decide about world ``number`` of a seed."""
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)) or not 0 <= number < 2**32:
        raise InputError.of("world number", "must be a whole number from 0 to 2^32 - 1", number)
    return Samples(check_seed(seed), int(number))
