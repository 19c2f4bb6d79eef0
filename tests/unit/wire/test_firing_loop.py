"""The loop over firings against the equations of its columns, pulse by pulse, with turns of which some lasers rest."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tussock.wire.firing_loop import Cycles, FiringColumns, Lasers, fire
from tussock.wire.firings import COLUMN_NAMES, Firings

RNG = np.random.default_rng(5)
MANY, LASERS, PACKETS, CYCLES, RETURNS = (4, 3), 4, 3, 2, 2
"""two turns: in the first all four lasers fire, in the second three"""
STEP, WHITE = 0.004, 100.0


def tables() -> tuple[Lasers, Cycles]:
    shape = (len(MANY), LASERS)
    order = np.array([[2, 0, 3, 1], [1, 3, 0, 2]])
    elevation = np.array([-0.3, 0.2, 0.0, 0.4])[order]
    lasers = Lasers(
        np.array(MANY), order, np.array([0, 2, 1, 3])[order], RNG.uniform(0, 50, shape), RNG.uniform(-0.1, 0.1, shape),
        np.cos(elevation), np.sin(elevation), RNG.uniform(0, 0.1, shape), RNG.uniform(0, 0.1, shape), RNG.uniform(0, 0.1, shape),
    )  # fmt: skip
    head = np.array([[3.1, -3.1], [0.4, 12.7], [-9.0, 1e-9]])
    times = 1_700_000_000 + np.arange(6.0).reshape(3, 2)
    turns = np.array([[0, 0], [1, 1], [2, 3]], np.int32)
    return lasers, Cycles(head, times, turns, np.array([[0, 1], [0, 1], [1, 0]]), np.array([-6e-5, 7e-5, -8e-5]))


def test_every_column_of_every_pulse() -> None:
    """Azimuths between ±π, steps of two bytes, nothing for a distance of 0, origins that turn with the beam."""
    lasers, cycles = tables()
    raw = RNG.integers(0, 256, (PACKETS, 200), np.uint8)
    place = np.arange(CYCLES * LASERS * RETURNS).reshape(CYCLES, LASERS, RETURNS) * 3 + 7
    raw[0, place[0, 2, 1]] = raw[0, place[0, 2, 1] + 1] = 0
    raw[1, place[1, 3, 0]], raw[1, place[1, 3, 0] + 1] = 1, 0
    raw[2, place[1, 0, 0]], raw[2, place[1, 0, 0] + 1] = 0, 1
    count = sum(MANY[row] for row in cycles.row.ravel().tolist())
    out = FiringColumns.empty(count, RETURNS)
    fire(raw, place, lasers, cycles, (STEP, WHITE), out)
    i = 0
    for packet in range(PACKETS):
        for cycle in range(CYCLES):
            row = int(cycles.row[packet, cycle])
            for k in range(MANY[row]):
                number = int(lasers.number[row, k])
                angle = float(
                    cycles.head[packet, cycle] + lasers.azimuth[row, k] + cycles.rate[packet] * lasers.fires_us[row, k]
                )
                level, rise = lasers.level[row, k], lasers.rise[row, k]
                x, y = math.cos(angle), math.sin(angle)
                assert out.directions[i] == pytest.approx([level * x, level * y, rise], abs=1e-12)
                back, left, above = lasers.back[row, k], lasers.left[row, k], lasers.above[row, k]
                assert out.origins[i] == pytest.approx([-back * x - left * y, -back * y + left * x, above], abs=1e-12)
                assert out.azimuths[i] == pytest.approx(math.atan2(y, x), abs=1e-9)
                assert out.times[i] == pytest.approx(
                    cycles.times[packet, cycle] + lasers.fires_us[row, k] * 1e-6, abs=3e-7
                )
                assert out.turns[i] == cycles.turns[packet, cycle]
                assert (out.lasers[i], out.rings[i]) == (number, lasers.ring[row, k])
                for r in range(RETURNS):
                    at = place[cycle, number, r]
                    steps = int(raw[packet, at]) + 256 * int(raw[packet, at + 1])
                    if steps:
                        assert out.ranges[i, r] == pytest.approx(steps * STEP)
                        assert out.intensity[i, r] == pytest.approx(raw[packet, at + 2] / WHITE)
                    else:
                        assert math.isnan(out.ranges[i, r]) and out.intensity[i, r] == 0
                i += 1
    assert i == count == len(out.times) and np.isnan(out.ranges).sum() == 1


@pytest.mark.parametrize(("count", "returns"), [(0, 1), (1, 1), (3, 2), (17, 1), (1000, 2)])
def test_columns_share_one_piece_of_memory_and_nothing_of_it(count: int, returns: int) -> None:
    """Each begins at a line of the processor's cache, and what is put into one is in no other."""
    columns = FiringColumns.empty(count, returns)
    shapes = {
        "directions": (count, 3),
        "origins": (count, 3),
        "ranges": (count, returns),
        "intensity": (count, returns),
    }
    types = {"turns": "i4", "intensity": "f4", "lasers": "u2", "rings": "u2"}
    assert set(columns._fields) == set(COLUMN_NAMES)
    first = min(column.ctypes.data for column in columns)
    for number, (name, column) in enumerate(columns._asdict().items()):
        assert column.shape == shapes.get(name, (count,)) and column.dtype == np.dtype(types.get(name, "f8"))
        assert (column.ctypes.data - first) % 64 == 0
        column[...] = number
    assert all((column == number).all() for number, column in enumerate(columns))


def test_firings_are_chosen_by_row() -> None:
    columns = FiringColumns.empty(5, 2)
    for number, column in enumerate(columns):
        column[...] = np.arange(column.size).reshape(column.shape) + 100 * number
    firings = columns.firings("mine", ("strongest", "last"))
    corrected = columns.firings("mine", ("strongest", "last"), np.zeros((5, 2)))
    assert not corrected.ranges.any() and corrected.times is columns.times and len(firings) == 5
    less = Firings(firings.sensor, firings.kinds, complete=False, **columns._asdict()).select(np.array([3, 1]))
    assert (less.sensor, less.kinds, less.complete, len(less)) == ("mine", ("strongest", "last"), False, 2)
    for name in COLUMN_NAMES:
        assert getattr(less, name).tolist() == getattr(firings, name)[[3, 1]].tolist(), name
    assert firings.select(firings.lasers == firings.lasers[2]).complete
