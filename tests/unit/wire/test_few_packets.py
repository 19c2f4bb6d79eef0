"""A few packets of every model and mode, cut out of a revolution: each of their pulses is as the sensor fired it.

The round trips beside this one go through whole revolutions, gaps and losses; these are so short that they run without
being compiled too.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from made_captures import crc32_of_mpeg2
from made_frames import made_frame
from tussock.frames.frame import Frame
from tussock.return_modes import KINDS
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.ouster_unit import OusterUnit
from tussock.sensors.sensor import Sensor
from tussock.wire.captures.capture_writer import CaptureWriter, Flow
from tussock.wire.families import family_of, open_encoder
from tussock.wire.firings import Firings
from tussock.wire.hesai import encode
from tussock.wire.ouster.metadata import metadata
from tussock.wire.packets import EPOCH, Packets
from tussock.wire.read_firings import read_firings

Cut = tuple[int, int]
"""the first packet that is kept, and how many"""


def fired(sensor: Sensor, number: int, cut: Cut, *, share: float = 0.7) -> tuple[Frame, Packets]:
    """A revolution of which little more than some packets has returns, and those packets."""
    mode = str(sensor.receiver.mode)
    encoder = open_encoder(sensor)
    per_frame = encoder.packets_per_second * sensor.frame_period
    frame = made_frame(sensor, number, returns="dual" if "+" in mode else mode, seed=number, share=share)  # type: ignore[arg-type]
    begin, end = (frame.pulses * place / per_frame for place in (cut[0] - 1, sum(cut) + 1))
    frame = frame.select((frame.pulse >= begin) & (frame.pulse < end))
    sent = [encoder.encode(frame)["data"], encoder.flush()["data"]]
    packets = Packets.joined([part for part in sent if len(part)])
    rows = slice(cut[0], sum(cut))
    return frame, Packets(packets.payloads[rows], packets.times[rows])


def read(path: Path, packets: Packets, sensor: Sensor, model: str | None, *, late: float = 0.0) -> Firings:
    with path.open("wb") as file:
        CaptureWriter(file).write(Flow(packets.payloads, EPOCH + late + packets.times, family_of(sensor).ports["data"]))
    notes: list[str] = []
    found = read_firings(path, model=model, say=notes.append)
    # The calibration and the mode of an HDL-64E take more packets than these.
    assert notes == []
    return found


def check(found: Firings, sensor: Sensor, frame: Frame, number: int, *, late: float = 0.0, step: float = 2e-3) -> None:
    """Every pulse that was read was fired, at its moment, by its laser, whereto and with what came back; none twice."""
    pulses = sensor.pulses(number)
    begin = number * sensor.frame_period
    order = np.argsort(pulses.offsets, kind="stable")
    firing = np.rint((begin + pulses.offsets) * 1e8).astype(np.int64)
    when = np.rint((found.times - EPOCH - late) * 1e8).astype(np.int64)
    of_laser = {int(laser): order[pulses.lasers[order] == laser] for laser in np.unique(pulses.lasers)}
    rows = np.empty(len(found), np.int64)
    for laser in np.unique(found.lasers):
        mine, own = np.flatnonzero(found.lasers == laser), of_laser[int(laser)]
        place = np.clip(np.searchsorted(firing[own], when[mine]), 1, len(own) - 1)
        nearer = np.abs(firing[own[place - 1]] - when[mine]) < np.abs(firing[own[place]] - when[mine])
        rows[mine] = own[place - nearer]
    assert np.abs(firing[rows] - when).max() <= 300, "3 µs"
    assert len(np.unique(rows)) == len(rows)
    rings = np.argsort(np.argsort(sensor_elevations(sensor), kind="stable"), kind="stable")
    assert found.rings.tolist() == rings[found.lasers].tolist()
    azimuth = np.angle(np.exp(1j * (found.azimuths - pulses.azimuths[rows])))
    assert np.rad2deg(np.abs(azimuth)).max() < 0.0051 + 0.003
    assert np.arcsin(found.directions[:, 2]) == pytest.approx(pulses.elevations[rows], abs=1e-6)
    seen = np.angle(np.exp(1j * (np.arctan2(found.directions[:, 1], found.directions[:, 0]) - found.azimuths)))
    assert np.abs(seen).max() < 1e-9 and np.abs(np.linalg.norm(found.directions, axis=1) - 1).max() < 1e-12
    if pulses.origins is not None and len(pulses.origins):
        assert found.origins == pytest.approx(pulses.origins[rows], abs=2e-4)
    mode = str(sensor.receiver.mode)
    wanted = ("strongest", "last") if mode == "strongest+last" else (mode,)
    for column, kind in enumerate(found.kinds):
        meant = wanted[column] if kind == "echo" or len(found.kinds) == 1 else kind
        told = frame.return_kind == KINDS.index(meant)
        if len(wanted) == 2 and kind != "echo":  # of one return most makes send two of a kind
            told |= frame.return_count == 1
        reach, bright = np.full(frame.pulses, np.nan), np.zeros(frame.pulses)
        reach[frame.pulse[told]], bright[frame.pulse[told]] = frame.range[told], frame.intensity[told]
        assert np.isfinite(found.ranges[:, column]).tolist() == np.isfinite(reach[rows]).tolist(), kind
        assert found.ranges[:, column] == pytest.approx(reach[rows], abs=0.55 * step, nan_ok=True), kind
        assert found.intensity[:, column] == pytest.approx(bright[rows], abs=0.0052), kind


def sensor_elevations(sensor: Sensor) -> np.ndarray:
    return np.asarray(sensor.pattern.elevation_deg)  # type: ignore[union-attr]


@pytest.mark.parametrize("mode", ["strongest", "last", "strongest+last"])
@pytest.mark.parametrize("name", ["vlp-16", "puck-hi-res", "hdl-32e", "vlp-32c", "vls-128", "vls-128-recorded"])
def test_packets_of_a_velodyne(tmp_path: Path, name: str, mode: str) -> None:
    """Those of an HDL-64E need the table that it sends over seconds."""
    start = -33.3 if "32" in name else 200.0
    sensor = load_sensor(name).with_(**{"receiver.mode": mode, "pattern.start_deg": start})
    frame, packets = fired(sensor, 2, (3, 3))
    found = read(tmp_path / "a.pcap", packets, sensor, None)
    assert found.kinds == tuple(mode.split("+")) and found.sensor in (name, sensor.packets)
    lasers = sensor.lasers
    assert len(found) == 3 * lasers * (384 // lasers // (2 if "+" in mode else 1)) and set(found.turns.tolist()) == {0}
    check(found, sensor, frame, 2)


@pytest.mark.parametrize("mode", ["strongest", "last", "strongest+last"])
@pytest.mark.parametrize("name", ["xt32", "pandar64", "qt128", "pandar128"])
def test_packets_of_a_hesai(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, mode: str) -> None:
    """What is written has checksums that were made another way than those that are compared with them."""
    monkeypatch.setattr(encode, "mpeg_crc32", crc32_of_mpeg2)
    sensor = load_sensor(name).with_(**{"receiver.mode": mode, "pattern.start_deg": 75.0})
    frame, packets = fired(sensor, 3, (4, 3))
    found = read(tmp_path / "a.pcap", packets, sensor, None)
    assert found.kinds == tuple(mode.split("+")) and found.sensor == name
    check(found, sensor, frame, 3)


@pytest.mark.parametrize(
    ("name", "packets", "mode"),
    [
        ("os1-32", "ouster-legacy", "last"),
        ("os1-32-rev7", "ouster-rng19", "strongest"),
        ("os1-32-rev7", "ouster-rng19", "strongest+last"),
        ("os1-32-rev7", "ouster-rng15", "last"),
        ("os1-32-rev7", "ouster-rng15", "strongest+last"),
    ],
)
def test_packets_of_an_ouster(tmp_path: Path, name: str, packets: str, mode: str) -> None:
    sensor = load_sensor(name).with_(**{"packets": packets, "receiver.mode": mode, "pattern.steps": 512})
    frame, sent = fired(sensor, 5, (6, 2))
    encoder = open_encoder(sensor)
    unit: OusterUnit = encoder.unit  # type: ignore[attr-defined]
    (tmp_path / "a.json").write_text(json.dumps(metadata(unit)), encoding="utf-8")
    found = read(tmp_path / "a.pcap", sent, sensor, None)
    assert len(found) == 2 * 16 * sensor.lasers and set(found.turns.tolist()) == {0}
    assert found.kinds == (("strongest", "echo") if "+" in mode else ("strongest",))
    check(found, sensor, frame, 5, step=8e-3 if packets == "ouster-rng15" else 2e-3)


@pytest.mark.parametrize("late", [0.0, 3.5, 1e6])
@pytest.mark.parametrize("name", ["vlp-16", "xt32"])
def test_times_are_by_the_recorders_clock(tmp_path: Path, name: str, late: float) -> None:
    """Velodyne's stamps know no date; a Hesai's clock that is less than 4 s from the recorder's is believed."""
    sensor = load_sensor(name)
    frame, packets = fired(sensor, 1, (3, 3))
    found = read(tmp_path / "a.pcap", packets, sensor, None, late=late)
    check(found, sensor, frame, 1, late=0.0 if name == "xt32" and late < 4 else late)


