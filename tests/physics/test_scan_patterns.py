"""Every sensor of the catalogue fires as its data sheet says."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.sensors.catalogue import load_sensor
from tussock.sensors.patterns.line import LinePattern
from tussock.sensors.patterns.risley import RisleyPattern


def azimuth_steps_deg(name: str, rate: float) -> np.ndarray:
    """Angle between successive firings of laser 0 [deg], clockwise."""
    pulses = load_sensor(name).with_(rotation_hz=rate).pulses(0)
    own = pulses.azimuths[pulses.lasers == 0].astype(float)
    return np.rad2deg(-np.diff(own)) % 360


# data sheets: name, lasers, rate [Hz], step [deg], points per second, packets per second, cycles per packet
SHEETS = [
    ("hdl-64e-s2", 64, 10.0, 0.1728, 1.333e6, 3472.17, 6),
    ("hdl-64e-s2", 64, 5.0, 0.0864, 1.333e6, 3472.17, 6),
    ("hdl-64e-s2", 64, 15.0, 0.2592, 1.333e6, 3472.17, 6),
    ("hdl-64e-s3", 64, 20.0, 0.3456, 1.333e6, 3472.17, 6),
    ("hdl-64e-s3-dual", 64, 10.0, 0.2074, 1.111e6, 5787.03, 3),
    ("hdl-32e", 32, 10.0, 0.1659, 0.695e6, 1808.0, 12),
    ("hdl-32e", 32, 20.0, 0.3318, 0.695e6, 1808.0, 12),
    ("vlp-16", 16, 10.0, 0.199, 0.289e6, 753.5, 24),
    ("vlp-16", 16, 5.0, 0.0995, 0.289e6, 753.5, 24),
    ("puck-hi-res", 16, 20.0, 0.398, 0.289e6, 753.5, 24),
    ("vlp-32c", 32, 10.0, 0.199, 0.579e6, 1507.0, 12),
    ("vls-128", 128, 10.0, 0.1919, 2.401e6, 6253.9, 3),
    ("vls-128", 128, 20.0, 0.3838, 2.401e6, 6253.9, 3),
]


@pytest.mark.parametrize(("name", "lasers", "rate", "step", "points", "packets", "cycles"), SHEETS)
def test_rates_and_steps(
    name: str, lasers: int, rate: float, step: float, points: float, packets: float, cycles: int
) -> None:
    sensor = load_sensor(name).with_(rotation_hz=rate)
    assert sensor.lasers == lasers
    frames = [sensor.pulses(frame) for frame in range(int(rate))]
    fired = sum(len(pulses) for pulses in frames)
    assert fired == pytest.approx(points, rel=0.003)
    assert fired / lasers / cycles == pytest.approx(packets, rel=0.003)
    assert {len(pulses) % lasers for pulses in frames} == {0}
    np.testing.assert_allclose(azimuth_steps_deg(name, rate), step, rtol=0.003, atol=1e-4)


def test_velodynes_turn_clockwise_from_straight_ahead() -> None:
    pulses = load_sensor("hdl-32e").pulses(0)
    first = pulses.directions[pulses.elevations == 0][0]
    np.testing.assert_allclose(first, [1, 0, 0], atol=2e-3)
    quarter = pulses.directions[(pulses.elevations == 0) & (pulses.offsets >= 0.025)][0]
    np.testing.assert_allclose(quarter, [0, -1, 0], atol=4e-3)


def test_firing_order_of_each_cycle() -> None:
    hdl32 = load_sensor("hdl-32e").pulses(0)
    assert hdl32.lasers[:32].tolist() == list(range(32))
    np.testing.assert_allclose(np.diff(hdl32.offsets[:32]), 1.152e-6, atol=1e-12)
    np.testing.assert_allclose(hdl32.offsets[32] - hdl32.offsets[0], 46.08e-6, atol=1e-12)

    # VLP-32C: two at a time; HDL-64E: upper and lower laser together; VLS-128: eight, with a pause after 64.
    vlp32 = load_sensor("vlp-32c").pulses(0)
    assert vlp32.offsets[0] == vlp32.offsets[1] < vlp32.offsets[2]
    hdl64 = load_sensor("hdl-64e-s2").pulses(0)
    assert hdl64.lasers[:4].tolist() == [0, 32, 1, 33]
    np.testing.assert_allclose(hdl64.offsets[0:10:2] * 1e6, [0.0, 1.26, 2.46, 3.66, 6.0], atol=1e-9)
    vls = load_sensor("vls-128").pulses(0)
    groups = np.unique(vls.offsets[:128])
    assert groups.size == 16
    np.testing.assert_allclose(np.diff(groups) * 1e6, [2.665] * 7 + [5.33] + [2.665] * 7, atol=1e-9)
    np.testing.assert_allclose((vls.offsets[128] - groups[-1]) * 1e6, 2.665 + 7.995, atol=1e-9)


def test_a_pulse_carries_the_azimuth_of_its_own_moment() -> None:
    """Within one cycle of an HDL-32E the head turns by 31 · 1.152 µs · 3600°/s."""
    pulses = load_sensor("hdl-32e").pulses(0)
    turned = np.rad2deg(float(pulses.azimuths[0]) - float(pulses.azimuths[31]))
    assert turned == pytest.approx(31 * 1.152e-6 * 3600, rel=1e-4)


@pytest.mark.parametrize(
    ("name", "lowest", "highest", "atol"),
    [
        ("hdl-32e", -30.67, 10.67, 1e-3),
        ("vlp-16", -15, 15, 1e-3),
        ("puck-hi-res", -10, 10, 1e-3),
        ("vlp-32c", -25, 15, 1e-3),
        ("vls-128", -25, 15, 1e-3),
        ("hdl-64e-s3", -24.8, 2.0, 0.3),
        # The calibrated unit looks higher than the sheet's +2 degrees.
        ("hdl-64e-s2", -24.8, 5.0, 0.1),
    ],
)
def test_fields_of_view(name: str, lowest: float, highest: float, atol: float) -> None:
    elevations = np.rad2deg(load_sensor(name).pulses(0).elevations)
    np.testing.assert_allclose([elevations.min(), elevations.max()], [lowest, highest], atol=atol)


# ---- the HDL-64E of Goodin et al. (2018), eqs (6) and (7) ----


@pytest.mark.parametrize("rate", [5.0, 10.0, 15.0])
def test_two_blocks_step_by_eqs_6_and_7(rate: float) -> None:
    sensor = load_sensor("hdl-64e-mavs").with_(rotation_hz=rate)
    pulses = sensor.pulses(0)
    lower_step = 360 / (250_000 / (32 * rate) - 1)
    upper_step = 360 / (250_000 / (8 * rate) - 1)

    lower = np.unwrap(-pulses.azimuths[pulses.lasers == 32].astype(float))
    np.testing.assert_allclose(np.rad2deg(np.diff(lower)), lower_step, atol=1e-4)
    upper = np.rad2deg(np.diff(np.unwrap(-pulses.azimuths[pulses.lasers == 0].astype(float))))
    # Two steps of one, then one of two: the fourth firing is the lower block's.
    np.testing.assert_allclose(upper[: len(upper) // 3 * 3].reshape(-1, 3)[:, :2], upper_step, atol=1e-4)
    np.testing.assert_allclose(upper[2::3], 2 * upper_step, atol=1e-4)


@pytest.mark.parametrize("rate", [5.0, 10.0, 15.0])
def test_two_blocks_fire_three_to_one_at_a_million_points_a_second(rate: float) -> None:
    sensor = load_sensor("hdl-64e-mavs").with_(rotation_hz=rate)
    frames = [sensor.pulses(frame) for frame in range(int(rate))]
    assert sum(len(pulses) for pulses in frames) == pytest.approx(1e6, rel=1e-4)
    for pulses in frames:
        assert np.all(np.diff(pulses.offsets) >= 0)
        blocks = pulses.lasers.reshape(-1, 32) // 32
        assert np.all(blocks == blocks[:, :1])
        whole = len(blocks) // 4 * 4
        np.testing.assert_array_equal(blocks[:whole, 0].reshape(-1, 4), np.tile([0, 0, 0, 1], (whole // 4, 1)))
    elevations = np.rad2deg(frames[0].elevations)
    np.testing.assert_allclose([elevations.min(), elevations.max()], [-24.8, 2.0], atol=1e-4)


# ---- line scanners: the turning mirror ----


@pytest.mark.parametrize("mirror_deg", [0.0, 45.0, 90.0, 20.0, -60.0])
def test_mirror_reflects_every_beam_by_the_formula(mirror_deg: float) -> None:
    """The beams of a turned mirror against a reflection matrix, I − 2nnᵀ, built here."""
    pitches = [-1.2, -0.4, 0.4, 1.2, 10.0]
    pattern = LinePattern(
        emitter_pitch_deg=pitches, first_deg=mirror_deg, last_deg=mirror_deg + 1, resolution_deg=1.0, rotation_hz=25
    )
    pulses = pattern.pulses(0)
    alpha, pitch = np.deg2rad(mirror_deg), np.deg2rad(pitches)
    normal = np.array([np.cos(alpha), np.sin(alpha), -1.0]) / np.sqrt(2)
    mirror = np.eye(3) - 2 * np.outer(normal, normal)
    emitted = np.stack([np.sin(pitch), 0 * pitch, np.cos(pitch)])
    expected = (mirror @ emitted).T
    np.testing.assert_allclose(pulses.directions[:5], expected, atol=1e-6)
    np.testing.assert_allclose(pulses.azimuths[:5], np.arctan2(expected[:, 1], expected[:, 0]), atol=1e-6)
    np.testing.assert_allclose(pulses.elevations[:5], np.arcsin(expected[:, 2]), atol=1e-6)
    # The closed form on top of line.py.
    np.testing.assert_allclose(np.sin(pulses.elevations[:5]), np.sin(pitch) * np.cos(alpha), atol=1e-6)


def test_pitch_spacing_becomes_yaw_spacing() -> None:
    """BlenSor, figure 3: the fan stands upright at mirror yaw 0 and lies flat at 90°."""
    pitches = np.array([-1.2, -0.4, 0.4, 1.2])
    pulses = LinePattern(
        emitter_pitch_deg=pitches.tolist(), first_deg=0.0, last_deg=90.0, resolution_deg=90.0, rotation_hz=25
    ).pulses(0)
    yaw, pitch = np.rad2deg(pulses.azimuths).reshape(2, 4), np.rad2deg(pulses.elevations).reshape(2, 4)
    np.testing.assert_allclose(yaw[0], 0, atol=1e-5)
    np.testing.assert_allclose(pitch[0], pitches, atol=1e-5)
    np.testing.assert_allclose(yaw[1], 90 - pitches, atol=1e-5)
    np.testing.assert_allclose(pitch[1], 0, atol=1e-5)


# ---- fields of view and rates of the other scanners ----

# name, lasers, frame rate [Hz], pulses a frame, lowest and highest azimuth and elevation [deg]; the outer beams
# of the Ibeo, 1.2° off, reach 1.2°·sin(yaw) further than the mirror's -50° and 35°
OTHERS = [
    ("ibeo-lux", 4, 25.0, 4 * 341, -50.919, 35.688, -1.2, 1.2),
    ("lms-291-s05", 1, 37.5, 201, -50, 50, 0, 0),
    ("lms-111", 1, 50.0, 541, -135, 135, 0, 0),
    ("utm-30lx", 1, 40.0, 1081, -135, 135, 0, 0),
    ("os1-64", 64, 10.0, 65536, -180, 180, -16.611, 16.611),
    ("os0-128", 128, 10.0, 131_072, -180, 180, -46.16, 44.3),
    ("os1-128", 128, 10.0, 131_072, -180, 180, -21.95, 20.47),
    ("os2-128", 128, 10.0, 262_144, -180, 180, -11.09, 10.76),
    ("xt32", 32, 10.0, 64_000, -180, 180, -16, 15),
    ("pandar64", 64, 10.0, 115_200, -180, 180, -24.879, 14.9),
    ("pandar128", 128, 10.0, 230_400, -180, 180, -25.016, 14.436),
    ("qt128", 128, 10.0, 86_400, -180, 180, -52.627, 52.627),
    ("at128", 128, 10.0, 153_728, -60, 60, -12.9, 12.5),
    ("rs-helios", 32, 10.0, 57_600, -180, 180, -54.6, 14.94),
    ("rs-lidar-m1", 126, 10.0, 78_750, -60, 60, -12.5, 12.5),
    ("multiscan136", 16, 20.0, 360 * 14 + 2880 * 2, -180, 180, -22.71, 42.79),
    ("picoscan150", 1, 25.0, 2761, -138, 138, 0, 0),
    ("lms-511", 1, 35.0, 761, -95, 95, 0, 0),
    ("livox-mid-360", 4, 10.0, 20_000, -180, 180, -7, 52),
    ("livox-avia", 6, 10.0, 24_000, -35.2, 35.2, -38.6, 38.6),
    ("livox-horizon", 6, 10.0, 24_000, -40.85, 40.85, -12.55, 12.55),
    ("livox-mid-40", 1, 10.0, 10_000, -19.2, 19.2, -19.2, 19.2),
    ("tof-camera", 1, 30.0, 25_344, -21.8, 21.8, -17.3, 17.3),
    ("grid-scanner", 40, 20.0, 4800, -59.5, 59.5, -9.75, 9.75),
]


@pytest.mark.parametrize(("name", "lasers", "rate", "count", "right", "left", "low", "high"), OTHERS)
def test_other_scanners_see_and_fire_as_their_sheets_say(
    name: str, lasers: int, rate: float, count: int, right: float, left: float, low: float, high: float
) -> None:
    sensor = load_sensor(name)
    pulses = sensor.pulses(0)
    assert (sensor.lasers, len(pulses)) == (lasers, count)
    assert 1 / sensor.frame_period == pytest.approx(rate)
    assert pulses.offsets[-1] < sensor.frame_period
    azimuths, elevations = np.rad2deg(pulses.azimuths), np.rad2deg(pulses.elevations)
    # Pixels end half a pixel inside, columns half a step, and one frame of the rosette misses parts of its rim.
    steps = {"tof-camera": 0.15, "livox-mid-40": 0.2, "livox-avia": 1.0, "livox-horizon": 0.05, "livox-mid-360": 0.5}
    slack = steps.get(name, 0.4 if right == -180 else 0.002)
    np.testing.assert_allclose([azimuths.min(), azimuths.max()], [right, left], atol=slack)
    np.testing.assert_allclose([elevations.min(), elevations.max()], [low, high], atol=slack)


def test_ouster_columns_fire_at_once() -> None:
    sensor = load_sensor("os1-64").with_(rotation_hz=20)
    pulses = sensor.pulses(0)
    assert np.unique(pulses.offsets).size == 1024
    assert len(pulses) * 20 == 1_310_720
    # Neighbouring lasers look 2.109° apart, the first of four furthest to the right.
    first = np.rad2deg(np.unwrap(pulses.azimuths[:4]))
    np.testing.assert_allclose(np.diff(first), 2.1093, atol=2e-3)


def test_the_rosette_fills_a_circle_of_38_4_degrees() -> None:
    sensor = load_sensor("livox-mid-40")
    off_axis = np.concatenate([np.rad2deg(np.arccos(sensor.pulses(frame).directions[:, 0])) for frame in range(10)])
    assert 2 * off_axis.max() == pytest.approx(38.4, abs=0.1)
    assert off_axis.min() < 0.1
    # 7294 + 4664 = 11958 passes through the centre a minute.
    near = off_axis < 1.0
    passes = np.count_nonzero(near[1:] & ~near[:-1])
    assert passes == pytest.approx(11_958 / 60, abs=2)


def test_two_thin_wedges_bend_like_two_vectors() -> None:
    """For thin prisms each wedge ω bends the beam by (n − 1)·ω towards its thick side, and the two add up."""
    pattern = RisleyPattern(
        prism_rpm=[600.0, -420.0], wedge_deg=[0.3, 0.2], refractive_index=1.5, pulse_hz=1000.0, frame_hz=1.0
    )
    pulses = pattern.pulses(0)
    roll1, roll2 = 2 * np.pi * 10 * pulses.offsets, -2 * np.pi * 7 * pulses.offsets
    bent = np.deg2rad(0.3 * 0.5) * np.exp(1j * roll1) + np.deg2rad(0.2 * 0.5) * np.exp(1j * roll2)
    seen = pulses.directions[:, 1] + 1j * pulses.directions[:, 2]
    np.testing.assert_allclose(-seen, bent, atol=1e-6)
