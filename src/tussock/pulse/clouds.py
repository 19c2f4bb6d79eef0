"""Puffs and boxes of dust or fog in the way of pulses: what they take, and the peak of what they send back.

A pulse meets clouds along its axis: they are wide beside a beam. Those that sixteen pulses may meet are found once, by a
cone around their axes and balls around all that clouds are in during the frame. On each axis the clouds that it goes
through become parts (`tussock.signal.clouds`): those of one cloud on sixteen axes, and then how much they dim a row of
hits, are computed together. Where they may send something back before the first hit, the parts on one axis are
packed, and their sums are taken at sixteen paths at a time, at the places where the peak is looked for.

Left out: of several clouds on one axis the strongest peak is the one that is sent back.
"""

from __future__ import annotations

import math

import numpy as np

from tussock.air.clouds import PUFF_REACH
from tussock.elementary import exponential
from tussock.kernels import Array, Real, inline_kernel, kernel, loop_kernel
from tussock.pulse.drops.hear import new_summits
from tussock.pulse.drops.meet import new_drop_scratch
from tussock.pulse.from_air import add_hit, air_code
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
    SCATTERED,
    depth_before,
    depth_through,
    part_end,
    part_kind,
    puff_behind,
    returned,
    sum_densities,
    sum_parts,
)  # fmt: skip
from tussock.trace.packets import LANES

__all__ = ["meet_clouds", "new_air_scratch"]

_ZERO, _HALF, _ONE, _TWO = (np.float32(value) for value in (0.0, 0.5, 1.0, 2.0))
_LEAST = 1  # clouds that there is room for
_MOST_ROUNDS = 6  # of sixteen places in the first look for the peak
_FINE = np.float32(0.75)  # [s] of the smallest puff between them
_ROOT_TWO_PI = np.float32(math.sqrt(2 * math.pi))
_PER_ROOT_TWO_PI = np.float32(1 / math.sqrt(2 * math.pi))
_MIDST = np.float32((NODES - 1) / 2)
_WIDE = np.float32(3.0)  # [σ] further off nothing has a part in W
_REACHES = 9  # places that have a part, to either side
# Three points of Gauss and Hermite: right for what bends like a polynomial of the fifth degree within the pulse.
_ABSCISSA, _MIDDLE, _SIDE = np.float32(math.sqrt(3.0)), np.float32(2 / 3), np.float32(1 / 6)
_REACH = np.float32(PUFF_REACH)
_ROUNDED_COSINE = np.float32(3e-7)
_FAR = np.float32(1e30)  # [m²]
_ROUNDED = np.float32(4e-6)  # of a square of a distance: some units in the last place of what it is the difference of
# Numbers of parts on sixteen axes: what they are as in `tussock.signal.clouds`, one for all axes, then for each axis the others,
# and how much of the cloud's middle is on it, 0 where it is not met.
_A, _B, _ALPHA, _BETA, _BEHIND, _THIN = range(1, 7)
_ACROSS_NUMBERS = 7
# Numbers of every axis, see `_ends`.
_BEGIN, _END, _PASSED, _DEEP, _NEAREST, _LEFT, _AT = range(7)
_LANE_NUMBERS = 7
_FEW_ROWS = 3  # of hits: those of sixteen pulses are dimmed together; more of them pulse by pulse, by the clouds on its axis alone


@kernel
def new_air_scratch(clouds: int) -> AirScratch:
    """Room for so many clouds on one axis, and for drops."""
    most = max(clouds, _LEAST)
    return AirScratch(
        np.zeros((most, PART_NUMBERS), np.float32),
        np.zeros((most, _ACROSS_NUMBERS * LANES), np.float32),
        np.zeros(_LANE_NUMBERS * LANES, np.float32),
        np.zeros(most + NODES, np.int32),
        np.zeros(NUMBERS, np.float32),
        new_drop_scratch(),
        new_summits(),
    )


