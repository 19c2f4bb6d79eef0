"""The meadow: the benchmark scene, one terrain and one mesh of grass without any shared shapes.

100 m × 100 m, terrain of 200 × 200 cells (80,000 triangles) and 150,000 blades of two triangles each (300,000):
380,000 in all. Earlier comparisons with other programs name 379,774 triangles for this recipe, 226 fewer.
"""

from __future__ import annotations

import numpy as np

from tussock.ground.relief import Relief
from tussock.ground.turf import turfed
from tussock.plants.blades import BladeShape
from tussock.plants.blades import blades as blade_shapes
from tussock.scene.mesh import Mesh
from tussock.scene.primitives import ground
from tussock.scene.scene import Scene
from tussock.scene.sizes import chance
from tussock.scene.surfaces import SURFACES

__all__ = ["meadow"]

_SIDE = 100.0
_BLADES = 150_000


def meadow(*, seed: int = 0) -> Scene:
    """Uneven grassland around the origin; a sensor stands 2 m up there."""
    relief = Relief(height=0.3, wavelength=40.0, seed=seed)
    rng = chance("meadow", seed)
    x, y = rng.uniform(-_SIDE / 2, _SIDE / 2, (2, _BLADES))
    vertices, triangles = blade_shapes(
        np.stack([x, y, relief(x, y) - 0.01], 1),
        BladeShape(1, folded=False, tip=0.3),
        heights=rng.uniform(0.15, 0.45, _BLADES),
        widths=rng.uniform(0.008, 0.016, _BLADES),
        headings=rng.uniform(0, 2 * np.pi, _BLADES),
        leans=rng.uniform(0, 0.5, _BLADES),
        bends=0.0,
    )
    scene = Scene("meadow")
    terrain = turfed(ground((_SIDE, _SIDE), cells=(200, 200), heights=relief))
    scene.add(terrain, name="terrain", label="terrain")
    scene.add(Mesh.of(vertices, triangles, (SURFACES["grass"],)), name="grass", label="grass", tags=("vegetation",))
    return scene
