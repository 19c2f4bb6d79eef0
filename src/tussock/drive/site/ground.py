"""The ground below the plants: heights on an even grid, traced from above on the ground's own triangles alone.

Grass, trees, walls and whatever else stands on it are left out, so the heights are those that wheels meet. Between
the nodes heights are bilinear. Where nothing of the ground lies below a node its height is NaN: the ground ends
there, and wheels do not go there.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tussock.drive.site.kinds import faces_of
from tussock.errors import InputError
from tussock.kernels import inline_kernel, kernel
from tussock.scene.mesh import Mesh
from tussock.scene.scene import Scene
from tussock.trace.rays import trace_rays
from tussock.trace.world import World

__all__ = ["Ground", "ground_of", "height_at", "height_near", "heights_at"]

_CELL = 0.25
_MOST_NODES = 16_000_000
_INSIDE = 1e-3
"""[m] that the outermost rays keep from the ground's edge, where a ray may pass by"""


class Ground(NamedTuple):
    """Heights at the nodes of an even grid, fit for kernels."""

    low_x: float
    low_y: float
    cell: float
    """[m] from node to node"""
    heights: NDArray[np.float64]
    """[m], world, shape (along x, along y); NaN where there is no ground"""

    @classmethod
    def flat(cls, side: float = 1000.0, *, slope: ArrayLike = (0.0, 0.0)) -> Ground:
        """A plane through the origin that rises by ``slope`` (along x, along y) a metre."""
        along_x, along_y = np.asarray(slope, float)
        at = np.array([-side / 2, side / 2])
        return cls(-side / 2, -side / 2, side, along_x * at[:, None] + along_y * at[None, :])

    @property
    def high(self) -> tuple[float, float]:
        """greatest x and y [m]"""
        nx, ny = self.heights.shape
        return self.low_x + self.cell * (nx - 1), self.low_y + self.cell * (ny - 1)


@inline_kernel
def height_at(ground: Any, x: float, y: float) -> float:
    """Height [m] at a place, NaN off the ground."""
    nx, ny = ground.heights.shape
    p, q = (x - ground.low_x) / ground.cell, (y - ground.low_y) / ground.cell
    inside = p >= 0.0 and q >= 0.0 and p <= nx - 1 and q <= ny - 1
    return height_near(ground, x, y) if inside else np.nan


@inline_kernel
def height_near(ground: Any, x: float, y: float) -> float:
    """Height [m] at a place; outside of the grid, that of its nearest edge."""
    nx, ny = ground.heights.shape
    p = min(max((x - ground.low_x) / ground.cell, 0.0), nx - 1.0)
    q = min(max((y - ground.low_y) / ground.cell, 0.0), ny - 1.0)
    i, j = min(int(p), nx - 2), min(int(q), ny - 2)
    u, v = p - i, q - j
    h = ground.heights
    return (1 - u) * ((1 - v) * h[i, j] + v * h[i, j + 1]) + u * ((1 - v) * h[i + 1, j] + v * h[i + 1, j + 1])


def heights_at(ground: Ground, x: ArrayLike, y: ArrayLike) -> NDArray[np.float64]:
    """Heights [m] at places (n,) [m]."""
    xs, ys = (np.atleast_1d(np.asarray(v, np.float64)) for v in (x, y))
    out = np.empty(len(xs))
    _heights(ground, xs, ys, out)
    return out


@kernel
def _heights(ground: Any, x: Any, y: Any, out: Any) -> None:
    for k in range(len(x)):
        out[k] = height_at(ground, x[k], y[k])


def ground_of(scene: Scene, *, cell: float = _CELL, threads: int | None = None) -> Ground:
    """The ground of a scene; an `InputError` where nothing in it is labelled as ground."""
    alone = Scene("ground")
    for thing in scene.objects:
        faces = faces_of(thing).ground
        if thing.motion is None and faces.any():
            mesh = thing.mesh if faces.all() else _part(thing.mesh, faces)
            alone.add(mesh, name=thing.name, label="terrain", placements=thing.placements)
    if not alone.objects:
        raise InputError(
            f"scene {scene.name!r}: has no ground to drive on; label an object of it terrain or road (or use soil)"
        )
    low, high = alone.bounds
    counts = np.maximum(np.ceil((high - low)[:2] / cell - 1e-9).astype(int) + 1, 2)
    if counts.prod() > _MOST_NODES:
        # A coarser grid for a huge ground: memory and the wait stay bounded.
        cell *= float(np.sqrt(counts.prod() / _MOST_NODES))
        counts = np.maximum(np.ceil((high - low)[:2] / cell - 1e-9).astype(int) + 1, 2)
    x = np.clip(low[0] + cell * np.arange(counts[0]), low[0] + _INSIDE, high[0] - _INSIDE)
    y = np.clip(low[1] + cell * np.arange(counts[1]), low[1] + _INSIDE, high[1] - _INSIDE)
    above = float(high[2]) + 1.0
    origins = np.stack([*np.meshgrid(x, y, indexing="ij"), np.full(tuple(counts), above)], -1).reshape(-1, 3)
    down = np.broadcast_to(np.array([0.0, 0.0, -1.0]), origins.shape)
    ranges = trace_rays(World(alone), origins, down, float(high[2] - low[2]) + 2.0, threads=threads)
    return Ground(float(low[0]), float(low[1]), cell, above - ranges.astype(np.float64).reshape(tuple(counts)))


def _part(mesh: Mesh, faces: NDArray[np.bool_]) -> Mesh:
    """A mesh of some of the triangles."""
    return Mesh.of(mesh.vertices, mesh.triangles[faces], (mesh.materials[0],))
