"""Shared arrays: nobody changes them, neither who gave them nor who got them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tussock.arrays import read_only, sealed, shown
from tussock.frames.frame import Frame
from tussock.learn.measured_pulses import measured_pulses
from tussock.poses import Pose, Trajectory
from tussock.scene.forms import Forms
from tussock.scene.instances import Instances
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.scene.texture import Texture
from tussock.scene.volumes import Volumes
from tussock.sensors.catalogue import load_sensor, sensor_names
from tussock.simulate import scan


def test_what_is_kept_does_not_follow_what_was_given() -> None:
    given = np.arange(6.0).reshape(2, 3)
    kept = read_only(given)
    given[0, 0] = 99
    assert kept[0, 0] == 0 and given.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        kept[0, 0] = 1


def test_a_read_only_view_of_something_writable_is_copied() -> None:
    given = np.arange(4.0)
    view = given[:]
    view.flags.writeable = False
    kept = read_only(view)
    given[0] = 99
    assert kept[0] == 0


def test_what_is_safe_already_is_not_copied() -> None:
    once = read_only([1.0, 2.0])
    assert read_only(once) is once
    assert read_only(once, np.float32) is not once


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (2, 3)])
def test_shapes_stay(shape: tuple[int, ...]) -> None:
    assert read_only(np.zeros(shape), np.float32).shape == shape


def test_other_orders_become_contiguous() -> None:
    kept = read_only(np.asfortranarray(np.arange(6).reshape(2, 3)), np.uint8)
    assert kept.flags.c_contiguous and kept.dtype == np.uint8 and kept.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_view_leaves_the_givers_own_array_writable() -> None:
    given = np.zeros(3)
    seen = shown(given)
    given[0] = 1
    assert seen[0] == 1 and not seen.flags.writeable
    assert sealed(given) is given and not given.flags.writeable


def arrays_of(thing: Any) -> Iterator[np.ndarray]:
    if isinstance(thing, np.ndarray):
        yield thing
    elif isinstance(thing, list | tuple):
        for item in thing:
            yield from arrays_of(item)
    elif isinstance(thing, dict):
        yield from arrays_of(list(thing.values()))
    elif hasattr(thing, "__dict__") and type(thing).__module__.startswith("tussock"):
        yield from arrays_of(list(vars(thing).values()))


@pytest.mark.parametrize("name", sensor_names())
def test_the_pulses_that_all_sensors_of_a_kind_share_cannot_be_changed(name: str) -> None:
    sensor = load_sensor(name)
    for frame in (0, 1):
        arrays = list(arrays_of(sensor.pulses(frame)))
        assert len(arrays) >= 5 and not any(array.flags.writeable for array in arrays)
    with pytest.raises(ValueError, match="read-only"):
        sensor.pulses().directions[:] *= 2


def some_volumes() -> Volumes:
    one = np.ones(1, np.float32)
    return Volumes(
        np.zeros((1, 3), np.float32), np.array([[9, 0, 0, 9, 0, 9]], np.float32), one, np.ones((1, 1), np.uint16),
        one.astype(np.uint16), one.astype(np.uint32), one, 1.0, np.array([2.0], np.float32),
    )  # fmt: skip


def test_a_scene_and_a_frame_cannot_be_changed_by_who_reads_them(plain_sensor) -> None:
    scene = Scene()
    corners, faces, paint = np.eye(3, dtype=np.float32), np.array([[0, 1, 2]], np.uint32), np.zeros(1, np.uint16)
    uv = np.zeros((3, 2), np.float32)
    path = Trajectory.through([0.0, 1.0], [Pose(), Pose.at(1)])
    flag = Mesh(corners, faces, triangle_materials=paint, uv=uv)
    scene.add(flag, name="flag", motion=path, forms=Forms(np.array([0.0, 1.0]), (flag, box())))
    scene.add(plane((9, 9)), name="ground", placements=Placements(np.eye(4)[None, :3].copy()))
    scene.add_volumes(some_volumes(), position=(3, 0, 1))
    frame = scan(scene, plain_sensor(), Pose.at(0, 0, 2), keep_misses=True)
    things = {
        "scene": scene.everything, "instances": Instances.among(scene.everything), "frame": frame,
        "some rows": frame.select(frame.hit), "pulses": measured_pulses(frame),
        "texture": Texture(np.zeros((2, 2, 3), np.uint8)),
    }  # fmt: skip
    for name, thing in things.items():
        arrays = list(arrays_of(thing))
        assert arrays and not any(array.flags.writeable for array in arrays), name
    # what was given stays the giver's own, and is not followed
    corners[:] = 7
    faces[:] = 0
    assert flag.vertices.max() == 1 and flag.triangles.tolist() == [[0, 1, 2]]
    assert all(array.flags.writeable for array in (corners, faces, paint, uv))


def test_a_frame_of_changed_columns_is_made_by_copying(plain_sensor) -> None:
    scene = Scene()
    scene.add(plane((9, 9)))
    frame = scan(scene, plain_sensor(), Pose.at(0, 0, 2))
    with pytest.raises(ValueError, match="read-only"):
        frame.range[0] = 1.0
    far = Frame(**frame.columns | {"range": frame.range + 1}, meta=frame.meta)
    assert (far.range == frame.range + 1).all()
