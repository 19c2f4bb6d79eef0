"""Drops and flakes that sixteen pulses meet, each a hit of its own; see `tussock.signal.air`.

How many every pulse meets is drawn first; then all drops of the sixteen are drawn together, in loops that become vector
code; then each becomes a hit, and a shadow on what is behind it. Other drops are not shaded.
"""

from __future__ import annotations

import numpy as np

from tussock.kernels import inline_kernel, kernel, loop_kernel
from tussock.pulse.from_air import add_hit, air_code
from tussock.pulse.sub_rays import pulse_number
from tussock.pulse.tables import DropScratch, Hits, Lot, Scanning
from tussock.randomness import Purpose, random_words, uniform
from tussock.signal.air import MOST_DROPS, drop_at, drop_count, drop_place
from tussock.trace.packets import LANES

__all__ = ["meet_drops", "new_drop_scratch"]

_WEATHER = int(Purpose.WEATHER)
_ONE = np.float32(1.0)
_FIRST_DROP = 16  # draws of the weather's chance: how many of each kind, and from here on each drop


@kernel
def new_drop_scratch() -> DropScratch:
    """Room for all drops of one kind that sixteen pulses may meet."""
    most = LANES * MOST_DROPS
    return DropScratch(
        np.zeros(most, np.int32), np.zeros(most, np.int32), np.zeros((3, most), np.uint32),
        np.zeros(most, np.float32), np.zeros(most, np.float32), np.zeros(most, np.float32), np.zeros(LANES, np.int64),
    )  # fmt: skip


@loop_kernel
def meet_drops(scanning: Scanning, hits: Hits, drops: DropScratch, lot: Lot, used: int) -> None:
    """Add the drops that each pulse meets before the sub-ray that would carry on through them ends.

    Before them no lane uses more than ``used`` rows.
    """
    air, rays = scanning.air, len(scanning.firing.stencil)
    for l in range(LANES):
        drops.begins[l] = min(used, hits.used[l])
    for kind in range(len(air.laws)):
        count = _draw(scanning, drops, lot, kind)
        code = air_code(np.uint32(air.laws[kind, 0]))
        for j in range(count):
            l, path = drops.lanes[j], drops.paths[j]
            ray = min(int(uniform(drops.words[2, j]) * np.float32(rays)), rays - 1)
            if path >= hits.ranges[ray, l]:
                continue
            for k in range(drops.begins[l]):
                if hits.ranges[k, l] > path:
                    hits.energies[k, l] *= _ONE - drops.taken[j]
            add_hit(hits, l, path, drops.energies[j], code)


@inline_kernel
def _draw(scanning: Scanning, drops: DropScratch, lot: Lot, kind: int) -> int:
    """Draw the drops of one kind that sixteen pulses meet, were nothing in their way; how many there are."""
    air, chance = scanning.air, scanning.chance
    for l in range(LANES):
        drops.words[0, l] = random_words(chance, pulse_number(lot, l), kind, _WEATHER)[0]
    found = 0
    for l in range(lot.lanes):
        count = drop_count(uniform(drops.words[0, l]), air.laws[kind, 1], air.laws[kind, 2])
        for i in range(count):
            drops.lanes[found], drops.numbers[found] = l, i
            found += 1
    first = _FIRST_DROP + kind * MOST_DROPS
    for j in range(found):
        words = random_words(chance, pulse_number(lot, drops.lanes[j]), first + drops.numbers[j], _WEATHER)
        drops.words[0, j], drops.words[1, j], drops.words[2, j] = words[0], words[1], words[2]
    paths, least, taken, words = drops.paths, drops.energies, drops.taken, drops.words[1]
    for j in range(found):  # looked up one by one; all else is vector code
        paths[j], least[j] = drop_place(air, kind, drops.words[0, j])
    for j in range(found):
        drop = drop_at(air, kind, paths[j], least[j], words[j])
        drops.energies[j], taken[j] = drop.energy, drop.taken
    return found
