"""What a receiver of echoes makes of the drops that sixteen pulses meet.

    gather    the drops of each pulse and the echoes of what stands behind them, by their paths, all pulses in one list
    climb     to the peaks of the waveform (`tussock.pulse.drops.summits`)
    part      those that climbed to one peak are one echo, and of two nearer than the receiver tells apart the stronger stays
    lift      drops by what all other drops send back at the same time
    see       which of them pass the threshold, by the draw of chance that they are measured with later
    keep      echoes of drops that are seen: of the others, by far the most, nothing is measured. Where the strongest
              return alone is reported, and none can be lost, the strongest of them

An echo of a drop has a row that says its kind and which draws of chance are its own (`tussock.pulse.from_air.drop_row`).
"""

from __future__ import annotations

import numpy as np

from tussock.kernels import Real, Whole, inline_kernel, kernel, loop_kernel
from tussock.pulse.drops.summits import BESIDE, FAR, HEIGHT, ROOM, SAME, TOP, Listed, climb
from tussock.pulse.from_air import drop_draw, drop_row
from tussock.pulse.sub_rays import pulse_number
from tussock.pulse.tables import DropScratch, Heard, Lot, Scanning, Summits
from tussock.randomness import Purpose, normal_pair, random_words
from tussock.return_modes import ModeNumber
from tussock.signal.air import MOST_DROPS, haze_drawn, haze_of
from tussock.signal.echoes import ECHOES, Echoes
from tussock.signal.signal_to_noise import is_seen, signal_to_noise
from tussock.trace.packets import LANES

__all__ = ["hear_drops", "new_summits"]

_RAY_NOISE = int(Purpose.RAY_NOISE)
_STRONGEST = int(ModeNumber.STRONGEST)
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)
_TWO, _SHORTEST = np.float32(2.0), np.float32(0.01)
_UNSEEN = np.float32(-1.0)
_MOST_NOISE = np.float32(6.7)
"""the largest deviate: √(2 ln 2³²) = 6.66"""


@kernel
def new_summits() -> Summits:
    """Room for the drops and echoes of sixteen pulses."""
    size = LANES * (MOST_DROPS + ECHOES + 1) + 2 * BESIDE
    f4, i4 = np.float32, np.int32
    return Summits(
        np.zeros(size, f4), np.zeros(size, f4), np.zeros(size, i4), np.zeros(size, i4), np.zeros(size, f4),
        np.zeros(size, f4), np.zeros(size, f4), np.zeros(size, i4), np.zeros(size, i4), np.zeros(size, f4),
        np.zeros(size, f4), np.zeros(size, f4), np.zeros(size, f4), np.zeros(ROOM * LANES, f4),
        np.zeros(4 * BESIDE * LANES, f4), np.zeros(2 * LANES, np.uint32), np.zeros(LANES, f4), np.zeros(LANES, f4),
    )  # fmt: skip


@loop_kernel
def hear_drops(scanning: Scanning, lot: Lot, drops: DropScratch, summits: Summits, heard: Heard) -> None:
    """Put the drops of sixteen pulses among their echoes."""
    if drops.found[0] == 0:
        return
    receiving, listening = scanning.receiving, scanning.receiving.listening
    one = bool(receiving.mode == _STRONGEST and receiving.dropout == _ZERO and receiving.min_intensity <= _ZERO)
    _bound(scanning, lot, one, drops, summits, heard)
    listed = _gather(scanning, lot, drops, summits, heard)
    if listed == 0:
        return
    beside, reach = Listed(summits.paths, summits.energies, summits.lanes), FAR * listening.sigma
    for first in range(0, listed, LANES):
        climb(beside, BESIDE + first, LANES, listening.sigma, reach, summits.room, summits.around)
        block = np.uint64(first)  # without a sign no index counts from the end
        for i in range(LANES):
            summits.tops[block + np.uint64(i)] = summits.room[TOP * LANES + i]
        for i in range(LANES):
            summits.heights[block + np.uint64(i)] = summits.room[HEIGHT * LANES + i]
    count = _part(summits, listed, SAME * listening.sigma, listening.separation)
    if len(scanning.air.haze) > 0:
        _lift(scanning, summits, count)
    _see(scanning, lot, summits, count)
    _tell(summits, count, one, heard)


