from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest
from test_ties import _trace

from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, ground, plane, sphere
from tussock.scene.scene import Scene
from tussock.sensors.noise import Noise
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.trace.embree import Device, host_isas
from tussock.trace.packets import LANES, NOTHING, hit_at, load_ray, new_packet
from tussock.trace.ray import Ray
from tussock.trace.world import World


def test_an_empty_scene_is_refused() -> None:
    with pytest.raises(InputError, match=r"^scene 'field': is empty; add an object first$"):
        World(Scene("field"))


def test_later_changes_of_the_scene_do_not_reach_it(plain_sensor: Callable) -> None:
    scene = Scene()
    scene.add(box((20, 20, 20)))
    world = World(scene)
    before = scan(world, plain_sensor())
    scene.add(box((2, 2, 2)), name="in the way")
    scene.replace_material("default", Material(name="black", reflectance=0.0))
    assert scan(world, plain_sensor()).identical(before)
    assert not scan(scene, plain_sensor()).identical(before)


def test_it_needs_nobody_to_keep_the_meshes(plain_sensor: Callable) -> None:
    def built() -> World:
        scene = Scene()
        scene.add(sphere(5.0, subdivisions=3))
        scene.add(box(), placements=Placements.of([[4.0, 0, 0], [0, 4.0, 0]]))
        return World(scene)

    world = built()
    litter = [np.full(100_000, np.nan, np.float32) for _ in range(20)]
    frame = scan(world, plain_sensor(), keep_misses=True)
    del litter
    assert frame.hit.all()
    assert scan(built(), plain_sensor(), keep_misses=True).identical(frame)


def test_ids_labels_and_materials(plain_sensor: Callable) -> None:
    """One wall on each side: plain, of two materials, of copies, and one whose material has a label of its own."""
    grey, dark, bark = (
        Material(name="grey", reflectance=0.5),
        Material(name="dark", reflectance=0.1),
        Material(name="bark", reflectance=0.3, label="trunk"),
    )
    wall = box((0.1, 4, 4), material=grey)
    halves = Mesh(wall.vertices, wall.triangles, (grey, dark, bark), np.array([0, 1] * 6))
    scene = Scene(labels={"my-wall": 4000})
    scene.add(wall, position=(5, 0, 0), name="front", label="building")
    scene.add(halves, position=(-5, 0, 0), name="back", label="my-wall")
    copied = box((4, 0.1, 4), material=dark)
    scene.add(copied, placements=Placements.of([[0, 9.0, 0], [0, 5.0, 0], [0, 7.0, 0]]), name="left")
    scene.add(box((4, 0.1, 4), material=bark), position=(0, -5, 0), name="right", label="vegetation")
    frame = scan(scene, plain_sensor(elevation_deg=[0.0]), Pose.at(0, 0, 0.3))
    names = frame.meta["materials"]
    material = np.array(names)[frame.material]
    by_object = {name: frame.select(frame.object_id == scene[name].id) for name in ("front", "back", "left", "right")}
    assert all(len(part) > 20 for part in by_object.values())
    assert set(by_object["front"].label) == {50}
    assert set(by_object["back"].label) == {4000}
    assert set(by_object["left"].label) == {0}
    assert set(by_object["right"].label) == {71}, "the material's label counts more than the object's"
    assert set(material[frame.object_id == scene["back"].id]) <= {"grey", "dark"}
    assert set(by_object["left"].placement) == {1}
    assert set(by_object["front"].placement) == set(by_object["right"].placement) == {0}
    assert frame.meta["objects"] == {"1": "front", "2": "back", "3": "left", "4": "right"}
    assert set(material[frame.object_id == scene["left"].id]) == {"dark"}
    reflectance = {"grey": 0.5, "dark": 0.1, "bark": 0.3}
    towards = np.maximum(np.abs(np.cos(frame.azimuth)), np.abs(np.sin(frame.azimuth)))
    expected = np.array([reflectance[name] for name in material]) * towards
    assert np.allclose(frame.intensity, expected, atol=1e-5)


def test_equal_materials_are_one_and_of_one_name_may_differ(plain_sensor: Callable) -> None:
    scene = Scene()
    scene.add(box((1, 9, 9), material=Material(name="a", reflectance=0.2)), position=(5, 0, 0))
    scene.add(box((1, 9, 9), material=Material(name="a", reflectance=0.2)), position=(-5, 0, 0))
    scene.add(box((9, 1, 9), material=Material(name="a", reflectance=0.8)), position=(0, 5, 0))
    world = World(scene)
    assert [material.reflectance for material in world.materials] == [0.2, 0.8]
    frame = scan(world, plain_sensor(elevation_deg=[0.0]))
    assert frame.intensity[frame.object_id == 3].max() == pytest.approx(0.8, abs=1e-3)
    assert frame.intensity[frame.object_id == 2].max() == pytest.approx(0.2, abs=1e-3)


def test_a_scene_in_which_all_moves(plain_sensor: Callable) -> None:
    scene = Scene()
    way = Trajectory.through([0.0, 1.0], [Pose.at(5, 0, 0), Pose.at(6, 0, 0)])
    scene.add(box((1, 9, 9)), motion=way)
    frame = scan(scene, plain_sensor(elevation_deg=[0.0]))
    ahead = np.abs(frame.azimuth) < 1e-3
    assert frame.true_range[ahead][0] == pytest.approx(4.5, abs=1e-4)
    assert set(frame.object_id) == {1}


