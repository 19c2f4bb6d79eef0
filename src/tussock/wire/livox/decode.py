"""What Livox's packets say: points with their own times, and inertial readings."""

from __future__ import annotations

from calendar import timegm
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.sensors.imu import GRAVITY, ImuReadings
from tussock.wire.checksums import ethernet_crc32
from tussock.wire.livox.formats import FORMATS, IMU_PACKETS, TIME_AT, UTC_OF_GPS, Format
from tussock.wire.packets import whole_nanoseconds

__all__ = ["LivoxPoints", "decode_livox", "decode_livox_imu"]


@dataclass(frozen=True, eq=False)
class LivoxPoints:
    """Points of packets, one row a packet, pulses without return included; where a pulse has two, they are neighbours.

    >>> scene = tussock.Scene("crate")
    >>> crate = scene.add(tussock.box((1, 1, 1)), position=(5, 0, 0))
    >>> sensor = tussock.load_sensor("livox-mid-360")
    >>> sent = tussock.LivoxEncoder(sensor).encode(tussock.scan(scene, sensor, keep_misses=True))
    >>> tussock.decode_livox(sent["data"].payloads).xyz.shape[1:]
    (96, 3)
    """

    format: Format
    xyz: NDArray[np.float64]
    """[m], all 0 without return, shape (packets, points, 3)"""
    reflectivity: NDArray[np.uint8]
    """shape (packets, points)"""
    tag: NDArray[np.uint8]
    """shape (packets, points)"""
    time_ns: NDArray[np.int64]
    """[ns] of every point, by the packet's clock; Unix time where that is UTC, shape (packets, points)"""
    clock: NDArray[np.uint8]
    """which clock that is: 0 since the start, 1 PTP, 3 UTC by GPS, 4 since the last pulse of a second, shape (packets,)"""
    packet: NDArray[np.uint16] | None
    """number of every packet in its frame, where packets are counted, shape (packets,)"""
    whole: NDArray[np.bool_]
    """which of the packets given had right checksums; the others were left out. The first SDK's have none"""

    @property
    def damaged(self) -> int:
        """Packets that were left out because their checksum is wrong."""
        return int((~self.whole).sum())

    @property
    def hit(self) -> NDArray[np.bool_]:
        """whether a point is a return, shape (packets, points)"""
        return np.any(self.xyz != 0, axis=-1)


