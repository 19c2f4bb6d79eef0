"""Where an object of a scene file gets its shape from, one model a source.

Keys carry their units; each model hands them to the function that makes the shape, which holds the defaults.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from tussock.errors import InputError
from tussock.ground.height_field import HeightField
from tussock.ground.relief import Relief
from tussock.limits import MIB, limit_bytes
from tussock.numpy_files import load_npy
from tussock.plants.conifer import conifer
from tussock.plants.grass import grass_tile
from tussock.plants.reeds import reeds
from tussock.plants.shrub import shrub
from tussock.plants.sward import sward_tile
from tussock.plants.tree import tree
from tussock.quantities import Pair, Triple
from tussock.reach import Reach
from tussock.scene.mesh import Mesh
from tussock.scene.primitives import box, card, cylinder, ground, plane, sphere
from tussock.settings import Settings

__all__ = [
    "BoxShape",
    "CardShape",
    "ConiferShape",
    "CylinderShape",
    "GrassShape",
    "GroundShape",
    "Grown",
    "PlaneShape",
    "ReedsShape",
    "Shape",
    "ShrubShape",
    "SphereShape",
    "SwardShape",
    "TreeShape",
    "check_made",
]


_BYTES = {"triangles": 50, "copies": 100}
"""that stay in memory of each: corners and their numbers, or a place, and their part of Embree's tree; up to three times that
while they are made"""


def check_made(what: str, count: float) -> None:
    """Refuse numbers of a scene file that ask for more triangles or copies than any file may take memory for."""
    each = _BYTES[what]
    if limit_bytes() < count * each < math.inf:  # what is no number the shape itself refuses
        raise InputError.of(
            what, f"must be at most {limit_bytes() // each:,} where they are made of numbers", round(count),
            f"lower them, or allow that many with TUSSOCK_LIMIT_MB={math.ceil(count * each / MIB)}",
        )  # fmt: skip


class Shape(Settings):
    """A way to make a mesh."""

    make: ClassVar[Callable[..., Mesh]]
    """what the keys are handed to"""
    _not_options: ClassVar[frozenset[str]] = frozenset({"kind"})

    def build(self, reach: Reach) -> Mesh:
        """The mesh; ``reach`` is that of the scene file."""
        check_made("triangles", self._asked())
        return type(self).make(**self._options())

    def _asked(self) -> float:
        """About how many triangles the numbers ask for, where that has no bound."""
        return 0

    def _options(self) -> dict[str, Any]:
        """The keys that the file gave, in metres and radians and without units in their names."""
        options = {}
        for key in self.model_fields_set - self._not_options:
            value = getattr(self, key)
            options[re.sub(r"(_per_m2|_m2|_m|_deg)$", "", key)] = math.radians(value) if key.endswith("_deg") else value
        return options


class BoxShape(Shape):
    """``box = {size_m = [x, y, z]}``, centred on the object's position."""

    make = staticmethod(box)
    size_m: Triple


class PlaneShape(Shape):
    """``plane = {size_m = [x, y]}``: a rectangle that faces up."""

    make = staticmethod(plane)
    size_m: Pair


class CardShape(Shape):
    """``card = {size_m = [width, height]}``: an upright picture of the object's material, or several ``crossed``."""

    make = staticmethod(card)
    size_m: Pair
    crossed: int = 1


class SphereShape(Shape):
    """``sphere = {radius_m = 1}``."""

    make = staticmethod(sphere)
    radius_m: float
    subdivisions: int = 4


class CylinderShape(Shape):
    """``cylinder = {radius_m = 0.1, height_m = 2}``, upright, centred on the object's position."""

    make = staticmethod(cylinder)
    radius_m: float
    height_m: float
    sides: int = 32
    capped: bool = True

    def _asked(self) -> float:
        return 4 * self.sides


