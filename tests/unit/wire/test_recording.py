"""Runs written to captures: headers, checksums, times, whole or not at all."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from made_frames import made_frame
from tussock.errors import OutputError
from tussock.sensors.catalogue import load_sensor
from tussock.wire.captures.capture_writer import CaptureWriter, Flow
from tussock.wire.captures.datagrams import read_datagrams
from tussock.wire.packets import EPOCH, Packets
from tussock.wire.recording import open_recording
from tussock.wire.velodyne.encode import PacketEncoder


def capture(path: Path, name: str = "vlp-16", frames: int = 2) -> Packets:
    sensor = load_sensor(name)
    encoder = PacketEncoder(sensor)
    packets = Packets.joined([*(encoder.encode(made_frame(sensor, k)) for k in range(frames)), encoder.flush()])
    with path.open("wb") as file:
        CaptureWriter(file).write(Flow(packets.payloads, EPOCH + packets.times, 2368))
    return packets


def ones_complement(data: bytes) -> int:
    """RFC 1071, the slow way."""
    total = 0
    for at in range(0, len(data), 2):
        total += data[at] << 8 | data[at + 1]
        total = (total & 0xFFFF) + (total >> 16)
    return total


def test_headers_and_checksums(tmp_path: Path) -> None:
    packets = capture(tmp_path / "a.pcap")
    data = (tmp_path / "a.pcap").read_bytes()
    assert struct.unpack("<IHHiIII", data[:24]) == (0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    at = 24
    for k, payload in enumerate(packets.payloads):
        seconds, micro, size, whole = struct.unpack_from("<IIII", data, at)
        frame = data[at + 16 : at + 16 + size]
        at += 16 + size
        assert size == whole == 1248
        assert abs(seconds + micro * 1e-6 - EPOCH - packets.times[k]) < 1e-6
        assert frame[:14] == b"\xff" * 6 + bytes.fromhex("607688000000") + b"\x08\x00"
        ip, udp = frame[14:34], frame[34:]
        assert ones_complement(ip) == 0xFFFF
        assert struct.unpack(">BxHHHBB", ip[:10]) == (0x45, 1234, k, 0x4000, 64, 17)
        assert ip[12:] == bytes([192, 168, 1, 201, 255, 255, 255, 255])
        assert struct.unpack(">HHH", udp[:6]) == (2368, 2368, 1214)
        assert ones_complement(ip[12:] + bytes([0, 17]) + udp[4:6] + udp) == 0xFFFF
        assert udp[8:] == payload.tobytes()
    assert at == len(data)


@pytest.mark.parametrize("size", [2, 3, 64, 1206, 3000])
def test_a_checksum_that_comes_out_as_0_is_sent_as_all_ones(size: int, tmp_path: Path) -> None:
    """RFC 768: 0 means that there is none. Two bytes of the payload are chosen so that the sum is 0 in two of three."""
    rng = np.random.default_rng(size)
    payloads = rng.integers(0, 256, (3, size), dtype=np.uint8)
    payloads[:, :2] = 0
    address = bytes([192, 168, 1, 201, 255, 255, 255, 255])
    header = struct.pack(">HHHH", 2368, 2368, 8 + size, 0)
    for payload in payloads[:2]:
        body = payload.tobytes() + bytes(size % 2)
        rest = ones_complement(address + bytes([0, 17]) + header[4:6] + header + body)
        payload[:2] = list(struct.pack(">H", 0xFFFF - rest))
    with (tmp_path / "a.pcap").open("wb") as file:
        CaptureWriter(file).write(Flow(payloads, np.zeros(3), 2368))
    data, at, sums = (tmp_path / "a.pcap").read_bytes(), 24, []
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 8)[0]
        frame = data[at + 16 : at + 16 + length]
        at += 16 + length
        if struct.unpack(">H", frame[20:22])[0] & 0x1FFF == 0:  # the first fragment, or the whole
            sums.append(struct.unpack(">H", frame[40:42])[0])
    assert sums[:2] == [0xFFFF, 0xFFFF] and sums[2] not in (0, 0xFFFF)
    np.testing.assert_array_equal(read_datagrams(tmp_path / "a.pcap").payloads(), payloads)


def test_read_back(tmp_path: Path) -> None:
    packets = capture(tmp_path / "a.pcap")
    found = read_datagrams(tmp_path / "a.pcap")
    np.testing.assert_array_equal(found.payloads(), packets.payloads)
    np.testing.assert_allclose(found.times - EPOCH, packets.times, atol=1e-6)


def test_flows_are_merged_in_the_order_of_time(tmp_path: Path) -> None:
    """Payloads of odd size too; at one moment in the order of the flows."""
    rng = np.random.default_rng(0)
    flows = [
        Flow(rng.integers(0, 256, (40, size), dtype=np.uint8), np.sort(rng.integers(0, 30, 40)) * 0.1, port)
        for size, port in ((1206, 2368), (77, 8308), (1, 7503))
    ]
    with (tmp_path / "a.pcap").open("wb") as file:
        CaptureWriter(file, source="10.0.0.1", destination="10.0.0.2").write(*flows)
    found = read_datagrams(tmp_path / "a.pcap")
    assert [str(sender) for sender in found.senders()] == [
        "10.0.0.1:2368>2368", "10.0.0.1:7503>7503", "10.0.0.1:8308>8308"
    ]  # fmt: skip
    assert (np.diff(found.time_ns) >= 0).all()
    order = {flow.port: number for number, flow in enumerate(flows)}
    same = np.diff(found.time_ns) == 0
    assert same.any() and (np.diff([order[int(port)] for port in found.port])[same] >= 0).all()
    for flow in flows:
        mine = found.select(found.port == flow.port)
        np.testing.assert_array_equal(mine.payloads(), flow.payloads)
        np.testing.assert_allclose(mine.times, flow.times, atol=1e-6)


def test_a_run_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    sensor = load_sensor("vlp-16")
    path = tmp_path / "run.pcap"
    with pytest.raises(ZeroDivisionError), open_recording(path, sensor) as run:
        run.write(made_frame(sensor, 0))
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
    with open_recording(path, sensor) as run:
        for number in range(3):
            run.write(made_frame(sensor, number))
    found = read_datagrams(path)
    assert (found.port == 2368).sum() == 227
    positions = found.select(found.port == 8308)
    assert 141 <= 1 / np.diff(positions.times).mean() <= 146 and len(positions) == 43  # as recorded VLP-16 do
    assert (np.diff(found.time_ns) >= 0).all()
    with pytest.raises(OutputError, match="exists already"), open_recording(path, sensor):
        pass


def test_the_same_run_gives_the_same_bytes(tmp_path: Path) -> None:
    sensor = load_sensor("hdl-64e-s3")
    for name in ("a.pcap", "b.pcap"):
        with open_recording(tmp_path / name, sensor) as run:
            run.write(made_frame(sensor, 0))
    assert (tmp_path / "a.pcap").read_bytes() == (tmp_path / "b.pcap").read_bytes()


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full: run it on Linux")
    sensor = load_sensor("vlp-16")
    with pytest.raises(OSError) as caught, Path("/dev/full").open("wb") as file:
        packets = PacketEncoder(sensor).encode(made_frame(sensor))
        CaptureWriter(file).write(Flow(packets.payloads, EPOCH + packets.times, 2368))
    assert caught.value.errno == 28
    full = pytest.raises(OutputError, match=r"run\.pcap: cannot be written \(no space left on the disk\)")
    with full, open_recording(tmp_path / "run.pcap", sensor) as run:
        run.write(made_frame(sensor))
        raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []
