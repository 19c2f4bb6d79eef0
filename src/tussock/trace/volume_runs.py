"""Finding many volumes along a ray at once: the walk of `tussock.trace.volume_cells`, brick by brick.

`next_cell` gives one cell and comes back for the next; what is done with it in between keeps the processor from going ahead.
Here a run of cells is written down first. The blocks of a region, the bricks of its blocks and the cells of a brick are crossed in
loops of their own, in which the masks stay at hand and only the wall that was crossed is measured anew; from one block with bricks
to the next the ray goes brick by brick, and where in a thing it is is not asked before there is something in it. The same cells are
met in the same order: every wall is where it was, measured from the ray's start.
"""

from __future__ import annotations

from typing import Any

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
    ux, uy, uz = int64(dx > 0), int64(dy > 0), int64(dz > 0)
    line, up = (px, py, pz, dx, dy, dz, ray[6], ray[7], ray[8]), (ux, uy, uz)
    way, end = ray[EXIT], ray[END]
    while way < end and n < most:
        rx, ry, rz = x >> 6, y >> 6, z >> 6
        region = find_region(cells, model, rx, ry, rz)
        if region < 0:
            (rx, ry, rz), _, way, axis = _through((rx, ry, rz), _walls((rx, ry, rz), 6, line, up), way, 6, line, up)
            x, y, z = _entered((rx, ry, rz), 6, axis, way, line, up)
        else:
            blocks, first_block = cells.region_mask[region], cells.region_first[region]
            cx, cy, cz = x >> 2, y >> 2, z >> 2
            wx, wy, wz = _walls((cx, cy, cz), 2, line, up)
            # The wall that the ray came through last; as long as there was none, the cell is known.
            axis = int64(_KNOWN)
            within = True
            while within and way < end and n < most:
                bx, by, bz = cx >> 2, cy >> 2, cz >> 2
                block = inside(blocks, first_block, bx, by, bz)
                bricks, first = uint64(0), int64(0)
                if block >= 0:
                    bricks, first = cells.block_mask[block], int64(cells.block_first[block])
                    if bricks == uint64(0):  # all of it is one volume
                        numbers[n] = first
                        n += 1
                        if first == last:
                            return n
                if bricks == uint64(0):
                    walls = _walls((bx, by, bz), 4, line, up)
                    empty = True
                    while empty:
                        (bx, by, bz), walls, way, axis = _through((bx, by, bz), walls, way, 4, line, up)
                        within = bx >> 2 == rx and by >> 2 == ry and bz >> 2 == rz
                        empty = within and way < end and inside(blocks, first_block, bx, by, bz) < 0
                    x, y, z = _entered((bx, by, bz), 4, axis, way, line, up)
                    cx, cy, cz = x >> 2, y >> 2, z >> 2
                    wx, wy, wz = _walls((cx, cy, cz), 2, line, up)
                    axis = int64(_KNOWN)
                else:
                    going = True
                    while going:
                        mask, start = uint64(0), int64(0)
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
                                x, y, z = _entered((cx, cy, cz), 2, axis, way, line, up)
                                axis = int64(_KNOWN)
                            (x, y, z), way, n, met = _cross(
                                (mask, start), (x, y, z), (way, end), (numbers, n, last), line, up
                            )
                            if met:
                                return n
                            cx, cy, cz = x >> 2, y >> 2, z >> 2
                            wx, wy, wz = _walls((cx, cy, cz), 2, line, up)
                        else:
                            (cx, cy, cz), (wx, wy, wz), way, axis = _through(
                                (cx, cy, cz), (wx, wy, wz), way, 2, line, up
                            )
                        left = ((cx >> 2) ^ bx) | ((cy >> 2) ^ by) | ((cz >> 2) ^ bz)
                        going = left == 0 and way < end and n < most
                    within = cx >> 4 == rx and cy >> 4 == ry and cz >> 4 == rz
            if axis != _KNOWN:
                x, y, z = _entered((cx, cy, cz), 2, axis, way, line, up)
        if min(x, y, z) < 0 or x >= cells.size[model, 0] or y >= cells.size[model, 1] or z >= cells.size[model, 2]:
            end = way
    at[0], at[1], at[2], at[3], at[4], at[5] = x, y, z, -1, -1, -1
    ray[EXIT], ray[END] = way, end
    return n