class GroundShape(Shape):
    """``ground = {size_m = [x, y]}``: flat, uneven by ``relief_m``, or of the ``heights`` in a NumPy file."""

    size_m: Pair
    cells: tuple[int, int] | None = None
    """along x and y; one a metre unless given"""
    relief_m: float = 0.0
    """root mean square height of its unevenness"""
    wavelength_m: float = 40.0
    seed: int = 0
    heights: Path | None = None
    """.npy file with heights [m], shape (cells along x + 1, cells along y + 1)"""

    def field(self, reach: Reach) -> HeightField:
        """The heights of the mesh's corners: what populates it stands on them."""
        mesh = self.build(reach)
        nx, ny = self._cells(reach)
        return HeightField(self.size_m, mesh.vertices[:, 2].reshape(nx + 1, ny + 1).astype(float))

    def _cells(self, reach: Reach) -> tuple[int, int]:
        if self.cells is not None:
            return self.cells
        if self.heights is not None:
            grid = _heights(reach.file(self.heights))
            return grid.shape[0] - 1, grid.shape[1] - 1
        return max(1, round(self.size_m[0])), max(1, round(self.size_m[1]))

    def build(self, reach: Reach) -> Mesh:
        cells = self._cells(reach)
        if self.heights is not None:
            return ground(self.size_m, cells=cells, heights=_heights(reach.file(self.heights)))
        check_made("triangles", 2 * cells[0] * cells[1])
        relief = Relief(height=self.relief_m, wavelength=self.wavelength_m, seed=self.seed)
        return ground(self.size_m, cells=cells, heights=relief if self.relief_m else None)


class GrassShape(Shape):
    """``grow = {kind = "grass"}``: a square tile, see `tussock.plants.grass`."""

    make = staticmethod(grass_tile)
    kind: Literal["grass"]
    size_m: float | None = None
    blades: int | None = None
    height_m: float | None = None
    width_m: float | None = None
    lean_deg: float | None = None
    bend_deg: float | None = None
    segments: int | None = None
    folded: bool | None = None
    dead: float | None = None
    seed: int | None = None

    def _asked(self) -> float:
        return 4 * (self.blades or 0) * (self.segments or 6)


class SwardShape(Shape):
    """``grow = {kind = "sward"}``: a square tile, see `tussock.plants.sward`."""

    make = staticmethod(sward_tile)
    kind: Literal["sward"]
    size_m: float | None = None
    blades: int | None = None
    height_m: float | None = None
    herbs: int | None = None
    flowers: float | None = None
    litter: float | None = None
    seed: int | None = None


class TrunkAndCrown(Shape):
    """Keys of whatever has a trunk and a crown."""

    height_m: float | None = None
    crown_radius_m: float | None = None
    crown_base_m: float | None = None
    trunk_radius_m: float | None = None
    leaf_area_m2: float | None = None
    triangles: int | None = None
    seed: int | None = None

    def _asked(self) -> float:
        return self.triangles or 0


class TreeShape(TrunkAndCrown):
    """``grow = {kind = "tree"}``: a broadleaf tree, see `tussock.plants.tree`."""

    make = staticmethod(tree)
    kind: Literal["tree"]


class ConiferShape(TrunkAndCrown):
    """``grow = {kind = "conifer"}``: a spruce, see `tussock.plants.conifer`."""

    make = staticmethod(conifer)
    kind: Literal["conifer"]


class ShrubShape(Shape):
    """``grow = {kind = "shrub"}``: see `tussock.plants.shrub`."""

    make = staticmethod(shrub)
    kind: Literal["shrub"]
    height_m: float | None = None
    radius_m: float | None = None
    stems: int | None = None
    leaf_area_m2: float | None = None
    triangles: int | None = None
    seed: int | None = None

    def _asked(self) -> float:
        return self.triangles or 0


class ReedsShape(Shape):
    """``grow = {kind = "reeds"}``: upright stems as cylinders, with leaves and plumes, see `tussock.plants.reeds`."""

    make = staticmethod(reeds)
    kind: Literal["reeds"]
    size_m: Pair | None = None
    density_per_m2: float | None = None
    diameter_m: float | None = None
    height_m: float | None = None
    lean_deg: float | None = None
    variation: float | None = None
    sides: int | None = None
    leaves: int | None = None
    plumes: float | None = None
    seed: int | None = None

    def _asked(self) -> float:
        width, depth = self.size_m or (2.0, 2.0)
        stems = (50.0 if self.density_per_m2 is None else self.density_per_m2) * width * depth
        leaves = 5 if self.leaves is None else self.leaves
        plumes = 0.7 if self.plumes is None else self.plumes
        return stems * (3 * (self.sides or 16) + 7 * leaves + 108 * plumes)


Grown = Annotated[
    GrassShape | SwardShape | TreeShape | ConiferShape | ShrubShape | ReedsShape, Field(discriminator="kind")
]


def _heights(path: Path) -> np.ndarray:
    grid = load_npy(path)
    if grid.dtype.kind not in "biuf" or grid.ndim != 2 or min(grid.shape) < 2:
        raise InputError.of("heights", "must be a grid of 2 × 2 numbers or more", grid.shape, source=path)
    return grid
