"""Runs of cells are those that `next_cell` gives one by one, wherever a run is cut."""

from __future__ import annotations

import numpy as np
import pytest
from test_whole_bricks import CELL, mixed, walked

from tussock.trace.ray import Ray
from tussock.trace.volume_cells import Cells, new_walk, start_walk
from tussock.trace.volume_runs import LONGEST, next_cells


def in_runs(cells: Cells, ray: Ray, last: int, length: int) -> list[int]:
    """All cells on a ray up to ``last``, from runs of so many."""
    walk, numbers, found = new_walk(), np.full(length + LONGEST, -7, np.int64), []
    going = bool(start_walk(cells, 0, walk, ray))
    while going:
        n = int(next_cells(cells, 0, walk, np.int64(last), numbers, np.int64(0), np.int64(length)))
        assert n < length + LONGEST
        found += numbers[:n].tolist()
        going = n >= length and found[-1] != last
    return found


def rays(seed: int) -> list[Ray]:
    """Towards the things of a grid, some along an axis, some that end on their way."""
    _, boxes = mixed(seed)
    rng = np.random.default_rng(seed + 70)
    made = []
    for number in range(30):
        start = rng.uniform(-35, 35, 3)
        low, side = np.split(boxes[rng.integers(len(boxes))], [3])
        aim = (low + side * rng.uniform(0.2, 0.8, 3)) * CELL
        if number % 5 == 0:
            start[:2] = aim[:2]
        way = (aim - start) / np.linalg.norm(aim - start)
        made.append(Ray(*start, *way, 0.0, [90.0, 20.0][number % 2], 0.0))
    return made


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("length", [1, 3, 200])
def test_runs_are_the_cells_one_by_one(seed: int, length: int) -> None:
    cells, _ = mixed(seed)
    met = 0
    for ray in rays(seed):
        expected = [cell for cell, *_ in walked(cells, 0, ray)]
        assert in_runs(cells, ray, -1, length) == expected
        met += len(expected)
    assert met > 10


def test_a_run_ends_with_the_last_that_is_wanted() -> None:
    cells, _ = mixed(1)
    asked = 0
    for ray in rays(1):
        expected = [cell for cell, *_ in walked(cells, 0, ray)]
        for at in range(len(expected)):
            assert in_runs(cells, ray, expected[at], 200) == expected[: at + 1]
            asked += 1
    assert asked > 10


@pytest.mark.parametrize("seed", range(2))
def test_runs_through_corners_and_along_walls_are_the_same(seed: int) -> None:
    """Where a ray meets several walls at once, both walks take them in the same order."""
    cells, boxes = mixed(seed)
    met = 0
    for number, step in enumerate(np.ndindex(3, 3, 3)):
        way = np.array(step) - 1.0
        if not way.any():
            continue
        corner = boxes[number % len(boxes), :3] * CELL
        for back in (40.0, 40.0 * CELL, 16.0 * CELL):
            ray = Ray(*(corner - back * way), *(way / np.linalg.norm(way)), 0.0, 300.0, 0.0)
            expected = [cell for cell, *_ in walked(cells, 0, ray)]
            assert in_runs(cells, ray, -1, 200) == expected == in_runs(cells, ray, -1, 2)
            met += len(expected)
    assert met > 10
