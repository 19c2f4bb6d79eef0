"""A ray meets volumes: it ends in one of them or gets away.

Deschaud et al. (2012), section IV. Volumes are met in the order in which the ray crosses them; what is left of it
after each is the product of their permeabilities, each in the shell that the ray passes through: the survival function
S(k) = ρ₁·…·ρₖ. One uniform number u a pulse decides by the inverse CDF: the ray ends in the first volume k with
S(k) < u, which has the probability S(k−1) − S(k), as if it were decided anew at every volume. A ray that gets away is
given back by the closure of the last volume it met. Where it ends, its range is sampled from the Gaussian cut along the
ray, eqs (2) and (3).

Chance belongs to the pulse, not to the sub-ray, because permeability was counted from whole pulses: the axis of the beam
is asked, once (`tussock.pulse.volumes`).

What a first return leaves of a pulse may return from further behind. How often is learned (`Volumes.second`); where is
told by the same walk, begun behind the first return, given that it ends.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numba import int64
from numpy.typing import NDArray

from tussock.kernels import Array, Real, Whole, inline_kernel, loop_kernel
from tussock.randomness import normal_pair
from tussock.scene.volumes import HELD_STEP, Volumes
from tussock.trace.ray import Ray
from tussock.trace.volume_cells import AFTER, CELL, ENTRY, EXIT, Cells, Walk, cells_of, joined, next_cell, start_walk

__all__ = ["Gaussians", "closest", "end_behind", "end_in_volumes", "gaussians_of", "next_volume", "shell_of"]

_SHARE = 1.0 / 65535.0
_NOTHING_LEFT = 1e-6


class Gaussians(NamedTuple):
    """What the kernels read of the volumes of all models, one after the other."""

    cells: Cells
    means: NDArray[np.float32]
    precisions: NDArray[np.float32]
    shells: NDArray[np.uint16]
    """shape (n, s)"""
    closure: NDArray[np.uint16]
    edges2: NDArray[np.float32]
    """squared outer distances of the shells of each model, shape (k, s); a shell that a model has not ends where its last one does"""
    intensity: NDArray[np.float32]
    held: NDArray[np.float32]
    """[m²] range noise that is already in a volume"""
    second: NDArray[np.uint16]
    gap: NDArray[np.float32]
    """[m] between two returns, of each model, shape (k,)"""


def gaussians_of(models: Sequence[Volumes]) -> Gaussians:
    """The tables of some models; a single one whose volumes stand in their grid's order is not copied."""
    grids, columns = [], []
    most = max(len(model.edges) for model in models)
    edges2 = np.empty((len(models), most), np.float32)
    for k, model in enumerate(models):
        grid, order = cells_of(model)
        rows = slice(None) if order is None else order
        edges2[k] = model.edges[-1] ** 2
        edges2[k, : len(model.edges)] = model.edges**2
        shells = model.shells
        if shells.shape[1] < most:
            shells = np.pad(shells, ((0, 0), (0, most - shells.shape[1])))
        grids.append(grid)
        held = (model.held * np.float32(HELD_STEP)) ** 2
        arrays = (model.means, model.precisions, shells, model.closure, model.intensity, held, model.second)
        columns.append([array[rows] for array in arrays])
    means, precisions, shells, closure, intensity, held, second = (
        part[0] if len(part) == 1 else np.concatenate(part) for part in zip(*columns, strict=True)
    )
    cells = joined(grids, [len(model) for model in models])
    gap = np.array([model.gap for model in models], np.float32)
    return Gaussians(cells, means, precisions, shells, closure, edges2, intensity, held, second, gap)


