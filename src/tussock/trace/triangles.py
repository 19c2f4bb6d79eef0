"""Where a ray meets a triangle, by arithmetic of our own in a fixed order: the same bits on every processor.

Embree names the triangle. Its distance, its place on the triangle and the triangle's normal come out of approximate
reciprocals and fused products that differ from one set of instructions to the next, so they are computed again here,
in double precision. With the corners a, b, c, e = b − a, f = c − a, n = e × f and w = a − o, the ray o + t·d meets the
triangle's plane where

    t = w·n / d·n,   u = w·(d × f) / d·n,   v = w·(e × d) / d·n

A ray along the plane has d·n = 0, and one that grazes it meets the plane far outside the triangle for the least
rounding in o: t is kept between the nearest and the furthest corner along the ray.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import TraceError
from tussock.kernels import Real, Whole, fetch, float32_at, inline_kernel, uint32_at
from tussock.trace.ray import Ray
from tussock.trace.rounding.neighbours import BORDER, beyond_edges

__all__ = ["Corners", "KeptTriangles", "Meeting", "Triangles", "corners_of", "fetch_corners", "meet_triangle"]

_BY_CORNERS_UP_TO = 2_000_000
"""triangles of a shape that are kept each with its corners, 36 bytes; of larger ones vertices and triangles are kept"""


class Triangles(NamedTuple):
    """Where the triangles of every geometry lie in memory, 0 where it has none."""

    vertices: NDArray[np.uint64]
    """address of float32 coordinates (n, 3)"""
    indices: NDArray[np.uint64]
    """address of uint32 corners (m, 3)"""
    corners: NDArray[np.uint64]
    """address of float32 coordinates (m, 9), triangle by triangle: found with one look where the other two take four; 0 for
    shapes that are too large to be kept twice"""


class KeptTriangles:
    """Triangles by keys of the caller's; `of` gives addresses of them, which hold for as long as this lives."""

    def __init__(self, *, with_neighbours: bool) -> None:
        self._with_neighbours = with_neighbours
        self._shapes: dict[int, tuple[NDArray[Any], ...]] = {}
        self._beyond: dict[int, NDArray[np.int32]] = {}

    def keep(self, key: int, vertices: NDArray[np.float32], triangles: NDArray[np.uint32], *, tight: bool) -> None:
        """Keep the triangles of a shape, unless they are there already; ``tight``: no ray slips between them.

        Between triangles that are not tight one set of instructions lets a ray through and another does not: there each of
        them has borders all round, and ends before them (`tussock.trace.rounding.edges`).
        """
        if key in self._shapes:
            return
        kept: tuple[NDArray[Any], ...]
        try:
            if len(triangles) <= _BY_CORNERS_UP_TO:
                kept = (np.ascontiguousarray(vertices[triangles], np.float32),)
            else:
                kept = (np.ascontiguousarray(vertices, np.float32), np.ascontiguousarray(triangles, np.uint32))
            if self._with_neighbours:
                self._beyond[key] = (
                    beyond_edges(vertices, triangles) if tight else np.full(triangles.shape, BORDER, np.int32)
                )
        except MemoryError:
            raise TraceError(f"keeping a shape of {len(triangles):,} triangles: out of memory") from None
        self._shapes[key] = kept

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

    def neighbours_of(self, keys: Sequence[Sequence[int]]) -> NDArray[np.uint64]:
        """Where it says what is beyond the edges of their triangles, 0 where nothing does; empty where nobody asks."""
        if not self._with_neighbours:
            return np.zeros(0, np.uint64)
        kept = ([self._beyond[name] for name in names if name in self._beyond] for names in keys)
        return np.array([found[0].ctypes.data if found else 0 for found in kept], np.uint64)


class Corners(NamedTuple):
    """A triangle."""

    ax: Real
    """[m]"""
    ay: Real
    az: Real
    bx: Real
    by: Real
    bz: Real
    cx: Real
    cy: Real
    cz: Real


class Meeting(NamedTuple):
    """Where a ray meets a triangle."""

    distance: Real
    """[m]"""
    u: Real
    """shares of the second and the third corner"""
    v: Real
    nx: Real
    """normal, counter-clockwise seen from its tip, twice the area long"""
    ny: Real
    nz: Real


@inline_kernel
def corners_of(triangles: Triangles, geometry: Whole, primitive: Whole) -> Corners:
    """A triangle of a geometry, in the geometry's own coordinates."""
    vertices, a = triangles.corners[geometry], 9 * np.int64(primitive)
    b, c = a + 3, a + 6
    if vertices == 0:
        vertices, indices, at = triangles.vertices[geometry], triangles.indices[geometry], 3 * np.int64(primitive)
        a, b, c = (
            3 * np.int64(uint32_at(indices, at)),
            3 * np.int64(uint32_at(indices, at + 1)),
            3 * np.int64(uint32_at(indices, at + 2)),
        )
    return Corners(
        np.float64(float32_at(vertices, a)), np.float64(float32_at(vertices, a + 1)),
        np.float64(float32_at(vertices, a + 2)), np.float64(float32_at(vertices, b)),
        np.float64(float32_at(vertices, b + 1)), np.float64(float32_at(vertices, b + 2)),
        np.float64(float32_at(vertices, c)), np.float64(float32_at(vertices, c + 1)),
        np.float64(float32_at(vertices, c + 2)),
    )  # fmt: skip


@inline_kernel
def fetch_corners(triangles: Triangles, geometry: Whole, primitive: Whole) -> None:
    """Ask for a triangle's corners that `corners_of` is going to read, where one look finds them."""
    corners = triangles.corners[geometry]
    if corners != 0:
        begin = corners + np.uint64(36) * np.uint64(primitive)
        fetch(begin)
        fetch(begin + np.uint64(35))  # its last byte: it may begin in one line of the cache and end in the next


@inline_kernel
def meet_triangle(ray: Ray, at: Corners) -> Meeting:
    """Where a ray meets a triangle that it is known to meet; all numbers float64."""
    dx, dy, dz = ray.dx, ray.dy, ray.dz
    ex, ey, ez = at.bx - at.ax, at.by - at.ay, at.bz - at.az
    fx, fy, fz = at.cx - at.ax, at.cy - at.ay, at.cz - at.az
    wx, wy, wz = at.ax - ray.x, at.ay - ray.y, at.az - ray.z
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    per = 1.0 / (dx * nx + dy * ny + dz * nz)
    t = (wx * nx + wy * ny + wz * nz) * per
    a = wx * dx + wy * dy + wz * dz
    b, c = a + (ex * dx + ey * dy + ez * dz), a + (fx * dx + fy * dy + fz * dz)
    low, high = min(a, min(b, c)), max(a, max(b, c))
    t = t if t > low else low  # NaN becomes the nearest corner
    t = t if t < high else high
    u = (wx * (dy * fz - dz * fy) + wy * (dz * fx - dx * fz) + wz * (dx * fy - dy * fx)) * per
    v = (wx * (ey * dz - ez * dy) + wy * (ez * dx - ex * dz) + wz * (ex * dy - ey * dx)) * per
    u = u if u > 0.0 else 0.0
    v = v if v > 0.0 else 0.0
    return Meeting(t, u if u < 1.0 else 1.0, v if v < 1.0 else 1.0, nx, ny, nz)
