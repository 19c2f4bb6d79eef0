"""What a world holds beside plants: stones, deadwood, a fence, vehicles, people, animals."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from tussock.errors import InputError
from tussock.ground.height_field import HeightField
from tussock.ground.populate import populate
from tussock.poses import Trajectory
from tussock.scene.placements import Placements
from tussock.scene.scene import Scene
from tussock.scene.surfaces import SURFACES
from tussock.scenes.car import car
from tussock.worlds.planting import Plot
from tussock.worlds.route import Route
from tussock.worlds.sampling import Samples
from tussock.worlds.things.boulder import boulder
from tussock.worlds.things.fallen_log import fallen_log
from tussock.worlds.things.fence import fence_along, fence_field
from tussock.worlds.things.figures import deer, person

__all__ = ["add_living_things", "add_things", "lane_of", "parking_places"]

_MOVES_FOR = 300.0
"""[s] in which people and animals walk"""


def add_things(scene: Scene, chosen: dict[str, Any], plot: Plot, samples: Samples) -> None:
    """Stones, deadwood and a fence."""
    room = (plot.side - 2, plot.side - 2)
    for name, label, shape, sink in (("rocks", "rock", boulder, 0.15), ("deadwood", "deadwood", fallen_log, 0.03)):
        expected = chosen[f"{name}_ha"] / 1e4 * room[0] * room[1]
        if expected < 1:
            continue
        for variant in range(2):
            try:
                places = populate(
                    plot.ground, room, density=expected / 2 / room[0] / room[1], exclude=plot.keep_free,
                    scale=(0.4, 1.4), tilt=1.0, sink=sink, seed=samples.seed_of(name, variant),
                )  # fmt: skip
            except InputError:
                continue  # no room for any: a world without
            scene.add(shape(variant), name=f"{name}-{variant + 1}", label=label, placements=places)
    if chosen["fence"]:
        edge = plot.side / 2 - 1.5
        which = samples.count("fence side", (0, 3))
        corners = np.array([[-edge, -edge], [edge, -edge], [edge, edge], [-edge, edge], [-edge, -edge]])
        places = fence_along(corners[which : which + 2], plot.ground)
        scene.add(fence_field(), name="fence", label="fence", placements=places)


def parking_places(
    chosen: dict[str, Any], route: Route, ground: HeightField, samples: Samples
) -> list[tuple[float, float, float, float]]:
    """x, y, z [m] and yaw [rad] of vehicles that stand beside the route; where one drives, on the other side."""
    places = []
    for vehicle in range(int(chosen["driving"]), chosen["vehicles"]):
        at = 5 + int(samples.unit("vehicle at", vehicle) * (len(route.line) - 10))
        ahead = route.line[at + 1] - route.line[at - 1]
        ahead /= np.linalg.norm(ahead)
        offset = (chosen["trail_width_m"] / 2 + 1.8) * _side(chosen, samples.unit("vehicle side", vehicle))
        x, y = route.line[at] + offset * np.array([-ahead[1], ahead[0]])
        z = float(ground(np.array([x]), np.array([y]))[0])
        places.append((float(x), float(y), z, float(np.arctan2(ahead[1], ahead[0]))))
    return places


def lane_of(chosen: dict[str, Any], route: Route) -> Route:
    """The line to the left of the route that a vehicle drives on: whoever goes along the route passes it."""
    return route.beside(chosen["trail_width_m"] / 2 + 1.4)


def _side(chosen: dict[str, Any], unit: ArrayLike) -> int:
    """1: left of the route, −1: right of it, where nobody drives"""
    return 1 if float(unit) < 0.5 and not chosen["driving"] else -1  # type: ignore[arg-type]


def add_living_things(
    scene: Scene, chosen: dict[str, Any], route: Route, ground: HeightField, samples: Samples
) -> None:
    """Vehicles stand or drive, people walk along the route, animals walk in the open."""
    parked = parking_places(chosen, route, ground, samples)
    for vehicle in range(chosen["vehicles"]):
        color = tuple(float(v) for v in 0.05 + 0.5 * samples.unit("paint", 3 * vehicle + np.arange(3)))
        mesh = car(SURFACES["car-paint"].changed(name=f"paint-{vehicle}", color=color))
        name = f"vehicle-{vehicle + 1}"
        if chosen["driving"] and vehicle == 0:
            speed = samples.between("vehicle speed", (1.5, 5.0))
            after = samples.unit("vehicle starts") * route.length / speed
            motion = lane_of(chosen, route).drive(
                ground, speed=speed, height=0.0, seconds=_MOVES_FOR, after=float(after)
            )
            scene.add(mesh, name=name, label="car", motion=motion)
        else:
            x, y, z, yaw = parked[vehicle - int(chosen["driving"])]
            scene.add(mesh, name=name, label="car", placements=Placements.of([[x, y, z]], yaw=yaw))
    for index in range(chosen["people"]):
        red, green, blue = (float(v) for v in 0.03 + 0.6 * samples.unit("coat", 3 * index + np.arange(3)))
        aside = samples.between("person aside", (0.5, 0.9), index) * chosen["trail_width_m"]
        walk = route.drive(
            ground, speed=samples.between("person speed", (0.9, 1.6), index), height=0.0,
            aside=aside * _side(chosen, samples.unit("person side", index)), seconds=_MOVES_FOR,
            after=samples.between("person starts", (0.0, 60.0), index),
        )  # fmt: skip
        scene.add(person((red, green, blue)), name=f"person-{index + 1}", label="person", motion=walk)
    for index in range(chosen["animals"]):
        scene.add(deer(), name=f"animal-{index + 1}", label="animal", motion=_grazing(chosen, ground, samples, index))


def _grazing(chosen: dict[str, Any], ground: HeightField, samples: Samples, index: int) -> Trajectory:
    """Round and round in the open, slowly."""
    side, radius = float(chosen["side_m"]), samples.between("animal round", (1.0, 5.0), index)
    x0, y0 = (samples.between(f"animal {axis}", (-0.35 * side, 0.35 * side), index) for axis in "xy")
    speed = samples.between("animal speed", (0.1, 1.2), index)
    times = np.arange(0.0, _MOVES_FOR + 1.0, 1.0)
    angle = samples.between("animal begins", (0.0, 2 * np.pi), index) + speed * times / radius
    x, y = x0 + radius * np.cos(angle), y0 + radius * np.sin(angle)
    return Trajectory.level(times, np.stack([x, y, ground(x, y)], 1), angle + np.pi / 2)