@loop_kernel
def meet_clouds(scanning: Scanning, scratch: Scratch, lanes: int, used: int) -> None:
    """Dim the hits of sixteen pulses, in the first ``used`` rows, by the clouds before them, and add those' own."""
    air, receiving, hits = scanning.air, scanning.receiving, scratch.hits
    parts, across, ends = scratch.air.parts, scratch.air.across, scratch.air.ends
    near = _near_clouds(air.cloud_balls, len(air.clouds), scratch.aim, lanes, scratch.air.near)
    if near == 0:
        return
    met = _meet(air.clouds, scratch.air.near, near, scratch.aim, lanes, across)
    if met == 0:
        return
    _ends(across, met, hits, used, ends)
    few, room = used <= _FEW_ROWS, scratch.air.room
    _dim(across, met, hits, used, few, ends)
    for l in range(lanes):
        among = not few and ends[_NEAREST * LANES + l] < ends[_PASSED * LANES + l]
        begin, end = max(ends[_BEGIN * LANES + l], air.overlap_from), min(ends[_END * LANES + l], hits.ranges[0, l])
        returns = receiving.echoes and end > begin
        count = _parts_on(across, met, l, parts) if among or returns else 0
        if among:
            _dim_among(hits, used, l, parts, count, room)
        if returns:
            path, peak = _peak(air, parts, count, receiving.listening.sigma, hits.ranges[0, l], room)
            if peak > _ZERO:
                add_hit(hits, l, path, peak, air_code(part_kind(parts, count, path)))


@loop_kernel
def _near_clouds(balls: Array, clouds: int, aim: Array, lanes: int, near: Array) -> int:
    """The clouds that a cone around the axes of sixteen pulses may meet; how many."""
    mx, my, mz, moved2 = _ZERO, _ZERO, _ZERO, _ZERO
    x, y, z = aim[0], aim[LANES], aim[2 * LANES]
    for l in range(lanes):
        mx, my, mz = mx + aim[3 * LANES + l], my + aim[4 * LANES + l], mz + aim[5 * LANES + l]
        ox, oy, oz = aim[l] - x, aim[LANES + l] - y, aim[2 * LANES + l] - z
        moved2 = max(moved2, ox * ox + oy * oy + oz * oz)
    length = np.float32(math.sqrt(mx * mx + my * my + mz * mz))
    cosine = np.float32(-1.0)
    if length > np.float32(1e-3):
        mx, my, mz, cosine = mx / length, my / length, mz / length, _ONE
        for l in range(lanes):
            along = mx * aim[3 * LANES + l] + my * aim[4 * LANES + l] + mz * aim[5 * LANES + l]
            cosine = min(cosine, along - _ROUNDED_COSINE)
    narrow = cosine > np.float32(0.3)
    tangent = np.float32(math.sqrt(max(_ONE - cosine * cosine, _ZERO))) / max(cosine, np.float32(0.3))
    moved, wider = np.float32(math.sqrt(moved2)), _ONE + tangent
    found = 0
    for first in range(0, clouds, NODES):
        some = 0
        for j in range(NODES):
            c = np.uint64(first) + np.uint64(j)  # without a sign no index counts from the end
            ax, ay, az = balls[0, c] - x, balls[1, c] - y, balls[2, c] - z
            reach = balls[3, c] + moved
            along = ax * mx + ay * my + az * mz
            away2 = ax * ax + ay * ay + az * az
            room = max(along, _ZERO) * tangent + reach * wider
            met = (along > -reach * wider * wider) & (away2 - along * along <= room * room + _ROUNDED * away2)
            near[np.uint64(found) + np.uint64(j)] = 1 if met | (not narrow) else 0
            some += 1 if met | (not narrow) else 0
        if some > 0:
            begin = found
            for j in range(min(NODES, clouds - first)):
                # What is read lies at or behind what is written.
                if near[begin + j] != 0:
                    near[found] = first + j
                    found += 1
    return found


