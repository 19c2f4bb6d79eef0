"""Sun and sky through glass: what stands in the light's way, but lets a share of it through.

Embree says of a shadow ray only whether anything is in its way. Where a scene has materials that transmit, the rays
that are stopped are followed once more, from surface to surface: each pane takes its share, anything else ends it.
Light goes straight on, as through a pane modelled as one sheet; no colour, no bending, no caustics.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.cameras.shading.paint import TRANSMISSION
from tussock.kernels import inline_kernel, kernel
from tussock.trace import packets as row
from tussock.trace.hit_tables import material_of
from tussock.trace.packets import LANES, NOTHING, intersect

__all__ = ["let_through"]

_PANES = 6
"""light behind more panes than this is lost"""
_SKIN = np.float32(1e-3)  # [m] a ray goes on this far behind a pane


@kernel
def let_through(
    standing: Any, moving: Any, packet: Any, bits: Any, tables: Any, paint: Any, reach: Any, lit: Any, masks: Any,
    share: Any,
) -> None:  # fmt: skip
    """The share of the light, 0 to 1, that comes down each lane of ``lit``, into ``share``, shape (16,).

    ``packet`` has shadow rays of length ``reach`` [m] after `occluded`: its TFAR tells which were stopped. Lanes of
    an empty ray (TFAR −1 before) must not be in ``lit``. ``masks`` is memory to work in.
    """
    under_way = 0
    for l in range(LANES):
        share[l] = 1.0
        masks[l] = NOTHING if lit[l] != 0 and packet[row.TFAR, l] < np.float32(0.0) else np.uint32(0)
        if masks[l] != 0:
            packet[row.TFAR, l] = reach
            under_way += 1
    for _ in range(_PANES):
        if under_way == 0:
            return
        intersect(standing, packet, masks)
        if moving != 0:
            intersect(moving, packet, masks)
        for l in range(LANES):
            if masks[l] == 0:
                continue
            if bits[row.GEOM, l] != NOTHING:
                share[l] *= _pane(bits, l, tables, paint)
            if bits[row.GEOM, l] == NOTHING or share[l] == np.float32(0.0):
                masks[l] = 0
                under_way -= 1
                continue
            step = packet[row.TFAR, l] + _SKIN
            for i in range(3):
                packet[row.ORG_X + i, l] += step * packet[row.DIR_X + i, l]
            packet[row.TFAR, l] = reach
            bits[row.GEOM, l] = NOTHING
            bits[row.INST, l] = NOTHING
    for l in range(LANES):
        if masks[l] != 0:
            share[l] = 0.0


@inline_kernel
def _pane(bits: Any, l: int, tables: Any, paint: Any) -> Any:
    """What the surface that lane ``l`` met lets through."""
    geometry = bits[row.INST, l] if bits[row.INST, l] != NOTHING else bits[row.GEOM, l]
    return paint.looks[material_of(tables, geometry, bits[row.PRIM, l]), TRANSMISSION]
