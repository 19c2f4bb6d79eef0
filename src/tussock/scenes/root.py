"""The root scene of Goodin et al.: one very detailed mesh among thousands of grass and tree meshes.

Theirs: a scanned root of 22 million triangles in 24,564 grass and tree meshes, 604,488,350 triangles in all. Ours:
a generated root system of 22 million triangles (`tussock.plants.root_system`, kept on disk once it is made) in a
meadow of 158 m × 158 m with 24,900 tiles of 1 m and 60 trees.
"""

from __future__ import annotations

import numpy as np

from tussock.ground.height_field import HeightField
from tussock.ground.populate import populate
from tussock.ground.relief import Relief
from tussock.ground.zones import Circle
from tussock.plants.grass import grass_tile
from tussock.plants.root_system import root_system
from tussock.plants.shape_cache import kept
from tussock.plants.tree import tree
from tussock.scene.placements import Placements
from tussock.scene.scene import Scene
from tussock.scene.sizes import whole
from tussock.scene.surfaces import SURFACES
from tussock.scenes.courtyard import grass_on

__all__ = ["root"]

_REACH = 6.0
"""[m] of the roots; the ground is level that far"""


def root(
    *,
    root_triangles: int = 22_000_000,
    side: int = 158,
    trees: int = 60,
    blades: int = 600,
    tree_triangles: int = 600_000,
    seed: int = 0,
) -> Scene:
    """The root scene; smaller numbers give a small one. A sensor stands 2 m up at (4, −5)."""
    whole("root side", side, 20)
    whole("root trees", trees, 1)
    ground = _field(side, seed)
    scene = Scene("root")
    scene.add(ground.mesh(SURFACES["soil"]), name="ground", label="terrain")
    roots = kept(root_system, radius=_REACH, triangles=root_triangles, seed=seed)
    scene.add(roots, name="root", label="root", tags=("vegetation",))
    tile = grass_tile(blades=blades, height=0.22, width=0.005, segments=10, dead=0.15, seed=seed)
    lawn = grass_on(ground, side, seed=seed).matrices
    bare = np.hypot(lawn[:, 0, 3], lawn[:, 1, 3]) < 1.2  # the stump's own place
    scene.add(tile, name="grass", label="grass", tags=("vegetation",), placements=Placements(lawn[~bare]))
    scene.add(
        tree(height=13.0, crown_radius=4.5, triangles=tree_triangles, seed=seed),
        name="trees",
        label="tree",
        tags=("vegetation",),
        placements=populate(
            ground,
            (side - 8, side - 8),
            density=trees / (side - 8) ** 2,
            spacing=7.0 if side >= 60 else 3.0,
            exclude=[Circle(centre_m=(0.0, 0.0), radius_m=min(14.0, side / 3))],
            scale=(0.75, 1.2),
            seed=seed,
        ),
    )
    return scene


def _field(side: int, seed: int) -> HeightField:
    """Gentle hills, level where the roots lie."""
    at = np.linspace(-side / 2, side / 2, side + 1)
    x, y = np.meshgrid(at, at, indexing="ij")
    away = np.clip(np.hypot(x, y) / _REACH - 1, 0, 1)
    return HeightField((side, side), Relief(height=0.4, wavelength=50.0, seed=seed)(x, y) * away**2)
