"""Captures of the first SDK's sensors by every clock that they can have."""

from __future__ import annotations

import struct
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from made_frames import made_frame
from tussock.errors import InputError
from tussock.sensors.catalogue import load_sensor
from tussock.wire.firings import Firings
from tussock.wire.packets import EPOCH
from tussock.wire.read_firings import read_firings
from tussock.wire.recording import open_recording

SECOND = 1_000_000_000


def utc_of_gps(time_ns: int) -> int:
    """Year from 2000, month, day, hour, and the µs in it."""
    at = datetime.fromtimestamp(time_ns // SECOND, UTC)
    micro = (at.minute * 60 + at.second) * 1_000_000 + time_ns % SECOND // 1000
    return int.from_bytes(struct.pack("<4BI", at.year - 2000, at.month, at.day, at.hour, micro), "little")


CLOCKS: dict[str, Callable[[int, int], tuple[int, int]]] = {
    "since it started": lambda time, n: (0, time - int(EPOCH) * SECOND + 77 * SECOND),
    "UTC by GPS": lambda time, n: (3, utc_of_gps(time)),
    "since the pulse of a second": lambda time, n: (4, time % SECOND),
    "set on the way": lambda time, n: (0, time - int(EPOCH) * SECOND) if n < 900 else (1, time),
    "by GPS on the way": lambda time, n: (0, time - int(EPOCH) * SECOND) if n < 900 else (3, utc_of_gps(time)),
}


def by_clock(path: Path, told: Callable[[int, int], tuple[int, int]]) -> Path:
    """A copy of a capture whose packets have the clock and time that ``told`` makes of theirs, and no UDP checksum."""
    raw, at, n = bytearray(path.read_bytes()), 24, 0
    while at < len(raw):
        size = struct.unpack_from("<I", raw, at + 8)[0]
        payload = at + 16 + 42
        if raw[payload] == 5:
            clock, time = told(struct.unpack_from("<Q", raw, payload + 10)[0], n)
            raw[payload + 8] = clock
            struct.pack_into("<Q", raw, payload + 10, time)
            struct.pack_into("<H", raw, payload - 2, 0)
            n += 1
        at += 16 + size
    copy = path.with_name("other.pcap")
    copy.write_bytes(raw)
    return copy


@pytest.fixture(scope="module")
def capture(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sensor = load_sensor("livox-mid-40")
    path = tmp_path_factory.mktemp("clocks") / "run.pcap"
    with open_recording(path, sensor) as run:
        for number in range(23):
            run.write(made_frame(sensor, number, share=0.05))
    return path


def read(path: Path) -> tuple[Firings, list[str]]:
    notes: list[str] = []
    return read_firings(path, say=notes.append), notes


@pytest.mark.parametrize("clock", CLOCKS)
def test_times_and_order_are_those_of_the_recorder(capture: Path, clock: str) -> None:
    plain, none = read(capture)
    found, notes = read(by_clock(capture, CLOCKS[clock]))
    assert none == notes == []
    np.testing.assert_array_equal(found.ranges, plain.ranges)
    # A clock that is not the recorder's is laid on it: to the moment that a packet takes to leave.
    assert np.abs(found.times - plain.times).max() < 2e-3
    steps = np.diff(found.times) - np.diff(plain.times)
    assert np.abs(steps).max() < (2e-3 if "way" in clock else 2e-6)
    assert found.turns.max() == plain.turns.max()


def test_a_date_that_is_none_is_said(capture: Path) -> None:
    with pytest.raises(InputError, match=r"other.pcap.*must have a date and an hour in their time"):
        read(by_clock(capture, lambda time, n: (3, 13 << 8 | 25)))
