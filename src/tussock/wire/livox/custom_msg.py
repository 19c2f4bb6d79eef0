"""``livox_ros_driver2/CustomMsg``, the message of Livox's ROS drivers that FAST-LIO and others listen to.

It is written as ROS itself does (CDR, little-endian), straight from the columns of a frame: 20,000 points a message
would take too long one by one. All returns of a frame, each with its nanoseconds since the frame's start and the number
of its laser as line.

Source: msg/CustomMsg.msg and msg/CustomPoint.msg of livox_ros_driver2.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.wire.livox.formats import WHITE

__all__ = ["CUSTOM_MSG", "DEFINITIONS", "custom_msg", "read_custom_msg"]

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
_FIELDS = (
    ("offset_time", "u4"), ("x", "f4"), ("y", "f4"), ("z", "f4"), ("reflectivity", "u1"), ("tag", "u1"), ("line", "u1"),
)  # fmt: skip
_POINT = np.dtype([(name, f"<{kind}") for name, kind in _FIELDS] + [("padding", "u1")])


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


def read_custom_msg(raw: bytes, *, ros: int = 2) -> tuple[float, dict[str, NDArray[Any]]]:
    """The stamp [s] of a message as ROS 2 (CDR) or ROS 1 serialised it, and its points' fields, ``time`` [s] among them.

    Points without return, which drivers leave out or fill with zeros, are as they came.
    """
    order = ">" if ros == 2 and raw[1:2] == b"\0" else "<"
    form = np.dtype([(name, order + kind) for name, kind in _FIELDS] + [("padding", "u1")] * (ros == 2))
    # ROS 2 writes four bytes ahead and lays numbers at multiples of their size from there; ROS 1 counts messages first.
    at = 4
    try:
        second, nano, length = struct.unpack_from(order + "iII", raw, at)
        at += 12 + length
        at += -(at - 4) % 8 if ros == 2 else 0
        (count,) = struct.unpack_from(order + "I", raw, at + 16)
        # A point of ROS 2 has 19 bytes in a place of 20; nothing follows the last.
        body = raw[at + 20 :] + b"\0" * (ros == 2)
        points = np.frombuffer(body, form, count)
    except (struct.error, ValueError):
        raise InputError("a CustomMsg is shorter than it says; the log is damaged") from None
    stamp = second + nano * 1e-9
    fields = {name: points[name].astype(points[name].dtype.newbyteorder("=")) for name, _ in _FIELDS[1:]}
    return stamp, fields | {"time": stamp + points["offset_time"].astype(np.float64) * 1e-9}
