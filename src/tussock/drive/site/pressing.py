"""Plants that a vehicle has passed over lie down, for every sensor to see.

The truth of a drive knows which cells of half a metre are pressed (`tussock.drive.site.plants`). A placement stands on
the cells under the four quarters of its footprint; where a share of them is pressed, it keeps that much less of its
height: down to the vehicle's ``pressed_share``, the same number that is left of its resistance. Placements are bent as
wholes: a tile of grass of 1 m shows a track in steps of its quarters. What stands higher than the vehicle is left alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tussock.drive.site.kinds import faces_of
from tussock.drive.site.plants import Plants
from tussock.scene.scene import Scene, SceneObject
from tussock.trace.world import World

__all__ = ["Pressable", "Pressing", "pressables"]

_LEAST = 0.05
"""of the height that is always left: nothing is pressed into the ground"""
_QUARTERS = np.array([[-0.25, -0.25], [-0.25, 0.25], [0.25, -0.25], [0.25, 0.25]])


@dataclass(frozen=True)
class Pressable:
    """An object whose copies a vehicle presses down."""

    thing: SceneObject
    cells: NDArray[np.int64]
    """number of the cell under each quarter of each copy, −1 off the ground, shape (n, 4)"""
    order: NDArray[np.int64]
    """copies by cell: quarters sorted by their cells, shape (4 n,)"""
    sorted_cells: NDArray[np.int64]

    def touched(self, cells: NDArray[np.int64]) -> NDArray[np.int64]:
        """The copies that stand on any of some cells."""
        first, last = (np.searchsorted(self.sorted_cells, cells, side) for side in ("left", "right"))
        found = [self.order[a:b] // len(_QUARTERS) for a, b in zip(first, last, strict=True) if b > a]
        return np.unique(np.concatenate(found)) if found else np.zeros(0, np.int64)


def pressables(scene: Scene, plants: Plants, roof: float) -> list[Pressable]:
    """The objects of a scene that give way and are lower than a ``roof`` [m]."""
    found = []
    for thing in scene.objects:
        low, high = thing.mesh.bounds.astype(float)
        matrices = thing.placements.matrices
        tall = (high[2] - low[2]) * np.linalg.norm(matrices[:, :, 2], axis=1)
        if thing.motion is not None or tall.max() > roof or not faces_of(thing).plants.any():
            continue
        middle = (low + high) / 2
        corners = np.concatenate([middle[:2] + _QUARTERS * (high - low)[:2], np.full((4, 1), middle[2])], 1)
        places = np.einsum("nij,qj->nqi", matrices[:, :2, :3], corners) + matrices[:, None, :2, 3]
        at = np.floor((places - [plants.low_x, plants.low_y]) / plants.cell).astype(np.int64)
        inside = ((at >= 0) & (at < plants.pressed.shape)).all(2)
        cells = np.where(inside, at[..., 0] * plants.pressed.shape[1] + at[..., 1], -1)
        order = np.argsort(cells, axis=None, kind="stable")
        found.append(Pressable(thing, cells, order, cells.ravel()[order]))
    return found


class Pressing:
    """What one drive has pressed down, shown in the world that it takes place in."""

    def __init__(self, world: World, things: list[Pressable], left: float) -> None:
        self._world, self._things, self._left = world, things, max(left, _LEAST)
        self._shown: NDArray[np.uint8] | None = None

    def show(self, pressed: NDArray[np.uint8]) -> None:
        """Lay down what stands on ``pressed`` cells (along x, along y) that did not lie yet."""
        if self._world.laid_by is not self:
            # Another drive, or nobody, was here: the world is as at the start for all that this one knows.
            self._world.stand_up()
            self._world.laid_by, self._shown = self, None
        before = np.zeros_like(pressed) if self._shown is None else self._shown
        fresh = np.flatnonzero(pressed != before)
        if not len(fresh):
            return
        flat = pressed.ravel()
        for one in self._things:
            copies = one.touched(fresh)
            if len(copies):
                cells = one.cells[copies]
                share = np.where(cells >= 0, flat[cells], 0).mean(1)
                self._world.lay_down(one.thing.id, copies, 1.0 - (1.0 - self._left) * share)
        self._shown = pressed.copy()
