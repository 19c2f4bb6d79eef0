"""Livox's sample data packets read field by field, from the vendor's published structures alone.

Sources: "Livox SDK communication protocol" of the Mid-360 and HAP, ``livox_lidar_def.h`` (SDK 2); "Livox SDK
communication protocol" 1.3.0, section 3, and ``livox_def.h`` (SDK 1). Nothing of Tussock is imported here.
"""

from __future__ import annotations

import struct
import zlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

HEADER = struct.Struct("<BHHHHBBB12sIQ")
IMU, CARTESIAN_MM, CARTESIAN_CM, SPHERICAL = range(4)
_POINTS = {
    CARTESIAN_MM: np.dtype([("x", "<i4"), ("y", "<i4"), ("z", "<i4"), ("reflectivity", "u1"), ("tag", "u1")]),
    CARTESIAN_CM: np.dtype([("x", "<i2"), ("y", "<i2"), ("z", "<i2"), ("reflectivity", "u1"), ("tag", "u1")]),
    SPHERICAL: np.dtype([("depth", "<u4"), ("theta", "<u2"), ("phi", "<u2"), ("reflectivity", "u1"), ("tag", "u1")]),
}


class Decoded(NamedTuple):
    data_type: int
    time_ns: int
    """of the first point"""
    interval_ns: float
    """from the first point to the last"""
    count: int
    """of packets, modulo 65536"""
    frame: int
    xyz: NDArray[np.float64]
    """[m], shape (n, 3); (0, 0, 0) for no return; empty for IMU"""
    reflectivity: NDArray[np.uint8]
    tag: NDArray[np.uint8]
    imu: NDArray[np.float64]
    """gyroscope [rad/s] and accelerometer [g], shape (n, 6)"""


def decode(payload: bytes) -> Decoded:
    version, length, interval, dots, count, frame, kind, _time_type, _, crc, time_ns = HEADER.unpack_from(payload)
    if version != 0 or length != len(payload):
        raise ValueError(f"version {version}, {len(payload)} bytes where the header says {length}")
    if zlib.crc32(payload[HEADER.size - 8 :]) != crc:
        raise ValueError("the checksum over time and data is wrong")
    body = payload[HEADER.size :]
    nothing = np.empty(0, np.uint8)
    if kind == IMU:
        values = np.frombuffer(body, "<f4").reshape(dots, 6).astype(np.float64)
        return Decoded(kind, time_ns, 0.0, count, frame, np.empty((0, 3)), nothing, nothing, values)
    points = np.frombuffer(body, _POINTS[kind])
    if len(points) != dots:
        raise ValueError(f"{len(points)} points where the header says {dots}")
    if kind == SPHERICAL:
        depth, zenith, azimuth = points["depth"] / 1000.0, *(np.deg2rad(points[k] / 100.0) for k in ("theta", "phi"))
        xyz = np.stack(
            [
                depth * np.sin(zenith) * np.cos(azimuth),
                depth * np.sin(zenith) * np.sin(azimuth),
                depth * np.cos(zenith),
            ],
            1,
        )
    else:
        unit = 1000.0 if kind == CARTESIAN_MM else 100.0
        xyz = np.stack([points[axis] / unit for axis in "xyz"], 1)
    return Decoded(
        kind, time_ns, interval * 100.0, count, frame, xyz, points["reflectivity"].copy(), points["tag"].copy(),
        np.empty((0, 6)),
    )  # fmt: skip


class DecodedFirst(NamedTuple):
    data_type: int
    time_ns: int
    """of the first point"""
    xyz: NDArray[np.float64]
    """[m], shape (n, 3); (0, 0, 0) for no return; empty for IMU"""
    reflectivity: NDArray[np.uint8]
    imu: NDArray[np.float64]
    """gyroscope [rad/s] and accelerometer [g], shape (n, 6)"""


_FIRST_POINT = {0: (100, "<iiiB"), 1: (100, "<IHHB"), 2: (96, "<iiiBB"), 3: (96, "<IHHBB")}
"""points a packet and what is in one, by data type"""


def decode_first(payload: bytes) -> DecodedFirst:
    """A packet of the first SDK (LivoxEthPacket), point by point."""
    version, _slot, _id, _reserved, _status, time_type, kind = struct.unpack_from("<BBBBIBB", payload)
    if version != 5:
        raise ValueError(f"version {version}")
    if time_type not in (0, 1, 4):  # nanoseconds: none, PTP, PPS
        raise ValueError(f"a time of type {time_type}")
    (time_ns,) = struct.unpack_from("<Q", payload, 10)
    body = payload[18:]
    if kind == 6:
        return DecodedFirst(
            kind, time_ns, np.empty((0, 3)), np.empty(0, np.uint8), np.array([struct.unpack("<6f", body)])
        )
    count, layout = _FIRST_POINT[kind]
    if len(body) != count * struct.calcsize(layout):
        raise ValueError(f"{len(body)} bytes of points of the type {kind}")
    places, bright = [], []
    for a, b, c, reflectivity, *_tag in struct.iter_unpack(layout, body):
        if kind in (0, 2):
            places.append((a / 1000, b / 1000, c / 1000))
        else:
            zenith, azimuth = np.deg2rad(b / 100), np.deg2rad(c / 100)
            flat = a / 1000 * np.sin(zenith)
            places.append((flat * np.cos(azimuth), flat * np.sin(azimuth), a / 1000 * np.cos(zenith)))
        bright.append(reflectivity)
    return DecodedFirst(kind, time_ns, np.array(places), np.array(bright, np.uint8), np.empty((0, 6)))


class DecodedDual(NamedTuple):
    time_ns: int
    """of the first pulse"""
    xyz: NDArray[np.float64]
    """[m] of return 1 and return 2 of each pulse, shape (48, 2, 3); (0, 0, 0) for no return"""
    reflectivity: NDArray[np.uint8]
    """shape (48, 2)"""
    number: NDArray[np.uint8]
    """of the return as its tag says, bits 5 and 4, shape (48, 2)"""


def decode_dual(payload: bytes) -> DecodedDual:
    """A packet of the first SDK with two returns a pulse: LivoxDualExtendRawPoint, x1 … tag1, x2 … tag2."""
    version, _slot, _id, _reserved, _status, _time_type, kind, time_ns = struct.unpack_from("<BBBBIBBQ", payload)
    if version != 5 or kind != 4 or len(payload) != 18 + 48 * 28:
        raise ValueError(f"version {version}, type {kind}, {len(payload)} bytes")
    xyz, bright, number = np.zeros((48, 2, 3)), np.zeros((48, 2), np.uint8), np.zeros((48, 2), np.uint8)
    for at, (x1, y1, z1, r1, t1, x2, y2, z2, r2, t2) in enumerate(struct.iter_unpack("<iiiBBiiiBB", payload[18:])):
        xyz[at] = np.array([[x1, y1, z1], [x2, y2, z2]]) / 1000
        bright[at] = r1, r2
        number[at] = t1 >> 4 & 3, t2 >> 4 & 3
    return DecodedDual(time_ns, xyz, bright, number)
