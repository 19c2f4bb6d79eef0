"""How much memory this process holds."""

from __future__ import annotations

import os
import resource
from pathlib import Path

__all__ = ["resident_mib"]


def resident_mib() -> float:
    """Memory held now [MiB]; where the system does not tell, the most held so far."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
