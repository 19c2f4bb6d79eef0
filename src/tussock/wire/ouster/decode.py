"""What an Ouster's packets say: columns and pixels, gathered into revolutions, and their points.

The numbers are those on the wire (millimetres, the field's own units); a column that is missing, or marked as bad
by the sensor, is zeros with status 0. `OusterScan.xyz` follows the manual's equations with the unit's own angles. A
column is known by its frame and measurement number, so packets may come in any order, twice, or not at all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError, nearest
from tussock.kernels import Array, Whole, inline_kernel, loop_kernel
from tussock.sensors.imu import GRAVITY, ImuReadings
from tussock.sensors.ouster_unit import OusterUnit
from tussock.wire.ouster.profiles import IMU_BYTES, PROFILES, Profile
from tussock.wire.packets import whole_nanoseconds

__all__ = ["Columns", "OusterScan", "beam_table", "decode_imu", "decode_scans", "packet_size", "read_columns"]


@dataclass(frozen=True, eq=False)
class OusterScan:
    """One revolution: rows are lasers from the top down, columns are measurements (staggered, as sent).

    >>> scan = next(tussock.read_ouster("run.pcap"))  # doctest: +SKIP
    >>> scan.fields["RANGE"].shape  # doctest: +SKIP
    (64, 1024)
    """

    unit: OusterUnit
    number: int
    """of the frame, counted on where the wire's 16 bits begin again"""
    fields: dict[str, NDArray[Any]]
    """by Ouster's names (``RANGE`` [mm], ``REFLECTIVITY``, …), each of shape (lasers, columns)"""
    timestamp: NDArray[np.uint64]
    """[ns] of every column, shape (columns,)"""
    status: NDArray[np.uint32]
    """1 (LEGACY: all bits) for a good column, shape (columns,)"""
    packets: int
    """that it was made of"""

    @property
    def missing(self) -> int:
        """Columns of the window that did not come, or are bad."""
        first, last = self.unit.window
        wanted = (last - first) % self.unit.columns + 1
        return wanted - int(np.count_nonzero(self.status))

    def xyz(self, field: str = "RANGE") -> NDArray[np.float64]:
        """Points [m] in the sensor's frame, shape (lasers, columns, 3); all 0 where there is no return."""
        directions, origins = beam_table(self.unit)
        reach = self.fields[field].astype(np.float64) / 1000
        along = np.where(reach > 0, reach - self.unit.axis_mm / 1000, 0.0)
        return along[..., None] * directions + np.where(reach > 0, 1.0, 0.0)[..., None] * origins


def beam_table(unit: OusterUnit) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Directions and starts [m] of all beams in the sensor's frame, shapes (lasers, columns, 3)."""
    # Manual, "Lidar Range to XYZ"; the half turn from the LIDAR's to the sensor's frame is in the sign of x and y.
    encoder = 2 * np.pi * (1 - np.arange(unit.columns) / unit.columns)[None, :]
    azimuth = encoder - np.deg2rad(unit.azimuth_deg)[:, None]
    altitude = np.deg2rad(unit.altitude_deg)[:, None]
    level, up = np.cos(altitude), np.broadcast_to(np.sin(altitude), azimuth.shape)
    directions = np.stack([-level * np.cos(azimuth), -level * np.sin(azimuth), up], -1)
    ahead, above = unit.beam_to_lidar[0] / 1000, (unit.beam_to_lidar[1] + unit.height_mm) / 1000
    head = np.broadcast_to(encoder, azimuth.shape)
    origins = np.stack([-ahead * np.cos(head), -ahead * np.sin(head), np.full(azimuth.shape, above)], -1)
    return directions, origins


def packet_size(unit: OusterUnit) -> int:
    """[bytes] of a LIDAR packet of the unit."""
    return _profile(unit).size(unit.lasers, unit.columns_per_packet)


def _profile(unit: OusterUnit) -> Profile:
    if unit.profile not in PROFILES:
        raise InputError(f"udp_profile_lidar {unit.profile!r}: cannot be read; {nearest(unit.profile, PROFILES)}")
    return PROFILES[unit.profile]


