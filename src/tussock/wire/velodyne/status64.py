"""The status that an HDL-64E sends bit by bit in the two factory bytes of its packets.

Instead of a mode and a model byte each packet holds a kind of status and its value. Sixteen packets make a row:
hour, minute, second, day, month, year, GPS signal, temperature and firmware version (H M S D N Y G T V), then seven
bytes of a table of 260 × 7 bytes that is repeated for ever:

    row 0          "UNIT#" and the two noise thresholds
    4·j+1 … 4·j+3  calibration of laser j, 21 bytes
    4·j            (j ≥ 1) warnings and six reserved bytes
    256            reserved, and behind it three rows: when it was calibrated, rotation, field of view, addresses,
                   return mode, power, and a checksum (S3) or the table's length (S2)

So a listener knows the sensor's own calibration after 4160 packets, a little over a second. Ours is that of the
simulated pattern, in the table's units (0.01°, 1 mm), with no correction of distance or intensity left to apply.

Sources: HDL-64E S3 manual 63-HDL64ES3 REV G, appendix E, and HDL-64E S2 manual; velodyne-decoder reads it.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.sensors.patterns.pattern import per_laser
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.sensors.sensor import Sensor

__all__ = ["TABLE_PACKETS", "StatusStream", "calibration_table"]

ROW = 16
CLOCK = b"HMSDNYGTV"
ROWS = 260
TABLE_PACKETS = ROW * ROWS
"""packets until the whole calibration has been sent"""

_GPS_SIGNAL = ord("A")  # pulse per second and time both received
_TEMPERATURE = 30  # [°C]
_FIRMWARE = 1
_CALIBRATED = (25, 1, 1, 0, 0, 0)  # year, month, day, hour, minute, second
_HUMIDITY = 40
_SOURCE, _DESTINATION = bytes([192, 168, 3, 43]), bytes([192, 168, 3, 255])
_POWER = 0xA0
_MODES = {"strongest": 0, "last": 1, "dual": 2}


class StatusStream:
    """The factory bytes of any packet of the stream."""

    def __init__(self, sensor: Sensor, mode: str) -> None:
        is_s3 = sensor.packets == "hdl-64e-s3"
        table = np.frombuffer(calibration_table(sensor, mode, is_s3=is_s3), np.uint8)
        kinds = np.tile(np.frombuffer(b"1234567", np.uint8), (ROWS, 1))
        if is_s3:
            kinds[4:256:4, 0] = ord("W")
        self._kinds = np.concatenate([np.tile(np.frombuffer(CLOCK, np.uint8), (ROWS, 1)), kinds], 1).ravel()
        self._table = table.reshape(ROWS, 7)

    def bytes(self, packets: NDArray[np.int64], times: NDArray[np.float64]) -> NDArray[np.uint8]:
        """Kind and value in packets number ``packets`` (n,) of the stream, sent at Unix ``times`` [s]; (n, 2)."""
        place = packets % TABLE_PACKETS
        row, column = place // ROW, place % ROW
        values = self._table[row, np.maximum(column - len(CLOCK), 0)].astype(np.int64)
        clock = np.nonzero(column < len(CLOCK))[0]
        values[clock] = _clock_values(times[clock])[np.arange(len(clock)), column[clock]]
        return np.stack([self._kinds[place], values.astype(np.uint8)], 1)


def _clock_values(times: NDArray[np.float64]) -> NDArray[np.int64]:
    """H M S D N Y G T V at Unix times [s], shape (n, 9)."""
    second = times.astype("datetime64[s]")
    day, month, year = (second.astype(f"datetime64[{unit}]") for unit in "DMY")
    of_day = (second - day).astype(np.int64)
    columns: list[Any] = [
        of_day // 3600,
        of_day // 60 % 60,
        of_day % 60,
        (day - month).astype(np.int64) + 1,
        (month - year).astype(np.int64) + 1,
        (year.astype(np.int64) + 1970) % 100,
        *(np.full(len(times), value) for value in (_GPS_SIGNAL, _TEMPERATURE, _FIRMWARE)),
    ]
    return np.stack(columns, 1)


def calibration_table(sensor: Sensor, mode: str, *, is_s3: bool) -> bytes:
    """The 1820 bytes of the table."""
    pattern = sensor.pattern
    assert isinstance(pattern, SpinningPattern)
    count = pattern.lasers
    turns = per_laser(pattern.azimuth_deg, count, "azimuth_deg")
    up = per_laser(pattern.vertical_offset_m, count, "vertical_offset_m")
    left = per_laser(pattern.horizontal_offset_m, count, "horizontal_offset_m")
    rows, checked = [b"UNIT#" + bytes(2)], b""
    for j in range(count):
        record = struct.pack(
            "<BhhhhhhhhhBB", j,
            round(pattern.elevation_deg[j] * 100), round(turns[j] * 100),
            0, 0, 0,  # distance: far, near x, near y
            round(up[j] * 1000), round(left[j] * 1000),
            0, 0,  # focal distance and slope
            0, 255,  # intensity: least, most
        )  # fmt: skip
        rows += [record, bytes(7)]
        checked += record[1:]
    tail = struct.pack("<hHHH", round(pattern.rotation_hz * 60), 0, 36000, 0)
    tail += _SOURCE + _DESTINATION + bytes([_MODES[mode], 0, _POWER])
    end = _crc16(checked) if is_s3 else ROWS * 7
    # The last laser's fourth row holds the date of the calibration.
    rows[-1] = bytes([*_CALIBRATED, _HUMIDITY])
    table = b"".join(rows) + tail + struct.pack("<H", end)
    assert len(table) == ROWS * 7
    return table


def _crc16(data: bytes) -> int:
    """CRC-16 with the polynomial 0x8005, not reflected, starting from 0."""
    register = 0
    for byte in data:
        register ^= byte << 8
        for _ in range(8):
            register = (register << 1) ^ 0x8005 if register & 0x8000 else register << 1
            register &= 0xFFFF
    return register
