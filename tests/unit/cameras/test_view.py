"""What every pixel sees, against every triangle tried one by one; boxes; shutters; the same bits on any threads."""

from __future__ import annotations

import numpy as np
import pytest
from small_scenes import brute_force, parked_cars

from tussock.cameras.boxes import boxes_in
from tussock.cameras.camera import Camera
from tussock.cameras.lenses.fisheye import Fisheye
from tussock.cameras.lenses.pinhole import Pinhole
from tussock.cameras.render import look
from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.scene.labels import LABELS
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.trace.world import World

POSE = Pose.at(0.0, 0.0, 1.6, pitch=0.08, yaw=0.05)


@pytest.fixture(scope="module")
def scene():
    return parked_cars()


@pytest.fixture(scope="module")
def world(scene):
    return World(scene)


@pytest.mark.parametrize("lens", [Pinhole(horizontal_fov_deg=80), Fisheye(horizontal_fov_deg=170)])
def test_instances_labels_and_ranges_agree_with_brute_force(scene, world, lens):
    camera = Camera(width=97, height=61, lens=lens)  # not a multiple of the tiles
    view = look(world, camera, POSE)
    owner, copy, nearest = brute_force(scene, camera, POSE)
    # On an edge the two may take different triangles: at most a few pixels in thousands.
    same = (view.object_id == owner) & (view.placement == copy)
    assert same.mean() > 0.998
    np.testing.assert_allclose(view.range[same], nearest[same], rtol=1e-5)
    np.testing.assert_array_equal(view.instance[same], view.instances.of(owner, copy)[same])
    names = {thing.id: thing.label for thing in scene.objects}
    expected = np.array([0, *(LABELS[names[k]] for k in sorted(names))])[owner]
    np.testing.assert_array_equal(view.label[same], expected[same])


def test_pixels_without_a_ray_see_nothing(world):
    """The corners of a fisheye: the tile before them met something, which must not be looked up again."""
    camera = Camera(width=96, height=64, lens=Fisheye(horizontal_fov_deg=170, circle_deg=90))
    view = look(world, camera, POSE, threads=1)
    v, u = np.mgrid[0:64, 0:96]
    blind = np.isnan(camera.rays(np.stack([u.ravel(), v.ravel()], 1))[1]).any(1).reshape(64, 96)
    assert 0.2 < blind.mean() < 0.8 and (view.object_id[~blind] > 0).any()
    assert np.isinf(view.range[blind]).all() and not view.normal[blind].any()
    for channel in (view.object_id, view.placement, view.label, view.material):
        assert not channel[blind].any()


def test_boxes_agree_with_brute_force(scene, world):
    camera = Camera(width=160, height=90, lens=Pinhole(horizontal_fov_deg=80))
    view = look(world, camera, POSE)
    boxes = {(box.name, box.placement): box for box in boxes_in(view, world)}
    owner, copy, _ = brute_force(scene, camera, POSE)
    assert set(boxes) == {
        ("cars", 0),
        ("cars", 1),
        ("hidden", 0),
    }  # "behind" is not in the picture, walls are no things
    for (name, number), found in boxes.items():
        thing = scene[name]
        alone, _, _ = brute_force(scene, camera, POSE, only=(thing.id, number))
        visible = (owner == thing.id) & (copy == number)
        assert extent(alone > 0) == pytest.approx(found.whole, abs=1)
        if visible.any():
            assert extent(visible) == pytest.approx(found.visible, abs=1)
        else:
            assert found.visible is None
        hidden = 1 - visible.sum() / (alone > 0).sum()
        assert found.occlusion == pytest.approx(hidden, abs=0.02)
        matrix = thing.placements.matrices[number]
        np.testing.assert_allclose(found.center, matrix[:, 3], atol=1e-9)
        np.testing.assert_allclose(
            found.size, np.ptp(thing.mesh.vertices, axis=0) * np.linalg.norm(matrix[:, :3], axis=0)
        )
        np.testing.assert_allclose(POSE.apply(found.camera_corners), found.corners, atol=1e-9)
        np.testing.assert_allclose(found.camera_rotation, POSE.rotation.T @ found.rotation, atol=1e-12)
        assert found.plain()["corners"] == found.corners.tolist()
    assert boxes["hidden", 0].occlusion == 1.0
    assert 0.1 < boxes["cars", 1].occlusion < 0.95
    assert boxes["cars", 0].occlusion == 0.0


def extent(mask):
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    return columns[0], rows[0], columns[-1], rows[-1]


def test_boxes_of_chosen_labels_and_objects(world):
    view = look(world, Camera(width=64, height=36), POSE)
    assert {box.name for box in boxes_in(view, world, of=["wall", "cars"])} == {"wall", "cars"}
    with pytest.raises(InputError, match="carz"):
        boxes_in(view, world, of=["carz"])


