"""The pasture: a meadow that nobody mows, with a hedge, trees of several ages and a fence; to be looked at, and scanned.

80 m × 80 m of uneven ground under 6,400 tiles of `tussock.plants.sward` in five mixtures: short and tall, rich and poor in herbs,
with much and with little litter, each where a slow wave of chance says, so that neighbours mostly are alike. No tree and no shrub
is the only one of its shape: three trees (an old, a grown and a young one) and three shrubs are shared. 40 million triangles
in the scene, 0.5 million in memory.
"""

from __future__ import annotations

import numpy as np

from tussock.arrays import FloatArray
from tussock.ground.relief import Relief
from tussock.ground.turf import turfed
from tussock.plants.shrub import shrub
from tussock.plants.sward import sward_tile
from tussock.plants.tree import tree
from tussock.sampler import Sampler
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, ground
from tussock.scene.scene import Scene
from tussock.scene.sizes import chance
from tussock.scene.surfaces import SURFACES
from tussock.scenes.courtyard import grass_on

__all__ = ["pasture"]

_SIDE = 80
_MIXTURES = (
    {"blades": 520, "height": 0.12, "herbs": 26, "flowers": 0.15, "litter": 0.25},
    {"blades": 480, "height": 0.20, "herbs": 18, "flowers": 0.35, "litter": 0.35},
    {"blades": 430, "height": 0.28, "herbs": 14, "flowers": 0.30, "litter": 0.40},
    {"blades": 380, "height": 0.38, "herbs": 9, "flowers": 0.45, "litter": 0.50},
    {"blades": 320, "height": 0.50, "herbs": 5, "flowers": 0.20, "litter": 0.80},
)
"""from grazed short to tall and rank"""
_TREES = ((15.0, 5.5, 120_000, 3), (9.0, 3.2, 60_000, 6), (4.0, 1.3, 25_000, 9))
"""height and crown radius [m], triangles, how many"""


def pasture(*, seed: int = 0) -> Scene:
    """An unmown meadow around the origin; a sensor stands 2 m up there."""
    hills = Relief(height=0.5, wavelength=38.0, seed=seed)
    rng = chance("pasture", seed)
    scene = Scene("pasture")
    scene.add(turfed(ground((_SIDE, _SIDE), cells=(160, 160), heights=hills)), name="ground", label="terrain")
    _add_sward(scene, hills, seed)
    free = _places(rng, hills)
    for age, (height, radius, triangles, count) in zip(("old", "grown", "young"), _TREES, strict=True):
        shape = tree(height=height, crown_radius=radius, triangles=triangles, seed=seed + count)
        some = Placements.of(
            free[:count], yaw=rng.uniform(0, 2 * np.pi, count), scale=rng.uniform(0.85, 1.15, count)
        )  # fmt: skip
        scene.add(shape, name=f"{age} trees", label="tree", tags=("vegetation",), placements=some)
        free = free[count:]
    _add_hedge(scene, hills, rng, seed)
    posts = np.arange(-_SIDE / 2 + 2, _SIDE / 2 - 2, 2.5)
    line = np.full(len(posts), -_SIDE / 2 + 6.0)
    tops = np.stack([posts, line, hills(posts, line) + 0.45], 1)
    wood = SURFACES["bark"].changed(name="weathered-wood", color=(0.22, 0.19, 0.15))
    leaning = Placements.of(tops, yaw=rng.uniform(0, 2 * np.pi, len(posts)))
    scene.add(box((0.09, 0.09, 1.3), material=wood), name="fence", label="fence", placements=leaning)
    return scene


def _add_sward(scene: Scene, hills: Relief, seed: int) -> None:
    """Tiles of every mixture where a slow wave is as high as its turn says."""
    tiles = grass_on(hills, _SIDE, seed=seed).matrices
    wave, fine = (Relief(height=1.0, wavelength=length, seed=seed + 7) for length in (26.0, 7.0))
    x, y = tiles[:, 0, 3], tiles[:, 1, 3]
    level = wave(x, y) + 0.45 * fine(x, y)
    turn = np.searchsorted(np.quantile(level, np.linspace(0, 1, len(_MIXTURES) + 1)[1:-1]), level)
    for k, mixture in enumerate(_MIXTURES):
        mesh = sward_tile(**mixture, seed=seed + k)  # type: ignore[arg-type]
        mine = Placements(tiles[turn == k])
        scene.add(mesh, name=f"sward {k + 1}", label="grass", tags=("vegetation",), placements=mine)


def _places(rng: Sampler, hills: Relief) -> FloatArray:
    """Places (n, 3) [m] on the ground at least 6 m apart, away from the middle and the edges."""
    tried = rng.uniform(-_SIDE / 2 + 10, _SIDE / 2 - 10, (4000, 2))
    tried = tried[np.hypot(*tried.T) > 7]
    kept = tried[:1]
    for one in tried[1:]:
        if np.hypot(*(kept - one).T).min() > 6:
            kept = np.vstack([kept, one])
    return np.stack([*kept.T, hills(*kept.T)], 1)


def _add_hedge(scene: Scene, hills: Relief, rng: Sampler, seed: int) -> None:
    """Three shapes of shrubs in turn along the far side."""
    along = np.arange(-_SIDE / 2 + 3, _SIDE / 2 - 3, 1.3)
    across = _SIDE / 2 - 5 + 1.2 * np.sin(along / 9) + rng.uniform(-0.4, 0.4, len(along))
    kind = rng.integers(0, 3, len(along))
    for k in range(3):
        mesh = shrub(height=1.6 + 0.5 * k, radius=1.0 + 0.15 * k, stems=14, triangles=14_000, seed=seed + 20 + k)
        x, y = across[kind == k], along[kind == k]
        places = np.stack([x, y, hills(x, y)], 1)
        turned = Placements.of(places, yaw=rng.uniform(0, 6.2, len(x)), scale=rng.uniform(0.8, 1.3, len(x)))
        scene.add(mesh, name=f"hedge {k + 1}", label="shrub", tags=("vegetation",), placements=turned)
