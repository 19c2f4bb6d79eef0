"""From frames of the link layer to UDP: every row at once, whatever the layers between.

Ethernet with any VLAN tags, Linux "cooked" of either version, BSD loopback, plain IP; IPv4 with options, IPv6 with
extension headers; fragments of either are told apart for `tussock.wire.captures.fragments`. Checksums are not looked
at: a recording on the sending host has wrong ones where the network card computes them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.wire.captures.capture_file import Records

__all__ = ["KNOWN_LINKS", "Frames", "parse_frames"]

_ETHERNET, _COOKED, _COOKED_2 = 1, 113, 276
_LOOPBACK = (0, 108)
_PLAIN_IP = (12, 14, 101, 228, 229)
KNOWN_LINKS = (_ETHERNET, _COOKED, _COOKED_2, *_LOOPBACK, *_PLAIN_IP)

_VLAN = (0x8100, 0x88A8, 0x9100)
_IPV4, _IPV6 = 0x0800, 0x86DD
_UDP, _FRAGMENT, _AUTHENTICATION = 17, 44, 51
_EXTENSIONS = (0, 43, 60, 135, 139, 140)
_MOST_EXTENSIONS = 8
_MAPPED = np.array([0] * 10 + [255, 255], np.uint8)
"""an IPv4 address as one of IPv6 (RFC 4291, section 2.5.5.2)"""

Numbers = NDArray[np.int64]
Flags = NDArray[np.bool_]


class Frames(NamedTuple):
    """What the headers of every record say, one row a record."""

    udp: Flags
    """carries UDP, whole or a fragment, shape (n,)"""
    fragment: Flags
    """is a fragment, shape (n,)"""
    source: NDArray[np.uint8]
    """IPv6 address, or IPv4 mapped to it, shape (n, 16)"""
    destination: NDArray[np.uint8]
    """shape (n, 16)"""
    lane: Numbers
    """which way into the recorder: interface and VLAN, shape (n,)"""
    start: Numbers
    """[bytes] where the UDP header, or a fragment's part, begins, shape (n,)"""
    end: Numbers
    """[bytes] where it should end, shape (n,)"""
    there: Numbers
    """[bytes] where the record ends, shape (n,)"""
    identification: Numbers
    """number that fragments of one datagram share, shape (n,)"""
    offset: Numbers
    """[bytes] place of a fragment's part in the whole, shape (n,)"""
    more: Flags
    """a fragment that is not the last, shape (n,)"""


def parse_frames(records: Records) -> Frames:
    """Read the headers of every record."""
    walk = _Walk(records)
    walk.link()
    walk.version_4()
    walk.version_6()
    return walk.frames()


