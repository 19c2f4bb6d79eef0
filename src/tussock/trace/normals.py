"""The surface normal of a hit, in the world.

Embree gives the geometric normal in the coordinates of the shape. A placement ``x_world = A x + b`` turns it
by the cofactors of A: for edges e, f of the triangle, (A e) × (A f) = cof(A) (e × f), which is right for any
scale, also a different one along each axis, and for mirrored copies.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.kernels import kernel

__all__ = ["world_normal"]


@kernel
def world_normal(m: Any, row: Any, steps: Any, copies: Any, ray_time: Any, nx: Any, ny: Any, nz: Any) -> Any:
    """The normal (not of unit length) of a hit on the copy whose transform is row ``row`` of ``m``.

    Where the copy moves there are ``steps`` time steps, ``copies`` rows apart; ``ray_time`` is in [0, 1].
    """
    if steps == 1:
        ax, ay, az = m[row, 0], m[row, 1], m[row, 2]
        bx, by, bz = m[row, 3], m[row, 4], m[row, 5]
        cx, cy, cz = m[row, 6], m[row, 7], m[row, 8]
    else:
        # Embree moves the matrix itself in a straight line between two time steps.
        place = ray_time * np.float32(steps - 1)
        low = min(int(place), steps - 2)
        share = place - np.float32(low)
        rest = np.float32(1.0) - share
        p = row + low * copies
        q = p + copies
        ax, ay, az = (
            rest * m[p, 0] + share * m[q, 0],
            rest * m[p, 1] + share * m[q, 1],
            rest * m[p, 2] + share * m[q, 2],
        )
        bx, by, bz = (
            rest * m[p, 3] + share * m[q, 3],
            rest * m[p, 4] + share * m[q, 4],
            rest * m[p, 5] + share * m[q, 5],
        )
        cx, cy, cz = (
            rest * m[p, 6] + share * m[q, 6],
            rest * m[p, 7] + share * m[q, 7],
            rest * m[p, 8] + share * m[q, 8],
        )
    # The columns of cof(A) are b×c, c×a, a×b; a mirrored copy (det A < 0) would turn the outside in.
    ux, uy, uz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    side = np.float32(1.0) if ax * ux + ay * uy + az * uz > np.float32(0.0) else np.float32(-1.0)
    return (
        side * (nx * ux + ny * (cy * az - cz * ay) + nz * (ay * bz - az * by)),
        side * (nx * uy + ny * (cz * ax - cx * az) + nz * (az * bx - ax * bz)),
        side * (nx * uz + ny * (cx * ay - cy * ax) + nz * (ax * by - ay * bx)),
    )
