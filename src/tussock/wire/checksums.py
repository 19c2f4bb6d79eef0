"""Checksums of many packets at once: CRC-32 as Ethernet and zlib have it, and CRC-32/MPEG-2.

Both divide by 0x04C11DB7 and begin with all ones. Ethernet's takes the lowest bit first and inverts the end;
MPEG-2's takes the highest first and leaves it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import loop_kernel

__all__ = ["ethernet_crc32", "mpeg_crc32"]

_POLYNOMIAL, _REVERSED = 0x04C11DB7, 0xEDB88320


@cache
def _highest_first() -> NDArray[np.uint32]:
    """What eight bits ahead of the rest do to it, shape (256,)."""
    found = np.empty(256, np.uint32)
    for byte in range(256):
        rest = byte << 24
        for _ in range(8):
            rest = (rest << 1) ^ (_POLYNOMIAL if rest & 0x80000000 else 0)
        found[byte] = rest & 0xFFFFFFFF
    return found


@cache
def _lowest_first() -> NDArray[np.uint32]:
    found = np.empty(256, np.uint32)
    for byte in range(256):
        rest = byte
        for _ in range(8):
            rest = (rest >> 1) ^ (_REVERSED if rest & 1 else 0)
        found[byte] = rest
    return found


def mpeg_crc32(rows: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """The CRC-32/MPEG-2 of every row of bytes (n, size), shape (n,)."""
    found = np.empty(len(rows), np.uint32)
    _each_highest(np.ascontiguousarray(rows), _highest_first(), found)
    return found


def ethernet_crc32(rows: NDArray[np.uint8]) -> NDArray[np.uint32]:
    """The CRC-32 of zlib of every row of bytes (n, size), shape (n,)."""
    found = np.empty(len(rows), np.uint32)
    _each_lowest(np.ascontiguousarray(rows), _lowest_first(), found)
    return found


@loop_kernel
def _each_highest(rows: Any, table: Any, found: Any) -> None:
    for i in range(rows.shape[0]):
        rest = np.uint32(0xFFFFFFFF)
        for k in range(rows.shape[1]):
            rest = np.uint32((rest << np.uint32(8)) ^ table[(rest >> np.uint32(24)) ^ np.uint32(rows[i, k])])
        found[i] = rest


@loop_kernel
def _each_lowest(rows: Any, table: Any, found: Any) -> None:
    for i in range(rows.shape[0]):
        rest = np.uint32(0xFFFFFFFF)
        for k in range(rows.shape[1]):
            rest = np.uint32((rest >> np.uint32(8)) ^ table[(rest ^ np.uint32(rows[i, k])) & np.uint32(0xFF)])
        found[i] = rest ^ np.uint32(0xFFFFFFFF)
