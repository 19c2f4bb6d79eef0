"""Captures written: datagrams as they would have been recorded on the sensor's own network.

Classic pcap with microseconds, Ethernet, IPv4, UDP, all checksums right. A datagram that is longer than an Ethernet
frame lies in fragments, each a record of its own, as it would have come over the wire.
"""

from __future__ import annotations

import struct
from ipaddress import IPv4Address
from itertools import pairwise
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["CaptureWriter", "Flow"]

_MAGIC, _ETHERNET = 0xA1B2C3D4, 1
_RECORD, _HEADERS = 16, 42
_PIECE = 1480  # bytes of a datagram in one Ethernet frame; a multiple of 8, as fragments need
_MORE = 0x2000  # fragments to come
_MAC_SENSOR, _MAC_ALL = bytes.fromhex("607688000000"), b"\xff" * 6


class Flow(NamedTuple):
    """Datagrams of one size to one port."""

    payloads: NDArray[np.uint8]
    """shape (n, size)"""
    times: NDArray[np.float64]
    """[s] Unix time, not decreasing, shape (n,)"""
    port: int
    """that they are sent to, and from"""


class CaptureWriter:
    """Writes datagrams to an open file, from ``source`` to ``destination``, both IPv4."""

    def __init__(self, file: IO[bytes], *, source: str = "192.168.1.201", destination: str = "255.255.255.255") -> None:
        self._file = file
        self._addresses = IPv4Address(source).packed + IPv4Address(destination).packed
        self._sent = 0
        file.write(struct.pack("<IHHiIII", _MAGIC, 2, 4, 0, 0, 65535, _ETHERNET))

    def write(self, *flows: Flow) -> None:
        """Add datagrams, in the order of time; at one time in the order of the flows."""
        records = [self._records(flow) for flow in flows]
        times = np.concatenate([flow.times for flow in flows]) if flows else np.empty(0)
        of = np.repeat(np.arange(len(flows)), [len(flow.times) for flow in flows]).astype(np.int64)
        of = of[np.argsort(times, kind="stable")]
        done = [0] * len(flows)
        # Runs of one flow are written at once.
        edges = [*np.flatnonzero(np.diff(of, prepend=-1)).tolist(), len(of)]
        for begin, end in pairwise(edges):
            flow = int(of[begin])
            self._file.write(records[flow][done[flow] : done[flow] + end - begin].data)
            done[flow] += end - begin

    def _records(self, flow: Flow) -> NDArray[np.uint8]:
        """Record header, Ethernet, IP and UDP headers and payload, shape (n, 16 + 42 + payload)."""
        count, size = flow.payloads.shape
        # Two bytes at a time for the checksums: an odd payload has a zero behind it, which is not written.
        records = np.zeros((count, _RECORD + _HEADERS + size + size % 2), np.uint8)
        # Rounded as one number: half a microsecond before a full second must carry.
        micro = np.floor(flow.times * 1e6 + 0.5).astype(np.int64)
        header = np.empty((count, 4), "<u4")
        header[:, 0], header[:, 1], header[:, 2:] = micro // 1_000_000, micro % 1_000_000, _HEADERS + size
        records[:, :16] = header.view(np.uint8)
        records[:, 16:58] = np.frombuffer(self._headers(size, flow.port), np.uint8)
        records[:, 58 : 58 + size] = flow.payloads
        number = ((self._sent + np.arange(count)) % 65536).astype(">u2")
        records[:, 34:36] = number.view(np.uint8).reshape(-1, 2)
        self._sent += count
        records[:, 40:42] = _checksum(records[:, 30:50])
        # The pseudo header: both addresses (they lie before the UDP header), the protocol and the length once more.
        total = _checksum(records[:, 42:], extra=17 + 8 + size)
        total[(total == 0).all(axis=1)] = 0xFF  # a checksum of 0 would mean "none"
        records[:, 56:58] = total
        whole = records[:, : _RECORD + _HEADERS + size]
        return np.ascontiguousarray(whole) if 8 + size <= _PIECE else _fragments(whole)

    def _headers(self, size: int, port: int) -> bytes:
        """Ethernet, IPv4 and UDP headers for a payload of ``size``, checksums and number still 0."""
        ethernet = _MAC_ALL + _MAC_SENSOR + b"\x08\x00"
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 28 + size, 0, 0x4000, 64, 17, 0) + self._addresses
        return ethernet + ip + struct.pack(">HHHH", port, port, 8 + size, 0)


def _fragments(whole: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Records with their datagrams cut into fragments, those of one datagram one behind the other, shape (n, bytes)."""
    before = _RECORD + 34  # record, Ethernet and IP headers
    parts = []
    for start in range(0, whole.shape[1] - before, _PIECE):
        body = whole[:, before + start : before + start + _PIECE]
        part = np.concatenate([whole[:, :before], body], axis=1)
        size = body.shape[1]
        more = _MORE if before + start + size < whole.shape[1] else 0
        part[:, 8:16] = np.frombuffer(struct.pack("<II", 34 + size, 34 + size), np.uint8)
        part[:, 32:34] = np.frombuffer(struct.pack(">H", 20 + size), np.uint8)
        part[:, 36:38] = np.frombuffer(struct.pack(">H", more | start // 8), np.uint8)
        part[:, 40:42] = 0
        part[:, 40:42] = _checksum(part[:, 30:50])
        parts.append(part)
    return np.concatenate(parts, axis=1)


def _checksum(part: NDArray[np.uint8], *, extra: int = 0) -> NDArray[np.uint8]:
    """The internet checksum (RFC 1071) of every row, as two bytes, shape (n, 2)."""
    total = np.ascontiguousarray(part).view(">u2").sum(axis=1, dtype=np.uint32) + np.uint32(extra)
    while (total >> 16).any():
        total = (total & 0xFFFF) + (total >> 16)
    return (~total).astype(np.uint16).astype(">u2").view(np.uint8).reshape(-1, 2)
