"""A .blend as a scene, and its cameras as sensors.

A camera with the custom property ``tussock_sensor`` (a name of the catalogue, or a sensor file beside the .blend)
is a sensor; its properties ``tussock.beam.rays`` and the like are settings of it. Blender's camera looks along −z
with y up: that becomes x forward, z up. Time 0 is the first frame of the scene's range. All frames are read, or those
around a time, where only that is scanned.

An object's label is its custom property ``tussock_label``, or its mesh's or its collection's, or the collection's
name where that is a known label; an instance without one has its emitter's. Its tags are ``tussock_tags`` and the names of its collections. What stands and
shares a shape becomes one object with many placements. What moves without changing its shape has a motion, with a
straight line and an even turn from frame to frame; what changes its shape (armatures, cloth, sizes) has a mesh for
every frame.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tussock.arrays import FloatArray
from tussock.blender.process import run_inside
from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.scene.forms import Forms
from tussock.scene.labels import LABELS, UNLABELLED, label_id
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor

__all__ = ["Blend", "BlendSensor", "load_blend"]


_CAMERA_TO_SENSOR = np.array([[0.0, -1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, 0.0, 0.0]])
"""columns: the sensor's x, y and z in the camera's axes"""


@dataclass(frozen=True)
class BlendSensor:
    """A camera that stands for a sensor.

    >>> [sensor.name for sensor in tussock.load_blend("yard.blend").sensors]  # doctest: +SKIP
    ['front']
    """

    name: str
    sensor: Sensor
    path: Pose | Trajectory


@dataclass(frozen=True)
class Blend:
    """What a .blend holds.

    >>> blend = tussock.load_blend("yard.blend")  # doctest: +SKIP
    """

    scene: Scene
    sensors: list[BlendSensor]
    blender: str
    """version that read it"""
    notes: tuple[str, ...] = ()
    """what is seen in Blender and was not read, each in one line"""


During = Callable[[dict[str, Sensor]], tuple[float, float]]
"""start and end [s] of what is wanted, from the sensors of a .blend by the names of their cameras"""


def load_blend(path: Path | str, *, during: tuple[float, float] | During | None = None) -> Blend:
    """Read a .blend through Blender: all frames of its range, or those around ``during`` [s], which takes less time.

    >>> scene = tussock.load_blend("yard.blend").scene  # doctest: +SKIP
    >>> beginning = tussock.load_blend("yard.blend", during=(0.0, 0.1))  # doctest: +SKIP
    """
    path = Path(path)
    if not path.is_file():
        raise InputError("no such file", source=path)
    with tempfile.TemporaryDirectory(prefix="tussock-blend-") as scratch:
        said = _read(Path(scratch), path, during)
        with np.load(Path(scratch) / "arrays.npz") as arrays:
            try:
                shapes = [_mesh(number, entry, arrays) for number, entry in enumerate(said["shapes"])]
            except InputError as error:
                raise error.within(path) from None
    try:
        scene = _scene(said, shapes)
        sensors = [_sensor(entry, said["times"], path) for entry in said["cameras"]]
    except InputError as error:
        raise error.within(path) from None
    return Blend(scene, sensors, said["blender"], tuple(said["notes"]))


def _read(scratch: Path, path: Path, during: tuple[float, float] | During | None) -> dict[str, Any]:
    """What Blender says of the file; where the time depends on its sensors it is asked for them first."""
    words = (scratch, "export", str(path.resolve()))
    if during is None:
        return run_inside(*words)
    if callable(during):
        said = run_inside(*words, "ask")
        if "asked" not in said:
            return said
        try:
            during = during({entry["name"]: _device(entry, path) for entry in said["asked"]})
        except InputError as error:
            raise error.within(path) from None
    start, end = during
    if not 0 <= start <= end < np.inf:
        raise InputError.of("during", "must be 0 <= start <= end [s]", during)
    return run_inside(*words, f"{start!r},{end!r}")


def _mesh(number: int, entry: dict[str, Any], arrays: Any) -> Mesh:
    materials = tuple(_material(given) for given in entry["materials"])
    chosen = arrays[f"chosen{number}"]
    return Mesh.of(
        arrays[f"vertices{number}"], arrays[f"triangles{number}"], materials, chosen if len(materials) > 1 else None
    )


def _material(given: dict[str, Any] | None) -> Material:
    if given is None:
        return Material()
    table = dict(given)
    if table.get("color") is not None:
        table["color"] = [min(max(float(c), 0.0), 1.0) for c in table["color"]]
    if "label" in table:
        label_id(table["label"])
    return Material.parse(table, f"material {given['name']!r}")


def _scene(said: dict[str, Any], shapes: list[Mesh]) -> Scene:
    scene = Scene(said["name"])
    standing: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    moving = []
    for thing in said["things"]:
        if len(thing["matrices"]) > 1 or len(thing["shapes"]) > 1:
            moving.append(thing)
        else:
            key = (thing["shapes"][0], _label(thing), tuple(thing["tags"]))
            standing.setdefault(key, []).append(thing)
    if not standing and not moving:
        raise InputError("has nothing that a sensor could see; add a mesh")
    for (shape, label, tags), things in standing.items():
        first = things[0]["data"] if len({thing["name"] for thing in things}) > 1 else things[0]["name"]
        places = Placements(np.array([thing["matrices"][0] for thing in things], float))
        scene.add(shapes[shape], name=_unique(scene, first), label=label, tags=tags, placements=places)
    for thing in moving:
        motion, forms, place = _over_time(thing, shapes, np.array(said["times"], float))
        scene.add(
            forms.meshes[0],
            name=_unique(scene, thing["name"]),
            label=_label(thing),
            tags=thing["tags"],
            placements=Placements(place[None]),
            motion=motion,
            forms=forms if len(forms.meshes) > 1 else None,
        )
    return scene


def _label(thing: dict[str, Any]) -> str:
    """Its own or its collection's, or that of what made an instance of it."""
    own = _own_label(thing)
    emitter = thing["emitter"]
    return own if own != UNLABELLED or emitter is None else _own_label(emitter)


