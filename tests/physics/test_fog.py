"""Fog: a wall falls by e^(−2αr), and the false peak stands where the integral over the pulse has it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.optimize import minimize_scalar

import tussock
from tussock.air.weather import Weather
from tussock.listening import near_end_of, ratio_of
from tussock.scattering import _even_air, eye_of
from tussock.signal.waveform import pulse_sigma_m

STILL = {
    "noise.ray_sigma_m": 0.0,
    "noise.bias_sigma_m": 0.0,
    "receiver.range_step_m": 0.0,
    "receiver.intensity_step": 0.0,
}


def sensor(**more: object) -> tussock.Sensor:
    """A VLP-16 without noise that sees all echoes."""
    changes = (
        STILL
        | {
            "receiver.detects": (),
            "receiver.mode": "all",
            "receiver.max_range_m": 200.0,
            "receiver.min_separation_m": 0.0,
        }
        | more
    )
    for key in ("noise.stated_at", "noise.floor_sigma_m"):
        changes[key] = None if key.endswith("at") else 0.0
    return tussock.load_sensor("vlp-16").with_(**changes)


def walls(distance: float, weather: Weather | None, size: float = 400.0) -> tussock.Scene:
    """White-ish walls straight ahead."""
    scene = tussock.Scene("walls")
    wall = tussock.Material(name="wall", reflectance=0.5)
    scene.add(tussock.box((0.2, size, size)).painted(wall), name="wall", label="wall", position=(distance + 0.1, 0, 0))
    scene.weather = weather
    return scene


def ahead(frame: tussock.Frame, label: str, scene: tussock.Scene) -> np.ndarray:
    """Rows of a label within 3° of straight ahead."""
    near = frame.true_xyz[:, 0] > 0.998 * frame.true_range
    return np.flatnonzero(near & (frame.label == scene.labels[label]))


@pytest.mark.parametrize("visibility", [30.0, 80.0, 400.0])
def test_a_wall_falls_by_the_way_out_and_back(visibility: float) -> None:
    alpha = np.log(20.0) / visibility
    device = sensor()
    for distance in (6.0, 15.0, 40.0, 90.0):
        fog, dry = (
            tussock.scan(scene := walls(distance, weather), device)
            for weather in (Weather(fog={"visibility_m": visibility}), None)
        )
        ours, theirs = (frame.intensity[ahead(frame, "wall", scene)] for frame in (fog, dry))
        assert len(ours) == len(theirs) > 100
        way = dry.true_range[ahead(dry, "wall", scene)]
        np.testing.assert_allclose(ours / theirs, np.exp(-2 * alpha * way), rtol=0.01)


def soft_waveform(
    x: float, visibility: float, sigma: float, overlap: tuple[float, float], end: float, near: float = 0.0
) -> float:
    """∫ πβ·ξ(r)·e^(−2αr)/r²·exp(−(x − r)²/2σ²) dr, by quadrature; (r/near)² of what is nearer than ``near`` is left."""
    alpha, beta, begin = np.log(20.0) / visibility, 0.046 / visibility, max(0.9, overlap[0])

    def part(r: float) -> float:
        seen = min(max((r - overlap[0]) / (overlap[1] - overlap[0]), 0.0), 1.0)
        seen *= (r / near) ** 2 if r < near else 1.0
        return np.pi * beta * seen * np.exp(-2 * alpha * r) / r**2 * np.exp(-((x - r) ** 2) / (2 * sigma**2))

    low, high = max(begin, x - 8 * sigma), min(end, x + 8 * sigma)
    return quad(part, low, high, limit=200, points=[p for p in (*overlap, near) if low < p < high] or None)[0]


def top_of(
    visibility: float, sigma: float, overlap: tuple[float, float], end: float, near: float = 0.0
) -> tuple[float, float]:
    """Path and height of the peak."""
    begin = max(0.9, overlap[0])
    top = minimize_scalar(
        lambda x: -soft_waveform(x, visibility, sigma, overlap, end, near),
        bounds=(begin - sigma, begin + 6 * sigma + 3), method="bounded", options={"xatol": 1e-5},
    )  # fmt: skip
    return float(top.x), -float(top.fun)


@pytest.mark.parametrize(
    ("visibility", "fwhm_ns", "overlap", "distance"),
    [
        (20.0, 3.0, (0.9, 1.0), 40.0), (80.0, 3.0, (0.9, 1.0), 40.0), (80.0, 20.0, (0.9, 1.0), 40.0),
        (20.0, 5.0, (1.5, 4.0), 40.0), (50.0, 20.0, (1.5, 4.0), 40.0), (20.0, 3.0, (0.9, 1.0), 2.15),
    ],
)  # fmt: skip
def test_the_false_peak_stands_where_the_integral_has_it(
    visibility: float, fwhm_ns: float, overlap: tuple[float, float], distance: float
) -> None:
    device = sensor(**{"receiver.pulse_fwhm_ns": fwhm_ns, "receiver.overlap_m": overlap, "receiver.min_range_m": 0.9})
    sigma = pulse_sigma_m(fwhm_ns)
    scene = walls(distance, Weather(fog={"visibility_m": visibility}))
    frame = tussock.scan(scene, device, seed=1)
    rows = ahead(frame, "fog", scene)
    assert len(rows) > 50
    path, high = top_of(visibility, sigma, overlap, distance)
    height = frame.intensity[rows] / frame.true_range[rows] ** 2
    assert np.median(frame.true_range[rows]) == pytest.approx(path, rel=0.02)
    assert np.median(height) == pytest.approx(high, rel=0.02)


@pytest.mark.parametrize(("visibility", "fwhm_ns", "least"), [(20.0, 6.0, 1e-3), (8.0, 3.0, 4e-4), (40.0, 20.0, 2e-3)])
def test_what_the_receiver_takes_back_near_by_is_in_the_integral(
    visibility: float, fwhm_ns: float, least: float
) -> None:
    device = sensor(**{"receiver.pulse_fwhm_ns": fwhm_ns, "receiver.min_range_m": 0.9, "receiver.near_reflectivity": least,
                       "receiver.detects": "10 % at 100 m with probability 0.9"})  # fmt: skip
    near = near_end_of(device)
    assert ratio_of(device, least, near) == pytest.approx(device.receiver.threshold_snr), "what is just seen there"
    scene = walls(40.0, Weather(fog={"visibility_m": visibility}))
    frame = tussock.scan(scene, device, seed=1)
    rows = ahead(frame, "fog", scene)
    assert len(rows) > 100
    path, high = top_of(visibility, pulse_sigma_m(fwhm_ns), (0.9, 1.0), 40.0, near)
    assert np.median(frame.true_range[rows]) == pytest.approx(path, rel=0.02)
    assert np.median(frame.intensity[rows] / frame.true_range[rows] ** 2) == pytest.approx(high, rel=0.02)


def test_thin_fog_is_not_a_return_and_thick_fog_is() -> None:
    """As sensors are known to: haze goes unnoticed, and in dense fog there is a ring of it around the sensor."""
    device, scene = tussock.load_sensor("vlp-16"), tussock.Scene("nothing")
    scene.add(tussock.box((1, 1, 1)), name="stone", position=(60, 0, 0))

    def share(visibility: float, **more: object) -> float:
        foggy = scene.with_weather(Weather(fog={"visibility_m": visibility}))
        frame = tussock.scan(foggy, device.with_(**more), seed=1)
        return float((frame.label == scene.labels["fog"]).sum() / frame.pulses)

    assert share(1000.0) < 0.001
    assert share(1000.0, **{"receiver.near_reflectivity": 0.0}) > 0.3
    assert share(10.0) > 0.5


def test_the_false_peak_is_cut_off_by_what_stands_in_it() -> None:
    """A wall at the very end of the peak's own stretch: the two make one waveform, not two lists."""
    scene = walls(1.6, Weather(fog={"visibility_m": 20.0}))
    frame = tussock.scan(scene, sensor(), seed=1)
    wall, fog = ahead(frame, "wall", scene), ahead(frame, "fog", scene)
    assert len(wall) > 50
    assert not len(fog) or frame.true_range[fog].max() < frame.true_range[wall].min()


