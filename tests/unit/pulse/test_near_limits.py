"""A detection limit that ends within the first metre, as of a sensor for the hand, is a limit like any other."""

from __future__ import annotations

import pytest

from tussock.scene.material import Material
from tussock.scene.primitives import box
from tussock.scene.scene import Scene
from tussock.sensors.patterns.grid import GridPattern
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan


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
