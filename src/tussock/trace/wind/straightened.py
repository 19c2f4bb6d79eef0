"""A ray that goes at a bent plant, as straight pieces through the plant upright: plain arithmetic on numbers.

Whoever traces it: Embree's callbacks sixteen at a time (`tussock.trace.wind.sway_geometry`, which says how far pieces leave the curve),
or a thread of a graphics processor for one (`tussock.trace.cuda.bending`). In single precision, and where a loop over lanes is to do them
all at once, without branches.

What a ray met before at another plant decides whether a piece is looked at and how far, not where it runs: plants are asked in whatever
order, and a ray has the same pieces in each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tussock.kernels import Real, inline_kernel
from tussock.trace.ray import Ray
from tussock.trace.wind.sway import Tip

__all__ = [
    "MARGIN", "PIECES", "Plant", "Upright", "begin_of", "curve", "least", "line", "most", "not_zero", "on_parabola",
    "pieces_of", "share_of", "straightened", "upright",
]  # fmt: skip

_NONE, _HALF, _ONE, _FOUR, _SIX, _THIRD = (np.float32(value) for value in (0.0, 0.5, 1.0, 4.0, 6.0, 1.0 / 3.0))
_TINY = np.float32(1e-12)
_STEEP = np.float32(0.27)
PIECES = 3
_SHORT = np.float32(1e-3)
"""[m] pieces of a ray are not shorter: single precision would lose their direction"""
MARGIN = np.float32(1e-4)
"""[m] of boxes, for rounding"""


class Plant(NamedTuple):
    """A copy that sways, in numbers that no array that is written to could overlap."""

    back: tuple[Real, ...]
    """world to shape: the rows of A⁻¹, then b"""
    low: tuple[Real, Real, Real]
    """lowest corner of the shape standing, and its highest, a little wider; that above the root"""
    high: tuple[Real, Real, Real]
    base: Real
    """[m] height of the root"""
    per_height: Real
    """[1/m] of the height above it"""


class Upright(NamedTuple):
    """A ray as the shape of a plant is asked."""

    ray: Ray
    """in the coordinates of the shape, as much of it as is in the plant's box, be it as long as it may; it begins beyond its end
    where it misses; a metre along it is one along the ray in the world"""
    rise: Real
    """s(1 − z) there"""
    per_tall: Real
    """one over what is left of the height"""


@inline_kernel
def on_parabola(a: Real, b: Real, c: Real, at: Real) -> Real:
    """The parabola through three numbers at 0, 1 and 2."""
    second = curve(a, b, c)
    return a + at * (b - a - second + at * second)


@inline_kernel
def curve(a: Real, b: Real, c: Real) -> Real:
    """Half the second difference of three numbers."""
    return _HALF * (a - b - b + c)


@inline_kernel
def upright(plant: Plant, ray: Ray, tip: Tip) -> Upright:
    """A ray as the shape of a plant is asked whose tip is at ``tip`` then."""
    m, low, high, base = plant.back, plant.low, plant.high, plant.base
    gx, gy, gz = ray.x - m[9], ray.y - m[10], ray.z - m[11]
    hx, hy, hz = ray.dx, ray.dy, ray.dz
    x, dx = m[0] * gx + m[1] * gy + m[2] * gz, m[0] * hx + m[1] * hy + m[2] * hz
    y, dy = m[3] * gx + m[4] * gy + m[5] * gz, m[3] * hx + m[4] * hy + m[5] * hz
    z, dz = m[6] * gx + m[7] * gy + m[8] * gz, m[6] * hx + m[7] * hy + m[8] * hz
    per_x, per_y, per_z = _ONE / not_zero(dx), _ONE / not_zero(dy), _ONE / not_zero(dz)
    x0 = (low[0] + least(tip.x, _NONE) - x) * per_x
    x1 = (high[0] + most(tip.x, _NONE) - x) * per_x
    y0 = (low[1] + least(tip.y, _NONE) - y) * per_y
    y1 = (high[1] + most(tip.y, _NONE) - y) * per_y
    z0, z1 = (low[2] - z) * per_z, (base + high[2] * tip.tall + MARGIN - z) * per_z
    near = most(ray.near, most(most(least(x0, x1), least(y0, y1)), least(z0, z1)))
    far = least(least(most(x0, x1), most(y0, y1)), most(z0, z1))  # not ray.far, which says what was met so far
    # What is left of the height only matters to pieces from here on, by its reciprocal.
    per_tall = _ONE / tip.tall
    share = per_tall * plant.per_height
    lowest = (least(z + near * dz, z + far * dz) - base) * share
    rise = abs(dz) * (far - near) * share * least(_ONE - lowest, _ONE)
    return Upright(Ray(x, y, z, dx, dy, dz, near, far, ray.time), rise, per_tall)


@inline_kernel
def pieces_of(rise: Real) -> int:
    """In how many pieces a ray goes on that rises so far."""
    return 1 if rise <= _STEEP else (2 if rise <= _STEEP + _STEEP else PIECES)


@inline_kernel
def share_of(pieces: int) -> Real:
    """What one of so many pieces is of the whole."""
    return _ONE if pieces == 1 else (_HALF if pieces == 2 else _THIRD)


@inline_kernel
def begin_of(begin: Real, end: Real, share: Real, piece: Real) -> Real:
    """Where along the ray a piece begins that is a ``share`` of a part of it."""
    return begin + np.float32(piece) * ((end - begin) * share)


@inline_kernel
def straightened(plant: Plant, made: Upright, tip_x: Real, tip_y: Real, share: Real, piece: int) -> Ray:
    """A straight ray through where a piece of a ray, a ``share`` of it, begins and ends in the plant upright.

    It would start where it does, were it straight from there, and has the same distances; the piece is what counts of it.
    """
    base, per_height, per_tall, ray = plant.base, plant.per_height, made.per_tall, made.ray
    step = (ray.far - ray.near) * share
    near = begin_of(ray.near, ray.far, share, piece)
    length = most(step, _SHORT)
    far = near + length
    x, y, z, dx, dy, dz = ray.x, ray.y, ray.z, ray.dx, ray.dy, ray.dz
    up_a, up_b = z + near * dz - base, z + far * dz - base
    up_a, up_b = up_a * (per_tall if up_a > _NONE else _ONE), up_b * (per_tall if up_b > _NONE else _ONE)
    way_a, way_b = line(up_a * per_height), line(up_b * per_height)
    a_x, a_y = x + near * dx - way_a * tip_x, y + near * dy - way_a * tip_y
    b_x, b_y = x + far * dx - way_b * tip_x, y + far * dy - way_b * tip_y
    per = _ONE / length
    dx, dy, dz = (b_x - a_x) * per, (b_y - a_y) * per, (up_b - up_a) * per
    return Ray(a_x - near * dx, a_y - near * dy, base + up_a - near * dz, dx, dy, dz, near, near + step, ray.time)


@inline_kernel
def line(share: Real) -> Real:
    """ψ of a share of the height, in single precision."""
    at = least(most(share, _NONE), _ONE)
    return at * at * (_SIX - at * (_FOUR - at)) * _THIRD


@inline_kernel
def not_zero(value: Real) -> Real:
    return value if abs(value) > _TINY else _TINY


@inline_kernel
def least(a: Real, b: Real) -> Real:
    return a if a < b else b


@inline_kernel
def most(a: Real, b: Real) -> Real:
    return a if a > b else b
