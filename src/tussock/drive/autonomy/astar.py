"""A* on a grid of costs (Hart, Nilsson and Raphael 1968): the cheapest way from one cell to another.

A step goes to one of the eight neighbours and costs its length in cells times the mean of what the two cells cost,
1 + weight·c/100. Blocked cells are not entered, and no step squeezes between two of them. The heuristic is the length
of the shortest way on an empty grid, which no way undercuts, so that what is found is optimal.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import inline_kernel, kernel

__all__ = ["astar", "path_cost"]

_ROOT2 = float(np.sqrt(2.0))
_DI = np.array([1, -1, 0, 0, 1, 1, -1, -1], np.int64)
_DJ = np.array([0, 0, 1, -1, 1, -1, 1, -1], np.int64)
_FULL = -1.0
_BUCKET = 0.1


def astar(
    costs: NDArray[np.float64], blocked: NDArray[np.bool_], start: tuple[int, int], goal: tuple[int, int]
) -> tuple[NDArray[np.int64] | None, float]:
    """The cheapest path as cells (k, 2), from start to goal, and its cost; None and infinite where there is no way.

    ``costs`` (n, m), at least 1 everywhere, are what a step of one cell's length within the cell costs.
    """
    # A rim that is never entered spares the search to look where the grid ends.
    wide = np.full((costs.shape[0] + 2, costs.shape[1] + 2), np.inf)
    wide[1:-1, 1:-1] = np.where(blocked, np.inf, costs)
    (i0, j0), (i1, j1) = start, goal
    ends = np.array([i0 + 1, j0 + 1, i1 + 1, j1 + 1])
    room = 2 * costs.size + 64
    while True:
        came = np.full(wide.shape, -1, np.int8)
        total = _search(wide, ends, room, came)
        if total != _FULL:
            break
        room *= 4
    if not np.isfinite(total):
        return None, np.inf
    cells = [goal]
    while cells[-1] != start:
        i, j = cells[-1]
        step = came[i + 1, j + 1]
        cells.append((int(i - _DI[step]), int(j - _DJ[step])))
    return np.array(cells[::-1], np.int64), float(total)


def path_cost(costs: NDArray[np.float64], path: NDArray[np.int64]) -> float:
    """What a path of neighbouring cells (k, 2) costs."""
    if len(path) < 2:
        return 0.0
    along = costs[path[:, 0], path[:, 1]]
    steps = np.hypot(*np.diff(path, axis=0).T)
    return float((steps * (along[1:] + along[:-1]) / 2).sum())


@kernel
def _search(costs: Any, ends: Any, room: int, came: Any) -> float:
    """Cost of the cheapest way, infinite where there is none, `_FULL` where the queue was too short.

    Open cells wait in buckets of nearly equal f = g + h, so that taking the next one costs nothing. Within a bucket
    the order is free: a cell that is improved after it was taken is put back. Once the goal's cost lies below the next
    bucket nothing that waits can improve it.
    """
    m = costs.shape[1]
    i0, j0, i1, j1 = ends
    if np.isinf(costs[i0, j0]) or np.isinf(costs[i1, j1]):
        return np.inf
    most = 1.0
    for i in range(costs.shape[0]):
        for j in range(m):
            if costs[i, j] > most and costs[i, j] < np.inf:
                most = costs[i, j]
    # No step raises f by more than its own cost and its own length.
    reach = _ROOT2 * (most + 1.0)
    width = max(_BUCKET, reach / 4096.0)
    buckets = int(reach / width) + 3
    first = np.full(buckets, -1, np.int32)
    after = np.empty(room, np.int32)
    cells = np.empty(room, np.int32)
    keys = np.empty(room, np.float64)
    free, used, waiting = -1, 0, 0
    best = np.full(costs.shape, np.inf)
    best[i0, j0] = 0.0
    start = _ahead(i0, j0, i1, j1)
    bucket = int(start / width)
    first[bucket % buckets], after[0], cells[0], keys[0] = 0, -1, i0 * m + j0, start
    used, waiting = 1, 1
    while waiting > 0:
        at = bucket % buckets
        entry = first[at]
        if entry < 0:
            bucket += 1
            if best[i1, j1] < bucket * width:
                break
            continue
        first[at] = after[entry]
        cell, key = cells[entry], keys[entry]
        after[entry] = free
        free = entry
        waiting -= 1
        i, j = cell // m, cell % m
        reached, here = best[i, j], costs[i, j]
        if key > reached + _ahead(i, j, i1, j1):
            continue  # it was improved since
        for step in range(8):
            a, b = i + _DI[step], j + _DJ[step]
            there = costs[a, b]
            total = reached + (_ROOT2 if step >= 4 else 1.0) * 0.5 * (here + there)
            if total >= best[a, b] or (step >= 4 and (np.isinf(costs[i, b]) or np.isinf(costs[a, j]))):
                continue
            best[a, b] = total
            came[a, b] = step
            f = total + _ahead(a, b, i1, j1)
            if free >= 0:
                slot = free
                free = after[slot]
            else:
                if used == room:
                    return _FULL
                slot = used
                used += 1
            into = max(int(f / width), bucket) % buckets
            cells[slot], keys[slot], after[slot] = a * m + b, f, first[into]
            first[into] = slot
            waiting += 1
    return best[i1, j1]


@inline_kernel
def _ahead(i: int, j: int, i1: int, j1: int) -> float:
    """Length of the shortest way on an empty grid, in cells."""
    far_i, far_j = abs(i - i1), abs(j - j1)
    return max(far_i, far_j) + (_ROOT2 - 1.0) * min(far_i, far_j)