def test_through_a_fisheye_boxes_are_found_too(world):
    camera = Camera(width=120, height=120, lens=Fisheye(horizontal_fov_deg=200))
    view = look(world, camera, POSE)
    boxes = {(box.name, box.placement): box for box in boxes_in(view, world)}
    shown = view.instance == boxes["cars", 0].instance
    assert boxes["cars", 0].visible == extent(shown) and boxes["hidden", 0].visible is None


def test_depth_only_and_any_number_of_threads_give_the_same(world):
    camera = Camera(width=130, height=70)
    one, three = look(world, camera, POSE, threads=1), look(world, camera, POSE, threads=3)
    for name in ("range", "object_id", "placement", "label", "material", "normal"):
        np.testing.assert_array_equal(getattr(one, name), getattr(three, name))
    short = look(world, camera, POSE, depth_only=True)
    np.testing.assert_array_equal(short.range, one.range)
    with pytest.raises(InputError, match="depth alone"):
        _ = short.instance


def passing_car(speed: float) -> tuple[Scene, World]:
    scene = Scene("passing")
    path = Trajectory.through([0.0, 1.0], [Pose.at(10.0, 0.0), Pose.at(10.0, -speed)])
    scene.add(box((1.0, 1.0, 20.0)), name="post", label="pole", motion=path)
    return scene, World(scene)


def test_a_rolling_shutter_shears_what_moves():
    _, world = passing_car(10.0)
    camera = Camera(width=200, height=100, lens=Pinhole(fx=100.0), shutter={"kind": "rolling", "readout_s": 0.2})
    view = look(world, camera, time=0.1)
    for line in (0, 50, 99):
        time = 0.1 + 0.2 * line / 100
        right = np.flatnonzero(view.object_id[line])[-1]
        expected = camera.project([[9.5, -10.0 * time - 0.5, 0.0]])[0, 0]
        assert expected - 1.01 <= right <= expected + 0.01  # the last middle of a pixel before the edge
    still = look(world, camera.changed(shutter={"kind": "global"}), time=0.1)
    assert np.ptp([np.flatnonzero(row).mean() for row in still.object_id]) == 0


def test_a_rolling_shutter_sees_the_camera_itself_move():
    scene = Scene("post")
    scene.add(box((1.0, 1.0, 20.0)), position=(10.0, 0.0, 0.0))
    path = Trajectory.through([0.0, 1.0], [Pose.at(0.0, 0.0), Pose.at(0.0, 2.0, yaw=0.2)])
    camera = Camera(width=200, height=100, lens=Pinhole(fx=100.0), shutter={"kind": "rolling", "readout_s": 0.5})
    view = look(scene, camera, path, time=0.25)
    for line in (0, 99):
        pose = path.pose(0.25 + 0.5 * line / 100)
        corners = camera.project([[x, y, 0.0] for x in (9.5, 10.5) for y in (0.5, -0.5)], pose)[:, 0]
        seen = np.flatnonzero(view.object_id[line])
        assert -0.01 <= seen[0] - corners.min() <= 1.01 and -0.01 <= corners.max() - seen[-1] <= 1.01


def test_far_from_zero_the_view_is_the_same():
    shift = np.array([4.5e5, 5.2e6, 300.0])
    near, far = Scene("near"), Scene("far")
    for scene, at in ((near, np.zeros(3)), (far, shift)):
        scene.add(plane((50.0, 50.0)), position=at)
        scene.add(box((1.0, 2.0, 3.0)), position=at + np.array([8.0, 1.0, 1.5]))
    camera = Camera(width=64, height=48)
    here = look(near, camera, Pose.at(0, 0, 2))
    there = look(far, camera, Pose(shift + np.array([0, 0, 2])))
    np.testing.assert_array_equal(here.object_id, there.object_id)
    seen = np.isfinite(here.range)
    np.testing.assert_allclose(here.range[seen], there.range[seen], atol=1e-4)


@pytest.mark.parametrize(("arguments", "word"), [({"frame": -1}, "frame"), ({"time": np.inf}, "time")])
def test_a_time_that_cannot_be(world, arguments, word):
    with pytest.raises(InputError, match=word):
        look(world, Camera(width=8, height=8), **arguments)


def test_a_moving_camera_needs_a_path_that_covers_the_image(world):
    path = Trajectory.through([0.0, 1.0], [Pose(), Pose.at(1.0)])
    with pytest.raises(InputError, match=r"trajectory: must cover the image from 2 s"):
        look(world, Camera(width=8, height=8), path, time=2.0)
