"""What the studio asks: texts that the command line reads back, and words that make the same bytes."""

from __future__ import annotations

import shlex

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tussock.cli.app import app
from tussock.errors import InputError
from tussock.files.formats import load_frame
from tussock.poses import Pose
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.scene_files.scene_save import save_scene
from tussock.sensors.catalogue import load_sensor, sensor_names
from tussock.studio.ask import Ask, Walk, pose_text
from tussock.studio.words import command_line, python_code
from tussock.trace.world import World


def small_scene() -> Scene:
    scene = Scene("lot")
    scene.add(plane((40.0, 40.0)), name="ground", label="terrain")
    scene.add(box((2.0, 2.0, 2.0)), name="crate", label="building", position=(6, 2, 1))
    return scene


angle = st.floats(-179, 179)


@settings(max_examples=60, deadline=None)
@given(st.tuples(*[st.floats(-5e5, 5e5)] * 3), st.tuples(angle, st.floats(-88, 88), angle))
def test_a_pose_as_text_is_near_and_says_itself_again(place, angles):
    turn = Rotation.from_euler("xyz", angles, degrees=True)
    text = pose_text(place, turn.as_quat())
    pose = Pose.parse(text)
    assert np.abs(pose.position - place).max() <= 0.0005 + 1e-9
    assert (Rotation.from_quat(pose.quaternion) * turn.inv()).magnitude() < np.deg2rad(0.02)
    assert Pose.parse(pose_text(pose.position, pose.quaternion)).position.tolist() == pose.position.tolist()


@pytest.mark.parametrize("sensor", sensor_names())
def test_noise_can_be_taken_from_every_sensor(sensor):
    quiet = Ask(sensor=sensor, noise=False).device().noise
    assert quiet.ray_sigma_m == quiet.bias_sigma_m == quiet.pointing_sigma_mrad == quiet.dropout == 0
    assert Ask(sensor=sensor).device() == load_sensor(sensor)


def test_a_walk_goes_at_its_speed_and_looks_where_it_goes():
    walk = Walk(((0, 0, 2), (5, 0, 2), (5, 5, 2)), speed=2.0)
    path = walk.trajectory()
    assert walk.seconds == pytest.approx(5.0)
    assert path.pose(1.0).position.tolist() == pytest.approx([2.0, 0.0, 2.0])
    heading = path.pose(4.5).rotation[:, 0]
    assert heading.tolist() == pytest.approx([0.0, 1.0, 0.0], abs=1e-9)
    with pytest.raises(InputError, match="two places"):
        Walk(((0, 0, 2),)).trajectory()
    with pytest.raises(InputError, match="stand still"):
        Walk(((0, 0, 2), (0, 0, 2))).trajectory()


def run(line: str) -> None:
    words = shlex.split(line)
    assert words[0] == "tussock"
    app(words[1:], standalone_mode=False)


ASKS = {
    "plain": Ask(pose="0,0,2"),
    "negative": Ask(pose="-1.5,-2,2,0,5,-30", seed=7),
    "knobs": Ask(pose="0,0,2", rays=4, mode="all", rate=5.0, noise=False),
    "air": Ask(pose="0,0,2", weather="fog 40 m", wind="4 m/s from 200 gusts 0.2"),
    "later": Ask(pose="0,0,2", time=0.3),
    "walk": Ask(walk=Walk(((0, 0, 2), (3, 0, 2), (3, 4, 2))), time=0.5),
}


@pytest.mark.parametrize("name", ASKS)
def test_words_make_the_same_bytes(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ask = ASKS[name]
    scene = small_scene()
    save_scene(scene, "lot.toml")
    if ask.walk is not None:
        ask.walk.trajectory().save_tum("path.tum")
    seen = ask.scan(World(ask.around(scene)))
    run(command_line(ask, "lot.toml", "line.npz"))
    assert load_frame("line.npz").identical(seen)
    exec(compile(python_code(ask, "lot.toml", "python.npz"), "studio", "exec"), {})
    assert load_frame("python.npz").identical(seen)


def test_dry_takes_the_weather_of_a_scene_away_on_the_command_line_too(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    scene = small_scene()
    save_scene(Ask(weather="fog 20 m").around(scene), "fog.toml")
    ask = Ask(weather="dry")
    run(command_line(ask, "fog.toml", "dry.npz"))
    assert load_frame("dry.npz").identical(ask.scan(World(scene)))
    run(command_line(Ask(), "fog.toml", "wet.npz"))
    assert not load_frame("wet.npz").identical(load_frame("dry.npz"))
