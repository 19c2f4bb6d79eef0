"""Livox packets put together byte by byte from the protocol, and what is read of them: points, times, what is missing."""

from __future__ import annotations

import binascii
import struct
import zlib
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest

from made_captures import Sent, pcap, records_of
from made_frames import made_frame
from tussock.errors import InputError
from tussock.return_modes import KINDS
from tussock.sensors.catalogue import load_sensor
from tussock.wire.livox import decode, encode
from tussock.wire.livox.commands import (
    COMMAND_PORT,
    DISCOVERY_PORT,
    MID_360,
    PUSH_PORT,
    Code,
    Command,
    CommandId,
    Key,
    pack_values,
    parse_command,
    unpack_keys,
    unpack_values,
)
from tussock.wire.livox.custom_msg import custom_msg, read_custom_msg
from tussock.wire.livox.decode import decode_livox, decode_livox_imu
from tussock.wire.livox.encode import LivoxEncoder, _farther
from tussock.wire.livox.firings import _missing
from tussock.wire.livox.formats import FORMATS
from tussock.wire.packets import EPOCH
from tussock.wire.read_firings import read_firings

UTC_NS = 1_700_000_000_123_456_789


def second_sdk(
    kind: int, points: bytes, *, number: int = 0, time: int = UTC_NS, interval: int = 4800, clock: int = 1
) -> bytes:
    size = 36 + len(points)
    count = 96
    timed = struct.pack("<Q", time) + points
    head = struct.pack("<BHHHHBBB12x", 0, size, interval, count, number, 0, kind, clock)
    return head + struct.pack("<I", zlib.crc32(timed)) + timed


def first_sdk(kind: int, points: bytes, *, time: int = UTC_NS, clock: int = 1) -> bytes:
    return struct.pack("<BBBxIBBQ", 5, 1, 1, 0, clock, kind, time) + points


def decoded(packet: bytes) -> decode.LivoxPoints:
    return decode_livox(np.frombuffer(packet, np.uint8)[None])


CARTESIAN = [(1000, -2000, 30), (0, 0, 0), (-5, 7, 123456)]
POLAR = [(5000, 9000, 0), (0, 0, 0), (2000, 3000, 27000)]  # mm, down from straight up, counter-clockwise [0.01°]


@pytest.mark.parametrize("name", FORMATS)
def test_points_of_every_format(name: str) -> None:
    """Lengths, units and tags as the protocols' tables have them; times go on evenly from the packet's."""
    form = FORMATS[name]
    kinds = {
        "livox-cartesian32": 1, "livox-cartesian16": 2, "livox-spherical": 3, "livox1-cartesian": 0, "livox1-spherical": 1,
        "livox1-cartesian-tagged": 2, "livox1-cartesian-dual": 4, "livox1-spherical-tagged": 3,
    }  # fmt: skip
    first, polar, short = name.startswith("livox1"), "spherical" in name, name.endswith("16")
    tagged = not first or name.endswith(("tagged", "dual"))
    count = 100 if first and not tagged else 96
    body, wanted = b"", []
    for k in range(count):
        if polar:
            distance, zenith, azimuth = POLAR[k % 3]
            body += struct.pack("<IHH", distance, zenith, azimuth)
            up, turn = np.deg2rad([zenith / 100, azimuth / 100])
            wanted.append(
                distance / 1000 * np.array([np.sin(up) * np.cos(turn), np.sin(up) * np.sin(turn), np.cos(up)])
            )
        else:
            place = [min(v, 32767) if short else v for v in CARTESIAN[k % 3]]
            body += struct.pack("<hhh" if short else "<iii", *place)
            wanted.append(np.array(place) / (100 if short else 1000))
        body += bytes([k]) + (bytes([k % 7]) if tagged else b"")
    packet = first_sdk(kinds[name], body) if first else second_sdk(kinds[name], body, number=513)
    found = decoded(packet)
    assert found.format is form and len(packet) == form.packet.itemsize
    assert found.xyz[0] == pytest.approx(np.array(wanted), abs=1e-9)
    assert found.hit[0].tolist() == [k % 3 != 1 for k in range(count)]
    assert found.reflectivity[0].tolist() == list(range(count))
    assert found.tag[0].tolist() == [k % 7 if tagged else 0 for k in range(count)]
    step = (4800 * 100 / 96) if not first else 1e4 if count == 100 else 1e9 / 240_000
    pulses = np.arange(count) // (2 if name.endswith("dual") else 1)
    assert (found.time_ns[0] - UTC_NS).tolist() == np.rint(step * pulses).astype(int).tolist()
    assert (None if found.packet is None else int(found.packet[0])) == (None if first else 513)
    assert found.clock.tolist() == [1] and found.damaged == 0


