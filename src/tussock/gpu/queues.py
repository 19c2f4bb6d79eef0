"""Pulses that have met the world queue up for the receiver, each behind others that take as long.

Threads of a graphics processor go in step, 32 of them. Of neighbours some meet a wall, which is one echo at once, and some meet
leaves over ten metres, whose waveform is sampled piece by piece: the 32 take as long as the slowest, and few of them do anything
for most of that time. So what a pulse met is written down by one kernel (`tussock.pulse.loop.meet_group`), and another one
listens to it (`tussock.pulse.loop.receive_group`), in whose groups of threads all pulses are of a kind. The kinds that take the longest
come first, so that nothing is left to wait for in the end.

The order in a queue differs from one time to the next; what is heard of a pulse does not depend on it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from tussock.kernels import Whole, inline_kernel
from tussock.pulse.tables import Hits, Receiving
from tussock.signal.compact import COMPACT, SINGLE
from tussock.signal.echoes import CLOSE

__all__ = ["QUEUES", "Queues", "kind_of", "next_in_line", "queue_up"]

cuda: Any = import_module("numba.cuda")
int32, int64 = (getattr(numba, name) for name in ("int32", "int64"))
QUEUES = 4
"""of pulses, by what it takes to find their echoes: see `kind_of`"""
_ZERO = np.float32(0.0)


class Queues(NamedTuple):
    """Pulses that wait, kind by kind."""

    counts: NDArray[np.int32]
    """how many wait, shape (rounds, QUEUES)"""
    columns: NDArray[np.int32]
    """of the table of hits, shape (QUEUES, columns)"""


@inline_kernel
def kind_of(receiving: Receiving, used: int, hits: Hits) -> Whole:
    """Which queue a pulse is to wait in: with hits that are further apart it takes longer to find its echoes."""
    nearest, furthest = np.float32(np.inf), _ZERO
    for k in range(used):
        distance = hits.ranges[k, 0]
        if hits.energies[k, 0] > _ZERO and receiving.min_range <= distance <= receiving.max_range:
            nearest, furthest = min(nearest, distance), max(furthest, distance)
    span, sigma = furthest - nearest, receiving.listening.sigma
    return np.int32(span > COMPACT * sigma) + np.int32(span > SINGLE * sigma) + np.int32(span > CLOSE * sigma)


def queue_up(queues: Queues, row: Whole, kind: Whole, column: Whole) -> None:
    """Put the pulse of every thread of a group into the queue of its kind, −1 for none; all threads of the group call this together."""
    t = cuda.threadIdx.x
    mine = cuda.shared.array(QUEUES, int32)
    first = cuda.shared.array(QUEUES, int32)
    if t < QUEUES:
        mine[t] = 0
    cuda.syncthreads()
    place = int32(0)
    if kind >= 0:
        place = cuda.atomic.add(mine, int32(kind), int32(1))
    cuda.syncthreads()
    if t < QUEUES:
        first[t] = cuda.atomic.add(queues.counts, (row, int64(t)), mine[t])
    cuda.syncthreads()
    if kind >= 0:
        queues.columns[kind, first[kind] + place] = column


def next_in_line(queues: Queues, row: Whole) -> Whole:
    """The column of the pulse that this thread is to take, −1 for none: each group of threads takes pulses of one kind."""
    group, width = int64(cuda.blockIdx.x), int64(cuda.blockDim.x)
    for turn in range(QUEUES):
        kind = QUEUES - 1 - turn
        waiting = int64(queues.counts[row, kind])
        groups = (waiting + width - 1) // width
        if group < groups:
            place = group * width + cuda.threadIdx.x
            return int64(queues.columns[kind, place]) if place < waiting else int64(-1)
        group -= groups
    return int64(-1)
