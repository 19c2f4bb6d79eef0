"""What holds a vehicle back: soil, slope, and the plants that it presses down.

    soil     c·m·g·cos α            rolling resistance c
    slope    m·g·sin α              along the ground
    plants   k·w·⟨area·height⟩      over the width w of the front, and thin trunks with the force that brings them down

The mean ⟨ ⟩ is over the cells under the front edge; where the vehicle has passed before only ``pressed_share`` of it is
left. A thin trunk holds back while it is under the front edge, once: the cell is pressed when the vehicle has crossed.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.kernels import kernel

__all__ = ["plant_force", "press"]


@kernel
def plant_force(plants: Any, numbers: Any, x: float, y: float, yaw: float, ahead: float) -> float:
    """Force [N] of the plants before a vehicle; ``ahead`` is 1 for its front, −1 for its rear when it reverses."""
    c, s = np.cos(yaw), np.sin(yaw)
    nx, ny = plants.area.shape
    front_x, front_y = x + ahead * 0.5 * numbers.length * c, y + ahead * 0.5 * numbers.length * s
    count = max(2, int(numbers.width / (0.5 * plants.cell)) + 1)
    total = 0.0
    for k in range(count):
        beside = numbers.width * ((k + 0.5) / count - 0.5)
        px, py = front_x - s * beside, front_y + c * beside
        i, j = int((px - plants.low_x) / plants.cell), int((py - plants.low_y) / plants.cell)
        if px >= plants.low_x and py >= plants.low_y and i < nx and j < ny:
            share = numbers.pressed_share if plants.pressed[i, j] else 1.0
            soft = numbers.plant_resistance * numbers.width * plants.area[i, j] * plants.height[i, j]
            # A trunk is met by the one strip of the front that its cell lies before.
            stems = plants.stems[i, j] * numbers.width / plants.cell
            total += share * (soft + stems) / count
    return total


@kernel
def press(plants: Any, numbers: Any, x: float, y: float, yaw: float) -> int:
    """Press down the cells whose middles lie under a vehicle; how many were standing until now."""
    c, s = np.cos(yaw), np.sin(yaw)
    nx, ny = plants.area.shape
    # The front edge itself is still being pressed: it resists until the vehicle is over it.
    a, b, cell = 0.5 * numbers.length - plants.cell, 0.5 * numbers.width, plants.cell
    half_x, half_y = abs(c) * a + abs(s) * b, abs(s) * a + abs(c) * b
    fresh = 0
    for i in range(max(int((x - half_x - plants.low_x) / cell), 0),
                   min(int((x + half_x - plants.low_x) / cell) + 1, nx)):  # fmt: skip
        dx = plants.low_x + (i + 0.5) * cell - x
        for j in range(max(int((y - half_y - plants.low_y) / cell), 0),
                       min(int((y + half_y - plants.low_y) / cell) + 1, ny)):  # fmt: skip
            dy = plants.low_y + (j + 0.5) * cell - y
            under = abs(c * dx + s * dy) <= a and abs(c * dy - s * dx) <= b
            if under and not plants.pressed[i, j]:
                plants.pressed[i, j] = 1
                fresh += plants.area[i, j] > 0.0 or plants.stems[i, j] > 0.0
    return fresh
