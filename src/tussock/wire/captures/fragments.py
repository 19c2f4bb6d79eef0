"""Datagrams that travelled in parts, put together again (RFC 791 section 3.2, RFC 8200 section 4.5).

Parts belong together by addresses and number. Numbers come round again, after some seconds on a busy line, so parts
further apart in time than any network delays them are not of one datagram; nor are two different parts for one place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tussock.wire.captures.capture_file import Records
from tussock.wire.captures.headers import Frames

__all__ = ["Joined", "join_fragments"]

_LONGEST_WAIT = 1_000_000_000  # [ns]
_MOST_BYTES = 65535


class Joined(NamedTuple):
    """Datagrams of fragments, UDP header first."""

    rows: list[int]
    """the record whose part made each whole"""
    parts: list[bytes]
    incomplete: int
    """datagrams that lack a part"""


@dataclass
class _Begun:
    since: int
    parts: dict[int, bytes] = field(default_factory=dict)
    length: int = -1
    """known when the last part is"""
    done: bool = False

    def whole(self) -> bytes | None:
        """The datagram, if all parts are there, side by side."""
        if self.length < 0:
            return None
        joined = bytearray()
        for offset in sorted(self.parts):
            if offset > len(joined):
                return None
            joined[offset:] = self.parts[offset]
        return bytes(joined) if len(joined) == self.length else None


def join_fragments(records: Records, frames: Frames) -> Joined:
    """Put the fragments of UDP datagrams together."""
    rows = np.flatnonzero(frames.udp & frames.fragment)
    waiting: dict[bytes, _Begun] = {}
    done: list[int] = []
    wholes: list[bytes] = []
    incomplete = 0
    for row in rows.tolist():
        start, end = int(frames.start[row]), int(frames.end[row])
        offset, time = int(frames.offset[row]), int(records.time_ns[row])
        part = records.data[start : min(end, int(frames.there[row]))].tobytes()
        if len(part) < end - start or offset + len(part) > _MOST_BYTES:
            continue  # recorded in part, or nonsense: what lacks it is counted as incomplete
        key = (
            frames.source[row].tobytes() + frames.destination[row].tobytes()
            + int(frames.lane[row]).to_bytes(8, "little") + int(frames.identification[row]).to_bytes(4, "little")
        )  # fmt: skip
        begun = waiting.get(key)
        if begun is None or abs(time - begun.since) > _LONGEST_WAIT or begun.parts.get(offset, part) != part:
            incomplete += begun is not None and not begun.done
            begun = waiting[key] = _Begun(time)
        if begun.done:
            continue  # the same part once more
        begun.parts[offset] = part
        if not frames.more[row]:
            begun.length = offset + len(part)
        whole = begun.whole()
        if whole is not None:
            begun.done = True
            done.append(row)
            wholes.append(whole)
    incomplete += sum(not begun.done for begun in waiting.values())
    return Joined(done, wholes, incomplete)
