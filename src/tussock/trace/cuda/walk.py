"""One ray through two levels of trees: plain arithmetic on numbers, for a thread of a graphics processor.

Upstairs the tree over placements, in the tracer's coordinates; at a placement the ray is taken into the coordinates of
the shape, where its length is the same, and goes on downstairs through the shape's own tree. The nearer child first,
the other one waits on the stack.

A triangle is met as Woop, Benthin and Wald have it ("Watertight ray/triangle intersection", 2013): the corners are
sheared so that the ray runs along an axis, and the signs of three products say whether it passes inside. A corner has
the same sheared place in every triangle that it belongs to, so no ray slips between them. A box is met by its slabs; leaving is put a little later (Ize, "Robust BVH ray
traversal", 2013), so that rounding loses none. A direction of exactly 0 along an axis is taken for next to nothing: its
inverse stays a number, and a ray in the plane of a box's side is inside.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import Array, Real, Whole, inline_kernel, loop_kernel
from tussock.trace.ray import Ray

__all__ = ["STACK", "Met", "Trees", "four", "is_stopped", "nearest_hit"]

STACK = 128
"""nodes that may wait"""
_RETURN = -2147483648  # the mark under the nodes of a shape
_LATER = np.float32(1.0 + 8 * 2.0**-23)
_LEVEL = np.float32(1e-18)  # a direction below this counts as none
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


class Trees(NamedTuple):
    """Two levels of trees, for kernels; arrays in pairs are the same memory, as numbers and as whole numbers."""

    nodes: NDArray[np.float32]
    """see `tussock.trace.cuda.build`; the upper tree's root is the first, shape (n, 16)"""
    triangles: NDArray[np.float32]
    """three corners and the number in the mesh, shape (k, 12)"""
    triangle_ids: NDArray[np.int32]
    placements: NDArray[np.float32]
    """inverse of the turn, place [m]; root (~root: in place), geometry, copy and mask, shape (p, 16).
    Of what moves, the first three: first row in ``moving``, time steps, and rows from one step to the next"""
    placement_ids: NDArray[np.int32]
    moving: NDArray[np.float32]
    """transforms of what moves, column-major, shape (m, 12)"""

    @classmethod
    def of(
        cls, nodes: NDArray[np.float32], triangles: NDArray[np.float32], placements: NDArray[np.float32],
        moving: NDArray[np.float32],
    ) -> Trees:  # fmt: skip
        i4 = np.int32
        return cls(nodes, triangles, triangles.view(i4), placements, placements.view(i4), moving)


class Met(NamedTuple):
    """What a ray met, in the trees' own numbers."""

    distance: Real
    """[m]"""
    u: Real
    v: Real
    placement: Whole
    """−1 for nothing"""
    triangle: Whole


@inline_kernel
def nearest_hit(trees: Trees, ray: Ray, mask: Whole, stack: Array) -> Met:
    """The nearest triangle along a ray that shares a bit with ``mask``."""
    return _walk(trees, ray, mask, stack, False)


@inline_kernel
def is_stopped(trees: Trees, ray: Ray, mask: Whole, stack: Array) -> bool:
    """Whether anything is in the way of a ray."""
    return _walk(trees, ray, mask, stack, True).placement >= 0


@loop_kernel
def _walk(trees: Trees, ray: Ray, mask: Whole, stack: Array, any_hit: bool) -> Met:
    nodes, ids = trees.nodes, trees.placement_ids
    x, y, z = np.float32(ray.x), np.float32(ray.y), np.float32(ray.z)
    dx, dy, dz = np.float32(ray.dx), np.float32(ray.dy), np.float32(ray.dz)
    near, far = np.float32(ray.near), np.float32(ray.far)
    ix, iy, iz = _inverse(dx), _inverse(dy), _inverse(dz)
    sheared = _sheared(x, y, z, dx, dy, dz)
    u, v = _ZERO, _ZERO
    found, triangle, current = np.int32(-1), np.int32(-1), np.int32(-1)
    stack[0] = _RETURN
    height = 1
    link = np.int32(0)
    going = True
    while going:
        while link >= 0:
            low0, high0 = four(nodes, link, 0), four(nodes, link, 4)
            low1, high1 = four(nodes, link, 8), four(nodes, link, 12)
            enter0 = _enter(low0, high0, x, y, z, ix, iy, iz, near, far)
            enter1 = _enter(low1, high1, x, y, z, ix, iy, iz, near, far)
            link0, link1 = np.float32(low0[3]).view(np.int32), np.float32(high0[3]).view(np.int32)
            if enter0 <= far and enter1 <= far:
                if enter1 < enter0:
                    link0, link1 = link1, link0
                stack[height] = link1
                height += 1
                link = link0
            elif enter0 <= far:
                link = link0
            elif enter1 <= far:
                link = link1
            else:
                height -= 1
                link = stack[height]
        if link == _RETURN:
            if current < 0:
                going = False
            else:  # up again, into the tracer's coordinates
                current = np.int32(-1)
                x, y, z = np.float32(ray.x), np.float32(ray.y), np.float32(ray.z)
                dx, dy, dz = np.float32(ray.dx), np.float32(ray.dy), np.float32(ray.dz)
                ix, iy, iz = _inverse(dx), _inverse(dy), _inverse(dz)
                height -= 1
                link = stack[height]
        elif current < 0:
            placement = np.int32(~link >> 3)
            if np.int64(ids[placement, 15]) & np.int64(mask) & np.int64(0xFFFFFFFF) != 0:
                current = placement
                stack[height] = _RETURN
                height += 1
                link = ids[placement, 12]
                if link < 0:
                    link = np.int32(~link)
                else:
                    x, y, z, dx, dy, dz = _into_shape(trees, placement, ray)
                    ix, iy, iz = _inverse(dx), _inverse(dy), _inverse(dz)
                sheared = _sheared(x, y, z, dx, dy, dz)
            else:
                height -= 1
                link = stack[height]
        else:
            first, count = np.int32(~link >> 3), (~link & 7) + 1
            for k in range(first, first + count):
                t, tu, tv = _meet(trees.triangles, k, sheared)
                if near < t <= far:
                    far, u, v, found, triangle = t, tu, tv, current, np.int32(k)
            height -= 1
            link = stack[height]
            if any_hit and found >= 0:
                going = False
    return Met(far, u, v, found, triangle)


