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
