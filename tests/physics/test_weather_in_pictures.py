"""Weather in pictures: airlight by e^(−αr), dust by its optical depth, streaks by the time the shutter is open."""

from __future__ import annotations

import numpy as np
import pytest

import tussock
from tussock.air.clouds import DustCloud, dust_extinction
from tussock.air.weather import Weather
from tussock.cameras.weather import _splatted

CAMERA = tussock.Camera(width=64, height=48, lens={"kind": "pinhole", "horizontal_fov_deg": 40.0}, samples=1)
CLEAR = tussock.Light(visibility_m=None)


def wall(distance: float, weather: Weather | None) -> tussock.Scene:
    scene = tussock.Scene("wall")
    black = tussock.Material(name="black", reflectance=0.02, color=(0.001, 0.001, 0.001))
    scene.add(tussock.box((0.2, 200, 200)).painted(black), name="wall", position=(distance + 0.1, 0, 0))
    scene.weather = weather
    return scene


@pytest.mark.parametrize("distance", [10.0, 40.0])
def test_a_wall_fades_into_the_horizon(distance: float) -> None:
    fog = tussock.render(wall(distance, Weather(fog={"visibility_m": 60.0})), CAMERA, light=CLEAR).light
    dry = tussock.render(wall(distance, None), CAMERA, light=CLEAR).light
    ranges = tussock.look(wall(distance, None), CAMERA).range
    left = np.exp(-np.log(20.0) / 60.0 * ranges)[..., None]
    # fog makes the horizon grey, and what is left of the sun shows nothing on a black wall
    expected = dry * left + CLEAR.numbers(np.log(20.0) / 60.0).horizon * (1 - left)
    np.testing.assert_allclose(fog, expected, rtol=0.01, atol=1e-3)


def test_dust_hides_what_is_behind_it() -> None:
    cloud = DustCloud(box_m=(2.0, 2.0, 100.0), position_m=(10.0, 0, 0), density_g_m3=5.0)
    dusty, dry = (
        tussock.render(wall(20.0, weather), CAMERA, light=CLEAR).light for weather in (Weather(dust=(cloud,)), None)
    )
    assert (dusty[24, 32] > dry[24, 32]).all()  # dust is brighter than a black wall
    np.testing.assert_allclose(dusty[24, 2], dry[24, 2])
    front = tussock.render(wall(5.0, Weather(dust=(cloud,))), CAMERA, light=CLEAR).light
    np.testing.assert_allclose(front, tussock.render(wall(5.0, None), CAMERA, light=CLEAR).light)
    assert dust_extinction(5.0, 10.0) > 0.5


def test_streaks_grow_with_the_exposure_and_cover_what_the_drop_does() -> None:
    for length in (0.0, 5.0, 30.0):
        cover = _splatted(np.array([[50.0, 10.0]]), np.array([[50.0, 10.0 + length]]), np.array([0.9]), 100, 100)
        assert cover.sum() == pytest.approx(np.pi / 4 * 0.9**2, rel=1e-6)
        rows = np.flatnonzero(cover.sum(1))
        assert rows[-1] - rows[0] == pytest.approx(length, abs=2.6)


def test_rain_and_snow_are_seen_and_are_the_same_for_the_same_seed() -> None:
    slow = CAMERA.changed(**{"shutter.exposure_s": 0.02})
    for weather in (Weather(rain_mm_h=50.0, wet=0.0), Weather(snow_mm_h=10.0)):
        one, two, other = (
            tussock.render(wall(20.0, weather), slow, light=CLEAR, seed=seed).light for seed in (1, 1, 2)
        )
        assert one.tobytes() == two.tobytes()
        assert one.tobytes() != other.tobytes()
        dry = tussock.render(wall(20.0, None), slow, light=CLEAR, seed=1).light
        assert (one.sum(2) > dry.sum(2) + 0.01).sum() > 20


def test_streaks_slant_with_the_wind() -> None:
    """Drops fall by some 6 m/s and drift across by 20 m/s: streaks are far longer across than down."""
    slow = CAMERA.changed(**{"shutter.exposure_s": 0.02})
    dry = tussock.render(wall(20.0, None), slow, light=CLEAR, seed=1).light.sum(2)
    for air, sideways in (((0.0, 0.0, 0.0), False), ((0.0, 20.0, 0.0), True)):
        rain = Weather(rain_mm_h=5.0, wet=0.0, wind_m_s=air)
        lit = tussock.render(wall(20.0, rain), slow, light=CLEAR, seed=1).light.sum(2) - dry
        # Pixels two apart differ less along the streaks than across them.
        down, across = float(((lit[2:] - lit[:-2]) ** 2).mean()), float(((lit[:, 2:] - lit[:, :-2]) ** 2).mean())
        assert (across < 0.8 * down) if sideways else (down < 0.8 * across)
