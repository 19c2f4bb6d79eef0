"""A ray meets volumes: it ends in one of them or passes them all.

Deschaud et al. (2012), section IV. Volumes are met in the order in which the ray crosses them. At each, chance
decides by the permeability of the shell that the ray passes through; where the ray ends, its range is drawn from
the Gaussian cut along the ray, eqs (2) and (3). Chance is a function of the pulse and the volume, not of the
sub-ray: permeability was counted from whole pulses, so a volume is open or closed to a pulse as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import inline_kernel, kernel
from tussock.randomness import Purpose, normal_pair, philox
from tussock.scene.volumes import Volumes
from tussock.trace.volume_cells import AFTER, CELL, ENTRY, EXIT, Cells, cells_of, joined, next_cell, start_walk

__all__ = ["Gaussians", "closest", "end_in_volumes", "gaussians_of", "next_volume", "shell_of"]

_VOLUME = int(Purpose.VOLUME)


class Gaussians(NamedTuple):
    """What the kernels read of the volumes of all models, one after the other."""

    cells: Cells
    means: NDArray[np.float32]
    precisions: NDArray[np.float32]
    shells: NDArray[np.uint16]
    """shape (n, s)"""
    edges2: NDArray[np.float32]
    """squared outer distances of the shells of each model, shape (k, s); a shell that a model has not is NaN"""
    intensity: NDArray[np.float32]


def gaussians_of(models: Sequence[Volumes]) -> Gaussians:
    """The tables of some models; a single one whose volumes stand in their grid's order is not copied."""
    grids, columns = [], []
    most = max(len(model.edges) for model in models)
    edges2 = np.full((len(models), most), np.nan, np.float32)
    for k, model in enumerate(models):
        grid, order = cells_of(model)
        rows = slice(None) if order is None else order
        edges2[k, : len(model.edges)] = model.edges**2
        shells = model.shells
        if shells.shape[1] < most:
            shells = np.pad(shells, ((0, 0), (0, most - shells.shape[1])))
        grids.append(grid)
        columns.append([array[rows] for array in (model.means, model.precisions, shells, model.intensity)])
    means, precisions, shells, intensity = (
        part[0] if len(part) == 1 else np.concatenate(part) for part in zip(*columns, strict=True)
    )
    return Gaussians(joined(grids, [len(model) for model in models]), means, precisions, shells, edges2, intensity)


@inline_kernel
def closest(means: Any, precisions: Any, i: Any, ox: Any, oy: Any, oz: Any, dx: Any, dy: Any, dz: Any) -> Any:
    """Where a ray is nearest to volume ``i``: range t [m] of eq (1), spread σ_t [m] of eq (3), squared distance.

    Everything is taken from the foot of the perpendicular, so that nothing cancels far from the sensor. The mean
    of eq (2) is the same t.
    """
    vx, vy, vz = means[i, 0] - ox, means[i, 1] - oy, means[i, 2] - oz
    foot = vx * dx + vy * dy + vz * dz
    wx, wy, wz = vx - foot * dx, vy - foot * dy, vz - foot * dz
    xx, xy, xz = precisions[i, 0], precisions[i, 1], precisions[i, 2]
    yy, yz, zz = precisions[i, 3], precisions[i, 4], precisions[i, 5]
    gx, gy, gz = xx * dx + xy * dy + xz * dz, xy * dx + yy * dy + yz * dz, xz * dx + yz * dy + zz * dz
    along = gx * dx + gy * dy + gz * dz
    across = gx * wx + gy * wy + gz * wz
    whole = wx * (xx * wx + xy * wy + xz * wz) + wy * (xy * wx + yy * wy + yz * wz) + wz * (xz * wx + yz * wy + zz * wz)
    return foot + across / along, 1.0 / math.sqrt(along), max(whole - across * across / along, 0.0)


@inline_kernel
def shell_of(edges2: Any, model: Any, distance2: Any) -> Any:
    """Number of the shell at a squared distance, −1 outside all."""
    found = -1
    for s in range(edges2.shape[1]):
        if distance2 < edges2[model, s]:
            found = s
            break
    return found


@kernel
def next_volume(
    gaussians: Any, model: int, walk: Any, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float
) -> Any:
    """The next volume on a ray: its number, −1 when there is none, and what `closest` says of it."""
    cells = gaussians.cells
    while True:
        cell = walk.at[CELL]
        if cell >= 0:
            # A volume reaches into several cells; it is met in the one where the ray is nearest to it.
            after, enter, leave = walk.ray[AFTER], walk.ray[ENTRY], walk.ray[EXIT]
            best, best_t, best_sigma, best2 = -1, math.inf, 0.0, 0.0
            for row in range(cells.list_start[cell], cells.list_start[cell + 1]):
                i = cells.listed[row]
                t, sigma, distance2 = closest(gaussians.means, gaussians.precisions, i, ox, oy, oz, dx, dy, dz)
                if enter <= t < leave and after < t < best_t:
                    best, best_t, best_sigma, best2 = i, t, sigma, distance2
            if best >= 0:
                walk.ray[AFTER] = best_t
                return best, best_t, best_sigma, best2
            walk.at[CELL] = -1
        cell = next_cell(cells, model, walk)
        if cell < 0:
            return -1, math.inf, 0.0, 0.0
        if not cells.listing[model]:
            t, sigma, distance2 = closest(gaussians.means, gaussians.precisions, cell, ox, oy, oz, dx, dy, dz)
            return cell, t, sigma, distance2
        walk.at[CELL], walk.ray[AFTER] = cell, -math.inf


@kernel
def end_in_volumes(
    gaussians: Any, model: int, walk: Any, ox: float, oy: float, oz: float, dx: float, dy: float, dz: float,
    limit: float, key0: Any, key1: Any, pulse: Any, frame: Any, salt: Any,
) -> Any:  # fmt: skip
    """Range [m] and number of the volume that a ray ends in before ``limit``; infinity and −1 where it passes all.

    The ray is given in the model's coordinates; ``salt`` tells the copies of a model apart.
    """
    if not start_walk(gaussians.cells, model, walk, ox, oy, oz, dx, dy, dz, limit):
        return math.inf, -1
    while True:
        i, t, sigma, distance2 = next_volume(gaussians, model, walk, ox, oy, oz, dx, dy, dz)
        if i < 0:
            return math.inf, -1
        hit = _drawn(gaussians, model, i, t, sigma, distance2, key0, key1, pulse, frame, salt)
        if hit < math.inf:
            # Beyond the limit the surface there is met first.
            return (max(hit, 0.0), i) if hit < limit else (math.inf, -1)


@inline_kernel
def _drawn(
    gaussians: Any, model: Any, i: Any, t: Any, sigma: Any, distance2: Any, key0: Any, key1: Any, pulse: Any,
    frame: Any, salt: Any,
) -> Any:  # fmt: skip
    """The range at which a ray ends in volume ``i``, infinity where it passes."""
    shell = shell_of(gaussians.edges2, model, distance2)
    drawn = math.inf
    if shell >= 0 and gaussians.shells[i, shell] < np.uint16(65535):
        words = philox(key0, key1, pulse, frame, i + salt, _VOLUME)
        if words[0] >> np.uint32(16) >= np.uint32(gaussians.shells[i, shell]):
            drawn = t + sigma * normal_pair(words[1], words[2])[0]
    return drawn
