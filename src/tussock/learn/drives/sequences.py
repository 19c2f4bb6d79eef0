"""Sequences of scans in a folder: those of KITTI's odometry, of SemanticKITTI and of RELLIS-3D.

    velodyne/000000.bin …                   KITTI, SemanticKITTI
    os1_cloud_node_kitti_bin/000000.bin …   RELLIS-3D
    labels/000000.label …                   SemanticKITTI: classes of the points, where they are known
    os1_cloud_node_semantickitti_label_id/  RELLIS-3D: the same, in classes of its own
    poses.txt                               a 3×4 matrix a scan
    calib.txt                               Tr: from the LIDAR to the frame that the poses are of

The poses of KITTI are those of its first camera, P·Tr then takes a scan to where the first camera was; the axes are put
as x ahead, y left, z up. Where there is no Tr the poses are those of the LIDAR. Scans of KITTI are corrected for the car's
motion already; those of RELLIS-3D are taken as they are.

Sources: the development kit of KITTI's odometry benchmark and the README of RELLIS-3D.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.lenses.lens import OPTICAL
from tussock.errors import InputError, cause
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.readers.point_files import pulses_of_kitti
from tussock.poses import Pose
from tussock.scene.label_map import load_label_map

__all__ = ["Scan", "is_sequence", "sequence_legs"]

_SCANS = ("velodyne", "os1_cloud_node_kitti_bin", "vel_cloud_node_kitti_bin")


_RELLIS_LABELS = "os1_cloud_node_semantickitti_label_id"


class Scan(NamedTuple):
    """One scan of a sequence."""

    name: str
    pulses: MeasuredPulses
    pose: Pose
    """of the LIDAR in the world"""


def is_sequence(path: Path) -> bool:
    """Whether a folder is that of a sequence."""
    return path.is_dir() and any((path / name).is_dir() for name in _SCANS)


def sequence_legs(folder: Path, *, reach: float | None = None) -> Iterator[Scan]:
    """The scans of a sequence, one after the other."""
    scans = next(folder / name for name in _SCANS if (folder / name).is_dir())
    files = sorted(file for file in scans.iterdir() if file.suffix == ".bin")
    if not files:
        raise InputError("holds no scans", source=scans)
    poses = _poses(folder)
    if len(poses) < len(files):
        raise InputError.of("poses.txt", f"must have a line for each of {len(files)} scans", len(poses), source=folder)
    for file, pose in zip(files, poses, strict=False):
        yield Scan(file.name, _labelled(folder, file, pulses_of_kitti(file, reach=reach)), pose)


def _labelled(folder: Path, file: Path, pulses: MeasuredPulses) -> MeasuredPulses:
    """With the labels of RELLIS-3D in our numbers, where it has any for this scan."""
    labels = folder / _RELLIS_LABELS / f"{file.stem}.label"
    if not labels.is_file():
        return pulses
    theirs = np.fromfile(labels, "<u4")
    points = np.fromfile(file, "<f4").reshape(-1, 4)[:, :3]
    if len(theirs) != len(points):
        raise InputError(f"holds {len(theirs)} labels for {len(points)} points", source=labels)
    kept = (points != 0).any(1)  # a point at the sensor itself is none
    numbers = load_label_map("rellis-3d").ours((theirs & 0xFFFF).astype(np.uint16))[kept]
    return replace(pulses, labels=numbers)


def _poses(folder: Path) -> list[Pose]:
    """``T_world_lidar`` of every scan."""
    poses, calib = folder / "poses.txt", folder / "calib.txt"
    if not poses.is_file():
        raise InputError("has no poses.txt, a 3x4 matrix a scan; copy it there", source=folder)
    try:
        rows = np.loadtxt(poses, ndmin=2).reshape(-1, 3, 4)
        lidar = _matrix(calib)
    except (OSError, ValueError) as error:
        raise InputError(f"not a sequence of KITTI's kind ({cause(error)})", source=folder) from None
    up = np.eye(4)
    if lidar is not None:
        up[:3, :3] = OPTICAL
    last = np.array([[0.0, 0, 0, 1]])
    return [Pose.from_matrix(up @ np.vstack([row, last]) @ (np.eye(4) if lidar is None else lidar)) for row in rows]


def _matrix(calib: Path) -> NDArray[np.float64] | None:
    if not calib.is_file():
        return None
    entries = dict(line.split(":", 1) for line in calib.read_text(encoding="ascii").splitlines() if ":" in line)
    if "Tr" not in entries:
        return None
    return np.vstack([np.array(entries["Tr"].split(), float).reshape(3, 4), [0, 0, 0, 1]])