def test_which_format_a_packet_is_of() -> None:
    good = second_sdk(1, bytes(96 * 14))
    for at, byte in ((0, 1), (1, 9), (2, 9), (5, 95), (6, 1), (10, 2)):
        wrong = bytearray(good)
        wrong[at] = byte
        with pytest.raises(InputError, match="must be of points"):
            decoded(bytes(wrong))
    old = first_sdk(0, bytes(100 * 13))
    for at, byte in ((0, 4), (9, 1)):
        wrong = bytearray(old)
        wrong[at] = byte
        with pytest.raises(InputError, match="must be of points"):
            decoded(bytes(wrong))
    for at in (28, 40, len(good) - 1):
        damaged = bytearray(good)
        damaged[at] ^= 1
        both = decode_livox(np.array([list(good), list(damaged)], np.uint8))
        assert both.damaged == 1 and both.whole.tolist() == [True, False] and len(both.xyz) == 1


def gps(year: int, month: int, day: int, hour: int, micro: int) -> int:
    return int.from_bytes(bytes([year, month, day, hour]) + struct.pack("<I", micro), "little")


def test_times_by_gps_of_the_first_sdk() -> None:
    body = bytes(100 * 13)
    found = decoded(first_sdk(0, body, time=gps(23, 11, 14, 22, 800_123_456), clock=3))
    wanted = datetime(2023, 11, 14, 22, 13, 20, 123_456, UTC)
    assert found.time_ns[0, 0] == round(wanted.timestamp()) * 10**9 + 123_456_000
    for parts in ((23, 1, 1, 0), (23, 12, 31, 23)):
        decoded(first_sdk(0, body, time=gps(*parts, 0), clock=3))
    for parts in ((23, 0, 1, 0), (23, 13, 1, 0), (23, 1, 0, 0), (23, 1, 32, 0), (23, 1, 1, 24)):
        with pytest.raises(InputError, match="must have a date and an hour"):
            decoded(first_sdk(0, body, time=gps(*parts, 0), clock=3))
    # Another clock's number is not a date, and the second SDK has no such clock.
    assert decoded(first_sdk(0, body, time=gps(23, 0, 0, 99, 5), clock=4)).time_ns[0, 0] == gps(23, 0, 0, 99, 5)
    assert decoded(second_sdk(1, bytes(96 * 14), time=77, clock=3)).time_ns[0, 0] == 77


@pytest.mark.parametrize("sdk", [1, 2])
def test_inertial_readings(sdk: int) -> None:
    values = struct.pack("<6f", 0.1, -0.2, 0.3, 0.0, 0.5, 1.0)
    if sdk == 1:
        packet = first_sdk(6, values, time=1_500_000_000)
    else:
        timed = struct.pack("<Q", 1_500_000_000) + values
        packet = struct.pack("<BHHHHBBB12x", 0, 60, 0, 1, 0, 0, 0, 1) + struct.pack("<I", zlib.crc32(timed)) + timed
    found = decode_livox_imu(np.array([list(packet)], np.uint8), epoch=1.25)
    assert found.time.tolist() == [0.25] and found.rate[0] == pytest.approx([0.1, -0.2, 0.3])
    assert found.force[0] == pytest.approx([0.0, 0.5 * 9.80665, 9.80665], rel=1e-6)
    if sdk == 2:
        damaged = packet[:-1] + b"\x7f"
        assert len(decode_livox_imu(np.array([list(damaged)], np.uint8)).time) == 0


