"""Poses of a drive from its scans alone: KISS-ICP (Vizzo et al. 2023), an extra.

Revolution after revolution is matched to those before, corrected for its own twist by the points' times. The pose of a
revolution holds for its end. Drift stays: what was seen twice after a long way does not close.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.extras import load_extra
from tussock.learn.drives.drive import Drive
from tussock.learn.drives.legs import Reading, files_of
from tussock.poses import Pose, Trajectory

__all__ = ["poses_by_odometry"]

_FEWEST = 1000


def poses_by_odometry(
    recordings: Sequence[Path | str], *, model: str | None = None, unit: str | None = None,
    say: Callable[[str], None] = lambda note: None,
) -> Trajectory:  # fmt: skip
    """The path of the sensor in the frame in which it began."""
    kiss: Any = load_extra("kiss_icp.kiss_icp", extra="odometry", purpose="poses by odometry")
    config: Any = load_extra("kiss_icp.config", extra="odometry", purpose="poses by odometry")
    drive = Drive(
        files=files_of([Path(path) for path in recordings]),
        reading=Reading(model=model, unit=unit, say=say),
        misses=False,
    )
    icp = kiss.KissICP(config.load_config(None, max_range=100.0))
    times, poses = [], []
    for points, at in _revolutions(drive):
        begin, end = float(at.min()), float(at.max())
        since = (at - begin) / max(end - begin, 1e-9)
        icp.register_frame(points, since)
        times.append(end)
        poses.append(Pose.from_matrix(icp.last_pose))
    if len(times) < 2:
        raise InputError("odometry: needs at least two revolutions with times; give --poses")
    # Before the first revolution ended the sensor moved as it did after it.
    first = times[0] - (times[1] - times[0])
    return Trajectory.through(np.array([first, *times]), [poses[0], *poses])


def _revolutions(drive: Drive) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Points in the sensor's frame and their times [s], revolution by revolution."""
    points: list[NDArray[np.float64]] = []
    times: list[NDArray[np.float64]] = []
    current = -1
    for leg in drive.legs():
        if leg.times is None or leg.placed:
            raise InputError(f"{leg.name}: has no times or is in the world already, so odometry has nothing to go by")
        hit, turns = leg.pulses.hit, leg.pulses.turns
        for turn in np.unique(turns):
            if turn != current and sum(map(len, points)) >= _FEWEST:
                yield np.concatenate(points), np.concatenate(times)
                points, times = [], []
            current = turn
            own = hit & (turns == turn)
            points.append(leg.pulses.points[own])
            times.append(leg.times[own])
    if sum(map(len, points)) >= _FEWEST:
        yield np.concatenate(points), np.concatenate(times)
