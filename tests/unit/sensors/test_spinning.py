from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tussock.errors import InputError
from tussock.sensors.patterns.spinning import SpinningPattern


def bench_pattern(**changes: object) -> SpinningPattern:
    """64 lasers from -24.8° to +2°, 2083 steps a turn, those of one step at once."""
    given = {"elevation_deg": {"first": -24.8, "last": 2.0, "count": 64}, "steps": 2083, "rotation_hz": 10.0}
    return SpinningPattern(**(given | changes))


def plain_pulses(pattern: SpinningPattern, frame: int) -> list[tuple[float, int, float, float]]:
    """The pattern spelled out: (time since the frame's start, laser, azimuth, elevation), all in order."""
    rows = []
    firing = pattern.firing_us or (0.0,) * pattern.lasers
    turn = pattern.azimuth_deg or (0.0,) * pattern.lasers
    sign = -1 if pattern.clockwise else 1
    for cycle in pattern.cycles(frame):
        fired = []
        for laser in range(pattern.lasers):
            time = cycle * float(pattern.cycle) + firing[laser] * 1e-6
            azimuth = sign * 2 * np.pi * pattern.rotation_hz * time + np.deg2rad(turn[laser])
            fired.append((time - frame / pattern.rotation_hz, laser, azimuth, np.deg2rad(pattern.elevation_deg[laser])))
        rows += sorted(fired, key=lambda row: (round(row[0], 12), row[1]))
    return rows


