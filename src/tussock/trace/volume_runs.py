"""Finding many volumes along a ray at once: the walk of `tussock.trace.volume_cells`, brick by brick.

`next_cell` gives one cell and comes back for the next; what is done with it in between keeps the processor from going ahead.
Here a run of cells is written down first. The bricks of a block and the cells of a brick are crossed in loops of their own, in
which the masks stay at hand and only the wall that was crossed is measured anew. The same cells are met in the same order: every
wall is where it was, measured from the ray's start.
"""

from __future__ import annotations

from numba import int64, uint64

from tussock.kernels import Array, Real, Whole, inline_kernel, loop_kernel
from tussock.trace.volume_cells import END, EXIT, Cells, Walk, find_region, inside

__all__ = ["LONGEST", "next_cells"]

LONGEST = 10
"""cells of a brick that a ray crosses at most: a run is longer than asked for by fewer"""
_ALONG_X, _ALONG_Y, _ALONG_Z, _KNOWN = 0, 1, 2, -1


@loop_kernel
def next_cells(cells: Cells, model: Whole, walk: Walk, last: Whole, numbers: Array, n: Whole, most: Whole) -> Whole:
    """Write the next occupied cells on a ray into ``numbers`` from ``n`` on, and give how many numbers there are then.

    The run ends with the ray, with the cell ``last``, or behind the brick in which there are ``most``; from there, but not from
    ``last``, the walk goes on.
    """
    at, ray = walk.at, walk.ray
    x, y, z = at[0], at[1], at[2]
    px, py, pz, dx, dy, dz = ray[0], ray[1], ray[2], ray[3], ray[4], ray[5]
    ix, iy, iz = ray[6], ray[7], ray[8]
    ux, uy, uz = int64(dx > 0), int64(dy > 0), int64(dz > 0)
    sx, sy, sz = 2 * ux - 1, 2 * uy - 1, 2 * uz - 1
    way, end = ray[EXIT], ray[END]
    region, block = int64(-1), int64(-1)
    while way < end and n < most:
        old_x, old_y, old_z = x, y, z
        if region < 0:
            region = find_region(cells, model, x >> 6, y >> 6, z >> 6)
        level, bricks, first = int64(6), uint64(0), int64(0)
        if region >= 0:
            if block < 0:
                block = inside(cells.region_mask[region], cells.region_first[region], x >> 4, y >> 4, z >> 4)
            level = int64(4)
            if block >= 0:
                level, bricks, first = int64(2), cells.block_mask[block], int64(cells.block_first[block])
                if bricks == uint64(0):  # all of it is one volume
                    level = int64(4)
                    numbers[n] = first
                    n += 1
                    if first == last:
                        return n
        cx, cy, cz = x >> level, y >> level, z >> level
        wx, wy = (((cx + ux) << level) - px) * ix, (((cy + uy) << level) - py) * iy
        wz = (((cz + uz) << level) - pz) * iz
        axis = int64(_KNOWN)  # the wall that the ray came through last; as long as there was none, the cell is known
        going = True
        while going:
            mask, start = uint64(0), int64(0)
            if bricks != uint64(0):
                brick = inside(bricks, first, cx, cy, cz)
                if brick >= 0:
                    mask, start = cells.brick_mask[brick], int64(cells.brick_first[brick])
                    if mask == uint64(0):  # all of it is one volume
                        numbers[n] = start
                        n += 1
                        if start == last:
                            return n
            if mask != uint64(0):
                if axis != _KNOWN:
                    x = _entered(cx, 2, ux, px + way * dx, axis == _ALONG_X)
                    y = _entered(cy, 2, uy, py + way * dy, axis == _ALONG_Y)
                    z = _entered(cz, 2, uz, pz + way * dz, axis == _ALONG_Z)
                    axis = int64(_KNOWN)
                vx, vy, vz = ((x + ux) - px) * ix, ((y + uy) - py) * iy, ((z + uz) - pz) * iz
                while going:
                    number = inside(mask, start, x, y, z)
                    if number >= 0:
                        numbers[n] = number
                        n += 1
                        if number == last:
                            return n
                    if vx <= vy and vx <= vz:
                        way = max(way, vx)
                        x += sx
                        vx = ((x + ux) - px) * ix
                        going = x >> 2 == cx and way < end
                    elif vy <= vz:
                        way = max(way, vy)
                        y += sy
                        vy = ((y + uy) - py) * iy
                        going = y >> 2 == cy and way < end
                    else:
                        way = max(way, vz)
                        z += sz
                        vz = ((z + uz) - pz) * iz
                        going = z >> 2 == cz and way < end
                cx, cy, cz = x >> 2, y >> 2, z >> 2
                wx, wy = (((cx + ux) << 2) - px) * ix, (((cy + uy) << 2) - py) * iy
                wz = (((cz + uz) << 2) - pz) * iz
                going = cx >> 2 == old_x >> 4 and cy >> 2 == old_y >> 4 and cz >> 2 == old_z >> 4
            elif wx <= wy and wx <= wz:
                axis, way = int64(_ALONG_X), max(way, wx)
                cx += sx
                wx = (((cx + ux) << level) - px) * ix
                going = cx >> 2 == old_x >> 4
            elif wy <= wz:
                axis, way = int64(_ALONG_Y), max(way, wy)
                cy += sy
                wy = (((cy + uy) << level) - py) * iy
                going = cy >> 2 == old_y >> 4
            else:
                axis, way = int64(_ALONG_Z), max(way, wz)
                cz += sz
                wz = (((cz + uz) << level) - pz) * iz
                going = cz >> 2 == old_z >> 4
            going = going and level == 2 and way < end and n < most
        if axis != _KNOWN:
            x = _entered(cx, level, ux, px + way * dx, axis == _ALONG_X)
            y = _entered(cy, level, uy, py + way * dy, axis == _ALONG_Y)
            z = _entered(cz, level, uz, pz + way * dz, axis == _ALONG_Z)
        if min(x, y, z) < 0 or x >= cells.size[model, 0] or y >= cells.size[model, 1] or z >= cells.size[model, 2]:
            end = way
        moved = (old_x ^ x) | (old_y ^ y) | (old_z ^ z)
        if moved >> 4:
            block = int64(-1)
            if moved >> 6:
                region = int64(-1)
    at[0], at[1], at[2], at[3], at[4], at[5] = x, y, z, -1, -1, -1
    ray[EXIT], ray[END] = way, end
    return n


@inline_kernel
def _entered(coarse: Whole, level: Whole, up: Whole, place: Real, through: bool) -> Whole:
    """The coordinate along an axis where a ray at ``place`` enters a thing of 2^level cells a side, or goes ``through`` its wall."""
    low, side = coarse << level, (int64(1) << level) - 1
    return low + side * (1 - up) if through else max(low, min(low + side, int64(place)))
