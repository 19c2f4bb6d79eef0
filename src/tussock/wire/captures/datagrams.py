"""The UDP datagrams of a capture as arrays: when, from whom, to which port, and their bytes.

`read_datagrams` reads a pcap or pcapng file whole. Datagrams stay in the order of the file, which is that of arrival
whatever the clock of the recorder did; a sensor's reader puts them in the order of the sensor's own clock. What a file
lacks is counted (`Losses`) and can be said in words (`Losses.notes`).
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from ipaddress import IPv6Address
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.shown import Shown
from tussock.wire.captures.capture_file import Records, read_records
from tussock.wire.captures.fragments import Joined, join_fragments
from tussock.wire.captures.headers import KNOWN_LINKS, Frames, parse_frames
from tussock.wire.captures.pieces import joined_pieces

__all__ = ["CaptureWarning", "Datagrams", "Losses", "Sender", "read_datagrams", "warn"]

_HEADER = 8


class CaptureWarning(UserWarning):
    """A capture was read, but it does not hold all that was sent, or not as it was sent."""


def warn(note: str) -> None:
    """Say a note about a capture as a `CaptureWarning`."""
    warnings.warn(note, CaptureWarning, stacklevel=3)


@dataclass(frozen=True)
class Losses:
    """What a capture lacks, counted."""

    cut_after: int | None = None
    """whole records before the file ends in the middle of one; None where it ends well"""
    shortened: int = 0
    """UDP datagrams recorded in part, by too short a snap length"""
    incomplete: int = 0
    """datagrams of fragments that lack one"""
    doubled: int = 0
    """fragments that came twice; one of each counts"""
    malformed: int = 0
    """UDP headers that contradict the packet they are in"""
    unknown_links: int = 0
    """records of a kind of network that cannot be read"""
    backwards: int = 0
    """datagrams recorded with a time before that of an earlier one"""
    untimed: int = 0
    """records without a time"""
    other: int = 0
    """whole records that are no UDP: nothing is lost with them"""

    def notes(self, path: Path | None) -> list[str]:
        """A line for everything that is wrong, none for a sound capture; each names the file where it is given."""
        found = []
        if self.cut_after is not None:
            found.append(f"ends in the middle of record {self.cut_after + 1}; the {self.cut_after} before it are read")
        for count, text in (
            (self.shortened, "datagrams were recorded in part and are left out; record with a longer snap length"),
            (self.incomplete, "datagrams lack a fragment and are left out"),
            (self.doubled, "fragments came twice and count once"),
            (self.malformed, "datagrams contradict their headers and are left out"),
            (self.unknown_links, "records are of a network that cannot be read and are left out"),
            (self.backwards, "datagrams were recorded with a time before that of an earlier one"),
            (self.untimed, "records have no time and take that of the one before"),
        ):
            if count:
                found.append(f"{count} {text}")
        return found if path is None else [f"{path}: {text}" for text in found]


class Sender(NamedTuple):
    """One flow of datagrams: who sent them, and to which port."""

    source: str
    """IP address"""
    source_port: int
    port: int
    """that they were sent to"""
    lane: int
    """interface and VLAN of the recorder"""
    rows: NDArray[np.int64]
    """its datagrams"""

    def __str__(self) -> str:
        host = f"[{self.source}]" if ":" in self.source else self.source
        return f"{host}:{self.source_port}>{self.port}"


@dataclass(frozen=True, eq=False, repr=False)
class Datagrams(Shown):
    """UDP datagrams in the order of the file, one row each.

    >>> scene = tussock.Scene("crate")
    >>> crate = scene.add(tussock.box((1, 1, 1)), position=(5, 0, 0))
    >>> sensor = tussock.load_sensor("vlp-16")
    >>> with tussock.open_recording("run.pcap", sensor) as run:
    ...     run.write(tussock.scan(scene, sensor, keep_misses=True))
    >>> datagrams = tussock.read_datagrams("run.pcap")
    >>> len(datagrams.select(datagrams.port == 2368)) > 70
    True
    """

    path: Path
    time_ns: NDArray[np.int64]
    """[ns] Unix time, shape (n,)"""
    source: NDArray[np.uint8]
    """IPv6 address, or IPv4 mapped to it (``::ffff:a.b.c.d``), shape (n, 16)"""
    destination: NDArray[np.uint8]
    """the same of the receiver, shape (n, 16)"""
    source_port: NDArray[np.uint16]
    """shape (n,)"""
    port: NDArray[np.uint16]
    """that it was sent to, shape (n,)"""
    lane: NDArray[np.int64]
    """interface and VLAN of the recorder, shape (n,): two sensors of one address can differ in it alone"""
    start: NDArray[np.int64]
    """[bytes] where the payload begins in ``data``, shape (n,)"""
    size: NDArray[np.int64]
    """[bytes] of the payload, shape (n,)"""
    data: NDArray[np.uint8]
    losses: Losses

    def __len__(self) -> int:
        return len(self.start)

    @property
    def times(self) -> NDArray[np.float64]:
        """[s] Unix time, shape (n,), good to a quarter of a microsecond"""
        return self.time_ns / 1e9

    def select(self, rows: Any) -> Datagrams:
        """The chosen rows (a mask or indices), in their order."""
        return replace(self, **{name: getattr(self, name)[rows] for name in _COLUMNS})

    def payload(self, row: int) -> bytes:
        """The bytes of one datagram."""
        start = int(self.start[row])
        return self.data[start : start + int(self.size[row])].tobytes()

    def payloads(self) -> NDArray[np.uint8]:
        """The bytes of all, shape (n, size); all must be of one size: `select` by ``size`` first."""
        if not len(self):
            return np.empty((0, 0), np.uint8)
        size = int(self.size[0])
        if (self.size != size).any():
            raise InputError.of("payloads", "must all have one size", np.unique(self.size).tolist())
        return joined_pieces(self.data, self.start, self.size).reshape(len(self), size)

    def begins(self, bytes_: bytes) -> NDArray[np.bool_]:
        """Whether a payload begins with these bytes, shape (n,)."""
        wanted = np.frombuffer(bytes_, np.uint8)
        found = self.size >= len(wanted)
        for ahead, value in enumerate(wanted):
            found[found] = self.data[self.start[found] + ahead] == value
        return found

    def senders(self) -> list[Sender]:
        """The flows among these datagrams, the largest first."""
        if not len(self):
            return []
        ports = np.stack([self.source_port, self.port], 1).astype(np.uint16)
        keys = np.concatenate(
            [self.source, ports.view(np.uint8), np.ascontiguousarray(self.lane[:, None]).view(np.uint8)], 1
        )
        if (keys == keys[0]).all():
            first, of = np.zeros(1, np.int64), np.zeros(len(keys), np.int64)
        else:
            _, first, of = np.unique(keys, axis=0, return_index=True, return_inverse=True)
        found = [
            Sender(
                address(self.source[row]), int(self.source_port[row]), int(self.port[row]), int(self.lane[row]),
                np.flatnonzero(of.ravel() == number),
            )
            for number, row in enumerate(first)
        ]  # fmt: skip
        return sorted(found, key=lambda sender: (-len(sender.rows), sender[:4]))


_COLUMNS = ("time_ns", "source", "destination", "source_port", "port", "lane", "start", "size")


def address(raw: NDArray[np.uint8]) -> str:
    """Sixteen bytes as people write them."""
    whole = IPv6Address(raw.tobytes())
    return str(whole.ipv4_mapped or whole)


def read_datagrams(path: Path | str) -> Datagrams:
    """All UDP datagrams of a pcap or pcapng file; what is neither is an `InputError`.

    >>> scene = tussock.Scene("crate")
    >>> crate = scene.add(tussock.box((1, 1, 1)), position=(5, 0, 0))
    >>> sensor = tussock.load_sensor("vlp-16")
    >>> with tussock.open_recording("run.pcap", sensor) as run:
    ...     run.write(tussock.scan(scene, sensor, keep_misses=True))
    >>> len(tussock.read_datagrams("run.pcap")) > 70
    True
    """
    path = Path(path)
    records = read_records(path)
    known = np.isin(records.link, KNOWN_LINKS)
    if len(known) and not known.any():
        link = int(records.link[0])
        raise InputError(f"{path}: its link type {link} is not known; captures of Ethernet can be read")
    frames = parse_frames(records)
    return _gathered(path, records, frames, join_fragments(records, frames), int((~known).sum()))


def _gathered(path: Path, records: Records, frames: Frames, joined: Joined, unknown: int) -> Datagrams:
    """Whole datagrams and joined ones, in the order of the file."""
    whole = np.flatnonzero(frames.udp & ~frames.fragment)
    rows = np.concatenate([whole, joined.rows])
    data, at = records.data, frames.start[whole]
    # Up to where the packet goes, and up to where it was recorded.
    end, there = frames.end[whole], np.minimum(frames.end, frames.there)[whole]
    if len(joined.rows):
        # Wholes first, joined ones behind them, in bytes of their own.
        size = np.maximum(there - at, 0)
        first, past = joined.pieces[:, 0], joined.pieces[:, 1]
        data = joined_pieces(data, np.append(at, first), np.append(size, past - first))
        data.setflags(write=False)
        begin = np.cumsum(np.append(size, joined.lengths)) - np.append(size, joined.lengths)
        end, there = (
            np.concatenate([begin[: len(whole)] + (edge - at), begin[len(whole) :] + joined.lengths])
            for edge in (end, there)
        )
        at = begin

    def u16(ahead: int) -> NDArray[np.int64]:
        inside = at + ahead + 2 <= there
        place = np.where(inside, at + ahead, 0)
        return np.where(inside, data[place].astype(np.int64) << 8 | data[place + 1], 0)

    length = np.where(at + _HEADER <= there, u16(4), 0) if len(data) > 1 else np.zeros_like(at)
    shortened = (there < end) & ((at + _HEADER > there) | (at + length > there))
    malformed = ~shortened & ((at + _HEADER > end) | (length < _HEADER) | (at + length > end))
    good = np.flatnonzero(~shortened & ~malformed)
    good = good[np.argsort(rows[good], kind="stable")]
    row = rows[good]
    times = records.time_ns[row]
    return Datagrams(
        path=path,
        time_ns=times,
        source=frames.source[row],
        destination=frames.destination[row],
        source_port=u16(0)[good].astype(np.uint16) if len(good) else np.empty(0, np.uint16),
        port=u16(2)[good].astype(np.uint16) if len(good) else np.empty(0, np.uint16),
        lane=frames.lane[row],
        start=at[good] + _HEADER,
        size=length[good] - _HEADER,
        data=data,
        losses=Losses(
            cut_after=records.cut_after,
            shortened=int(shortened.sum()),
            incomplete=joined.incomplete,
            doubled=joined.doubled,
            malformed=int(malformed.sum()),
            unknown_links=unknown,
            backwards=int((times < np.maximum.accumulate(times)).sum()) if len(times) else 0,
            untimed=records.untimed,
            other=int((~frames.udp).sum()) - unknown,
        ),
    )
