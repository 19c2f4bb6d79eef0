"""From frames of the link layer to UDP, whatever the layers between.

Ethernet with any VLAN tags, Linux "cooked" of either version, BSD loopback, plain IP; IPv4 with options, IPv6 with
extension headers; fragments of either are told apart for `tussock.wire.captures.fragments`. Checksums are not looked
at: a recording on the sending host has wrong ones where the network card computes them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import Array, Whole, inline_kernel, kernel
from tussock.wire.captures.capture_file import Records

__all__ = ["KNOWN_LINKS", "Frames", "parse_frames"]

_ETHERNET, _COOKED, _COOKED_2 = 1, 113, 276
_LOOPBACK = (0, 108)  # a header of four bytes
_PLAIN_IP = (12, 14, 101, 228, 229)
KNOWN_LINKS = (_ETHERNET, _COOKED, _COOKED_2, *_LOOPBACK, *_PLAIN_IP)

_VLAN = (0x8100, 0x88A8, 0x9100)
_IPV4, _IPV6 = 0x0800, 0x86DD
_UDP, _FRAGMENT, _AUTHENTICATION = 17, 44, 51
_EXTENSIONS = (0, 43, 60, 135, 139, 140)
_MOST_EXTENSIONS = 8

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
    count = len(records.start)

    def numbers() -> Numbers:
        return np.zeros(count, np.int64)

    def flags() -> Flags:
        return np.zeros(count, np.bool_)

    out = Frames(
        udp=flags(), fragment=flags(), source=np.zeros((count, 16), np.uint8),
        destination=np.zeros((count, 16), np.uint8), lane=numbers(), start=numbers(), end=numbers(),
        there=records.start + records.size, identification=numbers(), offset=numbers(), more=flags(),
    )  # fmt: skip
    _parse(records.data, records.start, records.start + records.sent, records.link, records.interface, out)
    return out


@kernel
def _parse(data: Array, start: Array, sent_end: Array, link: Array, interface: Array, out: Frames) -> None:
    for row in range(len(start)):
        there = out.there[row]
        at, version, lane = _to_ip(data, start[row], there, link[row])
        out.lane[row] = lane + (interface[row] << 44)
        if version == 4 and at + 20 <= there:
            at = _version_4(data, at, sent_end[row], out, row)
        elif version == 6 and at + 40 <= there:
            at = _version_6(data, at, sent_end[row], out, row)
        out.start[row] = at


@inline_kernel
def _byte(data: Array, at: Whole, there: Whole) -> Whole:
    """One byte; 0 beyond the record's end."""
    return np.int64(data[at]) if at < there else 0


@inline_kernel
def _u16(data: Array, at: Whole, there: Whole) -> Whole:
    return _byte(data, at, there) << 8 | _byte(data, at + 1, there)


@inline_kernel
def _to_ip(data: Array, at: Whole, there: Whole, link: Whole) -> Any:
    """The first byte of IP, which version it is (0: another protocol), and the lane, without the interface."""
    kind, lane = 0, 0
    if link == _ETHERNET and at + 14 <= there:
        kind, at = _u16(data, at + 12, there), at + 14
    elif link == _COOKED and at + 16 <= there:
        kind, at = _u16(data, at + 14, there), at + 16
    elif link == _COOKED_2 and at + 20 <= there:
        kind = _u16(data, at, there)
        lane = (_u16(data, at + 4, there) << 16 | _u16(data, at + 6, there)) << 12
        at += 20
    while kind in _VLAN and at + 4 <= there:
        lane += _u16(data, at, there) & 0xFFF
        kind, at = _u16(data, at + 2, there), at + 4
    if link in _LOOPBACK:
        at += 4
    elif link not in _PLAIN_IP and kind not in (_IPV4, _IPV6):
        return at, 0, lane
    return at, _byte(data, at, there) >> 4, lane


@inline_kernel
def _version_4(data: Array, at: Whole, sent_end: Whole, out: Frames, row: Whole) -> Whole:
    there = out.there[row]
    length = (_byte(data, at, there) & 15) * 4
    if length < 20 or _byte(data, at + 9, there) != _UDP:
        return at
    out.udp[row] = True
    total = _u16(data, at + 2, there)
    # 0: the network card was to cut it in parts; the record says how long it is.
    out.end[row] = at + total if total else sent_end
    flags = _u16(data, at + 6, there)
    _part(out, row, (flags & 0x1FFF) * 8, flags & 0x2000 != 0, _u16(data, at + 4, there))
    # An IPv4 address as one of IPv6 (RFC 4291, section 2.5.5.2).
    for k in range(10, 12):
        out.source[row, k], out.destination[row, k] = 255, 255
    for k in range(4):
        out.source[row, 12 + k], out.destination[row, 12 + k] = data[at + 12 + k], data[at + 16 + k]
    return at + length


@inline_kernel
def _version_6(data: Array, at: Whole, sent_end: Whole, out: Frames, row: Whole) -> Whole:
    there = out.there[row]
    length, kind = _u16(data, at + 4, there), _byte(data, at + 6, there)
    out.end[row] = at + 40 + length if length else sent_end
    for k in range(16):
        out.source[row, k], out.destination[row, k] = data[at + 8 + k], data[at + 24 + k]
    at += 40
    for _ in range(_MOST_EXTENSIONS):
        if kind == _UDP:
            out.udp[row] = True
            return at
        if kind not in _EXTENSIONS and kind != _FRAGMENT and kind != _AUTHENTICATION:
            return at
        # An extension header (RFC 8200, section 4), and what comes behind it.
        following, length = _byte(data, at, there), _byte(data, at + 1, there)
        if kind == _FRAGMENT:
            flags = _u16(data, at + 2, there)
            number = _u16(data, at + 4, there) << 16 | _u16(data, at + 6, there)
            _part(out, row, flags & 0xFFF8, flags & 1 != 0, number)
            at += 8
        else:
            at += 8 + length * (4 if kind == _AUTHENTICATION else 8)
        if out.fragment[row] and following != _UDP:
            return at  # only the first part of a datagram has further headers; they are read when it is whole
        kind = following
    return at


@inline_kernel
def _part(out: Frames, row: Whole, offset: Whole, more: bool, number: Whole) -> None:
    """A row that may be a fragment: an offset of 0 and no more to come is a whole datagram."""
    out.offset[row], out.more[row], out.identification[row] = offset, more, number
    out.fragment[row] = offset > 0 or more