def decode_scans(payloads: NDArray[np.uint8], unit: OusterUnit) -> list[OusterScan]:
    """The revolutions in LIDAR packets (n, size) of one unit, in the order of their frames."""
    profile, size = _profile(unit), packet_size(unit)
    if payloads.ndim != 2 or payloads.shape[1] != size:
        what = f"must have the shape (n, {size}) for {unit.lasers} lasers and {unit.profile}"
        raise InputError.of("packets", what, payloads.shape)
    payloads = np.ascontiguousarray(payloads)
    columns = read_columns(payloads.reshape(-1), size * np.arange(len(payloads)), unit)
    numbers = columns.number
    order = np.argsort(numbers, kind="stable")
    starts = np.flatnonzero(np.diff(numbers[order], prepend=numbers[order[0]] - 1))
    return [
        _scan(payloads, rows, columns, profile, unit, int(numbers[rows[0]]))
        for rows in np.split(order, starts[1:])
    ]  # fmt: skip


@dataclass(frozen=True, eq=False)
class Columns:
    """The headers of all columns, each of shape (packets, columns a packet)."""

    timestamp: NDArray[np.uint64]
    measurement: NDArray[np.uint16]
    status: NDArray[np.uint32]
    number: NDArray[np.int64]
    """of each packet's frame, counted on where the wire's 16 bits begin again, shape (packets,)"""

    @property
    def good(self) -> NDArray[np.bool_]:
        """Whether the sensor marked a column as measured."""
        return (self.status & 1).astype(np.bool_)


def read_columns(data: NDArray[np.uint8], starts: NDArray[np.int64], unit: OusterUnit) -> Columns:
    """What LIDAR packets of one unit, which begin in ``data`` where ``starts`` says, tell of their columns."""
    if not len(starts):
        raise InputError("packets: there are none")
    profile, shape = _profile(unit), (len(starts), unit.columns_per_packet)
    columns = Columns(np.empty(shape, np.uint64), np.empty(shape, np.uint16), np.empty(shape, np.uint32),
                      _unwrapped(_frames(data, starts, unit)))  # fmt: skip
    size = profile.column(unit.lasers)
    status = (size - 4, 4) if profile.legacy else (10, 2)
    _read_headers(
        data, starts + profile.header, (size, *status), columns.timestamp, columns.measurement, columns.status
    )
    wrong = (columns.measurement >= unit.columns) & (columns.status != 0)
    if wrong.any():
        first = int(np.argmax(wrong.any(axis=1)))
        given = int(columns.measurement[first][wrong[first]][0])
        raise InputError.of(f"packet {first}: measurement", f"must be below the mode's {unit.columns}", given)
    return columns


def _frames(data: NDArray[np.uint8], starts: NDArray[np.int64], unit: OusterUnit) -> NDArray[np.uint16]:
    """The lower half of the number of each packet's frame: in its header, or where there is none in its first column's."""
    at = starts + (10 if _profile(unit).legacy else _FRAME_AT[unit.header])
    return data[at].astype(np.uint16) | data[at + 1].astype(np.uint16) << np.uint16(8)


@loop_kernel
def _read_headers(
    data: Array, starts: Array, place: tuple[int, int, int], timestamp: Array, measurement: Array, status: Array
) -> None:
    """The numbers of all columns; ``place``: a column's bytes, and its status's place and bytes."""
    size, status_at, status_bytes = place
    for packet in range(len(starts)):
        for column in range(timestamp.shape[1]):
            at = starts[packet] + column * size
            timestamp[packet, column] = _number(data, at, 8)
            measurement[packet, column] = _number(data, at + 8, 2)
            status[packet, column] = _number(data, at + status_at, status_bytes)


@inline_kernel
def _number(data: Array, at: Whole, size: Whole) -> Whole:
    """A number of so many bytes, the lowest first."""
    found = np.uint64(0)
    for k in range(size):
        found |= np.uint64(data[at + k]) << np.uint64(8 * k)
    return found


def _unwrapped(frame: NDArray[np.uint16]) -> NDArray[np.int64]:
    """Frame numbers that do not begin again; a late packet of the frame before stays one of that."""
    steps = np.diff(frame, prepend=frame[:1]).view(np.int16)  # the shorter way around
    return int(frame[0]) + np.cumsum(steps, dtype=np.int64)


