"""Echoes of whole scans against waveforms worked out by hand: shares of a beam, steps, wires, one measurement each."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tussock.frames.frame import Frame
from tussock.poses import Pose
from tussock.return_modes import KINDS
from tussock.scene.material import Material
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene
from tussock.scenes.ready import ready_pose, ready_scene
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.signal.waveform import pulse_sigma_m
from tussock.simulate import scan
from tussock.trace.world import World

GREY = Material(name="grey", reflectance=0.5)
WIDE = 20.0
"""[mrad] of the beam of these tests"""


def one_pulse(rays: int, **changes: Any) -> Sensor:
    pattern = {"kind": "grid", "azimuth_deg": [0.0], "elevation_deg": [0.0], "frame_hz": 10.0}
    beam = {"shape": "rectangle", "divergence_horizontal_mrad": WIDE, "divergence_vertical_mrad": WIDE, "rays": rays}
    sensor = Sensor(name="one pulse", pattern=pattern, beam={**beam, "sampling": "sequence"})
    return sensor.with_(
        **{"receiver.mode": "all", "receiver.max_returns": 32, "receiver.max_range_m": 200.0, **changes}
    )


def steps(edges: list[float], depths: list[float]) -> Scene:
    """Walls one behind the other, wall k from its edge on to the left (+y), the last one all across."""
    scene = Scene("steps")
    for k, (left, depth) in enumerate(zip([*edges, -20.0], np.cumsum(depths), strict=True)):
        scene.add(box((1e-4, 40.0, 40.0), material=GREY), name=f"wall {k}", position=(depth + 5e-5, left + 20.0, 0))
    return scene


def peaks_by_hand(sensor: Sensor, edges: list[float], depths: list[float]) -> np.ndarray:
    """Range and intensity of the peaks of the waveform of those walls, sampled every 0.1 mm near a coarse peak."""
    offsets = sensor.beam.stencil().astype(float)
    ahead = np.full(len(offsets), np.nan)
    for left, depth in reversed(list(zip([*edges, -20.0], np.cumsum(depths), strict=True))):
        ahead[offsets[:, 0] * depth > left] = depth
    slant = np.sqrt(1 + (offsets**2).sum(1))
    ranges, energies = ahead * slant, 0.5 / slant / (ahead * slant) ** 2 / len(offsets)
    sigma = pulse_sigma_m(sensor.receiver.pulse_fwhm_ns)

    def waveform(x: np.ndarray) -> np.ndarray:
        return (energies * np.exp(-((x[:, None] - ranges) ** 2) / (2 * sigma**2))).sum(1)

    x = np.arange(ranges.min() - sigma, ranges.max() + sigma, sigma / 50)
    w = waveform(x)
    top = np.flatnonzero((w[1:-1] > w[:-2]) & (w[1:-1] >= w[2:])) + 1
    rows = []
    for at in top:
        fine = np.arange(x[at - 1], x[at + 1], 1e-4)
        peak = fine[waveform(fine).argmax()]
        rows.append((peak, waveform(np.array([peak]))[0] * peak**2))
    return np.array(rows)


@settings(max_examples=25, deadline=None)
@given(
    edges=st.lists(st.floats(-0.08, 0.08), min_size=1, max_size=3),
    gaps=st.lists(st.floats(0.9, 4.0), min_size=3, max_size=3),
    nearest=st.floats(8.0, 30.0),
    fwhm=st.sampled_from([1.0, 3.0, 6.0]),
)
def test_walls_one_behind_the_other_have_the_echoes_of_their_waveform(
    edges: list[float], gaps: list[float], nearest: float, fwhm: float
) -> None:
    edges = sorted(edges, reverse=True)
    depths = [nearest, *gaps[: len(edges)]]
    sensor = one_pulse(256, **{"receiver.pulse_fwhm_ns": fwhm})
    across = sensor.beam.stencil()[:, 0].astype(float)
    # A ray that runs along an edge may fall to either side of it, or on the wall's own narrow side: numbers of 20 m, as those of a
    # wall of 40 m are, have steps of 2 µm, and some are rounded on the way.
    assume(min(np.abs(across * d - e).min() for d, e in zip(np.cumsum(depths), edges, strict=False)) > 1e-5)
    frame, expected = scan(steps(edges, depths), sensor), peaks_by_hand(sensor, edges, depths)
    sigma = pulse_sigma_m(fwhm)
    spaced = np.diff(expected[:, 0], prepend=-1e3).min() > 2.4 * sigma  # peaks that are about to merge are not counted
    if spaced:
        assert len(frame) == len(expected)
        assert frame.true_range == pytest.approx(expected[:, 0], abs=2e-3)
        assert frame.intensity == pytest.approx(expected[:, 1], rel=5e-3)


@pytest.mark.parametrize("apart", [0.5, 1.0, 1.9, 2.1, 3.0, 6.0])
def test_two_halves_merge_as_the_waveform_says(apart: float) -> None:
    """Two equal pulses part at 2σ; the one peak between them is exp(−d²/8σ²) as high as both together."""
    sigma = pulse_sigma_m(5.0)
    gap = apart * sigma
    # The far half is brighter by what it lies farther away, so that both halves bring back the same energy.
    scene = Scene("halves")
    for at, left, share in ((200.0, 0.0, 0.4), (200.0 + gap, -20.0, 0.4 * ((200.0 + gap) / 200.0) ** 2)):
        grey = Material(name=f"grey {at}", reflectance=share)
        scene.add(box((0.01, 40.0, 40.0), material=grey), name=f"wall {at}", position=(at + 0.005, left + 20.0, 0))
    narrow = {"beam.divergence_horizontal_mrad": 1.0, "beam.divergence_vertical_mrad": 1.0}
    frame = scan(scene, one_pulse(1024, **narrow, **{"receiver.max_range_m": 300.0}))
    assert len(frame) == (1 if apart < 2 else 2)
    if apart < 2:
        assert frame.true_range[0] == pytest.approx(200.0 + gap / 2, abs=0.02)
        assert frame.intensity[0] == pytest.approx(0.4 * np.exp(-(apart**2) / 8), rel=0.02)
    elif apart >= 6:
        assert frame.true_range == pytest.approx([200.0, 200.0 + gap], abs=2e-3)
        assert frame.intensity / [1, ((200.0 + gap) / 200.0) ** 2] == pytest.approx([0.2, 0.2], rel=0.02)


@pytest.mark.parametrize("shape", ["rectangle", "circle"])
@pytest.mark.parametrize("profile", ["flat", "gaussian"])
@pytest.mark.parametrize("place", [0.0, 0.013, -0.06])
def test_a_wire_has_its_share_of_the_beam(shape: str, profile: str, place: float) -> None:
    """13 mm of a beam of 0.2 m, ten metres away: its share of the light by quadrature; 0.0325 for the flat square."""
    half, spot = 0.0065, 0.1
    scene = Scene("wire")
    scene.add(box((1e-3, 2 * half, 5.0), material=GREY), name="wire", position=(10.0005, place, 0))
    frame = scan(scene, one_pulse(1024, **{"beam.shape": shape, "beam.profile": profile}))
    grid = (np.arange(2000) + 0.5) / 1000 - 1
    h, v = np.meshgrid(grid, grid)
    light = np.exp(-2 * (h**2 + v**2)) if profile == "gaussian" else np.ones_like(h)
    light[(h**2 + v**2 > 1) & (shape == "circle")] = 0.0
    share = light[np.abs(h * spot - place) <= half].sum() / light.sum()
    assert len(frame) == 1
    assert frame.intensity[0] == pytest.approx(0.5 * share, rel=0.05)
    if (shape, profile) == ("rectangle", "flat"):
        assert 0.5 * share == pytest.approx(0.0325, rel=1e-2)


def wall_and_ground() -> World:
    scene = Scene("wall and ground")
    scene.add(plane((400.0, 400.0)), name="ground", position=(0, 0, -2))
    scene.add(box((0.2, 40.0, 6.0)), name="wall", position=(15.1, 0, 1))
    return World(scene)


def rows_of(frame: Frame, pulses: np.ndarray, number: int) -> Frame:
    return frame.select(np.isin(frame.pulse, pulses) & (frame.return_number == number))


@pytest.mark.parametrize("name", ["vlp-16", "hdl-64e-s3-dual", "xt32"])
def test_one_echo_is_one_measurement_wherever_it_is_reported(name: str) -> None:
    world, sensor = wall_and_ground(), load_sensor(name)
    listed = scan(world, sensor.with_(**{"receiver.mode": "all", "receiver.max_returns": 32}), seed=3)
    single = listed.pulse[listed.return_count == 1]
    assert len(single) > 5000
    for mode in ("strongest+last", "first+last", "first+strongest"):
        frame = scan(world, sensor.with_(**{"receiver.mode": mode}), seed=3)
        one, two = (rows_of(frame, single, number) for number in (1, 2))
        assert np.array_equal(one.pulse, single), mode
        assert np.array_equal(two.pulse, single), mode
        for column in ("range", "intensity", "signal", "true_range", "object_id"):
            assert np.array_equal(getattr(one, column), getattr(two, column)), (mode, column)
            assert np.array_equal(getattr(one, column), getattr(listed, column)[listed.return_count == 1]), (
                mode,
                column,
            )


def test_every_mode_reports_the_same_echoes_of_a_torn_beam() -> None:
    """The echoes of mode `all` are those that every other mode chooses from, measured alike to the last bit."""
    world, place = World(ready_scene("shrub")), ready_pose("shrub")
    angles = {"first": 6.0, "last": -6.0, "count": 60}
    pattern = {"kind": "grid", "azimuth_deg": angles, "elevation_deg": angles, "frame_hz": 10.0}
    sensor = load_sensor("vlp-16").with_(pattern=pattern, packets=None, **{"receiver.max_returns": 32})
    listed = scan(world, sensor.with_(**{"receiver.mode": "all"}), place, seed=1)
    assert (listed.return_count > 1).sum() > 100
    starts = np.flatnonzero(listed.return_number == 1)
    groups = np.split(np.arange(len(listed)), starts[1:])
    strongest = np.array([g[listed.signal[g].argmax()] for g in groups])
    last = np.array([g[listed.range[g].argmax()] for g in groups])
    first = np.array([g[listed.range[g].argmin()] for g in groups])
    for mode, rows in (("strongest", strongest), ("last", last), ("first", first)):
        frame = scan(world, sensor.with_(**{"receiver.mode": mode}), place, seed=1)
        assert np.array_equal(frame.pulse, listed.pulse[rows]), mode
        assert np.array_equal(frame.range, listed.range[rows]), mode
        assert np.array_equal(frame.intensity, listed.intensity[rows]), mode
    ends = scan(world, sensor.with_(**{"receiver.mode": "first+last"}), place, seed=1)
    near, far = ends.select(ends.return_number == 1), ends.select(ends.return_number == 2)
    assert np.array_equal(near.pulse, far.pulse)
    assert (far.range >= near.range).all()
    dual = scan(world, sensor.with_(**{"receiver.mode": "strongest+last"}), place, seed=1)
    second = dual.return_kind == KINDS.index("second")
    one_of_many = np.isin(dual.pulse, listed.pulse[strongest[(strongest == last)]]) & (dual.return_count == 2)
    several = np.isin(dual.pulse, listed.pulse[listed.return_count > 1])
    assert np.array_equal(second, one_of_many & several & (dual.return_number == 2))


def test_the_last_is_never_nearer_than_the_first_however_noisy() -> None:
    sensor = load_sensor("hdl-32e").with_(**{"receiver.mode": "first+last", "noise.ray_sigma_m": 0.5})
    sensor = sensor.with_(
        **{"receiver.detects": "10 % at 10 m", "noise.false_alarms": 0.1, "receiver.range_step_m": 0.0}
    )
    frame = scan(ready_scene("shrub"), sensor, ready_pose("shrub"), seed=2)
    near, far = frame.select(frame.return_number == 1), frame.select(frame.return_number == 2)
    assert np.array_equal(near.pulse, far.pulse)
    assert (far.range >= near.range).all()
    assert (far.range > near.range).sum() > 100


def test_a_spot_that_spreads_over_ground_lengthens_its_echo() -> None:
    """A flat spot of half width h on ground met at the angle θ: depths even over ±h/tan θ along the beam."""
    scene = Scene("ground")
    scene.add(plane((400.0, 400.0), material=GREY), name="ground")
    steep = np.deg2rad(10.0)
    height = 20.0 * np.sin(steep)
    sensor = one_pulse(1024, **{"beam.divergence_horizontal_mrad": 0.1, "beam.divergence_vertical_mrad": 4.0})
    frame = scan(scene, sensor, Pose.at(0, 0, height, pitch=steep))
    sigma, half = pulse_sigma_m(5.0), 20.0 * 0.002 / np.tan(steep)
    depths = np.linspace(-half, half, 2001)
    height_of_peak = np.exp(-(depths**2) / (2 * sigma**2)).mean()
    assert frame.range[0] == pytest.approx(20.0, abs=0.02)
    assert frame.intensity[0] == pytest.approx(0.5 * np.sin(steep) * height_of_peak, rel=0.01)
