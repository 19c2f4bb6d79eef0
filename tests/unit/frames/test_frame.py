"""Frames: their columns, selections, and points in the world."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.frames.columns import COLUMNS
from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.return_modes import KINDS


def frame_of(rows: int, **changes: object) -> Frame:
    columns = {c.name: np.zeros((rows, 3) if c.width == 3 else rows, c.dtype) for c in COLUMNS}
    return Frame(**(columns | changes))


def test_columns_follow_the_table():
    frame = frame_of(4)
    assert list(frame.columns) == [c.name for c in COLUMNS]
    for column in COLUMNS:
        assert frame.column(column.name) is getattr(frame, column.name)
        assert frame.columns[column.name].dtype == np.dtype(column.dtype)
    assert len(frame) == 4


def test_names_units_and_kinds_are_in_order():
    assert len({c.name for c in COLUMNS}) == len(COLUMNS)
    assert all(c.meaning for c in COLUMNS)
    assert KINDS[:2] == ("none", "strongest")


def test_lists_are_taken_in_the_columns_own_type():
    frame = frame_of(2, range=[1, 2], laser=[3, 4])
    assert frame.range.dtype == np.float32
    assert frame.laser.dtype == np.uint16


@pytest.mark.parametrize(
    ("name", "value"),
    [("range", np.zeros(3)), ("xyz", np.zeros((2, 2))), ("xyz", np.zeros(2)), ("laser", np.zeros((2, 1)))],
)
def test_a_wrong_shape_names_its_column(name, value):
    with pytest.raises(InputError, match=f"frame column {name}: must have the shape"):
        frame_of(2, **{name: value})


def test_an_unknown_column_suggests_the_nearest():
    with pytest.raises(InputError, match="did you mean 'intensity'"):
        frame_of(1).column("intensty")


def test_select_by_mask_and_by_index():
    frame = frame_of(5, range=np.arange(5), meta={"pulses": 9}, trajectory=Trajectory.standing(Pose()))
    masked = frame.select(frame.range > 2)
    assert masked.range.tolist() == [3, 4]
    assert frame.select([4, 0]).range.tolist() == [4, 0]
    assert masked.meta == {"pulses": 9}
    assert masked.trajectory is frame.trajectory


def test_hits_and_pulses():
    frame = frame_of(4, return_number=[1, 2, 0, 1], pulse=[0, 0, 1, 5])
    assert frame.hit.tolist() == [True, True, False, True]
    assert frame.pulses == 3
    assert replace(frame, meta={"pulses": 70}).pulses == 70


def test_points_in_the_world_use_the_pose_of_their_own_time():
    path = Trajectory.through([0, 1], [Pose.at(0, 0, 1), Pose.at(10, 0, 1, yaw=np.pi / 2)])
    frame = frame_of(3, time=[0, 0.5, 1], xyz=[[2, 0, 0]] * 3, true_xyz=[[1, 0, 0]] * 3, trajectory=path)
    half = np.sqrt(0.5)
    expected = [[2, 0, 1], [5 + 2 * half, 2 * half, 1], [10, 2, 1]]
    np.testing.assert_allclose(frame.world_xyz(), expected, atol=1e-12)
    np.testing.assert_allclose(frame.world_xyz(true=True)[2], [10, 1, 1], atol=1e-12)


def test_misses_stay_nan_in_the_world():
    path = Trajectory.standing(Pose.at(1, 2, 3))
    frame = frame_of(2, xyz=[[np.nan] * 3, [1, 0, 0]], trajectory=path)
    world = frame.world_xyz()
    assert np.isnan(world[0]).all()
    np.testing.assert_allclose(world[1], [2, 2, 3])


@pytest.mark.parametrize("times", [[0.0], [0.0, 1.0]])
def test_an_empty_frame_has_no_points_in_the_world(times):
    path = Trajectory.through(times, [Pose.at(k) for k in range(len(times))])
    assert frame_of(0, trajectory=path).world_xyz().shape == (0, 3)


def test_the_world_needs_a_trajectory():
    with pytest.raises(InputError, match="has no trajectory"):
        frame_of(1).world_xyz()


def test_identical_compares_bits():
    frame = frame_of(3, range=[np.nan, 0.0, 1.0])
    assert frame.identical(frame_of(3, range=[np.nan, 0.0, 1.0]))
    assert not frame.identical(frame_of(3, range=[np.nan, -0.0, 1.0]))
    assert not frame.identical(frame.select(slice(0, 2)))
    assert frame_of(0).identical(frame_of(0))