def _scan(
    payloads: NDArray[np.uint8], rows: NDArray[np.int64], columns: Columns, profile: Profile, unit: OusterUnit, number: int
) -> OusterScan:  # fmt: skip
    timestamp = np.zeros(unit.columns, np.uint64)
    status = np.zeros(unit.columns, np.uint32)
    measurement = columns.measurement[rows]
    good = columns.good[rows] & (measurement < unit.columns)
    timestamp[measurement[good]] = columns.timestamp[rows][good]
    status[measurement[good]] = columns.status[rows][good]
    target = np.where(good, measurement.astype(np.int64), -1)  # a bad column has no place
    first, size = profile.header + profile.column_header, profile.column(unit.lasers)
    fields: dict[str, NDArray[Any]] = {}
    for field in profile.fields:
        width = field.bits * field.step
        kind: Any = np.uint32 if field.bits > 16 or width > 16 * 8 else np.uint16 if width > 8 else np.uint8
        out = np.zeros((unit.lasers, unit.columns), _DTYPES.get(field.name.rstrip("2"), kind))
        bytes_wide = (field.low + field.bits + 7) // 8
        low, mask, step = np.uint32(field.low), np.uint32((1 << field.bits) - 1), np.uint32(field.step)
        place = _FieldPlace(first + field.at, size, profile.pixel, bytes_wide, low, mask, step)
        _gather(payloads, rows, target, place, out)
        fields[field.name] = out
    return OusterScan(unit, number, fields, timestamp, status, len(rows))


_FRAME_AT = {"STANDARD": 2, "FUSA": 4}
"""where the frame's number stands, by the kind of header"""
_DTYPES: dict[str, Any] = {
    "RANGE": np.uint32, "SIGNAL": np.uint16, "NEAR_IR": np.uint16, "REFLECTIVITY": np.uint8, "FLAGS": np.uint8,
    "WINDOW": np.uint8, "ZONE_MASK": np.uint16,
}  # fmt: skip


class _FieldPlace(NamedTuple):
    """Where a field stands in a packet, and what makes a number of its bytes."""

    first: int
    """byte of the first pixel's"""
    column: int
    """bytes from one column to the next"""
    pixel: int
    """bytes from one pixel to the next"""
    wide: int
    """bytes of the field"""
    low: Any
    """bits to shift it by"""
    mask: Any
    step: Any
    """what one step counts for"""


@loop_kernel
def _gather(payloads: Any, rows: Any, target: Any, place: _FieldPlace, out: Any) -> None:
    """One field of all pixels: ``wide`` bytes from ``first`` on, shifted, masked and scaled."""
    first, column, pixel, wide, low, mask, step = place
    per_packet = target.shape[1]
    for k in range(len(rows)):
        row = rows[k]
        # Laser by laser: the columns of a packet lie side by side in the picture.
        for laser in range(out.shape[0]):
            for c in range(per_packet):
                where = target[k, c]
                if where < 0:
                    continue
                at = first + c * column + laser * pixel
                value = np.uint32(payloads[row, at])
                if wide > 1:
                    value |= np.uint32(payloads[row, at + 1]) << np.uint32(8)
                if wide > 2:
                    value |= np.uint32(payloads[row, at + 2]) << np.uint32(16)
                out[laser, where] = ((value >> low) & mask) * step


def decode_imu(payloads: NDArray[np.uint8], *, epoch: float = 0.0) -> ImuReadings:
    """The readings in inertial packets (n, 48); times [s] of the accelerometer's clock since ``epoch``."""
    if payloads.ndim != 2 or payloads.shape[1] != IMU_BYTES:
        raise InputError.of("packets", f"must have the shape (n, {IMU_BYTES})", payloads.shape)
    whole = np.ascontiguousarray(payloads)
    stamps = whole[:, 8:16].copy().view("<u8")[:, 0].astype(np.int64)
    time = (stamps - whole_nanoseconds(epoch)) / 1e9
    values = whole[:, 24:].copy().view("<f4").astype(np.float64)
    return ImuReadings(time, values[:, :3] * GRAVITY, np.deg2rad(values[:, 3:]))