@settings(max_examples=40, deadline=None)
@given(
    lasers=st.integers(1, 6),
    rate=st.sampled_from([5.0, 10.0, 12.5, 7.3]),
    cycle=st.sampled_from([46.08, 250.0, 1000.0, 777.7]),
    clockwise=st.booleans(),
    frame=st.integers(0, 50),
    seed=st.integers(0, 1000),
)
def test_equals_the_plain_twin(lasers: int, rate: float, cycle: float, clockwise: bool, frame: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pattern = SpinningPattern(
        elevation_deg=rng.uniform(-40, 40, lasers).round(3).tolist(),
        azimuth_deg=rng.uniform(-10, 10, lasers).round(3).tolist(),
        firing_us=(rng.integers(0, 4, lasers) * cycle / 5).round(4).tolist(),
        cycle_us=cycle,
        rotation_hz=rate,
        clockwise=clockwise,
    )
    pulses, rows = pattern.pulses(frame), plain_pulses(pattern, frame)
    times, numbers, azimuths, elevations = (np.array(column) for column in zip(*rows, strict=True))
    assert np.array_equal(pulses.lasers, numbers)
    np.testing.assert_allclose(pulses.offsets, times, atol=1e-10)
    assert np.all(np.diff(pulses.offsets) >= 0)
    level = np.cos(elevations)
    expected = np.stack([level * np.cos(azimuths), level * np.sin(azimuths), np.sin(elevations)], 1)
    np.testing.assert_allclose(pulses.directions, expected, atol=1e-6)
    np.testing.assert_allclose(np.exp(1j * pulses.azimuths), np.exp(1j * azimuths), atol=1e-6)
    assert np.abs(pulses.azimuths).max() <= np.pi + 1e-6
    np.testing.assert_allclose(pulses.elevations, elevations, atol=1e-6)


@pytest.mark.parametrize(("rate", "cycle"), [(10.0, 46.08), (12.5, 55.296), (10.0, 50.0), (20.0, 53.3)])
def test_frames_tile_the_stream_without_gap_or_overlap(rate: float, cycle: float) -> None:
    pattern = SpinningPattern(elevation_deg=[0.0], cycle_us=cycle, rotation_hz=rate)
    last = 0
    for frame in range(300):
        cycles = pattern.cycles(frame)
        assert cycles.start == last
        last = cycles.stop
        pulses = pattern.pulses(frame)
        assert 0 <= pulses.offsets[0] < cycle * 1e-6
        assert pulses.offsets[-1] < pattern.frame_period
    assert abs(last - 300 / (rate * cycle * 1e-6)) < 1
    # Far into the run too, where a sum of float64 steps would have wandered.
    far = 10**9
    assert pattern.cycles(far).start == pattern.cycles(far - 1).stop


def test_whole_cycles_repeat_exactly_and_are_kept() -> None:
    pattern = SpinningPattern(elevation_deg=[0.0, 1.0], cycle_us=50.0, rotation_hz=10.0)
    assert pattern.repeats
    assert len(pattern.cycles(7)) == 2000
    assert pattern.pulses(7) is pattern.pulses(0)
    assert not pattern.changed(cycle_us=48.0).repeats


def test_steps_give_the_same_angles_at_any_rate() -> None:
    slow, fast = bench_pattern(rotation_hz=5.0).pulses(3), bench_pattern(rotation_hz=20.0).pulses(3)
    assert len(slow) == 64 * 2083
    np.testing.assert_array_equal(slow.lasers, fast.lasers)
    np.testing.assert_allclose(slow.azimuths, fast.azimuths, atol=1e-6)
    np.testing.assert_allclose(slow.offsets, 4 * fast.offsets, atol=1e-12)
    assert slow.origins is None
    assert np.unique(slow.offsets).size == 2083
    np.testing.assert_allclose(np.rad2deg(slow.elevations[[0, 63]]), [-24.8, 2.0], atol=1e-5)


def test_clockwise_heads_turn_to_the_right() -> None:
    right = SpinningPattern(elevation_deg=[0.0], steps=360, rotation_hz=10.0)
    left = right.changed(clockwise=False)
    np.testing.assert_allclose(right.pulses(0).directions[90], [0, -1, 0], atol=1e-6)
    np.testing.assert_allclose(left.pulses(0).directions[90], [0, 1, 0], atol=1e-6)
    np.testing.assert_allclose(right.pulses(0).directions[0], [1, 0, 0], atol=1e-6)


def test_offsets_turn_with_the_head_and_undo_the_drivers_correction() -> None:
    """A point made from origin + range · direction is where the drivers' formula puts it."""
    elevation, turn, up, left = np.deg2rad(-12.0), np.deg2rad(3.0), 0.2, 0.026
    pattern = SpinningPattern(
        elevation_deg=[-12.0],
        azimuth_deg=[3.0],
        vertical_offset_m=[up],
        horizontal_offset_m=[left],
        steps=8,
        rotation_hz=10.0,
    )
    pulses = pattern.pulses(0)
    assert pulses.origins is not None
    reach = 17.0
    points = pulses.origins + reach * pulses.directions
    theta = np.arange(8) * np.pi / 4 - turn  # clockwise, as the drivers count
    flat = reach * np.cos(elevation) - up * np.sin(elevation)
    right = flat * np.sin(theta) - left * np.cos(theta)
    ahead = flat * np.cos(theta) + left * np.sin(theta)
    high = reach * np.sin(elevation) + up * np.cos(elevation)
    np.testing.assert_allclose(points, np.stack([ahead, -right, np.full(8, high)], 1), atol=2e-6)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rotation_hz": 25.0, "rotation_hz_limits": (5.0, 20.0)}, "within 5 and 20 Hz"),
        ({"rotation_hz": -1.0}, "greater than 0"),
        ({"rotation_hz": float("nan")}, "rotation_hz"),
        ({"cycle_us": 50.0}, "either cycle_us or steps"),
        ({"steps": None}, "either cycle_us or steps"),
        ({"steps": None, "cycle_us": 200_000.0}, "longer than a revolution"),
        ({"steps": 0}, "steps"),
        ({"elevation_deg": []}, "elevation_deg"),
        ({"elevation_deg": [0.0, 91.0]}, "within -90 and 90"),
        ({"elevation_deg": {"first": 0.0, "last": 1.0}}, "first, last and count"),
        ({"elevation_deg": {"first": 0.0, "last": 1.0, "count": 0}}, "count"),
        ({"azimuth_deg": [1.0]}, "each of the 64 lasers"),
        ({"axis_height_m": [0.01] * 63}, "axis_height_m"),
        ({"axis_height_m": [0.01] * 63 + [float("nan")]}, "axis_height_m"),
        ({"firing_us": [0.0] * 63 + [1e6]}, "firing_us must lie within 0 and the cycle"),
        ({"firing_us": [0.0] * 63 + [-1.0]}, "firing_us must lie within 0 and the cycle"),
        ({"firing": [0.0]}, "did you mean 'firing_us'"),
    ],
)
def test_mistakes_are_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError) as error:
        bench_pattern(**changes)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_the_head_starts_where_it_is_told_and_carries_its_lasers_with_it() -> None:
    """Ouster's form: beams start ahead of the axis in the direction of the head, whatever way they look."""
    plain = bench_pattern(steps=64, azimuth_deg=[3.0] * 64)
    moved = bench_pattern(steps=64, azimuth_deg=[3.0] * 64, start_deg=180.0, head_offset_m=0.015, head_height_m=0.036)
    before, after = plain.pulses(0), moved.pulses(0)
    np.testing.assert_allclose(after.directions, before.directions * [-1, -1, 1], atol=1e-6)
    head = np.repeat(np.pi - 2 * np.pi * np.arange(64) / 64, 64)
    expected = np.stack([0.015 * np.cos(head), 0.015 * np.sin(head), np.full(len(head), 0.036)], 1)
    np.testing.assert_allclose(after.origins, expected, atol=1e-8)
    np.testing.assert_allclose(np.cos(after.azimuths - before.azimuths), -1, atol=1e-6)


