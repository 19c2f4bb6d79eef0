"""The packets of Livox's LIDARs, as data: those of the first SDK (Mid-40, Horizon, Avia) and of the second (Mid-360, HAP).

A packet is a header and points, or one inertial reading. All numbers are little-endian.

    second SDK   version u8 (0), length u16 [bytes of the whole], interval u16 [0.1 µs from the first point to one after
                 the last], points u16, packet u16 (counted from 0 in a frame), frame u8, type u8, clock u8, 12 zeros,
                 CRC-32 u32 (of time and data), time u64 [ns] of the first point; 96 points

    1  x, y, z int32 [mm], reflectivity u8, tag u8          3  distance u32 [mm], zenith u16, azimuth u16 [0.01°],
    2  x, y, z int16 [cm], reflectivity u8, tag u8             reflectivity u8, tag u8
    0  turn rate x, y, z float32 [rad/s], acceleration x, y, z float32 [g]

    first SDK    version u8 (5), slot u8, unit u8, zero, status u32, clock u8, type u8, time u64 [ns] of the first point;
                 100 points 10 µs apart without a tag, 96 points 1/240,000 s apart with one

    0  x, y, z int32 [mm], reflectivity u8                  2  the same and tag u8
    1  distance u32 [mm], zenith u16, azimuth u16 [0.01°],  3  the same and tag u8
       reflectivity u8                                      6  turn rate and acceleration, as above
    4  48 pulses of two points as in 2, the nearer first; bits 4 and 5 of the tag count them, 1 and 2

The time is in ns since the sensor started, of PTP, or since the last pulse of a second; of GPS it is in the first SDK's
packets year (from 2000 on), month, day and hour, a byte each, and u32 [µs] in the hour. A point without return is all zeros. Of the second SDK points go to port 56301 and inertial readings to 56401; of the
first a host says in its handshake which ports it listens at, and ours are a choice. That returns are in the order of their
arrival is in the user manual of the Mid-70 ("Tags"); which two of three or more a device reports is not written down. Left
out are the packets of two returns in angles (5) and those of three (7, 8).

Sources: Livox Mid-360 communication protocol, "Point cloud & IMU data protocol", and livox_lidar_def.h of Livox-SDK2;
Livox SDK communication protocol (wiki of Livox-SDK, version 1.3.0), section 3, livox_def.h of Livox-SDK, and the points
and nanoseconds a packet of livox_ros_driver. Not confirmed by a recording.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tussock.errors import InputError, nearest
from tussock.sensors.sensor import Sensor

__all__ = [
    "FIRST_IMU_PORT", "FIRST_POINT_PORT", "FORMATS", "IMU_PACKETS", "IMU_PORT", "POINT_PORT", "VERSIONS", "Format",
    "format_of",
]  # fmt: skip

POINT_PORT, IMU_PORT = 56301, 56401
FIRST_POINT_PORT, FIRST_IMU_PORT = 60001, 60002
HEADERS: dict[int, list[Any]] = {
    1: [
        ("version", "u1"), ("slot", "u1"), ("unit", "u1"), ("reserved", "u1"), ("status", "<u4"), ("clock", "u1"),
        ("type", "u1"), ("time", "<u8"),
    ],
    2: [
        ("version", "u1"), ("length", "<u2"), ("interval", "<u2"), ("points", "<u2"), ("packet", "<u2"), ("frame", "u1"),
        ("type", "u1"), ("clock", "u1"), ("reserved", "u1", (12,)), ("crc", "<u4"), ("time", "<u8"),
    ],
}  # fmt: skip
"""by SDK"""
VERSIONS = {1: 5, 2: 0}
"""that a packet begins with, by SDK"""
TIME_AT = 28
"""where time and data begin, which the second SDK's checksum is of"""
_READING: list[Any] = [("rate", "<f4", (3,)), ("force", "<f4", (3,))]
IMU_PACKETS = {sdk: np.dtype([*header, *_READING]) for sdk, header in HEADERS.items()}
IMU_TYPES = {1: 6, 2: 0}
PTP, UTC_OF_GPS, SINCE_PULSE = 1, 3, 4
"""the clock of a packet's time; the last two in packets of the first SDK only"""
WHITE = 100.0
"""reflectivity of a white wall met head-on; above 150 Livox counts retro-reflectors"""


