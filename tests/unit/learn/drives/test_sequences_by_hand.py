"""Sequences of scans laid out by hand: which folders are one, whose labels they have, and how many poses they need."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.learn.drives.sequences import is_sequence, sequence_legs
from tussock.scene.label_map import load_label_map

POINTS = np.array([[3.0, 0, 0, 0.5], [0, 0, 0, 0.1], [0, 4.0, 0, 0.2], [0, 0, 0.001, 0.3]], "<f4")
"""of which the second is at the sensor itself"""


def sequence(folder: Path, scans: str, count: int = 2, poses: int = 2) -> Path:
    (folder / scans).mkdir(parents=True)
    for k in range(count):
        (POINTS + np.array([k, 0, 0, 0], "<f4") * (POINTS[:, :1] > 0)).astype("<f4").tofile(
            folder / scans / f"{k:06d}.bin"
        )
    (folder / scans / "notes.txt").touch()
    rows = [np.column_stack([np.eye(3), [k, 2 * k, 3 * k]]).ravel() for k in range(poses)]
    (folder / "poses.txt").write_text("\n".join(" ".join(map(str, row)) for row in rows) + "\n")
    return folder


@pytest.mark.parametrize("scans", ["velodyne", "os1_cloud_node_kitti_bin", "vel_cloud_node_kitti_bin"])
def test_scans_come_one_after_the_other_with_their_poses(tmp_path: Path, scans: str) -> None:
    folder = sequence(tmp_path / "a", scans, poses=3)
    assert is_sequence(folder) and not is_sequence(tmp_path) and not is_sequence(folder / "poses.txt")
    one, two = sequence_legs(folder, reach=30.0)
    assert (one.name, two.name) == ("000000.bin", "000001.bin")
    assert one.pose.position.tolist() == [0, 0, 0] and two.pose.position.tolist() == [1, 2, 3]
    assert one.pulses.ranges == pytest.approx([3, 4, 0.001]) and two.pulses.ranges == pytest.approx([4, 4, 0.001])
    assert one.pulses.reach == 30.0 and not one.pulses.labels.any()


def test_what_is_missing_of_a_sequence_is_said(tmp_path: Path) -> None:
    folder = sequence(tmp_path / "a", "velodyne", poses=1)
    with pytest.raises(InputError, match=r"poses\.txt: must have a line for each of 2 scans, got '?1"):
        list(sequence_legs(folder))
    (folder / "poses.txt").unlink()
    with pytest.raises(InputError, match=r"has no poses\.txt"):
        list(sequence_legs(folder))
    with pytest.raises(InputError, match="holds no scans"):
        list(sequence_legs(sequence(tmp_path / "b", "velodyne", count=0)))


def test_labels_of_rellis_are_told_in_our_numbers(tmp_path: Path) -> None:
    """The lower half of each number, of the points that are not at the sensor; scans without a file have none."""
    folder = sequence(tmp_path / "a", "os1_cloud_node_kitti_bin")
    labels = folder / "os1_cloud_node_semantickitti_label_id"
    labels.mkdir()
    known = load_label_map("rellis-3d")
    theirs = np.array([4, 3, 19, 17], np.uint16)
    (theirs.astype("<u4") | 7 << 16).astype("<u4").tofile(labels / "000001.label")
    one, two = sequence_legs(folder)
    assert not one.pulses.labels.any() and two.pulses.labels.tolist() == known.ours(theirs)[[0, 2, 3]].tolist()
    assert len(set(two.pulses.labels.tolist())) > 1
    theirs[:3].astype("<u4").tofile(labels / "000001.label")
    with pytest.raises(InputError, match="holds 3 labels for 4 points"):
        list(sequence_legs(folder))
