"""Where drives take place: a scene ready for rays and for wheels, built once for any number of drives."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tussock.drive.site.places import told
from tussock.drive.site.pressing import Pressing, pressables
from tussock.drive.site.reach import Reach
from tussock.drive.site.site import Site
from tussock.drive.vehicles.collision import touches
from tussock.drive.vehicles.vehicle import Vehicle
from tussock.errors import InputError
from tussock.scene.scene import Scene
from tussock.trace.world import World

__all__ = ["Stage"]


class Stage:
    """A scene's world and, for a vehicle's body, its site.

    >>> scene = tussock.Scene("field")
    >>> ground = scene.add(tussock.plane((40, 40)), name="ground", label="terrain")
    >>> stage = tussock.Stage(scene, tussock.load_vehicle("skid-steer"))
    >>> stage.free(0.0, 0.0, 0.0)
    True
    """

    def __init__(
        self, scene: Scene, vehicle: Vehicle, *, world: World | None = None, threads: int | None = None
    ) -> None:
        self.name, self.vehicle = scene.name, vehicle
        self.world = world or World(scene)
        self._site = Site.of(scene, vehicle.body, threads=threads)
        self._pressables = pressables(scene, self._site.plants, vehicle.body.height)

    def site(self) -> Site:
        """The site with all plants upright again."""
        plants = self._site.plants
        return replace(self._site, plants=plants._replace(pressed=np.zeros_like(plants.pressed)))

    def pressing(self) -> Pressing:
        """What shows in the world which plants a drive has pressed down."""
        return Pressing(self.world, self._pressables, self.vehicle.pressed_share)

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Least x and y, greatest x and y of the ground [m]."""
        ground = self._site.ground
        return (ground.low_x, ground.low_y, *ground.high)

    def check_goal(self, x: float, y: float) -> None:
        """Refuse a goal that no vehicle can stand on."""
        ground, obstacles = self._site.ground, self._site.obstacles
        (high_x, high_y), side = ground.high, self.vehicle.width_m
        if not (np.isfinite(x) and np.isfinite(y)):
            raise InputError.of("goal", "must be two finite numbers [m]", told(x, y))
        inside = ground.low_x <= x <= high_x and ground.low_y <= y <= high_y
        if not inside or np.isnan(self.height(x, y)):
            where = f"x {told(ground.low_x)} to {told(high_x)}, y {told(ground.low_y)} to {told(high_y)} m"
            raise InputError.of("goal", f"must lie on the scene's ground ({where})", told(x, y))
        if touches(obstacles, x, y, 0.0, side, side):
            raise InputError.of("goal", "must be free of obstacles", told(x, y), "move it away from what is solid")

    def check_way(self, start: tuple[float, float], goals: list[tuple[float, float]], radius: float) -> None:
        """Refuse goals that obstacles shut off from the start: no way comes within ``radius`` [m] of them."""
        width = self.vehicle.width_m
        from_start = Reach(self._site, start, width)
        for x, y in goals:
            if from_start.within(x, y, radius):
                continue
            # Named is the smaller one of the two: the courtyard is not shut in by the house that stands in it.
            inside = "goal" if Reach(self._site, (x, y), width).cells < from_start.cells else "start"
            where = told(x, y) if inside == "goal" else told(*start)
            raise InputError.of(
                inside, f"must not be shut in: obstacles all around leave no gap for a vehicle {width:g} m wide", where,
                "move it, open a gap, or set refuse_shut_in = false to let the vehicle find out",
            )  # fmt: skip

    def height(self, x: float, y: float) -> float:
        """Height of the ground [m] at a place, NaN off it."""
        from tussock.drive.site.ground import heights_at

        return float(heights_at(self._site.ground, x, y)[0])

    def free(self, x: float, y: float, yaw: float) -> bool:
        """Whether the vehicle could stand there."""
        v = self.vehicle
        solid = touches(self._site.obstacles, x, y, yaw, v.length_m, v.width_m)
        return not solid and bool(np.isfinite(self.height(x, y)))
