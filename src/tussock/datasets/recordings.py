"""Frames from wherever they are: files, folders of files, captures of packets, and KITTI data sets.

A KITTI sequence becomes one frame a scan: points in the LIDAR's frame, labels where there are any, and the path of
the LIDAR from ``poses.txt`` and ``Tr``, in the axes of the first camera turned so that z is up.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.lenses.lens import OPTICAL
from tussock.errors import InputError, in_words
from tussock.files.contents import Contents, frame_of
from tussock.files.formats import FORMATS, format_of, load_frame
from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.reach import refuse_special
from tussock.wire.captures.datagrams import warn
from tussock.wire.firing_frames import frames_of
from tussock.wire.read_firings import CAPTURE_SUFFIXES, read_firings
from tussock.wire.ros.read_log import LOG_SUFFIXES, is_log, log_firings, read_clouds

__all__ = ["open_recordings"]


def open_recordings(
    paths: Path | str | Sequence[Path | str], *, model: str | None = None, unit: str | None = None,
    say: Callable[[str], None] = warn,
) -> list[Frame]:  # fmt: skip
    """All frames at a path or several; each path is a frame file, a folder of them, a capture, a ROS log or a
    KITTI data set.

    ``model`` and ``unit`` are those of `tussock.wire.read_firings`; what a capture lacks is told to ``say``.

    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall", position=(5, 0, 0))
    >>> frame = tussock.scan(scene, tussock.load_sensor("vlp-16"), keep_misses=True)
    >>> tussock.save_frame(frame, "wall.npz")
    >>> len(tussock.open_recordings(["wall.npz"]))
    1
    """
    frames: list[Frame] = []
    for path in map(Path, [paths] if isinstance(paths, Path | str) else paths):
        if not path.exists():
            raise InputError(f"{path}: no such file or folder")
        refuse_special(path)
        if is_log(path):
            frames += _log(path, model, unit, say)
        elif path.is_dir():
            frames += _in_folder(path)
        elif path.suffix.lower() in CAPTURE_SUFFIXES:
            frames += frames_of(read_firings(path, model=model, unit=unit, say=say))
        else:
            format_of(path, also=(*CAPTURE_SUFFIXES, *LOG_SUFFIXES))
            frames.append(load_frame(path))
    return frames


def _log(path: Path, model: str | None, topic: str | None, say: Callable[[str], None]) -> list[Frame]:
    """The revolutions in a log's packets, or its messages of points."""
    firings = log_firings(path, topic=topic, model=model, say=say)
    if firings is not None:
        return frames_of(firings)
    return [
        replace(frame_of(Contents(cloud.fields), path), meta={"start_s": cloud.time, "sensor": {"name": cloud.topic}})
        for cloud in read_clouds(path, topic=topic)
    ]


def _in_folder(folder: Path) -> list[Frame]:
    for sequence in (folder, *sorted(folder.glob("sequences/*"))):
        if (sequence / "velodyne").is_dir():
            return _sequence(sequence)
    files = sorted(file for file in folder.iterdir() if file.suffix.lower() in FORMATS)
    if not files:
        raise InputError(f"{folder}: holds neither frame files nor a KITTI sequence")
    for file in files:
        refuse_special(file)
    return [load_frame(file) for file in files]


def _sequence(folder: Path) -> list[Frame]:
    # Not by a pattern: that finds nothing in a folder that is closed, and does not say so.
    scans = sorted(file for file in (folder / "velodyne").iterdir() if file.suffix == ".bin")
    if not scans:
        raise InputError(f"{folder / 'velodyne'}: holds no scans")
    labels = [folder / "labels" / f"{file.stem}.label" for file in scans]
    for file in (*scans, *labels, *(folder / name for name in ("times.txt", "poses.txt", "calib.txt"))):
        refuse_special(file)
    try:
        times = np.loadtxt(folder / "times.txt", ndmin=1) if (folder / "times.txt").exists() else None
        path = _lidar_path(folder, times)
    except KeyError as error:
        raise InputError(f"{folder / 'calib.txt'}: has no line {error}") from None
    except OSError as error:
        raise InputError(f"{folder}: not a KITTI sequence ({in_words(error)})") from None
    except (ValueError, IndexError) as error:
        raise InputError(f"{folder}: not a KITTI sequence ({error})") from None
    return [_scan(file, label, times, path) for file, label in zip(scans, labels, strict=True)]


def _lidar_path(folder: Path, times: NDArray[np.float64] | None) -> Trajectory | None:
    """``T_world_velo`` with the axes of the first camera as x ahead, y left, z up; None where it is not known."""
    poses, calib = folder / "poses.txt", folder / "calib.txt"
    if times is None or not poses.exists() or not calib.exists():
        return None
    rows = np.loadtxt(poses, ndmin=2).reshape(-1, 3, 4)
    entries = dict(line.split(":", 1) for line in calib.read_text(encoding="ascii").splitlines() if ":" in line)
    tr = np.vstack([np.array(entries["Tr"].split(), float).reshape(3, 4), [0, 0, 0, 1]])
    up = np.eye(4)
    up[:3, :3] = OPTICAL
    matrices = [up @ np.vstack([row, [0, 0, 0, 1]]) @ tr for row in rows]
    count = min(len(times), len(matrices))
    return Trajectory.through(times[:count], [Pose.from_matrix(m) for m in matrices[:count]])


def _scan(file: Path, labels: Path, times: NDArray[np.float64] | None, path: Trajectory | None) -> Frame:
    data = np.fromfile(file, "<f4")
    if data.size % 4:
        raise InputError.of(str(file), "must hold four numbers a point", data.size, "the file was cut")
    x, y, z, intensity = data.reshape(-1, 4).T
    fields = {"x": x, "y": y, "z": z, "intensity": intensity}
    if labels.exists():
        both = np.fromfile(labels, "<u4")
        if len(both) != len(x):
            raise InputError.of(str(labels), f"must hold {len(x)} labels, one a point", len(both))
        fields["label"] = (both & 0xFFFF).astype(np.uint16)
    number = int(file.stem) if file.stem.isdigit() else 0
    time = float(times[number]) if times is not None and number < len(times) else float(number)
    fields["time"] = np.full(len(x), time)
    frame = frame_of(Contents(fields), file)
    return replace(frame, meta={"start_s": time, "sensor": {"name": file.parent.name}}, trajectory=path)
