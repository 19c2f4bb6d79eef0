"""Hesai's packets read field by field, from the vendor's published structures alone: XT32, QT128, Pandar64 and Pandar128.

Sources: user manuals (chapter "Point cloud data packet") and the packed structures of the vendor's SDK 2.0
(``udp_protocol_v6_1``, ``_v3_2``, ``_p64``, ``_v1_4``). Nothing of Tussock is imported here.
"""

from __future__ import annotations

import datetime
import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

XT32, QT128, PANDAR64, PANDAR128 = "xt32", "qt128", "pandar64", "pandar128"


class Decoded(NamedTuple):
    model: str
    azimuth_deg: NDArray[np.float64]
    """of every block, clockwise from y"""
    range_m: NDArray[np.float64]
    """shape (blocks, channels), 0 for none"""
    reflectivity: NDArray[np.uint8]
    return_mode: int
    """0x37 strongest, 0x38 last, 0x39 both"""
    first_return: int
    """0 single; which return the first block of a pair holds"""
    motor_rpm: int
    utc: datetime.datetime
    sequence: int | None
    turns: tuple[int, ...] = ()
    """which of the firing sequences each block is of, where there are two"""


def crc32_mpeg2(data: bytes) -> int:
    """Bit by bit: polynomial 0x04C11DB7, from all ones, highest bit first, nothing inverted."""
    rest = 0xFFFFFFFF
    for byte in data:
        rest ^= byte << 24
        for _ in range(8):
            rest = (rest << 1 ^ (0x04C11DB7 if rest & 0x80000000 else 0)) & 0xFFFFFFFF
    return rest


def _check(data: bytes, at: int, what: str) -> None:
    if struct.unpack_from("<I", data, at)[0] != crc32_mpeg2(data[:at]):
        raise ValueError(f"the checksum of {what} is wrong")


def decode(payload: bytes) -> Decoded:
    """One packet of any of the four models, told apart by its own header."""
    if payload[:2] != b"\xee\xff":
        raise ValueError("not a Hesai packet")
    if len(payload) in (1194, 1198) and payload[2] == 64:
        return _pandar64(payload)
    major, minor = payload[2], payload[3]
    turns: tuple[int, ...] = ()
    lasers, blocks, first, unit_mm, returns, flags = struct.unpack_from("<6B", payload, 6)
    if (major, minor) == (6, 1):
        tail = 12 + blocks * (2 + 4 * lasers)
        expected, model = tail + 28, XT32
        channel = 4
        # three reserved fields of 3 bytes, shutdown, mode, motor, date, microseconds, factory, sequence
        mode, rpm, *date, micro, _factory, sequence = struct.unpack_from("<BH6BIBI", payload, tail + 10)
    elif (major, minor) == (3, 2):
        channel = 4 if flags & 0x10 else 3
        tail = 12 + blocks * (2 + channel * lasers) + 4 + (17 if flags & 0x04 else 0)
        expected = tail + 26 + (4 if flags & 0x01 else 0) + 4 + (32 if flags & 0x08 else 0)
        model = QT128
        mode, rpm, *date, micro, _factory = struct.unpack_from("<BH6BIB", payload, tail + 12)
        sequence = struct.unpack_from("<I", payload, tail + 26)[0] if flags & 0x01 else None
        # The SDK's rule: flag 1 begins with the first sequence; with one return the second block has the other.
        turns = tuple((payload[tail + 5] + (0 if mode >= 0x39 else block) + 1) % 2 for block in range(blocks))
        # Of functional safety the checksum is from the state on, without the version.
        _check(payload[12:], tail - 17 - 4 - 12, "the body")
        _check(payload[tail - 16 :], 12, "functional safety")
        _check(payload[tail:], expected - 4 - tail, "the tail")
    elif (major, minor) == (1, 4):
        channel = 4 if flags & 0x10 else 3
        tail = 12 + blocks * (2 + channel * lasers) + 4 + (17 if flags & 0x04 else 0)
        expected = (
            tail + 26 + (4 if flags & 0x01 else 0) + (22 if flags & 0x02 else 0) + 4 + (32 if flags & 0x08 else 0)
        )
        model = PANDAR128
        states, _running, mode, rpm, *date, micro, _factory = struct.unpack_from("<HBBH6BIB", payload, tail + 9)
        sequence = struct.unpack_from("<I", payload, tail + 26)[0] if flags & 0x01 else None
        turns = tuple(states >> 14 - 2 * block & 3 for block in range(blocks))
        _check(payload[12:], tail - 17 - 4 - 12, "the body")
        _check(payload[tail - 16 : tail - 12] + payload[tail - 4 :], 4, "functional safety")  # state to fault code
        _check(payload[tail:], expected - 4 - tail, "the tail")
    else:
        raise ValueError(f"unknown version {major}.{minor}")
    if len(payload) != expected:
        raise ValueError(f"{model}: {len(payload)} bytes where its header says {expected}")
    azimuth, distance, reflectivity = _blocks(payload, 12, lasers, blocks, channel)
    return Decoded(
        model, azimuth, distance * (unit_mm / 1000.0), reflectivity, mode, first if returns > 1 else 0, rpm,
        _utc(date, micro), sequence, turns,
    )  # fmt: skip


def _pandar64(payload: bytes) -> Decoded:
    _, lasers, blocks, first, unit_mm, _, _ = struct.unpack_from("<H6B", payload, 0)
    azimuth, distance, reflectivity = _blocks(payload, 8, lasers, blocks, 3)
    tail = 8 + blocks * (2 + 3 * lasers)
    rpm, micro, mode, _factory, *date = struct.unpack_from("<HIBB6B", payload, tail + 8)
    sequence = struct.unpack_from("<I", payload, tail + 22)[0] if len(payload) == tail + 26 else None
    return Decoded(
        PANDAR64, azimuth, distance * (unit_mm / 1000.0), reflectivity, mode, first, rpm, _utc(date, micro), sequence
    )


def _blocks(
    payload: bytes, start: int, lasers: int, blocks: int, channel: int
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.uint8]]:
    size = 2 + channel * lasers
    rows = np.frombuffer(payload, np.uint8, blocks * size, start).reshape(blocks, size)
    azimuth = rows[:, :2].copy().view("<u2").ravel() / 100.0
    cells = rows[:, 2:].reshape(blocks, lasers, channel)
    distance = cells[..., 0].astype(np.uint16) | cells[..., 1].astype(np.uint16) << 8
    return azimuth, distance.astype(np.float64), cells[..., 2].copy()


def _utc(date: list[int], micro: int) -> datetime.datetime:
    year, month, day, hour, minute, second = date
    whole = datetime.datetime(
        1900 + year if year >= 100 else 2000 + year, month, day, hour, minute, second, tzinfo=datetime.UTC
    )
    return whole + datetime.timedelta(microseconds=micro)