@inline_kernel
def _inverse(component: Real) -> Real:
    away = abs(component) >= _LEVEL
    return _ONE / component if away else _ONE / _LEVEL


@inline_kernel
def four(table: Array, row: Whole, column: int) -> tuple[Real, Real, Real, Real]:
    """Four numbers beside each other; a graphics processor takes them from memory at once."""
    return table[row, column], table[row, column + 1], table[row, column + 2], table[row, column + 3]


@inline_kernel
def _enter(
    low: tuple[Real, Real, Real, Real], high: tuple[Real, Real, Real, Real], x: Real, y: Real, z: Real, ix: Real,
    iy: Real, iz: Real, near: Real, far: Real,
) -> Real:  # fmt: skip
    """How far along the ray a box begins; infinity where the ray misses it."""
    x0, x1 = (low[0] - x) * ix, (high[0] - x) * ix
    y0, y1 = (low[1] - y) * iy, (high[1] - y) * iy
    z0, z1 = (low[2] - z) * iz, (high[2] - z) * iz
    enter = max(max(min(x0, x1), min(y0, y1)), max(min(z0, z1), near))
    leave = min(min(max(x0, x1), max(y0, y1)), min(max(z0, z1), far))
    return enter if enter <= leave * _LATER else np.float32(np.inf)


@inline_kernel
def _into_shape(trees: Trees, placement: Whole, ray: Ray) -> tuple[Real, Real, Real, Real, Real, Real]:
    """Start and direction of a ray in the coordinates of a placed shape."""
    if len(trees.moving) > 0:
        return _into_moving(trees, placement, ray)
    m = trees.placements
    # From the place first: the difference of two near numbers is exact.
    x, y, z = ray.x - m[placement, 9], ray.y - m[placement, 10], ray.z - m[placement, 11]
    return (
        m[placement, 0] * x + m[placement, 1] * y + m[placement, 2] * z,
        m[placement, 3] * x + m[placement, 4] * y + m[placement, 5] * z,
        m[placement, 6] * x + m[placement, 7] * y + m[placement, 8] * z,
        m[placement, 0] * ray.dx + m[placement, 1] * ray.dy + m[placement, 2] * ray.dz,
        m[placement, 3] * ray.dx + m[placement, 4] * ray.dy + m[placement, 5] * ray.dz,
        m[placement, 6] * ray.dx + m[placement, 7] * ray.dy + m[placement, 8] * ray.dz,
    )