class _Walk:
    """The place that each row has been read up to, and what was found on the way."""

    def __init__(self, records: Records) -> None:
        self._records = records
        count = len(records.start)
        self._data = records.data
        self.there = records.start + records.size
        self.at = records.start.copy()
        self.version = np.zeros(count, np.int64)
        self.lane = records.interface << 44
        self.udp, self.fragment, self.more = (np.zeros(count, np.bool_) for _ in range(3))
        self.source, self.destination = np.zeros((count, 16), np.uint8), np.zeros((count, 16), np.uint8)
        self.end, self.identification, self.offset = (np.zeros(count, np.int64) for _ in range(3))

    def frames(self) -> Frames:
        return Frames(
            self.udp, self.fragment, self.source, self.destination, self.lane, self.at, self.end, self.there,
            self.identification, self.offset, self.more,
        )  # fmt: skip

    def _byte(self, rows: Numbers, ahead: int = 0) -> Numbers:
        """One byte of each row; 0 beyond the record's end."""
        at = self.at[rows] + ahead
        inside = at < self.there[rows]
        return np.where(inside, self._data[np.where(inside, at, 0)], 0).astype(np.int64)

    def _u16(self, rows: Numbers, ahead: int = 0) -> Numbers:
        return self._byte(rows, ahead) << 8 | self._byte(rows, ahead + 1)

    def _address(self, rows: Numbers, ahead: int, size: int) -> NDArray[np.uint8]:
        return np.stack([self._byte(rows, ahead + k) for k in range(size)], 1).astype(np.uint8)

    def _fits(self, rows: Numbers, size: int) -> Numbers:
        return rows[self.at[rows] + size <= self.there[rows]]

    def link(self) -> None:
        """To the first byte of IP, and which version it is."""
        link = self._records.link
        kind = np.zeros(len(link), np.int64)
        for number, size, ahead in ((_ETHERNET, 14, 12), (_COOKED, 16, 14), (_COOKED_2, 20, 0)):
            rows = self._fits(np.flatnonzero(link == number), size)
            kind[rows] = self._u16(rows, ahead)
            if number == _COOKED_2:
                self.lane[rows] += (self._u16(rows, 4) << 16 | self._u16(rows, 6)) << 12
            self.at[rows] += size
        rows = np.flatnonzero(np.isin(kind, _VLAN))
        while len(rows := self._fits(rows, 4)):
            self.lane[rows] += self._u16(rows) & 0xFFF
            kind[rows] = self._u16(rows, 2)
            self.at[rows] += 4
            rows = rows[np.isin(kind[rows], _VLAN)]
        plain = np.isin(link, _PLAIN_IP)
        loop = np.isin(link, _LOOPBACK)
        self.at[loop] += 4
        rows = np.flatnonzero(plain | loop | (kind == _IPV4) | (kind == _IPV6))
        self.version[rows] = self._byte(rows) >> 4

    def version_4(self) -> None:
        rows = self._fits(np.flatnonzero(self.version == 4), 20)
        length = (self._byte(rows) & 15) * 4
        udp = (length >= 20) & (self._byte(rows, 9) == _UDP)
        rows, length = rows[udp], length[udp]
        total = self._u16(rows, 2)
        # 0: the network card was to cut it in parts; the record says how long it is.
        self.end[rows] = np.where(total == 0, self._sent_end(rows), self.at[rows] + total)
        flags = self._u16(rows, 6)
        self.udp[rows] = True
        self._part(rows, (flags & 0x1FFF) * 8, flags & 0x2000 != 0, self._u16(rows, 4))
        for column, ahead in ((self.source, 12), (self.destination, 16)):
            column[rows, :12], column[rows, 12:] = _MAPPED, self._address(rows, ahead, 4)
        self.at[rows] += length

    def version_6(self) -> None:
        rows = self._fits(np.flatnonzero(self.version == 6), 40)
        length, following = self._u16(rows, 4), self._byte(rows, 6)
        self.end[rows] = np.where(length == 0, self._sent_end(rows), self.at[rows] + 40 + length)
        self.source[rows], self.destination[rows] = self._address(rows, 8, 16), self._address(rows, 24, 16)
        self.at[rows] += 40
        for _ in range(_MOST_EXTENSIONS):
            self.udp[rows[following == _UDP]] = True
            rows, following = self._beyond_extension(rows, following)

    def _beyond_extension(self, rows: Numbers, kind: Numbers) -> tuple[Numbers, Numbers]:
        """Rows at an extension header, moved behind it, and what comes there (RFC 8200, section 4)."""
        extended = np.isin(kind, (*_EXTENSIONS, _FRAGMENT, _AUTHENTICATION))
        rows, kind = rows[extended], kind[extended]
        following, length = self._byte(rows), self._byte(rows, 1)
        split = kind == _FRAGMENT
        parts = rows[split]
        flags = self._u16(parts, 2)
        self._part(parts, flags & 0xFFF8, flags & 1 != 0, self._u16(parts, 4) << 16 | self._u16(parts, 6))
        self.at[rows] += np.where(split, 8, 8 + length * np.where(kind == _AUTHENTICATION, 4, 8))
        # Only the first part of a datagram has further headers; those of UDP itself are read when it is whole.
        on = ~self.fragment[rows] | (following == _UDP)
        return rows[on], following[on]

    def _sent_end(self, rows: Numbers) -> Numbers:
        return self._records.start[rows] + self._records.sent[rows]

    def _part(self, rows: Numbers, offset: Numbers, more: Flags, number: Numbers) -> None:
        """Rows that may be fragments: an offset of 0 and no more to come is a whole datagram."""
        self.offset[rows], self.more[rows], self.identification[rows] = offset, more, number
        self.fragment[rows] = (offset > 0) | more
