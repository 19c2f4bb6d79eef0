"""The surface normal of a hit, in the world.

Embree gives the geometric normal in the coordinates of the shape. A placement ``x_world = A x + b`` turns it
by the cofactors of A: for edges e, f of the triangle, (A e) × (A f) = cof(A) (e × f), which is right for any
scale, also a different one along each axis, and for mirrored copies.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import Real, Whole, inline_kernel

__all__ = ["PlacedCopies", "world_normal"]


class PlacedCopies(NamedTuple):
    """Where the copies of every geometry are: column-major 3×4 transforms. A geometry is a row of the first three."""

    first: NDArray[np.int64]
    """first row in ``standing``, or in ``moving`` if it moves; −1 where it is in world coordinates already"""
    steps: NDArray[np.int32]
    """time steps of its transforms, 1 for what stands"""
    copies: NDArray[np.int32]
    """placements, the rows of one time step"""
    standing: NDArray[np.float32]
    """transforms of what stands, shape (n, 12)"""
    moving: NDArray[np.float32]
    """those of what moves, for one span of time, shape (m, 12)"""


@inline_kernel
def world_normal(
    placed: PlacedCopies, geometry: Whole, copy: Whole, ray_time: Real, nx: Real, ny: Real, nz: Real
) -> tuple[Real, Real, Real]:
    """The normal (not of unit length) of a hit on a copy of a geometry, at ``ray_time`` in [0, 1]."""
    standing, moving = placed.standing, placed.moving
    row: Whole = placed.first[geometry] + copy
    steps: Whole = placed.steps[geometry]
    copies: Whole = placed.copies[geometry]
    if steps == 1:
        ax, ay, az = standing[row, 0], standing[row, 1], standing[row, 2]
        bx, by, bz = standing[row, 3], standing[row, 4], standing[row, 5]
        cx, cy, cz = standing[row, 6], standing[row, 7], standing[row, 8]
    else:
        # Embree moves the matrix itself in a straight line between two time steps.
        place = ray_time * np.float32(steps - 1)
        low = min(int(place), steps - 2)
        share = place - np.float32(low)
        rest = np.float32(1.0) - share
        p = row + low * copies
        q = p + copies
        ax, ay, az = (
            rest * moving[p, 0] + share * moving[q, 0],
            rest * moving[p, 1] + share * moving[q, 1],
            rest * moving[p, 2] + share * moving[q, 2],
        )
        bx, by, bz = (
            rest * moving[p, 3] + share * moving[q, 3],
            rest * moving[p, 4] + share * moving[q, 4],
            rest * moving[p, 5] + share * moving[q, 5],
        )
        cx, cy, cz = (
            rest * moving[p, 6] + share * moving[q, 6],
            rest * moving[p, 7] + share * moving[q, 7],
            rest * moving[p, 8] + share * moving[q, 8],
        )
    # The columns of cof(A) are b×c, c×a, a×b; a mirrored copy (det A < 0) would turn the outside in.
    ux, uy, uz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    side = np.float32(1.0) if ax * ux + ay * uy + az * uz > np.float32(0.0) else np.float32(-1.0)
    return (
        side * (nx * ux + ny * (cy * az - cz * ay) + nz * (ay * bz - az * by)),
        side * (nx * uy + ny * (cz * ax - cx * az) + nz * (az * bx - ax * bz)),
        side * (nx * uz + ny * (cx * ay - cy * ax) + nz * (ax * by - ay * bx)),
    )
