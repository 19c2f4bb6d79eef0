"""CRC-32/MPEG-2: polynomial 0x04C11DB7, all ones at the start, the highest bit first, nothing inverted at the end."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import loop_kernel

__all__ = ["crc32_of_rows"]

_POLYNOMIAL = 0x04C11DB7


@cache
def _table() -> NDArray[np.uint32]:
    """What eight bits ahead of the rest do to it, shape (256,)."""
    found = np.empty(256, np.uint32)
    for byte in range(256):
        rest = byte << 24
        for _ in range(8):
            rest = (rest << 1) ^ (_POLYNOMIAL if rest & 0x80000000 else 0)
        found[byte] = rest & 0xFFFFFFFF
    return found


def crc32_of_rows(rows: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """The checksum of every row of bytes (n, size), shape (n,)."""
    found = np.empty(len(rows), np.uint32)
    _each(np.ascontiguousarray(rows), _table(), found)
    return found


@loop_kernel
def _each(rows: Any, table: Any, found: Any) -> None:
    for i in range(rows.shape[0]):
        rest = np.uint32(0xFFFFFFFF)
        for k in range(rows.shape[1]):
            rest = np.uint32((rest << np.uint32(8)) ^ table[(rest >> np.uint32(24)) ^ np.uint32(rows[i, k])])
        found[i] = rest
