"""Pieces of a file's bytes, copied one behind the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tussock.frames.memory import reused
from tussock.kernels import Array, loop_kernel

__all__ = ["joined_pieces"]


def joined_pieces(data: NDArray[np.uint8], begin: NDArray[np.int64], size: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The pieces of ``data`` that begin where ``begin`` says and have ``size`` bytes, in their order."""
    out = reused(int(size.sum()))
    _copy(data, begin, size, out)
    return out


@loop_kernel
def _copy(data: Array, begin: Array, size: Array, out: Array) -> None:
    # Places without a sign cannot count from the end, which lets many bytes go at once.
    to = np.uint64(0)
    for piece in range(len(begin)):
        first, many = np.uint64(begin[piece]), np.uint64(size[piece])
        for k in range(many):
            out[to + k] = data[first + k]
        to += many
