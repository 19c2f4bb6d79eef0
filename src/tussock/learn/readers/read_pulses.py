"""Scans as pulses, whatever they are stored as, by the ending of the file's name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from tussock.errors import InputError
from tussock.files.formats import format_of
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.readers.captures import pulses_of_capture
from tussock.learn.readers.logs import pulses_of_log
from tussock.learn.readers.point_files import pulses_of_kitti, pulses_of_points
from tussock.poses import Trajectory
from tussock.scene_files.volume_file import VOLUME_SUFFIX
from tussock.wire.captures.datagrams import warn
from tussock.wire.read_firings import CAPTURE_SUFFIXES
from tussock.wire.ros.read_log import LOG_SUFFIXES, is_log

__all__ = ["load_pulses"]


def load_pulses(
    path: Path | str,
    *,
    origin: ArrayLike | None = None,
    trajectory: Trajectory | None = None,
    model: str | None = None,
    unit: str | None = None,
    turns: Sequence[int] | None = None,
    reach: float | None = None,
    say: Callable[[str], None] = warn,
) -> MeasuredPulses:
    """Read pulses from a capture (.pcap, .pcapng, .osf), a ROS log (.mcap, .bag, a rosbag2), a KITTI scan (.bin), or any file that holds a frame or points.

    ``origin`` [m] or ``trajectory`` says where points from elsewhere were measured from; ``model`` names the sensor
    of a capture and wins over what its packets say; ``unit`` chooses among several sensors in it (by address, in a log by
    topic); ``turns`` picks revolutions, from 0; ``reach`` [m] is as far as a pulse without return
    has certainly met nothing (a frame knows its sensor's; otherwise the farthest return). What a capture lacks is told to ``say``, a
    line each; a `CaptureWarning` unless told otherwise.

    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall", position=(5, 0, 0))
    >>> frame = tussock.scan(scene, tussock.load_sensor("vlp-16"), keep_misses=True)
    >>> tussock.save_frame(frame, "wall.npz")
    >>> len(tussock.load_pulses("wall.npz")) == frame.pulses
    True
    """
    path = Path(path)
    start = None
    if origin is not None:
        start = np.asarray(origin, float)
        if start.shape != (3,) or not np.isfinite(start).all():
            raise InputError.of("origin", "must be three numbers [m]", start.tolist())
        if trajectory is not None:
            raise InputError("origin: give either an origin or a trajectory, not both")
    if reach is not None and not (np.isfinite(reach) and reach > 0):
        raise InputError.of("reach", "must be a length above 0 [m]", reach)
    suffix = path.suffix.lower()
    if suffix == VOLUME_SUFFIX:
        raise InputError(
            f"{path}: is a file of volumes, not a scan; scan a scene that holds it (`volumes = ...`) first"
        )
    if is_log(path):
        if start is not None:
            raise InputError("origin: a log is in the sensor's coordinates; give a trajectory, or nothing")
        pulses = pulses_of_log(path, model=model, topic=unit, trajectory=trajectory, reach=reach, say=say)
        return pulses if turns is None else _chosen(pulses, turns, path)
    if suffix not in CAPTURE_SUFFIXES:
        format_of(path, also=(*CAPTURE_SUFFIXES, *LOG_SUFFIXES))
        for name, given in (("model", model), ("unit", unit)):
            if given is not None:
                raise InputError(f"{name}: goes with a capture (.pcap), not with {path.name}")
    if not path.is_file():
        raise InputError(f"{path}: no such file" if not path.is_dir() else f"{path}: is a folder, not a file")
    if path.stat().st_size == 0:
        raise InputError(f"{path}: is empty")
    if suffix in CAPTURE_SUFFIXES:
        if start is not None:
            raise InputError("origin: a capture is in the sensor's coordinates; give a trajectory, or nothing")
        pulses = pulses_of_capture(path, model=model, unit=unit, trajectory=trajectory, reach=reach, say=say)
    elif suffix == ".bin":
        if start is not None or trajectory is not None:
            raise InputError("origin: a KITTI scan is in the sensor's coordinates; leave origin and trajectory out")
        pulses = pulses_of_kitti(path, reach=reach)
    else:
        pulses = pulses_of_points(path, origin=start, trajectory=trajectory, reach=reach, say=say)
    return pulses if turns is None else _chosen(pulses, turns, path)


def _chosen(pulses: MeasuredPulses, turns: Sequence[int], path: Path) -> MeasuredPulses:
    there = np.unique(pulses.turns)
    for turn in turns:
        if turn not in there:
            raise InputError.of(
                "turns", f"must be among the revolutions of {path.name}, {there[0]} to {there[-1]}", turn
            )
    return pulses.select(np.isin(pulses.turns, list(turns)))
