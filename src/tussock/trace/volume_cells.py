"""Finding the volumes along a ray: sparse grids in layers of bit masks.

A *brick* is 4×4×4 cells, a *block* 4×4×4 bricks, a *region* 4×4×4 blocks. Each has one 64-bit mask of what is occupied
inside it and the number of the first thing inside; the number of any other is that plus the set bits before it.
Regions are found through a hash table. A ray crosses an empty region, 64 cells, in one step, so open space costs
little, and memory grows with what is occupied: 12 bytes for a brick, a block and a region each.

In a grid of voxels a cell is a volume; where little was seen, a whole brick or block is (`Volumes.levels`), which has an empty
mask and the number of its volume. In a grid of ellipsoids a cell has a list of the volumes that reach into it.
Several models stand one after the other in the same arrays.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import int64, uint64
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.kernels import Whole, inline_kernel, kernel
from tussock.scene.volumes import Volumes, unpacked
from tussock.trace.ray import Ray

__all__ = [
    "AFTER", "CELL", "ENTRY", "EXIT", "Cells", "Walk", "cell_keys", "cells_of", "grid_of", "grid_order", "joined", "new_walk",
    "next_cell", "start_walk", "volume_at",
]  # fmt: skip

_REGION = 64
_MOST_REGIONS = 1 << 15  # along an axis


class Cells(NamedTuple):
    """Grids, one row a model. Coordinates are whole cells from ``low``, the lowest corner of the lowest region."""

    low: NDArray[np.int64]
    """[cells], shape (k, 3)"""
    size: NDArray[np.int64]
    """[cells], multiples of 64, shape (k, 3)"""
    cell: NDArray[np.float64]
    """[m] side of a cell, shape (k,)"""
    slot_first: NDArray[np.int64]
    """where the model's hash table begins in ``slots``, shape (k,)"""
    slot_mask: NDArray[np.int64]
    """its length less one, a power of two less one, shape (k,)"""
    listing: NDArray[np.bool_]
    """whether cells are rows of ``list_start`` (ellipsoids) or volumes (voxels), shape (k,)"""
    slots: NDArray[np.int32]
    """number of a region, −1 where empty"""
    region_key: NDArray[np.int64]
    region_mask: NDArray[np.uint64]
    region_first: NDArray[np.int32]
    """number of the region's first block"""
    block_mask: NDArray[np.uint64]
    block_first: NDArray[np.int32]
    """number of the block's first brick, or of the volume that the block is (mask 0)"""
    brick_mask: NDArray[np.uint64]
    brick_first: NDArray[np.int32]
    """number of the brick's first cell, or of the volume that the brick is (mask 0)"""
    list_start: NDArray[np.int32]
    """start of a cell's list in ``listed``; the next row is its end"""
    listed: NDArray[np.int32]
    """volumes, cell by cell"""

    @property
    def nbytes(self) -> int:
        """memory of all arrays"""
        return sum(array.nbytes for array in self)


def cell_keys(coordinates: NDArray[np.int64], low: NDArray[np.int64]) -> NDArray[np.int64]:
    """One number for each cell (n, 3); in its order a grid numbers its cells. ``low`` is the lowest cell of all."""
    corner = low // _REGION * _REGION
    span = int((coordinates.max(0) - corner).max())
    if span >= _REGION * _MOST_REGIONS:
        raise InputError.of("volumes", f"must span at most {_REGION * _MOST_REGIONS} cells a side", span)
    keys = np.empty(len(coordinates), np.int64)
    _fill_keys(coordinates, corner, keys)
    return keys


@kernel
def _fill_keys(coordinates: Any, corner: Any, keys: Any) -> None:
    for c in range(len(coordinates)):
        x, y, z = coordinates[c, 0] - corner[0], coordinates[c, 1] - corner[1], coordinates[c, 2] - corner[2]
        key = ((x >> 6) << 30) | ((y >> 6) << 15) | (z >> 6)
        for shift in (4, 2, 0):
            key = (key << 6) | (((x >> shift) & 3) << 4) | (((y >> shift) & 3) << 2) | ((z >> shift) & 3)
        keys[c] = key


