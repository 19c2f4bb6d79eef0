"""Hits and echoes that are of the air: how they are told from those of surfaces, and how a hit is added to a pulse.

Echoes name the row of the hit that they come from. What has no row there is numbered below 0: −1 is nothing, −2 − kind the air, and
−2 − kind − 8·(n + 1) drop number n, whose chance is its own whatever else the pulse meets.
"""

from __future__ import annotations

import numpy as np

from tussock.kernels import Real, Whole, inline_kernel
from tussock.pulse.tables import Hits
from tussock.trace.packets import NOTHING

__all__ = ["add_hit", "air_code", "drop_draw", "drop_row", "kind_of_row"]

_OWN = 32
"""draws of an echo's chance from here on are those of drops; other echoes count from 0"""


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


@inline_kernel
def drop_row(kind: Whole, number: Whole) -> Whole:
    """What stands for a row in an echo of a drop."""
    return np.int32(-10 - kind - 8 * number)


@inline_kernel
def kind_of_row(row: Whole) -> Whole:
    """The kind of what an echo of the air without a row comes from."""
    return np.uint32((-2 - row) & 7)


@inline_kernel
def drop_draw(row: Whole, other: Whole) -> Whole:
    """Which draw of chance is that of an echo: a drop's own, or the ``other`` one."""
    return np.int32(_OWN - 1) + ((np.int32(-2) - np.int32(row)) >> np.int32(3)) if row < -9 else np.int32(other)
