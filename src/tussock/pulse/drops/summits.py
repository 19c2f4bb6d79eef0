"""Peaks of the waveform between drops: those of many pulses at once, each drop and each echo of a surface climbs to its own.

The waveform is a sum of Gaussians of equal width (`tussock.signal.waveform`). From the middle of each of them Newton's steps on
its logarithm go up to a peak, in units of σ

    t ← t + m/(1 − v),

m the mean of the middles as seen from t and v their variance, weighted by what each gives at t: one Gaussian alone has m = 0, and
where others are far off or far fainter one step is all. A variance near 1 is where two peaks become one and the waveform is flat;
there a step is m/`_STEEP` at most, and none is longer than `_LONGEST`. Every peak is reached from a middle near by, so what still
climbs in the end, or went further than `_OWN`, has gone to the peak of another one and counts as nothing: its height is 0. Those
that end at the same place are one echo. With seven Gaussians in 17 σ, so found peaks are 0.4 % too many and 0.02 % are missed.

An echo of surfaces is one Gaussian to the drops beside it, whatever hits it is made of.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tussock.kernels import inline_kernel

__all__ = ["BESIDE", "FAR", "HEIGHT", "ROOM", "SAME", "TOP", "Listed", "bell", "climb"]

BESIDE = 16
"""what stands to either side of one and can have a part in its peak; as many places are empty before the first and behind the last"""
FAR = np.float32(4.25)
"""[σ] what is further off has no part in a peak: it gives 1.2e-4 of itself there"""
SAME = np.float32(0.5)
"""[σ] two that end nearer to each other have climbed to one peak"""
PATH, ENERGY, TOP, HEIGHT, SUM, MEAN, SPREAD, CLIMBED = range(8)
ROOM = 8
"""columns of numbers that climbing takes"""
_STEPS = 4
_SHORT = np.float32(0.05)  # a step is the last one where none is longer
_ARRIVED, _OWN = np.float32(0.1), np.float32(1.2)
_STEEP = np.float32(0.1)
_LONGEST = np.float32(1.5)
_ZERO, _HALF, _ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)
_C1, _C2, _C3 = np.float32(0.695424), np.float32(0.226308), np.float32(0.078268)
_PER_TWO_LN2, _LEAST = np.float32(-0.5 / math.log(2.0)), np.float32(-26.0)


class Listed(NamedTuple):
    """Drops and echoes of many pulses in the order of pulse and path, with `BESIDE` empty places before and behind them."""

    paths: Any
    """[m]"""
    energies: Any
    pulses: Any
    """whose they are"""


@inline_kernel
def bell(z: Any) -> Any:
    """e^(−z²/2) to 1e-4 of itself, and nothing much beyond 6: half the work of an exact one, and peaks are asked for no closer.

    2ᵗ with t = −z²/(2 ln 2) = n + f, f in [0, 1): 2ᶠ by a cubic that is right at both ends.
    """
    t = max(z * z * _PER_TWO_LN2, _LEAST)
    n = np.floor(t)
    f = t - n
    return (_ONE + f * (_C1 + f * (_C2 + f * _C3))) * np.int32((np.int32(n) + np.int32(127)) << 23).view(np.float32)


@inline_kernel
def climb(listed: Listed, first: int, width: int, sigma: Any, reach: Any, room: Any, around: Any) -> None:
    """Let ``width`` of the list, from ``first`` on, climb to their peaks: the columns `TOP` [m] and `HEIGHT` of ``room``.

    ``reach`` [m] is how far a pulse reaches. Columns lie one after the other, so that the compiler sees that they do not overlap;
    ``around`` is for what stands beside them: columns of paths and energies.
    """
    paths, energies, pulses = listed
    per_sigma = _ONE / sigma
    own = np.uint64(max(first, 0))  # without a sign no index counts from the end
    for j in range(width):
        i = own + np.uint64(j)
        room[PATH * width + j], room[ENERGY * width + j] = paths[i], energies[i]
    beside, near = 0, 1
    while near > 0 and beside < BESIDE:
        near = 0
        before, behind = np.uint64(max(first - beside - 1, 0)), np.uint64(max(first + beside + 1, 0))
        row = np.uint64(max(4 * beside * width, 0))
        for j in range(width):
            here, there, at = own + np.uint64(j), before + np.uint64(j), row + np.uint64(j)
            reached = (pulses[there] == pulses[here]) & (paths[here] - paths[there] <= reach)
            around[at] = paths[there]
            around[at + np.uint64(width)] = energies[there] * (_ONE if reached else _ZERO)
            near += 1 if reached else 0
        row += np.uint64(2 * width)
        for j in range(width):
            here, there, at = own + np.uint64(j), behind + np.uint64(j), row + np.uint64(j)
            reached = (pulses[there] == pulses[here]) & (paths[there] - paths[here] <= reach)
            around[at] = paths[there]
            around[at + np.uint64(width)] = energies[there] * (_ONE if reached else _ZERO)
            near += 1 if reached else 0
        beside += 1 if near > 0 else 0
    for j in range(width):
        room[TOP * width + j], room[HEIGHT * width + j] = room[PATH * width + j], room[ENERGY * width + j]
        room[CLIMBED * width + j] = _LONGEST
    if beside == 0:
        return
    climbing, step = 1, 0
    while climbing > 0 and step < _STEPS:
        step, climbing = step + 1, 0
        for j in range(width):
            z = (room[PATH * width + j] - room[TOP * width + j]) * per_sigma
            part = room[ENERGY * width + j] * bell(z)
            room[SUM * width + j], room[MEAN * width + j], room[SPREAD * width + j] = part, part * z, part * z * z
        for k in range(beside):  # before and behind at once: sums that wait for each other take longest
            row = np.uint64(max(4 * k * width, 0))
            for j in range(width):
                at = row + np.uint64(j)
                top = room[TOP * width + j]
                before = (around[at] - top) * per_sigma
                one = around[at + np.uint64(width)] * bell(before)
                behind = (around[at + np.uint64(2 * width)] - top) * per_sigma
                other = around[at + np.uint64(3 * width)] * bell(behind)
                room[SUM * width + j] += one + other
                room[MEAN * width + j] += one * before + other * behind
                room[SPREAD * width + j] += one * before * before + other * behind * behind
        for j in range(width):
            per = _ONE / max(room[SUM * width + j], np.float32(1e-30))
            mean = room[MEAN * width + j] * per
            spread = room[SPREAD * width + j] * per - mean * mean
            climbed = mean / max(_ONE - spread, _STEEP)
            climbed = min(max(climbed, -_LONGEST), _LONGEST)
            # Each stops by itself: where it ends does not depend on what others climb at the same time.
            on = room[CLIMBED * width + j] > _SHORT
            # What is still to be climbed of a parabola counts in the height.
            height = room[SUM * width + j] * (_ONE + _HALF * mean * climbed)
            room[HEIGHT * width + j] = height if on else room[HEIGHT * width + j]
            room[TOP * width + j] += climbed * sigma if on else _ZERO
            room[CLIMBED * width + j] = abs(climbed) if on else room[CLIMBED * width + j]
        for j in range(width):
            climbing += 1 if room[CLIMBED * width + j] > _SHORT else 0
    for j in range(width):
        away = abs(room[TOP * width + j] - room[PATH * width + j]) * per_sigma
        arrived = (room[CLIMBED * width + j] < _ARRIVED) & (away < _OWN)
        room[HEIGHT * width + j] *= _ONE if arrived else _ZERO
