"""A ray and what it met, as numbers of our own: what the physics is written in, whoever traces.

Embree's packets are one driver's way to trace many rays at once (`tussock.trace.packets`); another machine has its
own. Both hand over the same two tuples.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tussock.kernels import Array, Real, Whole, inline_kernel

__all__ = ["LIFT", "SKIN", "Hit", "Ray", "levelled", "lift_at", "ray_in_row", "skin_at"]

SKIN = np.float32(1e-4)
"""[m] a ray starts this far out along its way, so that a sensor may touch a surface and a ray leaves the one it is on"""
LIFT = np.float32(1e-3)
"""[m] a ray towards the light starts this far above its surface: coarse normals would shade themselves"""
_STEP = np.float32(5e-7)
"""four steps of single precision, as a share of a coordinate: how far off its surface a hit may lie"""
_GRAZING = np.float32(1e-3)
_LEVEL = np.float32(1e-18)


class Ray(NamedTuple):
    """A half-line with two ends, in the tracer's coordinates."""

    x: Real
    """[m] where it starts"""
    y: Real
    z: Real
    dx: Real
    """unit direction"""
    dy: Real
    dz: Real
    near: Real
    """[m] from the start: nothing nearer is met"""
    far: Real
    """[m] from the start: nothing further is met"""
    time: Real
    """moment within the frame, 0 to 1"""


class Hit(NamedTuple):
    """What a ray met first."""

    distance: Real
    """[m] from the start of the ray; where nothing was met, its far end"""
    nx: Real
    """normal in the world, of any length; 0 where nothing was met"""
    ny: Real
    nz: Real
    u: Real
    """place on the triangle: shares of its second and its third corner"""
    v: Real
    geometry: Whole
    """row of the hit tables"""
    primitive: Whole
    """triangle, or volume"""
    copy: Whole
    """which placement"""
    material: Whole
    """−1 where nothing was met"""


@inline_kernel
def levelled(component: Real) -> Real:
    """A component of a direction as Embree is to have it: 0 where it is next to nothing.

    Below 1e-18 Embree's inverse is that of a positive number, but which side of a box a ray enters by goes by the sign: with
    AVX-512, rays that are said to be close together then pass by what is in their way.
    """
    return component if abs(component) >= _LEVEL else np.float32(0.0)


@inline_kernel
def skin_at(size: Real, cosine: Real) -> Real:
    """[m] what a ray leaves out that goes on from a surface whose coordinates are of a ``size`` [m] along its normal.

    Far from zero a hit lies off its surface by steps of single precision, and a ray at a small ``cosine`` to the normal
    needs long to come free of them: `SKIN`, or more where that is more.
    """
    return max(SKIN, _STEP * size / max(abs(cosine), _GRAZING))


@inline_kernel
def lift_at(x: Real, y: Real, z: Real) -> Real:
    """[m] `LIFT`, or more far from zero."""
    return max(LIFT, _STEP * max(abs(x), max(abs(y), abs(z))))


@inline_kernel
def ray_in_row(origins: Array, directions: Array, row: int, far: Real) -> Ray:
    """The ray in a row of two tables (n, 3), from its start to ``far`` [m]."""
    return Ray(
        origins[row, 0], origins[row, 1], origins[row, 2], directions[row, 0], directions[row, 1], directions[row, 2],
        0.0, far, 0.0,
    )  # fmt: skip