def test_before_and_after_its_path_an_object_stands(plain_sensor: Callable) -> None:
    scene = Scene()
    way = Trajectory.through([0.25, 0.35], [Pose.at(5, 0, 0), Pose.at(7, 0, 0)])
    scene.add(box((1, 9, 9)), motion=way)
    world = World(scene)
    sensor = plain_sensor(elevation_deg=[0.0], steps=1000)
    for number, expected in [(0, 4.5), (9, 6.5)]:
        frame = scan(world, sensor, frame=number)
        ahead = np.abs(frame.azimuth) < 1e-3
        assert frame.true_range[ahead] == pytest.approx(expected, abs=1e-4)


def test_what_stands_needs_no_second_scene() -> None:
    scene = Scene()
    scene.add(plane((1, 1)))
    world = World(scene)
    assert world.moving(0.0, 0.1).surroundings.moving == 0
    scene.add(plane((1, 1)), motion=Trajectory.through([0.0, 1.0], [Pose.at(1), Pose.at(2)]))
    assert World(scene).moving(0.0, 0.1).surroundings.moving != 0


def test_straight_ways_take_two_time_steps_and_turns_take_more() -> None:
    def steps(way: Trajectory) -> int:
        scene = Scene()
        scene.add(box((1, 1, 1)), motion=way)
        return int(World(scene).moving(0.0, 0.1).tables.placed.steps[-1])

    assert steps(Trajectory.through([0.0, 1.0], [Pose.at(0), Pose.at(50, 3)])) == 2
    slow = steps(Trajectory.through([0.0, 1.0], [Pose.at(0), Pose.at(50, yaw=0.5)]))
    fast = steps(Trajectory.through([0.0, 1.0], [Pose.at(0), Pose.at(50, yaw=3)]))
    assert 2 < slow < fast <= 129


@pytest.mark.parametrize(
    ("centre", "origin"),
    [
        ((0, 0, 0), (0, 0, 0)),
        ((99, -99, 10), (0, 0, 0)),
        ((300, 0, 10), (300, 0, 0)),
        ((500_000.4, 5_200_000, 30), (500_000, 5_200_000, 0)),
    ],
)
def test_far_scenes_are_shifted_by_whole_metres(centre: tuple, origin: tuple) -> None:
    scene = Scene()
    scene.add(box((2, 2, 2)), position=centre)
    assert World(scene).origin.tolist() == list(origin)


def test_counts() -> None:
    scene = Scene()
    scene.add(box(), placements=Placements.of(np.zeros((5, 3))))
    scene.add(plane((1, 1)))
    world = World(scene)
    assert (world.triangles, world.placements) == (62, 6)


def test_a_world_goes_to_another_process_and_is_built_again_there(plain_sensor: Callable) -> None:
    """A spawned child has nothing of the parent's memory: what it scans comes of what was pickled."""
    scene = Scene("travelling", labels={"thing": 77})
    scene.add(ground((60, 60), cells=(20, 20), heights=lambda x, y: 0.2 * np.sin(x)), label="terrain")
    leaf = Material(name="leaf", reflectance=0.6)
    scene.add(sphere(0.5, material=leaf), placements=Placements.of([[3, 3, 1], [4, -2, 1], [-3, 0, 1]]), label="thing")
    scene.add(box((2, 1, 1)), motion=Trajectory.through([0.0, 1.0], [Pose.at(5, 5, 1), Pose.at(5, -5, 1)]))
    pinned = host_isas()[0]
    world = World(scene, device=Device(pinned, "own"))  # what was asked of the tracer goes with it
    sensor = plain_sensor(noise=Noise(ray_sigma_m=0.01))
    expected = scan(world, sensor, Pose.at(0, 0, 2), seed=4)
    assert len(np.unique(expected.object_id)) == 3
    assert (expected.meta["tracer"]["isa"], expected.meta["tracer"]["edges"]) == (pinned, "own")
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        columns, meta = pool.submit(_scan_elsewhere, world, sensor).result(timeout=240)
    assert {name: column.tobytes() for name, column in expected.columns.items()} == columns
    assert meta == expected.meta


def _scan_elsewhere(world: World, sensor: Sensor) -> tuple[dict[str, bytes], dict[str, Any]]:
    frame = scan(world, sensor, Pose.at(0, 0, 2), seed=4)
    return {name: column.tobytes() for name, column in frame.columns.items()}, frame.meta


@pytest.mark.parametrize("isa", host_isas()[-1:])
def test_shapes_in_place_are_asked_which_is_in_front(isa: str) -> None:
    """Of two boards a nanometre apart, each placed once, Embree cannot tell: our own arithmetic does, from either side."""
    scene = Scene()
    for k, height in enumerate((0.0, 1e-9)):
        scene.add(plane((4, 4)), name=str(k), position=(0, 0, height))
    world = World(scene, device=Device(isa, "own"))
    assert world.baked(0) and world.baked(1)
    for side, nearer in ((20.0, 1), (-20.0, 0)):
        packet = new_packet()
        for l in range(LANES):
            ray = Ray(*map(np.float32, (0.05 * l - 0.37, 0.21, side, 0.0, 0.0, -np.sign(side), 0.0, 100.0, 0.0)))
            load_ray(packet, l, ray, NOTHING)
        _trace(world.still.surroundings, packet)
        assert {int(hit_at(packet, l).geometry) for l in range(LANES)} == {nearer}
