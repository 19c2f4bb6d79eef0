"""Where a ray meets a triangle of the trees: by the arithmetic that Embree's hits go through as well, in double precision."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tussock.kernels import Array, Real, Whole, inline_kernel
from tussock.trace.cuda.bending import bent_corners
from tussock.trace.hit_tables import HitTables
from tussock.trace.placed_copies import apply_transform, mirrored_side, transform_of
from tussock.trace.ray import Ray
from tussock.trace.triangles import Corners, Meeting, meet_triangle

__all__ = ["InWorld", "Named", "exact_ray", "in_world", "meet_named", "triangle_at"]


class Named(NamedTuple):
    """A triangle of the trees by the numbers of the world."""

    geometry: Whole
    copy: Whole
    primitive: Whole
    triangle: Whole
    """row of `Trees.triangles`"""


class InWorld(NamedTuple):
    """A triangle where it is."""

    at: Corners
    side: Real
    """−1 for a mirrored copy"""


@inline_kernel
def triangle_at(triangles: Array, k: Whole) -> Corners:
    """A row of `Trees.triangles`, in double precision."""
    m = triangles
    return Corners(
        np.float64(m[k, 0]), np.float64(m[k, 1]), np.float64(m[k, 2]), np.float64(m[k, 3]), np.float64(m[k, 4]),
        np.float64(m[k, 5]), np.float64(m[k, 6]), np.float64(m[k, 7]), np.float64(m[k, 8]),
    )  # fmt: skip


@inline_kernel
def in_world(tables: HitTables, named: Named, time: Real, at: Corners) -> InWorld:
    """A triangle of a shape where its copy is at a ray's time."""
    side = 1.0
    if tables.placed.first[named.geometry] >= 0:
        at = bent_corners(tables, named.geometry, named.copy, named.primitive, time, at)
        turn = transform_of(tables.placed, named.geometry, named.copy, time)
        ax, ay, az = apply_transform(turn, at.ax, at.ay, at.az)
        bx, by, bz = apply_transform(turn, at.bx, at.by, at.bz)
        cx, cy, cz = apply_transform(turn, at.cx, at.cy, at.cz)
        at = Corners(ax, ay, az, bx, by, bz, cx, cy, cz)
        side = mirrored_side(turn)
    return InWorld(at, side)


@inline_kernel
def exact_ray(x: Real, y: Real, z: Real, dx: Real, dy: Real, dz: Real) -> Ray:
    """A ray in double precision, without its ends."""
    return Ray(
        np.float64(x), np.float64(y), np.float64(z), np.float64(dx), np.float64(dy), np.float64(dz), 0.0, 0.0, 0.0
    )


@inline_kernel
def meet_named(triangles: Array, tables: HitTables, named: Named, ray: Ray) -> Meeting:
    """Where a ray, in double precision but for its time, meets a triangle where it is."""
    whole = in_world(tables, named, ray.time, triangle_at(triangles, named.triangle))
    return meet_triangle(exact_ray(ray.x, ray.y, ray.z, ray.dx, ray.dy, ray.dz), whole.at)