@loop_kernel
def _meet(clouds: Array, near: Array, count: int, aim: Array, lanes: int, across: Array) -> int:
    """The parts of those clouds that any of sixteen axes goes through; how many clouds. Where an axis does not, they are nothing."""
    found = 0
    for i in range(count):
        row, part = clouds[near[i]], across[found]
        if row[0] > _ZERO:
            found += 1 if _box_across(row, aim, lanes, part) > 0 else 0
        else:
            found += 1 if _puff_across(row, aim, lanes, part) > 0 else 0
    return found


@inline_kernel
def _puff_across(row: Array, aim: Array, lanes: int, part: Array) -> int:
    """The parts of a puff on sixteen axes; how many go through it."""
    kind, cx, cy, cz, s, vx, vy, vz, alpha, beta = (
        row[1], row[2], row[3], row[4], row[5], row[8], row[9], row[10], row[11], row[12]
    )  # fmt: skip
    some = 0
    for l in range(LANES):
        time = aim[12 * LANES + l]
        x, y, z = cx + time * vx - aim[l], cy + time * vy - aim[LANES + l], cz + time * vz - aim[2 * LANES + l]
        along = x * aim[3 * LANES + l] + y * aim[4 * LANES + l] + z * aim[5 * LANES + l]
        off2 = max(x * x + y * y + z * z - along * along, _ZERO)
        met = (off2 < _REACH * _REACH * s * s) & (along > -_REACH * s) & (l < lanes)
        part[_A * LANES + l], part[_B * LANES + l] = along, s
        part[_THIN * LANES + l] = off2 if met else _FAR
        some += 1 if met else 0
    if some == 0:
        return 0
    part[0] = -kind
    for l in range(LANES):
        off2 = part[_THIN * LANES + l]
        thin = exponential(-_HALF * off2 / (s * s))
        thin = thin if off2 < _FAR else _ZERO
        part[_THIN * LANES + l], part[_ALPHA * LANES + l], part[_BETA * LANES + l] = thin, alpha * thin, beta * thin
        part[_BEHIND * LANES + l] = puff_behind(part[_A * LANES + l], s)
    return some


@inline_kernel
def _box_across(row: Array, aim: Array, lanes: int, part: Array) -> int:
    """The parts of a box on sixteen axes; how many go through it."""
    some = 0
    part[0] = _ONE + row[1]
    for l in range(LANES):
        time = aim[12 * LANES + l]
        enters, leaves = _ZERO, np.float32(np.inf)
        for axis in range(3):
            middle = row[2 + axis] + time * row[8 + axis] - aim[axis * LANES + l]
            enters, leaves = _within(middle, row[5 + axis], aim[(3 + axis) * LANES + l], enters, leaves)
        met = (enters < leaves) & (l < lanes)
        here = _ONE if met else _ZERO
        part[_A * LANES + l], part[_B * LANES + l] = (enters, leaves) if met else (_ZERO, _ZERO)
        part[_ALPHA * LANES + l], part[_BETA * LANES + l] = row[11] * here, row[12] * here
        part[_BEHIND * LANES + l], part[_THIN * LANES + l] = _ZERO, here
        some += 1 if met else 0
    return some


