"""One ray through two levels of trees: plain arithmetic on numbers, for a thread of a graphics processor.

Upstairs the tree over placements, in the tracer's coordinates; at a placement the ray is taken into the coordinates of
the shape, where its length is the same, and goes on downstairs through the shape's own tree. The nearer child first,
the other one waits on the stack. There it starts beside the shape's origin: that far along the ray is worked out in double
precision, and what is left are small numbers, so that at an edge 20 m away rounding moves the ray by a tenth of a micrometre
and not by two.

A triangle is met as Woop, Benthin and Wald have it ("Watertight ray/triangle intersection", 2013): the corners are
sheared so that the ray runs along an axis, and the signs of three products say whether it passes inside. A corner has
the same sheared place in every triangle that it belongs to, so no ray slips between them. A box is met by its slabs;
entering is put a little sooner and leaving a little later (Ize, "Robust BVH ray traversal", 2013), so that rounding loses
none. A direction of exactly 0 along an axis is taken for next to nothing: its inverse stays a number, and a ray in the
plane of a box's side is inside.

Threads of a graphics processor go in step, 32 of them, and those at a node wait while others meet a triangle. So a ray
takes four nodes at most before it looks whether it has come to a triangle or a placement: walking each down to its next
leaf first takes the 32 nearly twice as many steps.

At a plant that the wind bends the ray goes on downstairs piece by piece, each in the coordinates in which the plant is upright
(`tussock.trace.cuda.bending`); a triangle with holes is asked whether it is there (`tussock.trace.cuda.cut_outs`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import Array, Real, Whole, inline_kernel, loop_kernel
from tussock.trace.cuda.bending import PLANT_BOX, Bent, Copy, has_bent, is_bent, next_piece
from tussock.trace.cuda.cut_outs import MATERIAL, PLACE, Pictures, is_opaque, is_solid
from tussock.trace.cuda.meeting import Named
from tussock.trace.hit_tables import HitTables
from tussock.trace.ray import Ray
from tussock.trace.wind.straightened import Plant

__all__ = ["STACK", "Met", "Trees", "four", "is_met", "is_stopped", "joined", "name_of", "nearest_hit", "reciprocal"]

STACK = 128
"""nodes that may wait"""
_RETURN = -2147483648  # the mark under the nodes of a shape
_STEPS = 4  # nodes before a look at what was come to
_LATER = np.float32(1.0 + 8 * 2.0**-23)
_NEARER = np.float32(1.0 - 8 * 2.0**-23)  # later as well, of what is behind the start
_ROUNDING = np.float32(2.0**-21)  # share of start / direction by which a slab may be off: four roundings and a margin
_LEVEL = np.float32(1e-18)  # a direction below this counts as none
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)


class Trees(NamedTuple):
    """Two levels of trees, for kernels; arrays in pairs are the same memory, as numbers and as whole numbers."""

    nodes: NDArray[np.float32]
    """see `tussock.trace.cuda.build`; the upper tree's root is the first, shape (n, 16)"""
    triangles: NDArray[np.float32]
    """three corners, the number in the mesh, and what is cut out (`tussock.trace.cuda.cut_outs`), shape (k, 12)"""
    triangle_ids: NDArray[np.int32]
    placements: NDArray[np.float32]
    """inverse of the turn, place [m]; root (~root: in place), geometry, copy and mask, shape (p, 16).
    Of what moves, the first three: first row in ``moving``, time steps, and rows from one step to the next"""
    placement_ids: NDArray[np.int32]
    moving: NDArray[np.float32]
    """transforms of what moves, column-major, shape (m, 12)"""
    pictures: Pictures
    """what is cut out of triangles"""
    plants: NDArray[np.float32]
    """of geometries that bend: their boxes (`tussock.trace.cuda.bending`), shape (geometries, 8); no rows where nothing does"""

    @classmethod
    def of(
        cls, nodes: NDArray[np.float32], triangles: NDArray[np.float32], placements: NDArray[np.float32],
        moving: NDArray[np.float32], pictures: Pictures, plants: NDArray[np.float32],
    ) -> Trees:  # fmt: skip
        i4 = np.int32
        return cls(nodes, triangles, triangles.view(i4), placements, placements.view(i4), moving, pictures, plants)


