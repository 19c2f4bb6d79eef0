"""Pulses from ROS logs: every firing where the log holds packets, points where it holds points only.

Points are taken as seen from the sensor's origin, or from a ``trajectory`` at their own times. A point at the very
origin, or none at all, is how drivers fill the places of pulses without return; where those went is not said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.learn.measured_pulses import MeasuredPulses, join_pulses
from tussock.learn.readers.captures import pulses_of_firings
from tussock.learn.readers.point_colors import point_colors
from tussock.poses import Trajectory
from tussock.wire.captures.datagrams import warn
from tussock.wire.ros.read_log import Cloud, log_firings, read_clouds

__all__ = ["pulses_of_log"]


def pulses_of_log(
    path: Path, *, model: str | None = None, topic: str | None = None, trajectory: Trajectory | None = None,
    reach: float | None = None, say: Callable[[str], None] = warn,
) -> MeasuredPulses:  # fmt: skip
    """The pulses of a log, message by message, in the sensor's frame, or in the world by a trajectory."""
    firings = log_firings(path, topic=topic, model=model, say=say)
    if firings is not None:
        return pulses_of_firings(firings, trajectory=trajectory, reach=reach, name=path.name)
    parts = list(clouds_as_pulses(path, topic=topic, reach=reach))
    if trajectory is None:
        return join_pulses([part for part, _ in parts])
    times = np.concatenate([times for _, times in parts])
    trajectory.check_covers(f"the times of {path.name}", times.min(), times.max(), slack=0.2)
    return join_pulses([part.placed(trajectory, times) for part, times in parts])


def clouds_as_pulses(
    path: Path, *, topic: str | None = None, reach: float | None = None
) -> Iterator[tuple[MeasuredPulses, NDArray[np.float64]]]:
    """The messages of points in a log, in the sensor's frame, and the time of each pulse [s], shape (n,)."""
    found = False
    for cloud in read_clouds(path, topic=topic):
        part = _pulses(path, cloud, reach)
        if part is not None:
            found = True
            yield part
    if not found:
        raise InputError(f"{path}: holds no point away from the sensor")


def _pulses(
    path: Path, cloud: Cloud, reach: float | None
) -> tuple[MeasuredPulses, NDArray[np.float64]] | None:  # fmt: skip
    missing = [axis for axis in "xyz" if axis not in cloud.fields]
    if missing:
        raise InputError(f"{path}: {cloud.topic} has no field {missing[0]!r}; points need x, y and z")
    points = np.stack([cloud.fields[axis].astype(np.float64) for axis in "xyz"], 1)
    distance = np.linalg.norm(points, axis=1)
    hit = np.isfinite(distance) & (distance > 0)
    if not hit.any():
        return None
    points, distance, times = points[hit], distance[hit], cloud.fields["time"][hit]
    start, way = np.zeros_like(points), points / distance[:, None]
    azimuth = np.arctan2(way[:, 1], way[:, 0])
    bright = cloud.fields.get("reflectivity", cloud.fields.get("intensity"))
    relative = None if bright is None else np.clip(np.nan_to_num(bright[hit].astype(np.float64)) / 100.0, 0, 1)
    ring = next((cloud.fields[name] for name in ("ring", "line", "laser") if name in cloud.fields), None)
    pulses = MeasuredPulses.of(
        start, way, distance, intensity=relative, rings=None if ring is None else ring[hit], azimuths=azimuth,
        reach=reach, complete=False,
    )  # fmt: skip
    named = cloud.fields.get("label")
    if named is not None:
        pulses = replace(pulses, labels=np.clip(np.nan_to_num(named[hit].astype(float)), 0, 65535).astype(np.uint16))
    colors = point_colors({name: array[hit] for name, array in cloud.fields.items()})
    if colors is not None:
        pulses = replace(pulses, colors=colors)
    return pulses, np.asarray(times, np.float64)
