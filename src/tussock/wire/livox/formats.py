"""The packets of Livox's LIDARs that speak the second SDK (Mid-360, HAP), as data.

A packet is a header of 36 bytes and 96 points, or one inertial reading. All numbers are little-endian.

    version u8 (0), length u16 [bytes of the whole], interval u16 [0.1 µs from the first point to one after the last],
    points u16, packet u16 (counted from 0 in a frame), frame u8, type u8, clock u8, 12 zeros,
    CRC-32 u32 (of time and data), time u64 [ns] of the first point, data

    1  x, y, z int32 [mm], reflectivity u8, tag u8          3  distance u32 [mm], zenith u16, azimuth u16 [0.01°],
    2  x, y, z int16 [cm], reflectivity u8, tag u8             reflectivity u8, tag u8
    0  turn rate x, y, z float32 [rad/s], acceleration x, y, z float32 [g]

A point without return is all zeros. Points go to port 56301, inertial readings to 56401.

Sources: Livox Mid-360 communication protocol, "Point cloud & IMU data protocol"; livox_lidar_def.h of Livox-SDK2. Not
confirmed by a recording.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tussock.errors import InputError, nearest
from tussock.sensors.sensor import Sensor

__all__ = ["FORMATS", "HEADER", "IMU_PACKET", "IMU_PORT", "POINTS", "POINT_PORT", "Format", "format_of"]

POINTS = 96
"""in a packet"""
POINT_PORT, IMU_PORT = 56301, 56401
HEADER = [
    ("version", "u1"), ("length", "<u2"), ("interval", "<u2"), ("points", "<u2"), ("packet", "<u2"), ("frame", "u1"),
    ("type", "u1"), ("clock", "u1"), ("reserved", "u1", (12,)), ("crc", "<u4"), ("time", "<u8"),
]  # fmt: skip
TIME_AT = 28
"""where time and data begin, which the checksum is of"""
IMU_PACKET = np.dtype([*HEADER, ("rate", "<f4", (3,)), ("force", "<f4", (3,))])
PTP = 1
"""the clock of a packet's time"""
WHITE = 100.0
"""reflectivity of a white wall met head-on; above 150 Livox counts retro-reflectors"""


class Format(NamedTuple):
    """How a point is written."""

    name: str
    type: int
    fields: tuple[tuple[str, str], ...]
    step_m: float
    """of lengths"""

    @property
    def packet(self) -> np.dtype:
        """One packet as a NumPy record."""
        return np.dtype([*HEADER, ("data", list(self.fields), (POINTS,))])

    @property
    def spherical(self) -> bool:
        return self.fields[0][0] == "distance"


_LOOK = (("reflectivity", "u1"), ("tag", "u1"))
FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        Format("livox-cartesian32", 1, (("x", "<i4"), ("y", "<i4"), ("z", "<i4"), *_LOOK), 0.001),
        Format("livox-cartesian16", 2, (("x", "<i2"), ("y", "<i2"), ("z", "<i2"), *_LOOK), 0.01),
        Format("livox-spherical", 3, (("distance", "<u4"), ("zenith", "<u2"), ("azimuth", "<u2"), *_LOOK), 0.001),
    )
}
"""Every format by the name that ``packets`` of a sensor's file gives."""

_MODES = ("strongest", "last", "first")


def format_of(sensor: Sensor) -> Format:
    """The packets that a sensor sends; an `InputError` where none are known for it."""
    if sensor.packets not in FORMATS:
        raise InputError(f"sensor {sensor.name}: packets {sensor.packets!r}: {nearest(str(sensor.packets), FORMATS)}")
    mode = str(sensor.receiver.mode)
    if mode not in _MODES:
        raise InputError.of(
            "receiver.mode", "packets of Livox carry one return: " + ", ".join(_MODES), mode, "set receiver.mode to one"
        )
    return FORMATS[sensor.packets]