class Met(NamedTuple):
    """What a ray met, in the trees' own numbers."""

    distance: Real
    """[m]"""
    placement: Whole
    """−1 for nothing"""
    triangle: Whole


class _Slabs(NamedTuple):
    """A ray as a box is asked: a side at b along an axis is met at b × inverse + shift, entering it or leaving it."""

    inverse_x: Real
    inverse_y: Real
    inverse_z: Real
    enter_x: Real
    """[m] shifts of the sides where the ray enters, rounded towards its start"""
    enter_y: Real
    enter_z: Real
    leave_x: Real
    leave_y: Real
    leave_z: Real


@inline_kernel
def nearest_hit(trees: Trees, tables: HitTables, ray: Ray, mask: Whole, stack: Array) -> Met:
    """The nearest triangle along a ray that shares a bit with ``mask``."""
    return _walk(trees, tables, ray, mask, stack, False)


@inline_kernel
def is_stopped(trees: Trees, tables: HitTables, ray: Ray, mask: Whole, stack: Array) -> bool:
    """Whether anything is in the way of a ray."""
    return _walk(trees, tables, ray, mask, stack, True).placement >= 0


@inline_kernel
def name_of(trees: Trees, placement: Whole, triangle: Whole) -> Named:
    """What the trees' own numbers stand for."""
    ids = trees.placement_ids
    return Named(
        np.uint32(ids[placement, 13]),
        np.uint32(ids[placement, 14]),
        np.uint32(trees.triangle_ids[triangle, 9]),
        triangle,
    )


