"""Noise as asked for, over a million pulses: range, bias, direction, losses and steps."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from tussock.scene.material import Material
from tussock.scene.primitives import box
from tussock.scene.scene import Scene
from tussock.sensors.noise import Noise
from tussock.sensors.sensor import Sensor
from tussock.signal.range_noise import laser_biases
from tussock.simulate import scan, scan_range
from tussock.trace.world import World

SIGMA, BIAS = 0.02, 0.078


@pytest.fixture(scope="module")
def room() -> World:
    scene = Scene()
    scene.add(box((24, 16, 12), material=Material(reflectance=0.7)))
    return World(scene)


@pytest.fixture(scope="module")
def million(pencil: Callable) -> Sensor:
    """10⁶ pulses of 20 lasers."""
    return pencil(np.linspace(-180, 180, 50_000), np.linspace(-30, 30, 20))


@pytest.mark.parametrize(("distribution", "fourth"), [("normal", 3.0), ("laplace", 6.0)])
def test_a_million_ranges(distribution: str, fourth: float, room: World, million: Sensor) -> None:
    noise = {"noise.ray_sigma_m": SIGMA, "noise.bias_sigma_m": BIAS, "noise.distribution": distribution}
    frame = scan(room, million.with_(**noise), seed=5)
    assert len(frame) == 1_000_000
    error = frame.range.astype(float) - frame.true_range
    biases = laser_biases(BIAS, 20, 5).astype(float)
    error -= biases[frame.laser]
    assert abs(error.mean()) < 0.02 * SIGMA
    assert error.std() == pytest.approx(SIGMA, rel=0.02)
    assert ((error / SIGMA) ** 4).mean() == pytest.approx(fourth, rel=0.05)
    for laser in range(20):
        own = error[frame.laser == laser]
        assert abs(own.mean()) < 0.02 * SIGMA, "the mean of a laser is its bias"
        assert own.std() == pytest.approx(SIGMA, rel=0.02)
    assert abs(np.corrcoef(error[1:], error[:-1])[0, 1]) < 0.005, "neighbours know nothing of one another"


def errors_by_laser(frame: object) -> np.ndarray:
    error = frame.range.astype(float) - frame.true_range
    return np.array([np.median(error[frame.laser == laser]) for laser in range(16)])


def test_the_bias_of_a_laser_stays_for_all_frames_and_splits(room: World, plain_sensor: Callable) -> None:
    sensor = plain_sensor(noise=Noise(bias_sigma_m=BIAS))
    whole = list(scan_range(room, sensor, start=0.0, end=1.0, seed=3))
    biases = laser_biases(BIAS, 16, 3)
    for frame in whole:
        error = frame.range.astype(float) - frame.true_range
        assert np.abs(error - biases[frame.laser]).max() < 2e-6, "one bias for a laser, in every pulse"
    assert len(np.unique(biases)) == 16
    for cuts in ([0.0, 0.3, 1.0], [0.0, 0.1, 0.55, 0.7, 1.0]):
        parts = [
            frame for start, end in pairwise(cuts) for frame in scan_range(room, sensor, start=start, end=end, seed=3)
        ]
        assert len(parts) == len(whole) == 10
        assert all(a.identical(b) for a, b in zip(whole, parts, strict=True))
    again = scan(room, sensor, seed=3, frame=7, threads=1, block=16)
    assert again.identical(whole[7])
    other = scan(room, sensor, seed=4)
    assert np.abs(errors_by_laser(other) - errors_by_laser(whole[0])).max() > 0.01, "another seed, another unit"


def test_ray_noise_is_new_in_every_frame(room: World, plain_sensor: Callable) -> None:
    sensor = plain_sensor(noise=Noise(ray_sigma_m=SIGMA))
    one, two = (scan(room, sensor, seed=3, frame=frame) for frame in (0, 1))
    first, second = (frame.range.astype(float) - frame.true_range for frame in (one, two))
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.06


@pytest.mark.parametrize("share", [0.02, 0.3, 1.0])
def test_dropouts(share: float, room: World, million: Sensor) -> None:
    frame = scan(room, million.with_(**{"noise.dropout": share}), seed=8)
    lost = 1 - len(frame) / 1_000_000
    assert lost == pytest.approx(share, rel=0.02)
    if share == 0.3:
        gone = np.ones(1_000_000, bool)
        gone[frame.pulse] = False
        assert (gone[1:] & gone[:-1]).mean() == pytest.approx(share**2, rel=0.02), "by chance, not in rows"


def test_a_lost_echo_is_lost_for_both_returns(room: World, plain_sensor: Callable) -> None:
    """In a room strongest and last are one echo: it is reported twice or not at all."""
    sensor = plain_sensor(noise=Noise(dropout=0.3, ray_sigma_m=SIGMA)).with_(**{"receiver.mode": "strongest+last"})
    frame = scan(room, sensor, seed=2)
    assert set(frame.return_count) == {2}
    assert np.array_equal(frame.range[0::2], frame.range[1::2])
    assert len(frame) / 2 / frame.pulses == pytest.approx(0.7, abs=0.03)


@pytest.mark.parametrize("step", [0.002, 0.01, 0.25])
def test_steps_of_range(step: float, room: World, plain_sensor: Callable) -> None:
    sensor = plain_sensor().with_(**{"receiver.range_step_m": step})
    frame = scan(room, sensor)
    measured, true = frame.range.astype(float), frame.true_range.astype(float)
    assert np.abs(measured / step - np.round(measured / step)).max() * step < 2e-6
    off = measured - true
    assert np.abs(off).max() <= step / 2 + 2e-6
    assert off.std() == pytest.approx(step / np.sqrt(12), rel=0.1), "evenly spread over a step"
    np.testing.assert_allclose(frame.xyz, frame.range[:, None] * sensor.pulses(0).directions, atol=1e-5)


@pytest.mark.parametrize("step", [1 / 255, 0.05])
def test_steps_of_intensity(step: float, room: World, plain_sensor: Callable) -> None:
    fine = scan(room, plain_sensor()).intensity.astype(float)
    frame = scan(room, plain_sensor().with_(**{"receiver.intensity_step": step}))
    coarse = frame.intensity.astype(float)
    assert np.abs(coarse / step - np.round(coarse / step)).max() < 1e-4
    assert np.abs(coarse - fine).max() <= step / 2 + 1e-6
    assert len(np.unique(coarse)) < len(np.unique(fine))


@pytest.mark.parametrize("level", [False, True], ids=["across", "up"])
def test_pointing(level: bool, pencil: Callable, add_wall: Callable) -> None:
    """On a wall at 45° an angle δ moves the range r by r·δ, to first order; the reported angles stay nominal."""
    scene = Scene()
    add_wall(scene, [20, 0, 0], (-1, 0, 1) if level else (-1, 1, 0), material=Material(), size=20.0)
    sensor = pencil([0.0] * 60_000, **{"noise.pointing_sigma_mrad": 2.0})
    frame = scan(scene, sensor, seed=6)
    angle = np.pi / 4 - np.arcsin(np.sqrt(0.5) * 20 / frame.true_range.astype(float))  # sine rule, up to sign
    assert angle.std() == pytest.approx(2e-3, rel=0.02)
    assert abs(angle.mean()) < 0.02 * 2e-3
    assert stats.kstest(angle / 2e-3, "norm").pvalue > 1e-3
    assert not frame.azimuth.any()
    assert not frame.elevation.any()
    # the truth lies on the wall, where the light really went
    np.testing.assert_allclose(frame.true_xyz[:, 0] - frame.true_xyz[:, 2 if level else 1], 20.0, atol=1e-4)
    np.testing.assert_allclose(np.linalg.norm(frame.true_xyz, axis=1), frame.true_range, atol=1e-4)


def test_pointing_errs_across_and_up_independently(pencil: Callable, add_wall: Callable) -> None:
    """On walls turned about both axes the range follows the sum, or the difference, of both errors: r = 20/(1 − h ∓ v)."""
    both = []
    for up in (1.0, -1.0):
        scene = Scene()
        add_wall(scene, [20, 0, 0], (-1, 1, up), material=Material(), size=40.0)
        frame = scan(scene, pencil([0.0] * 60_000, **{"noise.pointing_sigma_mrad": 2.0}), seed=6)
        both.append(1.0 - 20.0 / frame.true_range.astype(float))
    across, up = (both[0] + both[1]) / 2, (both[0] - both[1]) / 2  # the same seed: the same errors
    assert across.std() == pytest.approx(2e-3, rel=0.02)
    assert up.std() == pytest.approx(2e-3, rel=0.02)
    assert abs(np.corrcoef(across, up)[0, 1]) < 4 / np.sqrt(60_000)


@pytest.mark.parametrize("least", [0.1, 0.25, 0.5])
def test_what_is_weaker_than_the_least_intensity_is_no_return(
    least: float, pencil: Callable, add_wall: Callable
) -> None:
    """A wall of 50 % all around the view: I = ρ·cos θ, so returns end where cos θ = least / ρ."""
    scene = Scene()
    add_wall(scene, [10, 0, 0], (-1, 0, 0), material=Material(reflectance=0.5), size=190.0)
    azimuth = np.linspace(-84, 84, 337)
    frame = scan(scene, pencil(azimuth, **{"receiver.min_intensity": least}), keep_misses=True)
    strength = 0.5 * np.cos(np.deg2rad(azimuth))
    sure = np.abs(strength - least) > 1e-4
    assert (frame.hit == (strength >= least))[sure].all()
    assert frame.hit.any() and (least == 0.1 or not frame.hit.all())
    assert frame.hit[168], "as strong as the least is strong enough"
