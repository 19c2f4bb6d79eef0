"""Rays that go on: mirrors turn them back, glass lets them through and bends them.

Reflection: d' = d − 2(d·n)n. Refraction by Snell's law, n₁ sin θ₁ = n₂ sin θ₂; where sin θ₂ would pass 1 the ray
is totally reflected inside. The sensor knows nothing of either: the point appears straight ahead at the whole
optical path, the sum of lengths times refractive index, a virtual object behind the mirror.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tussock.kernels import inline_kernel

__all__ = ["reflected", "refracted"]


@inline_kernel
def reflected(dx: Any, dy: Any, dz: Any, nx: Any, ny: Any, nz: Any) -> Any:
    """Direction after a mirror with the unit normal n."""
    twice = np.float32(2.0) * (dx * nx + dy * ny + dz * nz)
    return dx - twice * nx, dy - twice * ny, dz - twice * nz


@inline_kernel
def refracted(dx: Any, dy: Any, dz: Any, nx: Any, ny: Any, nz: Any, ratio: Any) -> Any:
    """Direction after a surface with the unit normal n, ``ratio`` = n₁/n₂, and whether the ray passed at all."""
    cosine = dx * nx + dy * ny + dz * nz
    if cosine > np.float32(0.0):  # the normal shall look back at the ray
        nx, ny, nz, cosine = -nx, -ny, -nz, -cosine
    sine2 = ratio * ratio * (np.float32(1.0) - cosine * cosine)
    if sine2 > np.float32(1.0):
        rx, ry, rz = reflected(dx, dy, dz, nx, ny, nz)
        return rx, ry, rz, False
    push = -ratio * cosine - np.float32(math.sqrt(np.float32(1.0) - sine2))
    return ratio * dx + push * nx, ratio * dy + push * ny, ratio * dz + push * nz, True
