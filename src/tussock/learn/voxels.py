"""Partition into regular voxels (Deschaud et al. 2012, section III.C.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.trace.volume_cells import grid_order

__all__ = ["check_voxel", "into_voxels"]


def check_voxel(voxel: float) -> float:
    """The side of a voxel must be a length above 0."""
    if not (np.isfinite(voxel) and voxel > 0):
        raise InputError.of("voxel", "must be a length above 0 [m]", voxel)
    return float(voxel)


def into_voxels(points: NDArray[np.float64], voxel: float) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each point's voxel (n,), and the coordinates of the voxels (v, 3) in the grid's order."""
    voxel = check_voxel(voxel)
    place = np.floor(points / voxel)
    if np.abs(place).max() > 2**24:
        raise InputError.of("voxel", "must be at least 2^-24 of the distance to the furthest point [m]", voxel)
    cells = place.astype(np.int64)
    low = cells.min(0)
    span = cells.max(0) - low + 1
    key = ((cells[:, 0] - low[0]) * span[1] + (cells[:, 1] - low[1])) * span[2] + (cells[:, 2] - low[2])
    unique, labels = np.unique(key, return_inverse=True)
    found = np.stack([unique // (span[1] * span[2]), unique // span[2] % span[1], unique % span[2]], 1) + low
    order = grid_order(found)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[labels.ravel()], found[order]
