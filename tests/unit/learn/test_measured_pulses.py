"""Pulses as arrays: what is filled in, how sets are joined, how far a frame says that its sensor measures."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from made_frames import made_frame
from tussock.errors import InputError
from tussock.frames.columns import COLUMNS
from tussock.frames.frame import Frame
from tussock.learn.measured_pulses import MeasuredPulses, join_pulses, measured_pulses
from tussock.learn.range_noise import NO_NOISE, constant_noise
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


def test_of_joined_sets_some_may_be_chosen() -> None:
    """What is not chosen counts where scans are numbered on, and how far pulses reach."""
    parts = [some([0, 1], [1.0, 2.0]), some([0, 2], [3.0, 9.0]), some([0], [5.0])]
    rows = [np.array([True, False]), np.array([False, False]), np.array([True])]
    joined = join_pulses(parts, rows=rows)
    assert joined.turns.tolist() == [0, 5] and joined.ranges.tolist() == [1.0, 5.0] and joined.reach == 9.0
    with pytest.raises(InputError, match="there are none"):
        join_pulses(parts, rows=[~some.hit for some in parts])
    assert parts[0].numbered(np.array([7, 8])).turns.tolist() == [7, 8] and parts[0].turns.tolist() == [0, 1]


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


def frame_of(rows: list[dict[str, Any]], **how: Any) -> Frame:
    """A frame of a few rows; what is not given is 0."""
    columns = {}
    for column in COLUMNS:
        shape = (len(rows), column.width) if column.width > 1 else len(rows)
        columns[column.name] = np.zeros(shape, column.dtype)
        for k, row in enumerate(rows):
            columns[column.name][k] = row.get(column.name, 0)
    return Frame(**columns, **how)


def way(azimuth: float, elevation: float) -> np.ndarray:
    return np.array(
        [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)], np.float64
    )


def returned(pulse: int, laser: int, azimuth: float, range_: float, number: int = 1, **more: Any) -> dict[str, Any]:
    """A return from 0.2 m above the sensor; lasers 0, 1 and 2 look 5° down, 10° up and 2° up."""
    elevation = np.deg2rad([-5.0, 10.0, 2.0][laser])
    xyz = np.array([0, 0, 0.2]) + range_ * way(azimuth, elevation)
    hit = {"xyz": xyz, "range": range_, "return_number": number, "object_id": 3, "intensity": 0.4, "label": 7}
    return (
        {"pulse": pulse, "laser": laser, "azimuth": azimuth, "elevation": elevation, "true_range": range_} | hit | more
    )


def missed(pulse: int, laser: int, azimuth: float) -> dict[str, Any]:
    return returned(pulse, laser, azimuth, np.nan, 0) | {"intensity": 0.9, "object_id": 0}


def test_pulses_of_a_frame_row_by_row() -> None:
    """Of each pulse its first return, and how far the second; lasers by elevation; without return from where others start."""
    rows = [
        returned(0, 0, 0.1, 5.0), returned(0, 0, 0.1, 9.0, 2), returned(1, 1, 0.2, 6.0, intensity=1.7),
        missed(2, 2, 0.3), returned(3, 0, 0.4, 7.0), returned(3, 0, 0.4, 7.0, 2), missed(4, 0, 0.5),
        returned(5, 2, 0.6, 8.0), returned(5, 2, 0.6, 11.0, 2), returned(5, 2, 0.6, 12.0, 3),
    ]  # fmt: skip
    frame = frame_of(rows, meta={"pulses": 6, "frame": 4, "labels": {"grass": 7, "8": "road", "odd": "x"}})
    pulses = measured_pulses(frame, reach=50.0)
    assert len(pulses) == 6 and pulses.complete and pulses.reach == 50.0 and set(pulses.turns.tolist()) == {4}
    assert pulses.ranges == pytest.approx([5, 6, np.nan, 7, np.nan, 8], nan_ok=True)
    assert pulses.others == pytest.approx([9, np.nan, np.nan, np.nan, np.nan, 11], nan_ok=True)
    assert pulses.rings.tolist() == [0, 2, 1, 0, 0, 1]
    assert pulses.intensity == pytest.approx([0.4, 1.0, 0.0, 0.4, 0.0, 0.4])
    assert pulses.labels.tolist() == [7, 7, 0, 7, 0, 7] and pulses.label_names == {7: "grass", 8: "road"}
    assert pulses.origins == pytest.approx(np.tile([0, 0, 0.2], (6, 1)), abs=1e-6)
    angles = [(0.1, -5), (0.2, 10), (0.3, 2), (0.4, -5), (0.5, -5), (0.6, 2)]
    assert pulses.directions == pytest.approx(np.array([way(a, np.deg2rad(e)) for a, e in angles]), abs=1e-6)
    assert pulses.azimuths == pytest.approx([a for a, _ in angles])
    assert not measured_pulses(frame_of(rows[:3], meta={"pulses": 3})).complete
    alone = measured_pulses(frame_of([returned(0, 0, 0.1, 5.0)], meta={"pulses": 1}))
    assert alone.turns.tolist() == [0] and np.isnan(alone.others).all() and alone.noise == NO_NOISE


def test_a_frame_that_moves_is_put_into_the_world_pulse_by_pulse() -> None:
    rows = [returned(0, 0, 0.0, 5.0, time=0.0), returned(1, 0, 0.0, 5.0, time=1.0)]
    path = Trajectory.through([0.0, 1.0], [Pose.at(1, 2, 3), Pose.at(4, 2, 3, yaw=np.pi / 2)])
    pulses = measured_pulses(frame_of(rows, meta={"pulses": 2}, trajectory=path))
    down = np.deg2rad(-5.0)
    ahead, left = way(0.0, down), way(np.pi / 2, down)
    assert pulses.origins == pytest.approx(np.array([[1, 2, 3.2], [4, 2, 3.2]]), abs=1e-6)
    assert pulses.directions == pytest.approx(np.stack([ahead, left]), abs=1e-6)


def test_whole_metres_near_the_middle_where_it_is_far() -> None:
    ways = np.tile([1.0, 0.0, 0.0], (3, 1))
    near = MeasuredPulses.of([999.0, 0, -1000.5], ways, [0.4, 0.5, np.nan])
    assert near.middle.tolist() == [0.0, 0.0, -1000.0]
    assert near.shifted([1.0, 0, 0]).middle.tolist() == [1000.0, 0.0, -1000.0]
    assert MeasuredPulses.of([5e6, 0, 0], ways, [np.nan] * 3).middle.tolist() == [0.0, 0.0, 0.0]


def test_a_box_has_its_lower_walls_and_not_its_upper_ones() -> None:
    pulses = MeasuredPulses.of(np.zeros(3), np.tile([1.0, 0, 0], (4, 1)), [1.0, 1.5, 2.0, np.nan])
    assert pulses.inside([1, -1, -1, 2, 1, 1]).tolist() == [True, True, False, False]
    with pytest.raises(InputError, match=r"no points in the box.*lie within \[1.0, 0.0, 0.0\] and \[2.0, 0.0, 0.0\]"):
        pulses.inside([5, 0, 0, 6, 1, 1])
    with pytest.raises(InputError, match="no pulse has a return"):
        pulses.select([3]).inside([5, 0, 0, 6, 1, 1])
    for box in ([0, 0, 0, 1, 1], [0, 0, 0, 1, 0, 1], [0, 0, 0, np.inf, 1, 1]):
        with pytest.raises(InputError, match="must be x0,y0,z0,x1,y1,z1"):
            pulses.inside(box)


def test_what_is_no_pulse_is_refused() -> None:
    good = MeasuredPulses.of(np.zeros(3), [[1.0, 0, 0], [0, 1, 0]], [1.0, np.nan])
    assert good.reach == 1.0 and MeasuredPulses.of(np.zeros(3), [[1.0, 0, 0]], [np.nan]).reach == 100.0
    assert good.intensity.tolist() == pytest.approx([0.3, 0.0]) and good.azimuths == pytest.approx([0, np.pi / 2])
    assert MeasuredPulses.of(np.zeros(3), [[0, 0, 4.0]], [0.0], reach=1.0).directions.tolist() == [[0, 0, 1]]
    replace(good, directions=np.array([[1.0009, 0, 0], [0, 1, 0]]))
    for change, words in (
        ({"directions": np.array([[1.0011, 0, 0], [0, 1, 0]])}, "must be unit vectors"),
        ({"origins": np.array([[np.nan, 0, 0], [0, 0, 0]])}, "must be finite"),
        ({"directions": np.array([[np.nan, 0, 0], [0, 1, 0]])}, "must be finite"),
        ({"rings": np.zeros(3)}, r"pulses rings: must have the shape \(2,\)"),
        ({"reach": 0.0}, "must be a length above 0"),
        ({"reach": np.inf}, "must be a length above 0"),
        ({"ranges": np.array([-1e-3, np.nan])}, "must not be negative"),
    ):
        with pytest.raises(InputError, match=words):
            replace(good, **change)
    with pytest.raises(InputError, match="must not be zero"):
        MeasuredPulses.of(np.zeros(3), [[0.0, 0, 0]], [1.0])


def test_joined_sets_have_the_least_noise_and_are_whole_where_all_are() -> None:
    one, two = some([0], [1.0]), some([0], [2.0])
    joined = join_pulses([replace(one, noise=constant_noise(0.2)), replace(two, noise=constant_noise(0.1))])
    assert joined.noise == constant_noise(0.1) and joined.complete
    assert not join_pulses([one, replace(two, complete=False)]).complete
    named = join_pulses([replace(one, label_names={1: "a"}), replace(two, label_names={2: "b"})])
    assert named.label_names == {1: "a", 2: "b"}


@pytest.mark.parametrize("size", [1e-150, 1.0, 1e150])
def test_directions_get_the_length_one_as_by_hand(size: float) -> None:
    ways = np.random.default_rng(4).normal(0, size, (500, 3))
    ways[:3] = np.diag([size, -size, size])
    x, y, z = ways.T
    expected = ways / np.sqrt(x * x + y * y + z * z)[:, None]
    assert np.array_equal(MeasuredPulses.of(np.zeros(3), ways, np.ones(500)).directions, expected)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["origins", "directions"])
@pytest.mark.parametrize("row, axis", [(0, 0), (3, 2), (6, 1)])
def test_one_number_that_is_none_is_found_wherever_it_stands(name: str, row: int, axis: int, wrong: float) -> None:
    pulses = some([0] * 7, [1.0] * 7)
    array = getattr(pulses, name).copy()
    array[row, axis] = wrong
    with pytest.raises(InputError, match="must be finite"):
        replace(pulses, **{name: array})


def test_directions_of_two_numbers_are_refused() -> None:
    with pytest.raises(InputError, match=r"directions: must have the shape \(2, 3\)"):
        MeasuredPulses.of(np.zeros(3), [[1.0, 0.0], [0.0, 1.0]], [1.0, 1.0])
