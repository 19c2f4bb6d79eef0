"""From a cost map to a path: obstacles grown by the vehicle's width, then A*.

A cell with at least ``lethal`` cost is an obstacle, once it was seen from near enough to be trusted; before that it is
costly. Cells nearer to one than half the vehicle's width and a margin are
blocked, except those that the vehicle itself stands on; where that leaves no way, one without the margin is looked for.
From there on it gets cheaper over ``respect_m``, so that the way keeps off corners where there is room and still goes
through a gap where there is none. Below that a cell costs what the costliest within half the width does, because all of
the body goes there: 1 + weight·c/100 a cell's length. Where the goal itself is blocked, the way leads to the free cell
nearest to it that still counts as there.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tussock.drive.autonomy.astar import astar
from tussock.drive.autonomy.cost_map import CostMap
from tussock.kernels import kernel
from tussock.settings import Settings

__all__ = ["PlanSettings", "distances", "plan"]


class PlanSettings(Settings):
    weight: Annotated[float, Field(ge=0.0, le=1e6)] = 10.0
    """what a cell of cost 100 costs more than one of cost 0: metres of detour for a metre in it"""
    lethal: Annotated[float, Field(gt=0.0, le=101.0)] = 100.0
    """cost from which a cell is an obstacle; above 100 none is"""
    margin_m: Annotated[float, Field(ge=0.0)] = 0.25
    """kept from obstacles beside half the vehicle's width, where there is room"""
    respect_m: Annotated[float, Field(ge=0.0, le=20.0)] = 1.5
    """beyond that, over which it costs less and less to be near an obstacle"""
    fence: bool = True
    """plans stay within the rectangle of the scene's ground, which whoever sends a vehicle out tells it; what has not been
    seen costs nothing, so without a fence the way around tall grass is beyond the edge of the world"""
    every_s: Annotated[float, Field(gt=0.0)] = 1.0
    """between plans; a path that becomes blocked is replaced at once"""


def distances(costs: NDArray[np.float32], lethal: float, reach: float) -> NDArray[np.float32]:
    """How far (in cells) each cell is from the nearest of at least ``lethal`` cost; infinite beyond ``reach``."""
    far = np.full(costs.shape, np.inf, np.float32)
    _measure(costs, lethal, reach, far)
    return far


def plan(
    cost_map: CostMap, start: tuple[float, float], goal: tuple[float, float], settings: PlanSettings, half_width: float,
    near: float = 0.0,
) -> NDArray[np.float64] | None:  # fmt: skip
    """A path (k, 2) [m] from where the vehicle is to the goal or as ``near`` [m] to it, None where there is no way."""
    wide = half_width + settings.margin_m
    # What is kept from obstacles, and from the fence: at last only as much as holds every goal that is allowed.
    for kept_m, fence_m in ((wide, wide), (half_width, half_width), (half_width, -0.5 * cost_map.cell)):
        path = _plan(cost_map, (start, goal), settings, half_width, (kept_m, fence_m), near)
        if path is not None:
            return path
    return None


def _plan(
    cost_map: CostMap, ends: tuple[tuple[float, float], tuple[float, float]], settings: PlanSettings, half_width: float,
    kept: tuple[float, float], near: float,
) -> NDArray[np.float64] | None:  # fmt: skip
    """The path that has ``kept`` [m] from obstacles and from the fence."""
    cell, (start, goal), (kept_m, fence_m) = cost_map.cell, ends, kept
    costs = cost_map.trusted_costs(settings.lethal)
    least, soft = kept_m / cell, settings.respect_m / cell
    far = distances(costs, settings.lethal, least + soft)
    blocked = (far <= least) | cost_map.fenced_off(fence_m)
    first = tuple(int(k) for k in cost_map.index(*start))
    last = tuple(int(k) for k in cost_map.index(*goal))
    n = len(blocked)
    if not all(0 <= k < n for k in (*first, *last)):
        return None
    # Obstacles are inflated by the vehicle's half width; cells that the vehicle itself stands on block only if they are
    # lethal themselves.
    reach = int(np.ceil(half_width / cell)) + 1
    under = np.s_[max(first[0] - reach, 0) : first[0] + reach + 1, max(first[1] - reach, 0) : first[1] + reach + 1]
    blocked[under] &= costs[under] >= settings.lethal
    blocked[first] = False
    end = _nearest_free(blocked, last, near / cell)
    if end is None:
        return None
    near_obstacles = np.clip(1 - (far - least) / soft, 0, 1) if soft > 0 else 0.0
    grown = np.empty_like(costs)
    _grow(costs, half_width / cell, grown)
    weights = np.maximum(grown / 100.0, near_obstacles).astype(np.float64)
    cells, _ = astar(1.0 + settings.weight * weights, blocked, first, end)  # type: ignore[arg-type]
    if cells is None:
        return None
    path = np.stack(cost_map.middle(cells[:, 0], cells[:, 1]), 1)
    if end == last:
        path[-1] = goal
    return path


def _nearest_free(blocked: NDArray[np.bool_], cell: tuple[int, ...], within: float) -> tuple[int, ...] | None:
    """The free cell nearest to one, itself if it is free; None where none lies within so many cells."""
    if not blocked[cell]:
        return cell
    i, j = np.nonzero(~blocked)
    away = (i - cell[0]) ** 2 + (j - cell[1]) ** 2
    if not len(away) or away.min() > within**2:
        return None
    k = int(away.argmin())
    return int(i[k]), int(j[k])


@kernel
def _measure(costs: Any, lethal: float, radius: float, far: Any) -> None:
    n, m = costs.shape
    reach = int(radius)
    for i in range(n):
        for j in range(m):
            if costs[i, j] >= lethal:
                for a in range(max(i - reach, 0), min(i + reach + 1, n)):
                    for b in range(max(j - reach, 0), min(j + reach + 1, m)):
                        away = np.sqrt(np.float32((a - i) ** 2 + (b - j) ** 2))
                        if away <= radius and away < far[a, b]:
                            far[a, b] = away


@kernel
def _grow(costs: Any, radius: float, grown: Any) -> None:
    """The highest cost within ``radius`` cells of each."""
    n, m = costs.shape
    reach = int(radius)
    grown[:] = costs
    for a in range(-reach, reach + 1):
        for b in range(-reach, reach + 1):
            if 0 < a * a + b * b <= radius * radius:
                for i in range(max(-a, 0), min(n - a, n)):
                    for j in range(max(-b, 0), min(m - b, m)):
                        if costs[i + a, j + b] > grown[i, j]:
                            grown[i, j] = costs[i + a, j + b]
