"""Whether a vehicle touches something solid, and how near the nearest is."""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.kernels import kernel

__all__ = ["clearance", "nearest_taken", "touches"]


@kernel
def touches(obstacles: Any, x: float, y: float, yaw: float, length: float, width: float) -> bool:
    """Whether a taken cell's middle lies under a rectangle at (x, y) [m] with heading ``yaw`` [rad]."""
    return _nearest(obstacles, x, y, yaw, length, width, 0.0) <= 0.0


@kernel
def clearance(obstacles: Any, x: float, y: float, yaw: float, length: float, width: float, reach: float) -> float:
    """[m] from a rectangle's side to the nearest taken cell's middle, infinite where none is within ``reach``."""
    return _nearest(obstacles, x, y, yaw, length, width, reach)


def nearest_taken(
    obstacles: Any, place: tuple[float, float, float], size: tuple[float, float], reach: float
) -> tuple[float, float] | None:
    """Where the taken cell nearest to a rectangle's side lies, ahead of and to the left of its middle [m].

    ``place`` is its middle and heading (x, y, yaw), ``size`` its length and width; None where none is within ``reach``.
    """
    (x, y, yaw), (length, width), cell = place, size, obstacles.cell
    half = 0.5 * np.hypot(length, width) + reach
    low_i, low_j = (max(int((v - half - low) / cell), 0) for v, low in ((x, obstacles.low_x), (y, obstacles.low_y)))
    high_i, high_j = (int((v + half - low) / cell) + 2 for v, low in ((x, obstacles.low_x), (y, obstacles.low_y)))
    i, j = np.nonzero(obstacles.taken[low_i : max(high_i, 0), low_j : max(high_j, 0)])
    dx = obstacles.low_x + (low_i + i + 0.5) * cell - x
    dy = obstacles.low_y + (low_j + j + 0.5) * cell - y
    ahead, left = np.cos(yaw) * dx + np.sin(yaw) * dy, np.cos(yaw) * dy - np.sin(yaw) * dx
    away = np.hypot(np.maximum(np.abs(ahead) - 0.5 * length, 0), np.maximum(np.abs(left) - 0.5 * width, 0))
    if not len(away) or away.min() > reach:
        return None
    k = int(away.argmin())
    return float(ahead[k]), float(left[k])


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
