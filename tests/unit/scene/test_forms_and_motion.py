"""Things that change their shape, and where things are over time."""

from __future__ import annotations

import csv

import numpy as np
import pytest

from tussock.errors import InputError, OutputError
from tussock.poses import Pose, Trajectory
from tussock.scene.fingerprint import fingerprint
from tussock.scene.forms import Forms
from tussock.scene.material import Material
from tussock.scene.placements import Placements
from tussock.scene.primitives import box
from tussock.scene.scene import Scene
from tussock.scene_files.motion_data import object_paths, sample_times, save_paths
from tussock.scene_files.scene_file import load_scene
from tussock.scene_files.scene_save import save_scene
from tussock.simulate import scan


def forming():
    scene = Scene("forms")
    paint = Material(name="blue"), Material(name="red", label="car")
    scene.add(box((1, 1, 1), material=paint[0]), position=(20, 0, 0), name="still")
    shapes = tuple(box((1, 40, 40 * size), material=paint[k]) for k, size in enumerate((1, 1)))
    thick = Forms(np.array([0.0, 0.1]), (shapes[0], box((3, 40, 40), material=paint[1])))
    scene.add(shapes[0], name="wall", position=(10, 0, 0), forms=thick)
    return scene


def test_a_frame_sees_the_shape_of_its_time(plain_sensor):
    scene, sensor = forming(), plain_sensor()
    for number, front, material in ((0, 9.5, "blue"), (1, 8.5, "red"), (5, 8.5, "red")):
        frame = scan(scene, sensor, Pose(), frame=number)
        seen = frame.object_id == scene["wall"].id
        assert seen.sum() > 100
        np.testing.assert_allclose(frame.true_xyz[seen & (np.abs(frame.azimuth) < 0.3), 0], front, atol=1e-4)
        assert {frame.meta["materials"][m] for m in frame.material[seen]} == {material}
        assert (frame.label[seen] == (10 if material == "red" else 0)).all()


def test_forms_are_saved_and_loaded(tmp_path, plain_sensor):
    scene = forming()
    save_scene(scene, tmp_path / "f.toml")
    again = load_scene(tmp_path / "f.toml")
    assert fingerprint(again) == fingerprint(scene)
    assert scan(again, plain_sensor(), Pose(), frame=1).identical(scan(scene, plain_sensor(), Pose(), frame=1))


def test_forms_need_times_that_increase():
    with pytest.raises(InputError, match="forms times: must be finite and increase"):
        Forms(np.array([1.0, 0.5]), (box(), box()))
    with pytest.raises(InputError, match="one time for each mesh"):
        Forms(np.array([1.0]), (box(), box()))


def moving():
    scene = Scene("m")
    path = Trajectory.through([0.0, 2.0], [Pose.at(0, 0, 0), Pose.at(4, 0, 0, yaw=np.pi / 2)])
    scene.add(box(), name="cart/one", motion=path, position=(0, 1, 0))
    scene.add(box(), name="posts", placements=Placements.of([[1, 2, 3], [4, 5, 6]], scale=2.0, yaw=0.5))
    return scene


def test_poses_are_motion_and_placement(tmp_path):
    times = sample_times(0.0, 2.0, 10.0)
    assert len(times) == 21 and times[-1] == 2.0
    (cart,) = object_paths(moving(), times)
    np.testing.assert_allclose(
        cart.path.positions[[0, 10, 20]], [[0, 1, 0], [2 - 0.5**0.5, 0.5**0.5, 0], [3, 0, 0]], atol=1e-12
    )
    both = object_paths(moving(), times, ["posts", "cart/one"])
    assert [(p.object, p.placement) for p in both] == [("posts", 0), ("posts", 1), ("cart/one", 0)]
    np.testing.assert_allclose(both[1].path.quaternions[7], Pose.at(yaw=0.5).quaternion, atol=1e-12)

    save_paths(both, tmp_path / "m.csv")
    with (tmp_path / "m.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 63
    assert rows[-1]["object"] == "cart/one" and float(rows[-1]["x"]) == pytest.approx(3)
    files = save_paths(both, tmp_path / "m.tum")
    assert [f.name for f in files] == ["m_posts.tum", "m_posts_000001.tum", "m_cart-one.tum"]
    np.testing.assert_allclose(Trajectory.load(files[2]).positions, cart.path.positions, atol=1e-9)
    with pytest.raises(OutputError, match="exists already"):
        save_paths(both, tmp_path / "m.csv")
    with pytest.raises(OutputError, match=r"\.csv or \.tum"):
        save_paths(both, tmp_path / "m.txt")


def test_mistakes_about_motion():
    scene = Scene("still")
    scene.add(box())
    with pytest.raises(InputError, match="nothing moves"):
        object_paths(scene, sample_times(0, 1, 1))
    with pytest.raises(InputError, match="no such object"):
        object_paths(moving(), sample_times(0, 1, 1), ["cart"])
    for bad in ((1, 0, 1), (0, 1, 0), (0, 1e9, 1e9)):
        with pytest.raises(InputError):
            sample_times(*bad)


def test_fingerprints_tell_scenes_apart():
    base = fingerprint(moving())
    assert fingerprint(moving()) == base
    other = moving()
    other.replace_material("default", Material(name="default", reflectance=0.31))
    assert fingerprint(other) != base
    shifted = moving()
    shifted.add(box(), name="more")
    assert fingerprint(shifted) != base