@inline_kernel
def _bound(scanning: Scanning, lot: Lot, one: bool, drops: DropScratch, summits: Summits, heard: Heard) -> None:
    """Where drops may be heard in every pulse, as a path [m] from which on; before it they are too faint for what stands behind.

    Where the strongest return alone is reported, and the strongest echo of what stands behind is stronger than all drops of the pulse
    together and the brightest haze, each with the most that noise can do, no drop that has no part in an echo there is reported.
    """
    listening, echoes, bound = scanning.receiving.listening, heard.echoes, summits.bound
    for l in range(LANES):
        bound[l] = _ZERO
    if not one or listening.scale <= _ZERO:
        return
    for l in range(LANES):
        path = max(echoes.paths[0, l], _SHORTEST)
        strongest = signal_to_noise(echoes.peaks[0, l] * path * path, path, listening.scale, listening.exponent)
        near = max(drops.nearest[l], _SHORTEST)
        # What an energy is worth falls or rises with the path; from end to end of the pulse's drops it has its most at one end.
        most = max(
            signal_to_noise(drops.sums[l] * near * near, near, listening.scale, listening.exponent),
            signal_to_noise(drops.sums[l] * path * path, path, listening.scale, listening.exponent),
        )
        least = max(most + scanning.air.haze_most, listening.threshold) + _TWO * _MOST_NOISE
        bound[l] = path - FAR * listening.sigma if (echoes.counts[l] > 0) & (strongest > least) else _ZERO


@inline_kernel
def _gather(scanning: Scanning, lot: Lot, drops: DropScratch, summits: Summits, heard: Heard) -> int:
    """List drops and echoes in the order of their paths; how many. Pulses without drops keep the echoes that they have."""
    laws, echoes, at, j = scanning.air.laws, heard.echoes, np.uint64(BESIDE), np.uint64(0)
    for i in range(BESIDE):
        summits.lanes[i], summits.paths[i], summits.energies[i] = -1, _ONE, _ZERO
    for l in range(lot.lanes):
        end, bound, e = j + np.uint64(drops.counts[l]), summits.bound[l], 0
        while j < end and (drops.paths[j] < bound or drops.energies[j] == _ZERO):
            j += np.uint64(1)
        if end == j:
            continue
        count = echoes.counts[l]
        while j < end:
            path, energy = drops.paths[j], drops.energies[j]
            while e < count and echoes.paths[e, l] < path:
                at, e = _put_echo(echoes, e, l, summits, at), e + 1
            summits.paths[at], summits.energies[at], summits.lanes[at] = path, energy, l
            summits.rows[at] = drop_row(np.int32(laws[drops.laws[j], 0]), drops.numbers[j])
            summits.hazes[at] = drops.hazes[j]
            at += np.uint64(1 if energy > _ZERO else 0)
            j += np.uint64(1)
        while e < count:
            at, e = _put_echo(echoes, e, l, summits, at), e + 1
        echoes.counts[l] = 0
    for i in range(LANES + BESIDE):
        behind = at + np.uint64(i)
        summits.lanes[behind], summits.paths[behind], summits.energies[behind] = -1, _ONE, _ZERO
    return int(at) - BESIDE


@inline_kernel
def _put_echo(echoes: Echoes, e: int, l: int, summits: Summits, at: Whole) -> Whole:
    """List an echo; where the next one goes."""
    summits.paths[at], summits.energies[at], summits.lanes[at] = echoes.paths[e, l], echoes.peaks[e, l], l
    summits.rows[at] = echoes.rows[e, l]
    return at + np.uint64(1)


