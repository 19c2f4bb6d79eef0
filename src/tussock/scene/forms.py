"""A thing that changes its shape: a mesh for each of some moments, such as the frames of an animation.

From one moment to the next the thing keeps its shape; a frame of a sensor sees the shape that holds in the middle of
the frame. The thing may move besides. Armatures, cloth and soft bodies of Blender come in this way.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import read_only
from tussock.errors import InputError
from tussock.scene.mesh import Mesh

__all__ = ["Forms"]


@dataclass(frozen=True, eq=False)
class Forms:
    """Meshes and from when on each is the shape; before the first moment it is the first."""

    times: NDArray[np.float64]
    """[s], increasing, shape (n,)"""
    meshes: tuple[Mesh, ...]

    def __post_init__(self) -> None:
        times = np.asarray(self.times, float)
        if times.ndim != 1 or len(times) == 0 or len(times) != len(self.meshes):
            raise InputError.of("forms", "must have one time for each mesh, and one at least", times.shape)
        if not np.isfinite(times).all() or (np.diff(times) <= 0).any():
            raise InputError.of("forms times", "must be finite and increase", times.tolist())
        object.__setattr__(self, "times", read_only(times))

    def at(self, time: float) -> Mesh:
        """The shape at ``time`` [s]."""
        return self.meshes[max(0, int(np.searchsorted(self.times, time, side="right")) - 1)]
