"""Captures (pcap): datagrams as they would have been recorded on the sensor's own network.

Written: classic pcap with microseconds, Ethernet, IPv4, UDP, all checksums right. Addresses are the factory's:
192.168.1.201 to everybody, port 2368 for data and 8308 for positions. Read: classic pcap of either byte order, with
micro- or nanoseconds, over Ethernet (with VLAN tags), Linux "cooked" or plain IP; everything that is no whole
IPv4 UDP datagram is passed over.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.wire.velodyne.encode import Packets

__all__ = ["DATA_PORT", "POSITION_PORT", "CaptureWriter", "Datagram", "read_capture", "read_payloads"]

DATA_PORT, POSITION_PORT = 2368, 8308

_MAGIC, _MAGIC_NANO, _MAGIC_NEXT_GENERATION = 0xA1B2C3D4, 0xA1B23C4D, 0x0A0D0D0A
_ETHERNET, _RAW_IP, _COOKED = 1, 101, 113
_RECORD, _HEADERS = 16, 42
_MAC_SENSOR, _MAC_ALL = bytes.fromhex("607688000000"), b"\xff" * 6
_IP_SENSOR, _IP_ALL = bytes([192, 168, 1, 201]), b"\xff" * 4
_LONGEST_RECORD = 1 << 18


class CaptureWriter:
    """Writes datagrams to an open file; times are Unix seconds and must not decrease."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._sent = 0
        file.write(struct.pack("<IHHiIII", _MAGIC, 2, 4, 0, 0, 65535, _ETHERNET))

    def write(
        self, packets: Packets, *, epoch: float, positions: tuple[NDArray[Any], NDArray[Any]] | None = None
    ) -> None:
        """Add data packets and position packets (payloads (m, 512), simulation times (m,)), in the order of time."""
        data = self._records(packets.payloads, epoch + packets.times, DATA_PORT)
        if positions is None or not len(positions[1]):
            self._file.write(data.data)
            return
        others = self._records(positions[0], epoch + positions[1], POSITION_PORT)
        done = 0
        for other, before in zip(others, np.searchsorted(packets.times, positions[1], side="right"), strict=True):
            self._file.write(data[done:before].data)
            self._file.write(other.data)
            done = before
        self._file.write(data[done:].data)

    def _records(self, payloads: NDArray[np.uint8], times: NDArray[np.float64], port: int) -> NDArray[np.uint8]:
        """Record header, Ethernet, IP and UDP headers and payload, shape (n, 16 + 42 + payload)."""
        count, size = payloads.shape
        records = np.zeros((count, _RECORD + _HEADERS + size), np.uint8)
        # Rounded as one number: half a microsecond before a full second must carry.
        micro = np.floor(times * 1e6 + 0.5).astype(np.int64)
        header = np.empty((count, 4), "<u4")
        header[:, 0], header[:, 1], header[:, 2:] = micro // 1_000_000, micro % 1_000_000, _HEADERS + size
        records[:, :16] = header.view(np.uint8)
        records[:, 16:58] = np.frombuffer(_headers(size, port), np.uint8)
        records[:, 58:] = payloads
        number = ((self._sent + np.arange(count)) % 65536).astype(">u2")
        records[:, 34:36] = number.view(np.uint8).reshape(-1, 2)
        self._sent += count
        records[:, 40:42] = _checksum(records[:, 30:50])
        # The pseudo header: both addresses (they lie before the UDP header), the protocol and the length once more.
        total = _checksum(records[:, 42:], extra=17 + 8 + size)
        total[(total == 0).all(axis=1)] = 0xFF  # a checksum of 0 would mean "none"
        records[:, 56:58] = total
        return records


def _headers(size: int, port: int) -> bytes:
    """Ethernet, IPv4 and UDP headers for a payload of ``size``, checksums and number still 0."""
    ethernet = _MAC_ALL + _MAC_SENSOR + b"\x08\x00"
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 28 + size, 0, 0x4000, 64, 17, 0) + _IP_SENSOR + _IP_ALL
    return ethernet + ip + struct.pack(">HHHH", port, port, 8 + size, 0)