def test_which_of_two_returns_came_second() -> None:
    """The farther one, whichever is told first; of equally far ones the second that is told."""
    frame = made_frame(load_sensor("livox-avia"), 0, share=0.001)
    some = frame.select(np.arange(7))
    columns = {"pulse": [3, 3, 4, 5, 5, 8, 8], "range": [5.0, 9.0, 1.0, 9.0, 5.0, 2.0, 2.0]}
    made = replace(some, pulse=np.array(columns["pulse"], np.uint32), range=np.array(columns["range"], np.float32))
    assert _farther(made).tolist() == [False, True, False, True, False, False, True]


def test_a_packet_of_two_returns_point_by_point() -> None:
    """The nearer first, tags 16 and 32; of one return a point and a place of zeros, whatever kind it is of."""
    sensor = load_sensor("livox-avia").with_(packets="livox1-cartesian-dual", **{"receiver.mode": "strongest+last"})
    frame = made_frame(sensor, 0, share=0.001).select(np.arange(4))
    kind = np.array(
        [KINDS.index("strongest"), KINDS.index("last"), KINDS.index("strongest"), KINDS.index("last")], np.uint8
    )
    xyz = np.array([[4.0, 0, 0.0004], [2.0, 0, 0.0006], [3.0, -1.0, 0], [0, 0, 5.0]], np.float32)
    made = replace(
        frame, pulse=np.array([0, 0, 2, 47], np.uint32), xyz=xyz, range=np.linalg.norm(xyz, axis=1).astype(np.float32),
        return_kind=kind, intensity=np.array([0.5, 1.0, 3.0, 0.004], np.float32),
    )  # fmt: skip
    packet = LivoxEncoder(sensor).encode(made)["data"].payloads[0].tobytes()
    points = [struct.unpack_from("<iiiBB", packet, 18 + 14 * k) for k in range(96)]
    assert points[0] == (2000, 0, 1, 100, 16) and points[1] == (4000, 0, 0, 50, 32)
    assert points[4] == (3000, -1000, 0, 255, 16) and points[94] == (0, 0, 5000, 0, 16)
    assert all(points[k] == (0, 0, 0, 0, 0) for k in range(96) if k not in (0, 1, 4, 94))


@pytest.mark.parametrize(("packets", "most"), [("livox-cartesian16", 327.67), ("livox-cartesian32", 2147483.0)])
def test_points_that_do_not_fit_are_left_out(packets: str, most: float) -> None:
    sensor = load_sensor("livox-mid-360").with_(packets=packets)
    frame = made_frame(sensor, 0, share=0.01).select(np.arange(4))
    step = FORMATS[packets].step_m
    xyz = np.array([[most, 0, 0], [most + 1.5 * step, 0, 0], [0, -most, 0], [1.4 * step, -1.6 * step, 0]], np.float32)
    if packets.endswith("32"):
        xyz[1, 0] = 2.2e6
    made = replace(
        frame, pulse=np.arange(4, dtype=np.uint32), xyz=xyz, return_kind=np.full(4, KINDS.index("strongest"), np.uint8)
    )
    found = decode_livox(LivoxEncoder(sensor).encode(made)["data"].payloads[:1]).xyz[0, :4]
    assert (
        found[0, 0] == pytest.approx(most, rel=1e-6)
        and not found[1].any()
        and found[2, 1] == pytest.approx(-most, rel=1e-6)
    )
    assert found[3] == pytest.approx([step, -2 * step, 0])


def test_angles_of_the_spherical_format() -> None:
    """Zenith down from straight up, azimuth from 0 to 359.99°."""
    sensor = load_sensor("livox-mid-360").with_(packets="livox-spherical")
    frame = made_frame(sensor, 0, share=0.01).select(np.arange(4))
    made = replace(
        frame, pulse=np.arange(4, dtype=np.uint32), range=np.array([5.0004, 5.0006, 7.0, 8.0], np.float32),
        azimuth=np.deg2rad([0.0, -0.02, 90.004, -179.99]).astype(np.float32),
        elevation=np.deg2rad([0.0, 52.0, -7.006, -7.0]).astype(np.float32),
        return_kind=np.full(4, KINDS.index("strongest"), np.uint8),
    )  # fmt: skip
    packet = LivoxEncoder(sensor).encode(made)["data"].payloads[0].tobytes()
    points = [struct.unpack_from("<IHHBB", packet, 36 + 10 * k)[:3] for k in range(4)]
    assert points == [(5000, 9000, 0), (5001, 3800, 35998), (7000, 9701, 9000), (8000, 9700, 18001)]


