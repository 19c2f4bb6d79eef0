"""What a receiver does besides finding echoes: ceilings, false alarms, range walk, blooming, waveforms, speeds."""

from __future__ import annotations

from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.listening import listening_of, ratio_of, spread_of
from tussock.poses import Pose, Trajectory
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.primitives import box
from tussock.scene.scene import Scene
from tussock.scene.surfaces import SURFACES
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.signal.waveform import pulse_sigma_m
from tussock.simulate import scan
from tussock.trace.world import World
from tussock.wire.velodyne.encode import intensity_bytes

SHEET = "10 % at 50 m with probability 0.9"


def bundle(across: int, **changes: Any) -> Sensor:
    """``across``² pulses within a degree, straight ahead."""
    angles = {"first": 0.5, "last": -0.5, "count": across} if across > 1 else [0.0]
    pattern = {"kind": "grid", "azimuth_deg": angles, "elevation_deg": angles, "frame_hz": 10.0}
    return Sensor(name="bundle", pattern=pattern).with_(**{"receiver.max_range_m": 150.0, **changes})


def wall(distance: float, material: Material, *, yaw: float = 0.0) -> World:
    scene = Scene("wall")
    thin = 1e-3
    out = thin / 2 / np.cos(yaw)  # its face is at the distance, whichever way it leans
    scene.add(box((thin, 400.0, 60.0), material=material), name="wall", position=(distance + out, 0, 0), yaw=yaw)
    return World(scene)


def grey(reflectance: float) -> Material:
    return Material(name="grey", reflectance=reflectance)


def test_a_white_wall_is_one_at_any_distance_and_raw_where_the_sensor_does_not_correct() -> None:
    for distance in (3.0, 20.0, 90.0):
        seen = scan(wall(distance, grey(1.0)), bundle(3))
        assert seen.intensity == pytest.approx(np.ones(9), rel=2e-3)
        raw = scan(wall(distance, grey(1.0)), bundle(3, **{"receiver.spreading_reference_m": 10.0}))
        assert raw.intensity == pytest.approx(np.full(9, (10 / distance) ** 2), rel=2e-3)


@pytest.mark.parametrize(("name", "byte"), [("vlp-16", 100), ("vls-128", 110)])
def test_retro_reflectors_stand_above_walls_up_to_the_ceiling(name: str, byte: int) -> None:
    sensor = load_sensor(name).with_(**{"beam.rays": 1, "noise.ray_sigma_m": 0.0})

    def brightness(material: Material) -> np.ndarray:
        scene = Scene("room")
        scene.add(box((30, 30, 30), material=material), name="room")
        seen = scan(scene, sensor).intensity
        return intensity_bytes(seen, byte)

    assert brightness(grey(1.0)).max() <= byte + 1, "noise of the signal aside"
    assert byte < brightness(SURFACES["tail-light"]).max() < 255
    assert brightness(Material(name="ideal", reflectance=0.3, retro=5000.0)).max() == 255
    sheet = scan(wall(20.0, SURFACES["retro-sheet"]), bundle(2, **{"receiver.intensity_ceiling": 1.5}))
    assert (sheet.intensity == 1.5).all(), "cut off"


def test_false_alarms_and_interference_come_at_their_rates_from_nowhere() -> None:
    sky = wall(500.0, grey(0.5))
    sensor = bundle(300, **{"receiver.detects": SHEET, "receiver.min_range_m": 10.0, "noise.false_alarms": 0.02})
    frame = scan(sky, sensor)
    assert len(frame) / 90_000 == pytest.approx(0.02, abs=4 * np.sqrt(0.02 / 90_000))
    assert np.isnan(frame.true_range).all()
    assert not frame.object_id.any()
    assert np.isnan(frame.true_speed).all()
    assert frame.hit.all()
    assert (frame.range >= 10.0).all()
    assert (frame.range <= 150.0).all()
    assert np.histogram(frame.range, 5, (10, 150))[0].min() > 0.15 * len(frame), "all over the range"
    assert frame.signal.min() >= 5.0
    assert frame.signal.mean() == pytest.approx(5.2, abs=0.02), "noise just passes the threshold: T + 1/T"
    other = scan(sky, sensor.with_(**{"noise.false_alarms": 0.0, "noise.interference": 0.01}))
    assert len(other) / 90_000 == pytest.approx(0.01, abs=4 * np.sqrt(0.01 / 90_000))
    assert other.intensity == pytest.approx(np.ones(len(other)), rel=1e-3), "as a white wall"


