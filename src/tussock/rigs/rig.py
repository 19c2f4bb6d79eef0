"""Several LIDARs and cameras on one moving body, in one file.

    name = "buggy"
    scene = "yard"                # a ready scene, or a scene file beside this one; may be left out
    rate_hz = 10                  # moments a second

    [body.path]                   # or position_m and rotation_deg in [body] for one that stands
    times_s = [0, 10]
    positions_m = [[-8, 0, 0], [8, 0, 0]]

    [[lidars]]
    name = "top"
    sensor = "vlp-16"             # of the catalogue, or a sensor file
    position_m = [0.2, 0, 1.9]    # mounting pose on the body
    settings = {"beam.rays" = 9}

    [[cameras]]
    name = "front"
    position_m = [0.4, 0, 1.6]
    rotation_deg = [0, 5, 0]      # roll, pitch, yaw; pitch 5 looks a little down
    camera = {width = 1242, height = 375, lens = {kind = "pinhole", fx = 721}}   # or a camera file

    [light]                       # see tussock.cameras.shading.light
    sun_elevation_deg = 30

The body and everything on it has x ahead, y left and z up. A moment starts every 1/``rate_hz`` seconds: each LIDAR
gives the frame that starts then (the next one, where it turns faster than the rig), each camera the image that opens
``trigger_s`` later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field
from scipy.spatial.transform import Rotation

from tussock.cameras.camera import Camera, load_camera
from tussock.cameras.shading.light import Light
from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.quantities import NotNegative, Rate, Triple
from tussock.reach import Reach, refuse_special
from tussock.scene_files.places import MotionTable
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.settings import Settings, read_toml
from tussock.shown import Shown

__all__ = ["MountedCamera", "MountedLidar", "Rig", "load_rig"]

RESERVED = ("world", "body")


@dataclass(frozen=True, eq=False, repr=False)
class MountedLidar(Shown):
    """A LIDAR, or what else fires pulses, on a rig.

    >>> top = tussock.MountedLidar("top", tussock.load_sensor("vlp-16"), tussock.Pose.at(0, 0, 1.9))
    """

    name: str
    sensor: Sensor
    mount: Pose = field(default_factory=Pose)
    """``T_body_sensor``"""


@dataclass(frozen=True, eq=False, repr=False)
class MountedCamera(Shown):
    """A camera on a rig.

    >>> front = tussock.MountedCamera("front", tussock.Camera(width=640, height=480), tussock.Pose.at(0.5, 0, 1.6))
    """

    name: str
    camera: Camera
    mount: Pose = field(default_factory=Pose)
    """``T_body_camera``"""
    trigger: float = 0.0
    """[s] after the start of the moment"""


@dataclass(frozen=True, eq=False, repr=False)
class Rig(Shown):
    """Sensors by name, and the body's path ``T_world_body``.

    >>> body = tussock.Trajectory.through([0, 1], [tussock.Pose.at(0), tussock.Pose.at(2)])
    >>> rig = tussock.Rig(body, lidars=[tussock.MountedLidar("top", tussock.load_sensor("vlp-16"))])
    >>> list(rig.sensor_names)
    ['top']
    """

    body: Trajectory
    lidars: Sequence[MountedLidar] = ()
    cameras: Sequence[MountedCamera] = ()
    rate_hz: float = 10.0
    light: Light = field(default_factory=Light)
    name: str = "rig"
    scene: str | None = None
    """a ready scene or the path of a scene file"""

    def __post_init__(self) -> None:
        if not self.rate_hz > 0 or not np.isfinite(self.rate_hz):
            raise InputError.of("rig rate_hz", "must be above 0", self.rate_hz)
        if not self.lidars and not self.cameras:
            raise InputError(f"rig {self.name!r}: has no sensors; add a LIDAR or a camera")
        names: set[str] = set()
        for sensor in self.sensors:
            if sensor.name in RESERVED or not sensor.name.strip() or "/" in sensor.name:
                raise InputError.of("sensor name", "must be a plain word other than world and body", sensor.name)
            if sensor.name in names:
                raise InputError.of(
                    "sensor name", "must be unique on the rig", sensor.name, "give each LIDAR and camera its own"
                )
            names.add(sensor.name)
        for lidar in self.lidars:
            if lidar.sensor.frame_period > (1 + 1e-9) / self.rate_hz:
                rule = f"must be at most the {1 / lidar.sensor.frame_period:g} frames/s of {lidar.name!r}"
                raise InputError.of("rig rate_hz", rule, self.rate_hz, "lower it or let the LIDAR turn faster")
        for camera in self.cameras:
            if not 0 <= camera.trigger < 1 / self.rate_hz:
                raise InputError.of(
                    f"camera {camera.name!r}: trigger_s",
                    f"must be from 0 to below {1 / self.rate_hz:g}",
                    camera.trigger,
                )

    @property
    def sensors(self) -> list[MountedLidar | MountedCamera]:
        return [*self.lidars, *self.cameras]

    def mount(self, name: str) -> Pose:
        """``T_body_sensor`` of a sensor by its name."""
        for sensor in self.sensors:
            if sensor.name == name:
                return sensor.mount
        raise InputError.of("sensor", "must be one of " + ", ".join(self.sensor_names), name)

    @property
    def sensor_names(self) -> list[str]:
        return [sensor.name for sensor in self.sensors]

    @property
    def reach(self) -> float:
        """[s] from the start of a moment to the end of its last frame or image"""
        lidars = [lidar.sensor.frame_period for lidar in self.lidars]
        cameras = [camera.trigger + camera.camera.shutter.duration for camera in self.cameras]
        return max([*lidars, *cameras])

    def plain(self) -> dict[str, Any]:
        """The rig as plain data, with everything resolved."""

        def pose(place: Pose) -> dict[str, Any]:
            return {"position_m": place.position.tolist(), "quaternion": place.quaternion.tolist()}

        return {
            "name": self.name,
            "rate_hz": self.rate_hz,
            "light": self.light.model_dump(mode="json"),
            "body": {
                "times_s": self.body.times.tolist(),
                "positions_m": self.body.positions.tolist(),
                "quaternions": self.body.quaternions.tolist(),
            },
            "lidars": [
                {"name": one.name, "sensor": one.sensor.told(), "mount": pose(one.mount)} for one in self.lidars
            ],
            "cameras": [
                {
                    "name": one.name,
                    "camera": one.camera.model_dump(mode="json"),
                    "mount": pose(one.mount),
                    "trigger_s": one.trigger,
                }
                for one in self.cameras
            ],
        }


class _Mounted(Settings):
    name: str
    position_m: Triple = (0.0, 0.0, 0.0)
    rotation_deg: Triple = (0.0, 0.0, 0.0)
    """roll, pitch, yaw about x, then y, then z of the body"""

    @property
    def pose(self) -> Pose:
        turn = Rotation.from_euler("xyz", self.rotation_deg, degrees=True)
        return Pose(np.array(self.position_m), turn.as_quat())


class _LidarTable(_Mounted):
    sensor: str
    settings: dict[str, Any] = Field(default_factory=dict)


class _CameraTable(_Mounted):
    camera: Camera | str
    trigger_s: NotNegative = 0.0


class _BodyTable(Settings):
    position_m: Triple = (0.0, 0.0, 0.0)
    rotation_deg: Triple = (0.0, 0.0, 0.0)
    path: MotionTable | None = None


class _RigTable(Settings):
    name: str = "rig"
    scene: str | None = None
    rate_hz: Rate = 10.0
    body: _BodyTable = _BodyTable()
    light: Light = Light()
    lidars: list[_LidarTable] = Field(default_factory=list)
    cameras: list[_CameraTable] = Field(default_factory=list)


def load_rig(path: Path | str) -> Rig:
    """Read a rig file; the files it names are relative to it.

    >>> rig = tussock.load_rig("rig.toml")  # doctest: +SKIP
    """
    path = Path(path)
    table = _RigTable.parse(read_toml(path), str(path))
    try:
        return Rig(
            name=table.name if "name" in table.model_fields_set else path.stem,
            scene=_beside(table.scene, path.parent) if table.scene else None,
            rate_hz=table.rate_hz,
            light=table.light,
            body=_body(table.body, Reach.of(path)),
            lidars=[_lidar(entry, path.parent) for entry in table.lidars],
            cameras=[_camera(entry, path.parent) for entry in table.cameras],
        )
    except InputError as error:
        raise error.within(path) from None


def _body(table: _BodyTable, reach: Reach) -> Trajectory:
    if table.path is None:
        turn = Rotation.from_euler("xyz", table.rotation_deg, degrees=True)
        return Trajectory.standing(Pose(np.array(table.position_m), turn.as_quat()))
    if {"position_m", "rotation_deg"} & table.model_fields_set:
        raise InputError("body: give either a path or position_m and rotation_deg, not both")
    return table.path.build(reach)


def _lidar(table: _LidarTable, folder: Path) -> MountedLidar:
    sensor = load_sensor(_beside(table.sensor, folder))
    return MountedLidar(table.name, sensor.with_(**table.settings) if table.settings else sensor, table.pose)


def _camera(table: _CameraTable, folder: Path) -> MountedCamera:
    camera = table.camera
    if isinstance(camera, str):
        camera = load_camera(folder / camera)
    if "name" not in camera.model_fields_set:
        camera = camera.changed(name=table.name)
    return MountedCamera(table.name, camera, table.pose, table.trigger_s)


def _beside(name: str, folder: Path) -> str:
    """A file beside the rig file, or a name as it is."""
    if not name.lower().endswith(".toml"):
        return name
    refuse_special(folder / name)
    return str(folder / name)