@loop_kernel
def _walk(trees: Trees, tables: HitTables, ray: Ray, mask: Whole, stack: Array, any_hit: bool) -> Met:
    nodes = trees.nodes
    near, far = np.float32(ray.near), np.float32(ray.far)
    slabs = _slabs(ray.x, ray.y, ray.z, ray.dx, ray.dy, ray.dz)
    sheared = _sheared(ray.x, ray.y, ray.z, ray.dx, ray.dy, ray.dz)
    found, triangle, current = np.int32(-1), np.int32(-1), np.int32(-1)
    # Places on the stack are unsigned: Numba would ask of every signed one whether it counts from the end.
    stack[np.uint32(0)] = np.int32(_RETURN)
    height = np.uint32(1)
    link = np.int32(0)
    going = True
    # Of a plant that bends: how many pieces of the ray were begun, how far the ray goes, and how far it is looked at in the piece.
    piece, whole, end = np.int32(0), far, far
    # In a placed shape ``near`` and ``far`` count from ``begin`` on; beyond is what ``far`` was outside.
    begin, beyond = _ZERO, far
    while going:
        steps = np.int32(0)
        while link >= 0 and steps < _STEPS:
            low0, high0 = four(nodes, 16, link, 0), four(nodes, 16, link, 4)
            low1, high1 = four(nodes, 16, link, 8), four(nodes, 16, link, 12)
            enter0, leave0 = _between(low0, high0, slabs, near, far)
            enter1, leave1 = _between(low1, high1, slabs, near, far)
            inside0, inside1 = enter0 <= leave0, enter1 <= leave1
            link0, link1 = np.float32(low0[3]).view(np.int32), np.float32(high0[3]).view(np.int32)
            second = inside1 and (enter1 < enter0 or not inside0)
            link = link1 if second else link0
            if inside0 and inside1:
                stack[height] = link0 if second else link1
                height = np.uint32(height + 1)
            elif not (inside0 or inside1):
                height = np.uint32(height - 1)
                link = stack[height]
            steps = np.int32(steps + 1)
        if link < 0 and current >= 0 and link != _RETURN:
            k = np.int32(~link >> 3)
            last = np.int32(k + (~link & 7))
            while k <= last:
                t = _meet(trees.triangles, k, sheared)
                if near < t <= far and is_met(trees, tables, current, k, ray, sheared, piece):
                    far, found, triangle = t, current, k
                k = np.int32(k + 1)
            height = np.uint32(height - 1)
            link = stack[height]
            if any_hit and found >= 0:
                going = False
        bent = np.int32(-1)
        if link == _RETURN:
            if current < 0:
                going = False
            elif has_bent(trees.plants) and piece > 0 and far == end:  # nothing was met in a piece
                far, bent = whole, current
            else:  # up again, into the tracer's coordinates
                if has_bent(trees.plants):
                    piece = np.int32(0)
                near, far = np.float32(ray.near), np.float32(far + begin) if found == current else beyond
                begin, current = _ZERO, np.int32(-1)
                slabs = _slabs(ray.x, ray.y, ray.z, ray.dx, ray.dy, ray.dz)
                height = np.uint32(height - 1)
                link = stack[height]
        if link < 0 and current < 0 and link != _RETURN:
            placement = np.int32(~link >> 3)
            about = four(trees.placements, 16, placement, 12)
            if np.float32(about[3]).view(np.uint32) & np.uint32(mask) != 0:
                root = np.float32(about[0]).view(np.int32)
                if has_bent(trees.plants) and is_bent(root):
                    bent, whole, piece = placement, far, np.int32(0)
                else:
                    current, link, beyond = placement, root, far
                    stack[height] = np.int32(_RETURN)
                    height = np.uint32(height + 1)
                    x, y, z = np.float32(ray.x), np.float32(ray.y), np.float32(ray.z)
                    dx, dy, dz = np.float32(ray.dx), np.float32(ray.dy), np.float32(ray.dz)
                    if link < 0:
                        link = np.int32(~link)
                    else:
                        x, y, z, dx, dy, dz, begin = _into_shape(trees, placement, ray)
                        near, far = np.float32(near - begin), np.float32(far - begin)
                        slabs = _slabs(x, y, z, dx, dy, dz)
                    sheared = _sheared(x, y, z, dx, dy, dz)
            else:
                height = np.uint32(height - 1)
                link = stack[height]
        if has_bent(trees.plants) and bent >= 0:
            part = _next_piece(trees, tables, bent, ray, whole, piece)
            way = part.ray
            if piece < part.pieces:
                # One piece goes on to the end of the ray: what it meets behind the plant's box is met as well.
                current, piece, near, end = bent, np.int32(piece + 1), np.float32(way.near), np.float32(-1.0)
                if part.pieces > 1:
                    far = np.float32(min(way.far, whole))
                    end = far
                beyond = far
                slabs = _slabs(way.x, way.y, way.z, way.dx, way.dy, way.dz)
                sheared = _sheared(way.x, way.y, way.z, way.dx, way.dy, way.dz)
                stack[height] = np.int32(_RETURN)
                height = np.uint32(height + 1)
                link = np.int32(part.root)
            else:
                near, piece, current = np.float32(ray.near), np.int32(0), np.int32(-1)
                slabs = _slabs(ray.x, ray.y, ray.z, ray.dx, ray.dy, ray.dz)
                height = np.uint32(height - 1)
                link = stack[height]
    return Met(far, found, triangle)


@inline_kernel
def _next_piece(trees: Trees, tables: HitTables, placement: Whole, ray: Ray, far: Real, piece: Whole) -> Bent:
    """See `tussock.trace.cuda.bending.next_piece`."""
    a, b = four(trees.placements, 16, placement, 0), four(trees.placements, 16, placement, 4)
    c, about = four(trees.placements, 16, placement, 8), four(trees.placements, 16, placement, 12)
    root, geometry, copy = (
        np.float32(about[0]).view(np.int32), np.float32(about[1]).view(np.int32), np.float32(about[2]).view(np.int32),
    )  # fmt: skip
    low, high = four(trees.plants, PLANT_BOX, geometry, 0), four(trees.plants, PLANT_BOX, geometry, 4)
    plant = Plant(
        (a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3], c[0], c[1], c[2], c[3]),
        (low[0], low[1], low[2]), (low[3], high[0], high[1]), high[2], high[3],
    )  # fmt: skip
    return next_piece(plant, tables, Copy(root, np.int64(geometry), np.int64(copy)), ray, far, piece)


