"""The calibration that an HDL-64E tells in the status bytes of its packets (`tussock.wire.velodyne.status64`).

Each packet has a letter and a value. Sixteen packets make a row: H M S D N Y G T V and seven bytes of the table, marked
1 to 7 (in an S3's rows of warnings W instead of 1). 260 rows make the table, over and over; it begins with "UNIT#".

Source: HDL-64E S3 manual 63-HDL64ES3 REV G, appendix E; HDL-64E S2 manual, appendix.
"""

from __future__ import annotations

import struct
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.sensors.sensor import Sensor
from tussock.wire.velodyne.calibration import Calibration
from tussock.wire.velodyne.models import ReturnMode
from tussock.wire.velodyne.status64 import calibration_table

__all__ = ["Told", "is_catalogues", "told_calibration"]

_ROWS, _COLUMNS, _PACKETS = 260, 7, 16
_FIRST_COLUMN = 9
"""packets of a row before its bytes of the table"""
_LASERS = 64
_RECORD = struct.Struct("<BhhhhhhhhhBB")
"""laser, vertical, rotational [0.01°], far distance, near x, near y, vertical, horizontal offset [mm], …"""
_LEAST_ROWS = 3
"""that must be known to say whose table they are of"""


_MODE_BYTE = -5
"""of the table, before a reserved byte, the power and the checksum"""
_MODES: tuple[ReturnMode, ...] = ("strongest", "last", "dual")


class Told(NamedTuple):
    """What an HDL-64E says of itself."""

    model: str
    """``hdl-64e-s2`` or ``hdl-64e-s3``"""
    mode: ReturnMode
    calibration: Calibration


class _Seen(NamedTuple):
    """The bytes of the table that were sent."""

    values: NDArray[np.int64]
    """−1 where one is not known, shape (rows, 7)"""
    warnings: bool
    """whether rows of warnings were marked, as an S3 does"""


def told_calibration(factory: NDArray[np.uint8], number: NDArray[np.int64]) -> Told | None:
    """What the status bytes tell; None where the table was not told whole, or is not right.

    ``factory``: the last two bytes of packets, shape (n, 2); ``number``: which packet each is, lost ones counted, (n,).
    """
    seen = _rows(factory, number)
    if seen is None:
        return None
    starts = np.flatnonzero((seen.values[:, :5] == np.frombuffer(b"UNIT#", np.uint8)).all(1))
    if not len(starts):
        return None
    table = np.full((_ROWS, _COLUMNS), -1)
    place = (np.arange(len(seen.values)) - starts[0]) % _ROWS
    known = seen.values >= 0
    for column in range(_COLUMNS):
        rows = known[:, column]
        table[place[rows], column] = seen.values[rows, column]
    if (table < 0).any():
        return None
    raw = table.astype(np.uint8).tobytes()
    lasers = [raw[_COLUMNS * (1 + 4 * j) :][: _RECORD.size] for j in range(_LASERS)]
    (end,) = struct.unpack("<H", raw[-2:])
    wanted = _checksum(b"".join(record[1:] for record in lasers)) if seen.warnings else len(raw)
    if end != wanted:
        return None
    columns = np.array([_RECORD.unpack(record) for record in lasers], np.float64)
    if not np.array_equal(columns[:, 0], np.arange(_LASERS)):
        return None
    far, near_x, near_y, up, left = columns[:, 3:8].T * 1e-3
    calibration = Calibration(
        elevation=np.deg2rad(columns[:, 1] * 0.01), azimuth=np.deg2rad(columns[:, 2] * 0.01), vertical_offset=up,
        horizontal_offset=left, height=np.zeros(_LASERS), distance=far, distance_x=near_x, distance_y=near_y,
    )  # fmt: skip
    mode = _MODES[min(raw[_MODE_BYTE], len(_MODES) - 1)]
    return Told("hdl-64e-s3" if seen.warnings else "hdl-64e-s2", mode, calibration)


def is_catalogues(factory: NDArray[np.uint8], number: NDArray[np.int64], sensor: Sensor) -> bool:
    """Whether all that was told of the lasers agrees with a sensor of ours: the capture is of a simulated one."""
    seen = _rows(factory, number)
    if seen is None:
        return False
    own = np.frombuffer(calibration_table(sensor, "strongest", is_s3=sensor.packets == "hdl-64e-s3"), np.uint8)
    own = own.reshape(_ROWS, _COLUMNS).astype(np.int64)
    of_lasers = np.zeros(_ROWS, np.bool_)
    for j in range(_LASERS):
        of_lasers[4 * j + 1 : 4 * j + 4] = True
    whole = np.flatnonzero((seen.values >= 0).all(1))
    for shift in range(_ROWS):
        place = (whole + shift) % _ROWS
        compared = of_lasers[place]
        if compared.sum() >= _LEAST_ROWS and np.array_equal(own[place][compared], seen.values[whole][compared]):
            return True
    return False


def _rows(factory: NDArray[np.uint8], number: NDArray[np.int64]) -> _Seen | None:
    """The bytes of the table row by row; None where letters do not come as an HDL-64E's do."""
    kind, value = factory[:, 0].astype(np.int64), factory[:, 1].astype(np.int64)
    hours = np.flatnonzero(kind == ord("H"))
    if not len(hours):
        return None
    # Which of the sixteen a packet is, from its number; the letter must agree.
    column = (number - number[hours[0]]) % _PACKETS
    row = (number - number[hours[0]]) // _PACKETS
    row -= row.min()
    letters = np.frombuffer(b"HMSDNYGTV1234567", np.uint8).astype(np.int64)
    marked = (column == _FIRST_COLUMN) & (kind == ord("W"))
    if (letters[column] == kind)[~marked].mean() < 0.99:
        return None
    values = np.full((int(row.max()) + 1, _COLUMNS), -1)
    ours = (column >= _FIRST_COLUMN) & ((letters[column] == kind) | marked)
    values[row[ours], column[ours] - _FIRST_COLUMN] = value[ours]
    return _Seen(values, bool(marked.any()))


def _checksum(data: bytes) -> int:
    """CRC-16 with the polynomial 0x8005, highest bit first, from 0."""
    rest = 0
    for byte in data:
        for bit in range(7, -1, -1):
            top = rest >> 15 ^ byte >> bit & 1
            rest = rest << 1 & 0xFFFF ^ (0x8005 if top else 0)
    return rest
