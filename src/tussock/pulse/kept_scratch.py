"""Memory of workers, kept for the next scan that needs as much.

Some sixty arrays are made for a worker, under the interpreter's lock: 16 threads that made theirs before each scan began one
after the other, the last one 5 ms after the first. A scan writes what it reads of them, so what an earlier one left does not
matter: but for axes and deviates that count nothing in a beam without spread or noise, which are 0 in new memory, and for rows
of hits behind those of the sub-rays, which every group of pulses leaves empty.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from numpy.typing import NDArray

from tussock.kernel_context import handed
from tussock.pulse.follow import may_go_on
from tussock.pulse.loop import new_scratch
from tussock.pulse.tables import Scanning, Scratch, Slots
from tussock.pulse.weather import air_hits
from tussock.rebound import in_python

__all__ = ["Shelf", "scratch_from", "shelf_for"]


class _Kept(NamedTuple):
    """Memory of one worker."""

    scratch: Scratch
    handed: Any
    """as kernels take it"""

    @property
    def unread(self) -> tuple[NDArray[Any], ...]:
        """What a loop may read without having written it."""
        return self.scratch.aim, self.scratch.heard.draws, self.scratch.chosen.draws


class Shelf(NamedTuple):
    """Memory of one size that nobody uses."""

    kept: deque[_Kept]
    written: Callable[[Scratch], Any]
    """what the loop writes of it"""


_MOST_SIZES, _MOST_A_SIZE = 8, 256
_shelves: dict[tuple[Any, ...], Shelf] = {}


def _all(scratch: Scratch) -> Any:
    return scratch


def shelf_for(scanning: Scanning, slots: Slots, written: Callable[[Scratch], Any] = _all) -> Shelf:
    """Where workers of this scan find memory, and leave it; their loop writes what ``written`` says of it."""
    around, firing, air = scanning.around, scanning.firing, scanning.air
    size = (
        len(firing.stencil), len(firing.off_plane), slots.range.shape[1], bool(firing.half_width > 0.0),
        bool(in_python(may_go_on)(scanning)), len(around.tables.responses) > 0, len(around.volumes.model) > 0,
        in_python(air_hits)(air), len(air.clouds), written,
    )  # fmt: skip
    shelf = _shelves.get(size)
    if shelf is None:
        while len(_shelves) >= _MOST_SIZES:  # the one that is longest here
            _shelves.pop(next(iter(_shelves)), None)
        shelf = _shelves.setdefault(size, Shelf(deque(maxlen=_MOST_A_SIZE), written))
    return shelf


@contextmanager
def scratch_from(shelf: Shelf, scanning: Scanning, slots: Slots, workers: int = 1) -> Iterator[list[Any]]:
    """Memory for so many workers, for as long as the block lasts."""
    found = [_taken(shelf, scanning, slots) for _ in range(workers)]
    yield [one.handed for one in found]
    shelf.kept.extend(found)


def _taken(shelf: Shelf, scanning: Scanning, slots: Slots) -> _Kept:
    try:
        found = shelf.kept.pop()
    except IndexError:
        scratch = in_python(new_scratch)(scanning, slots.range.shape[1])
        return _Kept(scratch, handed(shelf.written(scratch)))
    for unread in found.unread:
        unread.fill(0.0)
    return found


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_shelves.clear)