def test_air_before_the_receivers_overlap_is_not_seen() -> None:
    eye = eye_of(sensor(**{"receiver.overlap_m": (5.0, 6.0)}))
    now = Weather(fog={"visibility_m": 50.0}).at(0.0)
    air = _even_air(now.particles, now.fine, eye, True)
    assert air.soft[:, 0].min() > 5.0
    assert air.soft_path > 5.0


def test_far_things_are_lost_and_near_ones_are_not() -> None:
    """At a visibility of 30 m an HDL-32E, strongest return, loses the far half of what it saw and keeps the near one."""
    device = tussock.load_sensor("hdl-32e")
    scene = tussock.ready_scene("yard")
    pose = tussock.Pose.at(0, 0, 1.8)
    dry = tussock.scan(scene, device, pose, seed=2)
    foggy = tussock.scan(scene.with_weather(Weather(fog={"visibility_m": 30.0})), device, pose, seed=2)
    hard = foggy.label != scene.labels["fog"]
    half = 25.0
    near, far = (dry.true_range < 5).sum(), (dry.true_range > half).sum()
    assert (foggy.true_range[hard] < 5).sum() > 0.9 * near
    assert (foggy.true_range[hard] > half).sum() < 0.05 * far


def test_the_same_seed_gives_the_same_bits_on_any_number_of_threads() -> None:
    scene = walls(20.0, Weather(fog={"visibility_m": 60.0}, rain_mm_h=20.0, snow_mm_h=1.0))
    one, two = (
        tussock.scan(scene, tussock.load_sensor("vlp-16"), seed=5, threads=t, block=b) for t, b in ((1, 1024), (2, 64))
    )
    for name in ("range", "intensity", "label", "true_range"):
        assert getattr(one, name).tobytes() == getattr(two, name).tobytes()
