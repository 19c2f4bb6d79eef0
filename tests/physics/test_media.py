"""Media: total reflection, media in media, a sensor under water; against ray paths drawn on paper."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tussock.poses import Pose
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.primitives import box, ground
from tussock.scene.scene import Scene
from tussock.simulate import scan
from tussock.trace.world import World

MICRO = 1e-4
GREY = Material(name="grey", reflectance=0.5)
WATER, GLASS = 1.33, 1.5


def clear(index: float, transmission: float = 1.0) -> Material:
    return Material(name=f"clear {index}", reflectance=0.0, transmission=transmission, refractive_index=index)


def prism(corners: list[tuple[float, float]], material: Material) -> Mesh:
    """An upright prism over a triangle, z from −1 to 1, its faces outward."""
    low, high = (np.column_stack([np.array(corners, float), np.full(3, z)]) for z in (-1.0, 1.0))
    points = np.concatenate([low, high])
    faces = np.array([[0, 1, 2], [3, 4, 5], [0, 1, 4], [0, 4, 3], [1, 2, 5], [1, 5, 4], [2, 0, 3], [2, 3, 5]])
    a, b, c = (points[faces[:, i]] for i in range(3))
    inward = (np.cross(b - a, c - a) * (a - points.mean(0))).sum(1) < 0
    faces[inward] = faces[inward][:, ::-1]
    return Mesh.of(points, faces, (material,))


def straight(pencil: Callable, **settings: object):
    return pencil([0.0], **settings)


def test_total_reflection_costs_nothing(pencil: Callable, add_wall: Callable) -> None:
    """In by one face of a prism, totally reflected by the second at 45°, out by the third: two passes, not three."""
    scene = Scene()
    scene.add(prism([(10, -1), (10, 1), (12, -1)], clear(GLASS, 0.9)))
    wall = add_wall(scene, [11, -4, 0], (0, 1, 0), material=GREY, size=2.0)
    frame = scan(scene, straight(pencil))
    assert frame.object_id.tolist() == [wall.id]
    assert frame.true_range[0] == pytest.approx(10 + GLASS * 2 + 3, abs=MICRO)
    assert frame.intensity[0] == pytest.approx(0.5 * 0.9**4, abs=1e-5)  # 0.328


@pytest.mark.parametrize("angle", [0.0, 3.0, -4.0])
def test_glass_in_water(angle: float, pencil: Callable, add_wall: Callable) -> None:
    """Faces across x: the angle in each medium is Snell's, n sin θ the same in all; 13.49 m straight ahead."""
    scene = Scene()
    scene.add(box((4, 8, 8), material=clear(WATER)), position=(7, 0, 0))
    scene.add(box((1, 8 - 1e-2, 8 - 1e-2), material=clear(GLASS)), position=(6.5, 0, 0))
    add_wall(scene, [12, 0, 0], (-1, 0, 0), material=GREY, size=10.0)
    frame = scan(scene, pencil([angle]))
    sine = np.sin(np.radians(angle))
    lengths = {1.0: 5.0 + 3.0, WATER: 3.0, GLASS: 1.0}
    expected = sum(n * length / np.sqrt(1 - (sine / n) ** 2) for n, length in lengths.items())
    assert frame.true_range[0] == pytest.approx(expected, abs=MICRO)
    if angle == 0.0:
        assert frame.true_range[0] == pytest.approx(13.49, abs=MICRO)


def test_bodies_that_overlap_are_left_in_any_order(pencil: Callable, add_wall: Callable) -> None:
    """Glass that sticks out of the water: in between the ray is in both, behind the water still in glass."""
    scene = Scene()
    scene.add(box((4, 8, 8), material=clear(WATER)), position=(7, 0, 0))  # x from 5 to 9
    scene.add(box((4, 6, 6), material=clear(GLASS)), position=(10, 0, 0))  # x from 8 to 12
    add_wall(scene, [14, 0, 0], (-1, 0, 0), material=GREY, size=10.0)
    frame = scan(scene, straight(pencil))
    assert frame.true_range[0] == pytest.approx(5 + 3 * WATER + 4 * GLASS + 2, abs=MICRO)


