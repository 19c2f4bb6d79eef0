"""ROS 2 messages of a drive that a plain run has not: map, path, odometry, GPS, IMU, commands.

Serialised as ROS itself does, by the same library and with the same clock as `tussock.wire.ros.messages`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tussock.arrays import FloatArray
from tussock.drive.autonomy.cost_map import CostMap
from tussock.drive.patterns import Pattern
from tussock.poses import Pose
from tussock.wire.ros.messages import RosMessages

__all__ = ["DriveMessages"]

_UNKNOWN = -1.0


class DriveMessages:
    """Builds the messages of a drive."""

    def __init__(self, messages: RosMessages) -> None:
        self._types = messages.types
        self._ns = messages.nanoseconds
        self._unknown9 = np.array([_UNKNOWN] + [0.0] * 8)
        self._zero36 = np.zeros(36)

    def grid(self, time: float, cost_map: CostMap) -> bytes:
        """``nav_msgs/OccupancyGrid``: costs 0 to 100, −1 where nothing was seen; rows run along x as ROS has them."""
        values = np.where(cost_map.seen, np.round(cost_map.costs), -1).astype(np.int8)
        n = len(values)
        origin = self._pose(Pose.at(cost_map.low_x, cost_map.low_y))
        info = self._new("nav_msgs/msg/MapMetaData", self._time(time), cost_map.cell, n, n, origin)
        return self._out("nav_msgs/msg/OccupancyGrid", self._header(time, "map"), info, values.T.ravel())

    def path(self, time: float, points: FloatArray, height: float) -> bytes:
        """``nav_msgs/Path`` of points (k, 2) or (k, 3) [m]; flat ones lie at ``height``."""
        header = self._header(time, "map")
        places = points if points.shape[1] == 3 else np.column_stack([points, np.full(len(points), height)])
        poses = [self._new("geometry_msgs/msg/PoseStamped", header, self._pose(Pose(place))) for place in places]
        return self._out("nav_msgs/msg/Path", header, poses)

    def pose(self, time: float, pose: Pose) -> bytes:
        """``geometry_msgs/PoseStamped`` on the map."""
        return self._out("geometry_msgs/msg/PoseStamped", self._header(time, "map"), self._pose(pose))

    def odometry(self, time: float, frame_id: str, pose: Pose, speed: float, turn_rate: float) -> bytes:
        """``nav_msgs/Odometry`` of the body."""
        return self._odometry(self._header(time, frame_id), pose, speed, turn_rate)

    def _odometry(self, header: Any, pose: Pose, speed: float, turn_rate: float) -> bytes:
        with_covariance = self._new("geometry_msgs/msg/PoseWithCovariance", self._pose(pose), self._zero36)
        twist = self._new(
            "geometry_msgs/msg/TwistWithCovariance",
            self._new("geometry_msgs/msg/Twist", self._vector([speed, 0, 0]), self._vector([0, 0, turn_rate])),
            self._zero36,
        )
        return self._out("nav_msgs/msg/Odometry", header, "base_link", with_covariance, twist)

    def fix(self, sigma: tuple[float, float]) -> Pattern:
        """``sensor_msgs/NavSatFix``: latitude, longitude [deg], altitude [m]; ``sigma`` across and up [m]."""
        status = self._new("sensor_msgs/msg/NavSatStatus", 0, 1)
        covariance = np.diag([sigma[0] ** 2, sigma[0] ** 2, sigma[1] ** 2]).ravel()
        return Pattern(
            lambda ns, n: self._out("sensor_msgs/msg/NavSatFix", self._stamped(ns, "gps"), status, *n, covariance, 2), 3
        )

    def imu(self) -> Pattern:
        """``sensor_msgs/Imu`` without an orientation (first covariance −1): turn rates [rad/s], forces [m/s²]."""
        still = self._new("geometry_msgs/msg/Quaternion", 0.0, 0.0, 0.0, 1.0)
        zero = np.zeros(9)
        return Pattern(
            lambda ns, n: self._out(
                "sensor_msgs/msg/Imu", self._stamped(ns, "base_link"), still, self._unknown9, self._vector(n[:3]), zero,
                self._vector(n[3:]), zero,
            ), 6,
        )  # fmt: skip

    def attitude(self) -> Pattern:
        """``geometry_msgs/QuaternionStamped``: what the compass says, as x, y, z, w."""
        kind = "geometry_msgs/msg/QuaternionStamped"
        turn = "geometry_msgs/msg/Quaternion"
        return Pattern(lambda ns, n: self._out(kind, self._stamped(ns, "map"), self._new(turn, *n)), 4)

    def wheels(self) -> Pattern:
        """``nav_msgs/Odometry`` as wheels have it, without a place: speed [m/s] and turn rate [rad/s]."""
        return Pattern(lambda ns, n: self._odometry(self._stamped(ns, "odom"), Pose(), n[0], n[1]), 2)

    def place(self) -> Pattern:
        """``tf2_msgs/TFMessage``: map to base_link, position [m] and quaternion (x, y, z, w)."""

        def make(ns: int, n: Sequence[float]) -> bytes:
            transform = self._new(
                "geometry_msgs/msg/Transform", self._vector(n[:3]),
                self._new("geometry_msgs/msg/Quaternion", *n[3:]),
            )  # fmt: skip
            edge = self._new("geometry_msgs/msg/TransformStamped", self._stamped(ns, "map"), "base_link", transform)
            return self._out("tf2_msgs/msg/TFMessage", [edge])

        return Pattern(make, 7)

    def command(self, time: float, speed: float, turn_rate: float) -> bytes:
        """``geometry_msgs/TwistStamped``."""
        twist = self._new("geometry_msgs/msg/Twist", self._vector([speed, 0, 0]), self._vector([0, 0, turn_rate]))
        return self._out("geometry_msgs/msg/TwistStamped", self._header(time, "base_link"), twist)

    def number(self, value: float) -> bytes:
        """``std_msgs/Float64``."""
        return self._out("std_msgs/msg/Float64", float(value))

    def text(self, value: str) -> bytes:
        """``std_msgs/String``."""
        return self._out("std_msgs/msg/String", value)

    def jpeg(self, time: float, frame_id: str, data: bytes) -> bytes:
        """``sensor_msgs/CompressedImage``."""
        raw = np.frombuffer(data, np.uint8)
        return self._out("sensor_msgs/msg/CompressedImage", self._header(time, frame_id), "jpeg", raw)

    def _pose(self, pose: Pose) -> Any:
        return self._new(
            "geometry_msgs/msg/Pose", self._new("geometry_msgs/msg/Point", *map(float, pose.position)),
            self._new("geometry_msgs/msg/Quaternion", *map(float, pose.quaternion)),
        )  # fmt: skip

    def _vector(self, values: Any) -> Any:
        return self._new("geometry_msgs/msg/Vector3", *(float(v) for v in values))

    def _header(self, time: float, frame_id: str) -> Any:
        return self._stamped(self._ns(time), frame_id)

    def _stamped(self, nanoseconds: int, frame_id: str) -> Any:
        stamp = self._new("builtin_interfaces/msg/Time", *divmod(nanoseconds, 1_000_000_000))
        return self._new("std_msgs/msg/Header", stamp, frame_id)

    def _time(self, time: float) -> Any:
        return self._new("builtin_interfaces/msg/Time", *divmod(self._ns(time), 1_000_000_000))

    def _new(self, kind: str, *values: Any) -> Any:
        return self._types.types[kind](*values)

    def _out(self, kind: str, *values: Any) -> bytes:
        return bytes(self._types.serialize_cdr(self._new(kind, *values), kind))
