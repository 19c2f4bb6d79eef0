"""The forest trail: a path through trees and undergrowth on uneven ground.

120 m × 120 m; the trail runs along x with bends, 2.4 m wide, a little worn in, gravel between litter and moss.
Spruces and broadleaf trees of several sizes, shrubs and saplings between them, grass along the trail where light
falls in, and stones. `trail_line` gives the trail's middle, for a vehicle to follow. A sensor stands 2 m up at the
origin, on the trail.
"""

from __future__ import annotations

import numpy as np

from tussock.ground.height_field import HeightField, Mask
from tussock.ground.populate import populate
from tussock.ground.relief import Relief
from tussock.ground.terrain import noise_terrain
from tussock.ground.zones import Strip
from tussock.plants.conifer import conifer
from tussock.plants.grass import grass_tile
from tussock.plants.shrub import shrub
from tussock.plants.tree import tree
from tussock.poses import Pose, Trajectory
from tussock.scene.mesh import Mesh
from tussock.scene.primitives import sphere
from tussock.scene.scene import Scene
from tussock.scene.sizes import chance, positive, whole
from tussock.scene.surfaces import SURFACES

__all__ = ["forest_trail", "trail_line", "trail_path"]


_WIDTH = 2.4


def trail_line(side: float = 120.0) -> list[tuple[float, float]]:
    """The middle of the trail (x, y) [m], from its start to its end; it runs through the origin."""
    x = np.linspace(-side / 2, side / 2, 121)
    y = 5.0 * np.sin(2 * np.pi * x / 70.0) + 1.5 * np.sin(2 * np.pi * x / 23.0)
    return [(float(a), float(b)) for a, b in zip(x, y, strict=True)]


def trail_path(*, speed: float = 2.0, height: float = 2.0, side: float = 120.0, seed: int = 0) -> Trajectory:
    """A drive along the whole trail at ``speed`` [m/s], a sensor ``height`` [m] above the ground, looking ahead.

    >>> way = tussock.trail_path(speed=2.0)
    >>> way.moving
    True
    """
    positive("trail speed", speed)
    line = np.array(trail_line(side))
    way = np.concatenate([[0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))])
    z = _field(side, seed)(line[:, 0], line[:, 1]) + height
    ahead = np.gradient(line, axis=0)
    yaw = np.arctan2(ahead[:, 1], ahead[:, 0])
    poses = [Pose.at(x, y, up, yaw=a) for (x, y), up, a in zip(line, z, yaw, strict=True)]
    return Trajectory.through(way / speed, poses)


