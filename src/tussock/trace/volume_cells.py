"""Finding the volumes along a ray: sparse grids in three layers of bit masks.

A *block* is 4×4×4 bricks, a *brick* 4×4×4 cells. Each has one 64-bit mask of what is occupied inside it and the
number of the first thing inside; the number of any other is that plus the set bits before it. Blocks are found
through a hash table. A ray skips an empty block, 16 cells, in one step, so open space costs little, and memory
grows with what is occupied: 12 bytes a brick and 28 to 36 a block.

In a grid of voxels a cell is a volume. In a grid of ellipsoids a cell has a list of the volumes that reach into it.
Several models stand one after the other in the same arrays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import int64, uint64
from numpy.typing import NDArray

from tussock.kernels import inline_kernel, kernel
from tussock.scene.volumes import Volumes, unpacked

__all__ = [
    "AFTER", "CELL", "ENTRY", "EXIT", "Cells", "Walk", "cells_of", "grid_order", "joined", "new_walk", "next_cell",
    "start_walk",
]  # fmt: skip

_BLOCK = 16


class Cells(NamedTuple):
    """Grids, one row a model. Coordinates are whole cells from ``low``, the lowest corner of the lowest block."""

    low: NDArray[np.int64]
    """[cells], shape (k, 3)"""
    size: NDArray[np.int64]
    """[cells], multiples of 16, shape (k, 3)"""
    cell: NDArray[np.float64]
    """[m] side of a cell, shape (k,)"""
    slot_first: NDArray[np.int64]
    """where the model's hash table begins in ``slots``, shape (k,)"""
    slot_mask: NDArray[np.int64]
    """its length less one, a power of two less one, shape (k,)"""
    listing: NDArray[np.bool_]
    """whether cells are rows of ``list_start`` (ellipsoids) or volumes (voxels), shape (k,)"""
    slots: NDArray[np.int32]
    """number of a block, −1 where empty"""
    block_key: NDArray[np.int64]
    block_mask: NDArray[np.uint64]
    block_first: NDArray[np.int32]
    """number of the block's first brick"""
    brick_mask: NDArray[np.uint64]
    brick_first: NDArray[np.int32]
    """number of the brick's first cell"""
    list_start: NDArray[np.int32]
    """start of a cell's list in ``listed``; the next row is its end"""
    listed: NDArray[np.int32]
    """volumes, cell by cell"""

    @property
    def nbytes(self) -> int:
        """memory of all arrays"""
        return sum(array.nbytes for array in self)


def grid_order(coordinates: NDArray[np.integer]) -> NDArray[np.int64]:
    """The order in which a grid numbers its cells (n, 3), shape (n,)."""
    low = coordinates.min(0) // _BLOCK * _BLOCK
    block, brick, cell = _split(np.asarray(coordinates, np.int64) - low)
    return np.lexsort((cell, brick, block))


def cells_of(volumes: Volumes) -> tuple[Cells, NDArray[np.int64] | None]:
    """The grid of one model, and the order in which it needs the volumes; None: as they stand."""
    if volumes.partition == "voxels":
        voxels = np.floor(volumes.means.astype(np.float64) / volumes.cell).astype(np.int64)
        order = grid_order(voxels)
        standing = bool((np.diff(order) > 0).all())
        return _grid(voxels[order], volumes.cell), None if standing else order
    volume, coordinates = _overlaps(volumes)
    order = grid_order(coordinates)
    volume, coordinates = volume[order], coordinates[order]
    first = np.flatnonzero((np.diff(coordinates, axis=0, prepend=coordinates[:1] - 1) != 0).any(1))
    start = np.append(first, len(volume)).astype(np.int32)
    grid = _grid(coordinates[first], volumes.cell)
    return grid._replace(listing=np.ones(1, np.bool_), list_start=start, listed=volume.astype(np.int32)), None


def joined(grids: Sequence[Cells], volumes: Sequence[int]) -> Cells:
    """Grids one after the other; ``volumes`` is how many volumes each has."""
    slots, blocks, bricks, lists, listed = (
        _starts([len(getattr(g, name)) for g in grids])
        for name in ("slots", "block_key", "brick_mask", "list_start", "listed")
    )
    before = _starts(volumes)
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in Cells._fields}
    for k, g in enumerate(grids):
        cells = lists[k] if g.listing[0] else before[k]
        shifted = g._replace(
            slot_first=g.slot_first + slots[k],
            slots=np.where(g.slots < 0, -1, g.slots + blocks[k]).astype(np.int32),
            block_first=(g.block_first + bricks[k]).astype(np.int32),
            brick_first=(g.brick_first + cells).astype(np.int32),
            list_start=(g.list_start + listed[k]).astype(np.int32),
            listed=(g.listed + before[k]).astype(np.int32),
        )
        for name in Cells._fields:
            parts[name].append(getattr(shifted, name))
    return grids[0] if len(grids) == 1 else Cells(**{name: np.concatenate(part) for name, part in parts.items()})