def _own_label(thing: dict[str, Any]) -> str:
    if thing["label"] is not None:
        try:
            label_id(str(thing["label"]))
        except InputError as error:
            raise InputError(f"object {thing['name']!r}: tussock_label: {error}") from None
        return str(thing["label"])
    known = (name.lower().replace(" ", "-") for name in thing["collections"])
    return next((name for name in known if name in LABELS), UNLABELLED)


def _unique(scene: Scene, name: str) -> str:
    taken = {thing.name for thing in scene.objects}
    number, free = 1, name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free


def _over_time(thing: dict[str, Any], shapes: list[Mesh], times: FloatArray) -> tuple[Trajectory, Forms, FloatArray]:
    """The rigid path of an object, its shapes, and what is left of its matrix: its size, its skew, its mirror."""
    matrices = np.array(thing["matrices"] * (len(times) if len(thing["matrices"]) == 1 else 1), float)
    turns, rest = _rigid(matrices[:, :, :3])
    path = _path(times, turns, matrices[:, :, 3])
    numbers = thing["shapes"]
    if np.abs(rest - rest[0]).max() <= 1e-4 * max(1.0, np.abs(rest[0]).max()):
        place = np.concatenate([rest[0], np.zeros((3, 1))], 1)
        if len(numbers) == 1:
            return path, Forms(times[:1], (shapes[numbers[0]],)), place
        return path, Forms(times, tuple(shapes[number] for number in numbers)), place
    # Its size changes: that is a change of shape.
    numbers = numbers * (len(times) if len(numbers) == 1 else 1)
    grown = tuple(_stretched(shapes[number], by) for number, by in zip(numbers, rest, strict=True))
    return path, Forms(times, grown), np.eye(4)[:3]


def _stretched(mesh: Mesh, by: FloatArray) -> Mesh:
    triangles = mesh.triangles[:, ::-1] if np.linalg.det(by) < 0 else mesh.triangles
    return Mesh.of(mesh.vertices.astype(float) @ by.T, triangles, mesh.materials, mesh.triangle_materials)


def _rigid(axes: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rotations (n, 3, 3) and remainders (n, 3, 3) with ``axes = rotation @ remainder`` (polar decomposition)."""
    left, sizes, right = np.linalg.svd(axes)
    turns = left @ right
    # A mirror belongs to the shape, not to the path.
    flip = np.where(np.linalg.det(turns) < 0, -1.0, 1.0)[:, None, None]
    turns = turns * flip
    rest = np.swapaxes(right, 1, 2) @ (sizes[:, :, None] * right) * flip
    return turns, rest


def _path(times: FloatArray, turns: FloatArray, positions: FloatArray) -> Trajectory:
    matrices = np.concatenate([turns, positions[:, :, None]], 2)
    return Trajectory.through(times, [Pose.from_matrix(matrix) for matrix in matrices])


def _device(entry: dict[str, Any], path: Path) -> Sensor:
    name = entry["sensor"]
    if not isinstance(name, str) or not name:
        raise InputError.of(f"camera {entry['name']!r}: tussock_sensor", "must be the name of a sensor", name)
    beside = path.parent / name
    try:
        sensor = load_sensor(beside if name.lower().endswith(".toml") else name)
        return sensor.with_(**entry["settings"]) if entry["settings"] else sensor
    except InputError as error:
        raise InputError(f"camera {entry['name']!r}: {error}") from None


def _sensor(entry: dict[str, Any], times: list[float], path: Path) -> BlendSensor:
    sensor = _device(entry, path)
    matrices = np.array(entry["matrices"], float)
    turns = _rigid(matrices[:, :, :3])[0] @ _CAMERA_TO_SENSOR
    place = _path(np.array(times, float), turns, matrices[:, :, 3])
    still = (matrices == matrices[0]).all()
    return BlendSensor(entry["name"], sensor, place.pose(times[0]) if still else place)
