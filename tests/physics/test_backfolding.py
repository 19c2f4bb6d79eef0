"""Backfolding of time-of-flight cameras, eq (3) of BlenSor: the upper half of the range appears nearer by half."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tussock.scene.material import Material
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan

GREY = Material(reflectance=0.5)


@pytest.mark.parametrize(
    ("distance", "expected"), [(3.0, 3.0), (9.0, 9.0), (9.999, 9.999), (10.001, 0.001), (11.0, 1.0), (19.999, 9.999)]
)
def test_both_sides_of_half_the_range(distance: float, expected: float, pencil: Callable, add_wall: Callable) -> None:
    scene = Scene()
    add_wall(scene, [distance, 0, 0], (-1, 0, 0), material=GREY)
    sensor = pencil(**{"receiver.max_range_m": 20.0, "receiver.backfolding": True})
    frame = scan(scene, sensor)
    assert frame.true_range == pytest.approx([distance], abs=1e-5)
    assert frame.range == pytest.approx([expected], abs=1e-5)
    assert frame.true_xyz[0] == pytest.approx([distance, 0, 0], abs=1e-5)
    assert frame.xyz[0] == pytest.approx([expected, 0, 0], abs=1e-5)
    assert scan(scene, sensor.with_(**{"receiver.backfolding": False})).range == pytest.approx([distance], abs=1e-5)


def test_a_slanted_wall_breaks_where_the_half_is(add_wall: Callable) -> None:
    """A camera of 176 × 144 pixels on a wall that runs from 5 m to 18 m away."""
    scene = Scene()
    add_wall(scene, [10, 0, 0], (-1, 1.6, 0), material=GREY, size=60.0)
    camera = load_sensor("tof-camera").with_(**{"receiver.backfolding": True, "noise.ray_sigma_m": 0.0, "beam.rays": 1})
    frame = scan(scene, camera)
    true = frame.true_range.astype(float)
    assert true.min() < 8
    assert true.max() > 15
    np.testing.assert_allclose(frame.range, np.where(true < 10, true, true - 10), atol=1e-5)
    assert frame.range.max() < 10
    loud = scan(scene, camera.with_(**{"noise.ray_sigma_m": 0.004}))
    assert loud.range.max() < 10, "noise comes first: it is the phase that folds"
    assert np.array_equal(loud.true_range, frame.true_range)
