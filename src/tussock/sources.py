"""Where a scene, its sensor, pose and seed come from: a file, a pack, a .blend, or a ready scene.

A source may bring more than a scene: a pack has what was packed with it, a .blend has cameras that stand for sensors,
a ready scene knows a good place.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tussock.errors import InputError, nearest
from tussock.poses import Pose, Trajectory

if TYPE_CHECKING:
    from tussock.blender.load import During
    from tussock.scene.scene import Scene
    from tussock.sensors.sensor import Sensor

__all__ = ["PLACE", "Source", "Station", "open_pose", "opened"]

PLACE = Pose.at(z=2.0)
"""of a sensor, where nothing else is said"""
_SUFFIXES = (".toml", ".usd", ".glb", ".obj", ".ply", ".stl", ".tussock", ".blend")


def _warn(line: str) -> None:
    from tussock.scene_files.exchange.told import warn

    warn(line)


@dataclass(frozen=True)
class Station:
    """A sensor and where it is."""

    name: str
    sensor: Sensor | None
    place: Pose | Trajectory


@dataclass(frozen=True)
class Source:
    """A scene and what came with it."""

    scene: Scene
    stations: list[Station] = field(default_factory=list)
    place: Pose | Trajectory = PLACE
    seed: int = 0
    no_sensor: str = "is required; name one of the catalogue (see `tussock sensors`)"
    """what to say where no sensor is given and none came along"""
    kept: Any = None
    """what must live as long as the source, such as an unpacked folder"""

    def station(
        self, sensor: str | None, pose: str | None, trajectory: Path | None, *, need_sensor: bool = True
    ) -> Station:
        """The one sensor to use: a camera's or pack's own, or one of the catalogue."""
        own = {station.name: station for station in self.stations}
        if sensor is None and len(own) > 1:
            raise InputError(f"sensor: the scene has several; choose one of {', '.join(sorted(own))}")
        found = own.get(sensor) if sensor is not None else next(iter(own.values()), None)
        if found is None:
            if sensor is None and need_sensor:
                raise InputError(f"sensor: {self.no_sensor}")
            found = Station(sensor or "", _load(sensor) if sensor else None, self.place)
        if pose is not None or trajectory is not None:
            found = Station(found.name, found.sensor, open_pose(pose, trajectory))
        return found


def _load(sensor: str) -> Sensor:
    from tussock.sensors.catalogue import load_sensor

    return load_sensor(sensor)


def opened(name: str, say: Callable[[str], None] = _warn, *, during: During | None = None) -> Source:
    """A scene file, a pack or a .blend by its path, or a ready scene by its name; what cannot be read is told to ``say``.

    Of a .blend the frames ``during`` a time are read; all if not given.
    """
    from tussock.scene_files.mesh_files import MESH_SUFFIXES
    from tussock.scene_files.scene_file import SCENE_SUFFIXES, load_scene
    from tussock.scenes.ready import ready_pose, ready_scene, scene_names

    path = Path(name)
    if name in scene_names():
        return Source(ready_scene(name), place=ready_pose(name))
    suffix = path.suffix.lower()
    if suffix in SCENE_SUFFIXES:
        scene = load_scene(path, say=say)
        return Source(scene, place=_beside(scene) if suffix in MESH_SUFFIXES else PLACE)
    if suffix == ".tussock":
        from tussock.pack import load_pack

        packed = load_pack(path)
        place = packed.path or PLACE
        stations = [Station(packed.sensor.name, packed.sensor, place)] if packed.sensor else []
        return Source(packed.scene, stations, place, packed.seed, kept=packed)
    if suffix == ".blend":
        from tussock.blender.load import load_blend

        blend = load_blend(path, during=during)
        for line in blend.notes:
            say(f"{path}: {line}")
        stations = [Station(s.name, s.sensor, s.path) for s in blend.sensors]
        none = f"{path}: no camera is one; give a camera the property tussock_sensor, or name one of the catalogue"
        return Source(blend.scene, stations, no_sensor=none)
    if suffix:
        raise InputError.of("scene", f"must be a file ({', '.join(_SUFFIXES)}) or a ready scene", name)
    raise InputError(f"scene {name!r}: no such ready scene; {nearest(name, scene_names())}")


def _beside(scene: Scene) -> Pose:
    """Where somebody would stand to look at a thing: before it, far enough to see it whole, at a man's height at most."""
    low, high = scene.bounds
    size = float(max(high - low))
    height = float(min(low[2] + 1.7, (low[2] + high[2]) / 2))
    return Pose.at(float(low[0]) - 1.2 * size, float((low[1] + high[1]) / 2), height)


def open_pose(pose: str | None, trajectory: Path | None) -> Pose | Trajectory:
    """The sensor's pose (``x,y,z[,roll,pitch,yaw]``) or its trajectory file; 2 m above zero by default."""
    if pose is not None and trajectory is not None:
        raise InputError("pose: give either --pose or --trajectory, not both")
    if trajectory is not None:
        return Trajectory.load(trajectory)
    return Pose.parse(pose) if pose is not None else PLACE
