"""What the air adds to the hits of sixteen pulses, and what it takes from them; see `tussock.signal.air`.

    clouds   dim what is behind them; the peak of what they send back is one more hit
    drops    single ones, each a hit; what is behind one is dimmer by its shadow
    soft     the peak of the continuum, where nothing is near enough to have a part in it: known beforehand, it is
             handed to the receiver as an echo; else the continuum in pieces, each a hit, cut off where the beam ends

Left out: what a ray meets behind a mirror is dimmed as if its way had been straight, and of several clouds on one ray
the strongest peak is the one that is sent back.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tussock.elementary import exponential
from tussock.kernels import Array, Real, Whole, inline_kernel, kernel, loop_kernel
from tussock.pulse.tables import AirScratch, Firing, Hits, Listening, Scanning, Scratch
from tussock.randomness import Purpose, random_words, uniform
from tussock.signal.air import (
    MOST_DROPS,
    Air,
    depth_before,
    drawn_drop,
    drop_count,
    relief_at,
    return_per_metre,
)  # fmt: skip
from tussock.trace.packets import LANES, NOTHING

__all__ = ["air_code", "air_hits", "has_weather", "new_air_scratch", "weather_lanes"]

_WEATHER = int(Purpose.WEATHER)
_DUST = 3
_ZERO, _ONE, _TWO = np.float32(0.0), np.float32(1.0), np.float32(2.0)
_NEAR, _PARTS = 512, 24
_STEPS = 16  # where along the clouds the peak is looked for
_ROOT_TWO_PI = np.float32(math.sqrt(2 * math.pi))
# Three points of Gauss and Hermite: right for what bends like a polynomial of the fifth degree within the pulse.
_ABSCISSA, _MIDDLE, _SIDE = np.float32(math.sqrt(3.0)), np.float32(2 / 3), np.float32(1 / 6)
_REACH = np.float32(4.0)  # [s] a puff ends there: 3e-4 of its middle


@inline_kernel
def has_weather(air: Air) -> bool:
    """Whether anything in the air is more than even extinction."""
    return len(air.soft) > 0 or len(air.laws) > 0 or len(air.clouds) > 0


@kernel
def air_hits(air: Air) -> int:
    """Room for the hits that the air adds to a pulse."""
    return len(air.soft) + MOST_DROPS * len(air.laws) + (1 if len(air.clouds) > 0 else 0)


@kernel
def new_air_scratch() -> AirScratch:
    return AirScratch(np.zeros((_PARTS, 5), np.float32), np.zeros(_NEAR, np.int32))


@inline_kernel
def air_code(kind: Whole) -> Whole:
    """What stands for the air among geometry numbers."""
    return np.uint32(NOTHING - np.uint32(1) - np.uint32(kind))


@loop_kernel
def weather_lanes(scanning: Scanning, scratch: Scratch, first: int, lanes: int, used: int, recorded: bool) -> None:
    """Change the hits of sixteen pulses, in the first ``used`` rows, by what is in the air, and add to them."""
    air, hits = scanning.air, scratch.hits
    if len(air.clouds) > 0:
        _meet_clouds(scanning, scratch, lanes, used)
    if len(air.laws) > 0:
        for k in range(used):
            for l in range(LANES):
                if hits.energies[k, l] > _ZERO:  # a lane that has no such hit has no range there either
                    hits.energies[k, l] *= relief_at(air, hits.ranges[k, l])
        if scanning.receiving.echoes:
            for l in range(lanes):
                _meet_drops(scanning, hits, first + l, l, used)
    if len(air.soft) > 0:
        _meet_continuum(air, scanning.firing, hits, scratch.heard.soft, lanes, recorded)


@inline_kernel
def _add(hits: Hits, lane: int, path: Real, energy: Real, code: Whole) -> None:
    at = hits.used[lane]
    if at < hits.ranges.shape[0]:
        hits.ranges[at, lane], hits.energies[at, lane] = path, energy
        hits.ids[0, at, lane], hits.ids[1, at, lane], hits.ids[2, at, lane] = code, np.uint32(0), np.uint32(0)
        hits.used[lane] = at + 1


@loop_kernel
def _meet_drops(scanning: Scanning, hits: Hits, pulse: int, l: int, used: int) -> None:
    """Add the drops that one pulse meets before the sub-ray that would carry on through them ends."""
    air, chance, rays = scanning.air, scanning.chance, len(scanning.firing.stencil)
    own = min(used, hits.used[l])  # other pulses may use more rows: there its own drops are, which shade no other drop
    for kind in range(len(air.laws)):
        u = uniform(random_words(chance, pulse, kind, _WEATHER)[0])
        count = drop_count(u, air.laws[kind, 1], air.laws[kind, 2])
        for i in range(count):
            words = random_words(chance, pulse, 16 + kind * MOST_DROPS + i, _WEATHER)
            drop = drawn_drop(air, kind, words[0], words[1])
            ray = min(int(uniform(words[2]) * np.float32(rays)), rays - 1)
            if drop.path >= hits.ranges[ray, l]:
                continue
            for k in range(own):
                if hits.ranges[k, l] > drop.path:
                    hits.energies[k, l] *= _ONE - drop.taken
            _add(hits, l, drop.path, drop.energy, air_code(np.uint32(air.laws[kind, 0])))


@loop_kernel
def _meet_continuum(air: Air, firing: Firing, hits: Hits, soft: Array, lanes: int, recorded: bool) -> None:
    """The continuum: an echo that is known beforehand, or pieces of it."""
    rays = len(firing.stencil)
    for l in range(LANES):
        soft[l] = -1
    for l in range(lanes):
        nearest = hits.ranges[0, l]
        for k in range(1, rays):
            nearest = min(nearest, hits.ranges[k, l])
        if nearest >= air.soft_near and not recorded:
            soft[l] = -2 - air.soft_kind
            continue
        for j in range(len(air.soft)):
            share = _ZERO
            for k in range(rays):
                share += firing.weights[k] if hits.ranges[k, l] > air.soft[j, 0] else _ZERO
            if share > _ZERO:
                _add(hits, l, air.soft[j, 0], air.soft[j, 1] * share, air_code(np.uint32(air.soft_kind)))


class _Way(NamedTuple):
    """The axis of a pulse."""

    x: Real
    y: Real
    z: Real
    dx: Real
    dy: Real
    dz: Real
    time: Real


@inline_kernel
def _way(aim: Array, l: int) -> _Way:
    return _Way(
        aim[l], aim[LANES + l], aim[2 * LANES + l], aim[3 * LANES + l], aim[4 * LANES + l], aim[5 * LANES + l],
        aim[12 * LANES + l],
    )  # fmt: skip


@loop_kernel
def _meet_clouds(scanning: Scanning, scratch: Scratch, lanes: int, used: int) -> None:
    air, receiving, hits, parts = scanning.air, scanning.receiving, scratch.hits, scratch.air.parts
    near = _near_clouds(air.clouds, scratch.aim, lanes, scratch.air.near)
    if near == 0:
        return
    for l in range(lanes):
        count = _parts_on(air.clouds, scratch.air.near, near, _way(scratch.aim, l), parts)
        if count == 0:
            continue
        for k in range(used):
            if hits.energies[k, l] > _ZERO:
                depth = depth_before(parts, count, hits.ranges[k, l])
                hits.energies[k, l] *= exponential(-_TWO * depth)
        if receiving.echoes:
            path, peak, kind = _cloud_peak(air, parts, count, receiving.listening, hits.ranges[0, l])
            if peak > _ZERO:
                _add(hits, l, path, peak, air_code(kind))


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
        if (not narrow or (along > -reach and off <= room)) and found < len(near):
            near[found] = c
            found += 1
    return found


@loop_kernel
def _parts_on(clouds: Array, near: Array, count: int, way: _Way, parts: Array) -> int:
    """The clouds that an axis goes through, as rows of `depth_before` with the kind; how many."""
    found = 0
    for i in range(count):
        row = clouds[near[i]]
        if found == len(parts):
            break
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
                parts[found, 0], parts[found, 1], parts[found, 2] = _ONE + row[1], enters, leaves
                parts[found, 3], parts[found, 4] = row[11], row[12]
                found += 1
            continue
        along = x * way.dx + y * way.dy + z * way.dz
        off2 = max(x * x + y * y + z * z - along * along, _ZERO)
        s = row[5]
        if off2 < _REACH * _REACH * s * s and along > -_REACH * s:
            thin = exponential(np.float32(-0.5) * off2 / (s * s))
            parts[found, 0], parts[found, 1], parts[found, 2] = -row[1], along, s
            parts[found, 3], parts[found, 4] = row[11] * thin, row[12] * thin
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
def _cloud_peak(
    air: Air, parts: Array, count: int, listening: Listening, far: Real
) -> tuple[Real, Real, Whole]:  # fmt: skip
    """Path, height and kind of the strongest peak of what clouds send back before ``far`` [m]; height 0 for none."""
    begin, end = np.float32(np.inf), _ZERO
    for i in range(count):
        if parts[i, 0] > _ZERO:
            low, high = parts[i, 1], parts[i, 2]
        else:
            low, high = parts[i, 1] - _TWO * parts[i, 2], parts[i, 1] + _TWO * parts[i, 2]
        begin, end = min(begin, low), max(end, high)
    begin, end = max(begin, air.overlap_from), min(end, far)
    if end <= begin:
        return _ZERO, _ZERO, np.uint32(0)
    step = (end - begin) / np.float32(_STEPS)
    best, most = begin, _ZERO
    for i in range(_STEPS):
        path = begin + (np.float32(i) + np.float32(0.5)) * step
        value = return_per_metre(air, parts, count, path)
        best, most = (path, value) if value > most else (best, most)
    most = _smoothed(air, parts, count, best, listening.sigma, far)
    step *= np.float32(0.5)
    for _ in range(3):  # closer by halves: the top is flat, so the height is known long before the place
        before = _smoothed(air, parts, count, best - step, listening.sigma, far)
        after = _smoothed(air, parts, count, best + step, listening.sigma, far)
        if before > most and before >= after:
            best, most = best - step, before
        elif after > most:
            best, most = best + step, after
        step *= np.float32(0.5)
    strongest, kind = np.float32(-1.0), np.uint32(_DUST)
    for i in range(count):
        if parts[i, 4] > strongest:
            box = parts[i, 0] > _ZERO
            strongest, kind = parts[i, 4], np.uint32(parts[i, 0] - _ONE if box else -parts[i, 0])
    return max(best, np.float32(1e-3)), most, kind


@inline_kernel
def _smoothed(air: Air, parts: Array, count: int, path: Real, sigma: Real, far: Real) -> Real:
    """W at a path: what comes back from there, spread by the pulse; nothing comes from behind ``far``."""
    side = _ABSCISSA * sigma
    total = _MIDDLE * return_per_metre(air, parts, count, path) if path < far else _ZERO
    if path - side > _ZERO:
        total += _SIDE * return_per_metre(air, parts, count, path - side) if path - side < far else _ZERO
    if path + side < far:
        total += _SIDE * return_per_metre(air, parts, count, path + side)
    return _ROOT_TWO_PI * sigma * total
