"""One world of a recipe: its scene, ground, route, light and weather, and the choices that made it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from tussock.air.weather import Fog, Weather
from tussock.ground.height_field import HeightField
from tussock.ground.zones import Circle
from tussock.poses import Pose, Trajectory
from tussock.scene.fingerprint import fingerprint
from tussock.scene.scene import Scene
from tussock.worlds.choices import choices_of, samples_of
from tussock.worlds.inhabitants import add_living_things, add_things, lane_of, parking_places
from tussock.worlds.planting import Plot, Stand, plant_layer
from tussock.worlds.recipe import Recipe
from tussock.worlds.route import Route
from tussock.worlds.species import Season, shape_of, species_named
from tussock.worlds.terrain import Wet, floor_mesh, ground_of

__all__ = ["Site", "build_site"]

_LABELS = {"grass": "grass", "reed": "stem", "shrub": "shrub", "tree": "tree", "conifer": "tree"}


@dataclass(frozen=True, eq=False)
class Site:
    """A world that has been built.

    >>> site = tussock.build_site(tussock.Recipe(), 731, seed=7)  # doctest: +SKIP
    >>> frame = tussock.scan(site.scene, sensor, site.drive(speed=2.0))  # doctest: +SKIP
    """

    number: int
    seed: int
    recipe: str
    choices: dict[str, Any]
    """what chance decided: plain data"""
    scene: Scene
    ground: HeightField
    route: Route
    stands: list[Stand] = field(default_factory=list)

    @property
    def light(self) -> dict[str, float]:
        """Settings of `tussock.Light`: where the sun stands, and clouds; haze is the weather's, which the scene has"""
        return {key: self.choices[key] for key in ("sun_elevation_deg", "sun_azimuth_deg", "clouds")}

    @cached_property
    def fingerprint(self) -> str:
        """the scene in 32 characters"""
        return fingerprint(self.scene)

    def drive(self, *, speed: float = 2.0, height: float = 2.0, seconds: float = 10.0) -> Trajectory:
        """The path of a sensor that drives along the route, from its beginning."""
        return self.route.drive(self.ground, speed=speed, height=height, seconds=seconds)

    def stand(self, *, height: float = 2.0) -> Trajectory:
        """A sensor that stands in the middle of the route and looks along it."""
        middle = len(self.route.line) // 2
        x, y = self.route.line[middle]
        ahead = self.route.line[middle + 1] - self.route.line[middle - 1]
        z = float(self.ground(np.array([x]), np.array([y]))[0]) + height
        return Trajectory.standing(Pose.at(x, y, z, yaw=float(np.arctan2(ahead[1], ahead[0]))))


def _weather_of(chosen: dict[str, Any]) -> Weather | None:
    """The weather that was sampled; None where the air is clear."""
    given: dict[str, Any] = {key: chosen[key] for key in ("rain_mm_h", "snow_mm_h") if key in chosen}
    if "visibility_m" in chosen:
        given["fog"] = Fog(visibility_m=chosen["visibility_m"])
    return Weather(**given) if given else None


def build_site(recipe: Recipe, number: int, seed: int = 0) -> Site:
    """World ``number`` of a recipe and a seed: the same whoever builds it, alone or among others.

    >>> site = tussock.build_site(tussock.Recipe(), 731, seed=7)  # doctest: +SKIP
    """
    samples = samples_of(number, seed)
    chosen = choices_of(recipe, number, seed)
    biome, side = recipe.biome(chosen["biome"]), float(chosen["side_m"])
    route = Route.sampled(samples, side)
    ground, water = ground_of(chosen, biome, route, samples)
    scene = Scene(f"{recipe.name}-{number:06d}")
    scene.weather = _weather_of(chosen)
    scene.add(floor_mesh(ground, water, chosen, biome, route, samples), name="ground", label="terrain")

    parked = [
        Circle(centre_m=tuple(place[:2]), radius_m=3.0) for place in parking_places(chosen, route, ground, samples)
    ]
    wet = [Wet(ground, water)] if water.any() else []
    trodden: list[Any] = [*wet, *parked]
    if chosen["trail"]:
        trodden.append(route.strip(chosen["trail_width_m"]))
    keep_free: list[Any] = [*wet, *parked, route.strip(chosen["trail_width_m"] + 1.6)]
    if chosen["driving"]:
        keep_free.append(lane_of(chosen, route).strip(2.6))
    plot = Plot(ground, side, keep_free, trodden)

    stands: list[Stand] = []
    season = Season(chosen["season"])
    for index, layer in enumerate(biome.layers):
        for stand in plant_layer(layer, plot, chosen["density"], samples.of(f"layer {index}")):
            stands.append(stand)
            name = f"{stand.species}-{len(stands)}"
            scene.add(
                shape_of(stand.species, stand.age, stand.variant, season), name=name, label=_LABELS[species_named(stand.species).kind],
                tags=("vegetation", stand.species), placements=stand.placements,
            )  # fmt: skip
    add_things(scene, chosen, plot, samples)
    add_living_things(scene, chosen, route, ground, samples)
    return Site(number, seed, recipe.name, chosen, scene, ground, route, stands)
