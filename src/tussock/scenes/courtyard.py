"""The courtyard of Goodin et al. (the MAVS simulator): vegetation in a walled square, shared shapes only.

Theirs: 300 m × 300 m, a wall 10 m high around it, nearly two million blades of grass, 50 trees of one model,
191,245,324 triangles by instancing. Ours has 90,000 tiles of 1 m with 22 blades each (1.98 million blades) and 50
trees. The triangles are split so that the shapes themselves stay small: a blade of 16 segments, folded along
its middle, has 62 triangles (a tile 1,364), and the tree 1.4 million, as many as some 230,000 leaves of a
natural size need. Only 1.6 million triangles are kept in memory for 192.9 million in the scene.

The grass keeps to the ground: each tile is sheared with the slope under its middle, its blades stay upright. What grows
between the blades is a picture on the ground (`tussock.ground.turf`): a sward of 120 more blades, herbs and litter a square metre
would have been 40 % fewer returns of the ground and 19 % more time a scan than the paper's two million blades.
"""

from __future__ import annotations

import numpy as np

from tussock.ground.populate import Ground
from tussock.ground.relief import Relief
from tussock.ground.turf import turfed
from tussock.plants.grass import grass_tile
from tussock.plants.tree import tree
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, ground
from tussock.scene.scene import Scene
from tussock.scene.sizes import chance
from tussock.scene.surfaces import SURFACES

__all__ = ["courtyard", "grass_on", "trees_on"]

_WALL_HEIGHT = 10.0
_WALL_THICKNESS = 0.5


def courtyard(*, full: bool = True, relief: float = 0.25, seed: int = 0) -> Scene:
    """The whole courtyard, or (``full`` false) a yard of 60 m × 60 m: 6 trees, denser grass, ready at once.

    ``relief``: root mean square height of its ground [m].
    """
    side, trees, tree_triangles = (300, 50, 1_400_000) if full else (60, 6, 60_000)
    hills = Relief(height=relief, wavelength=45.0, seed=seed)
    scene = Scene("courtyard" if full else "yard")
    scene.add(
        turfed(ground((side, side), cells=(side, side), heights=hills)),
        name="ground",
        label="terrain",
    )
    scene.add(_wall(side), name="wall", label="wall")
    if full:
        tile = grass_tile(blades=22, height=0.40, width=0.016, segments=16, seed=seed)
    else:
        tile = grass_tile(blades=150, height=0.25, width=0.008, segments=6, seed=seed)
    scene.add(tile, name="grass", label="grass", tags=("vegetation",), placements=grass_on(hills, side, seed=seed))
    shape = tree(height=12.0, crown_radius=4.5, triangles=tree_triangles, seed=seed)
    scene.add(
        shape,
        name="trees",
        label="tree",
        tags=("vegetation",),
        placements=trees_on(hills, side, trees, seed=seed),
    )
    return scene


def grass_on(relief: Ground, side: int, *, seed: int) -> Placements:
    """Tiles of 1 m that cover a square of ``side`` m: quarter turns by chance, 80 % to 120 % of their height."""
    rng = chance("courtyard grass", seed)
    middle = np.arange(side) + 0.5 - side / 2
    x, y = (v.ravel() for v in np.meshgrid(middle, middle, indexing="ij"))
    n = len(x)
    quarter = rng.integers(0, 4, n)
    # Exact cosines: a quarter turn by np.cos would leave gaps of rounding between tiles.
    cosine, sine = np.array([1.0, 0.0, -1.0, 0.0])[quarter], np.array([0.0, 1.0, 0.0, -1.0])[quarter]
    along_x, along_y = relief.slope(x, y)
    matrices = np.zeros((n, 3, 4))
    matrices[:, 0, 0], matrices[:, 0, 1] = cosine, -sine
    matrices[:, 1, 0], matrices[:, 1, 1] = sine, cosine
    matrices[:, 2, 0] = along_x * cosine + along_y * sine
    matrices[:, 2, 1] = -along_x * sine + along_y * cosine
    matrices[:, 2, 2] = rng.uniform(0.8, 1.2, n)
    matrices[:, :, 3] = np.stack([x, y, relief(x, y)], 1)
    return Placements(matrices)


def trees_on(relief: Relief, side: int, count: int, *, seed: int) -> Placements:
    """``count`` trees at least 6 m from one another and from the edge, turned and 75 % to 120 % of their size."""
    rng = chance("courtyard trees", seed)
    candidates = rng.uniform(-side / 2 + 6, side / 2 - 6, (40 * count, 2))
    # The middle stays free: that is where a sensor stands.
    candidates = candidates[np.hypot(*candidates.T) > 6]
    chosen = candidates[:1]
    for candidate in candidates[1:]:
        if len(chosen) == count:
            break
        if np.hypot(*(chosen - candidate).T).min() > 6:
            chosen = np.vstack([chosen, candidate])
    x, y = chosen.T
    places = np.stack([x, y, relief(x, y)], 1)
    turns = rng.uniform(0, 2 * np.pi, len(chosen))
    return Placements.of(places, yaw=turns, scale=rng.uniform(0.75, 1.2, len(chosen)))


def _wall(side: float) -> Mesh:
    """Four boxes around the square; they start 2 m below zero, under the lowest ground."""
    length, high, deep = side + 2 * _WALL_THICKNESS, _WALL_HEIGHT + 2, side / 2 + _WALL_THICKNESS / 2
    sides = []
    for size, x, y in (
        ((length, _WALL_THICKNESS, high), 0.0, deep),
        ((length, _WALL_THICKNESS, high), 0.0, -deep),
        ((_WALL_THICKNESS, side, high), deep, 0.0),
        ((_WALL_THICKNESS, side, high), -deep, 0.0),
    ):
        part = box(size, material=SURFACES["concrete"])
        moved = part.vertices + np.array([x, y, high / 2 - 2], np.float32)
        sides.append(Mesh(moved, part.triangles, part.materials))
    return Mesh.joined(sides)
