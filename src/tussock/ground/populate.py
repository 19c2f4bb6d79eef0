"""Populate: copies of a shape over the ground by density, with room between them.

Without spacing, the number of copies is exactly density × area (weighted by the density map and the zones, whose
area is found by sampling), so that counts are what was asked for. With spacing, candidates are taken in random
order and each is kept that is far enough from all kept before (dart throwing), until the number is reached or
the ground is full: about 0.7 / spacing² a square metre at the most. Chance hangs on the seed alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import FloatArray
from tussock.errors import InputError
from tussock.ground.zones import Zone
from tussock.kernels import kernel
from tussock.scene.placements import Placements
from tussock.scene.sizes import between, chance, positive

__all__ = ["Ground", "populate"]


_MOST = 50_000_000
"""copies that a scene is allowed to ask for: beyond it a density has lost its unit"""
_TRIES = 30
"""candidates for each copy that is asked for, where they must keep their distance"""


class Ground(Protocol):
    """What has a height and a slope everywhere: `HeightField`, `Relief`."""

    def __call__(self, x: FloatArray, y: FloatArray) -> FloatArray: ...

    def slope(self, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]: ...


def populate(
    ground: Ground,
    size: tuple[float, float],
    *,
    density: float,
    centre: tuple[float, float] = (0.0, 0.0),
    density_map: NDArray[Any] | None = None,
    spacing: float = 0.0,
    slope: tuple[float, float] = (0.0, np.pi / 2),
    exclude: Sequence[Zone] = (),
    only: Sequence[Zone] = (),
    scale: tuple[float, float] = (1.0, 1.0),
    turn: bool = True,
    tilt: float = 0.0,
    sink: float = 0.0,
    seed: int = 0,
) -> Placements:
    """Placements on ``ground`` over a rectangle of ``size`` (x, y) [m] around ``centre``.

    ``density`` [1/m²], that of the map's brightest part; ``density_map``: shares 0 to 1 spread over the
    rectangle, first index along x; ``spacing`` [m], the least distance; ``slope`` [rad], the least and the
    steepest ground; ``exclude`` and ``only``: zones that stay free, and outside of which all stays free;
    ``scale``: the smallest and the largest; ``turn``: about the upright, by chance; ``tilt``: 0 keeps copies
    upright, 1 stands them square to the ground; ``sink`` [m] below the ground.

    >>> field = tussock.HeightField((10.0, 10.0), np.zeros((11, 11)))
    >>> len(tussock.populate(field, (8.0, 8.0), density=0.5, seed=1))
    32
    """
    width, depth = positive("populate size x", size[0]), positive("populate size y", size[1])
    positive("populate density", density)
    between("populate spacing", spacing, 0.0, np.inf)
    between("populate slope", slope[0], 0.0, np.pi / 2)
    between("populate slope", slope[1], slope[0], np.pi / 2)
    between("populate scale", scale[1], positive("populate scale", scale[0]), np.inf)
    between("populate tilt", tilt, 0.0, 1.0)
    between("populate sink", sink, -np.inf, np.inf)
    rng = chance("populate", seed)
    if density * width * depth > _MOST:
        raise InputError.of("populate density", f"must give at most {_MOST:,} copies on this size", density, "lower it")
    shares = None if density_map is None else _checked_map(density_map)

    def candidates(count: int) -> tuple[FloatArray, FloatArray]:
        x = centre[0] + width * (rng.uniform(0, 1, count) - 0.5)
        y = centre[1] + depth * (rng.uniform(0, 1, count) - 0.5)
        keep = np.ones(count, bool)
        if shares is not None:
            i = np.minimum(((x - centre[0]) / width + 0.5) * shares.shape[0], shares.shape[0] - 1).astype(int)
            j = np.minimum(((y - centre[1]) / depth + 0.5) * shares.shape[1], shares.shape[1] - 1).astype(int)
            keep &= rng.uniform(0, 1, count) < shares[i, j]
        if slope != (0.0, np.pi / 2):
            steep = np.arctan(np.hypot(*ground.slope(x, y)))
            keep &= (steep >= slope[0]) & (steep <= slope[1])
        for zone in exclude:
            keep &= ~zone.covers(x, y)
        if only:
            keep &= np.any([zone.covers(x, y) for zone in only], axis=0)
        return x[keep], y[keep]

    # The share of the rectangle that is left says how many are wanted; 100,000 samples make it good to 0.3 %.
    asked = round(density * width * depth)
    probes = max(asked, 100_000)
    x, y = candidates(probes)
    wanted = round(asked * len(x) / probes) if _restricted(shares, slope, exclude, only) else asked
    if wanted == 0:
        raise InputError.of(
            "populate", "must leave room for at least one copy", 0, "raise the density or free more ground"
        )
    if spacing > 0:
        x, y = _apart(candidates, (x, y), spacing, wanted, size=(width, depth), centre=centre)
    x, y = x[:wanted], y[:wanted]
    n = len(x)
    yaw = rng.uniform(0, 2 * np.pi, n) if turn else np.zeros(n)
    sizes = rng.uniform(scale[0], scale[1], n)
    upright = Placements.of(np.stack([x, y, ground(x, y) - sink], 1), yaw=yaw, scale=sizes)
    if tilt == 0:
        return upright
    axes = _tilts(ground, x, y, tilt) @ upright.matrices[:, :, :3]
    return Placements(np.concatenate([axes, upright.matrices[:, :, 3:]], 2))


def _apart(
    candidates: Callable[[int], tuple[FloatArray, FloatArray]],
    first: tuple[FloatArray, FloatArray],
    spacing: float,
    wanted: int,
    *,
    size: tuple[float, float],
    centre: tuple[float, float],
) -> tuple[FloatArray, FloatArray]:
    """The first ``wanted`` candidates (n,) [m] that are at least ``spacing`` [m] from all kept before them."""
    cell = spacing / np.sqrt(2)  # so small that it holds one point at the most
    across, along = (int(length / cell) + 6 for length in size)
    if across * along > 400_000_000:
        raise InputError.of("populate spacing", "is too small for this size", spacing, "leave it out: 0 needs no grid")
    grid = np.full((across, along), -1, np.int32)
    kept = np.empty((2, wanted))
    x, y = first
    count, tried = 0, 0
    while True:
        i = ((x - centre[0] + size[0] / 2) / cell).astype(np.int64) + 2
        j = ((y - centre[1] + size[1] / 2) / cell).astype(np.int64) + 2
        count = _throw((x, y), (i, j), grid, spacing * spacing, kept, count)
        tried += max(len(x), 1)
        if count == wanted or tried >= _TRIES * wanted:
            return kept[0, :count], kept[1, :count]
        x, y = candidates(2 * (wanted - count) + 1000)


@kernel
def _throw(places: Any, cells: Any, grid: Any, least: float, kept: Any, count: int) -> int:
    """Keep what stands at least the root of ``least`` [m²] from all kept before it; how many there are then."""
    (x, y), (i, j) = places, cells
    for p in range(len(x)):
        if count == kept.shape[1]:
            break
        free = True
        for a in range(i[p] - 2, i[p] + 3):
            for b in range(j[p] - 2, j[p] + 3):
                q = grid[a, b]
                if q >= 0 and (kept[0, q] - x[p]) ** 2 + (kept[1, q] - y[p]) ** 2 < least:
                    free = False
        if free:
            grid[i[p], j[p]] = count
            kept[0, count], kept[1, count] = x[p], y[p]
            count += 1
    return count


def _restricted(shares: Any, slope: tuple[float, float], exclude: Sequence[Zone], only: Sequence[Zone]) -> bool:
    return shares is not None or slope != (0.0, np.pi / 2) or bool(exclude) or bool(only)


def _checked_map(given: NDArray[Any]) -> FloatArray:
    shares = np.asarray(given, float)
    if shares.ndim != 2 or shares.size == 0 or not np.isfinite(shares).all() or shares.min() < 0 or shares.max() > 1:
        raise InputError.of("populate density_map", "must be a grid of shares from 0 to 1", shares.shape)
    return shares


def _tilts(ground: Ground, x: FloatArray, y: FloatArray, share: float) -> FloatArray:
    """Rotations (n, 3, 3) that turn up towards the ground's normal, by ``share`` of the angle."""
    from scipy.spatial.transform import Rotation

    along_x, along_y = ground.slope(x, y)
    steep = np.hypot(along_x, along_y)
    angle = share * np.arctan(steep)
    axis = np.stack([along_y, -along_x, np.zeros_like(x)], 1) / np.maximum(steep, 1e-12)[:, None]
    return np.asarray(Rotation.from_rotvec(axis * angle[:, None]).as_matrix())
