"""Where the tips of all plants are at even steps of a span of time: the table that a ray is sent through plants by.

A courtyard has 90,000 plants, six steps a frame and eleven cosines each. They are taken `_TOGETHER` plants at a time, their
numbers column by column, so that a processor adds up the gusts at many plants in one go; every number is made by the same
arithmetic, in the same order, as `tussock.trace.wind.sway.tip_at` makes it for one.
"""

from __future__ import annotations

import numpy as np

from tussock.kernels import Array, Real, kernel, loop_kernel
from tussock.trace.wind.sway import COPIES, GAINS, PLANT_NUMBERS, WAVE_NUMBERS, Swaying, X, Y, cosine, tip_in

__all__ = ["fill_tips"]

_TOGETHER = 64


@kernel
def fill_tips(worker: int, workers: int, sway: Swaying, tips: Array) -> None:
    """Fill in `Swaying.tips` of the moment that ``sway`` has."""
    steps = tips.shape[1]
    columns, gusts = np.ones(PLANT_NUMBERS * _TOGETHER, np.float32), np.empty(_TOGETHER)
    found = np.empty((steps, 3 * _TOGETHER), np.float32)
    for geometry in range(len(sway.first)):
        first = sway.first[geometry]
        if first < 0:
            continue
        shape, end = sway.shapes[geometry], first + int(sway.shapes[geometry, COPIES])
        for row in range(first + worker * _TOGETHER, end, workers * _TOGETHER):
            count = min(_TOGETHER, end - row)
            _take_columns(sway.plants, row, count, columns)
            for k in range(steps):
                time = sway.moment[0] + sway.moment[1] * k / (steps - 1)
                _add_gusts(shape, columns, sway.waves, time, gusts)
                _take_tips(shape, columns, gusts, time, found[k])
            _put_rows(found, row, count, tips)


@loop_kernel
def _take_columns(plants: Array, row: int, count: int, columns: Array) -> None:
    """The numbers of some plants, all of one kind next to each other."""
    for i in range(count):
        for number in range(PLANT_NUMBERS):
            columns[_TOGETHER * number + i] = plants[row + i, number]


@loop_kernel
def _add_gusts(shape: Array, columns: Array, waves: Array, time: Real, gusts: Array) -> None:
    """What gusts add at a time, as `tip_at` has it: one wave after the other, all plants at once."""
    for i in range(_TOGETHER):
        gusts[i] = 0.0
    for j in range(len(waves) // WAVE_NUMBERS):
        w = WAVE_NUMBERS * j
        along_x, along_y, passed, phase = waves[w], waves[w + 1], waves[w + 2] * time, waves[w + 3]
        gain, lag = shape[GAINS + 2 * j], shape[GAINS + 2 * j + 1]
        for i in range(_TOGETHER):
            x, y = np.float64(columns[_TOGETHER * X + i]), np.float64(columns[_TOGETHER * Y + i])
            gusts[i] += gain * cosine(along_x * x + along_y * y - passed + phase + lag)


@loop_kernel
def _take_tips(shape: Array, columns: Array, gusts: Array, time: Real, found: Array) -> None:
    """Where the tips are, all plants at once."""
    for i in range(_TOGETHER):
        tip = tip_in(shape, columns, i, _TOGETHER, gusts[i], time)
        found[i], found[_TOGETHER + i], found[2 * _TOGETHER + i] = tip.x, tip.y, tip.tall


@loop_kernel
def _put_rows(found: Array, row: int, count: int, tips: Array) -> None:
    """What `_take_tips` found at all steps, plant by plant."""
    for i in range(count):
        for k in range(len(found)):
            for number in range(3):
                tips[row + i, k, number] = found[k, _TOGETHER * number + i]
