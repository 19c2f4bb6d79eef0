"""Datagrams that travelled in parts, put together again (RFC 791 section 3.2, RFC 8200 section 4.5).

Parts belong together by addresses and number. Numbers come round again, after some seconds on a busy line, so parts
further apart in time than any network delays them are not of one datagram; nor are two different parts for one place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.wire.captures.capture_file import Records
from tussock.wire.captures.headers import Frames
from tussock.wire.captures.pieces import joined_pieces

__all__ = ["Joined", "join_fragments"]

_LONGEST_WAIT = 1_000_000_000  # [ns]
_MOST_BYTES = 65535


Span = tuple[int, int]
"""begin and end of a part in the file [bytes]"""


class Joined(NamedTuple):
    """Datagrams of fragments, UDP header first."""

    rows: NDArray[np.int64]
    """the record whose part made each whole, shape (n,)"""
    lengths: NDArray[np.int64]
    """[bytes] of each, shape (n,)"""
    data: NDArray[np.uint8]
    """all of them, one after the other"""
    incomplete: int
    """datagrams that lack a part"""


@dataclass
class _Begun:
    since: int
    parts: dict[int, Span] = field(default_factory=dict)
    """by their place in the whole"""
    length: int = -1
    """known when the last part is"""
    done: bool = False

    def whole(self) -> list[Span] | None:
        """The datagram, if all parts are there, side by side."""
        if self.length < 0:
            return None
        spans: list[Span] = []
        length = 0
        for offset in sorted(self.parts):
            if offset > length:
                return None
            while length > offset:  # of parts that overlap the later one counts
                begin, end = spans.pop()
                length -= end - begin
                if length < offset:
                    spans.append((begin, begin + offset - length))
                    length = offset
            begin, end = self.parts[offset]
            spans.append((begin, end))
            length += end - begin
        return spans if length == self.length else None


@dataclass
class _Fragments:
    """The parts in a capture, in its order."""

    rows: list[int]
    keys: NDArray[np.uint8]
    """addresses, lane and number: what parts of one datagram have in common, shape (n, 48)"""
    times: list[int]
    offsets: list[int]
    spans: NDArray[np.int64]
    """begin and end of each in the file [bytes], shape (n, 2)"""
    last: list[bool]
    until: list[int]
    """where parts from here on make a whole one after the other, the first behind them; else 0"""

    def span(self, at: int) -> Span:
        return int(self.spans[at, 0]), int(self.spans[at, 1])


def join_fragments(records: Records, frames: Frames) -> Joined:
    """Put the fragments of UDP datagrams together."""
    found = _fragments(records, frames)
    waiting: dict[bytes, _Begun] = {}
    runs: dict[bytes, tuple[int, int]] = {}  # datagrams whose parts came one after the other, as they nearly always do
    done: list[int] = []
    lengths: list[int] = []
    pieces: list[NDArray[np.int64]] = [np.empty((0, 2), np.int64)]
    incomplete, at = 0, 0
    while at < len(found.rows):
        key, until = found.keys[at].tobytes(), found.until[at]
        if key in runs:
            waiting[key] = _joined(found, *runs.pop(key))
        begun = waiting.get(key)
        if until and begun is None:
            runs[key] = at, until
            whole = found.spans[at:until]
            begin, end = found.span(until - 1)
            length = found.offsets[until - 1] + end - begin
            at = until
        else:
            time, offset, span = found.times[at], found.offsets[at], found.span(at)
            if begun is None or abs(time - begun.since) > _LONGEST_WAIT or _other(records, begun, offset, span):
                incomplete += begun is not None and not begun.done
                begun = waiting[key] = _Begun(time)
            at += 1
            if begun.done:
                continue  # the same part once more
            begun.parts[offset] = span
            if found.last[at - 1]:
                begun.length = offset + span[1] - span[0]
            spans = begun.whole()
            if spans is None:
                continue
            begun.done = True
            whole, length = np.array(spans, np.int64).reshape(-1, 2), begun.length
        done.append(found.rows[at - 1])
        lengths.append(length)
        pieces.append(whole)
    incomplete += sum(not begun.done for begun in waiting.values())
    table = np.concatenate(pieces)
    data = joined_pieces(records.data, np.ascontiguousarray(table[:, 0]), table[:, 1] - table[:, 0])
    return Joined(np.array(done, np.int64), np.array(lengths, np.int64), data, incomplete)


def _joined(found: _Fragments, first: int, until: int) -> _Begun:
    """A datagram that is whole, with its parts: one of the same number comes again."""
    parts = {found.offsets[row]: found.span(row) for row in range(first, until)}
    return _Begun(found.times[first], parts, done=True)


def _other(records: Records, begun: _Begun, offset: int, span: Span) -> bool:
    """Whether another part is known for this place."""
    known = begun.parts.get(offset, span)
    return records.data[slice(*known)].tobytes() != records.data[slice(*span)].tobytes()


def _fragments(records: Records, frames: Frames) -> _Fragments:
    rows = np.flatnonzero(frames.udp & frames.fragment)
    length = (frames.end - frames.start)[rows]
    # Recorded in part, or nonsense: what lacks it is counted as incomplete.
    sound = (frames.end <= frames.there)[rows] & (length >= 0) & (frames.offset[rows] + length <= _MOST_BYTES)
    rows, length = rows[sound], length[sound]
    lane = np.stack([frames.lane[rows], frames.identification[rows]], 1).view(np.uint8)
    keys = np.concatenate([frames.source[rows], frames.destination[rows], lane], 1)
    time, offset, last = records.time_ns[rows], frames.offset[rows], ~frames.more[rows]
    # Parts that continue the one before them, and runs of such parts from a first to a last.
    on = np.zeros(len(rows), np.bool_)
    on[1:] = (keys[1:] == keys[:-1]).all(axis=1) & ~last[:-1] & (offset[1:] == (offset + length)[:-1])
    begins = np.flatnonzero(~on)
    ends = np.append(begins, len(rows))[1:]
    until = np.zeros(len(rows), np.int64)
    if len(begins):
        waited = np.maximum.reduceat(np.abs(time - np.repeat(time[begins], ends - begins)), begins)
        whole = (offset[begins] == 0) & last[ends - 1] & (waited <= _LONGEST_WAIT)
        until[begins[whole]] = ends[whole]
    spans = np.stack([frames.start[rows], frames.end[rows]], 1)
    return _Fragments(
        rows.tolist(), keys, time.tolist(), offset.tolist(), spans, last.tolist(),
        until.tolist(),
    )  # fmt: skip
