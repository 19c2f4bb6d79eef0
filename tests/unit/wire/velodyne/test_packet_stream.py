"""Captures that are damaged, mixed, mislabelled or of a part of the circle: each read right, or refused in one line."""

from __future__ import annotations

import struct
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest

from gappy_frames import gappy_frame
from made_captures import Record, Sent, frames_of, pcap, pcapng, records_of
from tussock.errors import InputError
from tussock.sensors.catalogue import load_sensor
from tussock.wire.captures.datagrams import read_datagrams
from tussock.wire.firings import Firings
from tussock.wire.packets import EPOCH
from tussock.wire.read_firings import read_firings
from tussock.wire.recording import open_recording

HOUR = 1_735_689_600_000_000_000  # [ns] a full hour, the encoder's epoch


def sents(name: str = "vlp-16", frames: int = 2, *, mode: str = "strongest", seed: int = 0, **sensor) -> list[Sent]:
    """The packets of some frames, as datagrams."""
    unit = load_sensor(name).with_(**{"receiver.mode": mode} | sensor)
    rng = np.random.default_rng(seed)
    with TemporaryDirectory() as folder:
        with open_recording(Path(folder) / "run.pcap", unit) as run:
            for number in range(frames):
                run.write(gappy_frame(unit, number, rng)[0])
        found = read_datagrams(Path(folder) / "run.pcap")
        found = found.select(found.port == 2368)
        return [Sent(found.payload(row), int(found.time_ns[row])) for row in range(len(found))]


def read(path: Path, made: list[Sent], **options) -> tuple[Firings, list[str]]:
    path.write_bytes(pcap(records_of(made)))
    notes: list[str] = []
    found = read_firings(path, say=notes.append, **options)
    return found, [note.removeprefix(f"{path}: ") for note in notes]


def same(one: Firings, two: Firings) -> None:
    assert len(one) == len(two)
    np.testing.assert_array_equal(one.ranges, two.ranges)
    np.testing.assert_array_equal(one.lasers, two.lasers)
    np.testing.assert_array_equal(one.turns, two.turns)
    np.testing.assert_allclose(one.azimuths, two.azimuths, atol=1e-5)
    np.testing.assert_allclose(one.times, two.times, atol=1e-5)


@pytest.mark.parametrize("mode", ["strongest", "strongest+last"])
def test_mixed_up_and_doubled_packets(tmp_path: Path, mode: str) -> None:
    """By the network, with times in order, or in the file, with times out of order: the sensor's clock tells."""
    made = sents(mode=mode)
    good, notes = read(tmp_path / "a.pcap", made)
    assert notes == []
    rng = np.random.default_rng(1)
    # Each packet at most five places from its own.
    order = np.argsort(np.arange(len(made)) + rng.uniform(0, 5, len(made)))
    most = np.maximum.accumulate(order)
    late = int((order < most).sum())
    mixed = [replace(made[k], time_ns=made[n].time_ns) for n, k in enumerate(order)]
    found, notes = read(tmp_path / "a.pcap", mixed)
    same(found, good)
    assert notes == [f"{late} packets came out of order and are put in order"]
    found, notes = read(tmp_path / "a.pcap", [made[k] for k in order])
    same(found, good)
    assert notes[1:] == [f"{late} packets came out of order and are put in order"]
    assert notes[0].endswith("datagrams were recorded with a time before that of an earlier one")
    doubled = [sent for k, sent in enumerate(made) for _ in range(2 if k % 3 == 0 else 1)]
    found, notes = read(tmp_path / "a.pcap", doubled)
    same(found, good)
    assert notes == [f"{len(doubled) - len(made)} packets were recorded twice"]


def test_missing_packets_are_counted_and_not_taken_for_misses(tmp_path: Path) -> None:
    made = sents()
    good, _ = read(tmp_path / "a.pcap", made)
    kept = [k for k in range(len(made)) if k not in (3, 4, 5, 17, 60, 61, 90)]
    found, notes = read(tmp_path / "a.pcap", [made[k] for k in kept])
    assert notes == [f"7 packets are missing, of {len(made)}"]
    per_packet = len(good) // len(made)
    rows = np.concatenate([np.arange(k * per_packet, (k + 1) * per_packet) for k in kept])
    same(found, good.select(rows))


