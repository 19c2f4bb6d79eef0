"""Where the copies of a shape are, for kernels: the transform ``x_world = A x + b`` of a copy at a ray's own time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tussock.kernels import Array, Real, Whole, inline_kernel
from tussock.trace.normals import PlacedCopies

__all__ = ["Transform", "apply_transform", "mirrored_side", "transform_of"]


class Transform(NamedTuple):
    """The columns of A and b, in double precision."""

    ax: Real
    ay: Real
    az: Real
    bx: Real
    by: Real
    bz: Real
    cx: Real
    cy: Real
    cz: Real
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
        return _mixed(placed.standing, row, row, 0.0)
    # Embree moves the matrix itself in a straight line between two time steps.
    place = np.float64(ray_time) * (steps - 1)
    low = min(int(place), steps - 2)
    row += low * placed.copies[geometry]
    return _mixed(placed.moving, row, row + placed.copies[geometry], place - low)


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
        m.ax * x + m.bx * y + m.cx * z + m.x,
        m.ay * x + m.by * y + m.cy * z + m.y,
        m.az * x + m.bz * y + m.cz * z + m.z,
    )


@inline_kernel
def mirrored_side(m: Transform) -> Real:
    """−1 for a mirrored copy (det A < 0), whose outside would turn in, else 1."""
    ux, uy, uz = m.by * m.cz - m.bz * m.cy, m.bz * m.cx - m.bx * m.cz, m.bx * m.cy - m.by * m.cx
    return 1.0 if m.ax * ux + m.ay * uy + m.az * uz > 0.0 else -1.0
