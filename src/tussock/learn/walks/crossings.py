"""How pulses cross the volumes of a grid, many crossings at a time.

What `tussock.trace.volume_hits.closest` says of one crossing needs nothing of any other. So crossings are written down while the
grid is walked, and measured together: memory is asked for ahead, and the arithmetic, the same to the last bit, is done for
several at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import uint64
from numpy.typing import NDArray

from tussock.kernels import borrowed, fetch, kernel
from tussock.learn.pulse_rays import PulseRays
from tussock.trace.volume_hits import Gaussians
from tussock.trace.volume_runs import LONGEST

__all__ = ["AHEAD", "FULL", "Crossings", "measure", "new_crossings"]

FULL = 4096
"""crossings that are measured together"""
_TOGETHER = 256  # that fit into the nearest cache
_ROW = _TOGETHER + 8  # rows whose distance is no power of two do not push each other out of it
AHEAD = 24  # crossings


class Crossings(NamedTuple):
    """Scratch of a thread: what was crossed by what, and how."""

    volumes: NDArray[np.int64]
    """shape (m,)"""
    pulses: NDArray[np.int64]
    """shape (m,)"""
    nearest: NDArray[np.float64]
    """[m] where on its way the pulse is nearest to the volume, eq. (1) of Deschaud et al., shape (m,)"""
    shells: NDArray[np.int32]
    """that it passes through; outside all their number, shape (m,)"""
    passing: NDArray[np.float64]
    """room for what is left behind each volume of a pulse before it, shape (m,)"""
    columns: NDArray[np.float64]
    """of some of them: direction, mean less origin, precision, then the squared distance: 13 rows one after the other"""


@kernel
def new_crossings() -> Any:
    m = FULL + LONGEST + 2
    return Crossings(
        np.zeros(m, np.int64),
        np.zeros(m, np.int64),
        np.zeros(m),
        np.zeros(m, np.int32),
        np.zeros(m),
        np.zeros(13 * _ROW),
    )


@kernel
def measure(gaussians: Gaussians, rays: PulseRays, crossings: Crossings, n: int) -> None:
    """Fill in where and in which shells the first ``n`` crossings are."""
    gaussians, rays, crossings = borrowed(gaussians), borrowed(rays), borrowed(crossings)
    for first in range(0, n, _TOGETHER):
        _gather(gaussians, rays, crossings, first, min(first + _TOGETHER, n))
        _measure(crossings, first, min(first + _TOGETHER, n))
        _find_shells(gaussians.edges2, crossings, first, min(first + _TOGETHER, n))


@kernel
def _gather(gaussians: Gaussians, rays: PulseRays, crossings: Crossings, first: int, end: int) -> None:
    means, precisions = borrowed(gaussians.means), borrowed(gaussians.precisions)
    origins, directions, _, _ = borrowed(rays)
    volumes, pulses, _, _, _, columns = borrowed(crossings)
    mean_at, precision_at = uint64(means.ctypes.data), uint64(precisions.ctypes.data)
    some, by = volumes[first:end], pulses[first:end]
    for c in range(len(some)):
        # What is known not to be negative is not asked whether it counts from the end.
        i, p, row = uint64(some[c]), uint64(by[c]), uint64(c)
        later = uint64(some[min(c + AHEAD, len(some) - 1)])
        fetch(mean_at + later * uint64(12))
        fetch(precision_at + later * uint64(24))
        for a in range(3):
            columns[row + uint64(a * _ROW)] = directions[p, a]
            columns[row + uint64((3 + a) * _ROW)] = means[i, a] - origins[p, a]
        for a in range(6):
            columns[row + uint64((6 + a) * _ROW)] = precisions[i, a]


@kernel
def _measure(crossings: Crossings, first: int, end: int) -> None:
    """`tussock.trace.volume_hits.closest`, in columns."""
    _, _, nearest, _, _, columns = borrowed(crossings)
    dxs, dys, dzs = columns[:_ROW], columns[_ROW : 2 * _ROW], columns[2 * _ROW : 3 * _ROW]
    vxs, vys, vzs = columns[3 * _ROW : 4 * _ROW], columns[4 * _ROW : 5 * _ROW], columns[5 * _ROW : 6 * _ROW]
    xxs, xys, xzs = columns[6 * _ROW : 7 * _ROW], columns[7 * _ROW : 8 * _ROW], columns[8 * _ROW : 9 * _ROW]
    yys, yzs, zzs = columns[9 * _ROW : 10 * _ROW], columns[10 * _ROW : 11 * _ROW], columns[11 * _ROW : 12 * _ROW]
    # Slices begin at 0: no index can be below it, which would have to be asked for.
    ts, distances2 = nearest[first:end], columns[12 * _ROW :]
    for c in range(len(ts)):
        dx, dy, dz = dxs[c], dys[c], dzs[c]
        vx, vy, vz = vxs[c], vys[c], vzs[c]
        xx, xy, xz, yy, yz, zz = xxs[c], xys[c], xzs[c], yys[c], yzs[c], zzs[c]
        foot = vx * dx + vy * dy + vz * dz
        wx, wy, wz = vx - foot * dx, vy - foot * dy, vz - foot * dz
        gx, gy, gz = xx * dx + xy * dy + xz * dz, xy * dx + yy * dy + yz * dz, xz * dx + yz * dy + zz * dz
        along = 1.0 / (gx * dx + gy * dy + gz * dz)
        across = gx * wx + gy * wy + gz * wz
        whole = (
            wx * (xx * wx + xy * wy + xz * wz) + wy * (xy * wx + yy * wy + yz * wz) + wz * (xz * wx + yz * wy + zz * wz)
        )
        ts[c] = foot + across * along
        distances2[c] = max(whole - across * across * along, 0.0)


@kernel
def _find_shells(edges2: Any, crossings: Crossings, first: int, end: int) -> None:
    """`tussock.trace.volume_hits.shell_of`, edge by edge."""
    edges2 = borrowed(edges2)
    _, _, _, shells, _, columns = borrowed(crossings)
    some, distances2 = shells[first:end], columns[12 * _ROW :]
    some[:] = 0
    for s in range(edges2.shape[1]):
        edge = edges2[0, s]
        for c in range(len(some)):
            some[c] += np.int32(not distances2[c] < edge)
