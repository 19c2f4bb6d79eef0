"""Large pieces of memory that are used again as soon as nothing lies in them any more.

Who reads a long recording part by part fills and forgets columns of the same size again and again. Given back to the system
each time, they come anew as pages to be cleared, and on a virtual machine as pages that the host has to find first, which
takes longer than to compute what is put there (36 ns of a pulse's 110 to read it). So a few pieces are kept.
"""

from __future__ import annotations

import weakref
from collections import deque

import numpy as np
from numpy.typing import NDArray

__all__ = ["room_for"]

_WORTH = 1 << 20
"""[bytes] below which the C library keeps memory itself"""
_MOST = 1 << 27
"""[bytes] of what is kept at most, a piece"""
_kept: deque[NDArray[np.uint8]] = deque(maxlen=2)


def room_for(size: int) -> NDArray[np.uint8]:
    """So many bytes, whatever they hold. Once neither they nor a view of them is there any more, others may get them.

    >>> room_for(3).shape
    (3,)
    """
    if not _WORTH <= size <= _MOST:
        return np.empty(size, np.uint8)
    piece: NDArray[np.uint8] | None = None
    while piece is None or len(piece) < size:
        try:
            piece = _kept.pop()
        except IndexError:
            piece = np.empty(size, np.uint8)
    # Views refer to the array that they are of, not to the memory below it: when that array is gone, they all are.
    room: NDArray[np.uint8] = np.frombuffer(piece.data, np.uint8, size)
    weakref.finalize(room, _kept.append, piece).atexit = False
    return room