@pytest.mark.parametrize(
    ("name", "mode"), [("xt32", "strongest"), ("vlp-16", "strongest"), ("vlp-32c", "strongest+last")]
)
def test_one_packet_alone_knows_its_rate_by_itself(tmp_path: Path, name: str, mode: str) -> None:
    sensor = load_sensor(name).with_(**{"receiver.mode": mode})
    frame, packets = fired(sensor, 1, (5, 1))
    check(read(tmp_path / "a.pcap", packets, sensor, None), sensor, frame, 1)


@pytest.mark.parametrize("name", ["xt32", "vlp-16"])
def test_a_head_that_turns_into_the_next_revolution(tmp_path: Path, name: str) -> None:
    """The turn of a recording changes 360° behind its first pulse, not where the azimuth begins anew."""
    sensor = load_sensor(name).with_(**{"rotation_hz": 20.0, "pattern.start_deg": 90.0})
    _, packets = fired(sensor, 1, (0, 0), share=0.0)
    assert len(packets) == 0
    encoder = open_encoder(sensor)
    frames = [made_frame(sensor, number, share=0.0) for number in range(2)]
    sent = Packets.joined([encoder.encode(frame)["data"] for frame in frames])
    per_turn = encoder.packets_per_second / 20.0
    kept = [0, 1, int(per_turn / 3), int(per_turn * 2 / 3), int(per_turn) - 1, int(per_turn) + 2]
    found = read_some(tmp_path / "a.pcap", Packets(sent.payloads[kept], sent.times[kept]), sensor)
    turns = found.turns.reshape(len(kept), -1)
    assert [sorted(set(row.tolist())) for row in turns] == [[0]] * 5 + [[1]]


def read_some(path: Path, packets: Packets, sensor: Sensor) -> Firings:
    with path.open("wb") as file:
        CaptureWriter(file).write(Flow(packets.payloads, EPOCH + packets.times, family_of(sensor).ports["data"]))
    return read_firings(path, say=lambda note: None)
