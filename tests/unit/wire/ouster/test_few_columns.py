"""Captures of an Ouster of three lasers and four columns: what its firings are, and what is said of what is missing."""

from __future__ import annotations

import math
import struct
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from made_captures import Record, Sent, pcap, records_of
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.ouster_unit import OusterUnit
from tussock.wire.captures.datagrams import read_datagrams
from tussock.wire.ouster.decode import beam_table
from tussock.wire.ouster.firings import OusterFirings, ouster_firings
from tussock.wire.ouster.models import unit_of

AXIS = 0.0158
SLOT = 50_000_000
"""[ns] that a packet of two columns takes: half of a tenth of a second"""
START = 1_700_000_000_000_000_000


class Column(NamedTuple):
    """What one column holds: of each laser the steps and the reflectivity of each return."""

    frame: int
    measurement: int
    good: bool = True
    steps: tuple[tuple[int, ...], ...] = ((1000,), (2000,), (3000,))
    bright: tuple[tuple[int, ...], ...] = ((10,), (20,), (255,))


def small(profile: str = "RNG19_RFL8_SIG16_NIR16", **changes: object) -> OusterUnit:
    few = {"altitude_deg": (20.0, 0.5, -18.0), "azimuth_deg": (3.0, 0.0, -2.5), "shift": (0, 0, 0), "axis_mm": 15.8}
    shape = {"columns": 4, "columns_per_packet": 2, "window": (0, 3), "rate_hz": 10.0, "profile": profile}
    return replace(unit_of(load_sensor("os1-32")), header="STANDARD", **(few | shape | changes))


def stamp_of(frame: int, measurement: int) -> int:
    """[ns] four columns in a tenth of a second."""
    return START + (frame * 4 + measurement) * SLOT // 2


def packet(unit: OusterUnit, columns: list[Column], stamp: int | None = None) -> bytes:
    body = b""
    for place, column in enumerate(columns):
        time = stamp_of(column.frame, column.measurement) if stamp is None else stamp + place
        body += struct.pack("<QHH", time, column.measurement, column.good)
        for steps, bright in zip(column.steps, column.bright, strict=True):
            if unit.profile == "RNG19_RFL8_SIG16_NIR16":
                # The bits above the nineteen of the range are flags.
                body += struct.pack("<IB7x", steps[0] | 0xF80000, bright[0])
            else:
                body += b"".join(struct.pack("<HBB", s | 0x8000, b, 9) for s, b in zip(steps, bright, strict=True))
    return struct.pack("<HH", 1, columns[0].frame).ljust(32, b"\0") + body + bytes(32)


