"""Tussock: range sensors where the ground grows.

The public names live here and are imported when they are first used, so that ``import tussock`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tussock.errors import InputError, OutputError, TraceError, TussockError
    from tussock.frames.frame import Frame
    from tussock.picture import draw_frame
    from tussock.poses import Pose, Trajectory
    from tussock.scene.material import Material
    from tussock.scene.mesh import Mesh
    from tussock.scene.mesh_files import load_mesh
    from tussock.scene.placements import Placements
    from tussock.scene.ready import ready_scene
    from tussock.scene.scene import Scene
    from tussock.scene.scene_file import load_scene
    from tussock.scene.scene_save import save_scene
    from tussock.sensors.catalogue import load_sensor, sensor_names
    from tussock.sensors.sensor import Sensor
    from tussock.simulate import scan, scan_range
    from tussock.trace.world import World
    from tussock.version import VERSION as __version__
    from tussock.write.formats import load_frame, save_frame

_HOMES = {
    "Frame": "tussock.frames.frame",
    "InputError": "tussock.errors",
    "Material": "tussock.scene.material",
    "Mesh": "tussock.scene.mesh",
    "OutputError": "tussock.errors",
    "Placements": "tussock.scene.placements",
    "Pose": "tussock.poses",
    "Scene": "tussock.scene.scene",
    "Sensor": "tussock.sensors.sensor",
    "TraceError": "tussock.errors",
    "Trajectory": "tussock.poses",
    "TussockError": "tussock.errors",
    "World": "tussock.trace.world",
    "draw_frame": "tussock.picture",
    "load_frame": "tussock.write.formats",
    "load_mesh": "tussock.scene.mesh_files",
    "load_scene": "tussock.scene.scene_file",
    "load_sensor": "tussock.sensors.catalogue",
    "ready_scene": "tussock.scene.ready",
    "save_frame": "tussock.write.formats",
    "save_scene": "tussock.scene.scene_save",
    "scan": "tussock.simulate",
    "scan_range": "tussock.simulate",
    "sensor_names": "tussock.sensors.catalogue",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("tussock.version").VERSION
    if name not in _HOMES:
        raise AttributeError(f"module 'tussock' has no attribute {name!r}")
    value = getattr(import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
