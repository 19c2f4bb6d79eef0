"""Memory that is used again by the next scan.

What the system hands out afresh is slow when it is touched for the first time: page by page, and with many threads they
wait for one another. So what a frame no longer needs goes to the next one. Whoever still holds a part of it keeps it.
"""

from __future__ import annotations

import weakref
from collections import deque
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.crew import run_on_crew
from tussock.kernel_context import handed
from tussock.kernels import loop_kernel

__all__ = ["copy_on_threads", "reused"]

_LEAST, _MOST = 1 << 18, 1 << 26
"""[bytes] smaller pieces are quick to come by, larger ones too much to hold back"""
_OF_A_SIZE = 3
_ALL = 1 << 28
"""[bytes] that are held back at most"""
_kept: dict[int, deque[NDArray[np.uint8]]] = {}  # taking from a deque and adding to it is one step of the interpreter


class _Piece:
    """Memory that somebody uses."""

    def __init__(self, memory: NDArray[np.uint8], size: int) -> None:
        self.__array_interface__ = memory.__array_interface__ | {"shape": (size,)}
        # An array made of this refers to it, and so does every view of that array.
        weakref.finalize(self, _give_back, memory).atexit = False


def reused(size: int) -> NDArray[np.uint8]:
    """So many bytes, with anything in them."""
    if not _LEAST <= size <= _MOST:
        return np.empty(size, np.uint8)
    step = 1 << max(size.bit_length() - 3, 0)
    rounded = -(-size // step) * step
    try:
        memory = _kept[rounded].pop()
    except (KeyError, IndexError):
        memory = np.empty(rounded, np.uint8)
    return np.asarray(_Piece(memory, size))


def _give_back(memory: NDArray[np.uint8]) -> None:
    if sum(len(pieces) * size for size, pieces in list(_kept.items())) + len(memory) > _ALL:
        _kept.clear()
    _kept.setdefault(len(memory), deque(maxlen=_OF_A_SIZE)).append(memory)


class _Copying(NamedTuple):
    """Numbers of eight bytes, and where they go."""

    source: Any
    target: Any


class _Part(NamedTuple):
    """The part of one thread."""

    worker: int
    workers: int


@cache
def _part(worker: int, workers: int) -> Any:
    return handed(_Part(worker, workers))


def copy_on_threads(source: NDArray[np.uint8], target: NDArray[np.uint8], threads: int) -> None:
    """Copy bytes into as many others, all threads at once."""
    whole = len(source) // 8 * 8
    copying = handed(_Copying(source[:whole].view(np.uint64), target[:whole].view(np.uint64)))
    run_on_crew(_copy, copying, [_part(worker, threads) for worker in range(threads)])
    target[whole:] = source[whole:]


@loop_kernel
def _copy(copying: _Copying, part: _Part) -> None:
    source, target = copying.source, copying.target
    share = (len(source) + part.workers - 1) // part.workers
    # Unsigned: no index counts from the end.
    for i in range(np.uint64(part.worker * share), np.uint64(min((part.worker + 1) * share, len(source)))):
        target[i] = source[i]
