"""What a drive taught each voxel, summed up part by part.

All that a Gaussian, its noise and its intensity need of the returns in a voxel are sums: of their number, of places and of
products of places, counted from the voxel's own corner so that nothing cancels. Sums are of whole numbers (places in 2^−20
of a voxel), so that they are the same to the last bit whatever the parts, their order and the threads.

A hash table finds the sums of a return's voxel. Each thread has one, and the voxels that are its own by their hash.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numba import int64, uint64
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.kernels import borrowed, inline_kernel, kernel
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.walks.side_by_side import side_by_side
from tussock.scene.volumes import MOST_VOXELS
from tussock.threads import in_blocks, run_jobs, run_on_threads

__all__ = ["Summing", "VoxelSums"]

_PLACE = 2.0**20
"""to a voxel's side"""
_STEPS = 1 << 20
"""the same as a whole number"""
_NOISE = 2.0**40
"""to a square metre"""
_BRIGHT = 2.0**20
_FAR = 2.0**16
"""to a square metre of range"""
_COUNT, _MEAN, _SQUARE, _VARIANCE, _INTENSITY, _OF_NOISE, _WAY, _SQUARE_RANGE = 0, 1, 4, 10, 11, 12, 18, 21
_FIRST, _LAST, _LOWEST, _HIGHEST = 22, 23, 24, 25
_COLUMNS = 26
_ROWS = 1 << 12
"""that a table begins with; it doubles"""
_MOST_TABLES = 8
_TOGETHER = 1 << 16
"""rows that are put in order together"""


@dataclass(frozen=True, eq=False)
class VoxelSums:
    """One row a voxel, by rising place (x, then y, then z)."""

    voxels: NDArray[np.int64]
    """whole numbers along x, y and z, shape (n, 3)"""
    sums: NDArray[np.int64]
    """number, x y z, xx xy xz yy yz zz, σ², intensity, σ²·(xx xy xz yy yz zz of directions), directions, r²; then, not
    sums, the first and the last scan that ended there, the lowest and the highest ring; shape (n, 26)"""
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
    def rings(self) -> NDArray[np.int64]:
        """the lowest and the highest number of a ring with a return there, shape (n, 2)"""
        return self.sums[:, _LOWEST : _HIGHEST + 1]

    @property
    def ways(self) -> NDArray[np.float64]:
        """mean direction of the pulses that ended there, of unit length, shape (n, 3)"""
        total = self.sums[:, _WAY : _WAY + 3] / _PLACE
        return total / np.maximum(np.linalg.norm(total, axis=1, keepdims=True), 1e-9)

    @property
    def square_ranges(self) -> NDArray[np.float64]:
        """mean square of the ranges [m²], shape (n,)"""
        return self.sums[:, _SQUARE_RANGE] / _FAR / self.counts

    @property
    def _mean(self) -> NDArray[np.float64]:
        return self.sums[:, _MEAN : _MEAN + 3] / _PLACE / self.counts[:, None]

    def coarser(self, times: int) -> tuple[VoxelSums, NDArray[np.int64]]:
        """The same returns in voxels that are ``times`` as large, whose places are in steps as many times finer, and in
        which of those each voxel lies, shape (n,)."""
        above = np.floor_divide(self.voxels, times)
        low = above.min(0)
        span = above.max(0) - low + 1
        keys = ((above[:, 0] - low[0]) * span[1] + above[:, 1] - low[1]) * span[2] + above[:, 2] - low[2]
        _, first, inside = np.unique(keys, return_index=True, return_inverse=True)
        sums = np.zeros((len(first), _COLUMNS), np.int64)
        sums[:, _FIRST:] = self.sums[first, _FIRST:]
        _add_to_coarser(self.sums, self.voxels - above * times, inside.ravel(), times, sums)
        return VoxelSums(above[first], sums, self.voxel * times), inside.ravel()

    def part(self, rows: slice) -> VoxelSums:
        """Voxels that follow each other, not copied."""
        return VoxelSums(self.voxels[rows], self.sums[rows], self.voxel)

    def select(self, rows: NDArray[Any]) -> VoxelSums:
        """The chosen rows (a mask or indices)."""
        chosen = np.flatnonzero(rows) if rows.dtype == np.bool_ else rows
        return VoxelSums(np.take(self.voxels, chosen, axis=0), np.take(self.sums, chosen, axis=0), self.voxel)