@inline_kernel
def _cross(brick: Any, cell: Any, ways: Any, found: Any, line: Any, up: Any) -> Any:
    """Through the cells of a brick: the cell behind it, how far that is, how many numbers there are, and whether the last was met."""
    mask, start = brick
    x, y, z = cell
    way, end = ways
    numbers, n, last = found
    px, py, pz, _, _, _, ix, iy, iz = line
    ux, uy, uz = up
    cx, cy, cz = x >> 2, y >> 2, z >> 2
    vx, vy, vz = ((x + ux) - px) * ix, ((y + uy) - py) * iy, ((z + uz) - pz) * iz
    going, met = True, False
    while going:
        number = inside(mask, start, x, y, z)
        if number >= 0:
            numbers[n] = number
            n += 1
            met = number == last
        if met:
            break
        if vx <= vy and vx <= vz:
            way = max(way, vx)
            x += 2 * ux - 1
            vx = ((x + ux) - px) * ix
            going = x >> 2 == cx and way < end
        elif vy <= vz:
            way = max(way, vy)
            y += 2 * uy - 1
            vy = ((y + uy) - py) * iy
            going = y >> 2 == cy and way < end
        else:
            way = max(way, vz)
            z += 2 * uz - 1
            vz = ((z + uz) - pz) * iz
            going = z >> 2 == cz and way < end
    return (x, y, z), way, n, met


@inline_kernel
def _walls(place: Any, level: Whole, line: Any, up: Any) -> Any:
    """How far along the ray the next walls are of a thing of 2^level cells a side [m]."""
    cx, cy, cz = place
    px, py, pz, _, _, _, ix, iy, iz = line
    ux, uy, uz = up
    return (((cx + ux) << level) - px) * ix, (((cy + uy) << level) - py) * iy, (((cz + uz) << level) - pz) * iz


@inline_kernel
def _through(place: Any, walls: Any, way: Real, level: Whole, line: Any, up: Any) -> Any:
    """Through the nearest wall: the next place, its walls, how far it is, and the axis."""
    cx, cy, cz = place
    wx, wy, wz = walls
    px, py, pz, _, _, _, ix, iy, iz = line
    ux, uy, uz = up
    axis = int64(_ALONG_Z)
    if wx <= wy and wx <= wz:
        axis, way = int64(_ALONG_X), max(way, wx)
        cx += 2 * ux - 1
        wx = (((cx + ux) << level) - px) * ix
    elif wy <= wz:
        axis, way = int64(_ALONG_Y), max(way, wy)
        cy += 2 * uy - 1
        wy = (((cy + uy) << level) - py) * iy
    else:
        way = max(way, wz)
        cz += 2 * uz - 1
        wz = (((cz + uz) << level) - pz) * iz
    return (cx, cy, cz), (wx, wy, wz), way, axis


@inline_kernel
def _entered(place: Any, level: Whole, axis: Whole, way: Real, line: Any, up: Any) -> Any:
    """The cell in which a ray enters a thing of 2^level cells a side through a wall across an axis."""
    cx, cy, cz = place
    px, py, pz, dx, dy, dz, _, _, _ = line
    ux, uy, uz = up
    return (
        _along(cx, level, ux, px + way * dx, axis == _ALONG_X),
        _along(cy, level, uy, py + way * dy, axis == _ALONG_Y),
        _along(cz, level, uz, pz + way * dz, axis == _ALONG_Z),
    )


@inline_kernel
def _along(coarse: Whole, level: Whole, up: Whole, place: Real, through: bool) -> Whole:
    """The coordinate along an axis where a ray at ``place`` enters a thing of 2^level cells a side, or goes ``through`` its wall."""
    low, side = coarse << level, (int64(1) << level) - 1
    return low + side * (1 - up) if through else max(low, min(low + side, int64(place)))
