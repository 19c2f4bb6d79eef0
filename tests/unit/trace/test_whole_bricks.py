"""Grids in which a brick or a block may be one volume, and several grids in one: each cell has the number of a plain table.

Few cells and rays, so that the walk can be followed uncompiled.
"""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from tussock.trace.ray import Ray
from tussock.trace.volume_cells import (
    ENTRY,
    EXIT,
    Cells,
    cell_keys,
    grid_of,
    joined,
    new_walk,
    next_cell,
    set_bits,
    start_walk,
    volume_at,
)

CELL = 0.25
SIDES = (1, 4, 16)
"""cells of a volume of each level"""
Boxes = NDArray[np.int64]
"""lowest cell and side of each volume, shape (n, 4)"""


def mixed(seed: int) -> tuple[Cells, Boxes]:
    """A grid of cells, whole bricks and whole blocks in several regions, none within another."""
    rng = np.random.default_rng(seed)
    taken: set[tuple[int, int, int]] = set()
    boxes, levels = [], []
    for level, count in ((2, 3), (1, 12), (0, 60)):
        side = SIDES[level]
        while levels.count(level) < count:
            middle = rng.choice([-70, 3, 90], 3) if rng.random() < 0.8 else rng.integers(-60, 60, 3)
            low = (middle + rng.integers(-14, 14, 3)) // side * side
            inside = {
                (low[0] + i, low[1] + j, low[2] + k) for i in range(side) for j in range(side) for k in range(side)
            }
            if not inside & taken:
                taken |= inside
                boxes.append((*low, side))
                levels.append(level)
    found = np.array(boxes)
    corners = found[:, :3]
    # Keys count from the lowest region of all, to which bricks and blocks are aligned.
    keys = cell_keys(corners, corners.min(0))
    order = np.argsort(keys)
    found = found[order]
    grid = grid_of(
        keys[order], corners.min(0), (found[:, :3] + found[:, 3:] - 1).max(0), CELL, np.array(levels, np.uint8)[order]
    )
    return grid, found


def in_table(boxes: Boxes, place: NDArray[np.int64]) -> int:
    inside = ((place >= boxes[:, :3]) & (place < boxes[:, :3] + boxes[:, 3:])).all(1)
    return int(np.argmax(inside)) if inside.any() else -1


@pytest.mark.parametrize("seed", range(2))
def test_every_cell_of_a_whole_brick_is_the_brick(seed: int) -> None:
    cells, boxes = mixed(seed)
    rng = np.random.default_rng(seed)
    places = np.concatenate(
        [boxes[:, :3] + (boxes[:, 3:] * rng.random((len(boxes), 3))).astype(int), boxes[:, :3] - 1,
         boxes[:, :3] + boxes[:, 3:] - [[1, 1, 1]], rng.integers(-150, 190, (60, 3)), [[-200, 0, 0], [0, 5000, 0]]]
    )  # fmt: skip
    seen = [int(volume_at(cells, 0, *(np.int64(part) for part in place))) for place in places]
    assert seen == [in_table(boxes, place) for place in places]
    assert max(seen) > 60


def walked(cells: Cells, model: int, ray: Ray) -> list[tuple[int, float, float]]:
    walk, found = new_walk(), []
    if not start_walk(cells, model, walk, ray):
        return found
    while (cell := int(next_cell(cells, model, walk))) >= 0:
        found.append((cell, float(walk.ray[ENTRY]), float(walk.ray[EXIT])))
    return found


def crossed(boxes: Boxes, ray: Ray) -> list[tuple[int, float, float]]:
    """The boxes that a ray goes through, one by one, in its order."""
    start, way = np.array(ray[:3]), np.array(ray[3:6])
    with np.errstate(divide="ignore", invalid="ignore"):
        near, far = (boxes[:, :3] * CELL - start) / way, ((boxes[:, :3] + boxes[:, 3:]) * CELL - start) / way
    enter = np.fmax.reduce(np.fmin(near, far), axis=1, initial=0.0)
    leave = np.fmin.reduce(np.fmax(near, far), axis=1, initial=ray.far)
    rows = [int(row) for row in np.argsort(enter) if leave[row] - enter[row] > 1e-6]
    return [(row, float(enter[row]), float(leave[row])) for row in rows]


@pytest.mark.parametrize("seed", range(3))
def test_a_walk_meets_whole_bricks_as_wide_as_they_are(seed: int) -> None:
    cells, boxes = mixed(seed)
    rng = np.random.default_rng(seed + 50)
    met = 0
    for number in range(36):
        start = rng.uniform(-35, 35, 3)
        low, side = np.split(boxes[rng.integers(len(boxes))], [3])
        aim = (low + side * rng.uniform(0.2, 0.8, 3)) * CELL
        if number % 4 == 0:
            start[:2] = aim[:2]  # along an axis
        way = (aim - start) / np.linalg.norm(aim - start)
        ray = Ray(*start, *way, 0.0, [90.0, 90.0, 20.0][number % 3], 0.0)
        expected, found = crossed(boxes, ray), walked(cells, 0, ray)
        sure = [row for row in found if row[2] - row[1] > 1e-6]
        assert [row for row, *_ in sure] == [row for row, *_ in expected]
        for (_, enter, leave), (_, first, last) in zip(sure, expected, strict=True):
            assert enter == pytest.approx(first, abs=1e-6)
            # What goes on behind the far end is cut there only between volumes.
            assert leave == pytest.approx(last, abs=1e-6) or last == ray.far
        met += len(expected)
    assert met > 20


def test_grids_in_one_are_each_as_they_were() -> None:
    """Three models in the same arrays, each numbered behind the ones before it."""
    parts = [mixed(seed) for seed in (4, 5, 6)]
    counts = [len(boxes) for _, boxes in parts]
    together = joined([cells for cells, _ in parts], counts)
    rng = np.random.default_rng(7)
    for model, (_, boxes) in enumerate(parts):
        before = sum(counts[:model])
        for place in np.concatenate([boxes[:, :3], boxes[:, :3] + boxes[:, 3:], rng.integers(-80, 100, (20, 3))]):
            number = int(volume_at(together, model, *(np.int64(part) for part in place)))
            plain = in_table(boxes, place)
            assert number == (plain + before if plain >= 0 else -1)
        aim = (boxes[:, :3].mean(0) + 0.4) * CELL
        way = aim / np.linalg.norm(aim)
        ray = Ray(*(aim - 60 * way), *way, 0.0, 120.0, 0.0)
        assert [row - before for row, *_ in walked(together, model, ray)] == [row for row, *_ in crossed(boxes, ray)]


def test_bits_are_counted() -> None:
    rng = np.random.default_rng(1)
    words = [0, 1, 2**63, 2**64 - 1, *(int(word) for word in rng.integers(0, 2**64, 40, np.uint64))]
    words += [1 << bit for bit in range(0, 64, 7)] + [(1 << bit) - 1 for bit in range(1, 64, 9)]
    for word in words:
        assert set_bits(np.uint64(word)) == word.bit_count()
