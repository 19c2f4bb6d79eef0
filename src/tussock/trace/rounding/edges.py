"""Rays that pass within rounding of an edge of a triangle: what they meet there our own arithmetic decides.

Embree names the triangle that a ray meets. It computes in single precision, with fused products or without: within the
rounding of an edge one set of instructions finds one of two neighbours and another the other, or meets a blade of grass
that another misses. In a band along edges its word is therefore not taken:

- Where the surface goes on beyond the edge, the triangle is the one on whose side the ray passes.
- Where it does not (a border, or a fold whose two triangles lie on the same side as the ray sees it), the surface
  ends a band's width before the edge. All sets of instructions meet the rest of it; what they find in the band is not
  taken, and the ray goes on.

Blades and leaves that no ray must be kept out of are traced by Embree's fast test, which may miss both triangles at an edge
(`tussock.trace.watertight`): there every edge counts as a border.

A closed surface stays closed: from inside it goes on beyond every edge, and at a fold both triangles end alike. What would
not be safe is left to Embree: edges that more than two triangles share, folds right beside another edge (the crest
of a hill in front of the next slope), and the borders of floors and walls, where another one may begin.

The width of the band. With γ = 2⁻²⁴ Embree rounds the place of a ray, seen from the copy of a shape at b, by some γ(|o| + |b|),
and its direction by γ, which is γ|c − o| at a corner c. Of a triangle with the corners a, b, c it computes (a − o) · (e × d) for
an edge e; each product is rounded by γ|c − o||e|, which moves the edge across the ray by γ|c − o|. So the band is

    ε = k γ (|o| + |b| + |a − o| + |b − a| + |c − a|),

sums of absolute coordinates; |o| and |b| for copies alone, as shapes that are placed once are in the tracer's coordinates already.
Of 16 million rays, those that differed passed within 0.7 of that sum with k = 1 and lengths in place of sums of coordinates, which
are half as long again; so k = 1: 1 µm at 20 m, and 3 µm for copies.

Where two surfaces cross, which one is in front is said by `tussock.trace.rounding.ties`; where the wind bends plants, all is Embree's word.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tussock.kernels import Real, inline_kernel
from tussock.trace.ray import Ray
from tussock.trace.triangles import Corners

__all__ = ["Edge", "band_of", "edge_of", "ends_here", "is_beyond", "is_thin", "nears_edge", "third_corner"]

_ROUNDING = 2.0**-24
"""k γ"""
_NARROW = 8.0
"""bands, twice as far as a ray steps over what it passes by"""


class Edge(NamedTuple):
    """An edge of a triangle as a ray sees it, with the same numbers from either side."""

    ray: Real
    """[m] how far to the left of the edge the ray passes, times ``length``"""
    corner: Real
    """the same of the triangle's third corner"""
    length: Real
    """of e × d, e the edge and d the ray's direction"""


@inline_kernel
def band_of(ray: Ray, at: Corners, reach: Real) -> Real:
    """[m] width of the band along the edges of a triangle; ``reach``: |o| + |b|, 0 for shapes that are no copies."""
    offset = abs(at.ax - ray.x) + abs(at.ay - ray.y) + abs(at.az - ray.z)
    first = abs(at.bx - at.ax) + abs(at.by - at.ay) + abs(at.bz - at.az)
    second = abs(at.cx - at.ax) + abs(at.cy - at.ay) + abs(at.cz - at.az)
    return _ROUNDING * (reach + offset + first + second)


@inline_kernel
def nears_edge(ray: Ray, at: Corners, reach: Real) -> bool:
    """Whether a ray passes in the band along an edge of a triangle, or outside the triangle; all numbers float64.

    The terms are those of `tussock.trace.triangles.meet_triangle`.
    """
    dx, dy, dz = ray.dx, ray.dy, ray.dz
    ex, ey, ez = at.bx - at.ax, at.by - at.ay, at.bz - at.az
    fx, fy, fz = at.cx - at.ax, at.cy - at.ay, at.cz - at.az
    wx, wy, wz = at.ax - ray.x, at.ay - ray.y, at.az - ray.z
    nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
    det = dx * nx + dy * ny + dz * nz
    px, py, pz = dy * fz - dz * fy, dz * fx - dx * fz, dx * fy - dy * fx
    qx, qy, qz = ey * dz - ez * dy, ez * dx - ex * dz, ex * dy - ey * dx
    rx, ry, rz = px + qx, py + qy, pz + qz
    u, v = wx * px + wy * py + wz * pz, wx * qx + wy * qy + wz * qz
    side = 1.0 if det > 0.0 else -1.0
    u, v, w = side * u, side * v, side * (det - u - v)
    band = band_of(ray, at, reach)
    band *= band
    inside = (u > 0.0) & (v > 0.0) & (w > 0.0)
    inside &= u * u > band * (px * px + py * py + pz * pz)
    inside &= v * v > band * (qx * qx + qy * qy + qz * qz)
    inside &= w * w > band * (rx * rx + ry * ry + rz * rz)
    return not inside


@inline_kernel
def third_corner(at: Corners, edge: int) -> tuple[Real, Real, Real]:
    """The corner that is no end of an edge; edges are ab, bc and ca."""
    if edge == 0:
        return at.cx, at.cy, at.cz
    if edge == 1:
        return at.ax, at.ay, at.az
    return at.bx, at.by, at.bz


@inline_kernel
def edge_of(ray: Ray, at: Corners, edge: int, corner: tuple[Real, Real, Real]) -> Edge:
    """An edge of a triangle as a ray sees it, and on which side of it a corner is."""
    px, py, pz = third_corner(at, (edge + 1) % 3)
    qx, qy, qz = third_corner(at, (edge + 2) % 3)
    if qx < px or (qx == px and (qy < py or (qy == py and qz < pz))):  # in an order that is the neighbour's as well
        px, py, pz, qx, qy, qz = qx, qy, qz, px, py, pz
    ex, ey, ez = qx - px, qy - py, qz - pz
    mx, my, mz = ey * ray.dz - ez * ray.dy, ez * ray.dx - ex * ray.dz, ex * ray.dy - ey * ray.dx
    passing = (ray.x - px) * mx + (ray.y - py) * my + (ray.z - pz) * mz
    side = (corner[0] - px) * mx + (corner[1] - py) * my + (corner[2] - pz) * mz
    return Edge(passing, side, np.sqrt(mx * mx + my * my + mz * mz))


@inline_kernel
def is_beyond(edge: Edge) -> bool:
    """Whether the ray passes on the other side of the edge than the corner; right on the edge it is on the left."""
    left = edge.ray >= 0.0
    return left != (edge.corner > 0.0)


@inline_kernel
def ends_here(edge: Edge, band: Real) -> bool:
    """Whether the ray passes beyond the edge or in the band before it, where the surface does not go on."""
    inward = edge.ray if edge.corner > 0.0 else -edge.ray
    return not inward > band * edge.length


@inline_kernel
def is_thin(ray: Ray, at: Corners, edge: int, band: Real) -> bool:
    """Whether a triangle that is folded back at an edge is narrow there as the ray sees it: what is beyond it may go on."""
    narrow = False
    for i in range(1, 3):
        other = edge_of(ray, at, (edge + i) % 3, third_corner(at, (edge + i) % 3))
        narrow |= abs(other.ray) < _NARROW * band * other.length
    return narrow