@inline_kernel
def _parts_on(across: Array, met: int, l: int, parts: Array) -> int:
    """The clouds that one axis goes through, as parts; how many."""
    found = 0
    for i in range(met):
        if across[i, _THIN * LANES + l] > _ZERO:
            parts[found, 0], parts[found, 1], parts[found, 2] = (
                across[i, 0],
                across[i, _A * LANES + l],
                across[i, _B * LANES + l],
            )
            parts[found, 3], parts[found, 4], parts[found, 5] = (
                across[i, _ALPHA * LANES + l], across[i, _BETA * LANES + l], across[i, _BEHIND * LANES + l]
            )  # fmt: skip
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
def _ends(across: Array, met: int, hits: Hits, used: int, ends: Array) -> None:
    """On each axis: where clouds begin and end to send back, where they have been passed, how deep they are, and the nearest hit."""
    for l in range(LANES):
        ends[_BEGIN * LANES + l], ends[_NEAREST * LANES + l] = np.float32(np.inf), np.float32(np.inf)
        ends[_END * LANES + l], ends[_PASSED * LANES + l], ends[_DEEP * LANES + l] = _ZERO, _ZERO, _ZERO
    for i in range(met):
        box = across[i, 0] > _ZERO
        before, behind, passed = (_ZERO, _ZERO, _ZERO) if box else (_TWO, _TWO, PUFF_END)
        for l in range(LANES):
            a, b, here = across[i, _A * LANES + l], across[i, _B * LANES + l], across[i, _THIN * LANES + l] > _ZERO
            begin, end, past = a - before * b, (b if box else a + behind * b), (b if box else a + passed * b)
            begin = begin if here else np.float32(np.inf)
            end, past = (end if here else _ZERO), (past if here else _ZERO)
            ends[_BEGIN * LANES + l] = min(ends[_BEGIN * LANES + l], begin)
            ends[_END * LANES + l] = max(ends[_END * LANES + l], end)
            ends[_PASSED * LANES + l] = max(ends[_PASSED * LANES + l], past)
            ends[_DEEP * LANES + l] += depth_through(
                box, a, b, across[i, _ALPHA * LANES + l], across[i, _BEHIND * LANES + l]
            )
    for k in range(used):
        for l in range(LANES):
            path = hits.ranges[k, l] if hits.energies[k, l] > _ZERO else np.float32(np.inf)
            ends[_NEAREST * LANES + l] = min(ends[_NEAREST * LANES + l], path)


@loop_kernel
def _dim(across: Array, met: int, hits: Hits, used: int, few: bool, ends: Array) -> None:
    """Dim the hits of pulses by what the clouds take on both ways; unless they have ``few``, only of pulses that have all behind all clouds."""
    among = 0
    for l in range(LANES):
        past = ends[_NEAREST * LANES + l] >= ends[_PASSED * LANES + l]
        left = exponential(-_TWO * ends[_DEEP * LANES + l])
        ends[_LEFT * LANES + l] = left if past else _ONE
        among += 0 if past else 1
    for k in range(used):
        for l in range(LANES):
            hits.energies[k, l] *= ends[_LEFT * LANES + l]
    if among == 0 or not few:
        return
    for k in range(used):
        for l in range(LANES):
            ends[_DEEP * LANES + l] = _ZERO
            ends[_AT * LANES + l] = hits.ranges[k, l] if hits.energies[k, l] > _ZERO else _ZERO
        for i in range(met):
            box = across[i, 0] > _ZERO
            for l in range(LANES):
                ends[_DEEP * LANES + l] += depth_before(
                    box, across[i, _A * LANES + l], across[i, _B * LANES + l], across[i, _ALPHA * LANES + l], across[i, _BEHIND * LANES + l],
                    ends[_AT * LANES + l],
                )  # fmt: skip
        for l in range(LANES):
            past = ends[_NEAREST * LANES + l] >= ends[_PASSED * LANES + l]
            hits.energies[k, l] *= _ONE if past else exponential(-_TWO * ends[_DEEP * LANES + l])