@inline_kernel
def closest(gaussians: Gaussians, i: Whole, ray: Ray) -> tuple[Real, Real, Real]:
    """Where a ray is nearest to volume ``i``: range t [m] of eq (1), spread σ_t [m] of eq (3), squared distance.

    Everything is taken from the foot of the perpendicular, so that nothing cancels far from the sensor. The mean
    of eq (2) is the same t.
    """
    means, precisions, dx, dy, dz = gaussians.means, gaussians.precisions, ray.dx, ray.dy, ray.dz
    vx, vy, vz = means[i, 0] - ray.x, means[i, 1] - ray.y, means[i, 2] - ray.z
    foot = vx * dx + vy * dy + vz * dz
    wx, wy, wz = vx - foot * dx, vy - foot * dy, vz - foot * dz
    xx, xy, xz = precisions[i, 0], precisions[i, 1], precisions[i, 2]
    yy, yz, zz = precisions[i, 3], precisions[i, 4], precisions[i, 5]
    gx, gy, gz = xx * dx + xy * dy + xz * dz, xy * dx + yy * dy + yz * dz, xz * dx + yz * dy + zz * dz
    along = 1.0 / (gx * dx + gy * dy + gz * dz)
    across = gx * wx + gy * wy + gz * wz
    whole = wx * (xx * wx + xy * wy + xz * wz) + wy * (xy * wx + yy * wy + yz * wz) + wz * (xz * wx + yz * wy + zz * wz)
    return foot + across * along, math.sqrt(along), max(whole - across * across * along, 0.0)


@inline_kernel
def shell_of(edges2: Array, model: Whole, distance2: Real) -> Whole:
    """Number of the shell at a squared distance, −1 outside all."""
    # Edges rise, and those that a model has not are as far out as its last: counting those that are passed is the same as
    # stopping at the first that is not, and the processor need not guess where that is.
    shells, inner = edges2.shape[1], int64(0)
    for s in range(shells):
        inner += int64(not distance2 < edges2[model, s])
    return inner if inner < shells else int64(-1)


@inline_kernel
def next_volume(gaussians: Gaussians, model: Whole, walk: Walk, ray: Ray) -> tuple[Whole, Whole, Real, Real]:
    """The next volume on a ray: its number, −1 when there is none, the shell, −1 outside all, and `closest`'s t, σ."""
    found, shell, t, sigma, distance2 = int64(-1), -1, math.inf, 0.0, math.inf
    searching = True
    while searching:
        cell = walk.at[CELL]
        if cell >= 0:
            found, t, sigma, distance2 = _next_listed(gaussians, walk, cell, ray)
            searching = found < 0
            if searching:
                walk.at[CELL] = -1
        else:
            cell = next_cell(gaussians.cells, model, walk)
            if cell < 0:
                searching = False
            elif gaussians.cells.listing[model]:
                walk.at[CELL], walk.ray[AFTER] = cell, -math.inf
            else:
                t, sigma, distance2 = closest(gaussians, cell, ray)
                found, searching = cell, False
    if found >= 0:
        shell = shell_of(gaussians.edges2, model, distance2)
    return found, shell, t, sigma


@loop_kernel
def _next_listed(gaussians: Gaussians, walk: Walk, cell: Whole, ray: Ray) -> tuple[Whole, Real, Real, Real]:
    """The next volume in the list of a cell: number, −1 for none, and what `closest` says.

    A volume reaches into several cells; it is met in the one where the ray is nearest to it.
    """
    cells = gaussians.cells
    after, enter, leave = walk.ray[AFTER], walk.ray[ENTRY], walk.ray[EXIT]
    best, best_t, best_sigma, best2 = int64(-1), math.inf, 0.0, math.inf
    for row in range(cells.list_start[cell], cells.list_start[cell + 1]):
        i = int64(cells.listed[row])
        t, sigma, distance2 = closest(gaussians, i, ray)
        if enter <= t < leave and after < t < best_t:
            best, best_t, best_sigma, best2 = i, t, sigma, distance2
    if best >= 0:
        walk.ray[AFTER] = best_t
    return best, best_t, best_sigma, best2


