"""A small field with a wall across it and some grass, ready for short drives."""

import numpy as np

from tussock.drive.settings import DriveSettings
from tussock.drive.stage import Stage
from tussock.plants.grass import grass_tile
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, cylinder, plane
from tussock.scene.scene import Scene
from tussock.scene.surfaces import SURFACES
from tussock.sensors.catalogue import load_sensor

VEHICLE = DriveSettings().vehicle


def field(*, ring: bool = False) -> Scene:
    """40 m × 30 m; a wall 3 m high across the way with room at one end, a trunk; ``ring``: walls around the goal."""
    scene = Scene("field")
    scene.add(plane((40, 30), material=SURFACES["soil"]), name="ground", label="terrain")
    scene.add(box((0.6, 18, 3)), name="wall", label="wall", position=(0, 6, 1.5))
    scene.add(cylinder(0.2, 5.0, material=SURFACES["bark"]), name="trunk", label="vegetation", position=(-8, -10, 2.5))
    middle = np.arange(-7, 8) + 0.5
    x, y = (v.ravel() for v in np.meshgrid(middle + 10, middle))
    places = Placements.of(np.column_stack([x, y, np.zeros(len(x))]))
    tile = grass_tile(size=1.0, blades=30, height=0.5, segments=3, seed=1)
    scene.add(tile, name="grass", label="grass", tags=("vegetation",), placements=places)
    if ring:
        for k, (dx, dy) in enumerate(((4, 0), (-4, 0), (0, 4), (0, -4))):
            size = (0.5, 8.5, 3) if dx else (8.5, 0.5, 3)
            scene.add(box(size), name=f"side{k}", label="wall", position=(12 + dx, -6 + dy, 1.5))
    return scene


def eye():
    """A quick sensor: a VLP-16 that fires a quarter as often."""
    return load_sensor("vlp-16").with_(**{"pattern.cycle_us": 4 * 55.296})


def stage(**options) -> Stage:
    return Stage(field(**options), VEHICLE)
