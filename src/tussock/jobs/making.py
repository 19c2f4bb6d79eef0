"""An item is made: its world, its sensor on its path in its weather, its frames, its files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from tussock.cameras.shading.light import Light
from tussock.jobs.plan import Item, Plan, SensorTable
from tussock.jobs.shelf import Ready, Shelf
from tussock.jobs.truth import Truth
from tussock.poses import Pose, Trajectory
from tussock.rigs.capture import Moment, capture_moment
from tussock.rigs.rig import MountedCamera, MountedLidar, Rig, load_rig
from tussock.sensors.sensor import Sensor

__all__ = ["Made", "make_item"]


class Made(NamedTuple):
    """An item with everything that a layout may want to write of it."""

    plan: Plan
    item: Item
    ready: Ready
    rig: Rig
    truth: Truth
    about: dict[str, Any]
    """plain data: what the item is"""

    def moments(self, threads: int | None = None) -> Iterator[Moment]:
        """Its frames, one after the other."""
        first = round(self.plan.start_s * self.rig.rate_hz)
        seed = item_seed(self.plan.seed, self.item.number)
        for number in range(first, first + self.plan.frames):
            yield capture_moment(self.rig, self.ready.world, number, seed=seed, views=True, threads=threads)


def make_item(plan: Plan, index: int, shelf: Shelf) -> Made:
    """Set the item up; its frames are made when `Made.moments` is gone through."""
    item = plan.item(index)
    ready = shelf.world(plan, item.world, item.weather)
    table, path = plan.sensors[item.sensor], plan.paths[item.path]
    rig = _rig(table, ready)
    seconds = plan.start_s + plan.frames / rig.rate_hz + rig.reach + 1.0
    body = ready.path(kind=path.kind, speed=path.speed_m_s, height=table.height_m, seconds=seconds)
    rig = replace(rig, body=body)
    weather = ready.world.weather
    about = {
        "item": item.name,
        "index": item.number,
        "world": item.world,
        "choices": {} if ready.site is None else ready.site.choices,
        "scene": ready.scene_name,
        "sensor": table.word,
        "path": path.word,
        "weather": None if weather is None else weather.model_dump(mode="json", exclude_unset=True),
        "rate_hz": rig.rate_hz,
        "lidars": {one.name: _pose(one.mount) for one in rig.lidars},
        "cameras": {one.name: {**_pose(one.mount), **_camera(one)} for one in rig.cameras},
        "labels": ready.world.labels,
        "label_scheme": plan.output.labels,
    }
    return Made(plan, item, ready, rig, Truth(ready.world, plan.output.labels), about)


def item_seed(seed: int, index: int) -> int:
    """The seed of an item's chance: its own, whatever else is made."""
    digest = hashlib.blake2b(f"{seed}:item:{index}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _rig(table: SensorTable, ready: Ready) -> Rig:
    light = Light() if ready.site is None else Light(**ready.site.light)
    nowhere = Trajectory.standing(Pose())
    if table.rig is not None:
        return replace(load_rig(table.rig), body=nowhere, light=light)
    assert isinstance(table.sensor, Sensor)
    lidar = MountedLidar("lidar", table.sensor)
    cameras = [] if table.camera is None else [MountedCamera("camera", table.camera)]
    return Rig(nowhere, [lidar], cameras, rate_hz=1.0 / table.sensor.frame_period, light=light, name=table.word)


def _pose(pose: Pose) -> dict[str, Any]:
    return {"position_m": np.asarray(pose.position).tolist(), "quaternion": np.asarray(pose.quaternion).tolist()}


def _camera(mounted: MountedCamera) -> dict[str, Any]:
    camera = mounted.camera
    matrix = camera.matrix.tolist() if hasattr(camera, "matrix") else None
    return {"width": camera.width, "height": camera.height, "matrix": matrix}
