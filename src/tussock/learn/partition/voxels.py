"""Partition into regular voxels (Deschaud et al. 2012, section III.C.1)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.scene.volumes import MOST_VOXELS, voxels_of
from tussock.trace.volume_cells import cell_keys

__all__ = ["check_voxel", "into_voxels"]


def check_voxel(voxel: float) -> float:
    """The side of a voxel must be a length above 0."""
    if not (np.isfinite(voxel) and voxel > 0):
        raise InputError.of("voxel", "must be a length above 0 [m]", voxel)
    return float(voxel)


def into_voxels(points: NDArray[np.float64], voxel: float) -> tuple[NDArray[np.int64], int]:
    """The number of each point's voxel (n,), in the order of the grid that finds them, and how many there are."""
    voxel = check_voxel(voxel)
    place = voxels_of(points, voxel)
    if np.abs(place).max() > 2**MOST_VOXELS:
        rule = f"must be at least 2^-{MOST_VOXELS} of the distance to the furthest point [m]"
        raise InputError.of("voxel", rule, voxel, "use larger voxels, or points nearer to the origin")
    cells = place.astype(np.int64)
    unique, labels = np.unique(cell_keys(cells, cells.min(0)), return_inverse=True)
    return labels.ravel(), len(unique)
