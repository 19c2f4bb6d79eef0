"""Where captures' rules turn: headers that just fit, chains of extensions, parts that overlap, clocks with an offset."""

from __future__ import annotations

import io
import os
import socket
import struct
import threading
import zlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from made_captures import LINK_TYPES, Record, Sent, block, frames_of, pcap, pcapng, records_of
from tussock.errors import InputError
from tussock.wire.captures import capture_file
from tussock.wire.captures.capture_writer import CaptureWriter, Flow
from tussock.wire.captures.datagrams import Datagrams, Losses, read_datagrams
from tussock.wire.captures.pieces import joined_pieces
from tussock.wire.captures.units import choose_unit
from tussock.wire.checksums import ethernet_crc32, mpeg_crc32

UDP = struct.pack(">HHHH", 7, 9, 8 + 3, 0) + b"abc"


def read(path: Path, data: bytes) -> Datagrams:
    (path / "a").write_bytes(data)
    return read_datagrams(path / "a")


def of_frames(path: Path, *frames: bytes, link: str = "raw") -> Datagrams:
    return read(path, pcap([Record(frame, k) for k, frame in enumerate(frames)], link, nano=True))  # type: ignore[arg-type]


def ip4(
    body: bytes, *, options: bytes = b"", total: int | None = None, flags: int = 0, number: int = 0, protocol: int = 17
) -> bytes:
    words = 5 + len(options) // 4
    length = words * 4 + len(body) if total is None else total
    head = struct.pack(">BBHHHBBH", 0x40 | words, 0, length, number, flags, 64, protocol, 0)
    return head + bytes([10, 1, 2, 3, 10, 4, 5, 6]) + options + body


def ip6(body: bytes, first: int = 17, *, length: int | None = None) -> bytes:
    addresses = socket.inet_pton(socket.AF_INET6, "fe80::12:3456") + socket.inet_pton(socket.AF_INET6, "ff02::ab:cd")
    return struct.pack(">IHBB", 6 << 28, len(body) if length is None else length, first, 64) + addresses + body


def extended(kinds: list[int], body: bytes = UDP, *, longer: int = 0) -> bytes:
    """Extension headers of these kinds, each of 8 bytes and ``longer`` more units, before UDP."""
    out = b""
    for place, kind in enumerate(kinds):
        following = [*kinds, 17][place + 1]
        size = 8 + longer * (4 if kind == 51 else 8)
        out += bytes([following, longer]) + bytes(size - 2)
    return ip6(out + body, kinds[0] if kinds else 17)


@pytest.mark.parametrize("kind", [0, 43, 60, 135, 139, 140, 51])
@pytest.mark.parametrize("longer", [0, 1, 3])
def test_each_kind_of_extension_is_passed_over(tmp_path: Path, kind: int, longer: int) -> None:
    """In units of eight bytes, of an authentication header in units of four (RFC 8200, RFC 4302)."""
    found = of_frames(tmp_path, extended([kind, 60], longer=longer))
    assert [found.payload(0), int(found.source_port[0]), int(found.port[0])] == [b"abc", 7, 9]


def test_a_chain_of_seven_is_read_and_no_longer_one(tmp_path: Path) -> None:
    assert len(of_frames(tmp_path, extended([60] * 7))) == 1
    longer = of_frames(tmp_path, extended([60] * 8))
    assert len(longer) == 0 and longer.losses == Losses(other=1)
    assert len(of_frames(tmp_path, ip6(UDP, 58))) == 0, "another protocol"


def test_addresses_are_whole(tmp_path: Path) -> None:
    found = of_frames(tmp_path, ip6(UDP), ip4(UDP))
    six = [socket.inet_pton(socket.AF_INET6, text) for text in ("fe80::12:3456", "ff02::ab:cd")]
    assert (found.source[0].tobytes(), found.destination[0].tobytes()) == tuple(six)
    four = [bytes(10) + b"\xff\xff" + bytes(text) for text in ([10, 1, 2, 3], [10, 4, 5, 6])]
    assert (found.source[1].tobytes(), found.destination[1].tobytes()) == tuple(four)
    assert {sender.source for sender in found.senders()} == {"fe80::12:3456", "10.1.2.3"}


