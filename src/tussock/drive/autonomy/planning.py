"""From a cost map to a path: obstacles grown by the vehicle's width, then A*.

A cell with at least ``lethal`` cost is an obstacle. Cells nearer to one than half the vehicle's width and a margin are
blocked, except those that the vehicle itself stands on. All other cells cost 1 + weight·c/100 a cell's length.
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

__all__ = ["PlanSettings", "blocked_cells", "plan"]


class PlanSettings(Settings):
    weight: Annotated[float, Field(ge=0.0, le=1e6)] = 10.0
    """what a cell of cost 100 costs more than one of cost 0: metres of detour for a metre in it"""
    lethal: Annotated[float, Field(gt=0.0, le=101.0)] = 100.0
    """cost from which a cell is an obstacle; above 100 none is"""
    margin_m: Annotated[float, Field(ge=0.0)] = 0.25
    """kept from obstacles beside half the vehicle's width"""
    every_s: Annotated[float, Field(gt=0.0)] = 1.0
    """between plans; a path that becomes blocked is replaced at once"""


def blocked_cells(costs: NDArray[np.float32], lethal: float, radius: float) -> NDArray[np.bool_]:
    """Cells whose middle is within ``radius`` (in cells) of that of a cell of at least ``lethal`` cost."""
    blocked = np.zeros(costs.shape, np.bool_)
    _grow(costs, lethal, radius, blocked)
    return blocked


def plan(
    cost_map: CostMap, start: tuple[float, float], goal: tuple[float, float], settings: PlanSettings, half_width: float
) -> NDArray[np.float64] | None:
    """A path (k, 2) [m] from where the vehicle is to the goal, None where there is no way."""
    blocked = blocked_cells(cost_map.costs, settings.lethal, (half_width + settings.margin_m) / cost_map.cell)
    first = tuple(int(k) for k in cost_map.index(*start))
    last = tuple(int(k) for k in cost_map.index(*goal))
    n = len(blocked)
    if not all(0 <= k < n for k in (*first, *last)):
        return None
    # It stands there: what was grown over its own place is no obstacle.
    reach = int(np.ceil(half_width / cost_map.cell)) + 1
    near = np.s_[max(first[0] - reach, 0) : first[0] + reach + 1, max(first[1] - reach, 0) : first[1] + reach + 1]
    blocked[near] &= cost_map.costs[near] >= settings.lethal
    blocked[first] = False
    cells, _ = astar(1.0 + settings.weight / 100.0 * cost_map.costs.astype(np.float64), blocked, first, last)  # type: ignore[arg-type]
    if cells is None:
        return None
    path = np.stack(cost_map.middle(cells[:, 0], cells[:, 1]), 1)
    path[-1] = goal
    return path


@kernel
def _grow(costs: Any, lethal: float, radius: float, blocked: Any) -> None:
    n, m = costs.shape
    reach = int(radius)
    for i in range(n):
        for j in range(m):
            if costs[i, j] >= lethal:
                for a in range(max(i - reach, 0), min(i + reach + 1, n)):
                    for b in range(max(j - reach, 0), min(j + reach + 1, m)):
                        if (a - i) ** 2 + (b - j) ** 2 <= radius * radius:
                            blocked[a, b] = True