def test_a_stream_over_the_full_hour_and_a_clock_that_is_set(tmp_path: Path) -> None:
    made = sents()
    good, _ = read(tmp_path / "a.pcap", made)

    def stamped(sent: Sent, by: int) -> Sent:
        (stamp,) = struct.unpack_from("<I", sent.payload, 1200)
        later = struct.pack("<I", (stamp + by) % 3_600_000_000)
        return replace(sent, payload=sent.payload[:1200] + later + sent.payload[1204:])

    found, notes = read(tmp_path / "a.pcap", [stamped(sent, 3_600_000_000 - 60_000) for sent in made])
    same(found, good)
    assert notes == []
    jumped = [stamped(sent, 0 if k < 70 else 1_234_567_890) for k, sent in enumerate(made)]
    found, notes = read(tmp_path / "a.pcap", jumped)
    same(found, good)
    assert notes == ["1 times the sensor's clock jumped"]


def test_the_recorder_s_clock_drifts_and_stutters(tmp_path: Path) -> None:
    """Times follow the recorder's clock over seconds, and are as even as the sensor's between."""
    made = sents(frames=12)
    rng = np.random.default_rng(0)
    slow = [
        replace(sent, time_ns=HOUR + round((sent.time_ns - HOUR) * (1 + 1e-4)) + int(rng.exponential(20_000)))
        for sent in made
    ]
    found, _ = read(tmp_path / "a.pcap", slow)
    good, _ = read(tmp_path / "a.pcap", made)
    expected = EPOCH + (good.times - EPOCH) * (1 + 1e-4)
    assert np.abs(found.times - expected).max() < 1e-4
    assert np.abs(np.diff(found.times) - np.diff(good.times)).max() < 1e-6


@pytest.mark.parametrize(("name", "mode"), [("hdl-32e", "strongest"), ("vls-128", "last"), ("vlp-16", "strongest")])
def test_a_part_of_the_circle(tmp_path: Path, name: str, mode: str) -> None:
    """Set to a field of view a Velodyne sends nothing outside of it, and goes on in the same packet: nothing is lost."""
    sensor = load_sensor(name).with_(**{"receiver.mode": mode})
    whole = sents(name, 3, mode=mode)
    good, _ = read(tmp_path / "a.pcap", whole)
    raw = np.frombuffer(b"".join(sent.payload for sent in whole), np.uint8).reshape(-1, 1206)
    lasers = sensor.lasers
    blocks = max(1, lasers // 32)  # of a cycle; two cycles of a VLP-16 share one
    chunk = blocks * 100
    body = raw[:, :1200].reshape(-1, chunk)
    azimuth = body[:, 2:4].copy().view("<u2")[:, 0]
    kept = np.flatnonzero((azimuth >= 30_000) | (azimuth < 12_345))
    per_packet = 1200 // chunk
    kept = kept[: len(kept) // per_packet * per_packet]
    cycles = (2 if lasers == 16 else 1) * kept
    stamps = np.floor(cycles * float(sensor.pattern.cycle) * 1e6 + (6.46 if name == "vls-128" else 0) + 0.5)
    made = []
    for k in range(0, len(kept), per_packet):
        payload = body[kept[k : k + per_packet]].tobytes() + struct.pack("<I", int(stamps[k])) + raw[0, 1204:].tobytes()
        last = int(stamps[k + per_packet - 1])
        made.append(Sent(payload, HOUR + 1000 * (last + round(float(sensor.pattern.cycle) * 1e6))))
    found, notes = read(tmp_path / "a.pcap", made)
    assert notes == []
    rows = (kept[:, None] * (32 if lasers == 16 else lasers) + np.arange(max(32, lasers))).ravel()
    wanted = good.select(rows)
    np.testing.assert_array_equal(found.ranges, wanted.ranges)
    np.testing.assert_allclose(found.azimuths, wanted.azimuths, atol=2e-5)
    np.testing.assert_allclose(found.times - found.times[0], wanted.times - wanted.times[0], atol=3e-6)
    assert (found.turns != wanted.turns).sum() <= 3 * lasers


def test_a_wrong_model_byte_is_known_by_the_times(tmp_path: Path) -> None:
    made = [replace(sent, payload=sent.payload[:-1] + b"\x21") for sent in sents("vlp-16")]
    with pytest.raises(InputError) as caught:
        read(tmp_path / "a.pcap", made)
    assert str(caught.value) == (
        f"{tmp_path / 'a.pcap'}: the model byte and the times contradict each other: packets of a hdl-32e in mode strongest "
        "leave every 553 µs, but these every 1327 µs, as those of a vlp-16 in mode strongest or last or a puck-hi-res in "
        "mode strongest or last do; name the sensor with --model"
    )
    good, _ = read(tmp_path / "b.pcap", sents("vlp-16"))
    found, notes = read(tmp_path / "a.pcap", made, model="vlp-16")
    same(found, good)
    assert notes == []
    assert read(tmp_path / "a.pcap", made, model="VLP16")[0].sensor == "vlp-16"
    _, notes = read(tmp_path / "b.pcap", sents("vlp-16"), model="hdl-32e")
    assert len(notes) == 1 and notes[0].endswith("read as a hdl-32e, as told")


def test_a_wrong_mode_byte_is_known_by_the_times(tmp_path: Path) -> None:
    made = [replace(sent, payload=sent.payload[:-2] + b"\x37\x22") for sent in sents("vlp-16", mode="strongest+last")]
    with pytest.raises(InputError, match=r"vlp-16 in mode strongest leave every 1327 µs, but these every 664 µs"):
        read(tmp_path / "a.pcap", made)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda p, k: p[:-1] + b"\x77", "factory bytes of packet 0: the second must be 21 hdl-32e, 22 vlp-16"),
        (lambda p, k: p[:-2] + b"\x11\x22", "packet 0: the first, return mode, must be 37, 38 or 39, got 11 22"),
        (lambda p, k: p[:-1] + b"\x28" if k % 2 else p, "must be of one sensor, got 'vlp-16 and vlp-32c'"),
        (lambda p, k: p[:-2] + b"\x38\x22" if k > 40 else p, "mode changes from strongest to last at packet 41"),
        (lambda p, k: p[:100] + b"\xff\xdd" + p[102:], "its blocks are not those of a vlp-16 in mode strongest"),
        (lambda p, k: p[:700], "must hold Velodyne packets of 1206 bytes, but holds only 151 of 700 bytes"),
    ],
)
def test_packets_that_nobody_sends(tmp_path: Path, change, says: str) -> None:
    made = [replace(sent, payload=change(sent.payload, k)) for k, sent in enumerate(sents())]
    with pytest.raises(InputError, match=says) as caught:
        read(tmp_path / "a.pcap", made)
    assert "a.pcap" in str(caught.value) and "\n" not in str(caught.value)