@pytest.mark.parametrize("version", [4, 6])
def test_lengths_that_the_network_card_was_to_fill_in(tmp_path: Path, version: int) -> None:
    """A total length of 0: the record says how long it was, and whether all of it was recorded."""
    frame = ip4(UDP, total=0) if version == 4 else ip6(UDP, length=0)
    assert of_frames(tmp_path, frame).payload(0) == b"abc"
    cut = read(tmp_path, pcap([Record(frame, 0, recorded=len(frame) - 1)], "raw"))
    assert cut.losses == Losses(shortened=1)


def test_a_header_must_be_there_whole(tmp_path: Path) -> None:
    """Of each layer: one byte less and it is no UDP, or was recorded in part."""
    for link, header in (("ethernet", 14), ("cooked", 16), ("cooked 2", 20), ("loopback", 4), ("raw", 0)):
        for version, sent in ((20, Sent(b"")), (40, Sent(b"", source="fe80::1", destination="ff02::1"))):
            frame = frames_of(sent, link)[0]  # type: ignore[arg-type]
            data = [pcap([Record(frame, 0, recorded=header + version + more)], link) for more in (-1, 0, 7, 8)]  # type: ignore[arg-type]
            losses = [read(tmp_path, one).losses for one in data]
            assert losses == [Losses(other=1), Losses(shortened=1), Losses(shortened=1), Losses()], link


def test_lengths_that_just_fit(tmp_path: Path) -> None:
    """UDP within IP within the record: at the end of each, and one byte beyond."""

    def udp(length: int) -> bytes:
        return struct.pack(">HHHH", 7, 9, length, 0) + b"abcd"

    found = of_frames(tmp_path, ip4(udp(8)), ip4(udp(12)), ip4(udp(11)))
    assert [found.payload(row) for row in range(3)] == [b"", b"abcd", b"abc"]
    assert of_frames(tmp_path, ip4(udp(13)), ip4(udp(7)), ip4(udp(0))).losses == Losses(malformed=3)
    assert of_frames(tmp_path, ip4(b"1234567"), ip4(b"")).losses == Losses(malformed=2)
    # What ends the packet but not its datagram was not of it.
    assert of_frames(tmp_path, ip4(udp(11)) + bytes(30)).payload(0) == b"abc"
    # A packet longer than its record, whose datagram is all there, is none that was cut.
    assert of_frames(tmp_path, ip4(udp(12), total=99)).payload(0) == b"abcd"
    assert of_frames(tmp_path, ip4(udp(13), total=99)).losses == Losses(shortened=1)
    assert len(of_frames(tmp_path, ip4(udp(12), protocol=6))) == 0
    short = bytearray(ip4(udp(12)))
    short[0] = 0x44  # four words are no header
    assert of_frames(tmp_path, bytes(short)).losses == Losses(other=1)
    assert of_frames(tmp_path, ip4(udp(12), options=bytes(40))).payload(0) == b"abcd"


def test_lanes_are_interfaces_and_tags(tmp_path: Path) -> None:
    tagged = [frames_of(Sent(b"a", vlan=vlan))[0] for vlan in ((), (5,), (5, 6), (0xFFF,))]
    found = read(tmp_path, pcap([Record(frame, 0) for frame in tagged]))
    assert found.lane.tolist() == [0, 5, 11, 4095]
    for kind in (0x88A8, 0x9100):
        frame = bytearray(tagged[1])
        frame[12:14] = struct.pack(">H", kind)
        assert read(tmp_path, pcap([Record(bytes(frame), 0)])).lane.tolist() == [5]
    frame = bytearray(tagged[1])
    frame[14] |= 0xE0  # the priority is no part of the number
    assert read(tmp_path, pcap([Record(bytes(frame), 0)])).lane.tolist() == [5]
    found = read(tmp_path, pcapng([Record(tagged[1], 0, k) for k in range(2)], ["ethernet", "ethernet"]))
    assert found.lane.tolist() == [5, (1 << 44) + 5]
    cooked = frames_of(Sent(b"a"), "cooked 2")[0]
    assert cooked[4:8] == struct.pack(">I", 3)
    other = cooked[:4] + struct.pack(">I", 0x10002) + cooked[8:]
    assert read(tmp_path, pcap([Record(cooked, 0), Record(other, 0)], "cooked 2")).lane.tolist() == [
        3 << 12,
        0x10002 << 12,
    ]


