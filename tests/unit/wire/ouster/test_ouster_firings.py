"""Firings of an Ouster: every pulse of its frames, with or without return, and of recordings of real units."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gappy_frames import gappy_frame
from real_recordings import recorded
from tussock.errors import InputError
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.ouster_unit import read_unit
from tussock.wire.captures.capture_writer import CaptureWriter, Flow
from tussock.wire.captures.datagrams import read_datagrams
from tussock.wire.ouster.decode import decode_scans
from tussock.wire.ouster.firings import firings_of_scans
from tussock.wire.ouster.read import read_ouster
from tussock.wire.packets import EPOCH
from tussock.wire.read_firings import read_firings
from tussock.wire.recording import open_recording


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("os1-64", "strongest"),
        ("os1-32-rev7", "strongest+last"),
        ("os0-128", "strongest"),
        ("os2-128", "strongest+last"),
    ],
)
def test_gaps_of_any_shape(tmp_path: Path, name: str, mode: str) -> None:
    sensor = load_sensor(name).with_(**{"receiver.mode": mode})
    for case in range(4):
        rng = np.random.default_rng([case, len(name)])
        made = [gappy_frame(sensor, number, rng) for number in range(2)]
        with open_recording(tmp_path / "run.pcap", sensor, force=True) as run:
            for frame, _ in made:
                run.write(frame)
        notes: list[str] = []
        found = read_firings(tmp_path / "run.pcap", say=notes.append)
        assert notes == []
        pulses = [sensor.pulses(number) for number in range(2)]
        fired = sum(len(part) for part in pulses)
        assert len(found) == fired
        # All lasers of a column fire at once; the frame has them in the order of their numbers.
        np.testing.assert_array_equal(found.lasers, np.concatenate([part.lasers for part in pulses]))
        np.testing.assert_array_equal(found.turns, np.repeat([0, 1], [len(part) for part in pulses]))
        azimuth = np.concatenate([part.azimuths for part in pulses])
        assert np.abs(np.angle(np.exp(1j * (found.azimuths - azimuth)))).max() < 1e-4
        times = np.concatenate([n * sensor.frame_period + p.offsets for n, p in enumerate(pulses)])
        assert np.abs(found.times - EPOCH - times).max() < 1e-6
        steps = np.concatenate([truth["strongest"] for _, truth in made]) * sensor.receiver.range_step_m
        first = np.nan_to_num(found.ranges[:, 0])
        np.testing.assert_array_equal(first > 0, steps > 0)
        assert np.abs(first - steps).max() < 0.0011


@pytest.mark.parametrize(
    ("name", "mode"),
    [("os1-64", "strongest"), ("os1-32-rev7", "strongest+last"), ("os2-128", "strongest")],
)
def test_packets_mixed_up_and_sent_twice_give_what_their_scans_give(tmp_path: Path, name: str, mode: str) -> None:
    """The pass over packets has a twin, which goes by whole revolutions."""
    sensor = load_sensor(name).with_(**{"receiver.mode": mode})
    with open_recording(tmp_path / "run.pcap", sensor) as run:
        for number in range(3):
            run.write(gappy_frame(sensor, number, np.random.default_rng(number))[0])
    unit = read_unit(tmp_path / "run.json")
    found = read_datagrams(tmp_path / "run.pcap")
    data = found.select(found.port == 7502)
    rng = np.random.default_rng(5)
    rows = np.arange(len(data)) + rng.uniform(-9, 9, len(data))
    chosen = np.argsort(rows)[rng.random(len(data)) < 0.9]
    chosen = np.sort(np.concatenate([chosen, chosen[::7]])) if name == "os1-64" else chosen
    payloads = data.payloads()[chosen]
    times = data.times[0] + 1e-4 * np.arange(len(chosen))
    with (tmp_path / "mixed.pcap").open("wb") as file:
        CaptureWriter(file).write(Flow(payloads, times, 7502))
    quick = read_firings(tmp_path / "mixed.pcap", model=str(tmp_path / "run.json"), say=lambda note: None)
    twin = firings_of_scans(decode_scans(payloads, unit))
    for column in ("lasers", "rings", "turns", "azimuths", "origins", "directions", "ranges", "intensity", "times"):
        np.testing.assert_array_equal(getattr(quick, column), getattr(twin, column), err_msg=column)
    assert quick.kinds == twin.kinds and quick.sensor == twin.sensor


@pytest.mark.parametrize("name", ["OS-0-32-U1_v2.2.0_1024x10", "OS-1-128_v2.3.0_1024x10_lb_n3"])
def test_real_units(name: str) -> None:
    path = recorded(f"ouster/{name}.pcap")
    found = read_firings(path)
    scans = list(read_ouster(path))
    xyz = np.concatenate([scan.xyz()[:, scan.status > 0].transpose(1, 0, 2).reshape(-1, 3) for scan in scans])
    hit = np.isfinite(found.ranges[:, 0])
    np.testing.assert_array_equal(hit, np.any(xyz != 0, axis=1))
    np.testing.assert_allclose((found.origins + found.directions * found.ranges[:, :1])[hit], xyz[hit], atol=1e-9)
    assert len(found) == sum(int((scan.status > 0).sum()) for scan in scans) * scans[0].unit.lasers
    # The recorder's clock, though the sensor counted from when it was switched on.
    assert abs(found.times - read_datagrams(path).times[0]).max() < 1.0
    rise = [np.median(found.directions[found.rings == ring, 2]) for ring in range(scans[0].unit.lasers)]
    assert (np.diff(rise) > 0).all()


def test_metadata_is_needed_and_may_be_named(tmp_path: Path) -> None:
    sensor = load_sensor("os1-32")
    with open_recording(tmp_path / "run.pcap", sensor) as run:
        run.write(gappy_frame(sensor, 0, np.random.default_rng(0))[0])
    good = read_firings(tmp_path / "run.pcap")
    (tmp_path / "run.json").rename(tmp_path / "unit of mine.json")
    with pytest.raises(
        InputError, match=r"Ouster's packets need the metadata of their unit; lay it beside as run\.json"
    ):
        read_firings(tmp_path / "run.pcap")
    for model in (str(tmp_path / "unit of mine.json"), "os1-32"):
        np.testing.assert_array_equal(read_firings(tmp_path / "run.pcap", model=model).ranges, good.ranges)
    with pytest.raises(InputError, match="is it the metadata of this recording"):
        read_firings(tmp_path / "run.pcap", model="os1-128")


def test_a_column_that_is_told_twice_in_a_row_counts_once(tmp_path: Path) -> None:
    sensor = load_sensor("os1-32-rev7")
    with open_recording(tmp_path / "run.pcap", sensor) as run:
        run.write(gappy_frame(sensor, 0, np.random.default_rng(0))[0])
    unit = read_unit(tmp_path / "run.json")
    found = read_datagrams(tmp_path / "run.pcap")
    data = found.select(found.port == 7502)
    payloads, column = data.payloads().copy(), 12 + 32 * 12
    # The second column of a packet says that it is the first: of the two the later one counts.
    payloads[3, 32 + column + 8 : 32 + column + 10] = payloads[3, 32 + 8 : 32 + 10]
    with (tmp_path / "twice.pcap").open("wb") as file:
        CaptureWriter(file).write(Flow(payloads, data.times, 7502))
    twice = read_firings(tmp_path / "twice.pcap", model=str(tmp_path / "run.json"), say=lambda note: None)
    whole = read_firings(tmp_path / "run.pcap")
    assert len(twice) == len(whole) - unit.lasers
    at, lasers = 48 * unit.lasers, unit.lasers
    np.testing.assert_array_equal(twice.ranges[at : at + lasers], whole.ranges[at + lasers : at + 2 * lasers])
    np.testing.assert_array_equal(twice.azimuths[at : at + lasers], whole.azimuths[at : at + lasers])


def test_what_follows_from_column_and_laser_is_made_when_asked(tmp_path: Path) -> None:
    sensor = load_sensor("os1-32-rev7")
    with open_recording(tmp_path / "run.pcap", sensor) as run:
        run.write(gappy_frame(sensor, 0, np.random.default_rng(0))[0])
    found = read_firings(tmp_path / "run.pcap")
    assert "directions" not in vars(found) and len(found) == len(found.ranges)
    assert found.directions is found.directions and "origins" not in vars(found)
    part = found.select(found.rings == 3)
    assert len(part) == 1024 and (part.lasers == part.lasers[0]).all() and part.complete


@pytest.mark.parametrize(
    ("gone", "twice", "swapped", "says"),
    [
        ([70, 80, 81], [], [], ["48 columns are missing"]),
        ([5, 63, 64, 190], [], [], ["64 columns are missing"]),  # of the first and the last revolution too
        ([0, 1, 191], [], [], []),  # before and behind what was recorded
        ([], [7, 100], [], ["32 columns came twice"]),
        ([], [], [3, 63, 130], ["3 data packets came in another order than they were sent"]),
        ([90], [20], [10], ["1 data packets came in another order than they were sent", "16 columns came twice",
                            "16 columns are missing"]),
    ],
)  # fmt: skip
def test_what_is_missing_mixed_or_doubled_is_said(
    tmp_path: Path, gone: list[int], twice: list[int], swapped: list[int], says: list[str]
) -> None:
    sensor = load_sensor("os1-32")
    with open_recording(tmp_path / "run.pcap", sensor) as run:
        for number in range(3):
            run.write(gappy_frame(sensor, number, np.random.default_rng(0))[0])
    found = read_datagrams(tmp_path / "run.pcap")
    data = found.select(found.port == 7502)
    order = np.arange(len(data))
    for row in swapped:
        order[[row, row + 1]] = order[[row + 1, row]]
    order = np.repeat(order, np.isin(order, twice) + 1)
    kept = order[~np.isin(order, gone)]
    with (tmp_path / "less.pcap").open("wb") as file:
        CaptureWriter(file).write(Flow(data.payloads()[kept], np.sort(data.times[kept]), 7502))
    unit = read_unit(tmp_path / "run.json")
    notes: list[str] = []
    less = read_firings(tmp_path / "less.pcap", model=str(tmp_path / "run.json"), say=notes.append)
    assert notes == [f"{tmp_path / 'less.pcap'}: {text}" for text in says]
    assert len(less) == (3 * unit.columns - len(gone) * unit.columns_per_packet) * unit.lasers


def test_frame_numbers_by_chance_take_no_memory(tmp_path: Path) -> None:
    """Damaged numbers lie far apart: what is missing between them is counted, not laid out."""
    sensor = load_sensor("os1-32")
    with open_recording(tmp_path / "run.pcap", sensor) as run:
        run.write(gappy_frame(sensor, 0, np.random.default_rng(0))[0])
    found = read_datagrams(tmp_path / "run.pcap")
    data = found.select(found.port == 7502)
    payloads = data.payloads()
    unit = read_unit(tmp_path / "run.json")
    for row in range(len(payloads)):
        for column in range(unit.columns_per_packet):
            at = column * (20 + 12 * unit.lasers) + 10
            payloads[row, at : at + 2] = np.array([row * 32_000 % 65_536], "<u2").view(np.uint8)
    with (tmp_path / "far.pcap").open("wb") as file:
        CaptureWriter(file).write(Flow(payloads, data.times, 7502))
    notes: list[str] = []
    far = read_firings(tmp_path / "far.pcap", model=str(tmp_path / "run.json"), say=notes.append)
    frames = len(payloads)
    assert len(far) == frames * unit.columns_per_packet * unit.lasers
    between = frames * (unit.columns - unit.columns_per_packet)
    assert [note.partition(": ")[2] for note in notes] == [
        f"{between} columns are missing", f"{(frames - 1) * 31_999} revolutions are missing",
    ]  # fmt: skip
