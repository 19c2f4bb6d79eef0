"""Captures made byte by byte, from the formats' own documents: any link, any IP, whole or in fragments, pcap or pcapng.

Written apart from what reads them: nothing here is shared with `tussock.wire.captures`.
"""

from __future__ import annotations

import socket
import struct
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

Link = Literal["ethernet", "cooked", "cooked 2", "raw", "loopback", "loop"]
LINK_TYPES: dict[str, int] = {"ethernet": 1, "cooked": 113, "cooked 2": 276, "raw": 101, "loopback": 0, "loop": 108}


@dataclass(frozen=True)
class Sent:
    """One UDP datagram."""

    payload: bytes
    time_ns: int = 1_700_000_000_000_000_000
    source: str = "192.168.1.201"
    destination: str = "255.255.255.255"
    source_port: int = 2368
    port: int = 2368
    number: int = 0
    """identification of its fragments"""
    vlan: tuple[int, ...] = ()
    extensions: bool = False
    """IPv6: a hop-by-hop and a destination header; IPv4: options"""


def frames_of(sent: Sent, link: Link = "ethernet", *, part: int | None = None) -> list[bytes]:
    """The frames of the link layer that carry a datagram, in fragments of ``part`` bytes (a multiple of 8)."""
    udp = struct.pack(">HHHH", sent.source_port, sent.port, 8 + len(sent.payload), 0) + sent.payload
    v6 = ":" in sent.source
    pieces = (
        [(0, udp)] if part is None or len(udp) <= part else [(k, udp[k : k + part]) for k in range(0, len(udp), part)]
    )
    frames = []
    for offset, piece in pieces:
        more = offset + len(piece) < len(udp)
        ip = _ip6(sent, piece, offset, more, len(pieces) > 1) if v6 else _ip4(sent, piece, offset, more)
        frames.append(_link(link, ip, v6, sent.vlan))
    return frames


def _ip4(sent: Sent, piece: bytes, offset: int, more: bool) -> bytes:
    options = b"\x01" * 8 if sent.extensions else b""
    words = 5 + len(options) // 4
    head = struct.pack(
        ">BBHHHBBH", 0x40 | words, 0, words * 4 + len(piece), sent.number & 0xFFFF, more << 13 | offset // 8, 64, 17, 0
    )
    return head + socket.inet_aton(sent.source) + socket.inet_aton(sent.destination) + options + piece


def _ip6(sent: Sent, piece: bytes, offset: int, more: bool, split: bool) -> bytes:
    chain = [0, 60] if sent.extensions else []
    chain += [44] if split else []
    body = b""
    for place, kind in enumerate(chain):
        following = (*chain, 17)[place + 1]
        if kind == 44:
            body += struct.pack(">BBHI", following, 0, offset | more, sent.number)
        else:  # 16 bytes: 8 of its own and one more eight
            body += bytes([following, 1, 1, 12]) + bytes(12)
    first = (*chain, 17)[0]
    addresses = b"".join(socket.inet_pton(socket.AF_INET6, a) for a in (sent.source, sent.destination))
    return struct.pack(">IHBB", 6 << 28, len(body) + len(piece), first, 64) + addresses + body + piece


def _link(link: Link, ip: bytes, v6: bool, vlan: tuple[int, ...]) -> bytes:
    kind = struct.pack(">H", 0x86DD if v6 else 0x0800)
    tagged = b"".join(struct.pack(">HH", 0x8100, number) for number in vlan) + kind
    if link == "ethernet":
        return b"\xff" * 6 + b"\x60\x76\x88\x00\x00\x01" + tagged + ip
    if link == "cooked":
        return struct.pack(">HHH8s", 0, 1, 6, b"") + tagged + ip
    if link == "cooked 2":
        return tagged[:2] + struct.pack(">HIHBB8s", 0, 3, 1, 0, 6, b"") + tagged[2:] + ip
    if link == "loopback":
        return struct.pack("<I", 30 if v6 else 2) + ip
    if link == "loop":
        return struct.pack(">I", 30 if v6 else 2) + ip
    return ip


@dataclass(frozen=True)
class Record:
    frame: bytes
    time_ns: int
    interface: int = 0
    recorded: int | None = None
    """bytes that the snap length left"""


def records_of(sents: list[Sent], link: Link = "ethernet", *, part: int | None = None) -> list[Record]:
    return [Record(frame, sent.time_ns) for sent in sents for frame in frames_of(sent, link, part=part)]


def pcap(records: list[Record], link: Link = "ethernet", *, order: str = "<", nano: bool = False) -> bytes:
    magic, tick = (0xA1B23C4D, 1) if nano else (0xA1B2C3D4, 1000)
    out = [struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, LINK_TYPES[link])]
    for record in records:
        kept = record.frame[: record.recorded]
        seconds, rest = divmod(record.time_ns, 1_000_000_000)
        out.append(struct.pack(order + "IIII", seconds, rest // tick, len(kept), len(record.frame)) + kept)
    return b"".join(out)


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    body += bytes(-len(body) % 4)
    size = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", kind) + size + body + size


def pcapng(
    records: list[Record], links: list[Link] | None = None, *, order: str = "<", resolution: int | None = 9,
    simple: bool = False,
) -> bytes:  # fmt: skip
    """``resolution``: −log10 of a tick [s], or with the highest bit set −log2; None: not said, microseconds."""
    out = [block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)]
    for link in links or ["ethernet"]:
        option = b"" if resolution is None else struct.pack(order + "HHBxxxHH", 9, 1, resolution, 0, 0)
        out.append(block(1, struct.pack(order + "HHI", LINK_TYPES[link], 0, 0) + option, order))
    out.append(block(4, bytes(4), order))  # name resolution: nothing of ours
    value = 6 if resolution is None else resolution
    per_second = 1 << (value & 127) if value & 128 else 10**value
    for record in records:
        kept = record.frame[: record.recorded]
        ticks = record.time_ns * per_second // 1_000_000_000
        if simple:
            out.append(block(3, struct.pack(order + "I", len(record.frame)) + kept, order))
        else:
            head = struct.pack(
                order + "IIIII", record.interface, ticks >> 32, ticks & 0xFFFFFFFF, len(kept), len(record.frame)
            )
            comment = struct.pack(order + "HH4sHH", 1, 4, b"note", 0, 0)
            out.append(block(6, head + kept + bytes(-len(kept) % 4) + comment, order))
    return b"".join(out)


def moved(sent: Sent, **changes: object) -> Sent:
    return replace(sent, **changes)  # type: ignore[arg-type]


def crc32_of_mpeg2(rows: np.ndarray) -> np.ndarray:
    """Bit by bit, of all rows at once."""
    rest = np.full(len(rows), 0xFFFFFFFF, np.uint64)
    for byte in rows.astype(np.uint64).T:
        rest ^= byte << np.uint64(24)
        for _ in range(8):
            top = rest & np.uint64(0x80000000) != 0
            rest = rest << np.uint64(1) & np.uint64(0xFFFFFFFF) ^ np.where(top, np.uint64(0x04C11DB7), np.uint64(0))
    return rest.astype(np.uint32)