def test_some_packets_are_cut_or_have_other_blocks(tmp_path: Path) -> None:
    made = sents()
    good, _ = read(tmp_path / "a.pcap", made)
    made[7] = replace(made[7], payload=made[7].payload[:600])
    made[9] = replace(made[9], payload=made[9].payload[:100] + b"\xff\xdd" + made[9].payload[102:])
    found, notes = read(tmp_path / "a.pcap", made)
    assert len(found) == len(good) - 2 * 384
    assert notes == [
        f"1 of {len(made)} data packets do not have 1206 bytes and are left out",
        "1 packets do not have the blocks of a vlp-16 and are left out",
        f"2 packets are missing, of {len(made)}",
    ]


def test_a_capture_that_was_cut_or_shortened(tmp_path: Path) -> None:
    made = sents()
    data = pcap(records_of(made))
    (tmp_path / "a.pcap").write_bytes(data[:-300])
    notes: list[str] = []
    found = read_firings(tmp_path / "a.pcap", say=notes.append)
    assert len(found) == (len(made) - 1) * 384
    assert notes == [
        f"{tmp_path / 'a.pcap'}: ends in the middle of record {len(made)}; the {len(made) - 1} before it are read"
    ]
    records = [replace(r, recorded=542 if k == 5 else None) for k, r in enumerate(records_of(made))]
    (tmp_path / "a.pcap").write_bytes(pcap(records))
    notes.clear()
    read_firings(tmp_path / "a.pcap", say=notes.append)
    assert [note.split(": ")[1] for note in notes] == [
        "1 datagrams were recorded in part and are left out; record with a longer snap length",
        f"1 packets are missing, of {len(made)}",
    ]


