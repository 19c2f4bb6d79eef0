"""Where a vehicle can get to at all, by the truth: places that walls, trunks and rocks shut off are told beforehand.

A vehicle of any heading covers the disc of half its width around its middle. The middle therefore never comes nearer to
a taken cell than that. What is not connected with the start over cells that keep this distance cannot be reached. The
reverse does not hold: a gap may let a disc through and stop the corners of a body. Holes in the ground shut nothing off
here, and neither does what moves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.drive.site.site import Site
from tussock.kernels import kernel

__all__ = ["Reach"]

_FREE, _SHUT, _REACHED = 0, 1, 2


class Reach:
    """The cells of a site's obstacles that a vehicle's middle can come to from a start (x, y) [m]."""

    def __init__(self, site: Site, start: tuple[float, float], width: float) -> None:
        self._obstacles = o = site.obstacles
        # A middle may lie anywhere in its cell: up to half a diagonal nearer than the cell's own middle.
        radius = 0.5 * width / o.cell - np.sqrt(0.5)
        self._state: NDArray[np.uint8] = np.full(o.taken.shape, _FREE, np.uint8)
        _shut(o, site.ground, radius, self._state)
        i, j = self._cell(*start)
        self.cells = int(_flood(self._state, i, j, np.empty(self._state.size, np.int32)))
        """how many there are"""

    def within(self, x: float, y: float, radius: float) -> bool:
        """Whether it gets as near as ``radius`` [m] to a place."""
        i, j = self._cell(x, y)
        cell = self._obstacles.cell
        k = int(np.ceil(radius / cell))
        low_i, low_j = max(i - k, 0), max(j - k, 0)
        part = self._state[low_i : i + k + 1, low_j : j + k + 1] == _REACHED
        at_i, at_j = np.nonzero(part)
        return bool((np.hypot(at_i + low_i - i, at_j + low_j - j) * cell <= radius + cell).any())

    def _cell(self, x: float, y: float) -> tuple[int, int]:
        o = self._obstacles
        nx, ny = o.taken.shape
        i, j = int((x - o.low_x) / o.cell), int((y - o.low_y) / o.cell)
        return min(max(i, 0), nx - 1), min(max(j, 0), ny - 1)


@kernel
def _shut(obstacles: Any, ground: Any, radius: float, state: Any) -> None:
    """Mark where no middle can be: nearer to a taken cell than ``radius`` cells, or beyond the ground's edges."""
    nx, ny = state.shape
    (gx, gy), cell = ground.heights.shape, obstacles.cell
    high_x, high_y = ground.low_x + ground.cell * (gx - 1), ground.low_y + ground.cell * (gy - 1)
    reach = int(np.ceil(max(radius, 0.0)))
    for i in range(nx):
        x = obstacles.low_x + (i + 0.5) * cell
        off_x = x < ground.low_x - cell or x > high_x + cell
        for j in range(ny):
            y = obstacles.low_y + (j + 0.5) * cell
            if off_x or y < ground.low_y - cell or y > high_y + cell:
                state[i, j] = _SHUT
            if obstacles.taken[i, j]:
                for a in range(max(i - reach, 0), min(i + reach + 1, nx)):
                    for b in range(max(j - reach, 0), min(j + reach + 1, ny)):
                        if (a - i) ** 2 + (b - j) ** 2 < radius * radius:
                            state[a, b] = _SHUT


@kernel
def _flood(state: Any, i: int, j: int, waiting: Any) -> int:
    """Mark what is connected with a cell, eight neighbours each, and count it."""
    nx, ny = state.shape
    state[i, j] = _REACHED
    waiting[0] = i * ny + j
    count, first = 1, 0
    while first < count:
        i, j = waiting[first] // ny, waiting[first] % ny
        first += 1
        for a in range(max(i - 1, 0), min(i + 2, nx)):
            for b in range(max(j - 1, 0), min(j + 2, ny)):
                if state[a, b] == _FREE:
                    state[a, b] = _REACHED
                    waiting[count] = a * ny + b
                    count += 1
    return count