def fired(
    path: Path, unit: OusterUnit, packets: list[list[Column]], *, late_ns: int = 0, stamp: int | None = None
) -> tuple[OusterFirings, list[str]]:
    """The firings in a capture whose packets were recorded the moment they left, or ``late_ns`` later."""
    arrived = sorted(
        stamp_of(columns[0].frame, columns[0].measurement // 2 * 2) + SLOT + late_ns for columns in packets
    )
    sent = [Sent(packet(unit, columns, stamp), time) for columns, time in zip(packets, arrived, strict=True)]
    (path / "a.pcap").write_bytes(pcap(records_of(sent), nano=True))
    notes: list[str] = []
    found = ouster_firings(read_datagrams(path / "a.pcap"), unit, None, notes.append)
    assert isinstance(found, OusterFirings)
    return found, [note.partition(": ")[2] for note in notes]


def revolution(frame: int) -> list[list[Column]]:
    return [[Column(frame, 0), Column(frame, 1)], [Column(frame, 2), Column(frame, 3)]]


def places(found: OusterFirings) -> list[tuple[int, int]]:
    """Turn and column of each column that was fired, by when."""
    number = np.rint((found.times[::3] - START / 1e9) * 40).astype(int).tolist()
    return [divmod(k, 4) for k in number]


def test_two_revolutions_pulse_by_pulse(tmp_path: Path) -> None:
    """A range counts from the axis, a step is 1 mm, a reflectivity of 100 a white wall's."""
    unit = small()
    packets = revolution(7) + revolution(8)
    packets[1][1] = Column(7, 3, steps=((0,), (1,), (0x7FFFF,)), bright=((50,), (0,), (1,)))
    found, notes = fired(tmp_path, unit, packets)
    assert notes == [] and found.complete and found.kinds == ("strongest",) and found.sensor == unit.product.lower()
    assert len(found) == 24 and found.lasers.tolist() == [0, 1, 2] * 8 and found.rings.tolist() == [2, 1, 0] * 8
    assert found.turns.tolist() == [0] * 12 + [1] * 12
    assert found.times == pytest.approx((START + (28 + np.arange(8).repeat(3)) * SLOT / 2) / 1e9, abs=3e-7)
    usual, odd = [1.0 - AXIS, 2.0 - AXIS, 3.0 - AXIS], [math.nan, 0.001 - AXIS, 524.287 - AXIS]
    assert found.ranges.shape == (24, 1)
    assert found.ranges[:, 0] == pytest.approx(usual * 3 + odd + usual * 4, nan_ok=True, abs=1e-12)
    assert found.intensity[:, 0] == pytest.approx([0.1, 0.2, 2.55] * 3 + [0.0, 0.0, 0.01] + [0.1, 0.2, 2.55] * 4)
    directions, origins = beam_table(unit)
    for k in range(24):
        laser, column = k % 3, k // 3 % 4
        assert found.directions[k] == pytest.approx(directions[laser, column], abs=1e-15)
        assert found.origins[k] == pytest.approx(origins[laser, column], abs=1e-15)
        assert found.azimuths[k] == pytest.approx(math.atan2(*directions[laser, column, 1::-1]), abs=1e-15)


def test_of_two_returns_both_are_read(tmp_path: Path) -> None:
    """Fifteen bits in steps of 8 mm; the strongest comes first."""
    unit = small("RNG15_RFL8_NIR8_DUAL")
    column = Column(0, 0, True, ((125, 250), (0, 3), (0x7FFF, 0)), ((10, 20), (30, 40), (50, 60)))
    found, notes = fired(tmp_path, unit, [[column, column._replace(measurement=1)]])
    assert notes == [] and found.kinds == ("strongest", "echo") and found.ranges.shape == (6, 2)
    wanted = [[1.0, 2.0], [math.nan, 0.024], [262.136, math.nan]] * 2
    assert found.ranges == pytest.approx(np.array(wanted) - AXIS, nan_ok=True, abs=1e-12)
    assert found.intensity == pytest.approx(np.array([[0.1, 0.2], [0.0, 0.4], [0.5, 0.0]] * 2))


def test_columns_are_put_in_order_and_of_one_that_came_twice_the_later_counts(tmp_path: Path) -> None:
    unit = small()
    one, two, three, four = revolution(0) + revolution(1)
    found, notes = fired(tmp_path, unit, [one, three, two, four])
    assert places(found) == [(0, k) for k in range(4)] + [(1, k) for k in range(4)]
    assert notes == ["1 data packets came in another order than they were sent"]
    other = [column._replace(steps=((7,), (8,), (9,))) for column in two]
    found, notes = fired(tmp_path, unit, [one, two, other, three])
    assert notes == ["2 columns came twice"] and len(places(found)) == 6
    assert found.ranges[6:12, 0] == pytest.approx([0.007 - AXIS, 0.008 - AXIS, 0.009 - AXIS] * 2)
    found, notes = fired(tmp_path, unit, [four, three, two, one])
    assert notes == ["3 data packets came in another order than they were sent"]
    assert found.turns.tolist() == [0] * 12 + [1] * 12
    # A packet whose columns are told the wrong way round was not mixed up with another.
    found, notes = fired(tmp_path, unit, [one[::-1], two])
    assert notes == [] and places(found) == [(0, 0), (0, 1), (0, 2), (0, 3)]


def test_what_is_missing_between_the_first_column_and_the_last_is_counted(tmp_path: Path) -> None:
    unit = small()
    one, two, three, four = revolution(0) + revolution(1)
    five, six = revolution(2)
    bad = [three[0], three[1]._replace(good=False)]
    for packets, notes in (
        ([one, two, four], ["2 columns are missing"]),
        ([two, three], []),
        ([one, four], ["4 columns are missing"]),
        ([one, two, bad, four], ["1 columns are missing"]),
        ([one, two, five, six], ["1 revolutions are missing"]),
        ([one, six], ["4 columns are missing", "1 revolutions are missing"]),
        ([one, *revolution(5)], ["2 columns are missing", "4 revolutions are missing"]),
        ([bad[::-1]], []),
    ):
        found, said = fired(tmp_path, unit, packets)
        good = sum(column.good for columns in packets for column in columns)
        assert said == notes and len(found) == 3 * good
    nothing, said = fired(tmp_path, unit, [[column._replace(good=False) for column in one]])
    assert len(nothing) == 0 and said == []


@pytest.mark.parametrize(("window", "missing"), [((0, 3), 2), ((0, 1), 0), ((3, 1), 1), ((2, 1), 2), ((2, 3), 0)])
def test_outside_of_the_azimuth_window_nothing_is_missing(
    tmp_path: Path, window: tuple[int, int], missing: int
) -> None:
    """The first half of two revolutions came; between them were two columns, of which the window may have less."""
    _, notes = fired(tmp_path, small(window=window), [revolution(0)[0], revolution(1)[0]])
    assert notes == ([f"{missing} columns are missing"] if missing else [])


@pytest.mark.parametrize(
    ("late_ns", "shift_ns"),
    [(0, 0), (3_999_999_999, 0), (4_000_000_000, 4_000_000_000), (-3_999_999_999, 0), (-(10**15), -(10**15))],
)
def test_a_clock_that_is_four_seconds_off_is_another(tmp_path: Path, late_ns: int, shift_ns: int) -> None:
    """A packet leaves 50 ms after its first column; the recorder's clock wins where the device has its own."""
    found, _ = fired(tmp_path, small(), revolution(0) + revolution(1), late_ns=late_ns)
    assert found.times[0] == pytest.approx((START + shift_ns) / 1e9, abs=3e-7)


def test_the_device_may_count_from_when_it_was_switched_on(tmp_path: Path) -> None:
    found, _ = fired(tmp_path, small(), revolution(0)[:1], stamp=5)
    assert found.times == pytest.approx([START / 1e9] * 6, abs=1e-6)


def test_what_a_capture_lacks_is_told_of_it_too(tmp_path: Path) -> None:
    unit = small()
    sent = [Sent(packet(unit, columns), START + SLOT) for columns in revolution(0)]
    records = records_of(sent)
    cut = [records[0], Record(records[1].frame, records[1].time_ns, recorded=100)]
    (tmp_path / "a.pcap").write_bytes(pcap(cut, nano=True))
    notes: list[str] = []
    found = ouster_firings(read_datagrams(tmp_path / "a.pcap"), unit, "192.168.1.201", notes.append)
    assert len(found) == 6 and len(notes) == 1 and "recorded in part" in notes[0]