def test_a_false_alarm_is_one_of_several_echoes() -> None:
    sensor = bundle(100, **{"receiver.detects": SHEET, "noise.false_alarms": 0.5, "receiver.mode": "all"})
    frame = scan(wall(30.0, grey(0.5)), sensor)
    two = frame.select(frame.return_count == 2)
    assert len(two) / 2 / 10_000 == pytest.approx(0.5, abs=0.02)
    assert (two.range[1::2] >= two.range[::2]).all(), "nearest first"
    strongest = scan(wall(30.0, grey(0.5)), sensor.with_(**{"receiver.mode": "strongest"}))
    assert (strongest.object_id == 1).all()


def test_range_walk_brings_strong_echoes_nearer() -> None:
    walking = {"receiver.detects": SHEET, "receiver.range_walk": 0.1}
    sensor = bundle(60, **walking)
    sigma, threshold = pulse_sigma_m(5.0), 5.0
    for reflectance in (0.05, 0.9):
        frame = scan(wall(20.0, grey(reflectance)), sensor)
        edge = np.sqrt(2 * np.log(ratio_of(sensor, reflectance, 20.0) / threshold))
        at_calibration = np.sqrt(2 * np.log(ratio_of(sensor, 0.1, 50.0) / threshold))
        off = float((frame.range - frame.true_range).mean())
        assert off == pytest.approx(0.1 * sigma * (at_calibration - edge), abs=2e-4)


def test_a_reflector_beside_the_beam_blooms_through_its_halo() -> None:
    scene = Scene("sign")
    sign = SURFACES["retro-sheet"]
    scene.add(box((0.02, 0.4, 0.4), material=sign), name="sign", position=(20.0, 0.5, 0))
    narrow = {"beam.divergence_horizontal_mrad": 2.0, "beam.divergence_vertical_mrad": 2.0, "beam.rays": 9}
    sensor = bundle(1, **narrow, **{"receiver.detects": SHEET})
    assert len(scan(scene, sensor)) == 0
    halo = {"beam.halo_share": 0.01, "beam.halo_mrad": 80.0, "beam.halo_rays": 64}
    bloomed = scan(scene, sensor.with_(**halo))
    assert len(bloomed) == 1
    assert bloomed.range[0] == pytest.approx(19.99, abs=0.3)
    # The sign fills 0.4² / (π·0.8²) of the halo, which holds a hundredth of the light.
    assert bloomed.intensity[0] == pytest.approx(0.01 * 220 * 0.16 / (np.pi * 0.64), rel=0.3)


def test_haze_thins_returns_as_the_closed_form_says() -> None:
    sensor = bundle(150, **{"receiver.detects": SHEET})
    for kappa, distance in ((0.01, 50.0), (0.03, 40.0), (0.05, 25.0)):
        frame = scan(wall(distance, grey(0.5)), sensor.with_(**{"receiver.extinction_per_m": kappa}))
        ratio = ratio_of(sensor, 0.5 * np.exp(-2 * kappa * distance), distance)
        expected = NormalDist().cdf(ratio - 5.0)
        assert len(frame) / 22_500 == pytest.approx(expected, abs=0.02)
        assert (frame.intensity > 0).all(), "what is too weak is lost, not kept"


def test_noise_of_the_catalogue_at_the_targets_of_the_sheets() -> None:
    for name in ("hdl-32e", "os1-64", "vlp-16"):
        product = load_sensor(name)
        stated = product.noise.stated_at
        assert stated is not None
        settings = product.model_dump(exclude={"pattern", "packets", "name", "imu"}, exclude_unset=True)
        sensor = (
            bundle(150)
            .with_(**settings)
            .with_(**{"beam.rays": 1, "receiver.range_step_m": 0.0, "receiver.max_range_m": 300.0})
        )
        frame = scan(wall(stated.distance_m, grey(stated.reflectivity)), sensor)
        assert (frame.range - frame.true_range).std() == pytest.approx(product.noise.ray_sigma_m, rel=0.02), name
        spread = spread_of(sensor)
        assert spread.floor <= product.noise.ray_sigma_m**2


