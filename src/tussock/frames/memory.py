"""Memory that is used again by the next scan.

What the system hands out afresh is slow when it is touched for the first time: page by page, and with many threads they
wait for one another. So what a frame no longer needs goes to the next one. Whoever still holds a part of it keeps it.
"""

from __future__ import annotations

import weakref
from collections import deque

import numpy as np
from numpy.typing import NDArray

from tussock.threads import run_on_threads

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


def copy_on_threads(source: NDArray[np.uint8], target: NDArray[np.uint8], threads: int) -> None:
    """Copy bytes into as many others."""
    run_on_threads(_copy, threads, source, target)


def _copy(worker: int, workers: int, source: NDArray[np.uint8], target: NDArray[np.uint8]) -> None:
    share = -(-len(source) // workers)
    part = slice(worker * share, (worker + 1) * share)
    np.copyto(target[part], source[part])  # without the interpreter's lock
