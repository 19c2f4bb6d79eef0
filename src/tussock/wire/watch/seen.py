"""What is told of a frame while it is live: points, where the sensor was, what it felt, a picture.

Frames of reference: ``map`` is the world; every sensor has one of its own name, in which its points are, each at its own
moment. A picture is in ``NAME_optical`` (z ahead, x right), a fixed turn away.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.sensors.imu import ImuReadings
from tussock.sensors.sensor import Sensor

__all__ = ["MAP", "OPTICAL", "POINT", "Place", "Seen", "Watcher", "look_at"]

MAP = "map"
OPTICAL = Pose(quaternion=np.array([-0.5, 0.5, -0.5, 0.5]))
"""``T_sensor_optical``: the camera's z looks along the sensor's x, its x to the sensor's right"""
POINT = np.dtype(
    [("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("intensity", "<f4"), ("ring", "<u2"), ("label", "<u2"), ("time", "<f4")]
)
"""One point: [m], relative intensity, laser, class label, [s] since the frame's start; 24 bytes."""
_POSE_STEP = 0.01  # [s]


class Place(NamedTuple):
    """Where a sensor is at a time."""

    time_ns: int
    """Unix time"""
    pose: Pose
    """``T_map_sensor``"""


class Seen(NamedTuple):
    """One frame of one sensor."""

    name: str
    """of the sensor, and of its frame of reference"""
    frame: int
    start_ns: int
    """[ns] Unix time of the frame's start"""
    end_ns: int
    points: NDArray[np.void]
    """records of `POINT`, shape (n,)"""
    places: list[Place]
    """over the frame; one where it stands"""
    imu: ImuReadings | None
    imu_ns: NDArray[np.int64]
    """[ns] Unix times of the readings"""
    picture: NDArray[np.uint8] | None
    """(height, width, 3), at the frame's start"""


class Watcher(Protocol):
    """Somewhere that frames are shown live."""

    def prepare(self, seen: Seen) -> Callable[[], None]:
        """Make everything ready to be sent; what is returned only sends it."""

    def close(self) -> None:
        """No more frames come."""


def look_at(frame: Frame, sensor: Sensor, name: str, epoch_ns: int, picture: NDArray[np.uint8] | None = None) -> Seen:
    """What there is to tell of a frame; ``epoch_ns`` is the Unix time of simulation time 0."""
    start, period = float(frame.meta["start_s"]), sensor.frame_period
    path = frame.trajectory or Trajectory.standing(Pose())
    hit = frame.hit
    points = np.empty(int(hit.sum()), POINT)
    for axis, field in enumerate("xyz"):
        points[field] = frame.xyz[hit, axis]
    points["intensity"], points["ring"], points["label"] = frame.intensity[hit], frame.laser[hit], frame.label[hit]
    points["time"] = frame.time[hit] - start
    imu, imu_ns = None, np.empty(0, np.int64)
    if sensor.imu is not None:
        imu = sensor.imu.measure(path, sensor.imu.samples(start, start + period), seed=int(frame.meta.get("seed", 0)))
        imu_ns = epoch_ns + np.rint(imu.time * 1e9).astype(np.int64)
    times = [start]
    if path.moving:
        first, last = (int(np.ceil(time / _POSE_STEP - 1e-9)) for time in (start, start + period))
        times = [k * _POSE_STEP for k in range(first, last)] or [start]
    places = [Place(epoch_ns + round(time * 1e9), path.pose(time)) for time in times]
    number = int(frame.meta.get("frame", 0))
    begin, end = (epoch_ns + round(time * 1e9) for time in (start, start + period))
    return Seen(name, number, begin, end, points, places, imu, imu_ns, picture)