def test_two_lights_of_one_colour_see_leaves_differently() -> None:
    world = wall(10.0, SURFACES["leaf"])
    seen = {nm: scan(world, bundle(2, wavelength_nm=nm)).intensity[0] for nm in (905.0, 1064.0, 1550.0)}
    assert seen[905.0] == pytest.approx(0.45, rel=1e-3)
    assert seen[1064.0] / seen[905.0] == pytest.approx(0.99, rel=1e-3)
    assert seen[1550.0] / seen[905.0] == pytest.approx(0.57, rel=1e-3)


# --- the waveform itself


def recorded(frame: Frame) -> Any:
    assert frame.waveforms is not None
    return frame.waveforms


def test_samples_are_the_waveform_and_its_peak_is_the_signal() -> None:
    sensor = bundle(2, **{"receiver.detects": SHEET, "waveform.noise": False, "noise.ray_sigma_m": 0.0})
    frame = scan(wall(30.0, grey(0.4)), sensor, waveform=True)
    kept = recorded(frame)
    assert kept.pulse.tolist() == [0, 1, 2, 3]
    x, listening = kept.ranges(0), listening_of(sensor)
    ratio = ratio_of(sensor, 0.4, 30.0)
    expected = ratio * np.exp(-((x - frame.true_range[0]) ** 2) / (2 * listening.sigma**2))
    np.testing.assert_allclose(kept.samples[0], expected, rtol=2e-3, atol=1e-3)
    assert kept.start[0] == pytest.approx(28.0, abs=kept.bin_m)
    assert kept.components.amplitude == pytest.approx(np.full(4, ratio), rel=2e-3)
    assert kept.components.range == pytest.approx(frame.true_range, abs=2e-3)
    assert kept.components.width == pytest.approx(np.full(4, 5.0), rel=2e-3)


def test_a_slanted_wall_has_a_wide_echo() -> None:
    """A flat round spot of radius a on a wall leant by θ has the depths of a disc: σ_depth = ½·a·tan θ."""
    spot = {"beam.divergence_horizontal_mrad": 20.0, "beam.divergence_vertical_mrad": 20.0, "beam.rays": 512}
    sensor = bundle(1, **spot, **{"beam.sampling": "sequence", "waveform.noise": False})
    lean = np.deg2rad(45.0)
    frame = scan(wall(40.0, grey(0.5), yaw=lean), sensor, waveform=True)
    width = recorded(frame).components.width
    assert len(width) == 1
    sigma = pulse_sigma_m(5.0)
    depth = 0.5 * 40.0 * 0.01 * np.tan(lean)
    assert width[0] == pytest.approx(5.0 * np.sqrt(sigma**2 + depth**2) / sigma, rel=0.03)


def test_noise_of_the_samples_is_one_and_comes_back_with_the_seed() -> None:
    sensor = bundle(20, **{"receiver.detects": SHEET, "waveform.window_m": 20.0})
    one, two = (scan(wall(30.0, grey(0.4)), sensor, waveform=True, threads=n) for n in (1, 2))
    samples = recorded(one).samples
    assert np.array_equal(samples, recorded(two).samples)
    tail = samples[:, 60:]
    assert tail.std() == pytest.approx(1.0, abs=0.02)
    assert abs(tail.mean()) < 0.02
    assert one.identical(scan(wall(30.0, grey(0.4)), sensor)), "what is reported does not depend on what is recorded"


def test_what_cannot_be_recorded_is_refused() -> None:
    with pytest.raises(InputError, match=r"needs receiver\.model = echoes, got 'hits'"):
        scan(wall(500.0, grey(0.5)), bundle(2, **{"receiver.model": "hits"}), waveform=True)
    with pytest.raises(InputError, match=r"set a shorter waveform\.window_m"):
        scan(wall(500.0, grey(0.5)), bundle(1000, **{"waveform.window_m": 9000.0}), waveform=True)


# --- radial speed


def test_a_moving_sensor_sees_a_standing_wall_come() -> None:
    path = Trajectory.through([0.0, 1.0], [Pose.at(0, 0, 0), Pose.at(3.0, 4.0, 0)])
    wide = {"first": 40.0, "last": -40.0, "count": 9}
    sensor = bundle(2, **{"pattern.azimuth_deg": wide, "noise.speed_sigma_m_s": 0.0})
    frame = scan(wall(30.0, grey(0.5)), sensor, path)
    d = frame.true_xyz / np.linalg.norm(frame.true_xyz, axis=1, keepdims=True)
    assert frame.true_speed == pytest.approx(-(d @ [3.0, 4.0, 0.0]), abs=1e-4)
    assert np.array_equal(frame.speed, frame.true_speed)