@inline_kernel
def _part(summits: Summits, listed: int, same: Real, separation: Real) -> int:
    """One of those that climbed to one peak, or that the receiver does not tell apart; how many are left."""
    count, last, top, height, energy = np.uint64(0), -1, _ZERO, _ZERO, _ZERO
    for i in range(listed):
        j = np.uint64(i)  # without a sign no index counts from the end
        at = np.uint64(BESIDE) + j
        lane, away = summits.lanes[at], summits.tops[j] - top
        if summits.heights[j] <= _ZERO:
            continue
        if lane == last and away < max(same, separation):
            # One peak is that of the one which gives the most there; of two peaks the higher one stays.
            if (energy >= summits.energies[at]) if away < same else (height >= summits.heights[j]):
                continue
            count -= np.uint64(1)
        last, top, height, energy = lane, summits.tops[j], summits.heights[j], summits.energies[at]
        summits.tops[count], summits.heights[count], summits.top_lanes[count] = top, height, lane
        summits.top_rows[count], summits.top_hazes[count] = summits.rows[at], summits.hazes[at]
        count += np.uint64(1)
    for i in range(LANES):
        summits.tops[count + np.uint64(i)], summits.top_lanes[count + np.uint64(i)] = _ONE, 0
    return int(count)


@inline_kernel
def _lift(scanning: Scanning, summits: Summits, count: int) -> None:
    """Echoes of drops stand on the waveform of the continuum."""
    for j in range(count):
        summits.means[j], summits.spreads[j] = haze_of(scanning.air, summits.tops[j])
    for first in range(0, count, LANES):
        block = np.uint64(first)  # without a sign no index counts from the end
        for i in range(LANES):
            at = block + np.uint64(i)
            haze = haze_drawn(summits.means[at], summits.spreads[at], summits.top_hazes[at])
            summits.heights[at] += haze if summits.top_rows[at] < 0 else _ZERO


@inline_kernel
def _see(scanning: Scanning, lot: Lot, summits: Summits, count: int) -> None:
    """The signal of each, −1 where it is not seen."""
    listening, words = scanning.receiving.listening, summits.words
    for first in range(0, count, LANES):
        block = np.uint64(first)  # without a sign no index counts from the end
        for i in range(LANES):
            j = block + np.uint64(i)
            words[i] = np.uint32(pulse_number(lot, summits.top_lanes[j]))
        for i in range(LANES):
            j = block + np.uint64(i)
            words[LANES + i] = np.uint32(drop_draw(summits.top_rows[j], 0))
        for i in range(LANES):
            _, _, words[i], words[LANES + i] = random_words(lot.chance, words[i], words[LANES + i], _RAY_NOISE)
        for i in range(LANES):
            j = block + np.uint64(i)
            draw = normal_pair(words[i], words[LANES + i])[0]
            summits.signals[j] = _signal(summits.tops[j], summits.heights[j], draw, listening)


@inline_kernel
def _signal(path: Real, height: Real, draw: Real, listening: Whole) -> Real:
    if listening.scale <= _ZERO:  # every echo is seen
        return height
    ratio = signal_to_noise(height * path * path, path, listening.scale, listening.exponent)
    return ratio + draw if is_seen(ratio, draw, listening.threshold) else _UNSEEN


@inline_kernel
def _tell(summits: Summits, count: int, one: bool, heard: Heard) -> None:
    """Make echoes of what is seen, and of all that is not a drop; of drops only the strongest one if that is enough."""
    for l in range(LANES):
        summits.best[l] = _ZERO
    if one:
        for j in range(count):
            l = summits.top_lanes[j]
            signal = summits.signals[j] if summits.top_rows[j] < 0 else _ZERO
            summits.best[l] = max(summits.best[l], signal)
    for j in range(count):
        l, row = summits.top_lanes[j], summits.top_rows[j]
        if row >= 0 or summits.signals[j] >= summits.best[l]:
            e = heard.echoes.counts[l]
            if e < ECHOES:
                heard.echoes.paths[e, l], heard.echoes.peaks[e, l] = summits.tops[j], summits.heights[j]
                heard.echoes.rows[e, l], heard.echoes.counts[l] = row, e + 1
