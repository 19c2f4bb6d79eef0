"""Surfaces with holes in them: where a material's texture is see-through, there is nothing.

Leaves, grass and fences are often made as pictures on cards. A ray that meets one looks up the picture where it does: the
nearest texel, without any blending, in double precision, so that the same texel is found on every processor. What is less
opaque than `Material.opacity_cutoff` is not there, for every ray: of LIDARs, cameras, shadows.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import Real, Whole, float32_at, inline_kernel, uint8_at, uint64_at
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh

__all__ = ["CutOuts", "is_there", "texel_at"]

_OPACITY, _WIDTH, _HEIGHT, _LEAST, _COLUMNS = range(5)
"""columns of `CutOuts.rows`"""


class CutOuts:
    """What is cut out of the surfaces of a scene; it lives as long as anybody traces."""

    def __init__(self, materials: Sequence[Material]) -> None:
        self.rows = np.zeros((len(materials), _COLUMNS), np.uint64)
        """of every material: address of opacities, a byte a texel, the top row first (0: nothing is cut out); width and
        height; the least opacity of what is there. Shape (materials, 4), or (0, 4) where no material is cut out"""
        self.opacities: dict[int, NDArray[np.uint8]] = {}
        """of the materials that have cut-outs, by their numbers; shape (height, width)"""
        self._corners: dict[tuple[int, bool], tuple[Mesh, NDArray[np.float32]]] = {}
        for number, (row, material) in enumerate(zip(self.rows, materials, strict=True)):
            if material.least_opaque > 0:
                assert material.texture is not None
                opacity = np.ascontiguousarray(material.texture.pixels[..., 3])
                self.opacities[number] = opacity
                row[:] = opacity.ctypes.data, opacity.shape[1], opacity.shape[0], material.least_opaque
        if not self.opacities:
            self.rows = self.rows[:0]

    def of(self, mesh: Mesh) -> bool:
        """Whether anything is cut out of a mesh."""
        return mesh.uv is not None and any(material.least_opaque > 0 for material in mesh.materials)

    def corners(self, mesh: Mesh, turned: bool) -> int:
        """Address of what `places` gives, 0 where nothing is cut out."""
        places = self.places(mesh, turned)
        return 0 if places is None else int(places.ctypes.data)

    def places(self, mesh: Mesh, turned: bool) -> NDArray[np.float32] | None:
        """The texture coordinates of a mesh's triangles, shape (m, 3, 2); None where nothing is cut out.

        ``turned`` if their corners are traced in reverse order.
        """
        if not self.of(mesh):
            return None
        key = (id(mesh), turned)
        if key not in self._corners:
            assert mesh.uv is not None
            triangles = mesh.triangles[:, ::-1] if turned else mesh.triangles
            self._corners[key] = mesh, np.ascontiguousarray(mesh.uv[triangles])
        return self._corners[key][1]


@inline_kernel
def is_there(rows: Whole, material: Whole, corners: Whole, primitive: Whole, u: Real, v: Real) -> bool:
    """Whether a triangle of a material is there at the shares ``u`` and ``v`` of its second and third corner.

    ``rows`` is the address of `CutOuts.rows`, ``corners`` what `CutOuts.corners` gave.
    """
    opacity = uint64_at(rows, _COLUMNS * material + _OPACITY)
    if opacity == 0:
        return True
    width = np.int64(uint64_at(rows, _COLUMNS * material + _WIDTH))
    height = np.int64(uint64_at(rows, _COLUMNS * material + _HEIGHT))
    at = 6 * np.int64(primitive)
    places = (
        float32_at(corners, at), float32_at(corners, at + 1), float32_at(corners, at + 2), float32_at(corners, at + 3),
        float32_at(corners, at + 4), float32_at(corners, at + 5),
    )  # fmt: skip
    texel = texel_at(places, u, v, width, height)
    return np.uint64(uint8_at(opacity, texel)) >= uint64_at(rows, _COLUMNS * material + _LEAST)


@inline_kernel
def texel_at(places: tuple[Real, Real, Real, Real, Real, Real], u: Real, v: Real, width: Whole, height: Whole) -> Whole:
    """The texel, counted from the top row on, that a triangle has at the shares ``u`` and ``v`` of its second and third corner.

    ``places`` are the texture coordinates of its corners, one after the other.
    """
    rest = 1.0 - u - v
    s = rest * places[0] + u * places[2] + v * places[4]
    t = rest * places[1] + u * places[3] + v * places[5]
    column = min(np.int64((s - math.floor(s)) * width), width - 1)
    line = min(np.int64((1.0 - (t - math.floor(t))) * height), height - 1)
    return line * width + column