def test_a_turning_sensor_with_its_beams_off_the_axis() -> None:
    """v = ω × o of where the pulse starts; the turning itself changes no range."""
    path = Trajectory.through([0.0, 1.0], [Pose.at(), Pose.at(yaw=0.5)])
    sensor = load_sensor("os1-64").with_(**{"beam.rays": 1})
    scene = Scene("room")
    scene.add(box((40, 40, 40)), name="room")
    frame = scan(scene, sensor, path)
    origins = sensor.pulses().origins[frame.pulse]
    d = sensor.pulses().directions[frame.pulse]
    spin = np.cross([0.0, 0.0, 0.5], origins)
    assert frame.true_speed == pytest.approx(-(spin * d).sum(1), abs=1e-4)


def test_a_moving_object_is_seen_to_move_and_measured_with_its_noise() -> None:
    scene = Scene("road")
    drive = Trajectory.through([0.0, 10.0], [Pose.at(20.0, 0, 0), Pose.at(150.0, 0, 0)])
    scene.add(box((2.0, 8.0, 8.0)), name="van", motion=drive)
    scene.add(box((0.2, 60.0, 60.0)), name="wall", position=(100.0, 0, 0))
    angles = {"first": 15.0, "last": -15.0, "count": 100}
    pattern = {"kind": "grid", "azimuth_deg": angles, "elevation_deg": angles, "frame_hz": 10.0}
    sensor = bundle(2, pattern=pattern, **{"noise.speed_sigma_m_s": 0.03})
    frame = scan(scene, sensor)
    on_van = frame.object_id == 1
    d = frame.true_xyz / np.linalg.norm(frame.true_xyz, axis=1, keepdims=True)
    assert on_van.sum() > 1000
    assert frame.true_speed[on_van] == pytest.approx(13.0 * d[on_van, 0], rel=1e-4)
    assert not frame.true_speed[~on_van].any()
    off = frame.speed - frame.true_speed
    assert off.std() == pytest.approx(0.03, rel=0.05)
    assert np.isnan(scan(scene, sensor.with_(**{"noise.speed_sigma_m_s": None})).speed).all()


def test_a_spinning_wheel_has_the_speed_of_its_rim() -> None:
    turns = Trajectory.through(
        np.linspace(0, 1, 201), [Pose.at(10, 0, 0, yaw=a) for a in np.linspace(0, 2 * np.pi, 201)]
    )
    scene = Scene("wheel")
    scene.add(Mesh(*_disc(2.0)), name="wheel", motion=turns)
    angles = {"first": 8.0, "last": -8.0, "count": 40}
    pattern = {"kind": "grid", "azimuth_deg": angles, "elevation_deg": [12.0], "frame_hz": 100.0}
    frame = scan(scene, bundle(2, pattern=pattern), Pose.at(0, 0, -2.0))
    d = frame.true_xyz / np.linalg.norm(frame.true_xyz, axis=1, keepdims=True)
    world = frame.true_xyz + np.array([0, 0, -2.0])
    velocity = 2 * np.pi * np.stack([-world[:, 1], world[:, 0] - 10.0, 0 * world[:, 0]], 1)
    assert len(frame) > 10
    assert frame.true_speed == pytest.approx((velocity * d).sum(1), abs=0.02)


def _disc(radius: float) -> tuple[np.ndarray, np.ndarray]:
    around = np.linspace(0, 2 * np.pi, 65)[:-1]
    rim = np.stack([radius * np.cos(around), radius * np.sin(around), 0 * around], 1)
    vertices = np.concatenate([[[0.0, 0.0, 0.0]], rim])
    ring = np.arange(64)
    return vertices, np.stack([np.zeros(64, int), 1 + ring, 1 + (ring + 1) % 64], 1)


def test_dual_speeds_of_one_echo_are_one_measurement() -> None:
    sensor = bundle(30, **{"receiver.mode": "strongest+last", "noise.speed_sigma_m_s": 0.1, "receiver.detects": SHEET})
    frame = scan(wall(20.0, grey(0.5)), sensor)
    assert np.array_equal(frame.speed[::2], frame.speed[1::2])
    assert np.array_equal(frame.range[::2], frame.range[1::2])
    assert np.array_equal(frame.signal[::2], frame.signal[1::2])
