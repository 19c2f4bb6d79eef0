"""Giving a scene the spread of a real one, after table 1 of Mattes and Pace (2021)."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.learn.match_response import match_response, responding, with_response
from tussock.learn.measured_pulses import measured_pulses
from tussock.learn.range_spread import measure_range_spread
from tussock.poses import Pose
from tussock.scene.material import Material
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, plane, sphere
from tussock.scene.response import VegetationResponse
from tussock.scene.scene import Scene
from tussock.simulate import scan

EYE = Pose.at(0, 0, 2)


def bushes(wall: float | None = None) -> Scene:
    """Coarse bushes across the view, on the ground, and a wall so far behind them."""
    scene = Scene("bushes")
    scene.add(plane((100, 100)), name="ground")
    places = Placements.of(np.stack([np.full(15, 10.0), np.linspace(-8, 8, 15), np.full(15, 1.2)], 1))
    scene.add(sphere(1.0, subdivisions=3), name="bushes", placements=places, tags=["vegetation"])
    if wall is not None:
        scene.add(box((0.1, 60, 20)), name="wall", position=(10 + wall, 0, 5))
    return scene


@pytest.fixture(scope="module")
def sensor(plain_sensor):
    return plain_sensor(steps=720)


@pytest.mark.parametrize("wanted", [1.594310, 0.2])
@pytest.mark.parametrize("where", [None, (3, -12, -1, 18, 12, 6)])
def test_a_scan_has_the_variance_of_table_1(sensor, wanted: float, where) -> None:
    found = match_response(bushes(), sensor, EYE, wanted, box=where, frames=4)
    assert found.before.variance < 0.1
    # `after` and this one are scans that the search did not see.
    assert found.after.variance == pytest.approx(wanted, rel=0.1)
    frame = scan(found.scene, sensor, EYE, seed=77, frame=50)
    chosen = None if where is not None else frame.object_id == 2
    assert measure_range_spread(measured_pulses(frame), where, chosen=chosen).variance == pytest.approx(
        wanted, rel=0.15
    )
    assert found.scene["bushes"].response == VegetationResponse(sigma_m=found.sigma)
    assert found.scene["ground"].response is None


def test_what_stands_behind_takes_more_sigma(sensor) -> None:
    """The error is capped, so it must be larger for the same variance."""
    free, capped = (match_response(bushes(wall), sensor, EYE, 0.5, frames=2) for wall in (None, -0.3))
    assert capped.sigma > 1.15 * free.sigma
    assert capped.after.variance == pytest.approx(0.5, rel=0.12)


def test_only_what_responds_is_told() -> None:
    scene = bushes()
    leaf = Material(name="leaf", label="leaf")
    scene.add(box((1, 1, 1), material=leaf), name="plant", tags=["vegetation"])
    scene.add(box((1, 1, 1)), name="opted out", tags=["vegetation"], response=VegetationResponse(sigma_m=0))
    own = Material(name="own", response=VegetationResponse(sigma_m=0.1))
    scene.add(box((1, 1, 1), material=own), name="own")
    assert responding(scene) == [2, 5]
    new = with_response(scene, VegetationResponse(sigma_m=0.7))
    assert new["bushes"].response == VegetationResponse(sigma_m=0.7)
    assert new["own"].mesh.materials[0].response == VegetationResponse(sigma_m=0.7)
    assert new["plant"].response is None and new["opted out"].response == VegetationResponse(sigma_m=0)
    assert scene["bushes"].response is None and scene["own"].mesh.materials == (own,)


def test_of_a_mixed_shape_only_the_parts_that_respond(plain_sensor) -> None:
    one = box((1, 1, 1))
    half = np.arange(len(one.triangles)) % 2
    mixed = type(one)(
        one.vertices, one.triangles, materials=(Material(name="crown"), Material(name="stem", label="stem")),
        triangle_materials=half.astype(np.uint16),
    )  # fmt: skip
    scene = Scene("tree")
    scene.add(mixed, name="tree", tags=["vegetation"])
    crown, stem = with_response(scene, VegetationResponse(sigma_m=0.3))["tree"].mesh.materials
    assert crown.response == VegetationResponse(sigma_m=0.3) and stem.response is None


@pytest.mark.parametrize(
    ("scene", "wanted", "words"),
    [
        (bushes, 1e-6, "match: the scene already spreads ranges by"),
        (lambda: bushes(1.2), 50.0, "match: no response gives the scene this variance"),
        (bushes, 0.0, "variance: must be a number above 0"),
        (bushes, float("nan"), "variance: must be a number above 0"),
    ],
)
def test_what_cannot_be_matched(sensor, scene, wanted: float, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        match_response(scene(), sensor, EYE, wanted, frames=1)
    assert "\n" not in str(caught.value)


def test_a_scene_without_vegetation(sensor) -> None:
    scene = Scene("bare")
    scene.add(plane((10, 10)))
    with pytest.raises(InputError, match="no shape responds as vegetation; give one the tag"):
        match_response(scene, sensor, EYE, 1.0)