@pytest.mark.parametrize("other", ["address", "port", "interface"])
def test_two_units_in_one_capture(tmp_path: Path, other: str) -> None:
    one, two = sents(seed=1), sents("hdl-32e", seed=2)
    if other != "interface":
        change = {"source": "192.168.1.202"} if other == "address" else {"port": 2369}
        mixed = sorted([*one, *(replace(sent, **change) for sent in two)], key=lambda sent: sent.time_ns)
        path = tmp_path / "two.pcap"
        path.write_bytes(pcap(records_of(mixed)))
    else:
        records = [Record(frames_of(sent)[0], sent.time_ns, k) for k, part in enumerate((one, two)) for sent in part]
        path = tmp_path / "two.pcapng"
        path.write_bytes(pcapng(sorted(records, key=lambda record: record.time_ns), ["ethernet", "ethernet"]))
    with pytest.raises(InputError, match=r"holds packets of 2 units, .* and .*; choose one with --unit") as caught:
        read_firings(path)
    names = [word for word in str(caught.value).replace(",", " ").split() if word.startswith("192.168.1.20")]
    assert len(names) == 2
    models = {read_firings(path, unit=name).sensor: name for name in names}
    assert set(models) == {"vlp-16", "hdl-32e"}
    good, _ = read(tmp_path / "one.pcap", one)
    same(read_firings(path, unit=models["vlp-16"]), good)


def test_a_sensor_of_ones_own(tmp_path: Path) -> None:
    """Its file says where the lasers look; the packets do not."""
    (tmp_path / "mine.toml").write_text(
        'base = "vlp-16"\n[pattern]\nelevation_deg = { first = -20, last = 10, count = 16 }\n'
    )
    made = sents(str(tmp_path / "mine.toml"))
    found, _ = read(tmp_path / "a.pcap", made, model=str(tmp_path / "mine.toml"))
    assert np.rad2deg(np.arcsin(found.directions[:, 2])).min() == pytest.approx(-20)
    with pytest.raises(InputError, match="model 'vlp-17': no such model; did you mean 'vlp-16'"):
        read(tmp_path / "a.pcap", made, model="vlp-17")
    with pytest.raises(InputError, match="sensor lms-111: its packets are not known"):
        read(tmp_path / "a.pcap", made, model="lms-111")


@pytest.mark.parametrize("name", ["hdl-64e-s2", "hdl-64e-s3"])
@pytest.mark.parametrize("mode", ["strongest", "last"])
def test_an_hdl_64e_tells_its_own_calibration(tmp_path: Path, name: str, mode: str) -> None:
    """Over 4160 packets, from any one on, some of them missing: model, mode and angles to the table's step."""
    made = sents(name, 14, mode=mode)[300:]
    assert len(made) > 4160 + 200
    good, _ = read(tmp_path / "a.pcap", made, model=name)
    found, notes = read(tmp_path / "a.pcap", made)
    assert (found.sensor, found.kinds, notes) == (name, (mode,), [])
    np.testing.assert_array_equal(found.ranges, good.ranges)
    sensor = load_sensor(name)
    rise = np.deg2rad(sensor.pattern.elevation_deg)[found.lasers]
    assert np.rad2deg(np.abs(np.arcsin(found.directions[:, 2]) - rise)).max() < 0.0051
    short = [sent for k, sent in enumerate(made[:900]) if k not in (100, 101, 500)]
    with pytest.raises(InputError, match="only an HDL-64E sends others: name it, as --model hdl-64e-s3"):
        read(tmp_path / "a.pcap", short)
    found, notes = read(tmp_path / "a.pcap", short, model=name)
    assert notes == ["3 packets are missing, of 900"]
    wrong = [replace(sent, payload=sent.payload[:-1] + b"\x05") for sent in made[:900]]
    pytest.importorskip("velodyne_decoder", reason="velodyne-decoder is not installed: pip install 'tussock[capture]'")
    _, notes = read(tmp_path / "a.pcap", wrong, model=name)
    assert len(notes) == 1 and "does not hold the whole calibration of its HDL-64E" in notes[0]


def test_one_packet_alone(tmp_path: Path) -> None:
    made = sents()
    good, _ = read(tmp_path / "a.pcap", made)
    found, notes = read(tmp_path / "a.pcap", made[40:41])
    assert len(found) == 384 and notes == []
    part = good.select(slice(40 * 384, 41 * 384))
    np.testing.assert_array_equal(found.ranges, part.ranges)
    np.testing.assert_allclose(found.azimuths, part.azimuths, atol=3e-5)


def test_datagrams_of_a_capture_are_those_sent(tmp_path: Path) -> None:
    made = sents()
    (tmp_path / "a.pcap").write_bytes(pcap(records_of(made)))
    found = read_datagrams(tmp_path / "a.pcap")
    assert [found.payload(row) for row in range(len(found))] == [sent.payload for sent in made]