def forest_trail(*, side: int = 120, triangles: int = 60_000, seed: int = 0) -> Scene:
    """The trail and its forest; ``side`` [m] of the square, ``triangles`` of a large tree."""
    whole("forest side", side, 30)
    whole("forest triangles", triangles, 20_000)
    ground = _field(side, seed)
    line = trail_line(side)
    scene = Scene("forest-trail")
    scene.add(_floor(ground, line, seed), name="ground", label="terrain")

    def stand(mesh: Mesh, name: str, density: float, free: float, **options: object) -> None:
        places = populate(
            ground, (side - 2, side - 2), density=density, exclude=[Strip(line_m=line, width_m=free)],
            seed=seed + 1 + len(scene.objects), **options,  # type: ignore[arg-type]
        )  # fmt: skip
        scene.add(mesh, name=name, label="vegetation", tags=("vegetation",), placements=places)

    spruce = conifer(height=17.0, crown_radius=2.6, crown_base=3.5, triangles=triangles, seed=seed)
    stand(spruce, "spruces", 0.030, 6.0, spacing=3.0, scale=(0.65, 1.15), sink=0.1)
    beech = tree(height=16.0, crown_radius=4.0, crown_base=5.0, triangles=triangles, seed=seed + 1)
    stand(beech, "beeches", 0.012, 6.5, spacing=4.5, scale=(0.7, 1.1), sink=0.1)
    sapling = tree(height=3.0, crown_radius=0.9, crown_base=0.5, trunk_radius=0.025, triangles=8_000, seed=seed + 2)
    stand(sapling, "saplings", 0.05, 3.8, spacing=1.2, scale=(0.5, 1.3))
    bush = shrub(height=1.3, radius=0.8, triangles=12_000, seed=seed + 3)
    stand(bush, "shrubs", 0.10, 3.6, spacing=1.0, scale=(0.4, 1.2))

    tuft = grass_tile(size=0.7, blades=90, height=0.30, width=0.007, bend=1.1, segments=5, dead=0.3, seed=seed + 4)
    verge = [Strip(line_m=line, width_m=9.0)]
    places = populate(
        ground, (side - 2, side - 2), density=1.1, exclude=[Strip(line_m=line, width_m=_WIDTH)], only=verge,
        spacing=0.6, scale=(0.6, 1.2), tilt=1.0, seed=seed + 20,
    )  # fmt: skip
    scene.add(tuft, name="verge", label="grass", tags=("vegetation",), placements=places)
    places = populate(
        ground,
        (side - 2, side - 2),
        density=0.6,
        exclude=verge,
        spacing=0.8,
        scale=(0.5, 1.0),
        tilt=1.0,
        seed=seed + 21,
    )
    scene.add(tuft, name="undergrowth", label="grass", tags=("vegetation",), placements=places)
    places = populate(
        ground, (side - 2, side - 2), density=0.02, exclude=[Strip(line_m=line, width_m=2.0)],
        scale=(0.3, 1.4), sink=0.1, seed=seed + 22,
    )  # fmt: skip
    scene.add(_stone(seed), name="stones", label="rock", placements=places)
    return scene


def _field(side: float, seed: int) -> HeightField:
    """Uneven ground with the trail worn 12 cm into it."""
    hills = noise_terrain(
        (side, side), cells=(int(5 * side),) * 2, height=0.8, wavelength=45.0, roughness=0.42, seed=seed
    )
    at = np.linspace(-side / 2, side / 2, hills.heights.shape[0])
    x, y = np.meshgrid(at, at, indexing="ij")
    away = Strip(line_m=trail_line(side), width_m=_WIDTH).distance(x, y)
    return HeightField((side, side), hills.heights - 0.12 * np.exp(-((away / (0.55 * _WIDTH)) ** 2)))


def _floor(ground: HeightField, line: list[tuple[float, float]], seed: int) -> Mesh:
    """Litter, with gravel on the trail."""
    nx, ny = (n - 1 for n in ground.heights.shape)
    x = ground.low[0] + (np.arange(nx) + 0.5) * ground.cell[0]
    y = ground.low[1] + (np.arange(ny) + 0.5) * ground.cell[1]
    x, y = np.meshgrid(x, y, indexing="ij")
    # Nobody trims a trail: its edge is ragged.
    ragged = Strip(line_m=line, width_m=_WIDTH).distance(x, y) + Relief(height=0.15, wavelength=2.5, seed=seed)(x, y)
    return ground.mesh(SURFACES["litter"], masks=[Mask(ragged < _WIDTH / 2, SURFACES["gravel"])])


def _stone(seed: int) -> Mesh:
    """A boulder of half a metre: a sphere, flattened and dented by chance."""
    ball = sphere(0.5, subdivisions=3, material=SURFACES["rock"])
    rng = chance("stone", seed)
    axes = rng.standard_normal((9, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    unit = ball.vertices.astype(float) / 0.5
    # Planes that cut the sphere give facets, as on broken stone.
    cut = np.minimum(1.0, (rng.uniform(0.62, 0.9, 9) / np.maximum(unit @ axes.T, 1e-6)).min(1))
    return Mesh.of(unit * (0.5 * cut)[:, None] * [1.0, 0.8, 0.6], ball.triangles, ball.materials)
