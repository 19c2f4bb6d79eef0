"""Hits that are of the air: how they are told from those of surfaces, and how one is added to a pulse."""

from __future__ import annotations

import numpy as np

from tussock.kernels import Real, Whole, inline_kernel
from tussock.pulse.tables import Hits
from tussock.trace.packets import NOTHING

__all__ = ["add_hit", "air_code"]


@inline_kernel
def air_code(kind: Whole) -> Whole:
    """What stands for the air among geometry numbers."""
    return np.uint32(NOTHING - np.uint32(1) - np.uint32(kind))


@inline_kernel
def add_hit(hits: Hits, lane: int, path: Real, energy: Real, code: Whole) -> None:
    """One more hit in a lane, where there is room for one."""
    at = hits.used[lane]
    if at < hits.ranges.shape[0]:
        hits.ranges[at, lane], hits.energies[at, lane] = path, energy
        hits.ids[0, at, lane], hits.ids[1, at, lane], hits.ids[2, at, lane] = code, np.uint32(0), np.uint32(0)
        hits.used[lane] = at + 1