def cells_of(volumes: Volumes) -> tuple[Cells, NDArray[np.int64] | None]:
    """The grid of one model, and the order in which it needs the volumes; None: as they stand."""
    if volumes.partition == "voxels":
        voxels, levels = volumes.voxels, volumes.levels
        keys = cell_keys(voxels, voxels.min(0))
        order = _rising(keys)
        if order is not None:
            keys, levels = keys[order], levels[order]
        inside = 6 * levels[:-1].astype(np.int64)  # bits of a key that are within a voxel
        if (keys[1:] >> inside <= keys[:-1] >> inside).any():
            raise InputError("volumes means: two of them lie in the same voxel")
        return grid_of(keys, voxels.min(0), voxels.max(0), volumes.cell, levels), order
    volume, coordinates = _overlaps(volumes)
    low, high = coordinates.min(0), coordinates.max(0)
    keys = cell_keys(coordinates, low)
    order = np.argsort(keys, kind="stable")
    keys, volume = keys[order], volume[order]
    first = np.flatnonzero(np.diff(keys, prepend=-1))
    start = np.append(first, len(volume)).astype(np.int32)
    grid = grid_of(keys[first], low, high, volumes.cell)
    return grid._replace(listing=np.ones(1, np.bool_), list_start=start, listed=volume.astype(np.int32)), None


def grid_order(volumes: Volumes) -> NDArray[np.int64] | None:
    """The order in which the grid of a model needs its volumes; None: as they stand."""
    if volumes.partition != "voxels":
        return None
    voxels = volumes.voxels
    return _rising(cell_keys(voxels, voxels.min(0)))


def _rising(keys: NDArray[np.int64]) -> NDArray[np.int64] | None:
    return None if (np.diff(keys) > 0).all() else np.argsort(keys)