class Summing:
    """Adds returns to the sums of their voxels, part by part."""

    def __init__(self, voxel: float, threads: int) -> None:
        self._voxel, self._workers = voxel, min(threads, _MOST_TABLES)
        self._table = Table.empty(self._workers, _ROWS)

    def add(self, pulses: MeasuredPulses, inside: NDArray[np.bool_]) -> None:
        """Add the returns that are ``inside`` what is learned."""
        order = side_by_side(pulses)
        rows = order[inside[order]]
        if not len(rows):
            return
        noise = self._noise_of(pulses, rows)
        given = Returns(
            pulses.origins, pulses.directions, pulses.ranges, pulses.intensity, pulses.turns, pulses.rings, rows, noise
        )
        next_row = np.zeros(self._workers, np.int64)
        while True:
            run_on_threads(_add_returns, self._workers, self._table, given, self._voxel, next_row)
            if (next_row < 0).any():
                rule = f"must be at least 2^-{MOST_VOXELS} of the distance to the furthest point [m]"
                raise InputError.of("voxel", rule, self._voxel, "use larger voxels, or points nearer to the origin")
            if (next_row == len(rows)).all():
                return
            self._table = self._table.larger()

    def _noise_of(self, pulses: MeasuredPulses, rows: NDArray[np.int64]) -> NDArray[np.float64]:
        """[m²] variance of the ranges of the chosen pulses, shape (m,)."""

        def noise(some: slice) -> tuple[NDArray[np.float64]]:
            return (pulses.noise.variances(pulses.intensity[rows[some]], pulses.ranges[rows[some]]),)

        return in_blocks(noise, len(rows), self._workers)[0]

    def total(self) -> VoxelSums:
        """The sums; nothing can be added after that."""
        table, self._table = self._table, Table.empty(self._workers, 0)
        kept = np.arange(table.voxels.shape[1]) < table.used[:, None]
        voxels = table.voxels[kept].astype(np.int64)
        order = _by_place(voxels)
        rows, whole = np.flatnonzero(kept)[order], table.sums.reshape(-1, _COLUMNS)
        sums = np.empty((len(rows), _COLUMNS), np.int64)

        def put(first: int) -> None:
            some = slice(first, first + _TOGETHER)
            np.take(whole, rows[some], axis=0, out=sums[some], mode="clip")  # a mode that needs no room in between

        run_jobs([partial(put, first) for first in range(0, len(rows), _TOGETHER)], self._workers)
        return VoxelSums(np.take(voxels, order, axis=0), sums, self._voxel)


