"""Worlds that are ready to be scanned, kept while they are needed and as long as memory allows."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from typing import NamedTuple

from tussock.jobs.plan import Plan
from tussock.poses import Pose, Trajectory
from tussock.scene_files.scene_file import is_scene_file, load_scene
from tussock.scenes.ready import ready_pose, ready_scene
from tussock.trace.world import World
from tussock.worlds.site import Site, build_site

__all__ = ["Ready", "Shelf"]

_BYTES_A_TRIANGLE = 150
"""what Embree and we hold for each, roughly"""


class Ready(NamedTuple):
    """A world built for rays; ``site`` is None for a plain scene."""

    world: World
    site: Site | None
    scene_name: str

    @property
    def bytes(self) -> int:
        meshes = {id(thing.mesh): len(thing.mesh.triangles) for thing in self.world.objects}
        return _BYTES_A_TRIANGLE * sum(meshes.values())

    def path(self, *, kind: str, speed: float, height: float, seconds: float) -> Trajectory:
        """Where the sensor is over time."""
        if self.site is not None:
            if kind == "stand":
                return self.site.stand(height=height)
            return self.site.drive(speed=speed, height=height, seconds=seconds)
        if is_scene_file(self.scene_name):
            return Trajectory.standing(Pose.at(0.0, 0.0, height))
        return Trajectory.standing(ready_pose(self.scene_name))


class Shelf:
    """The worlds of one plan that were used last, up to ``limit`` bytes; the newest always stays."""

    def __init__(self, limit: int = 2 << 30) -> None:
        self._limit = limit
        self._kept: OrderedDict[tuple[str, int, int], Ready] = OrderedDict()

    def world(self, plan: Plan, number: int, weather: int = 0) -> Ready:
        """World ``number`` of a plan, in the plan's weather of that number where it has any, else in its own."""
        key = (plan.digest, number, weather)
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        ready = _built(plan, number, weather)
        self._kept[key] = ready
        while len(self._kept) > 1 and sum(one.bytes for one in self._kept.values()) > self._limit:
            self._kept.popitem(last=False)
        return ready


def _built(plan: Plan, number: int, weather: int) -> Ready:
    site: Site | None = None
    if plan.recipe is not None:
        site = build_site(plan.recipe, number, plan.seed)
        name, scene = site.scene.name, site.scene
    else:
        name = plan.worlds.scenes[number]
        scene = load_scene(Path(name)) if is_scene_file(name) else ready_scene(name)
    if plan.weather:
        scene = scene.with_weather(plan.weather[weather].weather)
    return Ready(World(scene), site, name)