@inline_kernel
def is_met(
    trees: Trees, tables: HitTables, placement: Whole, k: Whole, ray: Ray, sheared: _Sheared, piece: Whole
) -> bool:  # fmt: skip
    """Whether there is anything where a ray passes through a triangle; left out where nothing is cut out."""
    if has_bent(trees.plants) and piece > 0:  # a piece is straight only where the plant is upright
        row = np.int64(trees.triangle_ids[k, PLACE]) - 1
        if row < 0:
            return True
        u, v = _shares(trees.triangles, k, sheared)
        return is_opaque(trees.pictures, row, np.int64(trees.triangle_ids[k, MATERIAL]), u, v)
    return is_solid(trees.triangles, trees.triangle_ids, trees.pictures, tables, name_of(trees, placement, k), ray)


@inline_kernel
def four(table: Array, width: int, row: Whole, column: int) -> tuple[Real, Real, Real, Real]:
    """Four numbers beside each other in rows of ``width``; a graphics processor takes them from memory at once."""
    return table[row, column], table[row, column + 1], table[row, column + 2], table[row, column + 3]


@inline_kernel
def joined(a: Real, b: Real, c: Real) -> Real:
    """a·b + c where the last bit does not matter; a graphics processor rounds once."""
    return a * b + c


@inline_kernel
def reciprocal(value: Real) -> Real:
    """1/value where the last bit does not matter."""
    return _ONE / value


@inline_kernel
def _inverse(component: Real) -> Real:
    away = abs(component) >= _LEVEL
    return reciprocal(np.float32(component) if away else _LEVEL)


@inline_kernel
def _slabs(x: Real, y: Real, z: Real, dx: Real, dy: Real, dz: Real) -> _Slabs:
    ix, iy, iz = _inverse(dx), _inverse(dy), _inverse(dz)
    sx, sy, sz = -np.float32(x) * ix, -np.float32(y) * iy, -np.float32(z) * iz
    rx, ry, rz = abs(sx) * _ROUNDING, abs(sy) * _ROUNDING, abs(sz) * _ROUNDING
    return _Slabs(ix, iy, iz, sx - rx, sy - ry, sz - rz, sx + rx, sy + ry, sz + rz)


@inline_kernel
def _between(
    low: tuple[Real, Real, Real, Real], high: tuple[Real, Real, Real, Real], slabs: _Slabs, near: Real, far: Real
) -> tuple[Real, Real]:
    """How far along the ray a box begins and ends; it ends before it begins where the ray misses it."""
    right, left, above = slabs.inverse_x >= _ZERO, slabs.inverse_y >= _ZERO, slabs.inverse_z >= _ZERO
    x0 = joined(low[0] if right else high[0], slabs.inverse_x, slabs.enter_x)
    x1 = joined(high[0] if right else low[0], slabs.inverse_x, slabs.leave_x)
    y0 = joined(low[1] if left else high[1], slabs.inverse_y, slabs.enter_y)
    y1 = joined(high[1] if left else low[1], slabs.inverse_y, slabs.leave_y)
    z0 = joined(low[2] if above else high[2], slabs.inverse_z, slabs.enter_z)
    z1 = joined(high[2] if above else low[2], slabs.inverse_z, slabs.leave_z)
    leave = min(min(x1, y1), min(z1, far))
    return max(max(x0, y0), max(z0, near)), max(leave * _LATER, leave * _NEARER)


