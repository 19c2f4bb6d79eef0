"""Memory of workers, kept for the next scan that needs as much.

Some sixty arrays are made for a worker, under the interpreter's lock: 16 threads that made theirs before each scan began one
after the other, the last one 5 ms after the first. A scan writes what it reads of them, so what an earlier one left does not
matter: but for axes and deviates that count nothing in a beam without spread or noise, which are 0 in new memory, and for rows
of hits behind those of the sub-rays, which every group of pulses leaves empty.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TypeAlias

from tussock.pulse.follow import may_go_on
from tussock.pulse.loop import new_scratch
from tussock.pulse.tables import Scanning, Scratch, Slots
from tussock.pulse.weather import air_hits
from tussock.rebound import in_python

__all__ = ["Shelf", "scratch_from", "shelf_for"]

Shelf: TypeAlias = "deque[Scratch]"
"""scratch of one size that nobody uses"""

_MOST_SIZES, _MOST_A_SIZE = 8, 256
_shelves: dict[tuple[int | bool, ...], Shelf] = {}


def shelf_for(scanning: Scanning, slots: Slots) -> Shelf:
    """Where workers of this scan find memory, and leave it."""
    around, firing, air = scanning.around, scanning.firing, scanning.air
    size = (
        len(firing.stencil), len(firing.off_plane), slots.range.shape[1], bool(firing.half_width > 0.0),
        bool(in_python(may_go_on)(scanning)), len(around.tables.responses) > 0, len(around.volumes.model) > 0,
        in_python(air_hits)(air), len(air.clouds),
    )  # fmt: skip
    shelf = _shelves.get(size)
    if shelf is None:
        while len(_shelves) >= _MOST_SIZES:  # the one that is longest here
            _shelves.pop(next(iter(_shelves)), None)
        shelf = _shelves.setdefault(size, deque(maxlen=_MOST_A_SIZE))
    return shelf


@contextmanager
def scratch_from(shelf: Shelf, scanning: Scanning, slots: Slots) -> Iterator[Scratch]:
    """Memory for one worker, for as long as the block lasts."""
    try:
        scratch = shelf.pop()
    except IndexError:
        scratch = in_python(new_scratch)(scanning, slots.range.shape[1])
    else:
        for unread in (scratch.aim, scratch.heard.draws, scratch.chosen.draws):
            unread[...] = 0.0
    yield scratch
    shelf.append(scratch)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_shelves.clear)
