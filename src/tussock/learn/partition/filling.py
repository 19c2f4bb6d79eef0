"""What lies between the returns: volumes where no pulse has been, as those around them are.

Lasers draw lines; between two of them on the ground nothing was measured, and a pulse of another line would fall through the
hole into the depth. So an empty voxel of a brick that has returns is *filled* with what the Gaussian N(μ, C) of the brick and the
26 around it has there: with the voxel a Gaussian too, of its middle c and the spread of a side of v, v²/12, their product has

    P = C⁻¹ + 12/v²,   mean P⁻¹ (C⁻¹ μ + 12/v² c)

It is kept where its mean lies inside the voxel and within τ = 2 of N. In the same way an empty brick of a block is filled, by the
block alone.
Pulses that pass a filled volume are counted as those of any other: what was seen through is not there
(`tussock.learn.permeability.filled_shells`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from tussock.kernels import kernel
from tussock.learn.partition.gaussians import inverse, regular
from tussock.learn.partition.voxel_sums import VoxelSums

__all__ = ["Filled", "Surroundings", "fill"]

_BRICK = 4
_FEWEST = 3
"""returns that a Gaussian says something of its surroundings with"""
_WITHIN = 4.0
"""squared Mahalanobis distance"""


class Filled(NamedTuple):
    """Volumes that nothing was seen of, one row each."""

    voxels: NDArray[np.int64]
    """of the inner kind, shape (n, 3)"""
    places: NDArray[np.float64]
    """mean [m], shape (n, 3)"""
    covariances: NDArray[np.float64]
    """(xx, xy, xz, yy, yz, zz) [m²], shape (n, 6)"""
    source: NDArray[np.int64]
    """the outer voxel that each was made of, shape (n,)"""


class Surroundings(NamedTuple):
    """What was seen in and around voxels, one row a voxel."""

    counts: NDArray[np.int64]
    """returns, shape (n,)"""
    offsets: NDArray[np.float64]
    """their mean less the voxel's corner [m], shape (n, 3)"""
    scatter: NDArray[np.float64]
    """Σ (p − mean)(p − mean)ᵀ as xx, xy, xz, yy, yz, zz [m²], shape (n, 6)"""
    rings: NDArray[np.int64]
    """the lowest and the highest of them, shape (n, 2)"""
    side: float
    """[m] of a voxel"""

    @staticmethod
    def none(sums: VoxelSums) -> Surroundings:
        """What was seen in the voxels alone."""
        return Surroundings(sums.counts, _from_corner(sums), sums.scatter, sums.rings, sums.voxel)

    @staticmethod
    def of(sums: VoxelSums) -> Surroundings:
        """What was seen in each voxel and the 26 around it."""
        low = sums.voxels.min(0) - 1
        span = sums.voxels.max(0) - low + 2
        keys = ((sums.voxels - low) * [span[1] * span[2], span[2], 1]).sum(1)  # rising, as the voxels are
        n, own, scatter, rings = sums.counts.astype(np.float64), _from_corner(sums), sums.scatter, sums.rings.copy()
        total, first, second = n.copy(), own * n[:, None], scatter + n[:, None] * _squares(own)
        for step in np.ndindex(3, 3, 3):
            way = np.array(step) - 1
            if not way.any():
                continue
            wanted = keys + (way * [span[1] * span[2], span[2], 1]).sum()
            at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
            found = np.flatnonzero(keys[at] == wanted)
            other = at[found]
            m, mean = n[other], own[other] + way * sums.voxel
            total[found] += m
            first[found] += m[:, None] * mean
            second[found] += scatter[other] + m[:, None] * _squares(mean)
            rings[found, 0] = np.minimum(rings[found, 0], sums.rings[other, 0])
            rings[found, 1] = np.maximum(rings[found, 1], sums.rings[other, 1])
        mean = first / total[:, None]
        return Surroundings(total.astype(np.int64), mean, second - total[:, None] * _squares(mean), rings, sums.voxel)


