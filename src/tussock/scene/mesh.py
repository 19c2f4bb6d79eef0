"""A shape made of triangles, with a material for each."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.scene.material import Material

__all__ = ["Mesh"]


@dataclass(frozen=True, eq=False)
class Mesh:
    """A triangle mesh in its own coordinates; placed any number of times, it is stored once."""

    vertices: NDArray[np.float32]
    """[m], shape (n, 3)"""
    triangles: NDArray[np.uint32]
    """vertex indices, counter-clockwise seen from outside, shape (m, 3)"""
    materials: tuple[Material, ...] = (Material(),)
    triangle_materials: NDArray[np.uint16] | None = field(default=None)
    """index into `materials`, shape (m,); None: all triangles have the first"""

    def __post_init__(self) -> None:
        vertices = np.ascontiguousarray(self.vertices, np.float32)
        triangles = np.asarray(self.triangles)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or len(vertices) == 0:
            raise InputError.of("mesh vertices", "must be an array of shape (n, 3)", vertices.shape)
        if triangles.ndim != 2 or triangles.shape[1] != 3 or len(triangles) == 0:
            raise InputError.of("mesh triangles", "must be an array of shape (m, 3)", triangles.shape)
        if not np.isfinite(vertices).all():
            bad = int(np.argmax(~np.isfinite(vertices).all(1)))
            raise InputError.of(f"mesh vertex {bad}", "must be finite", vertices[bad].tolist())
        if not np.issubdtype(triangles.dtype, np.integer):
            raise InputError.of("mesh triangles", "must be whole numbers", str(triangles.dtype))
        low, high = int(triangles.min()), int(triangles.max())
        if low < 0 or high >= len(vertices):
            raise InputError.of(
                "mesh triangles", f"must index vertices 0 to {len(vertices) - 1}", low if low < 0 else high
            )
        if not self.materials:
            raise InputError("mesh materials: needs at least one material")
        if self.triangle_materials is not None:
            chosen = np.ascontiguousarray(self.triangle_materials, np.uint16)
            if chosen.shape != (len(triangles),):
                raise InputError.of("mesh triangle_materials", "must be one a triangle", chosen.shape)
            if int(chosen.max()) >= len(self.materials):
                raise InputError.of(
                    "mesh triangle_materials",
                    f"must index materials 0 to {len(self.materials) - 1}",
                    int(chosen.max()),
                )
            object.__setattr__(self, "triangle_materials", chosen)
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "triangles", np.ascontiguousarray(triangles, np.uint32))

    @property
    def bounds(self) -> NDArray[np.float32]:
        """lowest and highest corner [m], shape (2, 3)"""
        return np.stack([self.vertices.min(0), self.vertices.max(0)])
