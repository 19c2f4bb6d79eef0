"""The truth that a vehicle drives in: ground, obstacles, plants and movers of a scene, for the size of its body.

Learned volumes have no solid and no area that could be weighed: a vehicle passes through them unhindered.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tussock.drive.site.ground import Ground, ground_of
from tussock.drive.site.kinds import faces_of
from tussock.drive.site.movers import Movers
from tussock.drive.site.obstacles import Body, Obstacles, mark_solids, stem_force, stem_widths
from tussock.drive.site.plants import Plants, add_plants, add_stems
from tussock.scene.scene import Scene

__all__ = ["Site"]


@dataclass(frozen=True)
class Site:
    ground: Ground
    obstacles: Obstacles
    plants: Plants
    movers: Movers

    @classmethod
    def of(cls, scene: Scene, body: Body, *, threads: int | None = None) -> Site:
        """What a vehicle with this body meets in a scene."""
        ground = ground_of(scene, threads=threads)
        obstacles, plants = Obstacles.over(ground), Plants.over(ground)
        for thing in scene.objects:
            if thing.motion is not None:
                continue
            faces = faces_of(thing)
            if faces.solid.any():
                mark_solids(obstacles, ground, thing, faces.solid, body)
            if faces.plants.any():
                add_plants(plants, ground, thing, faces.plants, body)
            if faces.trunk.any():
                forces = stem_force(stem_widths(thing, faces, body.push_height), body.push_height)
                firm = forces > body.push_force
                if firm.any():
                    mark_solids(obstacles, ground, thing, faces.trunk, body, firm)
                if not firm.all():
                    add_stems(plants, thing, ~firm, forces)
        return cls(ground, obstacles, plants, Movers.of(scene))

    @classmethod
    def bare(cls, ground: Ground | None = None) -> Site:
        """Ground with nothing on it, for tests and trials of a vehicle."""
        ground = ground or Ground.flat()
        return cls(
            ground, Obstacles(0.0, 0.0, 1.0, np.zeros((1, 1), np.uint8)), Plants.none(0.0, 0.0, 1.0, (1, 1)), Movers(())
        )
