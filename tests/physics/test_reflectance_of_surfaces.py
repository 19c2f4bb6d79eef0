"""What comes back from a wall at a known angle, through whole scans: Lambert, Phong, retro, colours, losses."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tussock.scene.material import Material
from tussock.scene.scene import Scene
from tussock.simulate import scan

ANGLES = [0.0, 5.0, 10.0, 20.0, 30.0, 44.0, 46.0, 60.0, 75.0, 85.0]


@pytest.fixture(scope="session")
def seen(pencil: Callable, add_wall: Callable) -> Callable[..., float]:
    """The intensity of a wall ``distance`` metres ahead, turned by an angle [deg] about the upright or level axis."""

    def intensity(
        material: Material, angle: float = 0.0, *, distance: float = 10.0, level: bool = False, back: bool = False,
        **settings: object,
    ) -> float:  # fmt: skip
        c, s = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
        normal = np.array([-c, 0, s] if level else [-c, s, 0])
        scene = Scene()
        add_wall(scene, [distance, 0, 0], -normal if back else normal, material=material)
        frame = scan(scene, pencil(**settings))
        assert len(frame) == 1
        assert frame.true_range[0] == pytest.approx(distance, abs=1e-4)
        return float(frame.intensity[0])

    return intensity


@pytest.mark.parametrize("angle", ANGLES)
def test_lambert(angle: float, seen: Callable) -> None:
    """Eq (1) of Goodin et al.: I = ρ cos θ, whichever way the wall is turned and from both of its sides."""
    expected = 0.6 * np.cos(np.deg2rad(angle))
    grey = Material(reflectance=0.6)
    assert seen(grey, angle) == pytest.approx(expected, abs=1e-6)
    assert seen(grey, angle, level=True) == pytest.approx(expected, abs=1e-6)
    assert seen(grey, angle, back=True) == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("shininess", [1.0, 5.0, 40.0])
@pytest.mark.parametrize("angle", ANGLES)
def test_phong(angle: float, shininess: float, seen: Callable) -> None:
    """K_d·(N·L) + K_s·(R·V)^α by vectors, with L = V and R = 2(N·L)N − L; nothing specular where R·V < 0."""
    c, s = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
    normal, light = np.array([-c, s, 0.0]), np.array([-1.0, 0, 0])
    mirrored = 2 * (normal @ light) * normal - light
    expected = 0.3 * (normal @ light) + 0.5 * max(mirrored @ light, 0.0) ** shininess
    paint = Material(reflectance=0.3, specular=0.5, shininess=shininess)
    assert seen(paint, angle) == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("angle", ANGLES)
def test_retro_reflectors_are_bright_at_any_angle(angle: float, seen: Callable) -> None:
    sheet = Material(reflectance=0.2, retro=50.0)
    assert seen(sheet, angle) == pytest.approx(50.2 * np.cos(np.deg2rad(angle)), rel=1e-6)


@pytest.mark.parametrize(
    ("color", "grey"),
    [
        ((0.5, 0.5, 0.5), 0.5),
        ((1.0, 0.0, 0.0), 0.2126),
        ((0.0, 1.0, 0.0), 0.7152),
        ((0.0, 0.0, 1.0), 0.0722),
        ((0.2, 0.4, 0.1), 0.2 * 0.2126 + 0.4 * 0.7152 + 0.1 * 0.0722),
    ],
)
def test_the_grey_of_a_colour_stands_in_for_a_reflectance(color: tuple, grey: float, seen: Callable) -> None:
    assert seen(Material(color=color), 60.0) == pytest.approx(grey / 2, abs=1e-6)
    assert seen(Material(color=color, reflectance=0.35), 60.0) == pytest.approx(0.175, abs=1e-6), "where none is given"


def test_shiny_and_dull_walls_side_by_side(pencil: Callable, add_wall: Callable) -> None:
    """One glint in a scene must not change its other surfaces."""
    scene = Scene()
    materials = [
        Material(reflectance=0.4),
        Material(reflectance=0.1, specular=0.8),
        Material(reflectance=0.1, retro=9),
    ]
    for material, azimuth in zip(materials, (-40.0, 0.0, 40.0), strict=True):
        ahead = np.array([np.cos(np.deg2rad(azimuth)), np.sin(np.deg2rad(azimuth)), 0])
        add_wall(scene, 10 * ahead, -ahead, material=material)
    frame = scan(scene, pencil((-40.0, 0.0, 40.0)))
    np.testing.assert_allclose(frame.intensity, [0.4, 0.9, 9.1], rtol=1e-6)


@pytest.mark.parametrize("distance", [5.0, 20.0, 80.0])
def test_spreading_and_haze(distance: float, seen: Callable) -> None:
    grey = Material(reflectance=0.6)
    spread, haze = (10 / distance) ** 2, np.exp(-2 * 0.01 * distance)
    assert seen(grey, 60, distance=distance) == pytest.approx(0.3, rel=1e-5)
    both = {"receiver.spreading_reference_m": 10.0, "receiver.extinction_per_m": 0.01}
    for settings, share in [
        ({"receiver.spreading_reference_m": 10.0}, spread),
        ({"receiver.extinction_per_m": 0.01}, haze),
        (both, spread * haze),
    ]:
        assert seen(grey, 60, distance=distance, **settings) == pytest.approx(0.3 * share, rel=1e-5)