def test_packets_are_counted_in_a_frame_and_go_on_over_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """20,000 pulses of a frame are 208 packets of 96 and 32 pulses, which the next frame completes."""
    monkeypatch.setattr(encode, "ethernet_crc32", lambda rows: [zlib.crc32(row.tobytes()) for row in rows])
    sensor = load_sensor("livox-mid-360")
    encoder = LivoxEncoder(sensor)
    frames = [made_frame(sensor, number, share=0.003) for number in (0, 1, 3)]
    sent = [encoder.encode(frame)["data"] for frame in frames]
    rest = encoder.flush()["data"]
    assert [len(part) for part in sent] == [208, 208, 209] and len(rest) == 1
    assert rest.times.tolist() == pytest.approx([0.3 + 209 * 96 * 5e-6])
    assert encoder.packets_per_second == pytest.approx(200_000 / 96)
    numbers = [part.payloads[:, 7].astype(int) + 256 * part.payloads[:, 8].astype(int) for part in sent]
    assert numbers[0].tolist() == list(range(208)) == numbers[1].tolist()
    # A gap: what was begun is completed with nothing, as the frame's last packet.
    assert numbers[2].tolist() == [208, *range(208)]
    times = [struct.unpack("<Q", part.payloads[0, 28:36].tobytes())[0] - round(EPOCH * 1e9) for part in sent]
    assert times == pytest.approx([0, 99_840_000, 199_680_000], abs=1)
    assert sent[1].times[0] == pytest.approx(0.0998400 + 96 * 5e-6)
    last = decode_livox(sent[2].payloads[:1])
    assert not last.hit[0, 64:].any() and last.time_ns[0, 95] - last.time_ns[0, 0] == 95 * 5000
    assert encoder.flush()["data"].payloads.shape == (0, 1380)


def capture(path: Path, rows: list[tuple[bytes, int]]) -> Path:
    path.write_bytes(pcap(records_of([Sent(payload, time, port=56301) for payload, time in rows]), nano=True))
    return path


def a_packet(time: int, number: int, *, clock: int = 1) -> bytes:
    body = struct.pack("<iiiBB", 3000, 4000, 0, 50, 0) + bytes(95 * 14)
    return second_sdk(1, body, number=number, time=time, clock=clock)


def test_returns_of_packets_in_any_order(tmp_path: Path) -> None:
    """Frames begin where numbers do; the device's clock is believed within 4 s of the recorder's."""
    step = 480_000
    order = [(0, 206), (1, 207), (2, 0), (4, 2), (3, 1), (4, 2), (6, 4)]
    rows = [(a_packet(UTC_NS + k * step, number), UTC_NS + at * step) for at, (k, number) in enumerate(order, 1)]
    notes: list[str] = []
    found = read_firings(capture(tmp_path / "a.pcap", rows), say=notes.append)
    assert [note.split(": ")[1] for note in notes] == [
        "1 data packets came in another order than they were sent", "1 data packets came twice", "1 data packets are missing",
    ]  # fmt: skip
    assert found.turns.tolist() == [0, 0, 1, 1, 1, 1] and not found.complete and found.sensor == "livox"
    assert (found.times * 1e9 - UTC_NS) / step == pytest.approx([0, 1, 2, 3, 4, 6], abs=1e-2)
    assert found.ranges[:, 0] == pytest.approx(5.0) and found.directions[0] == pytest.approx([0.6, 0.8, 0])
    assert found.intensity[:, 0] == pytest.approx(0.5) and found.azimuths == pytest.approx(np.arctan2(0.8, 0.6))
    for late, believed in ((3_900_000_000, True), (4_100_000_000, False)):
        shifted = [(a_packet(UTC_NS + k * step - late, k), UTC_NS + k * step) for k in range(3)]
        times = read_firings(capture(tmp_path / "b.pcap", shifted)).times
        wanted = UTC_NS - late if believed else UTC_NS - 475_000
        assert times[0] * 1e9 == pytest.approx(wanted, abs=2000)


