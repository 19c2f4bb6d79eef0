"""Captures: headers, checksums, times, and what is wrong with a broken one."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

from made_frames import made_frame
from tussock.errors import InputError, OutputError
from tussock.sensors.catalogue import load_sensor
from tussock.wire.pcap import CaptureWriter, read_capture, read_payloads
from tussock.wire.recording import open_recording
from tussock.wire.velodyne.encode import EPOCH, PacketEncoder, Packets


def capture(path: Path, name: str = "vlp-16", frames: int = 2) -> Packets:
    sensor = load_sensor(name)
    encoder = PacketEncoder(sensor)
    packets = Packets.joined([*(encoder.encode(made_frame(sensor, k)) for k in range(frames)), encoder.flush()])
    with path.open("wb") as file:
        CaptureWriter(file).write(packets, epoch=EPOCH)
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


def test_read_back(tmp_path: Path) -> None:
    packets = capture(tmp_path / "a.pcap")
    payloads, times = read_payloads(tmp_path / "a.pcap")
    np.testing.assert_array_equal(payloads, packets.payloads)
    np.testing.assert_allclose(times - EPOCH, packets.times, atol=1e-6)


@pytest.mark.parametrize("link", ["big endian", "nanoseconds", "vlan", "cooked", "plain ip", "other traffic"])
def test_captures_from_elsewhere(tmp_path: Path, link: str) -> None:
    packets = capture(tmp_path / "a.pcap", frames=1)
    data = (tmp_path / "a.pcap").read_bytes()
    order = ">" if link == "big endian" else "<"
    kind = {"cooked": 113, "plain ip": 101}.get(link, 1)
    magic, tick = (0xA1B23C4D, 1000) if link == "nanoseconds" else (0xA1B2C3D4, 1)
    made = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 65535, kind)]
    for at in range(24, len(data), 1264):
        seconds, micro, _, _ = struct.unpack_from("<IIII", data, at)
        ip = data[at + 30 : at + 1264]
        frame = {
            "vlan": data[at + 16 : at + 28] + bytes.fromhex("8100002a0800") + ip,
            "cooked": bytes(14) + b"\x08\x00" + ip,
            "plain ip": ip,
        }.get(link, data[at + 16 : at + 1264])
        if link == "other traffic":
            for noise in (b"", bytes(60), data[at + 16 : at + 40], frame[:23] + b"\x06" + frame[24:]):
                made.append(struct.pack("<IIII", seconds, micro, len(noise), len(noise)) + noise)
        made.append(struct.pack(order + "IIII", seconds, micro * tick, len(frame), len(frame)) + frame)
    (tmp_path / "b.pcap").write_bytes(b"".join(made))
    payloads, times = read_payloads(tmp_path / "b.pcap")
    np.testing.assert_array_equal(payloads, packets.payloads)
    np.testing.assert_allclose(times - EPOCH, packets.times, atol=1e-6)


@pytest.mark.parametrize(
    ("name", "change", "says"),
    [
        ("missing", None, "no such capture"),
        ("cut record", lambda data: data[:5000], "ends in the middle of record 4; the capture was cut"),
        ("cut header", lambda data: data[: 24 + 1264 + 7], "ends in the middle of record 2; the capture was cut"),
        ("not a capture", lambda data: b"x" * 500, "is not a pcap capture"),
        ("empty", lambda data: b"", "is not a pcap capture"),
        ("pcapng", lambda data: b"\x0a\x0d\x0d\x0a" + bytes(100), "is a pcapng file; convert it first"),
        ("damaged", lambda data: data[:32] + b"\xff\xff\xff\x7f" + data[36:], "record 1 claims 2147483647 bytes"),
        ("wlan", lambda data: data[:20] + b"\x69\0\0\0" + data[24:], "its link type 105 is not known"),
    ],
)
def test_broken_captures(tmp_path: Path, name: str, change, says: str) -> None:
    path = tmp_path / "a.pcap"
    if change is not None:
        capture(path)
        path.write_bytes(change(path.read_bytes()))
    with pytest.raises(InputError, match=says) as caught:
        list(read_capture(path))
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


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
    ports = [datagram.port for datagram in read_capture(path)]
    assert ports.count(2368) == 227 and ports.count(8308) == 17  # one position for every 14 packets
    times = [datagram.time for datagram in read_capture(path)]
    assert times == sorted(times)
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
        CaptureWriter(file).write(PacketEncoder(sensor).encode(made_frame(sensor)), epoch=EPOCH)
    assert caught.value.errno == 28
    full = pytest.raises(OutputError, match=r"run\.pcap: cannot be written \(no space left on the disk\)")
    with full, open_recording(tmp_path / "run.pcap", sensor) as run:
        run.write(made_frame(sensor))
        raise OSError(28, "No space left on device")
    assert list(tmp_path.iterdir()) == []
