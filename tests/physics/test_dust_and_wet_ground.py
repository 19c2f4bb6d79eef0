"""Dust dims what is behind it, by the integral through the puff; wet ground is darker and loses what grazes it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import quad

import tussock
from tussock.air.clouds import DustCloud, DustTrail, FogBank, dust_extinction
from tussock.air.weather import Weather
from tussock.scene.wet import wet_reflectance
from tussock.signal.air import error_function
from tussock.signal.film import film_mirror, film_passes, fresnel
from tussock.signal.waveform import pulse_sigma_m

SENSOR = tussock.load_sensor("vlp-16").with_(
    **{"receiver.mode": "last", "beam.rays": 1, "receiver.intensity_step": 0.0, "receiver.intensity_ceiling": 0.0,
       "receiver.ceiling_gain": 0.0, "receiver.detects": (), "noise.stated_at": None, "noise.floor_sigma_m": 0.0,
       "receiver.pulse_fwhm_ns": 1.0}
)  # fmt: skip


def wall(distance: float, weather: Weather | None) -> tussock.Scene:
    scene = tussock.Scene("wall")
    grey = tussock.Material(name="grey", reflectance=0.5)
    scene.add(tussock.box((0.2, 60, 20)).painted(grey), name="wall", label="wall", position=(distance + 0.1, 0, 0))
    scene.weather = weather
    return scene


def levels(weather: Weather | None, distance: float, frame: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where the wall's points are [m], their intensities, and how many pulses went there."""
    seen = tussock.scan(wall(distance, weather), SENSOR, frame=frame)
    on = seen.label == tussock.Scene().labels["wall"]
    return seen.true_xyz[on].astype(float), seen.intensity[on].astype(float), seen.pulse[on]


def depth_by_hand(to: np.ndarray, middle: np.ndarray, s: float, alpha: float) -> float:
    """∫α·exp(−|x − c|²/2s²) along a straight way from zero, by quadrature."""
    length = float(np.linalg.norm(to))

    def here(t: float) -> float:
        return alpha * math.exp(-float(((to * t / length - middle) ** 2).sum()) / (2 * s * s))

    return quad(here, 0, length, limit=200)[0]


@pytest.mark.parametrize(("middle", "s"), [((8.0, 0.5, 0.2), 1.2), ((1.0, 0.0, 0.0), 3.0), ((14.5, -1.0, 0.0), 1.0)])
def test_optical_depth_through_a_puff(middle: tuple[float, float, float], s: float) -> None:
    density, distance = 2.0, 15.0
    weather = Weather(dust=(DustCloud(puff_m=s, position_m=middle, density_g_m3=density, spread_m2_s=0.0),))
    points, bright, pulses = levels(weather, distance)
    _, clear, all_pulses = levels(None, distance)
    clear = clear[np.isin(all_pulses, pulses)]
    alpha = dust_extinction(density, 10.0)
    assert alpha == pytest.approx(0.113 * density, rel=0.01)
    rows = np.arange(0, len(points), max(len(points) // 60, 1))
    expected = np.array([depth_by_hand(points[i], np.array(middle), s, alpha) for i in rows])
    found = -np.log(bright[rows] / clear[rows]) / 2
    thick = expected > 0.05
    assert thick.sum() >= 5
    np.testing.assert_allclose(found[thick], expected[thick], rtol=0.01)
    np.testing.assert_allclose(found[~thick], expected[~thick], atol=2e-3)


def test_a_point_in_front_of_dust_is_not_dimmed_and_one_behind_is() -> None:
    cloud = DustCloud(box_m=(2.0, 40.0, 40.0), position_m=(10.0, 0, 0), density_g_m3=1.0)
    for distance, passed in ((6.0, 0.0), (10.0, 1.0), (15.0, 2.0)):
        points, bright, pulses = levels(Weather(dust=(cloud,)), distance)
        _, clear, every = levels(None, distance)
        clear = clear[np.isin(every, pulses)]
        way = np.linalg.norm(points, axis=1) / points[:, 0]
        near = way < 1.02
        depth = dust_extinction(1.0, 10.0) * passed * way
        np.testing.assert_allclose(bright[near], (clear * np.exp(-2 * depth))[near], rtol=3e-3)


def test_dust_sends_back_what_it_is_labelled_for_and_from_where_it_is() -> None:
    cloud = DustCloud(puff_m=1.0, position_m=(12.0, 0, 0), density_g_m3=20.0, spread_m2_s=0.0)
    scene = wall(30.0, Weather(dust=(cloud,)))
    seen = tussock.scan(scene, SENSOR.with_(**{"receiver.mode": "first"}))
    dust = seen.label == scene.labels["dust"]
    assert dust.sum() > 100
    # Dense dust shines from its near side; what grazes it from beside its middle.
    assert 8.0 < seen.true_range[dust].min() < 12.0
    assert seen.true_range[dust].max() < 13.0
    assert np.abs(np.arctan2(seen.true_xyz[dust, 1], seen.true_xyz[dust, 0])).max() < 4.0 / 11.0


def test_no_puff_of_many_is_left_out() -> None:
    """A row of 150 puffs behind one another, each as thin as nothing: together they are what their sum is."""
    places = [(3.0 + 0.06 * i, 0.02 * (i % 7), 0.0) for i in range(150)]
    puffs = tuple(DustCloud(puff_m=0.8, position_m=at, density_g_m3=0.03, spread_m2_s=0.0) for at in places)
    points, bright, pulses = levels(Weather(dust=puffs), 15.0)
    _, clear, every = levels(None, 15.0)
    clear, alpha = clear[np.isin(every, pulses)], dust_extinction(0.03, 10.0)
    rows = np.flatnonzero(np.linalg.norm(points[:, 1:], axis=1) < 1.0)[::12]
    expected = [sum(depth_by_hand(points[i], np.array(at), 0.8, alpha) for at in places) for i in rows]
    assert len(rows) >= 4
    np.testing.assert_allclose(-np.log(bright[rows] / clear[rows]) / 2, expected, rtol=0.01)


def dust_by_hand(way: np.ndarray, puffs: list[tuple[np.ndarray, float, float]], sigma: float) -> tuple[float, float]:
    """Place and height of the peak of what puffs (middle, s, α) send back along a way, by sums over 4 mm steps."""
    r = np.arange(0.9, 40.0, 0.004)
    at = way * r[:, None]
    alpha = sum(a * np.exp(-((at - m) ** 2).sum(1) / (2 * s * s)) for m, s, a in puffs)
    depth = np.cumsum(alpha) * 0.004
    sent = math.pi * alpha / 55.0 * np.clip((r - 0.9) / 0.1, 0, 1) * np.exp(-2 * depth) / r**2
    x = np.arange(-2.0, 2.0, 0.004)
    wave = np.convolve(sent, np.exp(-(x**2) / (2 * sigma**2)), mode="same") * 0.004
    return float(r[wave.argmax()]), float(wave.max())


@pytest.mark.parametrize("density", [0.5, 5.0])
def test_the_peak_of_puffs_is_that_of_the_integral_over_the_pulse(density: float) -> None:
    """Two puffs that run into each other, and one behind them; thick ones shine from their near side."""
    known = [((9.0, 0.0, 0.0), 1.0), ((10.5, 0.4, 0.1), 0.7), ((17.0, 0.0, 0.0), 1.5)]
    clouds = tuple(DustCloud(puff_m=s, position_m=m, density_g_m3=density, spread_m2_s=0.0) for m, s in known)
    scene = wall(30.0, Weather(dust=clouds))
    device = SENSOR.with_(**{"receiver.mode": "first", "receiver.pulse_fwhm_ns": 4.0})
    seen = tussock.scan(scene, device)
    dust = np.flatnonzero(seen.label == scene.labels["dust"])
    puffs = [(np.array(m), s, dust_extinction(density, 10.0)) for m, s in known]
    sigma = pulse_sigma_m(4.0)
    checked = 0
    for row in dust[:: max(len(dust) // 40, 1)]:
        length = float(seen.true_range[row])
        place, height = dust_by_hand(seen.true_xyz[row].astype(float) / length, puffs, sigma)
        if height < 1e-6:
            continue
        assert length == pytest.approx(place, abs=0.08)
        assert float(seen.intensity[row]) / length**2 == pytest.approx(height, rel=0.02)
        checked += 1
    assert checked >= 10


def test_puffs_grow_thin_out_and_drift() -> None:
    cloud = DustCloud(puff_m=0.5, position_m=(1.0, 2.0, 3.0), density_g_m3=1.0, spread_m2_s=0.1, start_s=2.0)
    assert cloud.rows(1.9, np.zeros(3)) == []
    (young,), (old,) = cloud.rows(2.0, np.array([3.0, 0, 0])), cloud.rows(12.0, np.array([3.0, 0, 0]))
    assert old.size[0] == pytest.approx(math.sqrt(0.25 + 2 * 0.1 * 10))
    np.testing.assert_allclose(old.centre - young.centre, [30.0, 0, 0])
    mass = [row.extinction * row.size[0] ** 3 for row in (young, old)]
    assert mass[0] == pytest.approx(mass[1])
    settling = cloud.changed(settles_s=5.0).rows(12.0, np.zeros(3))[0]
    assert settling.extinction == pytest.approx(old.extinction * math.exp(-2.0))


def test_a_drifting_cloud_is_met_where_it_is_at_each_pulse() -> None:
    """A wall of dust that runs with 100 m/s along x: each pulse of the revolution meets its front where it is then."""
    cloud = DustCloud(box_m=(4.0, 400.0, 40.0), position_m=(10.0, 0, 0), density_g_m3=300.0)
    scene = wall(60.0, Weather(dust=(cloud,), wind_m_s=(100.0, 0, 0)))
    frame = tussock.scan(scene, SENSOR.with_(**{"receiver.mode": "first", "rotation_hz": 10.0}))
    dust = (frame.label == scene.labels["dust"]) & (np.abs(frame.true_xyz[:, 1]) < 1) & (frame.true_xyz[:, 0] > 2)
    assert dust.sum() > 5
    times = frame.time[dust]
    assert times.min() < 0.02
    assert times.max() > 0.08
    np.testing.assert_allclose(frame.true_xyz[dust, 0], 8.0 + 100.0 * times, atol=0.4)


def test_dust_trails_what_drives() -> None:
    scene = wall(40.0, None)
    path = tussock.Trajectory.through([0.0, 10.0], [tussock.Pose.at(-20, 5, 0), tussock.Pose.at(20, 5, 0)])
    scene.add(tussock.box((4, 2, 1.5)), name="truck", label="truck", motion=path)
    scene.weather = Weather(dust_trails=(DustTrail(behind="truck", every_s=0.5, lasts_s=3.0),))
    now = tussock.World(scene).weather_at(6.0)
    assert now is not None
    xs = sorted(row.centre[0] for row in now.clouds)
    np.testing.assert_allclose(xs, np.arange(3.0, 6.01, 0.5) * 4 - 20, atol=1e-6)
    assert now.clouds[0].extinction < now.clouds[-1].extinction


def test_weather_changes_with_time() -> None:
    weather = Weather(
        rain_mm_h=0.0, changes=({"time_s": 10.0, "rain_mm_h": 20.0}, {"time_s": 20.0, "visibility_m": 100.0})
    )
    assert weather.at(0.0).clear
    assert weather.at(5.0).particles[0].slope == pytest.approx(4.1 * 10.0**-0.21)
    assert weather.at(99.0).extinction == pytest.approx(3.65e-4 * 20**0.63 + math.log(20) / 100, rel=0.01)
    bank = Weather(fog_banks=(FogBank(box_m=(2, 2, 2), position_m=(0, 0, 0), visibility_m=20.0, drifts=False),))
    assert bank.at(5.0).clouds[0].extinction == pytest.approx(math.log(20) / 20)


def test_error_function() -> None:
    x = np.linspace(-5, 5, 401, dtype=np.float32)
    ours = np.array([float(error_function(one)) for one in x])
    np.testing.assert_allclose(ours, [math.erf(float(one)) for one in x], atol=5e-7)


def test_wet_ground_is_darker() -> None:
    """Ångström's sum of what leaves the film at each try, written out."""
    for dry in (0.05, 0.3, 0.6):
        out, left, total = 1 / 1.33**2, dry, 0.0
        for _ in range(500):
            total += left * out
            left *= (1 - out) * dry
        assert wet_reflectance(dry) == pytest.approx(total, rel=1e-9)


def test_film_is_fresnels() -> None:
    assert float(fresnel(np.float32(1.0))) == pytest.approx((0.33 / 2.33) ** 2, rel=1e-4)
    angle = np.deg2rad(85.0)
    inside = math.asin(math.sin(angle) / 1.33)
    across = (math.sin(angle - inside) / math.sin(angle + inside)) ** 2
    along = (math.tan(angle - inside) / math.tan(angle + inside)) ** 2
    assert float(fresnel(np.float32(math.cos(angle)))) == pytest.approx((across + along) / 2, rel=1e-4)
    assert float(film_passes(np.float32(1.0), np.float32(1.0))) == pytest.approx(1.0, abs=1e-6)
    assert float(film_passes(np.float32(1.0), np.float32(math.cos(angle)))) < 0.25
    assert float(film_mirror(np.float32(1.0), np.float32(0.9))) == 0.0


def test_wet_roads_lose_returns_at_grazing_angles_and_mirror_what_stands_on_them() -> None:
    scene = tussock.Scene("road")
    asphalt = tussock.Material(name="asphalt", reflectance=0.2)
    scene.add(tussock.plane((120, 120)).painted(asphalt), name="road", label="road")
    scene.add(tussock.box((0.2, 8, 4)), name="house", label="building", position=(25, 0, 2))
    device = tussock.load_sensor("hdl-32e")
    pose = tussock.Pose.at(0, 0, 1.5)
    dry, wet = (tussock.scan(scene.with_weather(weather), device, pose, seed=1) for weather in (None, Weather(wet=1.0)))
    road = scene.labels["road"]
    far = [float((frame.true_range[frame.label == road] > 12).sum()) for frame in (dry, wet)]
    near = [float((frame.true_range[frame.label == road] < 4).sum()) for frame in (dry, wet)]
    assert far[1] < 0.5 * far[0]
    assert near[1] > 0.9 * near[0]
    dim = [np.median(f.intensity[(f.label == road) & (f.true_range < 3.5)]) for f in (dry, wet)]
    assert dim[1] < 0.8 * dim[0]
    ghosts = (wet.label == scene.labels["building"]) & (wet.true_xyz[:, 2] < -1.6)
    assert ghosts.sum() > 0
    assert not ((dry.label == scene.labels["building"]) & (dry.true_xyz[:, 2] < -1.6)).any()