@inline_kernel
def _into_shape(trees: Trees, placement: Whole, ray: Ray) -> tuple[Real, Real, Real, Real, Real, Real, Real]:
    """Start and direction of a ray in the coordinates of a placed shape, and how far along the ray that start is [m]."""
    if len(trees.moving) > 0:
        return _into_moving(trees, placement, ray)
    a, b, c = (
        four(trees.placements, 16, placement, 0),
        four(trees.placements, 16, placement, 4),
        four(trees.placements, 16, placement, 8),
    )
    x, y, z, begin = _beside(ray, c[1], c[2], c[3])
    return (
        a[0] * x + a[1] * y + a[2] * z,
        a[3] * x + b[0] * y + b[1] * z,
        b[2] * x + b[3] * y + c[0] * z,
        a[0] * ray.dx + a[1] * ray.dy + a[2] * ray.dz,
        a[3] * ray.dx + b[0] * ray.dy + b[1] * ray.dz,
        b[2] * ray.dx + b[3] * ray.dy + c[0] * ray.dz,
        begin,
    )


@inline_kernel
def _beside(ray: Ray, x: Real, y: Real, z: Real) -> tuple[Real, Real, Real, Real]:
    """Where a ray passes a place, seen from there [m], and how far along the ray that is [m]."""
    begin = np.float32((x - ray.x) * ray.dx + (y - ray.y) * ray.dy + (z - ray.z) * ray.dz)
    way = np.float64(begin)
    return (
        np.float32(np.float64(ray.x) + way * np.float64(ray.dx) - np.float64(x)),
        np.float32(np.float64(ray.y) + way * np.float64(ray.dy) - np.float64(y)),
        np.float32(np.float64(ray.z) + way * np.float64(ray.dz) - np.float64(z)),
        begin,
    )


@inline_kernel
def _into_moving(trees: Trees, placement: Whole, ray: Ray) -> tuple[Real, Real, Real, Real, Real, Real, Real]:
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
    x, y, z, begin = _beside(
        ray, r * moving[p, 9] + s * moving[q, 9], r * moving[p, 10] + s * moving[q, 10],
        r * moving[p, 11] + s * moving[q, 11],
    )  # fmt: skip
    # The rows of the inverse of (a b c) are b×c, c×a and a×b over the determinant.
    ux, uy, uz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    vx, vy, vz = cy * az - cz * ay, cz * ax - cx * az, cx * ay - cy * ax
    wx, wy, wz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    share = _ONE / (ax * ux + ay * uy + az * uz)
    return (
        share * (ux * x + uy * y + uz * z), share * (vx * x + vy * y + vz * z), share * (wx * x + wy * y + wz * z),
        share * (ux * ray.dx + uy * ray.dy + uz * ray.dz), share * (vx * ray.dx + vy * ray.dy + vz * ray.dz),
        share * (wx * ray.dx + wy * ray.dy + wz * ray.dz), begin,
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


class _Sides(NamedTuple):
    """How a ray passes a triangle's sides, and where its corners are along the sheared ray."""

    share_a: Real
    """of the corner across"""
    share_b: Real
    share_c: Real
    az: Real
    bz: Real
    cz: Real


@inline_kernel
def _shares(triangles: Array, k: Whole, ray: _Sheared) -> tuple[Real, Real]:
    """Shares of the second and the third corner where a ray meets a triangle."""
    at = _sides(triangles, k, ray)
    share_a, share_b, share_c = np.float64(at.share_a), np.float64(at.share_b), np.float64(at.share_c)
    per = 1.0 / (share_a + share_b + share_c)
    return share_b * per, share_c * per


@inline_kernel
def _meet(triangles: Array, k: Whole, ray: _Sheared) -> Real:
    """How far a triangle is along a ray, −∞ where it is missed."""
    share_a, share_b, share_c, az, bz, cz = _sides(triangles, k, ray)
    least, most = min(min(share_a, share_b), share_c), max(max(share_a, share_b), share_c)
    whole = share_a + share_b + share_c
    t = np.float32(-np.inf)
    if (least >= _ZERO or most <= _ZERO) and whole != _ZERO:
        t = (share_a * az + share_b * bz + share_c * cz) * ray.shear_z / whole
    return t


@inline_kernel
def _sides(triangles: Array, k: Whole, ray: _Sheared) -> _Sides:
    """What decides whether a ray passes through a triangle."""
    one, two, three = four(triangles, 12, k, 0), four(triangles, 12, k, 4), four(triangles, 12, k, 8)
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
    return _Sides(share_a, share_b, share_c, az, bz, cz)