def _checksum(part: NDArray[np.uint8], *, extra: int = 0) -> NDArray[np.uint8]:
    """The internet checksum (RFC 1071) of every row, as two bytes, shape (n, 2)."""
    total = np.ascontiguousarray(part).view(">u2").sum(axis=1, dtype=np.uint32) + np.uint32(extra)
    while (total >> 16).any():
        total = (total & 0xFFFF) + (total >> 16)
    return (~total).astype(np.uint16).astype(">u2").view(np.uint8).reshape(-1, 2)


class Datagram(NamedTuple):
    """One UDP datagram of a capture."""

    time: float
    """[s] Unix time"""
    port: int
    """that it was sent to"""
    payload: bytes


def read_capture(path: Path, *, cut: Literal["pass", "refuse"] = "pass") -> Iterator[Datagram]:
    """The UDP datagrams of a capture, one after the other; a broken or cut file is an `InputError`.

    ``cut`` says what happens to records that were recorded in part, by too short a snap length.
    """
    try:
        with path.open("rb") as file:
            yield from _datagrams(file, path, refuse_cut=cut == "refuse")
    except FileNotFoundError:
        raise InputError(f"{path}: no such capture") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, not a capture") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def read_payloads(path: Path, *, size: int = 1206) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """All payloads of ``size`` bytes in a capture, shape (n, size), and their Unix times [s], shape (n,)."""
    chosen = [datagram for datagram in read_capture(path) if len(datagram.payload) == size]
    if not chosen:
        raise InputError(f"{path}: holds no datagrams of {size} bytes")
    payloads = np.frombuffer(b"".join(d.payload for d in chosen), np.uint8).reshape(-1, size)
    return payloads, np.array([d.time for d in chosen])


def _datagrams(file: IO[bytes], path: Path, *, refuse_cut: bool) -> Iterator[Datagram]:
    order, tick, link = _file_header(file.read(24), path)
    number = 0
    while head := file.read(_RECORD):
        number += 1
        cut = InputError(f"{path}: ends in the middle of record {number}; the capture was cut")
        if len(head) < _RECORD:
            raise cut
        seconds, part, size, sent = struct.unpack(order + "IIII", head)
        if size > _LONGEST_RECORD:
            raise InputError(f"{path}: record {number} claims {size} bytes; the capture is damaged")
        frame = file.read(size)
        if len(frame) < size:
            raise cut
        if refuse_cut and size < sent:
            raise InputError.of(
                f"{path}: record {number}", f"must hold all {sent} bytes that were sent", size,
                "record it again with a longer snap length",
            )  # fmt: skip
        found = _udp(frame, link)
        if found is not None:
            yield Datagram(seconds + part * tick, *found)


def _file_header(head: bytes, path: Path) -> tuple[str, float, int]:
    """Byte order, length of a tick [s] and link type."""
    magic = struct.unpack("<I", head[:4])[0] if len(head) >= 4 else 0
    if magic == _MAGIC_NEXT_GENERATION:
        raise InputError(f"{path}: is a pcapng file; convert it first: editcap -F pcap IN OUT")
    for order in "<>":
        magic = struct.unpack(order + "I", head[:4])[0] if len(head) == 24 else 0
        if magic in (_MAGIC, _MAGIC_NANO):
            link = struct.unpack(order + "I", head[20:24])[0] & 0x0FFFFFFF
            if link not in (_ETHERNET, _RAW_IP, _COOKED):
                raise InputError(f"{path}: its link type {link} is not known; captures of Ethernet can be read")
            return order, 1e-6 if magic == _MAGIC else 1e-9, link
    raise InputError(f"{path}: is not a pcap capture")


def _udp(frame: bytes, link: int) -> tuple[int, bytes] | None:
    """Port and payload of a whole IPv4 UDP datagram, None for anything else."""
    start = {_ETHERNET: 14, _RAW_IP: 0, _COOKED: 16}[link]
    if link != _RAW_IP:
        kind = frame[start - 2 : start]
        while kind in (b"\x81\x00", b"\x88\xa8"):  # VLAN
            start += 4
            kind = frame[start - 2 : start]
        if kind != b"\x08\x00":
            return None
    ip = frame[start:]
    if len(ip) < 28 or ip[0] >> 4 != 4 or ip[9] != 17 or struct.unpack_from(">H", ip, 6)[0] & 0x3FFF:
        return None
    udp = ip[(ip[0] & 15) * 4 :]
    if len(udp) < 8:
        return None
    port, size = struct.unpack_from(">HH", udp, 2)
    return (port, udp[8:size]) if 8 <= size <= len(udp) else None