def _starts(lengths: Sequence[int]) -> list[int]:
    return [0, *np.cumsum(lengths).tolist()][: len(lengths)]


def _split(local: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Key of the block, bit of the brick in it, bit of the cell in that; each of shape (n,)."""
    block, brick, cell = local >> 4, (local >> 2) & 3, local & 3
    key = (block[:, 0] << 42) | (block[:, 1] << 21) | block[:, 2]
    return (
        key,
        (brick[:, 0] << 4) | (brick[:, 1] << 2) | brick[:, 2],
        (cell[:, 0] << 4) | (cell[:, 1] << 2) | cell[:, 2],
    )


def _grid(coordinates: NDArray[np.int64], cell: float) -> Cells:
    """The grid over cells (n, 3) that are all different and in its own order."""
    low = coordinates.min(0) // _BLOCK * _BLOCK
    size = (coordinates.max(0) // _BLOCK + 1) * _BLOCK - low
    block, brick, inner = _split(coordinates - low)
    new_block = np.diff(block, prepend=-1) != 0
    new_brick = new_block | (np.diff(brick, prepend=-1) != 0)
    brick_first = np.flatnonzero(new_brick)
    block_first = np.flatnonzero(new_block[brick_first])
    one = np.uint64(1)
    brick_mask = np.bitwise_or.reduceat(one << inner.astype(np.uint64), brick_first)
    block_mask = np.bitwise_or.reduceat(one << brick[brick_first].astype(np.uint64), block_first)
    keys = block[brick_first][block_first]
    slots = np.full(1 << max(2, (2 * len(keys) - 1).bit_length()), -1, np.int32)
    _fill_slots(slots, keys)
    empty = np.zeros(0, np.int32)
    return Cells(
        low[None], size[None], np.array([cell]), np.zeros(1, np.int64), np.array([len(slots) - 1]),
        np.zeros(1, np.bool_), slots, keys, block_mask, block_first.astype(np.int32), brick_mask,
        brick_first.astype(np.int32), empty, empty,
    )  # fmt: skip


def _overlaps(volumes: Volumes) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Every pair of a volume and a cell that it may reach into: (k,) and (k, 3)."""
    half = volumes.extents
    low = np.floor((volumes.means - half) / volumes.cell).astype(np.int64)
    high = np.floor((volumes.means + half) / volumes.cell).astype(np.int64)
    span = high - low + 1
    counts = span.prod(1)
    volume = np.repeat(np.arange(len(volumes)), counts)
    at = np.arange(len(volume)) - np.repeat(np.cumsum(counts) - counts, counts)
    plane, row = span[volume, 1] * span[volume, 2], span[volume, 2]
    coordinates = low[volume] + np.stack([at // plane, at // row % span[volume, 1], at % row], 1)
    # A slanted ellipsoid misses most cells of its box: keep those whose middle is within reach, give or take the
    # largest Mahalanobis distance that half a diagonal can be.
    middle = (coordinates + 0.5) * volumes.cell - volumes.means[volume]
    precision = unpacked(volumes.precisions)
    distance = np.sqrt(np.einsum("ni,nij,nj->n", middle, precision[volume], middle))
    slack = np.sqrt(np.linalg.eigvalsh(precision)[:, 2])[volume] * volumes.cell * math.sqrt(3) / 2
    keep = distance - slack <= volumes.edges[-1]
    return volume[keep], coordinates[keep]


@inline_kernel
def _slot(key: Any, mask: Any) -> Any:
    return int64((uint64(key) * uint64(0x9E3779B97F4A7C15)) >> uint64(40)) & mask


@kernel
def _fill_slots(slots: Any, keys: Any) -> None:
    mask = len(slots) - 1
    for number in range(len(keys)):
        at = _slot(keys[number], mask)
        while slots[at] >= 0:
            at = (at + 1) & mask
        slots[at] = number


@inline_kernel
def _set_bits(word: Any) -> Any:
    """How many bits are set."""
    x = uint64(word)
    x = x - ((x >> uint64(1)) & uint64(0x5555555555555555))
    x = (x & uint64(0x3333333333333333)) + ((x >> uint64(2)) & uint64(0x3333333333333333))
    x = (x + (x >> uint64(4))) & uint64(0x0F0F0F0F0F0F0F0F)
    return int64((x * uint64(0x0101010101010101)) >> uint64(56))


class Walk(NamedTuple):
    """Where a ray is in a grid; made once a thread, started for every ray."""

    at: NDArray[np.int64]
    """cell coordinates x, y, z, the numbers of the current block and brick, −1: not known yet, then `CELL`"""
    ray: NDArray[np.float64]
    """start x, y, z [cells], change a metre x, y, z, its inverse x, y, z, then `ENTRY`, `EXIT`, `END`, `AFTER`"""


ENTRY, EXIT, END, AFTER = 9, 10, 11, 12
"""rows of `Walk.ray`: where the ray entered and left the cell just found, where the walk ends, and where the last
volume of a list was met [m]"""
CELL = 5
"""row of `Walk.at`: the cell whose list is being gone through, −1 for none"""
_LEVEL = 1e-12  # a ray along a wall of the grid never crosses it; [cells] a metre that count as none


@kernel
def new_walk() -> Any:
    return Walk(np.zeros(6, np.int64), np.zeros(13, np.float64))


@kernel
def start_walk(
    cells: Any, model: int, walk: Any, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, end: float
) -> bool:
    """Put a ray at the edge of a model's grid; False where it misses it before ``end`` [m]."""
    at, ray = walk.at, walk.ray
    scale = 1.0 / cells.cell[model]
    ray[0], ray[1], ray[2] = ox * scale, oy * scale, oz * scale
    ray[3], ray[4], ray[5] = dx * scale, dy * scale, dz * scale
    enter, leave = 0.0, end
    for a in range(3):
        ray[a] -= cells.low[model, a]
        if abs(ray[3 + a]) < _LEVEL:
            ray[3 + a] = _LEVEL
        ray[6 + a] = 1.0 / ray[3 + a]
        s0 = -ray[a] * ray[6 + a]
        s1 = (cells.size[model, a] - ray[a]) * ray[6 + a]
        enter = max(enter, min(s0, s1))
        leave = min(leave, max(s0, s1))
    if not enter < leave:
        return False
    for a in range(3):
        at[a] = max(0, min(cells.size[model, a] - 1, math.floor(ray[a] + enter * ray[3 + a])))
    at[3] = at[4] = at[CELL] = -1
    ray[ENTRY] = ray[EXIT] = enter
    ray[END] = leave
    return True


@kernel
def next_cell(cells: Any, model: int, walk: Any) -> Any:
    """Number of the next occupied cell on the ray, −1 when there is none; its entry and exit are in the walk."""
    at, ray = walk.at, walk.ray
    block, brick = at[3], at[4]
    while ray[EXIT] < ray[END]:
        x, y, z = at[0], at[1], at[2]
        found = int64(-1)
        if block < 0:
            block = _find_block(cells, model, x >> 4, y >> 4, z >> 4)
        if block < 0:
            level = 4
        else:
            level = 0
            if brick < 0:
                bit = uint64((((x >> 2) & 3) << 4) | (((y >> 2) & 3) << 2) | ((z >> 2) & 3))
                mask = cells.block_mask[block]
                if (mask >> bit) & uint64(1) == uint64(0):
                    level = 2
                else:
                    brick = cells.block_first[block] + _set_bits(mask & ((uint64(1) << bit) - uint64(1)))
            if level == 0:
                bit = uint64(((x & 3) << 4) | ((y & 3) << 2) | (z & 3))
                mask = cells.brick_mask[brick]
                if (mask >> bit) & uint64(1) != uint64(0):
                    found = cells.brick_first[brick] + _set_bits(mask & ((uint64(1) << bit) - uint64(1)))
                    ray[ENTRY] = ray[EXIT]
        axis = _leave(at, ray, level)
        moved = (at[0] ^ x) | (at[1] ^ y) | (at[2] ^ z)
        if moved >> 2:
            brick = int64(-1)
            if moved >> 4:
                block = int64(-1)
        outside = at[axis] < 0 or at[axis] >= cells.size[model, axis]
        if outside:
            ray[END] = ray[EXIT]
        if found >= 0:
            at[3], at[4] = block, brick
            return found
        if outside:
            return -1
    return -1


@inline_kernel
def _leave(at: Any, ray: Any, level: Any) -> Any:
    """Go to the neighbour of the cell (level 0), brick (2) or block (4) that the ray is in; the axis it goes along.

    The way is measured from the start, so errors do not add up; across the other two axes the ray stays inside
    what it leaves, so it is never stuck on an edge.
    """
    axis, way = 0, math.inf
    for a in range(3):
        wall = (at[a] >> level) << level
        if ray[3 + a] > 0:
            wall += 1 << level
        s = (wall - ray[a]) * ray[6 + a]
        if s < way:
            way, axis = s, a
    way = max(way, ray[EXIT])
    for a in range(3):
        first = (at[a] >> level) << level
        last = first + (1 << level) - 1
        if a == axis:
            at[a] = last + 1 if ray[3 + a] > 0 else first - 1
        elif level > 0:
            at[a] = max(first, min(last, int64(math.floor(ray[a] + way * ray[3 + a]))))
    ray[EXIT] = way
    return axis


@inline_kernel
def _find_block(cells: Any, model: Any, x: Any, y: Any, z: Any) -> Any:
    key = (x << 42) | (y << 21) | z
    first, mask = cells.slot_first[model], cells.slot_mask[model]
    slot = _slot(key, mask)
    number = int64(cells.slots[first + slot])
    while number >= 0 and cells.block_key[number] != key:
        slot = (slot + 1) & mask
        number = int64(cells.slots[first + slot])
    return number