@loop_kernel
def _dim_among(hits: Hits, used: int, l: int, parts: Array, count: int, room: Array) -> None:
    """Dim the hits of a pulse that has some among the clouds on its axis, or before them: sixteen at a time."""
    for first in range(0, used, NODES):
        some = min(used - first, NODES)
        for j in range(NODES):
            room[AT + j] = _ZERO
        for j in range(some):
            room[AT + j] = hits.ranges[first + j, l] if hits.energies[first + j, l] > _ZERO else _ZERO
        sum_parts(parts, count, room)
        for j in range(NODES):
            room[DEPTH + j] = exponential(-_TWO * room[DEPTH + j])
        for j in range(some):
            hits.energies[first + j, l] *= room[DEPTH + j]


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
    best, most, deep = begin, _ZERO, _ZERO
    for turn in range(rounds):
        start = begin + np.float32(turn * NODES) * step
        for j in range(NODES):
            room[AT + j] = start + (np.float32(j) + _HALF) * step
        # To find out where to look closely, the depth is a sum over places, of which each is small.
        sum_densities(parts, count, room)
        for j in range(NODES):
            here = step * room[DEPTH + j]
            room[DEPTH + j] = deep + _HALF * here
            deep += here
        returned(air, far, room)
        for j in range(NODES):
            if room[DEPTH + j] > most:
                best, most = room[AT + j], room[DEPTH + j]
    return _peak_about(air, parts, count, sigma, far, room, (best, step)) if most > _ZERO else (_ZERO, _ZERO)


@inline_kernel
def _spread_at_places(
    air: Air, parts: Array, count: int, sigma: Real, far: Real, room: Array, about: tuple[Real, Real]
) -> None:  # fmt: skip
    """W at sixteen places ``about`` one, so far apart, each by three points of Gauss and Hermite, into the second of the rows PATHS."""
    middle, step = about
    for j in range(NODES):
        room[PATHS + j], room[PATHS + NODES + j] = middle + (np.float32(j) - _MIDST) * step, _ZERO
    for side in range(3):
        weight, off = (_MIDDLE if side == 1 else _SIDE), (np.float32(side) - _ONE) * _ABSCISSA * sigma
        for j in range(NODES):
            room[AT + j] = room[PATHS + j] + off
        sum_parts(parts, count, room)
        returned(air, far, room)
        for j in range(NODES):
            room[PATHS + NODES + j] += weight * room[DEPTH + j]


@inline_kernel
def _spread_over_places(
    air: Air, parts: Array, count: int, sigma: Real, far: Real, room: Array, about: tuple[Real, Real]
) -> None:  # fmt: skip
    """The same by a sum over the places, which are no further apart than σ: so the sum of a Gaussian is its integral to 1e-8.

    At both ends, where places are wanting, W is too low: they are further from the middle than what is looked for.
    """
    middle, step = about
    for j in range(NODES):
        room[AT + j] = middle + (np.float32(j) - _MIDST) * step
    sum_parts(parts, count, room)
    returned(air, far, room)
    apart = step / sigma
    for j in range(NODES):
        z = np.float32(j) * apart
        room[AT + j] = exponential(-_HALF * z * z) * apart * _PER_ROOT_TWO_PI
        # Nothing beside the places: the rows before and behind that of what comes back.
        room[SCATTERED + j], room[PATHS + j], room[PATHS + NODES + j] = _ZERO, _ZERO, _ZERO
    for off in range(-_REACHES, _REACHES + 1):
        weight = room[AT + abs(off)]
        for j in range(NODES):
            room[PATHS + NODES + j] += weight * room[DEPTH + off + j]
    for j in range(NODES):
        room[PATHS + j] = middle + (np.float32(j) - _MIDST) * step


@loop_kernel
def _peak_about(
    air: Air, parts: Array, count: int, sigma: Real, far: Real, room: Array, about: tuple[Real, Real]
) -> tuple[Real, Real]:  # fmt: skip
    """The top of W, what comes back spread by the pulse, ``about`` a path: that, and how far to both sides of it."""
    middle, reach = about
    step = _TWO * reach / np.float32(NODES - 1)
    wide = _TWO * (reach + _WIDE * sigma) / np.float32(NODES - 1)
    if wide <= sigma:  # the pulse is so long that places so far apart say all
        step = wide
        _spread_over_places(air, parts, count, sigma, far, room, (middle, step))
    else:
        _spread_at_places(air, parts, count, sigma, far, room, (middle, step))
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
