"""Where a ray meets a triangle, by arithmetic of our own in a fixed order: the same bits on every processor.

Embree names the triangle. Its distance, its place on the triangle and the triangle's normal come out of approximate
reciprocals and fused products that differ from one set of instructions to the next, so they are computed again here,
in double precision. With the corners a, b, c, e = b − a, f = c − a, n = e × f and w = a − o, the ray o + t·d meets the
triangle's plane where

    t = w·n / d·n

A ray along the plane has d·n = 0, and one that grazes it meets the plane far outside the triangle for the least
rounding in o: t is kept between the nearest and the furthest corner along the ray.

On which side of an edge the ray passes says the triple product of its direction and the edge's two ends as seen from its
start, d·((a − o) × (b − o)). For the triangle on the other side of the edge, which has its ends in the other order, it
is the same number with the other sign, to the last bit: a ray passes inside one of the two, or inside both where it is
exactly 0, and never between them. The three numbers of a triangle are its corners' shares of the place that is met.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import Real, Whole, float32_at, inline_kernel, uint32_at
from tussock.trace.ray import Ray

__all__ = ["Corners", "Meeting", "Triangles", "corners_of", "meet_triangle"]


_NEAR_EDGE = 2.0**-22
"""of the distance: two steps of single precision"""


class Triangles(NamedTuple):
    """Where the triangles of every geometry lie in memory, which Embree reads too; 0 where it has none."""

    vertices: NDArray[np.uint64]
    """address of float32 coordinates (n, 3)"""
    indices: NDArray[np.uint64]
    """address of uint32 corners (m, 3)"""
    corners: NDArray[np.uint64]
    """address of float32 coordinates (m, 9), triangle by triangle: found with one look where the other two take four; 0 for
    shapes that are too large to be kept twice"""


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
    inside: bool
    """whether the ray passes inside the triangle, or on an edge of it"""
    clear: bool
    """whether it passes inside by more than rounding errors of single precision at that distance"""


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
    gx, gy, gz = at.bx - ray.x, at.by - ray.y, at.bz - ray.z
    hx, hy, hz = at.cx - ray.x, at.cy - ray.y, at.cz - ray.z
    ab = dx * (wy * gz - wz * gy) + dy * (wz * gx - wx * gz) + dz * (wx * gy - wy * gx)
    bc = dx * (gy * hz - gz * hy) + dy * (gz * hx - gx * hz) + dz * (gx * hy - gy * hx)
    ca = dx * (hy * wz - hz * wy) + dy * (hz * wx - hx * wz) + dz * (hx * wy - hy * wx)
    least, most = min(ab, min(bc, ca)), max(ab, max(bc, ca))
    inside = ((least >= 0.0) & (most > 0.0)) | ((most <= 0.0) & (least < 0.0))
    # The product is at most the edge's length times how far the ray passes from it.
    near, kx, ky, kz = _NEAR_EDGE * t, fx - ex, fy - ey, fz - ez
    room = near * near
    clear = (
        inside
        & (ab * ab > room * (ex * ex + ey * ey + ez * ez))
        & (ca * ca > room * (fx * fx + fy * fy + fz * fz))
        & (bc * bc > room * (kx * kx + ky * ky + kz * kz))
    )
    share = 1.0 / (ab + bc + ca)
    u, v = ca * share, ab * share
    u = u if u > 0.0 else 0.0
    v = v if v > 0.0 else 0.0
    return Meeting(t, u if u < 1.0 else 1.0, v if v < 1.0 else 1.0, nx, ny, nz, inside, clear)
