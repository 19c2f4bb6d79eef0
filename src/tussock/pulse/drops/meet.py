"""Drops and flakes that sixteen pulses meet, and their shadows; see `tussock.signal.air`.

How many every pulse meets before its furthest hit is drawn first; then all drops of the sixteen are drawn together, one after
the other in a list, each pulse's in order, by loops that become vector code. Those that the sub-ray which would carry on through
them does not reach have an energy of 0; the others dim what is behind them, but not other drops. What the receiver
makes of them is in `tussock.pulse.drops.hear`.
"""

from __future__ import annotations

import numpy as np

from tussock.elementary import exponential, logarithm
from tussock.kernels import Array, inline_kernel, kernel, loop_kernel
from tussock.pulse.from_air import add_hit, air_code
from tussock.pulse.sub_rays import pulse_number
from tussock.pulse.tables import DropScratch, Hits, Lot, Scanning
from tussock.randomness import Purpose, random_words, uniform
from tussock.signal.air import MOST_DROPS, Air, drop_at, drop_place, drops_before, relief_entry
from tussock.trace.packets import LANES

__all__ = ["add_drop", "drops_as_hits", "meet_drops", "new_drop_scratch", "relieve"]

_WEATHER = int(Purpose.WEATHER)
_ZERO, _ONE, _FAR = np.float32(0.0), np.float32(1.0), np.float32(np.inf)
_FIRST_DROP = 16  # draws of the weather's chance: how many there are, and from here on each drop
_HALF_WORD, _LOW_HALF = np.uint32(16), np.uint32(0xFFFF)
_TO_UNIT = np.float32(2.0**-16)
# Numbers of every pulse: the mean is that of how many drops it meets, the share what is left of the light.
_FURTHEST, _MEAN, _PART, _SUM, _ENTRY, _NEAREST, _SHARE, _NUMBERS = range(8)


@kernel
def new_drop_scratch() -> DropScratch:
    """Room for all drops that sixteen pulses may meet, and some more, as loops go over sixteen at a time."""
    many, shape = LANES * MOST_DROPS + LANES, (MOST_DROPS + 1, LANES)
    f4, i4, u4 = np.float32, np.int32, np.uint32
    return DropScratch(
        np.zeros(LANES, np.int64), np.zeros(many, i4), np.zeros(many, i4), np.zeros(many, i4), np.zeros(many, f4),
        np.zeros(many, f4), np.zeros(many, f4), np.zeros(many, f4), np.zeros(many, f4), np.zeros(many, u4),
        np.zeros(many, u4), np.zeros(many, f4), np.zeros(4 * LANES, u4), np.zeros(shape, f4), np.zeros(shape, f4),
        np.zeros(_NUMBERS * LANES, f4), np.zeros(LANES, f4), np.zeros(LANES, f4), np.zeros(1, np.int64),
    )  # fmt: skip


@loop_kernel
def meet_drops(scanning: Scanning, hits: Hits, drops: DropScratch, lot: Lot, used: int) -> None:
    """The drops that each pulse meets before the sub-ray that would carry on through them ends, and their shadows.

    Before them no lane uses more than ``used`` rows of hits.
    """
    rays = len(scanning.firing.stencil)
    _count(scanning, hits, drops, lot)
    found = _list(drops, lot.lanes)
    drops.found[0] = found
    if found == 0:
        return
    _draw(scanning, drops, lot, found)
    most = _meet(hits, drops, rays)
    _shade(hits, drops, used, most)


@inline_kernel
def _meet(hits: Hits, drops: DropScratch, rays: int) -> int:
    """Take the energy of those that a sub-ray does not reach; how many a pulse has at most."""
    most, at = 0, np.uint64(0)
    for l in range(LANES):
        most = max(most, drops.counts[l])
    for n in range(most):
        for l in range(LANES):
            drops.shadows[n, l], drops.left[n, l] = _FAR, _ONE
    for l in range(LANES):
        met, energies, end = np.uint64(0), _ZERO, at + np.uint64(drops.counts[l])
        while at < end:
            path, energy = drops.paths[at], drops.energies[at]
            ray = (drops.choices[at] >> _HALF_WORD) * np.uint32(rays) >> _HALF_WORD
            if path < hits.ranges[ray, l]:
                energies += energy
                drops.shadows[met, l], drops.left[met, l] = path, _ONE - drops.taken[at]
                met += np.uint64(1)
            else:
                drops.energies[at] = _ZERO
            at += np.uint64(1)
        drops.sums[l] = energies
    for l in range(LANES):
        drops.nearest[l] = drops.shadows[0, l]
    return most


