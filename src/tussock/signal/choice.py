"""Which echoes of a pulse the sensor reports.

    strongest   the strongest as received: a near leaf may outshine a far wall that is the brighter of the two
    second      the second strongest
    first, last by their measured ranges, so that the last is never nearer than the first
    all         one after the other, nearest first

Two at a time: ``strongest+last``, ``first+last``, ``first+strongest``, ``strongest+second``. Where both are one and the
same echo, Velodyne (VLP-16 manual 63-9243, section 9.3.2) and Hesai (Pandar64 and PandarXT manuals, data body) report
the second strongest beside it, except for first and last; where there is one echo only, they report it twice. Ouster's
second return is the second strongest, and none where there is none (``strongest+second``).

The functions look at one column of `Echoes` after it was measured; an echo that was lost has the signal −1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.kernels import loop_kernel
from tussock.return_modes import ModeNumber, ReturnKind

__all__ = [
    "ALL", "FIRST", "KIND_ECHO", "KIND_FIRST", "KIND_LAST", "KIND_SECOND", "KIND_STRONGEST", "LAST", "choose",
    "pair_of",
]  # fmt: skip

_STRONGEST, LAST, FIRST, _SECOND, _STRONGEST_LAST, _FIRST_LAST, _FIRST_STRONGEST, _STRONGEST_SECOND, ALL = (
    int(mode) for mode in ModeNumber
)
KIND_STRONGEST, KIND_LAST, KIND_FIRST, KIND_ECHO, KIND_SECOND = (np.uint8(kind) for kind in list(ReturnKind)[1:])


@loop_kernel
def choose(signals: Any, ranges: Any, count: int, lane: int, kind: Any, besides: int) -> int:
    """The echo of a kind, −1 for none; ``besides`` is one that does not count (−1: all do)."""
    best = -1
    for e in range(count):
        if signals[e, lane] < np.float32(0.0) or e == besides:
            continue
        if best < 0:
            best = e
        elif kind == KIND_LAST:
            best = e if ranges[e, lane] >= ranges[best, lane] else best
        elif kind == KIND_FIRST:
            best = e if ranges[e, lane] < ranges[best, lane] else best
        else:
            best = e if signals[e, lane] > signals[best, lane] else best
    return best


@loop_kernel
def pair_of(signals: Any, ranges: Any, count: int, lane: int, mode: int) -> Any:
    """The one or two echoes that a mode reports, and their kinds: (echo, kind, echo, kind), −1 for no echo."""
    if count == 1 and mode <= FIRST:  # by far the most pulses have one echo
        kind = KIND_STRONGEST if mode == _STRONGEST else KIND_LAST if mode == LAST else KIND_FIRST
        return 0 if signals[0, lane] >= np.float32(0.0) else -1, kind, -1, kind
    strongest = choose(signals, ranges, count, lane, KIND_STRONGEST, -1)
    if strongest < 0:
        return -1, KIND_STRONGEST, -1, KIND_STRONGEST
    if mode == _STRONGEST:
        return strongest, KIND_STRONGEST, -1, KIND_STRONGEST
    if mode == LAST:
        return choose(signals, ranges, count, lane, KIND_LAST, -1), KIND_LAST, -1, KIND_LAST
    if mode == FIRST:
        return choose(signals, ranges, count, lane, KIND_FIRST, -1), KIND_FIRST, -1, KIND_FIRST
    second = choose(signals, ranges, count, lane, KIND_STRONGEST, strongest)
    if mode == _SECOND:
        return second, KIND_SECOND, -1, KIND_SECOND
    if mode == _STRONGEST_SECOND:
        return strongest, KIND_STRONGEST, second, KIND_SECOND
    last = choose(signals, ranges, count, lane, KIND_LAST, -1)
    if mode == _STRONGEST_LAST:
        if last == strongest and second >= 0:
            return strongest, KIND_STRONGEST, second, KIND_SECOND
        return strongest, KIND_STRONGEST, last, KIND_LAST
    first = choose(signals, ranges, count, lane, KIND_FIRST, -1)
    if mode == _FIRST_LAST:
        return first, KIND_FIRST, last, KIND_LAST
    if first == strongest and second >= 0:
        return first, KIND_FIRST, second, KIND_SECOND
    return first, KIND_FIRST, strongest, KIND_STRONGEST
