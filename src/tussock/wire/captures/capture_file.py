"""The records of a capture file, pcap or pcapng: frames of the link layer, where each lies and when it was seen.

pcap (draft-ietf-opsawg-pcap): either byte order, micro- or nanoseconds, and Kuznetzov's longer records. pcapng
(draft-ietf-opsawg-pcapng): several sections and interfaces, enhanced, simple and obsolete packet blocks, any time
resolution. A file that ends in the middle of a record, as one whose recorder was stopped, is read up to there.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.kernels import Array, Whole, kernel

__all__ = ["Records", "read_records"]

_PCAP = {0xA1B2C3D4: (1000, 16), 0xA1B23C4D: (1, 16), 0xA1B2CD34: (1000, 24)}
"""length of a tick [ns] and of a record's header [bytes] by the file's first four bytes"""
_SECTION, _INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = 0x0A0D0D0A, 1, 2, 3, 6
_BYTE_ORDER = 0x1A2B3C4D
_END_OF_OPTIONS, _TIME_RESOLUTION, _TIME_OFFSET = 0, 9, 14
_PACKED = {b"\x1f\x8b": "gzip", b"\x28\xb5": "zstd", b"BZ": "bzip2", b"\xfd7": "xz", b"PK": "zip"}
_LONGEST = 1 << 24
_END_OF_TIME = 2**62  # [ns] the year 2116: later is damage


class Records(NamedTuple):
    """Frames of the link layer in the order of the file, one row each."""

    data: NDArray[np.uint8]
    """the whole file"""
    start: NDArray[np.int64]
    """[bytes] where a frame begins in ``data``, shape (n,)"""
    size: NDArray[np.int64]
    """[bytes] of it that were recorded, shape (n,)"""
    sent: NDArray[np.int64]
    """[bytes] that it had on the line, shape (n,)"""
    time_ns: NDArray[np.int64]
    """[ns] Unix time, shape (n,)"""
    link: NDArray[np.int64]
    """link type, shape (n,)"""
    interface: NDArray[np.int64]
    """number of the interface within a pcapng file, 0 in a pcap, shape (n,)"""
    cut_after: int | None
    """whole records before the file's end in the middle of one; None where it ends well"""
    untimed: int
    """records without a time of their own; they have that of the one before"""


def read_records(path: Path) -> Records:
    """The records of a pcap or pcapng file; what is neither is an `InputError`."""
    data = _bytes_of(path)
    magic = bytes(data[:4])
    if magic == struct.pack("<I", _SECTION):
        return _Pcapng(path, data).records()
    for order in "<>":
        number = struct.unpack(order + "I", magic)[0] if len(data) >= 24 else 0
        if number in _PCAP:
            return _pcap(path, data, order, *_PCAP[number])
    packed = _PACKED.get(magic[:2])
    if packed:
        raise InputError(f"{path}: is compressed ({packed}); unpack it first")
    raise InputError(f"{path}: is neither a pcap nor a pcapng capture")


def _bytes_of(path: Path) -> NDArray[np.uint8]:
    """A file as bytes, read when they are looked at: captures can be larger than memory."""
    try:
        if path.is_dir():
            raise InputError(f"{path}: is a folder, not a capture")
        if not path.exists():
            raise InputError(f"{path}: no such capture")
        if not path.is_file():
            return np.frombuffer(path.read_bytes(), np.uint8)
        return np.asarray(np.memmap(path, np.uint8, "r")) if path.stat().st_size else np.frombuffer(b"", np.uint8)
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror})") from None


def _pcap(path: Path, data: NDArray[np.uint8], order: str, tick: int, header: int) -> Records:
    link = struct.unpack(order + "I", bytes(data[20:24]))[0] & 0x0FFFFFFF
    tables, at, before = [np.empty((0, 5), np.int64)], 24, 0
    while at >= 0:
        rows = np.empty((_AT_ONCE, 5), np.int64)
        count, at = _walk(data, at, header, order == "<", rows)
        before += count
        if at == _DAMAGED:
            _check_length(path, before, int(rows[count, 1]))
        tables.append(rows[:count])
    table = np.concatenate(tables)
    start, size_of, sent_of, second, ticks = np.ascontiguousarray(table.T)
    same = np.zeros(len(table), np.int64)
    return Records(
        data, start, size_of, sent_of, second * 1_000_000_000 + ticks * tick, same + link, same,
        len(table) if at == _CUT else None, 0,
    )  # fmt: skip


_AT_ONCE = 65536  # records
_ENDED, _CUT, _DAMAGED = -1, -2, -3


