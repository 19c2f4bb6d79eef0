"""Pulses as arrays: what is filled in, how sets are joined, how far a frame says that its sensor measures."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from made_frames import made_frame
from tussock.errors import InputError
from tussock.learn.measured_pulses import MeasuredPulses, join_pulses, measured_pulses
from tussock.poses import Pose, Trajectory
from tussock.sensors.catalogue import load_sensor


def some(turns: list[int], ranges: list[float]) -> MeasuredPulses:
    ways = np.tile([1.0, 0.0, 0.0], (len(turns), 1))
    return MeasuredPulses.of(np.zeros(3), ways, ranges, turns=turns, intensity=np.full(len(turns), 0.7))


def test_a_pulse_without_return_has_no_intensity() -> None:
    pulses = some([0, 0, 1], [4.0, np.nan, np.inf])
    assert pulses.intensity.tolist() == pytest.approx([0.7, 0.0, 0.0])
    assert pulses.hit.tolist() == [True, False, False] and np.isnan(pulses.ranges[1:]).all()
    assert pulses.reach == 4.0


def test_joined_sets_number_their_scans_on() -> None:
    joined = join_pulses([some([0, 1], [1.0, 2.0]), some([0, 2], [3.0, 9.0]), some([0], [5.0])])
    assert joined.turns.tolist() == [0, 1, 2, 4, 5]
    assert joined.ranges.tolist() == [1.0, 2.0, 3.0, 9.0, 5.0] and joined.reach == 9.0
    with pytest.raises(InputError, match="cannot be joined from no parts"):
        join_pulses([])


@pytest.mark.parametrize(("told", "reach"), [(0.5, 0.5), (80.0, 80.0), (0.0, None), (-3.0, None), ("far", None)])
def test_a_frame_may_tell_how_far_its_sensor_measures(told: object, reach: float | None) -> None:
    sensor = load_sensor("vlp-16")
    frame = made_frame(sensor, 0, share=0.5)
    frame = type(frame)(**frame.columns, meta=frame.meta | {"sensor": {"receiver": {"max_range_m": told}}})
    farthest = float(np.max(frame.range[frame.hit]))
    assert measured_pulses(frame).reach == pytest.approx(farthest if reach is None else max(reach, 0), rel=1e-6)


def test_pulses_of_a_path_are_placed_by_the_pose_of_their_own_time() -> None:
    """Against SciPy's rotations, one pulse at a time, in any order; between poses 2 ms apart lines bend by less than 1 µm."""
    rng = np.random.default_rng(3)
    times = np.linspace(100.0, 101.0, 41)
    bends = 2 * np.pi * (times - 100)
    path = Trajectory.through(
        times, [Pose.at(2 * t, np.sin(b), 1.5, yaw=0.5 * b, pitch=0.05 * np.sin(b)) for t, b in zip(times, bends, strict=True)]
    )  # fmt: skip
    n = 300
    pulses = MeasuredPulses.of(rng.normal(0, 0.1, (n, 3)), rng.normal(0, 1, (n, 3)), np.ones(n))
    fired = rng.uniform(100.0, 101.0, n)
    placed = pulses.placed(path, fired)
    positions, quaternions = path.at(fired)
    turn = Rotation.from_quat(quaternions)
    assert placed.origins == pytest.approx(turn.apply(pulses.origins.copy()) + positions, abs=2e-6)
    assert placed.directions == pytest.approx(turn.apply(pulses.directions.copy()), abs=2e-5)
    assert np.linalg.norm(placed.directions, axis=1) == pytest.approx(np.ones(n), abs=1e-12)
    part = pulses.select(slice(40, 90)).placed(path, fired[40:90])
    assert np.array_equal(part.origins, placed.origins[40:90]), "whatever part is asked for"


def test_no_pulse_at_all_is_refused() -> None:
    with pytest.raises(InputError, match="pulses: there are none"):
        some([0, 1], [1.0, 2.0]).select(np.zeros(2, np.bool_))
