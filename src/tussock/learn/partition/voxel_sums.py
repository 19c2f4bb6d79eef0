"""What a drive taught each voxel, summed up part by part.

All that a Gaussian, its noise and its intensity need of the returns in a voxel are sums: of their number, of places and of
products of places, counted from the voxel's own corner so that nothing cancels. Sums are of whole numbers (places in 2^−20
of a voxel), so that they are the same to the last bit whatever the parts, their order and the threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.kernels import kernel
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.scene.volumes import MOST_VOXELS, voxels_of

__all__ = ["VoxelSums", "sum_up", "summed"]

_PLACE = 2.0**20
"""to a voxel's side"""
_NOISE = 2.0**40
"""to a square metre"""
_BRIGHT = 2.0**20
_COUNT, _MEAN, _SQUARE, _VARIANCE, _INTENSITY, _OF_NOISE = 0, 1, 4, 10, 11, 12
_FIRST, _LAST = 18, 19
_COLUMNS = 20


@dataclass(frozen=True, eq=False)
class VoxelSums:
    """One row a voxel, by rising place (x, then y, then z)."""

    voxels: NDArray[np.int64]
    """whole numbers along x, y and z, shape (n, 3)"""
    sums: NDArray[np.int64]
    """number, x y z, xx xy xz yy yz zz, σ², intensity, σ²·(xx xy xz yy yz zz of directions); then, not sums, the first and
    the last scan that ended there; shape (n, 20)"""
    voxel: float
    """[m]"""

    def __len__(self) -> int:
        return len(self.sums)

    @property
    def counts(self) -> NDArray[np.int64]:
        """returns of each voxel, shape (n,)"""
        return self.sums[:, _COUNT]

    @property
    def places(self) -> NDArray[np.float64]:
        """mean place [m], shape (n, 3)"""
        return (self.voxels + self._mean) * self.voxel

    @property
    def scatter(self) -> NDArray[np.float64]:
        """Σ (p − mean)(p − mean)ᵀ as xx, xy, xz, yy, yz, zz [m²], shape (n, 6)"""
        m, n = self._mean, self.counts[:, None]
        squares = self.sums[:, _SQUARE : _SQUARE + 6] / _PLACE**2
        return (squares - n * m[:, [0, 0, 0, 1, 1, 2]] * m[:, [0, 1, 2, 1, 2, 2]]) * self.voxel**2

    @property
    def variance(self) -> NDArray[np.float64]:
        """mean σ² of the range noise [m²], shape (n,)"""
        return self.sums[:, _VARIANCE] / _NOISE / self.counts

    @property
    def noise(self) -> NDArray[np.float64]:
        """Σ σ²·d dᵀ as xx, xy, xz, yy, yz, zz [m²], shape (n, 6)"""
        return self.sums[:, _OF_NOISE : _OF_NOISE + 6] / _NOISE

    @property
    def intensity(self) -> NDArray[np.float64]:
        """mean, shape (n,)"""
        return self.sums[:, _INTENSITY] / _BRIGHT / self.counts

    @property
    def seen(self) -> NDArray[np.int64]:
        """numbers of the first and the last scan with a return there, shape (n, 2)"""
        return self.sums[:, _FIRST : _LAST + 1]

    @property
    def _mean(self) -> NDArray[np.float64]:
        return self.sums[:, _MEAN : _MEAN + 3] / _PLACE / self.counts[:, None]

    def coarser(self, times: int) -> VoxelSums:
        """The same returns in voxels that are ``times`` as large, whose places are in steps as many times finer."""
        above = np.floor_divide(self.voxels, times)
        at = (self.voxels - above * times) * np.int64(_PLACE)
        sums = self.sums.copy()
        n = sums[:, :1]
        mean = sums[:, _MEAN : _MEAN + 3]
        a, b = [0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]
        squares = (
            sums[:, _SQUARE : _SQUARE + 6] + at[:, a] * mean[:, b] + at[:, b] * mean[:, a] + n * at[:, a] * at[:, b]
        )
        sums[:, _MEAN : _MEAN + 3] = (mean + n * at) // times
        sums[:, _SQUARE : _SQUARE + 6] = squares // times**2
        return _merged(above, sums, self.voxel * times)

    def select(self, rows: Any) -> VoxelSums:
        """The chosen rows (a mask or indices)."""
        return VoxelSums(self.voxels[rows], self.sums[rows], self.voxel)


