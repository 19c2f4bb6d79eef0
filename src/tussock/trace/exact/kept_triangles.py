"""The triangles of shapes as they are, kept beside those with margins that Embree was handed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.trace.triangles import Triangles

__all__ = ["KeptTriangles"]

_BY_CORNERS_UP_TO = 2_000_000
"""triangles of a shape that are kept each with its corners, 36 bytes; of larger ones vertices and triangles are kept"""


class KeptTriangles:
    """Triangles by keys of the caller's; `of` gives addresses of them, which hold for as long as this lives."""

    def __init__(self) -> None:
        self._shapes: dict[int, tuple[NDArray[Any], ...]] = {}

    def keep(self, key: int, vertices: NDArray[np.float32], triangles: NDArray[np.uint32]) -> None:
        """Keep the triangles of a shape, unless they are there already."""
        if key in self._shapes:
            return
        if len(triangles) <= _BY_CORNERS_UP_TO:
            self._shapes[key] = (np.ascontiguousarray(vertices[triangles], np.float32),)
        else:
            self._shapes[key] = (np.ascontiguousarray(vertices, np.float32), np.ascontiguousarray(triangles, np.uint32))

    def of(self, keys: Sequence[Sequence[int]]) -> Triangles:
        """Where the triangles of geometries lie in memory; of each the first of its ``keys`` that is known, if any is."""
        found = Triangles(*(np.zeros(len(keys), np.uint64) for _ in range(3)))
        for row, names in enumerate(keys):
            kept = next((self._shapes[name] for name in names if name in self._shapes), ())
            if len(kept) == 2:
                found.vertices[row], found.indices[row] = kept[0].ctypes.data, kept[1].ctypes.data
            elif kept:
                found.corners[row] = kept[0].ctypes.data
        return found