@loop_kernel
def relieve(air: Air, hits: Hits, used: int, drops: DropScratch) -> None:
    """Give hits back what drops take that are drawn one by one."""
    room = drops.room
    for k in range(used):
        for l in range(LANES):
            room[_ENTRY * LANES + l] = relief_entry(air, hits.ranges[k, l])
        for l in range(LANES):
            room[_SHARE * LANES + l] = air.relief[np.uint64(room[_ENTRY * LANES + l])]
        for l in range(LANES):
            hits.energies[k, l] *= room[_SHARE * LANES + l]


@inline_kernel
def _shade(hits: Hits, drops: DropScratch, used: int, most: int) -> None:
    """Dim what is behind the drops: by those that are before all hits at once, by the others hit by hit."""
    room, before = drops.room, 0
    for l in range(LANES):
        room[_NEAREST * LANES + l], room[_SHARE * LANES + l] = _FAR, _ONE
    for k in range(used):
        for l in range(LANES):
            path = hits.ranges[k, l] if hits.energies[k, l] > _ZERO else _FAR
            room[_NEAREST * LANES + l] = min(room[_NEAREST * LANES + l], path)
    among = 0
    while among == 0 and before < most:
        for l in range(LANES):
            path = drops.shadows[before, l]
            among += 1 if (path < _FAR) & (path >= room[_NEAREST * LANES + l]) else 0
        if among == 0:
            for l in range(LANES):
                room[_SHARE * LANES + l] *= drops.left[before, l]
            before += 1
    for k in range(used):
        for l in range(LANES):
            hits.energies[k, l] *= room[_SHARE * LANES + l]
        for n in range(before, most):
            for l in range(LANES):
                left = drops.left[n, l]  # read whether it is wanted or not: without a branch this is vector code
                hits.energies[k, l] *= left if hits.ranges[k, l] > drops.shadows[n, l] else _ONE


@inline_kernel
def _count(scanning: Scanning, hits: Hits, drops: DropScratch, lot: Lot) -> None:
    """How many drops each pulse meets before its furthest hit: by the inverse of Poisson's distribution function."""
    air, chance, rays = scanning.air, scanning.chance, len(scanning.firing.stencil)
    room, words, counts = drops.room, drops.words, drops.counts
    for l in range(LANES):
        room[_FURTHEST * LANES + l] = _ZERO
    for k in range(rays):
        for l in range(LANES):
            path, furthest = hits.ranges[k, l], room[_FURTHEST * LANES + l]
            room[_FURTHEST * LANES + l] = path if path > furthest else furthest
    for l in range(LANES):
        words[l], words[LANES + l], _, _ = random_words(chance, pulse_number(lot, l), 0, _WEATHER)
    for l in range(LANES):
        room[_MEAN * LANES + l] = drops_before(air, room[_FURTHEST * LANES + l])
    for l in range(LANES):
        room[_PART * LANES + l] = exponential(-room[_MEAN * LANES + l])
        room[_SUM * LANES + l] = room[_PART * LANES + l]
    for l in range(LANES):
        counts[l] = 0
    more, number = True, 0
    while more and number < MOST_DROPS:
        number += 1
        further = 0
        for l in range(LANES):
            counts[l] += 1 if uniform(words[l]) >= room[_SUM * LANES + l] else 0
            further += 1 if uniform(words[l]) >= room[_SUM * LANES + l] else 0
        per = _ONE / np.float32(number)
        for l in range(LANES):
            room[_PART * LANES + l] *= room[_MEAN * LANES + l] * per
            room[_SUM * LANES + l] += room[_PART * LANES + l]
        more = further > 0
    for l in range(LANES):
        room[_SUM * LANES + l] = -logarithm(_ONE - uniform(words[LANES + l]))


