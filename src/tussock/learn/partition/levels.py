"""Voxels as large as what was seen in them allows: fine where pulses are dense, coarser where they are few.

A brick of 4×4×4 voxels whose voxels hold fewer than ``fewest`` returns each, on average, is learned as one volume; a block
of 4×4×4 such bricks, if they hold fewer each, likewise. Far from the sensor, and where it passed once, pulses are few, so size
follows distance and density by itself. The bricks and blocks are those of the grid that finds volumes on a ray
(`tussock.trace.volume_cells`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from tussock.learn.partition.voxel_sums import VoxelSums
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

    def __len__(self) -> int:
        return len(self.voxels)

    def select(self, rows: NDArray[np.bool_]) -> Levelled:
        """The chosen voxels."""
        return Levelled(*(getattr(self, field.name)[rows] for field in fields(self)))

    @property
    def sides(self) -> NDArray[np.int64]:
        """in voxels of the finest kind, shape (n,)"""
        return _BRICK ** self.levels.astype(np.int64)


def levelled(sums: VoxelSums, fewest: float) -> Levelled:
    """Voxels of three sizes out of sums of the finest; ``fewest`` returns a voxel, 0: all are of the finest."""
    kept = sums
    parts: list[VoxelSums] = []
    for level in range(2):
        if fewest <= 0 or not len(kept):
            break
        above, group, members = _groups(np.floor_divide(kept.voxels, _BRICK))
        sparse = np.bincount(group, kept.counts, len(above)) < fewest * members
        if level == 1:
            # A block is whole only where none of its bricks is fine.
            sparse &= ~np.isin(above, _number(np.floor_divide(parts[0].voxels, _BRICK**2)))
        merged = sparse[group]
        parts.append(kept.select(~merged))
        kept = kept.select(merged).coarser(_BRICK) if merged.any() else kept.select(merged)
    parts.append(kept)
    voxels = np.concatenate([part.voxels * _BRICK**level for level, part in enumerate(parts)])
    levels = np.repeat(np.arange(len(parts)), [len(part) for part in parts]).astype(np.uint8)
    order = np.argsort(cell_keys(voxels, voxels.min(0)))
    joined = [
        np.concatenate([getattr(part, name) for part in parts if len(part)])[order]
        for name in ("counts", "places", "scatter", "variance", "noise", "intensity", "seen")
    ]
    return Levelled(voxels[order], levels[order], *joined)


def _groups(cells: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Numbers of cells without repetition, which of them each is, and how many are the same."""
    unique, group, members = np.unique(_number(cells), return_inverse=True, return_counts=True)
    return unique, group.ravel(), members


def _number(cells: NDArray[np.int64]) -> NDArray[np.int64]:
    """One number for each cell within 2^19 of zero."""
    x, y, z = (cells + (1 << 19)).T
    number: NDArray[np.int64] = (x << 40) | (y << 20) | z
    return number