@inline_kernel
def _into_moving(trees: Trees, placement: Whole, ray: Ray) -> tuple[Real, Real, Real, Real, Real, Real]:
    """The same where the shape moves: its matrix goes in a straight line from one time step to the next."""
    ids, moving = trees.placement_ids, trees.moving
    row, steps, copies = ids[placement, 0], ids[placement, 1], ids[placement, 2]
    place = np.float32(ray.time) * np.float32(steps - 1)
    low = min(np.int32(place), steps - 2)
    s = place - np.float32(low)
    p = row + low * copies
    q = p + copies
    r = _ONE - s
    ax, ay, az = (
        r * moving[p, 0] + s * moving[q, 0],
        r * moving[p, 1] + s * moving[q, 1],
        r * moving[p, 2] + s * moving[q, 2],
    )
    bx, by, bz = (
        r * moving[p, 3] + s * moving[q, 3],
        r * moving[p, 4] + s * moving[q, 4],
        r * moving[p, 5] + s * moving[q, 5],
    )
    cx, cy, cz = (
        r * moving[p, 6] + s * moving[q, 6],
        r * moving[p, 7] + s * moving[q, 7],
        r * moving[p, 8] + s * moving[q, 8],
    )
    x = ray.x - (r * moving[p, 9] + s * moving[q, 9])
    y = ray.y - (r * moving[p, 10] + s * moving[q, 10])
    z = ray.z - (r * moving[p, 11] + s * moving[q, 11])
    # The rows of the inverse of (a b c) are b×c, c×a and a×b over the determinant.
    ux, uy, uz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    vx, vy, vz = cy * az - cz * ay, cz * ax - cx * az, cx * ay - cy * ax
    wx, wy, wz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    share = _ONE / (ax * ux + ay * uy + az * uz)
    return (
        share * (ux * x + uy * y + uz * z), share * (vx * x + vy * y + vz * z), share * (wx * x + wy * y + wz * z),
        share * (ux * ray.dx + uy * ray.dy + uz * ray.dz), share * (vx * ray.dx + vy * ray.dy + vz * ray.dz),
        share * (wx * ray.dx + wy * ray.dy + wz * ray.dz),
    )  # fmt: skip


class _Sheared(NamedTuple):
    """A ray as a triangle is asked: z is the axis along which it is longest, and it is sheared to run along that."""

    x_axis: Whole
    y_axis: Whole
    z_axis: Whole
    x: Real
    """[m] start along the three axes, in their order"""
    y: Real
    z: Real
    shear_x: Real
    shear_y: Real
    shear_z: Real


@inline_kernel
def _sheared(x: Real, y: Real, z: Real, dx: Real, dy: Real, dz: Real) -> _Sheared:
    along_x, along_y, along_z = abs(dx), abs(dy), abs(dz)
    if along_x > along_y and along_x > along_z:
        unit = _ONE / dx
        return _Sheared(np.int32(1), np.int32(2), np.int32(0), y, z, x, dy * unit, dz * unit, unit)
    if along_y > along_z:
        unit = _ONE / dy
        return _Sheared(np.int32(2), np.int32(0), np.int32(1), z, x, y, dz * unit, dx * unit, unit)
    unit = _ONE / dz
    return _Sheared(np.int32(0), np.int32(1), np.int32(2), x, y, z, dx * unit, dy * unit, unit)


@inline_kernel
def _along(axis: Whole, x: Real, y: Real, z: Real) -> Real:
    """One of three coordinates."""
    return x if axis == 0 else (y if axis == 1 else z)


@inline_kernel
def _meet(triangles: Array, k: Whole, ray: _Sheared) -> tuple[Real, Real, Real]:
    """How far a triangle is along a ray, −∞ where it is missed, and the shares of its second and third corner."""
    one, two, three = four(triangles, k, 0), four(triangles, k, 4), four(triangles, k, 8)
    i, j, l = ray.x_axis, ray.y_axis, ray.z_axis
    az = _along(l, one[0], one[1], one[2]) - ray.z
    bz = _along(l, one[3], two[0], two[1]) - ray.z
    cz = _along(l, two[2], two[3], three[0]) - ray.z
    ax = _along(i, one[0], one[1], one[2]) - ray.x - ray.shear_x * az
    ay = _along(j, one[0], one[1], one[2]) - ray.y - ray.shear_y * az
    bx = _along(i, one[3], two[0], two[1]) - ray.x - ray.shear_x * bz
    by = _along(j, one[3], two[0], two[1]) - ray.y - ray.shear_y * bz
    cx = _along(i, two[2], two[3], three[0]) - ray.x - ray.shear_x * cz
    cy = _along(j, two[2], two[3], three[0]) - ray.y - ray.shear_y * cz
    share_a, share_b, share_c = cx * by - cy * bx, ax * cy - ay * cx, bx * ay - by * ax
    if share_a == _ZERO or share_b == _ZERO or share_c == _ZERO:
        # Products of float32 are exact in float64, and so is which side of an edge the ray passes.
        share_a = np.float32(np.float64(cx) * np.float64(by) - np.float64(cy) * np.float64(bx))
        share_b = np.float32(np.float64(ax) * np.float64(cy) - np.float64(ay) * np.float64(cx))
        share_c = np.float32(np.float64(bx) * np.float64(ay) - np.float64(by) * np.float64(ax))
    least, most = min(min(share_a, share_b), share_c), max(max(share_a, share_b), share_c)
    whole = share_a + share_b + share_c
    t, u, v = np.float32(-np.inf), _ZERO, _ZERO
    if (least >= _ZERO or most <= _ZERO) and whole != _ZERO:
        part = _ONE / whole
        t = (share_a * az + share_b * bz + share_c * cz) * ray.shear_z * part
        u, v = share_b * part, share_c * part
    return t, u, v
