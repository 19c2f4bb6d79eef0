"""Datagrams that travelled in parts, put together again (RFC 791 section 3.2, RFC 8200 section 4.5).

Parts belong together by addresses and number. Numbers come round again, after some seconds on a busy line, so parts
further apart in time than any network delays them are not of one datagram; nor are two different parts for one place.

Nearly always the parts of a datagram came one after the other, and none of its number came near it in time: those are
joined all at once, the others one by one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.wire.captures.capture_file import Records
from tussock.wire.captures.headers import Frames

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
    pieces: NDArray[np.int64]
    """begin and end in the file [bytes] of their parts, one datagram's behind the other's, shape (parts, 2)"""
    incomplete: int
    """datagrams that lack a part"""
    doubled: int
    """parts that came once more"""


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


class _Fragments(NamedTuple):
    """The parts in a capture, in its order, each array of shape (n,) but for two."""

    rows: NDArray[np.int64]
    keys: NDArray[np.uint64]
    """addresses, lane and number: what parts of one datagram have in common, shape (n, 6)"""
    times: NDArray[np.int64]
    offsets: NDArray[np.int64]
    spans: NDArray[np.int64]
    """begin and end of each in the file [bytes], shape (n, 2)"""
    last: NDArray[np.bool_]

    @property
    def sizes(self) -> NDArray[np.int64]:
        return self.spans[:, 1] - self.spans[:, 0]

    def select(self, chosen: NDArray[np.bool_]) -> _Fragments:
        return _Fragments(
            self.rows[chosen], self.keys[chosen], self.times[chosen], self.offsets[chosen], self.spans[chosen],
            self.last[chosen],
        )  # fmt: skip

    def span(self, at: int) -> Span:
        return int(self.spans[at, 0]), int(self.spans[at, 1])


class _Runs(NamedTuple):
    """Parts that each continue the one before, as a run, each array of shape (runs,)."""

    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    whole: NDArray[np.bool_]
    """from a first part to a last"""


def join_fragments(records: Records, frames: Frames) -> Joined:
    """Put the fragments of UDP datagrams together."""
    found = _fragments(records, frames)
    runs = _runs(found)
    alone = _alone(found, runs)
    if alone.all():
        ends = runs.ends - 1
        return Joined(found.rows[ends], (found.offsets + found.sizes)[ends], found.spans, 0, 0)
    plain = np.repeat(alone, runs.ends - runs.begins)
    ends = runs.ends[alone] - 1
    rest = _join_one_by_one(records, found.select(~plain))
    return Joined(
        np.concatenate([found.rows[ends], rest.rows]),
        np.concatenate([(found.offsets + found.sizes)[ends], rest.lengths]),
        np.concatenate([found.spans[plain], rest.pieces]),
        rest.incomplete,
        rest.doubled,
    )


def _runs(found: _Fragments) -> _Runs:
    on = np.zeros(len(found.rows), np.bool_)
    on[1:] = ~found.last[:-1]
    for word in found.keys.T:
        on[1:] &= word[1:] == word[:-1]
    on[1:] &= found.offsets[1:] == (found.offsets + found.sizes)[:-1]
    begins = np.flatnonzero(~on)
    ends = np.append(begins, len(on))[1:]
    if not len(begins):
        return _Runs(begins, ends, np.empty(0, np.bool_))
    waited = np.maximum.reduceat(np.abs(found.times - np.repeat(found.times[begins], ends - begins)), begins)
    return _Runs(begins, ends, (found.offsets[begins] == 0) & found.last[ends - 1] & (waited <= _LONGEST_WAIT))


def _alone(found: _Fragments, runs: _Runs) -> NDArray[np.bool_]:
    """The runs that are a datagram each, whatever else there is: whole, and no part of their number is near, shape (runs,)."""
    # A sum of the key's words: equal keys have equal sums. Where others do too, they are joined one by one, as right.
    number = (found.keys[runs.begins] * _WEIGHTS).sum(axis=1)
    order = np.argsort(number, kind="stable")
    again = np.flatnonzero(np.diff(number[order]) == 0)
    apart = np.abs(np.diff(found.times[runs.begins][order])[again])
    near = number[order[again[apart <= _LONGEST_WAIT]]]
    return np.asarray(~np.isin(number, np.concatenate([near, number[~runs.whole]])))


_WEIGHTS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0xD6E8FEB86659FD93, 0xFF51AFD7ED558CCD,
                     0xC4CEB9FE1A85EC53], np.uint64)  # fmt: skip


def _join_one_by_one(records: Records, found: _Fragments) -> Joined:
    runs = _runs(found)
    until = np.zeros(len(found.rows), np.int64)
    until[runs.begins[runs.whole]] = runs.ends[runs.whole]
    waiting: dict[bytes, _Begun] = {}
    done_runs: dict[bytes, tuple[int, int]] = {}  # datagrams whose parts came one after the other
    done: list[int] = []
    lengths: list[int] = []
    pieces: list[NDArray[np.int64]] = [np.empty((0, 2), np.int64)]
    incomplete, doubled, at = 0, 0, 0
    while at < len(found.rows):
        key, end = found.keys[at].tobytes(), int(until[at])
        if key in done_runs:
            waiting[key] = _joined(found, *done_runs.pop(key))
        begun = waiting.get(key)
        if end and begun is None:
            done_runs[key] = at, end
            whole = found.spans[at:end]
            length = int(found.offsets[end - 1] + found.sizes[end - 1])
            at = end
        else:
            time, offset, span = int(found.times[at]), int(found.offsets[at]), found.span(at)
            if begun is None or abs(time - begun.since) > _LONGEST_WAIT or _other(records, begun, offset, span):
                incomplete += begun is not None and not begun.done
                begun = waiting[key] = _Begun(time)
            at += 1
            if begun.done or offset in begun.parts:
                doubled += 1
            if begun.done:
                continue
            begun.parts[offset] = span
            if found.last[at - 1]:
                begun.length = offset + span[1] - span[0]
            spans = begun.whole()
            if spans is None:
                continue
            begun.done = True
            whole, length = np.array(spans, np.int64).reshape(-1, 2), begun.length
        done.append(int(found.rows[at - 1]))
        lengths.append(length)
        pieces.append(whole)
    incomplete += sum(not begun.done for begun in waiting.values())
    return Joined(np.array(done, np.int64), np.array(lengths, np.int64), np.concatenate(pieces), incomplete, doubled)


def _joined(found: _Fragments, first: int, until: int) -> _Begun:
    """A datagram that is whole, with its parts: one of the same number comes again."""
    parts = {int(found.offsets[row]): found.span(row) for row in range(first, until)}
    return _Begun(int(found.times[first]), parts, done=True)


def _other(records: Records, begun: _Begun, offset: int, span: Span) -> bool:
    """Whether another part is known for this place."""
    known = begun.parts.get(offset, span)
    return records.data[slice(*known)].tobytes() != records.data[slice(*span)].tobytes()


def _fragments(records: Records, frames: Frames) -> _Fragments:
    rows = np.flatnonzero(frames.udp & frames.fragment)
    length = (frames.end - frames.start)[rows]
    # Recorded in part, or nonsense: what lacks it is counted as incomplete.
    sound = (frames.end <= frames.there)[rows] & (length >= 0) & (frames.offset[rows] + length <= _MOST_BYTES)
    rows = rows[sound]
    lane = np.stack([frames.lane[rows], frames.identification[rows]], 1).view(np.uint8)
    keys = np.concatenate([frames.source[rows], frames.destination[rows], lane], 1).view(np.uint64)
    spans = np.stack([frames.start[rows], frames.end[rows]], 1)
    return _Fragments(rows, keys, records.time_ns[rows], frames.offset[rows], spans, ~frames.more[rows])