@kernel
def _walk(data: Array, at: Whole, header: Whole, little: bool, rows: Array) -> Any:
    """The records from byte ``at`` on, as many as ``rows`` has room for: start, size, size sent, seconds, ticks.

    Gives how many there were, and where to go on, or why not.
    """
    end, count = len(data), 0
    while count < len(rows):
        if at >= end:
            return count, _ENDED
        if at + header > end:
            return count, _CUT
        for k in range(4):
            number = np.int64(0)
            for j in range(4):
                number |= np.int64(data[at + 4 * k + j]) << (8 * j if little else 24 - 8 * j)
            # In the file the times come first.
            rows[count, k + 3 if k < 2 else k - 1] = number
        size = rows[count, 1]
        if size > _LONGEST:
            return count, _DAMAGED
        if at + header + size > end:
            return count, _CUT
        rows[count, 0] = at + header
        at += header + size
        count += 1
    return count, at


def _check_length(path: Path, before: int, size: int) -> None:
    if size > _LONGEST:
        raise InputError(f"{path}: record {before + 1} claims {size} bytes; the capture is damaged")


class _Source(NamedTuple):
    """An interface of a pcapng section."""

    link: int
    snap: int
    in_ns: Callable[[int], int]
    """Unix time [ns] of a number of ticks"""


class _Pcapng:
    """Walks the blocks of a pcapng file."""

    def __init__(self, path: Path, data: NDArray[np.uint8]) -> None:
        self._path, self._data, self._view = path, data, data.data
        self._order = "<"
        self._sources: list[_Source] = []
        self._first = 0
        self._rows: list[tuple[int, int, int, int, int, int]] = []
        self._untimed = 0

    def records(self) -> Records:
        at, end, cut = 0, len(self._data), False
        while at < end:
            if at + 12 > end:
                cut = True
                break
            if bytes(self._view[at : at + 4]) == struct.pack("<I", _SECTION):
                self._open_section(at)
            kind, length = self._unpack("II", at)
            if length < 12 or length % 4 or length > _LONGEST:
                self._damaged(f"a block at byte {at} claims {length} bytes")
            if at + length > end:
                cut = True
                break
            self._take(kind, at + 8, at + length - 4)
            at += length
        table = np.array(self._rows, np.int64).reshape(-1, 6)
        start, size, sent, time_ns, link, interface = table.T
        return Records(
            self._data, start, size, sent, time_ns, link, interface, len(table) if cut else None, self._untimed
        )

    def _unpack(self, form: str, at: int) -> tuple[Any, ...]:
        return struct.unpack_from(self._order + form, self._view, at)

    def _damaged(self, why: str) -> None:
        raise InputError(f"{self._path}: {why}; the capture is damaged")

    def _open_section(self, at: int) -> None:
        for order in "<>":
            if struct.unpack_from(order + "I", self._view, at + 8)[0] == _BYTE_ORDER:
                self._order = order
                # Interfaces are numbered on over sections: two recordings joined are not of one interface.
                self._first += len(self._sources)
                self._sources = []
                return
        self._damaged(f"the section at byte {at} has no byte order")

    def _take(self, kind: int, at: int, end: int) -> None:
        """One block's body."""
        if kind == _INTERFACE:
            self._sources.append(self._interface(at, end))
        elif kind in (_PACKET, _OLD_PACKET):
            if end - at < 20:
                self._damaged(f"the packet block at byte {at - 8} is too short")
            if kind == _PACKET:
                number, high, low, size, sent = self._unpack("IIIII", at)
            else:
                number, _, high, low, size, sent = self._unpack("HHIIII", at)
            source = self._source(number, at)
            self._add(at + 20, size, sent, source.in_ns(high << 32 | low), number, end)
        elif kind == _SIMPLE_PACKET:
            sent = self._unpack("I", at)[0]
            source = self._source(0, at)
            size = min(sent, end - at - 4, source.snap or sent)
            self._untimed += 1
            self._add(at + 4, size, sent, self._rows[-1][3] if self._rows else 0, 0, end)

    def _add(self, at: int, size: int, sent: int, time_ns: int, number: int, end: int) -> None:
        if at + size > end:
            self._damaged(f"record {len(self._rows) + 1} claims {size} bytes, more than its block has")
        self._rows.append((at, size, sent, time_ns, self._sources[number].link, self._first + number))

    def _source(self, number: int, at: int) -> _Source:
        if number >= len(self._sources):
            self._damaged(f"the block at byte {at - 8} is of interface {number}, which is not described")
        return self._sources[number]

    def _interface(self, at: int, end: int) -> _Source:
        link, _, snap = self._unpack("HHI", at)
        per_second, offset = 1_000_000, 0
        at += 8
        while at + 4 <= end:
            code, length = self._unpack("HH", at)
            if code == _END_OF_OPTIONS or at + 4 + length > end:
                break
            if code == _TIME_RESOLUTION and length == 1:
                value = int(self._view[at + 4])
                per_second = 2 ** (value & 0x7F) if value & 0x80 else 10**value
            elif code == _TIME_OFFSET and length == 8:
                offset = self._unpack("q", at + 4)[0]
            at += 4 + (length + 3) // 4 * 4

        def in_ns(ticks: int) -> int:
            time = offset * 1_000_000_000 + ticks * 1_000_000_000 // per_second
            return max(-_END_OF_TIME, min(time, _END_OF_TIME))

        return _Source(link, snap, in_ns)