def grid_of(
    keys: NDArray[np.int64], low: NDArray[np.int64], high: NDArray[np.int64], cell: float,
    levels: NDArray[np.uint8] | None = None,
) -> Cells:  # fmt: skip
    """The grid over cells given by their rising keys; ``low`` and ``high`` are the lowest and highest cell.

    A cell of level 1 is the first of a whole brick, one of level 2 of a whole block.
    """
    corner = low // _REGION * _REGION
    size = (high // _REGION + 1) * _REGION - corner
    levels = np.zeros(len(keys), np.uint8) if levels is None else levels
    numbers, below = np.arange(len(keys)), levels <= 1
    bits = np.where(levels == 0, _bit(keys), np.uint64(0))
    bricks = _layer(keys[below], numbers[below], bits[below])
    # Blocks: of bricks, and those that are whole.
    keys_in_blocks = np.concatenate([bricks.keys, keys[~below] >> 6])
    numbers_in_blocks = np.concatenate([np.arange(len(bricks.keys)), numbers[~below]])
    bits_in_blocks = np.concatenate([_bit(bricks.keys), np.zeros((~below).sum(), np.uint64)])
    order = np.argsort(keys_in_blocks, kind="stable")
    blocks = _layer(keys_in_blocks[order], numbers_in_blocks[order], bits_in_blocks[order])
    regions = _layer(blocks.keys, np.arange(len(blocks.keys)), _bit(blocks.keys))
    parents = regions.keys
    slots = np.full(1 << max(2, (2 * len(parents) - 1).bit_length()), -1, np.int32)
    _fill_slots(slots, parents)
    empty = np.zeros(0, np.int32)
    return Cells(
        corner[None], size[None], np.array([float(cell)]), np.zeros(1, np.int64), np.array([len(slots) - 1]),
        np.zeros(1, np.bool_), slots, parents, regions.masks, regions.firsts, blocks.masks, blocks.firsts,
        bricks.masks, bricks.firsts, empty, empty,
    )  # fmt: skip


class _Layer(NamedTuple):
    """Bricks, blocks or regions."""

    keys: NDArray[np.int64]
    masks: NDArray[np.uint64]
    firsts: NDArray[np.int32]


def _layer(keys: NDArray[np.int64], numbers: NDArray[np.int64], bits: NDArray[np.uint64]) -> _Layer:
    """What things with rising keys lie in, which have these numbers and these bits in its mask."""
    above = keys >> 6
    first = np.flatnonzero(np.diff(above, prepend=-1))
    masks = np.bitwise_or.reduceat(bits, first) if len(first) else np.zeros(0, np.uint64)
    return _Layer(above[first], masks, numbers[first].astype(np.int32))


def _bit(keys: NDArray[np.int64]) -> NDArray[np.uint64]:
    bits: NDArray[np.uint64] = np.uint64(1) << (keys & 63).astype(np.uint64)
    return bits


def joined(grids: Sequence[Cells], volumes: Sequence[int]) -> Cells:
    """Grids one after the other; ``volumes`` is how many volumes each has."""
    if len(grids) == 1:
        return grids[0]
    slots, regions, blocks, bricks, lists, listed = (
        _starts([len(getattr(g, name)) for g in grids])
        for name in ("slots", "region_key", "block_mask", "brick_mask", "list_start", "listed")
    )
    before = _starts(volumes)
    parts: dict[str, list[NDArray[Any]]] = {name: [] for name in Cells._fields}
    for k, g in enumerate(grids):
        cells = lists[k] if g.listing[0] else before[k]
        shifted = g._replace(
            slot_first=g.slot_first + slots[k],
            slots=np.where(g.slots < 0, -1, g.slots + regions[k]).astype(np.int32),
            region_first=(g.region_first + blocks[k]).astype(np.int32),
            block_first=(g.block_first + np.where(g.block_mask == 0, cells, bricks[k])).astype(np.int32),
            brick_first=(g.brick_first + cells).astype(np.int32),
            list_start=(g.list_start + listed[k]).astype(np.int32),
            listed=(g.listed + before[k]).astype(np.int32),
        )
        for name in Cells._fields:
            parts[name].append(getattr(shifted, name))
    return Cells(**{name: np.concatenate(part) for name, part in parts.items()})


def _starts(lengths: Sequence[int]) -> list[int]:
    return [0, *np.cumsum(lengths).tolist()][: len(lengths)]


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


class Walk(NamedTuple):
    """Where a ray is in a grid; made once a thread, started for every ray."""

    at: NDArray[np.int64]
    """cell coordinates x, y, z, the numbers of the current region, block and brick, −1: not known yet, then `CELL`"""
    ray: NDArray[np.float64]
    """start x, y, z [cells], change a metre x, y, z, its inverse x, y, z, then `ENTRY`, `EXIT`, `END`, `AFTER`"""
    met: NDArray[np.int64]
    """scratch: volumes that the ray has passed, shape (m,)"""
    met_ray: NDArray[np.float64]
    """scratch: what is left of the ray behind each of them, where it was nearest and the spread there, shape (m, 3)"""


ENTRY, EXIT, END, AFTER = 9, 10, 11, 12
"""rows of `Walk.ray`: where the ray entered and left the cell just found, where the walk ends, and where the last
volume of a list was met [m]"""
CELL = 6
"""row of `Walk.at`: the cell whose list is being gone through, −1 for none"""
_LEVEL = 1e-12  # [cells] a metre that count as none: a ray along a wall of the grid never crosses it


@kernel
def new_walk() -> Any:
    return Walk(np.zeros(7, np.int64), np.zeros(13, np.float64), np.zeros(64, np.int64), np.zeros((64, 3), np.float64))


@inline_kernel
def start_walk(cells: Cells, model: Whole, walk: Walk, ray: Ray) -> bool:
    """Put a ray at the edge of a model's grid; False where it misses it before its far end."""
    at, way = walk.at, walk.ray
    scale = 1.0 / cells.cell[model]
    way[0], way[1], way[2] = ray.x * scale, ray.y * scale, ray.z * scale
    way[3], way[4], way[5] = ray.dx * scale, ray.dy * scale, ray.dz * scale
    enter, leave = 0.0, ray.far
    for a in range(3):
        way[a] -= cells.low[model, a]
        if abs(way[3 + a]) < _LEVEL:
            way[3 + a] = _LEVEL
        way[6 + a] = 1.0 / way[3 + a]
        s0 = -way[a] * way[6 + a]
        s1 = (cells.size[model, a] - way[a]) * way[6 + a]
        enter = max(enter, min(s0, s1))
        leave = min(leave, max(s0, s1))
    for a in range(3):
        at[a] = max(0, min(cells.size[model, a] - 1, int64(way[a] + enter * way[3 + a])))
    at[3] = at[4] = at[5] = at[CELL] = -1
    way[ENTRY] = way[EXIT] = enter
    way[END] = leave
    return enter < leave


@inline_kernel
def next_cell(cells: Cells, model: Whole, walk: Walk) -> Whole:
    """Number of the next occupied cell on the ray, −1 when there is none; its entry and exit are in the walk."""
    at, ray = walk.at, walk.ray
    # Everything that the loop needs is in registers; the walk is written when a cell was found.
    x, y, z = at[0], at[1], at[2]
    region, block, brick = at[3], at[4], at[5]
    px, py, pz, dx, dy, dz = ray[0], ray[1], ray[2], ray[3], ray[4], ray[5]
    ix, iy, iz = ray[6], ray[7], ray[8]
    ux, uy, uz = int64(dx > 0), int64(dy > 0), int64(dz > 0)
    way, end = ray[EXIT], ray[END]
    entry, found = way, int64(-1)
    while way < end and found < 0:
        # The largest empty thing that the ray is in: a region (6), a block (4), a brick (2); else a cell (0).
        level = int64(6)
        if region < 0:
            region = find_region(cells, model, x >> 6, y >> 6, z >> 6)
        if region >= 0:
            level = int64(4)
            if block < 0:
                block = inside(cells.region_mask[region], cells.region_first[region], x >> 4, y >> 4, z >> 4)
            if block >= 0:
                bricks = cells.block_mask[block]
                if bricks == uint64(0):
                    found = int64(cells.block_first[block])
                else:
                    level = int64(2)
                    if brick < 0:
                        brick = inside(bricks, cells.block_first[block], x >> 2, y >> 2, z >> 2)
                    if brick >= 0:
                        within = cells.brick_mask[brick]
                        if within == uint64(0):
                            found = int64(cells.brick_first[brick])
                        else:
                            level = int64(0)
                            found = inside(within, cells.brick_first[brick], x, y, z)
        # Leave it through the nearest wall. The way is measured from the start, so errors do not add up; along the
        # other axes the ray stays inside what it leaves, so it is never stuck on an edge.
        entry = way
        cx, cy, cz = x >> level, y >> level, z >> level
        wx, wy, wz = (
            (((cx + ux) << level) - px) * ix, (((cy + uy) << level) - py) * iy, (((cz + uz) << level) - pz) * iz,
        )  # fmt: skip
        old_x, old_y, old_z = x, y, z
        if wx <= wy and wx <= wz:
            way = max(way, wx)
            x = ((cx + ux) << level) - (1 - ux)
            y, z = _within(cy, level, y, py + way * dy), _within(cz, level, z, pz + way * dz)
            if x < 0 or x >= cells.size[model, 0]:
                end = way
        elif wy <= wz:
            way = max(way, wy)
            y = ((cy + uy) << level) - (1 - uy)
            x, z = _within(cx, level, x, px + way * dx), _within(cz, level, z, pz + way * dz)
            if y < 0 or y >= cells.size[model, 1]:
                end = way
        else:
            way = max(way, wz)
            z = ((cz + uz) << level) - (1 - uz)
            x, y = _within(cx, level, x, px + way * dx), _within(cy, level, y, py + way * dy)
            if z < 0 or z >= cells.size[model, 2]:
                end = way
        moved = (old_x ^ x) | (old_y ^ y) | (old_z ^ z)
        if moved >> 2:
            brick = int64(-1)
            if moved >> 4:
                block = int64(-1)
                if moved >> 6:
                    region = int64(-1)
    at[0], at[1], at[2], at[3], at[4], at[5] = x, y, z, region, block, brick
    ray[ENTRY], ray[EXIT], ray[END] = entry, way, end
    return found


@inline_kernel
def volume_at(cells: Cells, model: Whole, x: Whole, y: Whole, z: Whole) -> Whole:
    """Number of the volume in a cell [cells from zero] of a grid of voxels, −1 where there is none."""
    low, size = cells.low, cells.size
    x, y, z = x - low[model, 0], y - low[model, 1], z - low[model, 2]
    if not (0 <= x < size[model, 0] and 0 <= y < size[model, 1] and 0 <= z < size[model, 2]):
        return int64(-1)
    region = find_region(cells, model, x >> 6, y >> 6, z >> 6)
    if region < 0:
        return int64(-1)
    block = inside(cells.region_mask[region], cells.region_first[region], x >> 4, y >> 4, z >> 4)
    if block < 0:
        return int64(-1)
    bricks = cells.block_mask[block]
    if bricks == uint64(0):
        return int64(cells.block_first[block])
    brick = inside(bricks, cells.block_first[block], x >> 2, y >> 2, z >> 2)
    if brick < 0:
        return int64(-1)
    within = cells.brick_mask[brick]
    if within == uint64(0):
        return int64(cells.brick_first[brick])
    return int64(inside(within, cells.brick_first[brick], x, y, z))


@inline_kernel
def inside(mask: Any, first: Any, x: Any, y: Any, z: Any) -> Any:
    """Number of the thing at (x, y, z) inside something with this mask, −1 where there is none."""
    bit = uint64(((x & 3) << 4) | ((y & 3) << 2) | (z & 3))
    number = int64(-1)
    if (mask >> bit) & uint64(1) != uint64(0):
        number = first + set_bits(mask & ((uint64(1) << bit) - uint64(1)))
    return number


@inline_kernel
def set_bits(word: Any) -> Any:
    """How many bits are set."""
    a = uint64(word)
    a = a - ((a >> uint64(1)) & uint64(0x5555555555555555))
    a = (a & uint64(0x3333333333333333)) + ((a >> uint64(2)) & uint64(0x3333333333333333))
    a = (a + (a >> uint64(4))) & uint64(0x0F0F0F0F0F0F0F0F)
    return int64((a * uint64(0x0101010101010101)) >> uint64(56))


@inline_kernel
def _within(coarse: Any, level: Any, x: Any, place: Any) -> Any:
    """The coordinate along an axis through which the ray does not leave."""
    if level > 0:
        first = coarse << level
        x = max(first, min(first + (int64(1) << level) - 1, int64(place)))
    return x


@inline_kernel
def find_region(cells: Any, model: Any, x: Any, y: Any, z: Any) -> Any:
    key = (x << 30) | (y << 15) | z
    first, mask = cells.slot_first[model], cells.slot_mask[model]
    slot = _slot(key, mask)
    number = int64(cells.slots[first + slot])
    while number >= 0 and cells.region_key[number] != key:
        slot = (slot + 1) & mask
        number = int64(cells.slots[first + slot])
    return number
