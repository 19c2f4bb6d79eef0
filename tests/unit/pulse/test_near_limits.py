"""Small scans against their closed forms: limits within the first metre, halls of mirrors, what responds, sunlight, media around a sensor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from test_kept_frames import sensor as made_sensor

from tussock.poses import Pose, Trajectory
from tussock.pulse.immersed import media_around, media_differ
from tussock.pulse.sunlight import SKY
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.primitives import box, plane
from tussock.scene.response import VegetationResponse
from tussock.scene.scene import Scene
from tussock.sensors.patterns.grid import GridPattern
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.trace.world import World

f = np.float32


@pytest.mark.parametrize(("reflectance", "distance", "seen"), [(0.5, 0.5, True), (0.1, 0.5, False), (0.5, 2.0, False)])
def test_a_limit_below_one_metre(reflectance: float, distance: float, seen: bool) -> None:
    scene = Scene("wall")
    scene.add(box((0.1, 4, 4), material=Material(reflectance=reflectance)), position=(distance + 0.05, 0, 0))
    pattern = GridPattern(azimuth_deg=[0.0], elevation_deg=[0.0], frame_hz=10.0)
    limit = {"near_m": 0.1, "far_m": 0.9, "near_reflectivity": 0.0, "far_reflectivity": 0.8}  # 0.4 at half a metre
    sensor = Sensor(name="near", pattern=pattern).with_(**{"receiver.detection_limit": limit})
    assert len(scan(scene, sensor)) == seen


@pytest.mark.parametrize(
    ("material", "seen"),
    [
        (Material(reflectance=0.3, specular=0.2), True),
        (Material(reflectance=0.1, retro=0.5), True),
        (Material(reflectance=0.1, specular=0.2), False),
        (Material(reflectance=0.3), False),
    ],
)
def test_a_limit_is_of_all_that_a_surface_sends_back(material: Material, seen: bool) -> None:
    """0.4 at half a metre: what it scatters, what it shines and what it turns back together."""
    scene = Scene("wall")
    scene.add(box((0.1, 4, 4), material=material), position=(0.55, 0, 0))
    pattern = GridPattern(azimuth_deg=[0.0], elevation_deg=[0.0], frame_hz=10.0)
    limit = {"near_m": 0.1, "far_m": 0.9, "near_reflectivity": 0.0, "far_reflectivity": 0.8}
    sensor = Sensor(name="near", pattern=pattern).with_(**{"receiver.detection_limit": limit})
    assert len(scan(scene, sensor)) == seen


def test_one_echo_is_measured_once_and_two_by_themselves() -> None:
    """Strongest and last of one wall have one range with noise; of a post before a wall each has noise of its own."""
    scene = Scene("walls")
    scene.add(box((0.1, 9, 9)), position=(6.05, 0, 0))
    scene.add(box((0.1, 0.03, 9)), position=(3.05, 0.03, 0))
    azimuths = [*(5.0 + 0.1 * k for k in range(6)), *(0.2 * k for k in range(6))]
    pattern = GridPattern(azimuth_deg=azimuths, elevation_deg=[0.0], frame_hz=10.0)
    given = {
        "receiver.mode": "strongest+last",
        "noise.ray_sigma_m": 0.1,
        "beam.rays": 9,
        "beam.divergence_horizontal_mrad": 30.0,
        "beam.divergence_vertical_mrad": 30.0,
    }
    frame = scan(scene, Sensor(name="two", pattern=pattern).with_(**given))
    off, last = (
        frame.range - frame.true_range,
        scan(scene, Sensor(name="last", pattern=pattern).with_(**(given | {"receiver.mode": "last"}))),
    )
    kinds = set()
    for pulse in range(12):
        mine = frame.pulse == pulse
        (one, two), (near, far) = off[mine], frame.true_range[mine]
        kinds.add(bool(near == far))
        assert (abs(one - two) < 1e-6) == (near == far)
        if near == far:  # the first draw, as where the last alone is told
            assert one == pytest.approx(float((last.range - last.true_range)[last.pulse == pulse][0]), abs=1e-6)
    assert kinds == {True, False}


def hall(bounces: int) -> tuple[Any, Sensor]:
    """A mirror all over the wall 3 m ahead, and one 5 m behind the sensor of which 0.5 comes back."""
    scene = Scene("hall")
    scene.add(box((0.1, 40, 40), material=Material(name="mirror", reflectance=0.0, mirror=0.8)), position=(3.05, 0, 0))
    scene.add(box((0.1, 40, 40), material=Material(name="wall", reflectance=0.5)), position=(-5.05, 0, 0))
    pattern = GridPattern(azimuth_deg=[0.0] * 7, elevation_deg=[0.0], frame_hz=10.0)
    changes = {
        "beam.rays": 9, "beam.divergence_horizontal_mrad": 2.0, "beam.divergence_vertical_mrad": 2.0, "receiver.mode": "all",
        "receiver.max_bounces": bounces, "receiver.max_range_m": 60.0,
    }  # fmt: skip
    return scan(scene, Sensor(name="one", pattern=pattern).with_(**changes), Pose.at(0, 0, 0)), changes


def test_every_sub_ray_that_goes_on_is_counted_once() -> None:
    """Nine sub-rays of seven pulses, more than a packet holds: 3 + 8 m, 0.8² · 0.5 of the light, once each."""
    frame, _ = hall(1)
    assert len(frame) == 7 and frame.pulse.tolist() == list(range(7))
    np.testing.assert_allclose(frame.range, 11.0, atol=1e-3)
    np.testing.assert_allclose(frame.intensity, 0.64 * 0.5, rtol=1e-3)
    assert len(hall(0)[0]) == 0


@pytest.mark.parametrize(
    ("mean", "sigma", "spread"), [(0.0, 0.0, False), (1.0, 0.0, True), (0.0, 1.0, True), (-0.25, 0.0, True)]
)
def test_shapes_respond_by_their_mean_and_by_their_spread(mean: float, sigma: float, spread: bool) -> None:
    """By 1 m, the same for all of 40 pulses, where the spread is none; with a wall 5 m away at 5 m at most."""
    scene = Scene()
    scene.add(box((0.5, 9, 9)), name="hedge", position=(3.25, 0, 0), tags=["vegetation"],
              response=VegetationResponse(mean_m=mean, sigma_m=sigma))  # fmt: skip
    scene.add(box((0.5, 9, 9)), name="wall", position=(5.25, 0, 0))
    pattern = GridPattern(azimuth_deg=[0.0] * 40, elevation_deg=[0.0], frame_hz=10.0)
    frame = scan(scene, Sensor(name="one", pattern=pattern).with_(**{"receiver.model": "hits"}), seed=3, threads=1)
    off = frame.range - 3.0
    assert len(frame) == 40 and off.max() < 2 + 1e-5
    assert (np.abs(off).max() > 1e-4) == spread
    if sigma == 0:
        np.testing.assert_allclose(off, mean, atol=1e-5)
    else:
        assert len(np.unique(off)) > 30 and 0.5 < off.std() < 1.3 and abs(off.mean()) < 0.5


def test_each_material_of_a_shape_responds_in_its_own_way() -> None:
    """The left half of a hedge moves by 0.25 m, the right one by none; a wall beside it has no response at all."""
    halves = [Material(name=side, reflectance=0.5, response=VegetationResponse(mean_m=mean, sigma_m=0.0))
              for side, mean in (("left", 0.25), ("right", 0.0))]  # fmt: skip
    corners = np.array([[4.0, -3, -3], [4, 0, -3], [4, 0, 3], [4, -3, 3], [4, 3, -3], [4, 3, 3]])
    faces = np.array([[0, 1, 2], [0, 2, 3], [1, 4, 5], [1, 5, 2]])
    scene = Scene()
    scene.add(box((0.5, 1, 1)), name="wall", position=(-4.25, 0, 0))
    scene.add(Mesh.of(corners, faces, tuple(halves), [1, 1, 0, 0]), name="hedge", tags=["vegetation"])
    azimuths = [*np.linspace(-15, 15, 16), 180.0]
    pattern = GridPattern(azimuth_deg=azimuths, elevation_deg=[0.0], frame_hz=10.0)
    frame = scan(scene, Sensor(name="one", pattern=pattern).with_(**{"receiver.model": "hits"}), seed=3, threads=1)
    way = np.deg2rad(azimuths)[frame.pulse]
    off = frame.range - 4 / np.abs(np.cos(way))
    np.testing.assert_allclose(off, np.where((way > 0) & (way < 2), 0.25, 0), atol=1e-5)
    assert len(frame) == 17


def lit_scene() -> Scene:
    """A board overhead and a sheet that light goes through, on a floor."""
    leaf = Material(name="leaf", reflectance=0.3, leaf_transmission=0.5)
    scene = Scene()
    scene.add(plane((60, 60), material=Material(name="soil", reflectance=0.2)), name="floor")
    wall = np.array([[5.0, -9, 0], [5, 9, 0], [5, 9, 9], [5, -9, 9]])
    scene.add(Mesh.of(wall, np.array([[0, 1, 2], [0, 2, 3]]), (leaf,)), name="sheet")
    return scene


@pytest.mark.parametrize(("sun", "sheet", "floor"), [
    ((180.0, 30.0), 0.3 * (math.cos(math.pi / 6) + SKY / 2) + 0.5 * SKY / 2, 0.2 * (0.5 + SKY)),
    ((0.0, 30.0), 0.3 * SKY / 2 + 0.5 * (math.cos(math.pi / 6) + SKY / 2), 0.2 * SKY),
    ((90.0, 90.0), 0.8 * SKY / 2, 0.2 * (1 + SKY)), ((0.0, -5.0), 0.0, 0.0),
])  # fmt: skip
def test_sunlight_of_many_groups_of_pulses(sun: tuple[float, float], sheet: float, floor: float) -> None:
    """1203 pulses, more than a thread takes at a time: the sheet, the sky above it, the floor before it, which it shades."""
    elevations = [20.0, 70.0, -30.0]
    pattern = GridPattern(azimuth_deg=np.linspace(8, -8, 401).tolist(), elevation_deg=elevations, frame_hz=10.0)
    device = Sensor(name="wide", pattern=pattern).with_(**{"receiver.near_infrared": True})
    world = World(lit_scene())
    out, pulses = np.zeros(1203, f), device.pulses(0)
    kept = {}
    for threads in (1, 3):
        frame = scan(world, device, Pose.at(0, 0, 1.0), sun=sun, keep_misses=True, threads=threads)
        kept[threads] = frame.near_infrared
    out = kept[1]
    assert len(out) == 1203
    np.testing.assert_array_equal(kept[1], kept[3])
    up = np.rad2deg(pulses.elevations)[frame.pulse]
    sky = SKY if sun[1] > 0 else 0.0
    for elevation, wanted in ((20.0, sheet), (70.0, sky), (-30.0, floor)):
        np.testing.assert_allclose(out[np.abs(up - elevation) < 1], wanted, atol=2e-3)


def test_media_around_a_sensor() -> None:
    """Looking up: out of glass that is in water, one after the other; a pane of index 1 and what is opaque are none."""
    scene = Scene()
    for size, index in ((8.0, 1.33), (4.0, 1.5)):
        clear = Material(name=f"clear {index}", reflectance=0.01, transmission=0.9, refractive_index=index)
        scene.add(box((size, size, size), material=clear), name=f"body {index}")
    pane = Material(name="pane", reflectance=0.01, transmission=0.9)
    scene.add(plane((9, 9), material=pane), name="pane", position=(0, 0, 1.0))
    beside = Material(name="beside", reflectance=0.01, transmission=0.9, refractive_index=2.0)
    scene.add(box((1, 1, 1), material=beside), name="above", position=(0, 0, 6.0))
    scene.add(box((40, 40, 1), material=Material(name="roof", refractive_index=1.8)), name="roof", position=(0, 0, 9))
    world = World(scene)
    around = world.still.surroundings
    assert media_differ(around)
    for z, wanted in (
        (0.0, (1.5, 1.33, 1, 1)),
        (3.0, (1.33, 1, 1, 1)),
        (5.0, (1, 1, 1, 1)),
        (6.2, (2.0, 1, 1, 1)),
        (20.0, (1, 1, 1, 1)),
    ):
        assert tuple(map(float, media_around(around, np.array([0.1, 0.2, z])))) == pytest.approx(wanted), z
    assert tuple(media_around(around, np.array([15.0, 15.0, 9.0]))) == (1, 1, 1, 1), "inside of the roof"


def test_the_range_of_a_wall_falls_as_the_sensor_goes_towards_it() -> None:
    """0.9 m in a frame: ahead and behind, at the time of each pulse."""
    scene = Scene()
    scene.add(box((0.1, 20, 20)), position=(9.05, 0, 0))
    path = Trajectory.through([0.0, 0.1], [Pose.at(0, 0, 0), Pose.at(0.9, 0, 0)])
    device = made_sensor(lasers=1, steps=8).with_(**{"pattern.elevation_deg": [0.0]})
    frame = scan(scene, device, path, threads=1)
    ahead = np.abs(np.cos(frame.azimuth)) > 0.5
    x = frame.range[ahead] * np.cos(frame.azimuth[ahead]) + 9.0 * frame.time[ahead]
    np.testing.assert_allclose(x, 9.0, atol=2e-3)
