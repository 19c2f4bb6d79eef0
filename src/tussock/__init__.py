"""Tussock: range sensors where the ground grows.

The public names live here and are imported when they are first used, so that ``import tussock`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tussock.cameras.camera import Camera, load_camera
    from tussock.cameras.lenses.equirectangular import Equirectangular
    from tussock.cameras.lenses.fisheye import Fisheye
    from tussock.cameras.lenses.orthographic import Orthographic
    from tussock.cameras.lenses.pinhole import Pinhole
    from tussock.cameras.picture import Picture
    from tussock.cameras.render import look, render
    from tussock.cameras.shading.light import Light
    from tussock.cameras.view import View
    from tussock.datasets.write import write_dataset
    from tussock.errors import InputError, OutputError, TraceError, TussockError
    from tussock.files.formats import load_frame, save_frame
    from tussock.files.images import save_image
    from tussock.frames.frame import Frame
    from tussock.learn.dead_lasers import dead_rings
    from tussock.learn.learn_volumes import learn_volumes
    from tussock.learn.likelihood import choose_voxel
    from tussock.learn.match_response import match_response
    from tussock.learn.measured_pulses import MeasuredPulses, join_pulses, measured_pulses
    from tussock.learn.range_spread import measure_range_spread
    from tussock.learn.readers.read_pulses import load_pulses
    from tussock.learn.scan_volumes import simulate_volumes
    from tussock.learn.scores import compare
    from tussock.learn.surface import scan_surface, surface_mesh
    from tussock.learn.through_box import through_box
    from tussock.plots.comparison import plot_comparison
    from tussock.plots.frame import plot_frame
    from tussock.plots.range_spread import plot_range_spread
    from tussock.plots.volumes import plot_volumes
    from tussock.poses import Pose, Trajectory
    from tussock.rigs.capture import capture
    from tussock.rigs.rig import MountedCamera, MountedLidar, Rig, load_rig
    from tussock.scene.material import Material
    from tussock.scene.mesh import Mesh
    from tussock.scene.placements import Placements
    from tussock.scene.response import VegetationResponse
    from tussock.scene.scene import Scene
    from tussock.scene.texture import Texture
    from tussock.scene.volumes import Volumes
    from tussock.scene_files.mesh_files import load_mesh
    from tussock.scene_files.scene_file import load_scene
    from tussock.scene_files.scene_save import save_scene
    from tussock.scene_files.volume_file import load_volumes, save_volumes
    from tussock.scenes.ready import ready_scene
    from tussock.sensors.catalogue import load_sensor, sensor_names
    from tussock.sensors.sensor import Sensor
    from tussock.simulate import scan, scan_range
    from tussock.trace.world import World
    from tussock.version import VERSION as __version__

_HOMES = {
    "MeasuredPulses": "tussock.learn.measured_pulses",
    "Camera": "tussock.cameras.camera",
    "Equirectangular": "tussock.cameras.lenses.equirectangular",
    "Fisheye": "tussock.cameras.lenses.fisheye",
    "Frame": "tussock.frames.frame",
    "InputError": "tussock.errors",
    "Light": "tussock.cameras.shading.light",
    "Material": "tussock.scene.material",
    "Mesh": "tussock.scene.mesh",
    "MountedCamera": "tussock.rigs.rig",
    "MountedLidar": "tussock.rigs.rig",
    "Orthographic": "tussock.cameras.lenses.orthographic",
    "OutputError": "tussock.errors",
    "Picture": "tussock.cameras.picture",
    "Pinhole": "tussock.cameras.lenses.pinhole",
    "Placements": "tussock.scene.placements",
    "Pose": "tussock.poses",
    "Rig": "tussock.rigs.rig",
    "Scene": "tussock.scene.scene",
    "Sensor": "tussock.sensors.sensor",
    "Texture": "tussock.scene.texture",
    "TraceError": "tussock.errors",
    "Trajectory": "tussock.poses",
    "TussockError": "tussock.errors",
    "VegetationResponse": "tussock.scene.response",
    "View": "tussock.cameras.view",
    "Volumes": "tussock.scene.volumes",
    "World": "tussock.trace.world",
    "measured_pulses": "tussock.learn.measured_pulses",
    "capture": "tussock.rigs.capture",
    "choose_voxel": "tussock.learn.likelihood",
    "compare": "tussock.learn.scores",
    "dead_rings": "tussock.learn.dead_lasers",
    "plot_comparison": "tussock.plots.comparison",
    "plot_frame": "tussock.plots.frame",
    "plot_range_spread": "tussock.plots.range_spread",
    "plot_volumes": "tussock.plots.volumes",
    "join_pulses": "tussock.learn.measured_pulses",
    "learn_volumes": "tussock.learn.learn_volumes",
    "load_pulses": "tussock.learn.readers.read_pulses",
    "load_camera": "tussock.cameras.camera",
    "load_frame": "tussock.files.formats",
    "load_mesh": "tussock.scene_files.mesh_files",
    "load_rig": "tussock.rigs.rig",
    "load_scene": "tussock.scene_files.scene_file",
    "load_sensor": "tussock.sensors.catalogue",
    "load_volumes": "tussock.scene_files.volume_file",
    "look": "tussock.cameras.render",
    "match_response": "tussock.learn.match_response",
    "measure_range_spread": "tussock.learn.range_spread",
    "ready_scene": "tussock.scenes.ready",
    "render": "tussock.cameras.render",
    "save_frame": "tussock.files.formats",
    "save_image": "tussock.files.images",
    "save_scene": "tussock.scene_files.scene_save",
    "save_volumes": "tussock.scene_files.volume_file",
    "scan": "tussock.simulate",
    "scan_range": "tussock.simulate",
    "scan_surface": "tussock.learn.surface",
    "sensor_names": "tussock.sensors.catalogue",
    "simulate_volumes": "tussock.learn.scan_volumes",
    "surface_mesh": "tussock.learn.surface",
    "through_box": "tussock.learn.through_box",
    "write_dataset": "tussock.datasets.write",
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