def test_times_that_begin_anew_with_every_second(tmp_path: Path) -> None:
    base = 1_700_000_000 * 10**9
    rows = [(a_packet((k * 300_000_000) % 10**9, k, clock=4), base + k * 300_000_000 + 480_000) for k in range(8)]
    found = read_firings(capture(tmp_path / "a.pcap", rows), say=lambda note: None)
    assert np.diff(found.times) == pytest.approx([0.3] * 7, abs=1e-6)
    assert found.times[0] == pytest.approx(1_700_000_000, abs=1e-4)


def test_what_is_missing_by_times() -> None:
    def missing(*steps: int) -> int:
        return _missing(np.cumsum([0, *steps])[:, None])

    assert missing() == 0 and missing(5, 5, 5) == 0 and missing(5, 10, 5, 5, 20) == 4 and missing(0, 0) == 0
    assert missing(10**8, 10**8, 999_999_999) == 9 and missing(10**8, 10**8, 10**9) == 0


def test_the_message_of_ros_byte_by_byte() -> None:
    """CDR: numbers at multiples of their size, counted behind its four bytes; points of 19 bytes in places of 20."""
    frame = made_frame(load_sensor("livox-mid-360"), 2, share=0.01).select(np.arange(2))
    made = replace(frame, intensity=np.array([0.5, 9.0], np.float32))
    raw = custom_msg(made, 1_700_000_000_000_000_123, "mid")
    assert raw[:4] == b"\0\1\0\0" and struct.unpack_from("<iII", raw, 4) == (1_700_000_000, 123, 4)
    assert raw[16:20] == b"mid\0" and raw[20:20] == b""
    at = 4 + (16 + 7) // 8 * 8
    assert struct.unpack_from("<QIB3xI", raw, at) == (1_700_000_000_000_000_123, 2, 0, 2)
    at += 20
    assert len(raw) == at + 39
    for k in range(2):
        offset, x, y, z, bright, tag, line = struct.unpack_from("<IfffBBB", raw, at + 20 * k)
        assert offset == round((made.time[k] - 0.2) * 1e9) and (x, y, z) == pytest.approx(made.xyz[k])
        assert (bright, tag, line) == ((50, 255)[k], 0, made.laser[k])
    stamp, fields = read_custom_msg(raw)
    assert stamp == pytest.approx(1_700_000_000) and fields["time"] - stamp == pytest.approx(made.time - 0.2, abs=1e-6)
    assert fields["x"] == pytest.approx(made.xyz[:, 0]) and fields["line"].tolist() == made.laser.tolist()
    for cut in (10, at - 1, len(raw) - 1):
        with pytest.raises(InputError, match="shorter than it says"):
            read_custom_msg(raw[:cut])
    dark = custom_msg(replace(made, intensity=np.array([0.0, -1.0], np.float32)), 5, "mid")
    assert read_custom_msg(dark)[1]["reflectivity"].tolist() == [0, 0]


@pytest.mark.parametrize("frame_id", ["", "a", "abc", "abcd", "abcdefgh"])
def test_messages_of_either_ros_and_either_byte_order(frame_id: str) -> None:
    """ROS 1 packs its fields, counts messages first, and ends its strings with nothing."""
    who = frame_id.encode()
    point = (5_000_000, 1.5, -2.0, 3.25, 77, 16, 3)
    old = struct.pack("<IiII", 9, 100, 500_000_000, len(who)) + who
    old += struct.pack("<QIB3xI", 1, 2, 0, 2) + struct.pack("<IfffBBB", *point) * 2
    for order in "<>":
        text = who + b"\0"
        new = struct.pack(order + "iII", 100, 500_000_000, len(text)) + text
        new += bytes(-len(new) % 8) + struct.pack(order + "QIB3xI", 1, 2, 0, 2)
        new += struct.pack(order + "IfffBBBx", *point) + struct.pack(order + "IfffBBB", *point)
        raw = (b"\0\1\0\0" if order == "<" else b"\0\0\0\0") + new
        for found in (read_custom_msg(raw), read_custom_msg(old, ros=1)):
            stamp, fields = found
            assert stamp == 100.5 and fields["time"].tolist() == pytest.approx([100.505] * 2)
            assert [fields[name][1] for name in ("x", "y", "z", "reflectivity", "tag", "line")] == [
                1.5,
                -2.0,
                3.25,
                77,
                16,
                3,
            ]


