"""What Livox's packets say: points with their own times, and inertial readings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.sensors.imu import GRAVITY, ImuReadings
from tussock.wire.checksums import ethernet_crc32
from tussock.wire.livox.formats import FORMATS, IMU_PACKET, POINTS, TIME_AT, Format
from tussock.wire.packets import whole_nanoseconds

__all__ = ["LivoxPoints", "decode_livox", "decode_livox_imu"]


@dataclass(frozen=True, eq=False)
class LivoxPoints:
    """Points of packets, one row a packet, pulses without return included."""

    format: Format
    xyz: NDArray[np.float64]
    """[m], all 0 without return, shape (packets, 96, 3)"""
    reflectivity: NDArray[np.uint8]
    """shape (packets, 96)"""
    tag: NDArray[np.uint8]
    """shape (packets, 96)"""
    time_ns: NDArray[np.int64]
    """[ns] of every point, by the packet's clock, shape (packets, 96)"""
    packet: NDArray[np.uint16]
    """number of every packet in its frame, shape (packets,)"""
    whole: NDArray[np.bool_]
    """which of the packets given had right checksums; the others were left out"""

    @property
    def damaged(self) -> int:
        """Packets that were left out because their checksum is wrong."""
        return int((~self.whole).sum())

    @property
    def hit(self) -> NDArray[np.bool_]:
        """whether a point is a return, shape (packets, 96)"""
        return np.any(self.xyz != 0, axis=-1)


def decode_livox(payloads: NDArray[np.uint8]) -> LivoxPoints:
    """Take packets of points (n, size) of one sensor apart."""
    if payloads.ndim != 2 or not len(payloads):
        raise InputError.of("packets", "must have the shape (n, size), with n above 0", payloads.shape)
    form = next((f for f in FORMATS.values() if _is(payloads[0], f)), None)
    if form is None:
        sizes = ", ".join(f"{f.name} of {f.packet.itemsize} bytes" for f in FORMATS.values())
        raise InputError.of("packets", f"must be of points: {sizes}", f"{payloads.shape[1]} bytes")
    other = np.flatnonzero((payloads[:, _SAYS] != payloads[0, _SAYS]).any(axis=1))
    if len(other):
        raise InputError(f"packet {other[0]}: is not of the kind {form.name} as those before it")
    raw = np.ascontiguousarray(payloads)
    packets = raw.reshape(-1).view(form.packet)
    good = ethernet_crc32(raw[:, TIME_AT:]) == packets["crc"]
    if not good.any():
        raise InputError("packets: none has a right checksum")
    packets = packets[good]
    data = packets["data"]
    if form.spherical:
        distance = data["distance"] * form.step_m
        zenith, azimuth = np.deg2rad(data["zenith"] * 0.01), np.deg2rad(data["azimuth"] * 0.01)
        flat = distance * np.sin(zenith)
        xyz = np.stack([flat * np.cos(azimuth), flat * np.sin(azimuth), distance * np.cos(zenith)], -1)
    else:
        xyz = np.stack([data[axis] * form.step_m for axis in "xyz"], -1)
    step = packets["interval"].astype(np.float64) * 100 / packets["points"]  # [ns]
    within = np.rint(step[:, None] * np.arange(POINTS)).astype(np.int64)
    return LivoxPoints(
        form,
        xyz,
        np.ascontiguousarray(data["reflectivity"]),
        np.ascontiguousarray(data["tag"]),
        packets["time"].astype(np.int64)[:, None] + within,
        np.ascontiguousarray(packets["packet"]),
        good,
    )


_SAYS = [1, 2, 5, 6, 10]  # length, points and type


def _is(payload: NDArray[np.uint8], form: Format) -> bool:
    """Whether a packet says that it is of this format."""
    length, points = int(payload[1]) | int(payload[2]) << 8, int(payload[5]) | int(payload[6]) << 8
    return length == len(payload) == form.packet.itemsize and points == POINTS and int(payload[10]) == form.type


def decode_livox_imu(payloads: NDArray[np.uint8], *, epoch: float = 0.0) -> ImuReadings:
    """The readings in inertial packets (n, 60); times [s] of the packets' clock since ``epoch``."""
    if payloads.ndim != 2 or payloads.shape[1] != IMU_PACKET.itemsize:
        raise InputError.of("packets", f"must have the shape (n, {IMU_PACKET.itemsize})", payloads.shape)
    raw = np.ascontiguousarray(payloads)
    packets = raw.reshape(-1).view(IMU_PACKET)
    packets = packets[ethernet_crc32(raw[:, TIME_AT:]) == packets["crc"]]
    time = (packets["time"].astype(np.int64) - whole_nanoseconds(epoch)) / 1e9
    return ImuReadings(time, packets["force"].astype(np.float64) * GRAVITY, packets["rate"].astype(np.float64))
