"""Voxels as large as what was seen in them allows: fine where pulses are dense, coarser where they are few.

A brick of 4×4×4 voxels whose voxels hold fewer than ``fewest`` returns each, on average, is learned as one volume; a block
of 4×4×4 such bricks, if they hold fewer each, likewise. Far from the sensor, and where it passed once, pulses are few, so size
follows distance and density by itself. What lies between the returns may be filled
(`tussock.learn.partition.filling`). The bricks and blocks are those of the grid that finds volumes on a ray
(`tussock.trace.volume_cells`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.learn.partition.between_lines import spread_between
from tussock.learn.partition.filling import Filled, Surroundings, fill
from tussock.learn.partition.voxel_sums import VoxelSums
from tussock.threads import run_jobs
from tussock.trace.volume_cells import cell_keys

__all__ = ["Levelled", "levelled"]

_BRICK = 4


@dataclass(frozen=True, eq=False)
class Levelled:
    """What was seen in voxels of several sizes, in the order of the grid; one row a voxel."""

    voxels: NDArray[np.int64]
    """the lowest cell of each, in voxels of the finest kind, shape (n, 3)"""
    levels: NDArray[np.uint8]
    counts: NDArray[np.int64]
    places: NDArray[np.float64]
    """mean [m], shape (n, 3)"""
    scatter: NDArray[np.float64]
    """[m²], shape (n, 6)"""
    variance: NDArray[np.float64]
    """[m²] of the range noise"""
    noise: NDArray[np.float64]
    """Σ σ²·d dᵀ [m²], shape (n, 6)"""
    intensity: NDArray[np.float64]
    seen: NDArray[np.int64]
    """numbers of the first and the last scan with a return there, shape (n, 2)"""
    between: NDArray[np.float64]
    """[m²] covariance of what the returns stand for (`tussock.learn.partition.between_lines`), shape (n, 6)"""
    filled: NDArray[np.bool_]
    """whether nothing was seen of it (`tussock.learn.partition.filling`): counts are 0, and scatter is the covariance"""

    def __len__(self) -> int:
        return len(self.voxels)

    def select(self, rows: NDArray[np.bool_]) -> Levelled:
        """The chosen voxels."""
        chosen = np.flatnonzero(rows)
        return Levelled(*(np.take(getattr(self, field.name), chosen, axis=0) for field in fields(self)))

    def part(self, rows: slice) -> Levelled:
        """Voxels that follow each other, not copied."""
        return Levelled(*(getattr(self, field.name)[rows] for field in fields(self)))

    @property
    def sides(self) -> NDArray[np.int64]:
        """in voxels of the finest kind, shape (n,)"""
        return _BRICK ** self.levels.astype(np.int64)

    def inside(self, level: int) -> NDArray[np.int64]:
        """the number of the brick (1) or block (2) that each lies in, shape (n,)"""
        x, y, z = (np.floor_divide(self.voxels, _BRICK**level) + (1 << 20)).T
        return np.unique((x << 42) | (y << 21) | z, return_inverse=True)[1].ravel()


def levelled(
    sums: VoxelSums, fewest: float, *, filling: bool = False, spacing: NDArray[np.float64] | None = None,
    threads: int = 1,
) -> Levelled:  # fmt: skip
    """Voxels of three sizes out of sums of the finest; ``fewest`` returns a voxel, 0: all are of the finest.

    ``spacing`` [rad] is that of the lines of each ring; without it returns stand for themselves alone.
    """
    between = spacing is not None and bool(spacing.any())
    if fewest <= 0 and not filling and not between:
        return _joined([sums], [np.zeros((len(sums), 6))], [], threads)
    bricks, brick = sums.coarser(_BRICK)
    blocks, block = bricks.coarser(_BRICK)
    whole = bricks.counts < fewest * np.bincount(brick, minlength=len(bricks))
    # A block is whole only where none of its bricks is fine.
    whole_block = blocks.counts < fewest * np.bincount(block, minlength=len(blocks))
    whole_block &= np.bincount(block, ~whole, len(blocks)) == 0
    split = ~(whole | whole_block[block])
    fine, coarse = split[brick], whole & ~whole_block[block]
    parts = run_jobs(
        [partial(sums.select, fine), partial(bricks.select, coarse), partial(blocks.select, whole_block)], threads
    )
    spreads = [np.zeros((len(part), 6)) for part in parts]
    seen = Surroundings.of(bricks) if filling or between else Surroundings.none(bricks)
    if between and spacing is not None:
        spreads[:2] = [
            spread_between(parts[0], seen, brick[fine], spacing, threads),
            spread_between(parts[1], seen, np.flatnonzero(coarse), spacing, threads),
        ]
    if not filling:
        return _joined(parts, spreads, [], threads)
    filled, more = run_jobs(
        [
            partial(fill, sums, bricks, brick, split, seen),
            partial(fill, bricks, blocks, block, ~whole_block, Surroundings.none(blocks)),
        ],
        threads,
    )
    return _joined(parts, spreads, [(filled, bricks), (more, blocks)], threads)


def _joined(
    parts: list[VoxelSums], spreads: list[NDArray[np.float64]], fillings: list[tuple[Filled, VoxelSums]], threads: int
) -> Levelled:
    """Voxels of rising size, and what is filled of rising size out of others, in the order of the grid."""
    voxels = [part.voxels * _BRICK**level for level, part in enumerate(parts)]
    voxels += [some.voxels * _BRICK**level for level, (some, _) in enumerate(fillings)]
    levels = [*range(len(parts)), *range(len(fillings))]
    cells = np.concatenate(voxels)
    order = np.argsort(cell_keys(cells, cells.min(0)))
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    places = np.split(place, np.cumsum([len(some) for some in voxels])[:-1])
    none = [np.zeros((len(some.voxels), 6)) for some, _ in fillings]

    def of_returns(name: str, of_filled: list[NDArray[Any]] | None = None) -> list[NDArray[Any]]:
        made = [getattr(source, name)[some.source] for some, source in fillings] if of_filled is None else of_filled
        return [*(getattr(part, name) for part in parts), *made]

    columns: list[Callable[[], list[NDArray[Any]]]] = [
        lambda: voxels,
        lambda: [np.full(len(some), level, np.uint8) for some, level in zip(voxels, levels, strict=True)],
        lambda: of_returns("counts", [zero[:, 0].astype(np.int64) for zero in none]),
        lambda: of_returns("places", [some.places for some, _ in fillings]),
        lambda: of_returns("scatter", [some.covariances for some, _ in fillings]),
        lambda: of_returns("variance"),
        lambda: of_returns("noise", none),
        lambda: of_returns("intensity"),
        lambda: of_returns("seen"),
        lambda: [*spreads, *none],
        lambda: [np.full(len(some), k >= len(parts)) for k, some in enumerate(voxels)],
    ]
    return Levelled(*run_jobs([partial(_in_order, column, places) for column in columns], threads))


def _in_order(column: Callable[[], list[NDArray[Any]]], places: list[NDArray[np.int64]]) -> NDArray[Any]:
    """A column of all voxels from those of the parts, whose rows belong to these ``places``."""
    parts = column()
    whole = np.empty((sum(map(len, parts)), *parts[0].shape[1:]), np.result_type(*parts))
    for part, some in zip(parts, places, strict=True):
        whole[some] = part
    return whole