class Format(NamedTuple):
    """How a point is written."""

    name: str
    type: int
    fields: tuple[tuple[str, str], ...]
    step_m: float
    """of lengths"""
    sdk: int
    points: int
    """in a packet"""
    step_ns: float | None
    """from pulse to pulse, where packets do not say"""
    returns: int = 1
    """points of a pulse, one behind the other"""

    @property
    def pulses(self) -> int:
        """In a packet."""
        return self.points // self.returns

    @property
    def packet(self) -> np.dtype:
        """One packet as a NumPy record."""
        return np.dtype([*HEADERS[self.sdk], ("data", list(self.fields), (self.points,))])

    @property
    def spherical(self) -> bool:
        return self.fields[0][0] == "distance"

    @property
    def says(self) -> dict[int, int]:
        """What tells its packets: the value of some of their bytes, by place."""
        size = self.packet.itemsize
        if self.sdk == 1:
            return {0: VERSIONS[1], 9: self.type}
        return {0: VERSIONS[2], 1: size & 255, 2: size >> 8, 5: self.points, 6: 0, 10: self.type}


_BRIGHT, _TAG = ("reflectivity", "u1"), ("tag", "u1")
_XYZ = (("x", "<i4"), ("y", "<i4"), ("z", "<i4"), _BRIGHT)
_POLAR = (("distance", "<u4"), ("zenith", "<u2"), ("azimuth", "<u2"), _BRIGHT)
_SHORT = (("x", "<i2"), ("y", "<i2"), ("z", "<i2"), _BRIGHT)
FORMATS: dict[str, Format] = {
    form.name: form
    for form in (
        Format("livox-cartesian32", 1, (*_XYZ, _TAG), 0.001, 2, 96, None),
        Format("livox-cartesian16", 2, (*_SHORT, _TAG), 0.01, 2, 96, None),
        Format("livox-spherical", 3, (*_POLAR, _TAG), 0.001, 2, 96, None),
        Format("livox1-cartesian", 0, _XYZ, 0.001, 1, 100, 1e9 / 100_000),
        Format("livox1-spherical", 1, _POLAR, 0.001, 1, 100, 1e9 / 100_000),
        Format("livox1-cartesian-tagged", 2, (*_XYZ, _TAG), 0.001, 1, 96, 1e9 / 240_000),
        Format("livox1-cartesian-dual", 4, (*_XYZ, _TAG), 0.001, 1, 96, 1e9 / 240_000, returns=2),
        Format("livox1-spherical-tagged", 3, (*_POLAR, _TAG), 0.001, 1, 96, 1e9 / 240_000),
    )
}
"""Every format by the name that ``packets`` of a sensor's file gives."""

_MODES: dict[int, tuple[str, ...]] = {
    1: ("strongest", "last", "first"),
    2: ("strongest+last", "first+last", "first+strongest", "strongest+second"),
}
"""of a receiver, by the returns of a format"""


def format_of(sensor: Sensor) -> Format:
    """The packets that a sensor sends; an `InputError` where none are known for it."""
    if sensor.packets not in FORMATS:
        raise InputError(f"sensor {sensor.name}: packets {sensor.packets!r}: {nearest(str(sensor.packets), FORMATS)}")
    form, mode = FORMATS[sensor.packets], str(sensor.receiver.mode)
    if mode not in _MODES[form.returns]:
        many = "one return" if form.returns == 1 else "two returns"
        other = "packets livox1-cartesian-dual carry two" if form.returns == 1 else "other packets of Livox carry one"
        raise InputError.of(
            "receiver.mode", f"packets {form.name} carry {many}: " + ", ".join(_MODES[form.returns]), mode, other
        )
    step = 1e9 * sensor.frame_period / len(sensor.pulses(0))
    if form.step_ns is not None and abs(step - form.step_ns) > 1e-3 * form.step_ns:
        raise InputError.of(
            f"sensor {sensor.name}: packets {form.name}", f"are of {1e9 / form.step_ns:,.0f} pulses a second",
            f"{1e9 / step:,.0f}", "choose packets of the second SDK, which say how far apart points are",
        )  # fmt: skip
    return form
