"""``livox_ros_driver2/CustomMsg``, the message of Livox's ROS drivers that FAST-LIO and others listen to.

It is written as ROS itself does (CDR, little-endian), straight from the columns of a frame: 20,000 points a message
would take too long one by one. All returns of a frame, each with its nanoseconds since the frame's start and the number
of its laser as line.

Source: msg/CustomMsg.msg and msg/CustomPoint.msg of livox_ros_driver2.
"""

from __future__ import annotations

import struct

import numpy as np

from tussock.frames.frame import Frame
from tussock.wire.livox.formats import WHITE

__all__ = ["CUSTOM_MSG", "DEFINITIONS", "custom_msg"]

CUSTOM_MSG = "livox_ros_driver2/msg/CustomMsg"
DEFINITIONS = {
    "livox_ros_driver2/msg/CustomPoint": (
        "uint32 offset_time\nfloat32 x\nfloat32 y\nfloat32 z\nuint8 reflectivity\nuint8 tag\nuint8 line\n"
    ),
    CUSTOM_MSG: (
        "std_msgs/Header header\nuint64 timebase\nuint32 point_num\nuint8 lidar_id\nuint8[3] rsvd\n"
        "livox_ros_driver2/CustomPoint[] points\n"
    ),
}
_POINT = np.dtype(
    [("offset_time", "<u4"), ("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("reflectivity", "u1"), ("tag", "u1"),
     ("line", "u1"), ("padding", "u1")]
)  # fmt: skip


def custom_msg(frame: Frame, start_ns: int, frame_id: str) -> bytes:
    """The message of all returns of a frame that starts at ``start_ns`` [ns] Unix time, serialised."""
    hit = frame.hit
    points = np.zeros(int(hit.sum()), _POINT)
    start = float(frame.meta.get("start_s", frame.time[0] if len(frame) else 0.0))
    points["offset_time"] = np.rint((frame.time[hit] - start) * 1e9)
    for axis, name in enumerate("xyz"):
        points[name] = frame.xyz[hit, axis]
    points["reflectivity"] = np.clip(frame.intensity[hit] * WHITE + 0.5, 0, 255)
    points["line"] = frame.laser[hit]
    who = frame_id.encode() + b"\0"
    head = struct.pack("<iII", start_ns // 1_000_000_000, start_ns % 1_000_000_000, len(who)) + who
    head += bytes(-len(head) % 8)
    head += struct.pack("<QIB3xI", start_ns, len(points), 0, len(points))
    # A point has 19 bytes, the next begins at a multiple of four; nothing follows the last.
    body = points.tobytes()
    return b"\0\1\0\0" + head + body[: len(body) - 1]
