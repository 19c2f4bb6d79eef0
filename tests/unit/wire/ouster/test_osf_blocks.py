"""OSF files block by block, and what the SDK is handed; which metadata lies beside a capture, which packets are the unit's."""

from __future__ import annotations

import json
import struct
import zlib
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from made_captures import Sent, pcap, records_of
from made_frames import made_frame
from tussock.errors import InputError
from tussock.sensors.catalogue import load_sensor
from tussock.wire.captures.datagrams import read_datagrams
from tussock.wire.ouster import osf
from tussock.wire.ouster.encode import OusterEncoder
from tussock.wire.ouster.metadata import metadata
from tussock.wire.ouster.models import unit_of
from tussock.wire.ouster.osf import _check_blocks, open_osf, read_osf
from tussock.wire.ouster.read import lidar_datagrams, metadata_beside, ouster_imu, read_ouster


def block(body: bytes) -> bytes:
    """Length, as many bytes, and the CRC-32 of both."""
    whole = struct.pack("<I", len(body)) + body
    return whole + struct.pack("<I", zlib.crc32(whole))


LONG = bytes(range(256)) * (2**21 // 256) + b"some more than two pieces of a mebibyte"


@pytest.mark.parametrize("bodies", [[], [b""], [b"a"], [b"abc", b"", b"d" * 999], [LONG, b"end"]])
def test_a_file_is_a_row_of_blocks(tmp_path: Path, bodies: list[bytes]) -> None:
    path = tmp_path / "a.osf"
    path.write_bytes(b"".join(map(block, bodies)))
    _check_blocks(path)


def test_a_file_that_was_cut_or_damaged_is_not_given_to_the_sdk(tmp_path: Path) -> None:
    path, whole = tmp_path / "a.osf", block(b"first") + block(b"second")
    for cut in (1, 3, 4, 5, len(block(b"second")) - 1, len(whole) - 1):
        path.write_bytes(whole[:-cut])
        with pytest.raises(InputError, match="its blocks do not fill it; it was cut or damaged"):
            _check_blocks(path)
    for more in (b"x", b"\0\0\0", b"\0" * 7):
        path.write_bytes(whole + more)
        with pytest.raises(InputError, match="its blocks do not fill it"):
            _check_blocks(path)
    for at in (4, 8, 9, 12):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(InputError, match="the checksum of the block at byte 0 is wrong"):
            _check_blocks(path)
    path.write_bytes(whole[:-1] + b"\0")
    with pytest.raises(InputError, match="the checksum of the block at byte 13 is wrong"):
        _check_blocks(path)
    with pytest.raises(InputError, match="no such file"):
        list(read_osf(tmp_path / "gone.osf"))


class Core:
    """What of the SDK is used, as far as a recording shows it."""

    def __init__(self) -> None:
        self.saved: list[tuple[int, list[tuple[bytes, int]]]] = []
        self.info = ""
        self.closed = False

    def __call__(self, part: str) -> Any:
        return self

    def SensorInfo(self, text: str) -> str:
        self.info = text
        return text

    def PacketFormat(self, info: str) -> Any:
        return SimpleNamespace(size=OusterEncoder(SENSOR)._layout.packet)

    def LidarFrame(self, info: str) -> list[tuple[bytes, int]]:
        return []

    def FrameBatcher(self, info: str) -> Any:
        return SimpleNamespace(batch=lambda packet, whole: whole.append((packet.buf.tobytes(), packet.host_timestamp)))

    def LidarPacket(self, form: Any) -> Any:
        return SimpleNamespace(buf=np.zeros(form.size, np.uint8), host_timestamp=0)

    def Writer(self, path: str, info: str) -> Any:
        Path(path).write_bytes(b"made")
        return SimpleNamespace(save=lambda stream, whole: self.saved.append((stream, whole)), close=self.close)

    def close(self) -> None:
        self.closed = True


SENSOR = load_sensor("os1-32-rev7").with_(**{"pattern.steps": 512})


def test_what_is_written_into_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A frame a revolution, of our own packets with the Unix times [ns] at which they left."""
    core = Core()
    monkeypatch.setattr(osf, "_load", core)
    encoder, frame = OusterEncoder(SENSOR, epoch=1_700_000_000.5), made_frame(SENSOR, 2, share=0.001)
    with open_osf(tmp_path / "a.osf", encoder) as run:
        run.write(frame)
        with pytest.raises(InputError, match="holds no images"):
            run.write_image("/a", 0.0, np.zeros((2, 2), np.uint8), "a")
        assert not core.closed and not (tmp_path / "a.osf").exists()
    assert (
        core.closed and (tmp_path / "a.osf").read_bytes() == b"made" and json.loads(core.info) == metadata(encoder.unit)
    )
    ((stream, packets),) = core.saved
    sent = OusterEncoder(SENSOR, epoch=1_700_000_000.5).encode(frame)["data"]
    assert stream == 0 and [payload for payload, _ in packets] == [payload.tobytes() for payload in sent.payloads]
    wanted = 1_700_000_000_700_000_000 + 3_125_000 * (1 + np.arange(32))
    assert [time for _, time in packets] == wanted.tolist()


def test_what_is_read_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fields of two dimensions; of several sensors those that have a revolution in a set, as they come."""
    units = [unit_of(SENSOR), replace(unit_of(SENSOR), serial=5)]
    fields = {"RANGE": np.ones((2, 3)), "POSE": np.ones(3), "FLAGS": np.zeros((2, 3))}

    def frame(number: int) -> Any:
        return SimpleNamespace(
            fields=list(fields), field=fields.__getitem__, frame_id=number, timestamp=[1, 2], status=np.array([1, 0], np.int64),
            packet_timestamp=[0] * 5,
        )  # fmt: skip

    class Source(list):  # type: ignore[type-arg]
        def __init__(self, sets: list[list[Any]]) -> None:
            super().__init__(sets)
            self.sensor_info = [SimpleNamespace(to_json_string=lambda u=u: json.dumps(metadata(u))) for u in units]

    sets = Source([[frame(1), None], [None, frame(2)], [frame(3), frame(4)]])
    monkeypatch.setattr(osf, "_load", lambda part: SimpleNamespace(OsfFrameSetSource=lambda path: sets))
    (tmp_path / "a.osf").write_bytes(block(b"x"))
    for scans in (list(read_osf(tmp_path / "a.osf")), list(read_ouster(tmp_path / "a.osf"))):
        assert [(scan.number, scan.unit.serial == 5) for scan in scans] == [
            (1, False),
            (2, True),
            (3, False),
            (4, True),
        ]
        assert set(scans[0].fields) == {"RANGE", "FLAGS"} and scans[0].packets == 5
        assert scans[0].timestamp.tolist() == [1, 2] and scans[0].status.dtype == np.uint32


def test_which_metadata_lies_beside_a_capture(tmp_path: Path) -> None:
    """Of the same name, or the only one whose name the capture's begins with."""
    capture = tmp_path / "run_1_of_2.pcap"
    with pytest.raises(InputError, match=r"lay it beside as run_1_of_2\.json, or name it"):
        metadata_beside(capture)
    (tmp_path / "other.json").touch()
    (tmp_path / "run.json").touch()
    assert metadata_beside(capture) == tmp_path / "run.json"
    (tmp_path / "run_1.json").touch()
    with pytest.raises(InputError, match="need the metadata of their unit"):
        metadata_beside(capture)
    capture.with_suffix(".json").touch()
    assert metadata_beside(capture) == tmp_path / "run_1_of_2.json"


def test_which_packets_of_a_capture_are_the_units(tmp_path: Path) -> None:
    """By their size: of points, of readings, and others."""
    encoder = OusterEncoder(SENSOR.with_(imu={"rate_hz": 50.0}))
    sent = encoder.encode(made_frame(SENSOR, 0, share=0.001))
    path = tmp_path / "a.pcap"

    def write(*payloads: bytes) -> Path:
        sents = [
            Sent(payload, 10**18 + k, port=7502, source=("10.0.0.1", "10.0.0.2")[k % 2])
            for k, payload in enumerate(payloads)
        ]
        path.write_bytes(pcap(records_of(sents, part=1480), nano=True))
        return path

    points, readings = (part.payloads for part in (sent["data"], sent["imu"]))
    found = read_datagrams(
        write(points[0].tobytes(), readings[0].tobytes(), points[1].tobytes(), readings[1].tobytes(), b"x")
    )
    ours = lidar_datagrams(found, encoder.unit)
    assert [ours.payload(row) for row in range(len(ours))] == [points[0].tobytes(), points[1].tobytes()]
    assert len(lidar_datagrams(found, encoder.unit, "10.0.0.1")) == 2
    felt = ouster_imu(path, epoch=encoder.epoch)
    assert felt.time == pytest.approx([0.0, 0.02], abs=1e-9)
    (tmp_path / "mine.json").write_text(json.dumps(metadata(encoder.unit)), encoding="utf-8")
    for scans in (
        list(read_ouster(path, metadata=tmp_path / "mine.json")),
        list(read_ouster(path, metadata=tmp_path / "mine.json", sender="10.0.0.1")),
    ):
        assert [scan.packets for scan in scans] == [2]
    write(*(bytes(size) for size in range(1, 12)))
    with pytest.raises(
        InputError, match=r"must hold packets of 6400 bytes, as its metadata says, got '1, 2, 3, 4, 5, 6, 7, 8'; is it"
    ):
        lidar_datagrams(read_datagrams(path), encoder.unit)
    path.write_bytes(pcap([]))
    with pytest.raises(InputError, match="got 'none'"):
        lidar_datagrams(read_datagrams(path), encoder.unit)
