"""The plain tracer against what can be counted on the fingers: it is the measure for the fast one."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tussock.poses import Pose, Trajectory
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, plane, sphere
from tussock.scene.scene import Scene
from tussock.trace import reference
from tussock.trace.reference import trace_reference

TRIANGLE = Mesh(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]]), np.array([[0, 1, 2]]))


def one(scene: Scene, origin: list, direction: list, time: float = 0.0, max_range: float = np.inf) -> tuple:
    unit = np.array([direction], float) / np.linalg.norm(direction)
    hits = trace_reference(scene, [origin], unit, [time], max_range)
    return tuple(column[0] for column in hits)


def scene_with(mesh: Mesh, **options: object) -> Scene:
    scene = Scene()
    scene.add(mesh, **options)
    return scene


def test_one_triangle_from_both_sides() -> None:
    scene = scene_with(TRIANGLE)
    assert one(scene, [0.2, 0.3, 5], [0, 0, -1]) == (5, 1, 0, 0, 1)
    assert one(scene, [0.2, 0.3, -5], [0, 0, 1]) == (5, 1, 0, 0, 1)
    missed = (np.inf, 0, 0, 0, 0)
    assert one(scene, [0.6, 0.6, 5], [0, 0, -1]) == missed, "beyond the long side"
    assert one(scene, [-0.1, 0.3, 5], [0, 0, -1]) == missed
    assert one(scene, [0.3, -0.1, 5], [0, 0, -1]) == missed
    assert one(scene, [0.2, 0.3, 5], [0, 0, 1]) == missed, "behind"
    assert one(scene, [-1, 0.3, 0], [1, 0, 0]) == missed, "along its plane"
    assert one(scene, [0.2, 0.3, 5], [0, 0, -1], max_range=4.9) == missed, "too far"


def test_slanted_ray() -> None:
    distance, *_, cosine = one(scene_with(TRIANGLE), [1.2, 0.3, 1], [-1, 0, -1])
    assert distance == pytest.approx(np.sqrt(2))
    assert cosine == pytest.approx(np.sqrt(0.5))


def test_the_nearest_of_all_objects_placements_and_triangles() -> None:
    scene = Scene()
    scene.add(plane((10, 10)), placements=Placements.of([[0, 0, 1.0], [0, 0, 3.0], [0, 0, 2.0]]))
    scene.add(TRIANGLE, position=(0, 0, 2.5))
    distance, thing, placement, triangle, _ = one(scene, [0.1, 0.2, 9], [0, 0, -1])
    assert (distance, thing, placement) == (6, 1, 1)
    assert triangle in (0, 1)
    assert one(scene, [0.1, 0.2, 2.8], [0, 0, -1])[:3] == (pytest.approx(0.3), 2, 0)
    assert one(scene, [0.1, 0.2, 0], [0, 0, 1])[:3] == (1, 1, 0)


def test_placed_copies_are_turned_scaled_and_mirrored() -> None:
    matrix = np.array([[[0, -2.0, 0, 5], [-3.0, 0, 0, 1], [0, 0, -1, 2]]])
    scene = scene_with(TRIANGLE, placements=Placements(matrix))
    distance, *_, cosine = one(scene, [4.5, 0.5, 0], [0, 0, 1])
    assert (distance, cosine) == (2, 1)
    assert one(scene, [5.5, 0.5, 0], [0, 0, 1])[0] == np.inf


def test_a_moving_object_is_where_it_is_at_each_rays_time() -> None:
    way = Trajectory.through([0.0, 2.0], [Pose.at(10, 0, 0), Pose.at(20, 0, 0, yaw=np.pi / 2)])
    scene = scene_with(box((2, 4, 2)), motion=way)
    assert one(scene, [0, 0, 0], [1, 0, 0], time=0)[0] == pytest.approx(9)
    assert one(scene, [0, 0, 0], [1, 0, 0], time=2)[0] == pytest.approx(18)
    distance, *_, cosine = one(scene, [0, 0, 0], [1, 0, 0], time=1)
    assert distance == pytest.approx(15 - np.sqrt(2))
    assert cosine == pytest.approx(np.sqrt(0.5))


def test_map_coordinates_cost_nothing() -> None:
    rng = np.random.default_rng(2)
    directions = rng.normal(size=(300, 3)) * [1, 0.2, 0.2]
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    near, far = Scene(), Scene()
    turn = Rotation.random(rng=rng).as_quat()[None]
    offset = np.array([500_000.0, 5_200_000.0, 300.0])
    for scene, place in ((near, np.zeros(3)), (far, offset)):
        scene.add(
            sphere(2.0, subdivisions=2), placements=Placements.of([place + np.array([6.0, 0, 0])], quaternions=turn)
        )
    here = trace_reference(near, np.zeros((300, 3)), directions)
    there = trace_reference(far, np.tile(offset, (300, 1)), directions)
    assert np.isfinite(here.range).sum() > 50
    assert np.array_equal(here.triangle, there.triangle)
    assert np.allclose(here.range, there.range, rtol=0, atol=1e-8)


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    scene = scene_with(sphere(1.0, subdivisions=2), placements=Placements.of(rng.uniform(-5, 5, (6, 3))))
    origins, directions = rng.uniform(-8, 8, (200, 3)), rng.normal(size=(200, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    whole = trace_reference(scene, origins, directions)
    monkeypatch.setattr(reference, "_PAIRS_AT_ONCE", 1)
    single = trace_reference(scene, origins, directions)
    assert np.array_equal(np.isfinite(whole.range), np.isfinite(single.range))
    assert np.array_equal(whole.triangle, single.triangle)
    met = np.isfinite(whole.range)
    assert np.allclose(whole.range[met], single.range[met], rtol=1e-12)
