"""Whether a vehicle touches something solid, and how near the nearest is."""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.kernels import kernel

__all__ = ["clearance", "touches"]


@kernel
def touches(obstacles: Any, x: float, y: float, yaw: float, length: float, width: float) -> bool:
    """Whether a taken cell's middle lies under a rectangle at (x, y) [m] with heading ``yaw`` [rad]."""
    return _nearest(obstacles, x, y, yaw, length, width, 0.0) <= 0.0


@kernel
def clearance(obstacles: Any, x: float, y: float, yaw: float, length: float, width: float, reach: float) -> float:
    """[m] from a rectangle's side to the nearest taken cell's middle, infinite where none is within ``reach``."""
    return _nearest(obstacles, x, y, yaw, length, width, reach)


@kernel
def _nearest(obstacles: Any, x: float, y: float, yaw: float, length: float, width: float, reach: float) -> float:
    c, s = np.cos(yaw), np.sin(yaw)
    a, b, cell = 0.5 * length, 0.5 * width, obstacles.cell
    half_x, half_y = abs(c) * a + abs(s) * b + reach, abs(s) * a + abs(c) * b + reach
    nx, ny = obstacles.taken.shape
    best = np.inf
    for i in range(max(int((x - half_x - obstacles.low_x) / cell), 0),
                   min(int((x + half_x - obstacles.low_x) / cell) + 1, nx)):  # fmt: skip
        dx = obstacles.low_x + (i + 0.5) * cell - x
        for j in range(max(int((y - half_y - obstacles.low_y) / cell), 0),
                       min(int((y + half_y - obstacles.low_y) / cell) + 1, ny)):  # fmt: skip
            if obstacles.taken[i, j]:
                dy = obstacles.low_y + (j + 0.5) * cell - y
                beyond = max(abs(c * dx + s * dy) - a, 0.0)
                beside = max(abs(c * dy - s * dx) - b, 0.0)
                best = min(best, np.sqrt(beyond * beyond + beside * beside))
    return best if best <= reach else np.inf
