"""The three test stands of Goodin et al.: rods, stems, shrub.

- rods (their check 2): nine rods 12.7 cm apart, the middle one 75 mm thick and the rest 25 mm, 80 cm from a line
  scanner, and a wall behind: 0.6 m behind gives mixed pixels, 2 m behind gives none;
- stems (check 1): grass as vertical cylinders on a field 10 m wide and 5 m deep, whose ranges follow the gamma law;
- shrub (check 3): one shrub 8 m away, foliage in front and wood in the middle.

What is tested ends at 3 m above the ground or higher, so that a sensor 2 m up sees it; the sensor stands at
(0, 0) and looks along x.
"""

from __future__ import annotations

import numpy as np

from tussock.plants.reeds import reeds, round_radius
from tussock.plants.shrub import shrub
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import box as plain_box
from tussock.scene.primitives import cylinder, plane
from tussock.scene.scene import Scene
from tussock.scene.sizes import positive
from tussock.scene.surfaces import SURFACES

__all__ = ["rods", "shrub_stand", "stems"]

_ROD_SIDES = 64


def rods(*, distance: float = 0.8, background: float = 0.6) -> Scene:
    """Nine rods ``distance`` [m] away in a row along y, a wall ``background`` [m] behind them."""
    positive("rods distance", distance)
    positive("rods background", background)
    grey = SURFACES["concrete"]
    scene = Scene("rods")

    def rod(diameter: float) -> Mesh:
        return cylinder(round_radius(diameter / 2, _ROD_SIDES), 4.0, sides=_ROD_SIDES, material=grey)

    y = 0.127 * (np.arange(9) - 4.0)
    thin = np.delete(y, 4)
    places = np.stack([np.full(8, distance), thin, np.full(8, 2.0)], 1)
    scene.add(rod(0.025), name="thin-rods", label="pole", placements=Placements.of(places))
    scene.add(rod(0.075), name="thick-rod", label="pole", position=(distance, y[4], 2.0))
    wall = plain_box((0.1, 12.0, 4.0), material=grey)
    scene.add(wall, name="background", label="wall", position=(distance + background + 0.05, 0.0, 2.0))
    return scene


def stems(
    *,
    density: float = 50.0,
    diameter: float = 0.010,
    distance: float = 20.0,
    width: float = 10.0,
    depth: float = 5.0,
    seed: int = 0,
) -> Scene:
    """``density`` stems a square metre [1/m²] of ``diameter`` [m]; the field begins ``distance`` [m] away along x."""
    positive("stems distance", distance)
    field = reeds(
        size=(depth, width), density=density, diameter=diameter, height=4.0, sides=24, leaves=0, plumes=0, seed=seed
    )
    scene = Scene("stems")
    scene.add(plane((2 * (distance + depth), 4 * width), material=SURFACES["soil"]), name="ground", label="terrain")
    scene.add(field, name="stems", label="stem", tags=("vegetation",), position=(distance + depth / 2, 0.0, 0.0))
    return scene


def shrub_stand(*, distance: float = 8.0, height: float = 3.0, triangles: int = 200_000, seed: int = 0) -> Scene:
    """One shrub of ``height`` [m], ``distance`` [m] away along x, on bare ground."""
    positive("shrub distance", distance)
    scene = Scene("shrub")
    scene.add(plane((6 * distance, 6 * distance), material=SURFACES["soil"]), name="ground", label="terrain")
    plant = shrub(height=height, radius=0.5 * height, leaf_area=1.6 * height**2, triangles=triangles, seed=seed)
    scene.add(plant, name="shrub", label="shrub", tags=("vegetation",), position=(distance, 0.0, 0.0))
    return scene
