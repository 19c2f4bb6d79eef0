"""The response of tagged shapes: scattered ranges, and what stands behind as the second return.

Mattes and Pace (Neya Systems, 2021), section 3. One error a pulse, the same for all its sub-rays. A second ray looks
for what stands behind the impact, the object that was met excepted: in single-return modes only where the error is
positive and only as far as it reaches, in the others as far as the sensor does, because what it finds is the second
return. That one is never brighter than the first: the pulse has lost light on the way.

Left out: shapes that are seen in a mirror or through glass respond like any hard surface.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tussock.kernels import inline_kernel
from tussock.pulse.reflect import resolve_hit
from tussock.pulse.volumes import energy_of_hit, volumes_in_the_way
from tussock.randomness import Purpose, normal_pair, philox
from tussock.signal.vegetation import range_error, scattered_range
from tussock.trace import packets as row
from tussock.trace.packets import LANES, NOTHING, intersect

__all__ = ["ERROR_ROWS", "respond_lanes"]

ERROR_ROWS = 4
_ERROR, _MEAN, _SIGMA, _WORD = range(ERROR_ROWS)  # rows of `errors`

_VEGETATION = int(Purpose.VEGETATION)
_SKIN = np.float32(1e-4)  # [m] how far behind the impact the second ray begins
_PATIENCE = 16  # surfaces of the object itself that a second ray is taken through, where it has no mask of its own


@inline_kernel
def respond_lanes(
    packet: Any, bits: Any, second: Any, second_bits: Any, masks: Any, errors: Any, standing: Any, moving: Any,
    tables: Any, volumes: Any, walk: Any, owners: Any, receiving: Any, hits: Any, k: int, first: int, lanes: int,
    dual: bool,
) -> None:  # fmt: skip
    """Scatter the ranges of row ``k`` where a lane met a shape that responds; the first packet is left as it is."""
    responding = False
    for l in range(LANES):
        errors[_MEAN, l], errors[_SIGMA, l], masks[l] = np.float32(0.0), np.float32(0.0), 0
        material = hits.materials[l] if l < lanes else np.int32(-1)
        start = tables.geometry_response[bits[row.GEOM, l]] if material >= 0 else np.int64(-1)
        if start >= 0:
            errors[_MEAN, l] = tables.responses[start + material, 0]
            errors[_SIGMA, l] = tables.responses[start + material, 1]
            responding |= (errors[_MEAN, l] != np.float32(0.0)) | (errors[_SIGMA, l] != np.float32(0.0))
    if not responding:
        return
    _draw_errors(receiving, first, errors)
    looking = False
    for l in range(lanes):
        if errors[_MEAN, l] == np.float32(0.0) and errors[_SIGMA, l] == np.float32(0.0):
            continue
        error = errors[_ERROR, l]
        if dual or error > np.float32(0.0):
            _look_behind(packet, bits, second, second_bits, tables, l, error, receiving.max_range, dual)
            masks[l] = NOTHING
            looking = True
        else:
            hits.ranges[k, l] = scattered_range(hits.ranges[k, l], error, np.float32(math.inf), receiving.min_range)
    if looking:
        _trace_behind(bits, second, second_bits, masks, standing, moving, tables, volumes, walk, owners, receiving,
                      first, lanes)  # fmt: skip
        for l in range(lanes):
            if masks[l] != 0:
                _settle(bits, second, second_bits, tables, volumes, receiving, hits, errors[_ERROR, l], k, l, dual)


@inline_kernel
def _draw_errors(receiving: Any, first: int, errors: Any) -> None:
    """The range error of every lane; two loops, because each becomes vector code on its own."""
    key0, key1, frame, words = receiving.key0, receiving.key1, receiving.frame, errors.view(np.uint32)
    for l in range(LANES):
        drawn = philox(key0, key1, first + l, frame, 0, _VEGETATION)
        words[_ERROR, l], words[_WORD, l] = drawn[0], drawn[1]
    for l in range(LANES):
        draw = normal_pair(words[_ERROR, l], words[_WORD, l])[0]
        errors[_ERROR, l] = range_error(errors[_MEAN, l], errors[_SIGMA, l], draw)


@inline_kernel
def _look_behind(
    packet: Any, bits: Any, second: Any, second_bits: Any, tables: Any, l: int, error: Any, max_range: Any, dual: bool
) -> None:
    """The ray of lane ``l`` again, from just behind its impact on; its length is counted from the sensor as before."""
    for i in range(3):
        second[row.ORG_X + i, l] = packet[row.ORG_X + i, l]
        second[row.DIR_X + i, l] = packet[row.DIR_X + i, l]
    second[row.TIME, l] = packet[row.TIME, l]
    second[row.TNEAR, l] = packet[row.TFAR, l] + _SKIN
    second[row.TFAR, l] = max_range if dual else packet[row.TFAR, l] + error
    second_bits[row.MASK, l] = NOTHING ^ tables.geometry_bit[bits[row.GEOM, l]]
    second_bits[row.FLAGS, l] = 0
    second_bits[row.GEOM, l] = NOTHING
    second_bits[row.INST, l] = NOTHING
    second_bits[row.INST_PRIM, l] = 0


@inline_kernel
def _trace_behind(
    bits: Any, second: Any, second_bits: Any, masks: Any, standing: Any, moving: Any, tables: Any, volumes: Any,
    walk: Any, owners: Any, receiving: Any, first: int, lanes: int,
) -> None:  # fmt: skip
    """Find the first thing behind every masked lane that is not the object which the lane met."""
    for _ in range(_PATIENCE):
        intersect(standing, second, masks)
        if moving != 0:
            intersect(moving, second, masks)
        again = False
        for l in range(lanes):
            if masks[l] == 0 or second_bits[row.GEOM, l] == NOTHING:
                continue
            met = second_bits[row.GEOM, l] if second_bits[row.INST, l] == NOTHING else second_bits[row.INST, l]
            if met == bits[row.GEOM, l]:
                second[row.TNEAR, l] = second[row.TFAR, l] + _SKIN
                second[row.TFAR, l] = receiving.max_range
                second_bits[row.GEOM, l] = NOTHING
                second_bits[row.INST, l] = NOTHING
                again = True
        if not again:
            break
    if len(volumes.model) > 0:
        volumes_in_the_way(second, second_bits, masks, lanes, owners, first, volumes, walk, receiving.key0,
                           receiving.key1, receiving.frame)  # fmt: skip


@inline_kernel
def _settle(
    bits: Any, second: Any, second_bits: Any, tables: Any, volumes: Any, receiving: Any, hits: Any, error: Any, k: int,
    l: int, dual: bool,
) -> None:  # fmt: skip
    """The scattered range of lane ``l``, and in modes with several returns what stands behind as one more hit."""
    found = second_bits[row.GEOM, l] != NOTHING
    behind = second[row.TFAR, l] if found else np.float32(math.inf)
    hits.ranges[k, l] = scattered_range(hits.ranges[k, l], error, behind, receiving.min_range)
    at = hits.used[l]
    if not dual or not found or at >= hits.ranges.shape[0]:
        return
    material = resolve_hit(second, second_bits, tables, l)
    energy = energy_of_hit(second, second_bits, tables, volumes, receiving, material, l, behind)
    hits.ranges[at, l] = behind
    hits.energies[at, l] = min(energy, hits.energies[k, l])
    hits.ids[0, at, l] = second_bits[row.GEOM, l]
    hits.ids[1, at, l] = second_bits[row.PRIM, l]
    hits.ids[2, at, l] = second_bits[row.INST_PRIM, l]
    hits.used[l] = at + 1