def decode_livox(payloads: NDArray[np.uint8]) -> LivoxPoints:
    """Take packets of points (n, size) of one sensor apart.

    >>> scene = tussock.Scene("crate")
    >>> crate = scene.add(tussock.box((1, 1, 1)), position=(5, 0, 0))
    >>> sensor = tussock.load_sensor("livox-mid-360")
    >>> sent = tussock.LivoxEncoder(sensor).encode(tussock.scan(scene, sensor, keep_misses=True))
    >>> bool(tussock.decode_livox(sent["data"].payloads).hit.any())
    True
    """
    if payloads.ndim != 2 or not len(payloads):
        raise InputError.of("packets", "must have the shape (n, size), with n above 0", payloads.shape)
    form = next((f for f in FORMATS.values() if _are(payloads[:1], f).all()), None)
    if form is None:
        sizes = ", ".join(f"{f.name} of {f.packet.itemsize} bytes" for f in FORMATS.values())
        raise InputError.of("packets", f"must be of points: {sizes}", f"{payloads.shape[1]} bytes")
    other = np.flatnonzero(~_are(payloads, form))
    if len(other):
        raise InputError(f"packet {other[0]}: is not of the kind {form.name} as those before it")
    raw = np.ascontiguousarray(payloads)
    packets = raw.reshape(-1).view(form.packet)
    good = np.ones(len(packets), np.bool_) if form.sdk == 1 else ethernet_crc32(raw[:, TIME_AT:]) == packets["crc"]
    if not good.any():
        raise InputError("packets: none has a right checksum")
    packets = packets if good.all() else packets[good]
    data = packets["data"]
    if form.spherical:
        distance = data["distance"] * form.step_m
        zenith, azimuth = np.deg2rad(data["zenith"] * 0.01), np.deg2rad(data["azimuth"] * 0.01)
        flat = distance * np.sin(zenith)
        xyz = np.stack([flat * np.cos(azimuth), flat * np.sin(azimuth), distance * np.cos(zenith)], -1)
    else:
        xyz = np.stack([data[axis] * form.step_m for axis in "xyz"], -1)
    if form.step_ns is None:
        step = packets["interval"].astype(np.float64) * 100 / packets["points"]  # [ns]
    else:
        step = np.full(len(packets), form.step_ns)
    within = np.rint(step[:, None] * (np.arange(form.points) // form.returns)).astype(np.int64)
    names = packets.dtype.names or ()
    return LivoxPoints(
        form,
        xyz,
        np.ascontiguousarray(data["reflectivity"]),
        np.ascontiguousarray(data["tag"]) if ("tag", "u1") in form.fields else np.zeros(data.shape, np.uint8),
        _nanoseconds(packets, form.sdk)[:, None] + within,
        np.ascontiguousarray(packets["clock"]),
        np.ascontiguousarray(packets["packet"]) if "packet" in names else None,
        good,
    )


def _nanoseconds(packets: NDArray[Any], sdk: int) -> NDArray[np.int64]:
    """[ns] the times of packets; where the first SDK's are of GPS, year, month, day, hour and the µs in it, Unix time."""
    found = packets["time"].astype(np.int64)
    rows = np.flatnonzero(packets["clock"] == UTC_OF_GPS) if sdk == 1 else ()
    if len(rows):
        dates, place = np.unique(found[rows] & 0xFFFFFFFF, return_inverse=True)
        hours = np.zeros(len(dates), np.int64)
        for at, date in enumerate(dates.tolist()):
            year, month, day, hour = date.to_bytes(4, "little")
            if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24):
                raise InputError.of("packets", "must have a date and an hour in their time", [year, month, day, hour])
            hours[at] = timegm((2000 + year, month, day, hour, 0, 0, 0, 0, 0))
        found[rows] = hours[place.ravel()] * 1_000_000_000 + (found[rows] >> 32 & 0xFFFFFFFF) * 1000
    return found


def _are(payloads: NDArray[np.uint8], form: Format) -> NDArray[np.bool_]:
    """Which packets say that they are of this format, shape (n,)."""
    if payloads.shape[1] != form.packet.itemsize:
        return np.zeros(len(payloads), np.bool_)
    return np.all([payloads[:, place] == value for place, value in form.says.items()], axis=0)


def decode_livox_imu(payloads: NDArray[np.uint8], *, epoch: float = 0.0) -> ImuReadings:
    """The readings in inertial packets (n, 60), of the first SDK (n, 42); times [s] of their clock since ``epoch``.

    >>> scene = tussock.Scene("crate")
    >>> crate = scene.add(tussock.box((1, 1, 1)), position=(5, 0, 0))
    >>> sensor = tussock.load_sensor("livox-mid-360")
    >>> sent = tussock.LivoxEncoder(sensor).encode(tussock.scan(scene, sensor, keep_misses=True))
    >>> tussock.decode_livox_imu(sent["imu"].payloads).force.shape[1]
    3
    """
    sizes = {record.itemsize: sdk for sdk, record in IMU_PACKETS.items()}
    if payloads.ndim != 2 or payloads.shape[1] not in sizes:
        known = " or ".join(f"(n, {size})" for size in sorted(sizes, reverse=True))
        raise InputError.of("packets", f"must have the shape {known}", payloads.shape)
    sdk = sizes[payloads.shape[1]]
    raw = np.ascontiguousarray(payloads)
    packets = raw.reshape(-1).view(IMU_PACKETS[sdk])
    if sdk == 2:
        packets = packets[ethernet_crc32(raw[:, TIME_AT:]) == packets["crc"]]
    time = (_nanoseconds(packets, sdk) - whole_nanoseconds(epoch)) / 1e9
    return ImuReadings(time, packets["force"].astype(np.float64) * GRAVITY, packets["rate"].astype(np.float64))