def sum_up(pulses: MeasuredPulses, inside: NDArray[np.bool_], voxel: float) -> VoxelSums:
    """The sums of the returns that are ``inside`` what is learned."""
    points = pulses.points[inside]
    places = voxels_of(points, voxel)
    if len(places) and np.abs(places).max() > 2**MOST_VOXELS:
        rule = f"must be at least 2^-{MOST_VOXELS} of the distance to the furthest point [m]"
        raise InputError.of("voxel", rule, voxel, "use larger voxels, or points nearer to the origin")
    whole = np.clip((points / voxel - places) * _PLACE, 0, _PLACE - 1).astype(np.int64)
    noise = pulses.noise.variances(pulses.intensity[inside], pulses.ranges[inside])
    rows = np.empty((len(points), _COLUMNS), np.int64)
    _fill(whole, pulses.directions[inside], noise, pulses.intensity[inside], rows)
    rows[:, _FIRST] = rows[:, _LAST] = pulses.turns[inside]
    return _merged(places.astype(np.int64), rows, voxel)


def summed(parts: Sequence[VoxelSums]) -> VoxelSums:
    """Several sums as one."""
    return _merged(np.concatenate([p.voxels for p in parts]), np.concatenate([p.sums for p in parts]), parts[0].voxel)


def _merged(voxels: NDArray[np.int64], rows: NDArray[np.int64], voxel: float) -> VoxelSums:
    """Rows of the same voxel added up."""
    if not len(voxels):
        return VoxelSums(voxels, rows, voxel)
    low = voxels.min(0)
    span = voxels.max(0) - low + 1
    keys = ((voxels[:, 0] - low[0]) * span[1] + voxels[:, 1] - low[1]) * span[2] + voxels[:, 2] - low[2]
    if float(span[0]) * float(span[1]) * float(span[2]) >= 2.0**62:
        raise InputError.of("voxel", "is too small for an extent like that", voxel, "use larger voxels")
    unique, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    sums = np.zeros((len(unique), rows.shape[1]), np.int64)
    sums[:, _FIRST], sums[:, _LAST] = rows[first, _FIRST], rows[first, _LAST]
    _add(rows, inverse.ravel(), sums)
    return VoxelSums(voxels[first], sums, voxel)


@kernel
def _fill(whole: Any, directions: Any, noise: Any, intensity: Any, rows: Any) -> None:
    for p in range(len(whole)):
        row = rows[p]
        row[_COUNT] = 1
        row[_VARIANCE] = np.int64(np.rint(noise[p] * _NOISE))
        row[_INTENSITY] = np.int64(np.rint(np.float64(intensity[p]) * _BRIGHT))
        k = 0
        for a in range(3):
            row[_MEAN + a] = whole[p, a]
            for b in range(a, 3):
                row[_SQUARE + k] = whole[p, a] * whole[p, b]
                row[_OF_NOISE + k] = np.int64(np.rint(noise[p] * directions[p, a] * directions[p, b] * _NOISE))
                k += 1


@kernel
def _add(rows: Any, labels: Any, sums: Any) -> None:
    for p in range(len(rows)):
        into = sums[labels[p]]
        for c in range(_FIRST):
            into[c] += rows[p, c]
        into[_FIRST] = min(into[_FIRST], rows[p, _FIRST])
        into[_LAST] = max(into[_LAST], rows[p, _LAST])
