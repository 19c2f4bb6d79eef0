"""Puffs and boxes of dust or fog in the way of pulses: what they take, and the peak of what they send back.

A pulse meets clouds along its axis: they are wide beside a beam. Those that sixteen pulses may meet are found once, by a
cone around their axes. On each axis the clouds that it goes through become parts (`tussock.signal.clouds`), whose sums
are taken at sixteen paths at a time: at the hits that lie among them, and at the places where the peak is looked for.

Left out: of several clouds on one axis the strongest peak is the one that is sent back.
"""

from __future__ import annotations

import math

import numpy as np

from tussock.elementary import exponential
from tussock.kernels import Array, Real, inline_kernel, kernel, loop_kernel
from tussock.pulse.drops import new_drop_scratch
from tussock.pulse.from_air import add_hit, air_code
from tussock.pulse.heard_drops import new_summits
from tussock.pulse.tables import AirScratch, Hits, Scanning, Scratch
from tussock.signal.air import Air
from tussock.signal.clouds import (
    AT,
    DEPTH,
    NODES,
    NUMBERS,
    PART_NUMBERS,
    PATHS,
    PUFF_END,
    box_part,
    depth_of,
    part_end,
    part_kind,
    puff_part,
    returned,
    sum_parts,
)  # fmt: skip
from tussock.trace.packets import LANES
from tussock.trace.ray import Ray

__all__ = ["meet_clouds", "new_air_scratch"]

_ZERO, _HALF, _ONE, _TWO = (np.float32(value) for value in (0.0, 0.5, 1.0, 2.0))
_LEAST = 1  # clouds that there is room for
_MOST_ROUNDS = 6  # of sixteen places in the first look for the peak
_FINE = np.float32(0.75)  # [s] of the smallest puff between them
_ROOT_TWO_PI = np.float32(math.sqrt(2 * math.pi))
# Three points of Gauss and Hermite: right for what bends like a polynomial of the fifth degree within the pulse.
_ABSCISSA, _MIDDLE, _SIDE = np.float32(math.sqrt(3.0)), np.float32(2 / 3), np.float32(1 / 6)
_REACH = np.float32(4.0)  # [s] beside a puff's middle: 3e-4 of it


@kernel
def new_air_scratch(clouds: int) -> AirScratch:
    """Room for so many clouds on one axis, and for drops."""
    most = max(clouds, _LEAST)
    return AirScratch(
        np.zeros((most, PART_NUMBERS), np.float32),
        np.zeros(most, np.int32),
        np.zeros(NUMBERS, np.float32),
        new_drop_scratch(),
        new_summits(),
    )


@inline_kernel
def _axis(aim: Array, l: int) -> Ray:
    """The axis of a pulse."""
    return Ray(
        aim[l], aim[LANES + l], aim[2 * LANES + l], aim[3 * LANES + l], aim[4 * LANES + l], aim[5 * LANES + l],
        _ZERO, np.float32(np.inf), aim[12 * LANES + l],
    )  # fmt: skip


@loop_kernel
def meet_clouds(scanning: Scanning, scratch: Scratch, lanes: int, used: int) -> None:
    """Dim the hits of sixteen pulses, in the first ``used`` rows, by the clouds before them, and add those' own."""
    air, receiving, hits = scanning.air, scanning.receiving, scratch.hits
    parts, room = scratch.air.parts, scratch.air.room
    near = _near_clouds(air.clouds, scratch.aim, lanes, scratch.air.near)
    if near == 0:
        return
    for l in range(lanes):
        count = _parts_on(air.clouds, scratch.air.near, near, _axis(scratch.aim, l), parts)
        if count == 0:
            continue
        _dim(parts, count, hits, l, used, room)
        if receiving.echoes:
            path, peak = _peak(air, parts, count, receiving.listening.sigma, hits.ranges[0, l], room)
            if peak > _ZERO:
                add_hit(hits, l, path, peak, air_code(part_kind(parts, count, path)))


