"""One number for every single thing: each copy of each object has its own.

Object k's copies have the numbers start[k], start[k] + 1, … in the order of its placements; 0 is nothing. The same
numbers are used for points and for pixels, and stay the same as long as the scene does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import sealed
from tussock.errors import InputError
from tussock.scene.scene import PlacedVolumes, SceneObject

__all__ = ["Instances"]


@dataclass(frozen=True, eq=False)
class Instances:
    starts: NDArray[np.uint32]
    """number of the first copy of every object, by object id; entry 0 is for nothing; shape (objects + 1,)"""
    copies: NDArray[np.uint32]
    """how many copies each has, shape (objects + 1,)"""

    @classmethod
    def among(cls, objects: Sequence[SceneObject | PlacedVolumes]) -> Instances:
        """Of objects with the ids 1, 2, …"""
        copies = np.zeros(1 + max((thing.id for thing in objects), default=0), np.uint32)
        for thing in objects:
            copies[thing.id] = len(thing.placements)
        before = np.concatenate([[0], np.cumsum(copies, dtype=np.uint64)[:-1]])
        starts = np.where(copies > 0, before + 1, 0)
        return cls(sealed(starts.astype(np.uint32)), sealed(copies))

    def of(self, object_id: NDArray[np.uint32], placement: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Instance numbers of objects and their copies, arrays of one shape."""
        return np.where(object_id > 0, self.starts[object_id] + placement, 0).astype(np.uint32)

    def whose(self, instance: int) -> tuple[int, int]:
        """Object id and placement of an instance."""
        owner = int(np.searchsorted(np.cumsum(self.copies, dtype=np.uint64), instance))
        if instance < 1 or owner >= len(self.starts):
            raise InputError.of("instance", f"must be from 1 to {int(self.copies.sum())}", instance)
        return owner, instance - int(self.starts[owner])