@pytest.mark.parametrize("angle", [0.0, 10.0, 20.0])
def test_a_sensor_in_a_tank_of_water(angle: float, pencil: Callable, add_wall: Callable) -> None:
    scene = Scene()
    scene.add(box((4, 4, 4), material=clear(WATER)))
    wall = add_wall(scene, [5, 0, 0], (-1, 0, 0), material=GREY, size=20.0)
    frame = scan(scene, pencil([angle]))
    inside = np.radians(angle)
    outside = np.arcsin(WATER * np.sin(inside))
    assert frame.object_id.tolist() == [wall.id]
    assert frame.true_range[0] == pytest.approx(2 * WATER / np.cos(inside) + 3 / np.cos(outside), abs=MICRO)


@pytest.mark.parametrize("closed", [True, False])
def test_a_stone_under_water(closed: bool, pencil: Callable, add_wall: Callable) -> None:
    """Light is slower in water: the stone at 2 m appears at 2.66 m, though no surface of water is in between."""
    scene = Scene()
    water = clear(WATER)
    if closed:
        scene.add(box((20, 20, 4), material=water))
    else:
        scene.add(ground((20, 20), material=water), position=(0, 0, 2))
    add_wall(scene, [2, 0, 0], (-1, 0, 0), material=GREY, size=2.0)
    assert scan(scene, straight(pencil)).true_range[0] == pytest.approx(2 * WATER, abs=MICRO)
    above = scan(scene, straight(pencil), Pose.at(0, 0, 3))
    assert len(above) == 0, "over the water the same direction meets nothing"


def test_a_pane_in_water_has_water_behind_it(pencil: Callable, add_wall: Callable) -> None:
    scene = Scene()
    scene.add(box((20, 20, 20), material=clear(WATER)))
    add_wall(scene, [1, 0, 0], (-1, 0, 0), material=clear(1.0, 0.8))
    add_wall(scene, [3, 0, 0], (-1, 0, 0), material=GREY)
    frame = scan(scene, straight(pencil))
    assert frame.true_range[0] == pytest.approx(3 * WATER, abs=MICRO)
    assert frame.intensity[0] == pytest.approx(0.8**2 * 0.5, abs=1e-4)


@pytest.mark.parametrize("off", [0.0, 2_000.0, 10_000.0])
def test_mirrors_far_from_the_middle_lose_no_pulse(off: float, pencil: Callable, add_wall: Callable) -> None:
    """A corridor of two mirrors, ``off`` from the tracer's zero: up to seven bounces, none on the mirror just left."""
    scene = Scene()
    mirror = Material(name="mirror", reflectance=0.0, mirror=0.9)
    place = np.array([off, off / 3, 0.0])
    for side in (1, -1):
        add_wall(scene, place + np.array([20, side, 0]), (0, -side, 0), size=60.0, material=mirror)
    end = add_wall(scene, place + np.array([20, 0, 0]), (-1, 0, 0), material=GREY, size=2.0)
    if off:
        add_wall(scene, -place, (-1, 0, 0), material=GREY, size=2.0)
    world = World(scene)
    assert np.abs(place - world.origin).max() >= 0.9 * off
    azimuths = np.linspace(-35.0, 35.0, 281) + 0.013
    frame = scan(world, pencil(azimuths, **{"receiver.max_bounces": 16}), Pose.at(*place), keep_misses=True)
    assert frame.hit.all()
    assert (frame.object_id == end.id).all()
    expected = 20 / np.cos(frame.azimuth.astype(float))
    # Each bounce starts where single precision puts it: steps of 1 mm at 10 km.
    assert np.abs(frame.true_range - expected).max() < 1e-3 + 2e-6 * off


def test_true_xyz_is_where_the_light_went(pencil: Callable, add_wall: Callable) -> None:
    """With pointing noise the pulse does not go where the sensor says; the truth lies on the wall all the same."""
    scene = Scene()
    add_wall(scene, [10, 0, 0], (-1, 0, 0), material=GREY, size=100.0)
    sensor = pencil(np.linspace(-40, 40, 161), np.linspace(-20, 20, 9), **{"noise.pointing_sigma_mrad": 8.0})
    frame = scan(scene, sensor, seed=4)
    assert len(frame) > 1000
    assert np.abs(frame.true_xyz[:, 0] - 10).max() < 1e-4
    a, e = frame.azimuth.astype(float), frame.elevation.astype(float)
    said = np.stack([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)], 1)
    assert np.allclose(frame.xyz, frame.range[:, None] * said, atol=1e-4), "what is measured lies where the sensor says"
    off = np.arccos(np.clip((frame.true_xyz * said).sum(1) / np.linalg.norm(frame.true_xyz, axis=1), -1, 1))
    assert np.sqrt((off**2).mean() / 2) == pytest.approx(8e-3, rel=0.06)