def fill(
    inner: VoxelSums, outer: VoxelSums, group: NDArray[np.int64], split: NDArray[np.bool_], seen: Surroundings
) -> Filled:
    """Fill the empty ``inner`` voxels of those ``outer`` ones that are ``split`` (outer,), by what was ``seen`` around them.

    ``group``: the outer voxel that each inner one lies in.
    """
    masks = np.zeros(len(outer), np.uint64)
    _mark(inner.voxels, group, masks)
    rows = np.flatnonzero(split & (seen.counts >= _FEWEST))
    v = inner.voxel
    covariances = regular(seen.scatter[rows], seen.counts[rows], np.full(len(rows), outer.voxel))
    precisions = inverse(covariances) * v**2
    means = seen.offsets[rows] / v
    given = (np.ascontiguousarray(masks[rows]), means, precisions)
    n = _cut(*given, np.zeros((0, 3), np.int64), np.zeros((0, 3)), np.zeros((0, 6)), np.zeros(0, np.int64))
    cells, places, spreads, source = (
        np.empty((n, 3), np.int64),
        np.empty((n, 3)),
        np.empty((n, 6)),
        np.empty(n, np.int64),
    )
    _cut(*given, cells, places, spreads, source)
    corner = outer.voxels[rows][source] * _BRICK
    return Filled(corner + cells, (corner + places) * v, spreads * v**2, rows[source])


def _from_corner(sums: VoxelSums) -> NDArray[np.float64]:
    """The mean of each voxel's returns less its corner [m], shape (n, 3)."""
    return sums.places - sums.voxels * sums.voxel


def _squares(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Their products xx, xy, xz, yy, yz, zz, shape (n, 6)."""
    products: NDArray[np.float64] = vectors[:, [0, 0, 0, 1, 1, 2]] * vectors[:, [0, 1, 2, 1, 2, 2]]
    return products


@kernel
def _mark(voxels: Any, group: Any, masks: Any) -> None:
    """Set the bits of the inner voxels that have returns."""
    for i in range(len(voxels)):
        bit = ((voxels[i, 0] & 3) << 4) | ((voxels[i, 1] & 3) << 2) | (voxels[i, 2] & 3)
        masks[group[i]] |= uint64(1) << uint64(bit)


@kernel
def _cut(masks: Any, means: Any, precisions: Any, cells: Any, places: Any, spreads: Any, source: Any) -> int:
    """Fill in what is cut out of each Gaussian, in sides of an inner voxel; how many there are, where there is no room for them."""
    n = 0
    for b in range(len(masks)):
        xx, xy, xz = precisions[b, 0], precisions[b, 1], precisions[b, 2]
        yy, yz, zz = precisions[b, 3], precisions[b, 4], precisions[b, 5]
        mx, my, mz = means[b, 0], means[b, 1], means[b, 2]
        for bit in range(64):
            if (masks[b] >> uint64(bit)) & uint64(1) != uint64(0):
                continue
            i, j, k = bit >> 4, (bit >> 2) & 3, bit & 3
            # from the middle of the cell: P·m = C⁻¹·(μ − c)
            wx, wy, wz = mx - (i + 0.5), my - (j + 0.5), mz - (k + 0.5)
            rx, ry, rz = xx * wx + xy * wy + xz * wz, xy * wx + yy * wy + yz * wz, xz * wx + yz * wy + zz * wz
            a, d, f = xx + 12.0, yy + 12.0, zz + 12.0
            cxx, cxy, cxz = d * f - yz * yz, xz * yz - xy * f, xy * yz - xz * d
            cyy, cyz, czz = a * f - xz * xz, xy * xz - a * yz, a * d - xy * xy
            det = a * cxx + xy * cxy + xz * cxz
            px, py, pz = (
                (cxx * rx + cxy * ry + cxz * rz) / det,
                (cxy * rx + cyy * ry + cyz * rz) / det,
                (cxz * rx + cyz * ry + czz * rz) / det,
            )
            if max(abs(px), abs(py), abs(pz)) >= 0.5:
                continue
            ux, uy, uz = px - wx, py - wy, pz - wz
            off = (
                ux * (xx * ux + xy * uy + xz * uz)
                + uy * (xy * ux + yy * uy + yz * uz)
                + uz * (xz * ux + yz * uy + zz * uz)
            )
            if off > _WITHIN:
                continue
            if n < len(source):
                cells[n, 0], cells[n, 1], cells[n, 2] = i, j, k
                places[n, 0], places[n, 1], places[n, 2] = i + 0.5 + px, j + 0.5 + py, k + 0.5 + pz
                spreads[n, 0], spreads[n, 1], spreads[n, 2] = cxx / det, cxy / det, cxz / det
                spreads[n, 3], spreads[n, 4], spreads[n, 5] = cyy / det, cyz / det, czz / det
                source[n] = b
            n += 1
    return n
