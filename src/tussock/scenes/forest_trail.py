"""The forest trail: a path through trees and undergrowth on uneven ground.

120 m × 120 m; the trail runs along x with bends, 2.4 m wide, a little worn in, gravel that thins out into the litter.
Spruces and beeches of three ages, shrubs and saplings between them, two shapes of each age, grass along the trail where light
falls in, stones, fallen trunks, and way-marks beside the trail. Trees, shrubs, stones, deadwood and posts are things:
each copy has an instance and a box in data sets; the trail is a class of its own. `trail_line` gives the trail's
middle, for a vehicle to follow. A sensor stands 2 m up at the origin, on the trail.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from tussock.ground.borders import Border
from tussock.ground.height_field import HeightField
from tussock.ground.populate import populate
from tussock.ground.relief import Relief
from tussock.ground.terrain import noise_terrain
from tussock.ground.turf import covered
from tussock.ground.zones import Strip
from tussock.plants.conifer import conifer
from tussock.plants.grass import grass_tile
from tussock.plants.shrub import shrub
from tussock.plants.stems import Stems, tubes
from tussock.plants.tree import tree
from tussock.poses import Pose, Trajectory
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import cylinder, sphere
from tussock.scene.scene import Scene
from tussock.scene.sizes import chance, positive, whole
from tussock.scene.surfaces import SURFACES
from tussock.scenes.grown_stand import Age, by_age

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

    def stand(name: str, label: str, ages: dict[str, Age], density: float, free: float, number: int, *,
              height: float, scale: tuple[float, float], spacing: float, sink: float = 0.0) -> None:  # fmt: skip
        """Plants of ``scale`` × ``height`` [m], off the trail."""
        places = populate(
            ground, (side - 2, side - 2), density=density, exclude=[Strip(line_m=line, width_m=free)],
            spacing=spacing, scale=scale, sink=sink, seed=seed + number,
        )  # fmt: skip
        for which, mesh, some in by_age(places, ages, height=height, seed=seed + number):
            scene.add(mesh, name=f"{name}-{which}", label=label, tags=("vegetation",), placements=some)

    spruces = {
        "young": Age(12.0, partial(_spruce, 12.0, 2.0, 2.5, max(triangles // 3, 8_000), seed)),
        "grown": Age(15.0, partial(_spruce, 15.0, 2.4, 3.1, max(triangles // 2, 8_000), seed + 40)),
        "old": Age(18.0, partial(_spruce, 18.0, 2.7, 4.2, triangles, seed + 80)),
    }
    stand("spruces", "tree", spruces, 0.030, 6.0, 2, height=17.0, scale=(0.65, 1.15), spacing=3.0, sink=0.1)
    beeches = {
        "young": Age(12.0, partial(_beech, 12.0, 2.7, 3.6, max(triangles // 2, 8_000), seed)),
        "grown": Age(14.5, partial(_beech, 14.5, 3.6, 4.5, max(2 * triangles // 3, 8_000), seed + 40)),
        "old": Age(17.0, partial(_beech, 17.0, 4.4, 5.6, triangles, seed + 80)),
    }
    stand("beeches", "tree", beeches, 0.012, 6.5, 3, height=16.0, scale=(0.7, 1.1), spacing=4.5, sink=0.1)
    saplings = {
        "small": Age(2.0, partial(_sapling, 2.0, 0.55, 6_000, seed)),
        "tall": Age(3.3, partial(_sapling, 3.3, 1.0, 8_000, seed + 40)),
    }
    stand("saplings", "tree", saplings, 0.05, 3.8, 4, height=3.0, scale=(0.5, 1.3), spacing=1.2)
    shrubs = {
        "low": Age(0.75, partial(_bush, 0.75, 0.5, 10_000, seed)),
        "high": Age(1.3, partial(_bush, 1.3, 0.8, 12_000, seed + 40)),
    }
    stand("shrubs", "shrub", shrubs, 0.10, 3.6, 5, height=1.3, scale=(0.4, 1.2), spacing=1.0)

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
    places = populate(
        ground, (side - 8, side - 8), density=0.004, exclude=[Strip(line_m=line, width_m=8.0)], spacing=4.0,
        scale=(0.6, 1.1), tilt=1.0, seed=seed + 23,
    )  # fmt: skip
    scene.add(_log(seed), name="deadwood", label="deadwood", placements=places)
    scene.add(_way_mark(), name="way-marks", label="pole", placements=_beside(ground, line))
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
    """Litter, with gravel on the trail, and mixtures of both along its edge."""
    strip, litter = Strip(line_m=line, width_m=_WIDTH), SURFACES["litter"]
    trail = SURFACES["gravel"].changed(name="trail", label="trail")

    def within(half: float, number: int, material: Material) -> Border:
        # Nobody trims a trail: its edge is ragged, and each mixture's in its own way.
        ragged = Relief(height=0.15 if number == 0 else 0.10, wavelength=2.5 - 0.6 * number, seed=seed + 7 * number)
        return Border(lambda x, y: strip.distance(x, y) + ragged(x, y) - half, material)

    masks = [
        within(_WIDTH / 2 + 0.30, 1, _mixed("littered-gravel", litter, trail, 0.35, "terrain")),
        within(_WIDTH / 2 + 0.12, 2, _mixed("edge-of-trail", litter, trail, 0.7, "terrain")),
        within(_WIDTH / 2, 0, trail),
    ]
    return covered(ground.mesh(litter, masks=masks))


def _mixed(name: str, one: Material, other: Material, share: float, label: str) -> Material:
    """A surface of which ``share`` is covered with the other material."""
    assert one.color is not None and other.color is not None
    color = tuple((1 - share) * a + share * b for a, b in zip(one.color, other.color, strict=True))
    reflectance = (1 - share) * one.reflectance + share * other.reflectance
    return one.changed(name=name, color=color, reflectance=reflectance, label=label)


def _spruce(height: float, radius: float, base: float, triangles: int, seed: int, variant: int) -> Mesh:
    return conifer(height=height, crown_radius=radius, crown_base=base, triangles=triangles, seed=seed + variant)


def _beech(height: float, radius: float, base: float, triangles: int, seed: int, variant: int) -> Mesh:
    return tree(height=height, crown_radius=radius, crown_base=base, triangles=triangles, seed=seed + 1 + variant)


def _sapling(height: float, radius: float, triangles: int, seed: int, variant: int) -> Mesh:
    return tree(
        height=height, crown_radius=radius, crown_base=height / 6, trunk_radius=height / 120, triangles=triangles,
        seed=seed + 2 + variant,
    )  # fmt: skip


def _bush(height: float, radius: float, triangles: int, seed: int, variant: int) -> Mesh:
    return shrub(height=height, radius=radius, triangles=triangles, seed=seed + 3 + variant)


def _log(seed: int) -> Mesh:
    """A fallen trunk 6 m long along x, 0.4 m thick at its butt, half sunk, with the stumps of its limbs."""
    rng = chance("log", seed)
    x = np.linspace(-3.0, 3.0, 11)
    radius = np.linspace(0.20, 0.09, 11)
    sway = 0.12 * np.sin(np.linspace(0, np.pi, 11))
    bark = SURFACES["bark"].changed(name="deadwood", label="deadwood", color=(0.20, 0.17, 0.13))
    count = 7
    at, turn = rng.uniform(-1.5, 2.6, count), rng.uniform(0.15, np.pi - 0.15, count)
    start = np.stack([at, np.interp(at, x, sway), np.full(count, 0.08)], 1)
    out = np.stack([np.full(count, 0.4), np.cos(turn), np.sin(turn)], 1)
    ends = start + rng.uniform(0.3, 0.9, count)[:, None] * out
    trunk = Stems(np.stack([x, sway, 0.5 * radius], 1)[None], radius[None])
    limbs = Stems(np.stack([start, ends], 1), np.tile([0.035, 0.012], (count, 1)))
    return Mesh.joined([Mesh.of(*tubes(trunk, 14), (bark,)), Mesh.of(*tubes(limbs, 6), (bark,))])


def _way_mark() -> Mesh:
    """A wooden post 1.1 m high with a white band, its foot in the ground."""
    wood = SURFACES["bark"].changed(name="post", label="pole", color=(0.30, 0.22, 0.14))
    white = Material(name="band", reflectance=0.75, color=(0.75, 0.75, 0.72), label="pole")
    parts = []
    for low, high, radius, material in ((-0.3, 1.1, 0.06, wood), (0.85, 0.98, 0.062, white)):
        part = cylinder(radius, high - low, material=material)
        parts.append(
            Mesh.of(part.vertices.astype(float) + np.array([0, 0, (low + high) / 2]), part.triangles, (material,))
        )
    return Mesh.joined(parts)


def _beside(ground: HeightField, line: list[tuple[float, float]]) -> Placements:
    """Every twelfth metre or so, left and right of the trail in turn."""
    way = np.array(line)[6::12]
    ahead = np.gradient(np.array(line), axis=0)[6::12]
    aside = np.stack([-ahead[:, 1], ahead[:, 0]], 1) / np.linalg.norm(ahead, axis=1, keepdims=True)
    x, y = (way + (_WIDTH / 2 + 0.5) * aside * (-1.0) ** np.arange(len(way))[:, None]).T
    return Placements.of(np.stack([x, y, ground(x, y)], 1))


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
