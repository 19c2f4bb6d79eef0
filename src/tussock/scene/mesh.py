"""A shape made of triangles, with a material for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tussock.arrays import read_only
from tussock.errors import InputError
from tussock.scene.material import Material
from tussock.shown import Shown

__all__ = ["FARTHEST", "Mesh"]

FARTHEST = 1e9
"""[m] no coordinate lies further from zero: maps of the Earth stay within 2·10⁷"""
_SINGLE = 1024.0
"""[m] up to here steps of single precision are 0.06 mm at most; map coordinates take double"""


@dataclass(frozen=True, eq=False, repr=False)
class Mesh(Shown):
    """A triangle mesh in its own coordinates; placed any number of times, it is stored once.

    The arrays are copies and read-only, as many objects may share them.

    >>> mesh = tussock.Mesh.of([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]])
    >>> float(mesh.areas.sum())
    0.5
    """

    vertices: NDArray[np.float32] | NDArray[np.float64]
    """[m], shape (n, 3): float32, or float64 where any coordinate is beyond 1024 m and float32 would be coarse"""
    triangles: NDArray[np.uint32]
    """vertex indices, counter-clockwise seen from outside, shape (m, 3)"""
    materials: tuple[Material, ...] = (Material(),)
    triangle_materials: NDArray[np.uint16] | None = field(default=None)
    """index into `materials`, shape (m,); None: all triangles have the first"""
    uv: NDArray[np.float32] | None = field(default=None)
    """texture coordinates (s, t) of the vertices, t up, shape (n, 2); None: the mesh shows no textures"""

    def __post_init__(self) -> None:
        vertices = _in_enough_digits(self.vertices)
        triangles = np.asarray(self.triangles)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or len(vertices) == 0:
            raise InputError.of("mesh vertices", "must be an array of shape (n, 3)", vertices.shape)
        if triangles.ndim != 2 or triangles.shape[1] != 3 or len(triangles) == 0:
            raise InputError.of("mesh triangles", "must be an array of shape (m, 3)", triangles.shape)
        far = ~(np.abs(vertices) <= FARTHEST).all(1)  # NaN is far too
        if far.any():
            bad = int(np.argmax(far))
            rule = f"must be finite and within {FARTHEST:g} m of zero"
            raise InputError.of(f"mesh vertex {bad}", rule, vertices[bad].tolist())
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
            chosen = np.asarray(self.triangle_materials)
            if chosen.shape != (len(triangles),):
                raise InputError.of("mesh triangle_materials", "must be one a triangle", chosen.shape)
            low, high = int(chosen.min()), int(chosen.max())
            if low < 0 or high >= len(self.materials):
                raise InputError.of(
                    "mesh triangle_materials",
                    f"must index materials 0 to {len(self.materials) - 1}",
                    low if low < 0 else high,
                )
            object.__setattr__(self, "triangle_materials", read_only(chosen, np.uint16))
        if self.uv is not None:
            uv = read_only(self.uv, np.float32)
            if uv.shape != (len(vertices), 2):
                raise InputError.of("mesh uv", "must be two numbers a vertex", uv.shape)
            if not np.isfinite(uv).all():
                raise InputError("mesh uv: must be finite, got NaN or infinity")
            object.__setattr__(self, "uv", uv)
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "triangles", read_only(triangles, np.uint32))

    @classmethod
    def of(
        cls,
        vertices: ArrayLike,
        triangles: ArrayLike,
        materials: tuple[Material, ...] = (Material(),),
        triangle_materials: ArrayLike | None = None,
        uv: ArrayLike | None = None,
    ) -> Mesh:
        """From anything that NumPy takes as arrays of these shapes."""
        chosen = None if triangle_materials is None else np.asarray(triangle_materials)
        corners = None if uv is None else np.asarray(uv)
        return cls(np.asarray(vertices), np.asarray(triangles), materials, chosen, corners)

    @classmethod
    def joined(cls, parts: Sequence[Mesh]) -> Mesh:
        """One mesh of several; equal materials become one, nothing else is merged."""
        if not parts:
            raise InputError("mesh: cannot be joined from no parts")
        materials = list(dict.fromkeys(m for part in parts for m in part.materials))
        number = {material: index for index, material in enumerate(materials)}
        if len(materials) > 65535:
            raise InputError.of("mesh materials", "must be at most 65535", len(materials))
        offsets = np.cumsum([0] + [len(part.vertices) for part in parts])
        chosen = [
            np.array([number[m] for m in part.materials], np.uint16)[part.material_of_triangles] for part in parts
        ]
        uv = None
        if any(part.uv is not None for part in parts):
            uv = np.concatenate([np.zeros((len(p.vertices), 2), np.float32) if p.uv is None else p.uv for p in parts])
        return cls(
            np.concatenate([part.vertices for part in parts]),
            np.concatenate([part.triangles + np.uint32(at) for part, at in zip(parts, offsets, strict=False)]),
            tuple(materials),
            np.concatenate(chosen) if len(materials) > 1 else None,
            uv,
        )

    def painted(self, material: Material) -> Mesh:
        """The same shape, all of one material."""
        return replace(self, materials=(material,), triangle_materials=None)

    @property
    def material_of_triangles(self) -> NDArray[np.uint16]:
        """index into `materials`, shape (m,), also where all triangles have the first"""
        if self.triangle_materials is None:
            return np.zeros(len(self.triangles), np.uint16)
        return self.triangle_materials

    @property
    def areas(self) -> NDArray[np.float64]:
        """area of each triangle [m²], shape (m,)"""
        a, b, c = (self.vertices[self.triangles[:, i]].astype(np.float64) for i in range(3))
        return np.linalg.norm(np.cross(b - a, c - a), axis=1) / 2

    def _facts(self) -> dict[str, object]:
        size = " × ".join(f"{side:.3g}" for side in np.ptp(self.bounds, axis=0)) if len(self.vertices) else "0"
        names = ", ".join(material.name for material in self.materials)
        return {"triangles": f"{len(self.triangles):,}", "size": f"{size} m", "materials": names}

    @property
    def bounds(self) -> NDArray[np.float32] | NDArray[np.float64]:
        """lowest and highest corner [m], shape (2, 3)"""
        return np.stack([self.vertices.min(0), self.vertices.max(0)])


def _in_enough_digits(given: ArrayLike) -> NDArray[Any]:
    """Coordinates as a mesh keeps them: read-only, in single precision where that is fine enough."""
    vertices = np.asarray(given)
    if vertices.dtype == np.float32:
        return read_only(vertices)
    vertices = np.asarray(given, np.float64)
    near = np.abs(vertices).max(initial=0.0) <= _SINGLE
    return read_only(vertices, np.float32 if near else np.float64)