def test_commands_at_their_limits() -> None:
    """Of 24 to 1400 bytes, both checksums right, kinds of 0 and 1."""
    plain = Command(0x0101, 0x01020304).pack()
    assert len(plain) == 24 and plain[:18] == struct.pack("<BBHIHBB6x", 0xAA, 0, 24, 0x01020304, 0x0101, 0, 0)
    assert struct.unpack("<HI", plain[18:]) == (binascii.crc_hqx(plain[:18], 0xFFFF), 0)
    told = Command(0x0102, 7, b"abc", answer=True, from_device=True)
    assert told.pack()[20:] == struct.pack("<I", zlib.crc32(b"abc")) + b"abc" and parse_command(told.pack()) == told
    assert parse_command(plain) == Command(0x0101, 0x01020304) and parse_command(plain[:-1]) is None
    assert (
        parse_command(Command(1, 1, bytes(1376)).pack()) is not None
        and parse_command(Command(1, 1, bytes(1377)).pack()) is None
    )
    for at in range(24):
        assert parse_command(plain[:at] + bytes([plain[at] ^ 1]) + plain[at + 1 :]) is None, at

    def with_head(**change: int) -> bytes:
        values = {"first": 0xAA, "version": 0, "size": 24, "kind": 0, "sender": 0} | change
        head = struct.pack(
            "<BBHIHBB6x", values["first"], values["version"], values["size"], 1, 2, values["kind"], values["sender"]
        )
        return head + struct.pack("<HI", binascii.crc_hqx(head, 0xFFFF), 0)

    assert parse_command(with_head(kind=1, sender=1)) == Command(2, 1, b"", True, True)
    for change in ({"first": 0xAB}, {"version": 1}, {"size": 25}, {"kind": 2}, {"sender": 2}):
        assert parse_command(with_head(**change)) is None


def test_lists_of_keys_and_values() -> None:
    values = {5: b"", 0x8001: b"abc"}
    packed = pack_values(values)
    assert packed == struct.pack("<HHHH", 5, 0, 0x8001, 3) + b"abc"
    assert unpack_values(struct.pack("<HH", 2, 0) + packed) == list(values.items())
    assert unpack_values(bytes(4)) == [] and unpack_values(bytes(3)) is None
    for wrong in (
        struct.pack("<HH", 1, 0) + packed,
        struct.pack("<HH", 2, 0) + packed[:-1],
        struct.pack("<HH", 1, 0) + packed[:3],
    ):
        assert unpack_values(wrong) is None
    assert unpack_keys(struct.pack("<HHHH", 2, 0, 9, 0x8000)) == [9, 0x8000] and unpack_keys(bytes(4)) == []
    for wrong in (bytes(3), struct.pack("<HHH", 2, 0, 9), struct.pack("<HHHB", 1, 0, 9, 0)):
        assert unpack_keys(wrong) is None


def test_numbers_of_commands_codes_and_keys() -> None:
    """As the protocol of the Mid-360 and ParamKeyName of livox_lidar_def.h list them."""
    assert [int(command) for command in CommandId] == [0x0000, 0x0100, 0x0101, 0x0102]
    assert [int(code) for code in Code] == [0x00, 0x02, 0x03, 0x20, 0x22, 0x23, 0x24]
    assert [int(key) for key in Key] == [
        0x0000, 0x0001, 0x0004, 0x0005, 0x0006, 0x0007, 0x0012, 0x0015, 0x0016, 0x0017, 0x0018, 0x0019, 0x001A, 0x001C,
        0x8000, 0x8001, 0x8002, 0x8003, 0x8004, 0x8005, 0x8006, 0x8007, 0x8008, 0x8009, 0x800A, 0x800B, 0x800C, 0x800E,
        0x8010, 0x8011,
    ]  # fmt: skip
    assert (DISCOVERY_PORT, COMMAND_PORT, PUSH_PORT, MID_360) == (56000, 56100, 56200, 9)
