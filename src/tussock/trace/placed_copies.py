"""Where the copies of a shape are, for kernels: the transform ``x_world = A x + b`` of a copy at a ray's own time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tussock.kernels import Array, Real, Whole, fetch, inline_kernel
from tussock.trace.normals import PlacedCopies

__all__ = ["Transform", "apply_transform", "fetch_copy", "mirrored_side", "transform_of"]


class Transform(NamedTuple):
    """The columns of A, where the shape's own x, y and z point, and b; in double precision."""

    ux: Real
    uy: Real
    uz: Real
    vx: Real
    vy: Real
    vz: Real
    wx: Real
    wy: Real
    wz: Real
    x: Real
    """[m]"""
    y: Real
    z: Real


@inline_kernel
def transform_of(placed: PlacedCopies, geometry: Whole, copy: Whole, ray_time: Real) -> Transform:
    """The transform of a copy of a geometry at ``ray_time`` in [0, 1]."""
    row: Whole = placed.first[geometry] + copy
    steps: Whole = placed.steps[geometry]
    if steps == 1:
        return _row(placed.standing, row)
    # Embree moves the matrix itself in a straight line between two time steps.
    place = np.float64(ray_time) * (steps - 1)
    low = min(int(place), steps - 2)
    row += low * placed.copies[geometry]
    return _mixed(placed.moving, row, row + placed.copies[geometry], place - low)


@inline_kernel
def fetch_copy(placed: PlacedCopies, geometry: Whole, copy: Whole) -> None:
    """Ask for the transform of a copy of a geometry that stands, before `transform_of` reads it."""
    row = placed.first[geometry] + copy
    begin = np.uint64(placed.standing.ctypes.data) + np.uint64(48) * np.uint64(row)
    fetch(begin)
    fetch(begin + np.uint64(47))


@inline_kernel
def _row(table: Array, p: Whole) -> Transform:
    return Transform(
        np.float64(table[p, 0]), np.float64(table[p, 1]), np.float64(table[p, 2]), np.float64(table[p, 3]),
        np.float64(table[p, 4]), np.float64(table[p, 5]), np.float64(table[p, 6]), np.float64(table[p, 7]),
        np.float64(table[p, 8]), np.float64(table[p, 9]), np.float64(table[p, 10]), np.float64(table[p, 11]),
    )  # fmt: skip


@inline_kernel
def _mixed(table: Array, p: Whole, q: Whole, share: Real) -> Transform:
    """A row of the table, with a ``share`` of another one."""
    rest = 1.0 - share
    return Transform(
        rest * table[p, 0] + share * table[q, 0], rest * table[p, 1] + share * table[q, 1],
        rest * table[p, 2] + share * table[q, 2], rest * table[p, 3] + share * table[q, 3],
        rest * table[p, 4] + share * table[q, 4], rest * table[p, 5] + share * table[q, 5],
        rest * table[p, 6] + share * table[q, 6], rest * table[p, 7] + share * table[q, 7],
        rest * table[p, 8] + share * table[q, 8], rest * table[p, 9] + share * table[q, 9],
        rest * table[p, 10] + share * table[q, 10], rest * table[p, 11] + share * table[q, 11],
    )  # fmt: skip


@inline_kernel
def apply_transform(m: Transform, x: Real, y: Real, z: Real) -> tuple[Real, Real, Real]:
    """A point of the shape in the world [m]."""
    return (
        m.ux * x + m.vx * y + m.wx * z + m.x,
        m.uy * x + m.vy * y + m.wy * z + m.y,
        m.uz * x + m.vz * y + m.wz * z + m.z,
    )


@inline_kernel
def mirrored_side(m: Transform) -> Real:
    """−1 for a mirrored copy (det A < 0), whose outside would turn in, else 1."""
    x, y, z = m.vy * m.wz - m.vz * m.wy, m.vz * m.wx - m.vx * m.wz, m.vx * m.wy - m.vy * m.wx
    return 1.0 if m.ux * x + m.uy * y + m.uz * z > 0.0 else -1.0