def test_beams_cross_the_axis_each_at_its_own_height() -> None:
    """The VLP-16's manual: x = R cos v sin a, y = R cos v cos a, z = R sin v + c; a is clockwise from its y, our x."""
    heights = [0.0112, -0.0007, 0.2]
    pattern = SpinningPattern(
        elevation_deg=[-15.0, 1.0, 60.0],
        axis_height_m=heights,
        firing_us=[0.0, 30.0, 10.0],
        steps=100,
        rotation_hz=10.0,
    )
    pulses = pattern.pulses(0)
    assert pulses.origins is not None
    reach = 3.0
    points = pulses.origins + reach * pulses.directions
    rise, clockwise = np.deg2rad(pattern.elevation_deg)[pulses.lasers], -pulses.azimuths.astype(float)
    flat = reach * np.cos(rise)
    high = reach * np.sin(rise) + np.array(heights)[pulses.lasers]
    np.testing.assert_allclose(
        points, np.stack([flat * np.cos(clockwise), -flat * np.sin(clockwise), high], 1), atol=2e-6
    )
    # Beside what lifts the whole head, and a laser's own offset at right angles to its beam.
    both = pattern.changed(head_height_m=0.5, vertical_offset_m=[0.1, 0.1, 0.1]).pulses(0)
    lifted = pattern.changed(axis_height_m=[], head_height_m=0.5, vertical_offset_m=[0.1, 0.1, 0.1]).pulses(0)
    assert both.origins is not None and lifted.origins is not None
    np.testing.assert_allclose((both.origins - lifted.origins)[:, 2], np.array(heights)[pulses.lasers], atol=1e-7)
    np.testing.assert_array_equal(both.origins[:, :2], lifted.origins[:, :2])


def test_a_laser_that_waits_starts_where_the_head_is_by_then() -> None:
    pattern = SpinningPattern(
        elevation_deg=[0.0, 0.0], firing_us=[0.0, 250.0], cycle_us=1000.0, rotation_hz=10.0, head_offset_m=1.0
    )
    pulses = pattern.pulses(0)
    np.testing.assert_allclose(pulses.origins, pulses.directions, atol=1e-6)  # both straight ahead of the head


def test_cycles_take_turns() -> None:
    """Lasers that rest every other cycle, in an order of firing that changes with it."""
    pattern = SpinningPattern(
        elevation_deg=[-10.0, 0.0, 10.0],
        turns=[{"firing_us": [5.0, 0.0, 10.0], "resting": [2]}, {"firing_us": [30.0, 20.0, 10.0]}],
        cycle_us=100.0,
        rotation_hz=100.0 / 7,
    )
    assert pattern.firings == (2, 3)
    seen = []
    for frame in range(5):
        pulses = pattern.pulses(frame)
        start = frame * 7 / 100
        seen += list(
            zip((np.round((pulses.offsets + start) * 1e6)).astype(int).tolist(), pulses.lasers.tolist(), strict=True)
        )
        turned = -2 * np.pi * pattern.rotation_hz * (pulses.offsets + start)
        np.testing.assert_allclose(np.cos(pulses.azimuths - turned), 1, atol=1e-6)
    wanted = []
    for cycle in range(3500):
        fired = [(0, 1), (5, 0)] if cycle % 2 == 0 else [(10, 2), (20, 1), (30, 0)]
        wanted += [(cycle * 100 + time, laser) for time, laser in fired]
    assert seen == wanted


@pytest.mark.parametrize(
    ("turns", "says"),
    [
        ([{"resting": [3]}], "resting must be some of the lasers 0 to 2"),
        ([{"resting": [0, 1, 2]}], "and not all"),
        ([{"firing_us": [0.0, 1.0]}], "one value for each of the 3 lasers"),
        ([{"firing_us": [0.0, 1.0, 100.0]}], "within 0 and the cycle of 100"),
    ],
)
def test_turns_that_cannot_be(turns: list[dict[str, object]], says: str) -> None:
    with pytest.raises(InputError, match=says):
        SpinningPattern(elevation_deg=[-10.0, 0.0, 10.0], turns=turns, cycle_us=100.0, rotation_hz=10.0)
    with pytest.raises(InputError, match="either firing_us or turns"):
        SpinningPattern(elevation_deg=[0.0], turns=[{}], firing_us=[0.0], cycle_us=100.0, rotation_hz=10.0)