@inline_kernel
def _list(drops: DropScratch, lanes: int) -> int:
    """Which drop of which pulse each one of the list is; how many there are."""
    found = np.uint64(0)  # without a sign no index counts from the end
    for l in range(lanes):
        count = np.uint64(drops.counts[l])
        for n in range(count):
            drops.lanes[found + n], drops.numbers[found + n] = l, np.int32(n)
        found += count
    for l in range(lanes, LANES):
        drops.counts[l] = 0
    for i in range(LANES):
        drops.lanes[found + np.uint64(i)], drops.numbers[found + np.uint64(i)] = 0, 0
    return int(found)


@inline_kernel
def _draw(scanning: Scanning, drops: DropScratch, lot: Lot, found: int) -> None:
    """Draw the drops in the list, were nothing in their way."""
    air, chance, words = scanning.air, scanning.chance, drops.words
    for first in range(0, found, LANES):
        block = np.uint64(first)  # without a sign no index counts from the end
        for i in range(LANES):
            j = block + np.uint64(i)
            words[i], words[LANES + i] = np.uint32(pulse_number(lot, drops.lanes[j])), np.uint32(drops.numbers[j])
        for i in range(LANES):
            words[i], words[LANES + i], words[2 * LANES + i], words[3 * LANES + i] = random_words(
                chance, words[i], np.uint32(_FIRST_DROP) + words[LANES + i], _WEATHER
            )
        for i in range(LANES):
            j = block + np.uint64(i)
            drops.gaps[j] = -logarithm(_ONE - uniform(words[i]))
        for i in range(LANES):
            j = block + np.uint64(i)
            drops.sizes[j] = words[LANES + i]
        for i in range(LANES):
            j = block + np.uint64(i)
            drops.choices[j] = words[2 * LANES + i]
        for i in range(LANES):
            j = block + np.uint64(i)
            drops.hazes[j] = uniform(words[3 * LANES + i])
    _place(air, drops, lot.lanes)
    last = len(air.laws) - 1  # rain, snow or both
    slope_1, rho_1, slope_2, rho_2 = air.laws[0, 1], air.laws[0, 2], air.laws[last, 1], air.laws[last, 2]
    for first in range(0, found, LANES):
        block = np.uint64(first)  # without a sign no index counts from the end
        for i in range(LANES):
            j = block + np.uint64(i)
            one = drops.laws[j] == 0
            slope, rho = slope_1 if one else slope_2, rho_1 if one else rho_2
            drop = drop_at(air, drops.paths[j], drops.least[j], slope, rho, drops.sizes[j])
            drops.energies[j], drops.taken[j] = drop.energy, drop.taken


@inline_kernel
def _place(air: Air, drops: DropScratch, lanes: int) -> None:
    """Where the drops are.

    Sums of exponential numbers over the sum of all and one more are even numbers in order.
    """
    everything, begin = air.before[len(air.before) - 1], np.uint64(0)
    for l in range(lanes):
        end, total = begin + np.uint64(drops.counts[l]), drops.room[_SUM * LANES + l]
        for j in range(begin, end):
            total += drops.gaps[j]
        scale, sum_ = drops.room[_MEAN * LANES + l] / (everything * total), _ZERO
        for j in range(begin, end):
            sum_ += drops.gaps[j]
            u = np.float32(drops.choices[j] & _LOW_HALF) * _TO_UNIT
            drops.paths[j], drops.least[j], drops.laws[j] = drop_place(air, sum_ * scale, u)
        begin = end
    for i in range(LANES):
        drops.paths[begin + np.uint64(i)], drops.laws[begin + np.uint64(i)] = _ONE, 0


@loop_kernel
def drops_as_hits(air: Air, hits: Hits, drops: DropScratch, soft: Array) -> None:
    """Make hits of the drops of those pulses in which the continuum is hits as well; the others stay drops."""
    for j in range(drops.found[0]):
        if soft[drops.lanes[j]] >= -1:
            add_drop(air, hits, drops, j)
            drops.energies[j] = _ZERO


@inline_kernel
def add_drop(air: Air, hits: Hits, drops: DropScratch, j: int) -> None:
    """Make a hit of a drop, if it is met."""
    if drops.energies[j] > _ZERO:
        code = air_code(np.uint32(air.laws[drops.laws[j], 0]))
        add_hit(hits, drops.lanes[j], drops.paths[j], drops.energies[j], code)
