"""Captures of Hesai's and Livox's sensors as `read_firings` and what builds on it take them: whole, damaged, mixed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from made_frames import made_frame
from tussock.datasets.recordings import open_recordings
from tussock.errors import InputError
from tussock.learn.readers.read_pulses import load_pulses
from tussock.sensors.catalogue import load_sensor
from tussock.wire.captures.capture_writer import CaptureWriter, Flow
from tussock.wire.families import open_encoder
from tussock.wire.packets import EPOCH, Packets
from tussock.wire.read_firings import read_firings

NAMES = ["xt32", "pandar64", "qt128", "pandar128", "livox-mid-360", "livox-avia"]


def packets_of(name: str, frames: int = 1) -> Packets:
    sensor = load_sensor(name)
    encoder = open_encoder(sensor)
    sent = [encoder.encode(made_frame(sensor, k, seed=k))["data"] for k in range(frames)]
    return Packets.joined([*sent, encoder.flush()["data"]])


def write(path: Path, *flows: Packets, rows: np.ndarray | None = None) -> Path:
    """A capture of several senders, who send to ports of their own; ``rows`` chooses and orders the packets."""
    with path.open("wb") as file:
        told = []
        for number, packets in enumerate(flows):
            chosen = np.arange(len(packets)) if rows is None else rows
            times = EPOCH + packets.times[np.minimum(np.arange(len(chosen)), len(packets) - 1)]
            told.append(Flow(packets.payloads[chosen], times, 2368 + number))
        CaptureWriter(file).write(*told)
    return path


@pytest.mark.parametrize("name", NAMES)
def test_mixed_up_doubled_lost_and_damaged_packets(name: str, tmp_path: Path) -> None:
    packets = packets_of(name)
    whole = read_firings(write(tmp_path / "a.pcap", packets))
    order = np.arange(len(packets))
    order[[10, 11]] = order[[11, 10]]
    notes: list[str] = []
    mixed = write(tmp_path / "b.pcap", packets, rows=np.insert(order, 20, order[20]))
    same = read_firings(mixed, say=notes.append)
    np.testing.assert_array_equal(same.ranges, whole.ranges)
    np.testing.assert_allclose(same.directions, whole.directions, atol=1e-6)
    assert (
        len(notes) == 2
        and "1 data packets came in another order" in notes[0]
        and "1 data packets came twice" in notes[1]
    )
    notes.clear()
    fewer = read_firings(write(tmp_path / "c.pcap", packets, rows=np.delete(order, [30, 31, 50])), say=notes.append)
    assert len(fewer) < len(whole) and any("3 data packets are missing" in note for note in notes)
    if name in ("xt32", "pandar64", "livox-avia"):
        return  # no checksums
    notes.clear()
    damaged = Packets(packets.payloads.copy(), packets.times)
    damaged.payloads[[5, 9], 200] ^= 1
    read_firings(write(tmp_path / "d.pcap", damaged), say=notes.append)
    assert any("2 data packets have a wrong checksum and are left out" in note for note in notes)


def test_units_makes_and_models(tmp_path: Path) -> None:
    xt32, qt128, velodyne = packets_of("xt32"), packets_of("qt128"), packets_of("vlp-16")
    two = write(tmp_path / "two.pcap", xt32, xt32)
    with pytest.raises(InputError, match=r"holds packets of 2 units, .*; choose one with --unit"):
        read_firings(two)
    assert len(read_firings(two, unit="192.168.1.201:2369")) == len(read_firings(write(tmp_path / "x.pcap", xt32)))
    with pytest.raises(InputError, match=r"model: must send the packets of a pandar-xt32"):
        read_firings(tmp_path / "x.pcap", model="qt128")
    with pytest.raises(InputError, match=r"holds no packets of it, got 'livox-mid-360'|holds no packets of it"):
        read_firings(tmp_path / "x.pcap", model="livox-mid-360")
    both = write(tmp_path / "both.pcap", velodyne, qt128)
    with pytest.raises(InputError, match=r"holds packets of Velodyne and Hesai; name the model with --model"):
        read_firings(both)
    assert read_firings(both, model="qt128").sensor == "qt128"
    assert read_firings(both, model="vlp-16").sensor == "vlp-16"
    strange = Packets(xt32.payloads.copy(), xt32.times)
    strange.payloads[:, 2] = 99
    with pytest.raises(InputError, match=r"holds packets of a Hesai that is not known \(they begin ee ff 63 01"):
        read_firings(write(tmp_path / "new.pcap", strange))


@pytest.mark.parametrize("name", NAMES)
def test_pulses_and_frames(name: str, tmp_path: Path) -> None:
    path = write(tmp_path / "a.pcap", packets_of(name, 2))
    pulses = load_pulses(path)
    # Where a pulse of a Livox without return went its packets do not say.
    assert pulses.complete == (not name.startswith("livox")) and pulses.hit.all() == name.startswith("livox")
    assert set(np.unique(pulses.turns)) >= {0, 1}
    frames = open_recordings([path])
    assert sum(len(frame.select(frame.hit)) for frame in frames) == int(pulses.hit.sum())