@loop_kernel
def _more_behind(gaussians: Gaussians, model: Whole, walk: Walk, ray: Ray, last: Whole) -> bool:
    """Whether a ray would meet another volume than ``last`` behind its far end."""
    far = ray.far
    rest = Ray(
        ray.x + far * ray.dx,
        ray.y + far * ray.dy,
        ray.z + far * ray.dz,
        ray.dx,
        ray.dy,
        ray.dz,
        0.0,
        math.inf,
        ray.time,
    )
    more = False
    going = start_walk(gaussians.cells, model, walk, rest)
    while going:
        i, shell, _, _ = next_volume(gaussians, model, walk, rest)
        more = shell >= 0 and i != last
        going = i >= 0 and not more
    return more


@inline_kernel
def end_in_volumes(
    gaussians: Gaussians, model: Whole, walk: Walk, ray: Ray, open_end: bool, words: tuple[Whole, Whole, Whole, Whole]
) -> tuple[Real, Whole]:
    """Range [m] and number of the volume that a ray ends in before its far end; infinity and −1 where it gets away.

    The ray is given in the model's coordinates, from its start on. ``open_end``: nothing stands at the far end. The
    closure of the last volume has a say where no other volume lies on the ray, be there sky or a wall behind it: it was
    counted from pulses that met this volume last. ``words`` are the pulse's four random words.
    """
    u = (words[0] + 0.5) * 2.0**-32
    left: Real = 1.0
    passed = 0
    found, where, spread = int64(-1), math.inf, 0.0
    met, met_ray = walk.met, walk.met_ray
    going = start_walk(gaussians.cells, model, walk, ray)
    while going:
        i, shell, t, sigma = next_volume(gaussians, model, walk, ray)
        going = i >= 0
        if shell >= 0:
            left *= gaussians.shells[i, shell] * _SHARE
            if left < u:
                found, where, spread, going = i, t, sigma, False
            elif passed < len(met):
                met[passed] = i
                met_ray[passed, 0], met_ray[passed, 1], met_ray[passed, 2] = left, t, sigma
                passed += 1
    closed = found < 0 and passed > 0 and words[3] < gaussians.closure[met[passed - 1]] * 2.0**16
    if closed and not open_end:
        closed = not _more_behind(gaussians, model, walk, ray, met[passed - 1])
    if closed:
        # It ends after all, in volume k with the probability (S(k−1) − S(k)) / (1 − S(n)). It got away, so u is uniform
        # on (0, S(n)); stretched to (S(n), 1) it is uniform there, and the inverse CDF is as above.
        u = left + (1.0 - left) * (u / left)
        k = 0
        while k < passed - 1 and met_ray[k, 0] >= u:
            k += 1
        found, where, spread = met[k], met_ray[k, 1], met_ray[k, 2]
    if found >= 0:
        where = max(where + spread * normal_pair(words[1], words[2])[0], 0.0)
        if where >= ray.far:  # the surface that stands there is met first
            found, where = int64(-1), math.inf
    return where, found


@loop_kernel
def end_behind(
    gaussians: Gaussians, model: Whole, walk: Walk, ray: Ray, words: tuple[Whole, Whole, Whole, Whole]
) -> tuple[Real, Whole]:
    """Range [m] and number of the volume that a ray ends in, given that it ends; infinity and −1 where it meets none.

    The inverse CDF as above, of a number that is uniform on (S(n), 1).
    """
    left: Real = 1.0
    passed = 0
    found, where = int64(-1), math.inf
    met, met_ray = walk.met, walk.met_ray
    going = start_walk(gaussians.cells, model, walk, ray)
    while going:
        i, shell, t, sigma = next_volume(gaussians, model, walk, ray)
        going = i >= 0 and left > _NOTHING_LEFT and passed < len(met)
        if going and shell >= 0 and t > 0.0:
            left *= gaussians.shells[i, shell] * _SHARE
            met[passed] = i
            met_ray[passed, 0], met_ray[passed, 1], met_ray[passed, 2] = left, t, sigma
            passed += 1
    if passed > 0:
        u = left + (1.0 - left) * (words[0] + 0.5) * 2.0**-32
        k = 0
        while k < passed - 1 and met_ray[k, 0] >= u:
            k += 1
        found = met[k]
        where = max(met_ray[k, 1] + met_ray[k, 2] * normal_pair(words[1], words[2])[0], 0.0)
    return where, found
