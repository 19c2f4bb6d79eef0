"""LZF decompression, as compressed PCD files need it.

The format (Marc Lehmann's LibLZF): a control byte below 32 starts a run of control + 1 literal bytes; any
other is a copy of length (control >> 5) + 2 (7 adds the next byte) from (control & 31) · 256 + next byte + 1
bytes back. A copy may overlap what it writes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.kernels import kernel

__all__ = ["decompress"]


def decompress(data: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """``data`` expanded to exactly ``size`` bytes; anything else is an `InputError`."""
    out = np.empty(size, np.uint8)
    if _expand(data, out) != size:
        raise InputError("its compressed data are damaged")
    return out


@kernel
def _expand(data: NDArray[np.uint8], out: NDArray[np.uint8]) -> np.int64:
    """Number of bytes written, or -1 where the data would read or write outside their arrays."""
    read, written = np.int64(0), np.int64(0)
    end, size = len(data), len(out)
    while read < end:
        control = np.int64(data[read])
        read += 1
        if control < 32:
            length = control + 1
            if read + length > end or written + length > size:
                return np.int64(-1)
            out[written : written + length] = data[read : read + length]
            read += length
        else:
            length = control >> 5
            if length == 7:
                if read >= end:
                    return np.int64(-1)
                length += np.int64(data[read])
                read += 1
            length += 2
            if read >= end:
                return np.int64(-1)
            source = written - (((control & 31) << 8) + np.int64(data[read]) + 1)
            read += 1
            if source < 0 or written + length > size:
                return np.int64(-1)
            for k in range(length):
                out[written + k] = out[source + k]
        written += length
    return written
