"""The sun's way through the air, and the sky by its height and in fog."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tussock.cameras.shading.light import Light

CLEAR = {"visibility_m": None, "clouds": 0.0}


def at(elevation: float, **changes: object) -> Light:
    return Light(sun_elevation_deg=elevation, **(CLEAR | changes))


def test_the_day_is_what_it_was():
    """At 40°, where pictures are taken unless told otherwise."""
    light = Light().numbers()
    np.testing.assert_allclose(light.sun, [1.0, 0.95, 0.86], rtol=1e-6)
    np.testing.assert_allclose(light.zenith, [0.085, 0.21, 0.52], rtol=1e-6)
    np.testing.assert_allclose(light.horizon, [0.46, 0.60, 0.76], rtol=1e-6)
    assert float(light.haze) == pytest.approx(math.log(50.0) / 8000.0)


@pytest.mark.parametrize(("elevation", "mass"), [(90.0, 1.0), (40.0, 1.553), (30.0, 1.995), (10.0, 5.58), (5.0, 10.31)])
def test_the_sun_loses_what_the_air_takes(elevation, mass):
    """Lambert and Beer with the table of Kasten and Young 1989, in each colour."""
    depths = np.array([0.161, 0.209, 0.335])
    wanted = np.array([1.0, 0.95, 0.86]) * np.exp(-depths * (mass - 1.553))
    np.testing.assert_allclose(at(elevation).numbers().sun, wanted, rtol=0.01)


def test_a_low_sun_makes_a_warm_and_dim_sky():
    lights = [at(float(e)).numbers() for e in (40, 20, 12, 5, 1)]
    warmth = [float(light.horizon[0] / light.horizon[2]) for light in lights]
    assert warmth == sorted(warmth) and warmth[0] < 0.62 and warmth[2] > 0.75 and warmth[-1] > 1.9
    brightness = [float(light.horizon.mean() + light.zenith.mean()) for light in lights]
    assert brightness == sorted(brightness, reverse=True) and brightness[2] < 0.65 * brightness[0]
    redness = [float(light.sun[0] / light.sun[2]) for light in lights]
    assert redness == sorted(redness) and redness[2] > 1.7 * redness[0]


def test_nothing_jumps():
    heights = np.arange(-30.0, 90.0, 0.05)
    every = [at(float(e)).numbers() for e in heights]
    for part in ("sun", "zenith", "horizon", "around", "ground"):
        values = np.array([getattr(light, part) for light in every])
        assert (values >= 0).all() and np.abs(np.diff(values, axis=0)).max() < 0.03, part
    night = at(-20.0).numbers()
    assert (night.sun == 0).all() and night.horizon.max() < 0.01


@pytest.mark.parametrize("elevation", [8.0, 40.0])
def test_fog_is_grey_and_keeps_the_sun_away(elevation):
    clear, fog = at(elevation).numbers(), at(elevation, visibility_m=80.0, clouds=0.5).numbers()
    for part in (fog.zenith, fog.horizon):
        assert part.max() / part.min() < 1.06
    assert (fog.sun < 0.05 * clear.sun).all()
    assert float(fog.clouds) < 0.01
    same = at(elevation).numbers(extinction=math.log(50.0) / 80.0)
    np.testing.assert_allclose(same.horizon, fog.horizon, rtol=1e-6)
    assert float(same.haze) == pytest.approx(float(fog.haze))
    grey = [float(np.ptp(at(elevation, visibility_m=v).numbers().zenith)) for v in (20_000, 4000, 1000, 300, 100)]
    assert grey == sorted(grey, reverse=True)


def test_strengths_are_factors():
    one, two = at(20.0).numbers(), at(20.0, sun=2.0, sky=3.0).numbers()
    np.testing.assert_allclose(two.sun, 2 * one.sun, rtol=1e-6)
    np.testing.assert_allclose(two.zenith, 3 * one.zenith, rtol=1e-6)
    np.testing.assert_allclose(two.around, 3 * one.around, rtol=1e-6)
