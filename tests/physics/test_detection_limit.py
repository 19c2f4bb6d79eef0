"""BlenSor's detection limit, eq (1) corrected, at the sensor: which walls are seen from how far."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tussock.scene.material import Material
from tussock.scene.scene import Scene
from tussock.signal.detection import Limit, least_reflectivity
from tussock.simulate import scan

PAPER = {"receiver.detection_limit": {}}  # the defaults: 10 % at 50 m, 80 % at 120 m


@pytest.fixture(scope="session")
def is_seen(pencil: Callable, add_wall: Callable) -> Callable[..., bool]:
    def look(reflectance: float, distance: float, *, normal: tuple = (-1, 0, 0), **settings: object) -> bool:
        scene = Scene()
        add_wall(scene, [distance, 0, 0], normal, material=Material(reflectance=reflectance))
        return len(scan(scene, pencil(**(settings or PAPER)))) == 1

    return look


@pytest.mark.parametrize(("distance", "least"), [(50.0, 0.10), (85.0, 0.45), (120.0, 0.80)])
def test_the_three_points_of_the_line(distance: float, least: float, is_seen: Callable) -> None:
    assert least_reflectivity(distance, Limit(50.0, 120.0, 0.1, 0.8)) == pytest.approx(least, abs=1e-15)
    # A tenth of a millimetre inwards: at the very ends the rounding of the range would decide.
    distance += {50.0: 1e-4, 120.0: -1e-4}.get(distance, 0.0)
    low, high = 0.0, 1.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        low, high = (low, middle) if is_seen(middle, distance) else (middle, high)
    assert high == pytest.approx(least, abs=3e-6), "the darkest wall that a scan sees"


@pytest.mark.parametrize("distance", [50.5, 60.0, 70.0, 99.0, 110.0, 119.5])
def test_just_above_and_just_below(distance: float, is_seen: Callable) -> None:
    least = 0.1 + 0.01 * (distance - 50)
    assert is_seen(least + 1e-4, distance)
    assert not is_seen(least - 1e-4, distance)
    grazing = (-0.2, 1.0, 0.0)
    assert is_seen(least + 1e-4, distance, normal=grazing), "the surface counts, not the angle"
    assert not is_seen(least - 1e-4, distance, normal=grazing)


def test_near_and_far(is_seen: Callable) -> None:
    assert is_seen(0.001, 49.9)
    assert not is_seen(0.0, 49.9)
    assert is_seen(0.80001, 119.99)
    assert not is_seen(1.0, 120.01)
    assert is_seen(0.001, 150.0, **{"receiver.detection_limit": None}), "without the limit"


def test_all_four_numbers_are_the_users(is_seen: Callable) -> None:
    fog = {"near_m": 10.0, "near_reflectivity": 0.2, "far_m": 30.0, "far_reflectivity": 0.6}
    for distance in (10.01, 14.0, 20.0, 26.0, 29.99):
        least = 0.2 + 0.4 * (distance - 10) / 20
        assert is_seen(least + 1e-4, distance, **{"receiver.detection_limit": fog})
        assert not is_seen(least - 1e-4, distance, **{"receiver.detection_limit": fog})
    assert not is_seen(1.0, 30.1, **{"receiver.detection_limit": fog})


def test_sub_rays_are_judged_each_on_its_own(pencil: Callable, add_wall: Callable) -> None:
    """A beam half on a dark wall, half on a bright one: only the bright half comes back."""
    scene = Scene()
    add_wall(scene, [80, 2, 0], (-1, 0, 0), material=Material(reflectance=0.39))
    add_wall(scene, [80, -2, 0], (-1, 0, 0), material=Material(reflectance=0.41))
    beam = {"beam.rays": 9, "beam.divergence_horizontal_mrad": 5.0, "beam.divergence_vertical_mrad": 5.0}
    # 0.01° to the right: the centre and the points straight above and below fall on the bright wall.
    frame = scan(scene, pencil((-0.01,), **beam, **PAPER, **{"receiver.mode": "all"}))
    assert frame.intensity[0] == pytest.approx(0.41 * 6 / 9, rel=1e-4)
