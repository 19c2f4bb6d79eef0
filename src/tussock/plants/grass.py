"""Grass in square tiles.

A tile is one shape, laid side by side with quarter turns: tiles that overlapped would cost two to four times as
much to trace. All blades are rooted inside the tile, spread evenly (one in each cell of a grid, off its middle
by chance), so that neighbouring tiles join without a seam; their tips may reach over its edge.
"""

from __future__ import annotations

import numpy as np

from tussock.plants.blades import BladeShape
from tussock.plants.blades import blades as blade_shapes
from tussock.scene.mesh import Mesh
from tussock.scene.sizes import between, chance, positive, whole
from tussock.scene.surfaces import SURFACES

__all__ = ["grass_tile"]


def grass_tile(
    *,
    size: float = 1.0,
    blades: int = 200,
    height: float = 0.25,
    width: float = 0.006,
    lean: float = 0.25,
    bend: float = 0.9,
    segments: int = 6,
    folded: bool = True,
    dead: float = 0.0,
    seed: int = 0,
) -> Mesh:
    """A square tile of grass on z = 0, centred on its origin; its roots reach at most 2 cm below.

    ``size`` [m] of its side; ``blades``, how many; ``height`` [m], their mean height above the ground, each
    within ±35 %; ``width`` [m] at the root, each within ±25 %; ``lean`` [rad], mean angle from upright at the
    root, and ``bend`` [rad], how much further the tip has turned (both spread widely about their mean);
    ``segments`` along a blade; ``folded``: with a keel; ``dead``, the share of dry blades.

    >>> tile = tussock.grass_tile(size=1.0, blades=50, height=0.3)
    """
    positive("grass size", size)
    n = whole("grass blades", blades, 1, 1_000_000)
    positive("grass height", height)
    positive("grass width", width)
    between("grass lean", lean, 0.0, np.pi / 4)
    between("grass bend", bend, 0.0, np.pi / 2)
    between("grass dead", dead, 0.0, 1.0)
    whole("grass segments", segments, 1, 100)
    rng = chance("grass", seed)

    side = int(np.ceil(np.sqrt(n)))
    cell = rng.permutation(side * side)[:n]
    x = ((cell % side + rng.uniform(0, 1, n)) / side - 0.5) * size
    y = ((cell // side + rng.uniform(0, 1, n)) / side - 0.5) * size
    # A root a little below the ground leaves no gap where the ground bulges under the tile.
    sunk = min(0.02, 0.1 * height)
    heights = height * rng.uniform(0.65, 1.35, n)
    vertices, triangles = blade_shapes(
        np.stack([x, y, np.full(n, -sunk)], 1),
        BladeShape(segments, folded),
        heights=heights + sunk,
        widths=width * rng.uniform(0.75, 1.25, n),
        headings=rng.uniform(0, 2 * np.pi, n),
        leans=lean * rng.uniform(0, 2, n),
        bends=bend * rng.uniform(0.2, 1.8, n),
    )
    dry = np.zeros(n, np.uint16)
    dry[: round(dead * n)] = 1
    if not dry.any():
        return Mesh.of(vertices, triangles, (SURFACES["grass"],))
    return Mesh.of(
        vertices,
        triangles,
        (SURFACES["grass"], SURFACES["dry-grass"]),
        np.repeat(rng.permutation(dry), len(triangles) // n),
    )