@loop_kernel
def _near_clouds(clouds: Array, aim: Array, lanes: int, near: Array) -> int:
    """The clouds that a cone around the axes of sixteen pulses may meet; how many."""
    mx, my, mz = _ZERO, _ZERO, _ZERO
    for l in range(lanes):
        mx, my, mz = mx + aim[3 * LANES + l], my + aim[4 * LANES + l], mz + aim[5 * LANES + l]
    length = np.float32(math.sqrt(mx * mx + my * my + mz * mz))
    cosine = np.float32(-1.0)
    if length > np.float32(1e-3):
        mx, my, mz, cosine = mx / length, my / length, mz / length, _ONE
        for l in range(lanes):
            along = mx * aim[3 * LANES + l] + my * aim[4 * LANES + l] + mz * aim[5 * LANES + l]
            cosine = min(cosine, along)
    narrow = cosine > np.float32(0.3)
    tangent = np.float32(math.sqrt(max(_ONE - cosine * cosine, _ZERO))) / max(cosine, np.float32(0.3))
    x, y, z = aim[0], aim[LANES], aim[2 * LANES]
    found = 0
    for c in range(len(clouds)):
        row = clouds[c]
        # What drifts during the frame, and where the sensor moves on, is covered by a little more room.
        moved = abs(row[8]) + abs(row[9]) + abs(row[10]) + _TWO
        size = np.float32(math.sqrt(row[5] * row[5] + row[6] * row[6] + row[7] * row[7]))
        reach = (size if row[0] > _ZERO else _REACH * row[5]) + moved
        ax, ay, az = row[2] - x, row[3] - y, row[4] - z
        along = ax * mx + ay * my + az * mz
        off = np.float32(math.sqrt(max(ax * ax + ay * ay + az * az - along * along, _ZERO)))
        room = max(along, _ZERO) * tangent + reach * (_ONE + tangent)
        if not narrow or (along > -reach and off <= room):
            near[found] = c
            found += 1
    return found


@loop_kernel
def _parts_on(clouds: Array, near: Array, count: int, way: Ray, parts: Array) -> int:
    """The clouds that an axis goes through, as parts; how many."""
    found = 0
    for i in range(count):
        row = clouds[near[i]]
        x, y, z = (
            row[2] + way.time * row[8] - way.x,
            row[3] + way.time * row[9] - way.y,
            row[4] + way.time * row[10] - way.z,
        )
        if row[0] > _ZERO:
            enters, leaves = _ZERO, np.float32(np.inf)
            enters, leaves = _within(x, row[5], way.dx, enters, leaves)
            enters, leaves = _within(y, row[6], way.dy, enters, leaves)
            enters, leaves = _within(z, row[7], way.dz, enters, leaves)
            if enters < leaves:
                box_part(parts[found], row[1], enters, leaves, row[11], row[12])
                found += 1
            continue
        along = x * way.dx + y * way.dy + z * way.dz
        off2 = max(x * x + y * y + z * z - along * along, _ZERO)
        s = row[5]
        if off2 < _REACH * _REACH * s * s and along > -_REACH * s:
            thin = exponential(-_HALF * off2 / (s * s))
            puff_part(parts[found], row[1], along, s, row[11] * thin, row[12] * thin)
            found += 1
    return found


@inline_kernel
def _within(middle: Real, half: Real, slope: Real, enters: Real, leaves: Real) -> tuple[Real, Real]:
    """The stretch of a ray between two planes ``half`` to both sides of ``middle``."""
    if abs(slope) < np.float32(1e-7):
        return (enters, leaves) if abs(middle) <= half else (_ONE, _ZERO)
    a, b = (middle - half) / slope, (middle + half) / slope
    return max(enters, min(a, b)), min(leaves, max(a, b))


