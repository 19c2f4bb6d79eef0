"""Datagrams of any capture, made byte by byte: every link, IP and file format, fragments, and what is damaged."""

from __future__ import annotations

import random
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from made_captures import LINK_TYPES, Record, Sent, block, frames_of, pcap, pcapng, records_of
from tussock.errors import InputError
from tussock.wire.captures.datagrams import Datagrams, Losses, read_datagrams

V6 = {"source": "fe80::1", "destination": "ff02::2"}


def some(count: int = 20, size: int = 1206, **given: object) -> list[Sent]:
    rng = random.Random(count)
    return [
        Sent(rng.randbytes(size), 1_700_000_000_000_000_000 + k * 1_327_104, number=k, **given)  # type: ignore[arg-type]
        for k in range(count)
    ]


def read(path: Path, data: bytes) -> Datagrams:
    path.write_bytes(data)
    return read_datagrams(path)


def same(found: Datagrams, sents: list[Sent], tick: int = 1) -> None:
    assert [found.payload(row) for row in range(len(found))] == [sent.payload for sent in sents]
    assert found.time_ns.tolist() == [sent.time_ns // tick * tick for sent in sents]
    assert found.source_port.tolist() == [sent.source_port for sent in sents]
    assert found.port.tolist() == [sent.port for sent in sents]


@pytest.mark.parametrize("link", LINK_TYPES)
@pytest.mark.parametrize("v6", [False, True], ids=["v4", "v6"])
@pytest.mark.parametrize("extensions", [False, True], ids=["plain", "extended"])
@pytest.mark.parametrize("part", [None, 520], ids=["whole", "fragments"])
def test_every_link_and_ip(tmp_path: Path, link, v6: bool, extensions: bool, part: int | None) -> None:
    sents = some(extensions=extensions, **(V6 if v6 else {}))
    records = records_of(sents, link, part=part)
    for data in (pcap(records, link, nano=True), pcapng(records, [link])):
        found = read(tmp_path / "a.pcap", data)
        same(found, sents)
        np.testing.assert_array_equal(found.payloads(), [list(sent.payload) for sent in sents])
        assert found.losses == Losses()
        (sender,) = found.senders()
        assert sender.source == sents[0].source


@pytest.mark.parametrize("order", ["<", ">"])
def test_byte_orders_and_clocks(tmp_path: Path, order: str) -> None:
    sents = some(5)
    records = records_of(sents)
    same(read(tmp_path / "a", pcap(records, order=order)), sents, 1000)
    same(read(tmp_path / "a", pcap(records, order=order, nano=True)), sents)
    for resolution, tick in ((None, 1000), (6, 1000), (9, 1), (3, 1_000_000), (10, 1)):
        same(read(tmp_path / "a", pcapng(records, order=order, resolution=resolution)), sents, tick)
    found = read(tmp_path / "a", pcapng(records, order=order, resolution=0x80 | 30))
    assert np.abs(found.time_ns - [sent.time_ns for sent in sents]).max() <= 1


def test_longer_records(tmp_path: Path) -> None:
    """Kuznetzov's pcap (magic 0xA1B2CD34): a record's header goes on with interface, protocol and kind of packet."""
    sents = some(5)
    data = struct.pack("<IHHiIII", 0xA1B2CD34, 2, 4, 0, 0, 65535, 1)
    for frame, sent in zip(records_of(sents), sents, strict=True):
        second, rest = divmod(sent.time_ns, 1_000_000_000)
        data += struct.pack("<IIII", second, rest // 1000, len(frame.frame), len(frame.frame))
        data += struct.pack("<IHBB", 2, 0x0008, 1, 0) + frame.frame
    same(read(tmp_path / "a.pcap", data), sents, 1000)


def test_a_clock_beyond_all_years(tmp_path: Path) -> None:
    frame = frames_of(Sent(b"a"))[0]
    data = pcapng([], resolution=0) + block(6, struct.pack("<IIIII", 0, 2**32 - 1, 0, len(frame), len(frame)) + frame)
    assert read(tmp_path / "a", data).payload(0) == b"a"


def test_sections_of_either_order_and_several_interfaces(tmp_path: Path) -> None:
    sents = some(6)
    one = [Record(frames_of(sent, ("ethernet", "raw")[k % 2])[0], sent.time_ns, k % 2) for k, sent in enumerate(sents)]
    links = ["ethernet", "raw"]
    data = pcapng(one[:3], links) + pcapng(one[3:], links, order=">")
    found = read(tmp_path / "a.pcapng", data)
    same(found, sents)
    # An interface of one section is not that of another.
    assert len({sender.lane for sender in found.senders()}) == 4


def test_simple_packets_have_no_time(tmp_path: Path) -> None:
    sents = some(3)
    found = read(
        tmp_path / "a", pcapng(records_of(sents[:1])) + block(3, struct.pack("<I", 1248) + frames_of(sents[1])[0])
    )
    assert found.payload(1) == sents[1].payload and found.time_ns[1] == sents[0].time_ns
    assert found.losses == Losses(untimed=1)
    assert "1 records have no time" in found.losses.notes(Path("a"))[0]


def test_vlan_tags_and_what_follows_the_datagram(tmp_path: Path) -> None:
    """Ethernet pads short frames; tags may be stacked."""
    sents = [*some(3, 4), *some(3, 8, vlan=(42,)), *some(2, 6, vlan=(42, 7))]
    records = [replace(record, frame=record.frame + bytes(9)) for record in records_of(sents)]
    found = read(tmp_path / "a", pcap(records, nano=True))
    same(found, sents)
    assert len(found.senders()) == 3


def test_other_traffic_is_passed_over(tmp_path: Path) -> None:
    sents = some(4)
    frame = frames_of(sents[0])[0]
    others = [b"", bytes(60), frame[:13], frame[:23] + b"\x06" + frame[24:], frame[:12] + b"\x08\x06" + frame[14:]]
    records = [Record(other, 0) for other in others] + records_of(sents)
    found = read(tmp_path / "a", pcap(records, nano=True))
    same(found, sents)
    assert found.losses.other == len(others) and not found.losses.notes(Path("a"))


def test_headers_that_contradict_themselves(tmp_path: Path) -> None:
    good = some(2)
    frame = bytearray(frames_of(good[0])[0])
    frame[38:40] = struct.pack(">H", 3000)
    short = bytearray(frames_of(good[0])[0])
    short[38:40] = struct.pack(">H", 4)
    found = read(tmp_path / "a", pcap([Record(bytes(frame), 0), Record(bytes(short), 0), *records_of(good)], nano=True))
    same(found, good)
    assert found.losses.malformed == 2


def test_cut_by_the_snap_length(tmp_path: Path) -> None:
    sents = some(4)
    records = records_of(sents)
    records[1] = replace(records[1], recorded=200)
    records[2] = replace(records[2], recorded=40)
    for data in (pcap(records, nano=True), pcapng(records)):
        found = read(tmp_path / "a", data)
        same(found, [sents[0], sents[3]])
        assert found.losses == Losses(shortened=2)


def test_a_file_that_ends_early(tmp_path: Path) -> None:
    sents = some(4)
    for data in (pcap(records_of(sents), nano=True), pcapng(records_of(sents))):
        for less in (1, 30, 1200):
            found = read(tmp_path / "a", data[:-less])
            same(found, sents[:3])
            assert found.losses == Losses(cut_after=3)
            assert found.losses.notes(Path("a")) == ["a: ends in the middle of record 4; the 3 before it are read"]


def test_times_that_go_back_are_counted_and_the_order_kept(tmp_path: Path) -> None:
    sents = some(6)
    sents = [sents[k] for k in (0, 2, 1, 3, 5, 4)]
    found = read(tmp_path / "a", pcap(records_of(sents), nano=True))
    same(found, sents)
    assert found.losses == Losses(backwards=2)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "is neither a pcap nor a pcapng capture"),
        (b"x" * 500, "is neither a pcap nor a pcapng capture"),
        (b"\x1f\x8b" + bytes(50), r"is compressed \(gzip\); unpack it first"),
        (pcap(records_of(some(2)))[:32] + b"\xff\xff\xff\x7f" + bytes(100), "record 1 claims 2147483647 bytes"),
        (pcap(records_of(some(2)))[:32] + struct.pack("<I", 2**24 + 1) + bytes(100), "record 1 claims 16777217 bytes"),
        (struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 105) + bytes(16), "its link type 105 is not known"),
        (b"\x0a\x0d\x0d\x0a" + bytes(100), "the section at byte 0 has no byte order; the capture is damaged"),
        (pcapng([])[:-16] + block(6, struct.pack("<IIIII", 7, 0, 0, 0, 0)), "the block at byte 60 is of interface 7, which is not described"),
        (pcapng([]) + struct.pack("<II", 6, 13) + bytes(80), "claims 13 bytes; the capture is damaged"),
        (pcapng([]) + block(6, bytes(8)), "is too short; the capture is damaged"),
        (pcapng([]) + block(6, struct.pack("<IIIII", 0, 0, 0, 999, 999)), "record 1 claims 999 bytes, more than its block"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_what_is_no_capture(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "a.pcap"
    with pytest.raises(InputError, match=says) as caught:
        read(path, data)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)


def test_paths_that_are_no_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such capture"):
        read_datagrams(tmp_path / "missing.pcap")
    with pytest.raises(InputError, match="is a folder, not a capture"):
        read_datagrams(tmp_path)


def test_no_datagrams_at_all(tmp_path: Path) -> None:
    for data in (pcap([]), pcapng([])):
        found = read(tmp_path / "a", data)
        assert len(found) == 0 and found.senders() == [] and found.payloads().shape == (0, 0)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_fragments_in_any_order(tmp_path_factory, data) -> None:
    """Shuffled, repeated and lost fragments of many datagrams; whole are those of which every part was there."""
    rng = random.Random(data.draw(st.integers(0, 10_000)))
    v6 = data.draw(st.booleans())
    sents = [
        Sent(rng.randbytes(rng.randrange(0, 4000)), 1_000_000 * k, number=k, **(V6 if v6 else {})) for k in range(12)
    ]
    lose, double = data.draw(st.floats(0, 0.2)), data.draw(st.floats(0, 0.5))
    records, complete, incomplete, doubled = [], set(), 0, 0
    for k, sent in enumerate(sents):
        frames = frames_of(sent, part=8 * rng.randrange(1, 200))
        kept = [frame for frame in frames if rng.random() >= lose]
        if len(kept) == len(frames):
            complete.add(k)
        elif kept:
            incomplete += 1
        if len(frames) > 1:
            again = [frame for frame in kept if rng.random() < double]
            kept, doubled = kept + again, doubled + len(again)
        records += [Record(frame, sent.time_ns) for frame in kept]
    rng.shuffle(records)
    path = tmp_path_factory.mktemp("fragments") / "a.pcap"
    found = read(path, pcap(records))
    got = sorted(found.payload(row) for row in range(len(found)))
    assert got == sorted(sents[k].payload for k in complete)
    assert (found.losses.incomplete, found.losses.doubled) == (incomplete, doubled)


def test_a_number_that_comes_round_again(tmp_path: Path) -> None:
    """The identification of IPv4 has 16 bits: a lost part must not be filled from a datagram of seconds later."""
    old, new = Sent(b"a" * 3000, 0, number=5), Sent(b"b" * 3000, 4_000_000_000, number=5)
    late = Sent(b"c" * 3000, 4_000_500_000, number=5)
    olds, news, lates = (frames_of(sent, part=1480) for sent in (old, new, late))
    records = [Record(olds[0], 0), Record(olds[1], 0), *(Record(frame, new.time_ns) for frame in news)]
    records += [Record(frame, late.time_ns) for frame in lates]
    found = read(tmp_path / "a", pcap(records))
    assert [found.payload(row) for row in range(len(found))] == [new.payload, late.payload]
    assert found.losses.incomplete == 1


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 1_000_000), kind=st.sampled_from(["pcap", "pcapng"]))
def test_damaged_bytes_never_stumble(tmp_path_factory, seed: int, kind: str) -> None:
    """Any bytes changed anywhere: datagrams or one line, never another error, never a payload beyond the file."""
    rng = random.Random(seed)
    sents = [*some(6, 60), *some(3, 900, **V6)]
    records = records_of(sents, part=rng.choice([None, 64]))
    data = bytearray(pcap(records) if kind == "pcap" else pcapng(records))
    for _ in range(rng.randrange(1, 12)):
        data[rng.randrange(len(data))] = rng.randrange(256)
    path = tmp_path_factory.mktemp("damaged") / "a.pcap"
    try:
        found = read(path, bytes(data[: rng.randrange(1, len(data) + 1)]))
    except InputError as error:
        assert str(path) in str(error)
        return
    assert (found.size >= 0).all() and (found.start + found.size <= len(found.data)).all()
    assert isinstance(found.losses.notes(path), list)
