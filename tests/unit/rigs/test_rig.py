"""Rigs: files, mounting poses, and all sensors at the same moments."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.cameras.camera import Camera
from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.rigs.capture import capture, moments_between, sensor_seed
from tussock.rigs.rig import MountedCamera, MountedLidar, Rig, load_rig
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.trace.world import World

RIG = """
name = "buggy"
rate_hz = 10
[body.path]
times_s = [0, 1]
positions_m = [[0, 0, 0], [4, 1, 0]]
yaw_deg = [0, 60]
[[lidars]]
name = "top"
sensor = "vlp-16"
position_m = [0.2, 0, 1.9]
settings = {"noise.ray_sigma_m" = 0.0, "noise.bias_sigma_m" = 0.0, "beam.rays" = 1}
[[lidars]]
name = "side"
sensor = "vlp-16"
position_m = [0, 0.8, 1.0]
rotation_deg = [0, 0, 90]
settings = {"beam.rays" = 1}
[[cameras]]
name = "front"
position_m = [0.5, 0, 1.6]
rotation_deg = [0, 5, 0]
trigger_s = 0.02
camera = {width = 48, height = 32, samples = 1, lens = {kind = "pinhole", fx = 40}}
"""


@pytest.fixture(scope="module")
def world():
    scene = Scene("yard")
    scene.add(plane((80.0, 80.0)), name="ground", label="terrain")
    scene.add(box((2.0, 2.0, 4.0)), name="tower", label="building", position=(12.0, 3.0, 2.0))
    return World(scene)


def saved(tmp_path, text=RIG):
    path = tmp_path / "rig.toml"
    path.write_text(text)
    return path


def test_a_rig_file_and_its_moments(tmp_path, world):
    rig = load_rig(saved(tmp_path))
    assert rig.sensor_names == ["top", "side", "front"]
    np.testing.assert_allclose(rig.mount("side").rotation @ [1, 0, 0], [0, 1, 0], atol=1e-12)
    moments = list(capture(rig, world, start=0.2, end=0.4, views=True, seed=5))
    assert [m.number for m in moments] == [2, 3]
    moment = moments[0]
    assert set(moment.frames) == {"top", "side"} and set(moment.pictures) == set(moment.views) == {"front"}
    assert moment.frames["top"].meta["start_s"] == pytest.approx(0.2)
    assert moment.pictures["front"].time == pytest.approx(0.22)
    # transforms multiply out
    body = rig.body.pose(0.2).matrix
    np.testing.assert_allclose(moment.transform("world", "body"), body)
    np.testing.assert_allclose(moment.transform("world", "top"), body @ rig.mount("top").matrix)
    chain = moment.transform("front", "side") @ moment.transform("side", "top")
    np.testing.assert_allclose(chain, moment.transform("front", "top"), atol=1e-12)
    np.testing.assert_allclose(
        moment.transform("body", "top", time=0.37), rig.mount("top").matrix, atol=1e-12
    )  # fixed to the body, whenever
    # points of two LIDARs meet on the same ground
    for name in ("top", "side"):
        frame = moment.frames[name]
        ground = frame.world_xyz(true=True)[frame.hit & (frame.object_id == 1)]
        assert np.abs(ground[:, 2]).max() < 1e-3


def test_a_moment_is_the_same_whatever_else_is_captured(tmp_path, world):
    rig = load_rig(saved(tmp_path))
    both = list(capture(rig, world, start=0.0, end=0.2, seed=1))
    alone = next(capture(rig, world, start=0.1, seed=1))
    assert alone.frames["top"].identical(both[1].frames["top"])
    np.testing.assert_array_equal(alone.pictures["front"].rgb, both[1].pictures["front"].rgb)


def test_two_sensors_of_a_kind_draw_different_noise(world):
    sees_all = load_sensor("vlp-16").with_(**{"receiver.detects": ()})
    lidars = [MountedLidar(name, sees_all, Pose.at(0, 0, 2)) for name in ("a", "b")]
    moment = next(capture(Rig(Trajectory.standing(Pose()), lidars), world))
    a, b = moment.frames["a"], moment.frames["b"]
    np.testing.assert_array_equal(a.true_range, b.true_range)
    assert not np.array_equal(a.range, b.range)
    assert sensor_seed(0, "a") != sensor_seed(0, "b") != sensor_seed(1, "b")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('name = "side"', 'name = "top"', ("unique", "'top'")),
        ('name = "front"', 'name = "top"', ("unique", "'top'")),
        ('name = "front"', 'name = "world"', ("sensor name", "world")),
        ("rate_hz = 10", "rate_hz = 25", ("rate_hz", "top")),
        ("rate_hz = 10", "rate_hz = 0", ("rate_hz", "greater than 0")),
        ("trigger_s = 0.02", "trigger_s = 0.3", ("trigger_s", "front")),
        ("fx = 40", "fx = 0", ("fx", "greater than 0")),
        ("width = 48", "width = 0", ("width", "1")),
        ('sensor = "vlp-16"', 'sensor = "vlp-61"', ("vlp-61", "vlp-16")),
        ("position_m = [0, 0.8, 1.0]", "positon_m = [0, 0.8, 1.0]", ("positon_m", "position_m")),
        ('"noise.ray_sigma_m"', '"noise.ray_sigma"', ("ray_sigma",)),
    ],
)
def test_a_rig_that_cannot_be_is_refused_in_one_line(tmp_path, old, new, words):
    assert old in RIG
    with pytest.raises(InputError) as error:
        load_rig(saved(tmp_path, RIG.replace(old, new, 1)))
    text = str(error.value)
    assert "\n" not in text and text.startswith(str(tmp_path)) and all(word in text for word in words)


def test_no_sensors():
    with pytest.raises(InputError, match="no sensors"):
        Rig(Trajectory.standing(Pose()))


def test_time_ranges(tmp_path, world):
    rig = load_rig(saved(tmp_path))
    assert list(moments_between(rig, 0.1, 0.4)) == [1, 2, 3]
    assert list(moments_between(rig, 0.3, None)) == [3]
    with pytest.raises(InputError, match=r"trajectory: must cover the moments from 0.5 s to 3.* s, got '0 s to 1 s'"):
        next(capture(rig, world, start=0.5, end=3.0))
    for start, end in ((-1.0, 1.0), (0.5, 0.5), (0.0, np.inf), (0.11, 0.12)):
        with pytest.raises(InputError, match="time range"):
            moments_between(rig, start, end)


def test_where_the_body_stands_the_animation_of_the_scene_counts():
    scene = Scene("passing")
    scene.add(box(), motion=Trajectory.through([0.0, 2.0], [Pose.at(5.0), Pose.at(9.0)]))
    camera = MountedCamera("eye", Camera(width=8, height=8, samples=1))
    rig = Rig(Trajectory.standing(Pose()), cameras=[camera])
    assert len(list(capture(rig, scene, start=1.5, end=1.7))) == 2
    with pytest.raises(InputError, match=r"animation: must cover the moments .*, got '0 s to 2 s'"):
        next(capture(rig, scene, start=1.5, end=5.0))
