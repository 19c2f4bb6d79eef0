"""Ground as heights on an even grid, known at every point in between.

Each cell is two triangles, split from its low corner (least x and y) to its high one, as the mesh has them: a
plant that asks for its height stands exactly on the mesh. Heights come from noise, an image, a GeoTIFF or an array.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import FloatArray, read_only
from tussock.errors import InputError
from tussock.ground.borders import Border, cut
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.primitives import ground
from tussock.scene.sizes import between, positive
from tussock.shown import Shown

__all__ = ["HeightField", "Mask", "Steep"]


class Steep(NamedTuple):
    """Cells steeper than ``above`` [rad] are of this material."""

    above: float
    material: Material


class Mask(NamedTuple):
    """Cells where ``where`` is true are of this material; it is read at the cells' middles."""

    where: NDArray[np.bool_]
    """any shape, spread over the whole field; first index along x, second along y"""
    material: Material


@dataclass(frozen=True, eq=False, repr=False)
class HeightField(Shown):
    """Heights over a rectangle around ``centre``.

    >>> field = tussock.HeightField((10.0, 10.0), np.zeros((11, 11)))
    >>> float(field(np.array([1.5]), np.array([2.5]))[0])
    0.0
    """

    size: tuple[float, float]
    """along x and y [m]"""
    heights: FloatArray
    """[m], shape (cells along x + 1, cells along y + 1), first corner at the lowest x and y"""
    centre: tuple[float, float] = (0.0, 0.0)
    """[m], world"""

    def __post_init__(self) -> None:
        for axis, length in zip("xy", self.size, strict=True):
            positive(f"terrain size {axis}", length)
        heights = np.asarray(self.heights, float)
        if heights.ndim != 2 or min(heights.shape) < 2:
            raise InputError.of("terrain heights", "must be a grid of 2 × 2 or more", heights.shape)
        holes = int((~np.isfinite(heights)).sum())
        if holes:
            raise InputError.of("terrain heights", "must have no holes", f"{holes} without a height", "fill them first")
        object.__setattr__(self, "heights", read_only(heights))

    @property
    def cell(self) -> FloatArray:
        """size of a cell along x and y [m], shape (2,)"""
        return np.asarray(self.size) / (np.array(self.heights.shape) - 1)

    @property
    def low(self) -> FloatArray:
        """least x and y [m], shape (2,)"""
        return np.asarray(self.centre) - np.asarray(self.size) / 2

    def __call__(self, x: FloatArray, y: FloatArray) -> FloatArray:
        """Height [m] at x and y [m], on the triangles of `mesh`; outside, that of the nearest edge."""
        corner, u, v = self._in_cell(x, y)
        a, b, c, d = corner
        # Lower triangle (a, b, c) where u ≥ v, upper (a, c, d) elsewhere.
        return np.where(u >= v, a + u * (b - a) + v * (c - b), a + v * (d - a) + u * (c - d))

    def slope(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Rise along x and along y (metres a metre) of the triangle there."""
        (a, b, c, d), u, v = self._in_cell(x, y)
        along_x = np.where(u >= v, b - a, c - d) / self.cell[0]
        along_y = np.where(u >= v, c - b, d - a) / self.cell[1]
        return along_x, along_y

    def _in_cell(self, x: FloatArray, y: FloatArray) -> tuple[tuple[FloatArray, ...], FloatArray, FloatArray]:
        """Heights of the four corners counter-clockwise, and how far along x and y in the cell."""
        nx, ny = self.heights.shape
        p = np.clip((np.asarray(x, float) - self.low[0]) / self.cell[0], 0, nx - 1)
        q = np.clip((np.asarray(y, float) - self.low[1]) / self.cell[1], 0, ny - 1)
        i, j = np.minimum(p.astype(int), nx - 2), np.minimum(q.astype(int), ny - 2)
        h = self.heights
        return (h[i, j], h[i + 1, j], h[i + 1, j + 1], h[i, j + 1]), p - i, q - j

    def mesh(self, material: Material, *, steep: Sequence[Steep] = (), masks: Sequence[Mask | Border] = ()) -> Mesh:
        """Two triangles a cell; of several rules that fit a cell the last one holds, masks after slopes.

        A `Border` cuts the cells that it crosses; heights stay what they are.
        """
        nx, ny = (n - 1 for n in self.heights.shape)
        shape = ground(self.size, cells=(nx, ny), heights=self.heights, material=material)
        if any(self.centre):
            moved = shape.vertices.astype(float) + np.array([*self.centre, 0.0])
            shape = Mesh.of(moved, shape.triangles, shape.materials)
        if not steep and not masks:
            return shape
        materials = [material]
        chosen = np.zeros((nx, ny), np.uint16)
        for rule in steep:
            between("terrain steep above", rule.above, 0.0, np.pi / 2)
            chosen[self._steepness() > rule.above] = _number(materials, rule.material)
        vertices, triangles = shape.vertices.astype(np.float64), shape.triangles.astype(np.int64)
        cell, chosen = np.repeat(np.arange(nx * ny), 2), np.repeat(chosen.ravel(), 2)
        for mask in masks:
            number = _number(materials, mask.material)
            if isinstance(mask, Mask):
                chosen[_at_cells(mask.where, nx, ny).ravel()[cell]] = number
                continue
            distance = np.asarray(mask.distance(vertices[:, 0], vertices[:, 1]), float)
            vertices, triangles, of = cut(vertices, triangles, distance)
            cell, chosen = cell[of], chosen[of]
            # New corners lie on the border itself: the old ones of a part say on which side it is.
            beyond = np.concatenate([distance, np.zeros(len(vertices) - len(distance))])[triangles]
            chosen[beyond.sum(1) < 0] = number
        if len(materials) == 1:
            return shape
        return Mesh.of(vertices, triangles, tuple(materials), chosen)

    def _steepness(self) -> FloatArray:
        """Angle of every cell to level ground [rad], shape of the cells."""
        h, (dx, dy) = self.heights, self.cell
        along_x = (h[1:, :-1] - h[:-1, :-1] + h[1:, 1:] - h[:-1, 1:]) / (2 * dx)
        along_y = (h[:-1, 1:] - h[:-1, :-1] + h[1:, 1:] - h[1:, :-1]) / (2 * dy)
        return np.arctan(np.hypot(along_x, along_y))


def _number(materials: list[Material], material: Material) -> int:
    if material not in materials:
        materials.append(material)
    return materials.index(material)


def _at_cells(where: NDArray[np.bool_], nx: int, ny: int) -> NDArray[np.bool_]:
    grid = np.asarray(where, bool)
    if grid.ndim != 2 or grid.size == 0:
        raise InputError.of("terrain mask", "must be a grid", grid.shape)
    rows = ((np.arange(nx) + 0.5) / nx * grid.shape[0]).astype(int)
    columns = ((np.arange(ny) + 0.5) / ny * grid.shape[1]).astype(int)
    return grid[np.ix_(rows, columns)]