@pytest.mark.parametrize("link", [12, 14, 101, 228, 229])
def test_plain_ip_under_all_its_numbers(tmp_path: Path, link: int) -> None:
    data = bytearray(pcap([Record(ip4(UDP), 0)], "raw"))
    data[20:24] = struct.pack("<I", 0xF0000000 | link)  # the highest bits are about checks of the frame
    assert read(tmp_path, bytes(data)).payload(0) == b"abc"


def test_some_records_of_another_network(tmp_path: Path) -> None:
    data = pcapng([Record(ip4(UDP), 0, 0), Record(ip4(UDP), 0, 1)], ["raw", "raw"])
    kind = data.index(struct.pack("<HHI", 101, 0, 0), data.index(struct.pack("<HHI", 101, 0, 0)) + 1)
    found = read(tmp_path, data[:kind] + struct.pack("<H", 105) + data[kind + 2 :])
    assert len(found) == 1 and found.losses == Losses(unknown_links=1)


def interface(link: int = 101, *, snap: int = 0, options: bytes = b"", order: str = "<") -> bytes:
    return block(1, struct.pack(order + "HHI", link, 0, snap) + options, order)


def section(order: str = "<") -> bytes:
    return block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)


def packet(frame: bytes, ticks: int, order: str = "<") -> bytes:
    head = struct.pack(order + "IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame))
    return block(6, head + frame, order)


@pytest.mark.parametrize("order", ["<", ">"])
def test_clocks_of_a_pcapng(tmp_path: Path, order: str) -> None:
    """Ticks of 10ⁿ or 2ⁿ to the second, from an offset of whole seconds on; a comment before them, nothing behind the end."""
    ticks = (5 << 32) + 7
    comment = struct.pack(order + "HH5sxxx", 1, 5, b"hello")
    offset = struct.pack(order + "HHq", 14, 8, -40)
    end = struct.pack(order + "HH", 0, 0)
    for resolution, per_second in ((9, 10**9), (2, 100), (0x80 | 20, 2**20)):
        told = struct.pack(order + "HHBxxx", 9, 1, resolution)
        for options, shift in ((comment + told, 0), (told + offset + end, -40), (told + end + offset, 0)):
            found = read(
                tmp_path, section(order) + interface(options=options, order=order) + packet(ip4(UDP), ticks, order)
            )
            assert found.time_ns.tolist() == [shift * 10**9 + ticks * 10**9 // per_second]
    for options in (struct.pack(order + "HHBxxx", 9, 2, 9), struct.pack(order + "HHB", 9, 200, 9)):
        found = read(
            tmp_path, section(order) + interface(options=options, order=order) + packet(ip4(UDP), ticks, order)
        )
        assert found.time_ns.tolist() == [ticks * 1000], "an option of a wrong length says nothing"


def test_old_and_simple_packets(tmp_path: Path) -> None:
    frame = ip4(UDP)
    old = block(2, struct.pack("<HHIIII", 0, 9, 1, 2, len(frame), len(frame)) + frame)
    found = read(tmp_path, section() + interface() + old)
    assert found.payload(0) == b"abc" and found.time_ns.tolist() == [((1 << 32) + 2) * 1000]
    for snap, losses in ((0, Losses(untimed=1)), (31, Losses(untimed=1)), (30, Losses(untimed=1, shortened=1))):
        simple = block(3, struct.pack("<I", len(frame)) + frame[: snap or None])
        found = read(tmp_path, section() + interface(snap=snap) + simple)
        assert found.losses == losses, snap
        assert found.time_ns.tolist() == [0] * len(found)


def test_where_a_file_ends(tmp_path: Path) -> None:
    """Behind a record, or in the middle of its header or its frame, by one byte."""
    records = [Record(ip4(UDP), k) for k in range(2)]
    for data, header in ((pcap(records, "raw", nano=True), 16), (pcapng(records, ["raw"]), 8)):
        one = len(data) - len(read(tmp_path, data).data) + len(data)
        assert one == len(data)
        size = len(records[0].frame) + 16 if header == 16 else (len(data) - len(pcapng(records[:1], ["raw"])))
        for less, left in ((0, None), (1, 1), (size - 1, 1), (size - header, 1), (size, None), (size + 1, 0)):
            found = read(tmp_path, data[: len(data) - less])
            assert found.losses.cut_after == left, (header, less)
    assert len(read(tmp_path, pcap([])[:24])) == 0
    with pytest.raises(InputError, match="neither a pcap nor a pcapng"):
        read(tmp_path, pcap([])[:23])
    with pytest.raises(InputError, match="claims 8 bytes"):
        read(tmp_path, section() + struct.pack("<III", 1, 8, 8))
    assert (
        read(tmp_path, section() + struct.pack("<III", 77, 12, 12) + interface() + packet(ip4(UDP), 0)).payload(0)
        == b"abc"
    )
    with pytest.raises(InputError, match=r"record 2 claims 16777217 bytes"):
        read(tmp_path, pcap(records[:1], "raw") + struct.pack("<IIII", 0, 0, 2**24 + 1, 0))
    assert read(tmp_path, pcap(records[:1], "raw") + struct.pack("<IIII", 0, 0, 2**24, 0)).losses.cut_after == 1


@pytest.mark.parametrize("packed", [b"\x1f\x8b", b"\x28\xb5", b"BZ", b"\xfd7", b"PK"])
def test_packed_files_are_told_so(tmp_path: Path, packed: bytes) -> None:
    with pytest.raises(InputError, match="is compressed"):
        read(tmp_path, packed + bytes(90))


def parts(sent: Sent, size: int) -> list[bytes]:
    return frames_of(sent, part=size)


def test_parts_within_a_second_belong_together(tmp_path: Path) -> None:
    sent = Sent(bytes(range(256)) * 8, number=3)
    one, two = parts(sent, 1480)
    for apart, whole in ((10**9, 1), (10**9 + 1, 0)):
        for first, second in ((one, two), (two, one)):
            found = read(tmp_path, pcap([Record(first, 5 * 10**9), Record(second, 5 * 10**9 + apart)], nano=True))
            assert (len(found), found.losses.incomplete) == (whole, 0 if whole else 2), apart


def test_the_number_the_addresses_and_the_lane_tell_datagrams_apart(tmp_path: Path) -> None:
    sents = [
        Sent(b"a" * 2000, number=3), Sent(b"b" * 2000, number=4), Sent(b"c" * 2000, number=3, source="192.168.1.77"),
        Sent(b"d" * 2000, number=3, destination="10.0.0.9"), Sent(b"e" * 2000, number=3, vlan=(9,)),
    ]  # fmt: skip
    firsts, seconds = zip(*(parts(sent, 1480) for sent in sents), strict=True)
    found = read(tmp_path, pcap([Record(frame, 0) for frame in (*firsts, *seconds)]))
    assert [found.payload(row) for row in range(5)] == [sent.payload for sent in sents] and found.losses == Losses()


def fragment(offset: int, body: bytes, more: bool, number: int = 8) -> bytes:
    return ip4(body, flags=offset // 8 | more << 13, number=number)


def test_of_parts_that_overlap_the_later_one_counts(tmp_path: Path) -> None:
    body = struct.pack(">HHHH", 7, 9, 48, 0) + bytes(range(40))
    cases = [
        [(0, 24), (16, 48)],  # over the end of the first
        [(16, 48), (0, 24)],
        [(0, 16), (8, 32), (32, 48)],
        [(0, 32), (8, 16), (16, 48)],  # one within another
    ]
    for spans in cases:
        frames = [fragment(begin, body[begin:end], end < 48) for begin, end in spans]
        found = of_frames(tmp_path, *frames)
        assert len(found) == 1 and found.payload(0) == body[8:], spans
    hole = [fragment(0, body[:16], True), fragment(24, body[24:], False)]
    assert of_frames(tmp_path, *hole).losses == Losses(incomplete=1)
    twice = [fragment(0, body[:16], True), fragment(0, body[:16], True), fragment(16, body[16:], False)]
    found = of_frames(tmp_path, *twice)
    assert (found.payload(0), found.losses) == (body[8:], Losses(doubled=1))
    late = of_frames(
        tmp_path, fragment(0, body[:16], True), fragment(16, body[16:], False), fragment(16, body[16:], False)
    )
    assert (len(late), late.losses) == (1, Losses(doubled=1))


def test_no_datagram_is_longer_than_65535_bytes(tmp_path: Path) -> None:
    most = struct.pack(">HHHH", 7, 9, 65535, 0) + bytes(65527)
    cut = [(k, most[k : k + 32768]) for k in range(0, 65535, 32768)]
    found = of_frames(tmp_path, *(fragment(at, body, at == 0) for at, body in cut))
    assert found.size.tolist() == [65527]
    far = of_frames(tmp_path, fragment(0, most[:32768], True), fragment(32768, most[32768:] + b"x", False))
    assert len(far) == 0 and far.losses == Losses(incomplete=1)


def test_extensions_behind_a_fragments_header_wait_until_it_is_whole(tmp_path: Path) -> None:
    """The first part alone has them; what follows the header of a later part is no header."""
    body = UDP + bytes(29)
    udp = struct.pack(">HHHH", 7, 9, len(body), 0) + body[8:]
    six = [
        ip6(struct.pack(">BBHI", 17, 0, offset | more, 0x12345678) + udp[offset : offset + 16], 44)
        for offset, more in ((0, 1), (16, 1), (32, 0))
    ]
    found = of_frames(tmp_path, *six)
    assert found.payload(0) == udp[8:]
    other = [frame[:44] + bytes(2) + frame[46:] for frame in six]
    assert len(of_frames(tmp_path, *six[:2], other[2])) == 0, "another number"


def ones(words: bytes) -> int:
    """The sum of RFC 1071: 0xFFFF where a header's checksum is right."""
    total = sum(struct.unpack(f">{len(words) // 2}H", words))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


@pytest.mark.parametrize("size", [0, 1, 2, 5, 700, 1471, 1472])
def test_a_datagram_as_it_is_written_byte_by_byte(size: int) -> None:
    """Record, Ethernet, IPv4 and UDP headers with both checksums right, an odd payload's too."""
    rng = np.random.default_rng(size)
    out = io.BytesIO()
    payloads = rng.integers(0, 256, (2, size), np.uint8)
    CaptureWriter(out, source="10.1.2.3", destination="10.9.8.7").write(
        Flow(payloads, np.array([7.9999996, 8.25]), 2368)
    )
    data = out.getvalue()
    assert data[:24] == struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    each = 16 + 42 + size
    assert len(data) == 24 + 2 * each
    for k, (second, micro) in enumerate(((8, 0), (8, 250_000))):
        record = data[24 + k * each : 24 + (k + 1) * each]
        assert struct.unpack_from("<IIII", record) == (second, micro, 42 + size, 42 + size)
        frame = record[16:]
        assert frame[:14] == b"\xff" * 6 + bytes.fromhex("607688000000") + b"\x08\x00"
        ip, udp = frame[14:34], frame[34:]
        assert struct.unpack(">BBHHHBB", ip[:10]) == (0x45, 0, 28 + size, k, 0x4000, 64, 17)
        assert ip[12:] == bytes([10, 1, 2, 3, 10, 9, 8, 7]) and ones(ip) == 0xFFFF
        assert struct.unpack(">HHH", udp[:6]) == (2368, 2368, 8 + size) and udp[8:] == payloads[k].tobytes()
        pseudo = ip[12:] + struct.pack(">HH", 17, 8 + size)
        assert ones(pseudo + udp + bytes(size % 2)) == 0xFFFF and udp[6:8] != bytes(2)


def test_a_sum_of_zero_is_written_as_all_ones() -> None:
    """RFC 768: a checksum of 0 says that none was made."""
    out = io.BytesIO()
    ip = struct.pack(">4B4BHH", 192, 168, 1, 201, 255, 255, 255, 255, 17, 10)
    rest = ones(ip + struct.pack(">HHH", 99, 99, 10))
    payload = np.frombuffer(struct.pack(">H", 0xFFFF - rest), np.uint8)[None]
    CaptureWriter(out).write(Flow(payload, np.array([0.0]), 99))
    assert out.getvalue()[24 + 16 + 40 :][:2] == b"\xff\xff"


def test_flows_are_written_in_the_order_of_time_and_long_ones_in_parts(tmp_path: Path) -> None:
    """At one time in the order of the flows; parts are of 1480 bytes, and the reader puts them together again."""
    rng = np.random.default_rng(4)
    long, short = rng.integers(0, 256, (2, 3001), np.uint8), rng.integers(0, 256, (3, 9), np.uint8)
    with (tmp_path / "a").open("wb") as file:
        writer = CaptureWriter(file)
        writer.write(Flow(long, np.array([1.0, 3.0]), 5), Flow(short, np.array([1.0, 2.0, 4.0]), 6))
        writer.write()
        writer.write(Flow(long[:, :1473], np.array([5.0, 6.0]), 5))
    found = read_datagrams(tmp_path / "a")
    assert found.port.tolist() == [5, 6, 6, 5, 6, 5, 5]
    wanted = [long[0], short[0], short[1], long[1], short[2], long[0, :1473], long[1, :1473]]
    assert [found.payload(row) for row in range(7)] == [one.tobytes() for one in wanted]
    assert found.times.tolist() == [1, 1, 2, 3, 4, 5, 6] and found.losses == Losses()
    data, at, told = (tmp_path / "a").read_bytes(), 24, []
    while at < len(data):
        size = struct.unpack_from("<I", data, at + 8)[0]
        ip = data[at + 30 : at + 50]
        assert ones(ip) == 0xFFFF and struct.unpack_from(">H", ip, 2)[0] == size - 14
        assert struct.unpack_from("<I", data, at + 12)[0] == size, "nothing of it was left out"
        told.append((struct.unpack_from(">H", ip, 4)[0], struct.unpack_from(">H", ip, 6)[0], size - 34))
        at += 16 + size
    parts_of = [(0x2000, 1480), (0x2000 | 185, 1480), (370, 49)]
    assert told[:3] == [(0, *part) for part in parts_of] and told[5:8] == [(1, *part) for part in parts_of]
    assert [number for number, flags, _ in told if flags == 0x4000] == [2, 3, 4]
    assert told[-2:] == [(6, 0x2000, 1480), (6, 185, 1)]


def test_checksums_of_known_words() -> None:
    rows = np.array([list(b"123456789"), list(b"\x00" * 9), list(range(247, 256))], np.uint8)
    assert ethernet_crc32(rows).tolist() == [zlib.crc32(row.tobytes()) for row in rows]
    assert mpeg_crc32(rows)[0] == 0x0376E6E7
    # Its bits turned around, a CRC-32/MPEG-2 is that of Ethernet, not inverted, of bytes turned around.
    turned = np.array([[int(f"{byte:08b}"[::-1], 2) for byte in row] for row in rows], np.uint8)
    other = [int(f"{crc ^ 0xFFFFFFFF:032b}"[::-1], 2) for crc in ethernet_crc32(turned).tolist()]
    assert mpeg_crc32(rows).tolist() == other


def test_pieces_are_laid_one_behind_the_other() -> None:
    data = np.arange(50, dtype=np.uint8)
    found = joined_pieces(data, np.array([40, 3, 7, 3]), np.array([5, 0, 2, 4]))
    assert found.tolist() == [40, 41, 42, 43, 44, 7, 8, 3, 4, 5, 6]


def test_senders_are_told_apart_the_largest_first(tmp_path: Path) -> None:
    sents = [
        Sent(b"a"),
        Sent(b"a", port=9),
        Sent(b"a", source_port=9),
        Sent(b"a", vlan=(2,)),
        Sent(b"a", source="10.0.0.1"),
        Sent(b"b", port=9),
    ]
    found = read(tmp_path, pcap(records_of(sents)))
    senders = found.senders()
    assert [sender.rows.tolist() for sender in senders] == [[1, 5], [4], [2], [0], [3]]
    assert str(senders[0]) == "192.168.1.201:2368>9" and senders[4].lane == 2
    assert found.begins(b"a").tolist() == [True] * 5 + [False] and not found.begins(b"ab").any()
    with pytest.raises(InputError, match="must all have one size"):
        read(tmp_path, pcap(records_of([*sents, replace(sents[0], payload=b"ab")]))).payloads()
    assert set(LINK_TYPES.values()) <= {0, 1, 101, 108, 113, 276}


def test_a_capture_that_comes_through_a_pipe(tmp_path: Path) -> None:
    """As of a recorder that is still running, or one that is unpacked on the way."""
    pipe, data = tmp_path / "pipe", pcap([Record(ip4(UDP), 5)], "raw", nano=True)
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_bytes, args=(data,))
    writer.start()
    try:
        assert read_datagrams(pipe).payload(0) == b"abc"
    finally:
        writer.join()


def test_of_many_units_the_first_four_are_named(tmp_path: Path) -> None:
    for count, words in (
        (5, "10.0.0.4 (1 packets) and 10.0.0.5 (1 packets); choose"),
        (6, "10.0.0.4 (1 packets) and 2 more; choose"),
        (9, " and 5 more; choose"),
    ):
        found = read(tmp_path, pcap(records_of([Sent(b"a", source=f"10.0.0.{k + 1}") for k in range(count)])))
        with pytest.raises(InputError) as caught:
            choose_unit(found)
        assert f"holds packets of {count} units, 10.0.0.1 (1 packets), 10.0.0.2 (1 packets), " in str(caught.value)
        assert words in str(caught.value)
    one = read(tmp_path, pcap(records_of([Sent(b"a"), Sent(b"b")])))
    assert choose_unit(one) is one and len(choose_unit(one, "192.168.1.201")) == 2
    with pytest.raises(InputError, match=r"a holds 192\.168\.1\.201 \(2 packets\)$"):
        choose_unit(one, "10.0.0.1")
    with pytest.raises(InputError, match=r"a holds none$"):
        choose_unit(one.select([]), "10.0.0.1")


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5])
def test_records_are_walked_some_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, count: int) -> None:
    """However many fit: as many as there are, one less, and one more."""
    monkeypatch.setattr(capture_file, "_AT_ONCE", 2)
    records = [Record(ip4(UDP), 10**9 * k) for k in range(count)]
    for more, cut in ((b"", None), (bytes(5), count)):
        found = read(tmp_path, pcap(records, "raw", nano=True) + more)
        assert found.times.tolist() == list(range(count)) and found.losses.cut_after == cut
    with pytest.raises(InputError, match=f"record {count + 1} claims 16777217 bytes"):
        read(tmp_path, pcap(records, "raw") + struct.pack("<IIII", 0, 0, 2**24 + 1, 0))


def test_where_a_pcapng_is_damaged_is_told(tmp_path: Path) -> None:
    """A section has 28 bytes, an interface 20."""
    for data, words in (
        (section() + interface() + block(6, bytes(16)), "the packet block at byte 48 is too short"),
        (section() + interface() + block(2, bytes(16)), "the packet block at byte 48 is too short"),
        (section() + packet(ip4(UDP), 0), "the block at byte 28 is of interface 0, which is not described"),
        (section() + block(3, struct.pack("<I", 3) + b"abc"), "the block at byte 28 is of interface 0"),
        (section() + interface() + struct.pack("<III", 6, 13, 13), "a block at byte 48 claims 13 bytes"),
        (section() + interface() + block(6, struct.pack("<5I", 0, 0, 0, 5, 5) + b"abcd"), "record 1 claims 5 bytes, more than its block"),
        (section() + interface() + section()[:8] + bytes(20), "the section at byte 48 has no byte order"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=f"{words}.*; the capture is damaged"):
            read(tmp_path, data)
    assert read(tmp_path, section() + interface() + packet(b"", 0)).losses == Losses(other=1), "just long enough"