@loop_kernel
def _dim(parts: Array, count: int, hits: Hits, l: int, used: int, room: Array) -> None:
    """Dim the hits of a pulse by what the clouds take on both ways."""
    end, nearest = _ZERO, np.float32(np.inf)
    for i in range(count):
        end = max(end, part_end(parts[i], PUFF_END))
    for k in range(used):
        if hits.energies[k, l] > _ZERO:
            nearest = min(nearest, hits.ranges[k, l])
    if nearest >= end:  # mostly: all of it is behind all clouds, or there is nothing
        if nearest < np.float32(np.inf):
            passes = exponential(-_TWO * depth_of(parts, count))
            for k in range(used):
                hits.energies[k, l] *= passes
        return
    for first in range(0, used, NODES):
        for j in range(NODES):
            k = min(first + j, used - 1)
            room[AT + j] = hits.ranges[k, l] if hits.energies[k, l] > _ZERO else _ZERO
        sum_parts(parts, count, room)
        for k in range(first, min(first + NODES, used)):
            hits.energies[k, l] *= exponential(-_TWO * room[DEPTH + k - first])


@loop_kernel
def _peak(air: Air, parts: Array, count: int, sigma: Real, far: Real, room: Array) -> tuple[Real, Real]:
    """Path and height of the strongest peak of what clouds send back before ``far`` [m]; height 0 for none."""
    begin, end, smallest = np.float32(np.inf), _ZERO, np.float32(np.inf)
    for i in range(count):
        box = parts[i, 0] > _ZERO
        begin = min(begin, parts[i, 1] if box else parts[i, 1] - _TWO * parts[i, 2])
        end = max(end, part_end(parts[i], _TWO))
        smallest = min(smallest, np.float32(np.inf) if box else parts[i, 2])
    begin, end = max(begin, air.overlap_from), min(end, far)
    if end <= begin:
        return _ZERO, _ZERO
    rounds = min(1 + int((end - begin) / (np.float32(NODES) * _FINE * smallest)), _MOST_ROUNDS)
    step = (end - begin) / np.float32(NODES * rounds)
    best, most = begin, _ZERO
    for turn in range(rounds):
        start = begin + np.float32(turn * NODES) * step
        for j in range(NODES):
            room[AT + j] = start + (np.float32(j) + _HALF) * step
        sum_parts(parts, count, room)
        returned(air, far, room)
        for j in range(NODES):
            if room[DEPTH + j] > most:
                best, most = room[AT + j], room[DEPTH + j]
    return _peak_about(air, parts, count, sigma, far, room, (best, step)) if most > _ZERO else (_ZERO, _ZERO)


@loop_kernel
def _peak_about(
    air: Air, parts: Array, count: int, sigma: Real, far: Real, room: Array, about: tuple[Real, Real]
) -> tuple[Real, Real]:  # fmt: skip
    """The top of W, what comes back spread by the pulse, ``about`` a path: that, and how far to both sides of it."""
    middle, reach = about
    step = _TWO * reach / np.float32(NODES - 1)
    for j in range(NODES):
        room[PATHS + j], room[PATHS + NODES + j] = middle - reach + np.float32(j) * step, _ZERO
    for side in range(3):
        weight, off = (_MIDDLE if side == 1 else _SIDE), (np.float32(side) - _ONE) * _ABSCISSA * sigma
        for j in range(NODES):
            room[AT + j] = room[PATHS + j] + off
        sum_parts(parts, count, room)
        returned(air, far, room)
        for j in range(NODES):
            room[PATHS + NODES + j] += weight * room[DEPTH + j]
    top = 0
    for j in range(1, NODES):
        if room[PATHS + j] < far and room[PATHS + NODES + j] > room[PATHS + NODES + top]:
            top = j
    path, height, aside = room[PATHS + top], room[PATHS + NODES + top], _ZERO
    if 0 < top < NODES - 1:  # the top of the parabola through three of them
        before, after = room[PATHS + NODES + top - 1], room[PATHS + NODES + top + 1]
        bend = before - _TWO * height + after
        aside = _HALF * (before - after) / bend if bend < _ZERO else _ZERO
        aside = min(max(aside, -_HALF), _HALF)
        height -= _HALF * _HALF * (before - after) * aside
    return max(min(path + aside * step, far), np.float32(1e-3)), _ROOT_TWO_PI * sigma * height