def _by_place(voxels: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order of different voxels (n, 3) by x, then y, then z."""
    if not len(voxels):
        return np.zeros(0, np.int64)
    low, high = (np.array([float(pick(along)) for along in voxels.T]) for pick in (np.min, np.max))
    span = high - low + 1
    if span.prod() >= 2.0**62:
        return np.lexsort(voxels.T[::-1])
    x, y, z = (voxels[:, axis] - int(low[axis]) for axis in range(3))
    return np.argsort((x * int(span[1]) + y) * int(span[2]) + z)


class Returns(NamedTuple):
    """Pulses, and which of them ended in what is learned."""

    origins: NDArray[np.float64]
    directions: NDArray[np.float64]
    ranges: NDArray[np.float64]
    intensity: NDArray[np.float32]
    turns: NDArray[np.int64]
    rings: NDArray[np.uint16]
    rows: NDArray[np.int64]
    """of the pulses that ended there, shape (m,)"""
    noise: NDArray[np.float64]
    """[m²] variance of the range of each of those, shape (m,)"""


class Table(NamedTuple):
    """Sums that are found by their voxel, a table a thread."""

    slots: NDArray[np.int32]
    """row of what is put here by its hash, −1: nothing; a power of two of them, at least twice the rows, shape (threads, s)"""
    voxels: NDArray[np.int32]
    """shape (threads, rows, 3)"""
    sums: NDArray[np.int64]
    """shape (threads, rows, 26)"""
    used: NDArray[np.int64]
    """how many rows, shape (threads,)"""

    @staticmethod
    def empty(threads: int, rows: int) -> Table:
        slots = 1 << int(max(2 * rows - 1, 1)).bit_length()
        return Table(
            np.full((threads, slots), -1, np.int32), np.empty((threads, rows, 3), np.int32),
            np.empty((threads, rows, _COLUMNS), np.int64), np.zeros(threads, np.int64),
        )  # fmt: skip

    def larger(self) -> Table:
        """The same with room for twice as many rows: what is not used of it the system does not hand out."""
        threads, rows, _ = self.voxels.shape
        table = Table.empty(threads, 2 * rows)
        run_on_threads(_move, threads, self, table)
        return table


@inline_kernel
def _hash(x: Any, y: Any, z: Any) -> Any:
    """Of a voxel; the low bits tell the slot, the highest ones the thread."""
    word = uint64(x) * uint64(0x9E3779B97F4A7C15) ^ uint64(y) * uint64(0xC2B2AE3D27D4EB4F)
    word = (word ^ uint64(z) * uint64(0x165667B19E3779F9)) * uint64(0xD6E8FEB86659FD93)
    return word ^ (word >> uint64(32))


@kernel
def _move(worker: int, workers: int, old: Table, table: Table) -> None:
    """Put the rows of a thread's table into a larger one."""
    _, old_voxels, old_sums, old_used = borrowed(old)
    slots, voxels, sums, used = borrowed(table)
    mask, n = uint64(slots.shape[1] - 1), old_used[worker]
    used[worker] = n
    voxels[worker, :n] = old_voxels[worker, :n]
    sums[worker, :n] = old_sums[worker, :n]
    for row in range(n):
        x, y, z = int64(voxels[worker, row, 0]), int64(voxels[worker, row, 1]), int64(voxels[worker, row, 2])
        slot = _hash(x, y, z) & mask
        while slots[worker, slot] >= 0:
            slot = (slot + uint64(1)) & mask
        slots[worker, slot] = row


@kernel
def _add_returns(worker: int, workers: int, table: Table, given: Returns, voxel: float, next_row: Any) -> None:
    """Add the worker's returns from ``next_row`` on until its table is full; there next_row is then."""
    all_slots, all_voxels, all_sums, used = borrowed(table)
    slots, voxels, sums = all_slots[worker], all_voxels[worker], all_sums[worker]
    origins, directions, ranges, intensity, turns, rings, rows, noise = borrowed(given)
    mask, n, most = uint64(len(slots) - 1), used[worker], 2.0**MOST_VOXELS
    m = next_row[worker]
    while m < len(rows):
        p = rows[m]
        t = ranges[p]
        px, py, pz = (
            origins[p, 0] + directions[p, 0] * t,
            origins[p, 1] + directions[p, 1] * t,
            origins[p, 2] + directions[p, 2] * t,
        )
        px, py, pz = px / voxel, py / voxel, pz / voxel
        fx, fy, fz = math.floor(px), math.floor(py), math.floor(pz)
        if max(abs(fx), abs(fy), abs(fz)) > most:
            next_row[worker] = -1
            return
        x, y, z = int64(fx), int64(fy), int64(fz)
        word = _hash(x, y, z)
        if int64((word >> uint64(48)) % uint64(workers)) == worker:
            slot = word & mask
            row = int64(slots[slot])
            while row >= 0 and not (voxels[row, 0] == x and voxels[row, 1] == y and voxels[row, 2] == z):
                slot = (slot + uint64(1)) & mask
                row = int64(slots[slot])
            if row < 0:
                if n == len(voxels):
                    break
                row = n
                n += 1
                slots[slot] = row
                voxels[row, 0], voxels[row, 1], voxels[row, 2] = x, y, z
                for c in range(_COLUMNS):
                    sums[row, c] = 0
                sums[row, _FIRST] = sums[row, _LAST] = turns[p]
                sums[row, _LOWEST] = sums[row, _HIGHEST] = rings[p]
            _add_return(
                sums, row, (px - fx, py - fy, pz - fz), (directions[p, 0], directions[p, 1], directions[p, 2]), noise[m]
            )
            sums[row, _INTENSITY] += int64(np.rint(np.float64(intensity[p]) * _BRIGHT))
            sums[row, _FIRST] = min(sums[row, _FIRST], turns[p])
            sums[row, _LAST] = max(sums[row, _LAST], turns[p])
            sums[row, _LOWEST] = min(sums[row, _LOWEST], int64(rings[p]))
            sums[row, _HIGHEST] = max(sums[row, _HIGHEST], int64(rings[p]))
            sums[row, _SQUARE_RANGE] += int64(np.rint(t * t * _FAR))
            for a in range(3):
                sums[row, _WAY + a] += int64(np.rint(directions[p, a] * _PLACE))
        m += 1
    next_row[worker], used[worker] = m, n


@inline_kernel
def _whole(place: Any) -> Any:
    """A place within a voxel as a whole number."""
    return int64(min(max(place * _PLACE, 0.0), _PLACE - 1.0))


@inline_kernel
def _add_place(sums: Any, row: Any, first: Any, place: Any) -> None:
    sums[row, first] += 1
    sums[row, first + 1] += _whole(place[0])
    sums[row, first + 2] += _whole(place[1])
    sums[row, first + 3] += _whole(place[2])


@inline_kernel
def _add_return(sums: Any, row: Any, place: Any, way: Any, noise: Any) -> None:
    _add_place(sums, row, _COUNT, place)
    x, y, z = _whole(place[0]), _whole(place[1]), _whole(place[2])
    dx, dy, dz = way
    sums[row, _SQUARE] += x * x
    sums[row, _SQUARE + 1] += x * y
    sums[row, _SQUARE + 2] += x * z
    sums[row, _SQUARE + 3] += y * y
    sums[row, _SQUARE + 4] += y * z
    sums[row, _SQUARE + 5] += z * z
    sums[row, _VARIANCE] += int64(np.rint(noise * _NOISE))
    sums[row, _OF_NOISE] += int64(np.rint(noise * dx * dx * _NOISE))
    sums[row, _OF_NOISE + 1] += int64(np.rint(noise * dx * dy * _NOISE))
    sums[row, _OF_NOISE + 2] += int64(np.rint(noise * dx * dz * _NOISE))
    sums[row, _OF_NOISE + 3] += int64(np.rint(noise * dy * dy * _NOISE))
    sums[row, _OF_NOISE + 4] += int64(np.rint(noise * dy * dz * _NOISE))
    sums[row, _OF_NOISE + 5] += int64(np.rint(noise * dz * dz * _NOISE))


@kernel
def _add_to_coarser(rows: Any, corners: Any, labels: Any, times: int, sums: Any) -> None:
    """Add sums whose voxels have their ``corners`` so many voxels from that of a larger one, ``times`` as wide."""
    for r in range(len(rows)):
        row, into = rows[r], sums[labels[r]]
        into[_COUNT] += row[_COUNT]
        k = 0
        for a in range(3):
            at = corners[r, a] * _STEPS
            into[_MEAN + a] += (row[_MEAN + a] + row[_COUNT] * at) // times
            for b in range(a, 3):
                other = corners[r, b] * _STEPS
                square = row[_SQUARE + k] + at * row[_MEAN + b] + other * row[_MEAN + a] + row[_COUNT] * at * other
                into[_SQUARE + k] += square // times**2
                k += 1
        for c in range(_VARIANCE, _FIRST):
            into[c] += row[c]
        into[_FIRST] = min(into[_FIRST], row[_FIRST])
        into[_LAST] = max(into[_LAST], row[_LAST])
        into[_LOWEST] = min(into[_LOWEST], row[_LOWEST])
        into[_HIGHEST] = max(into[_HIGHEST], row[_HIGHEST])
