"""How much memory this process holds."""

from __future__ import annotations

import ctypes
import gc
import os
import resource
from pathlib import Path

__all__ = ["resident_mib"]


def resident_mib() -> float:
    """Memory held now [MiB], after what is no longer used was given back; else the most held so far."""
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:  # the C library keeps freed memory, and the next scene would seem to need none
        trim(0)
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
