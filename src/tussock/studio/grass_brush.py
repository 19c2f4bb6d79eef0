"""Grass painted onto the ground: tiles of one metre in a lattice, each upright on the slope under it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.camera import Camera
from tussock.cameras.lenses.orthographic import Orthographic
from tussock.cameras.render import look
from tussock.errors import InputError
from tussock.poses import Pose
from tussock.scene.labels import GROUND
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.scene import PlacedVolumes, Scene, SceneObject
from tussock.studio.building import placed, replaced
from tussock.trace.world import World

__all__ = ["erased", "ground_world", "painted"]

_ABOVE = 500.0
"""[m] over the clicked place, from where the ground is looked at"""
_WIDEST = 50.0


def ground_world(scene: Scene) -> World:
    """What carries grass: all that is ground, or everything where nothing is called so."""
    ground = Scene(scene.name, scene.labels)
    ground.objects = [
        thing
        for thing in scene.objects
        if thing.motion is None and any((m.label or thing.label) in GROUND for m in thing.mesh.materials)
    ]
    return World(ground if ground.objects else scene)


def painted(scene: Scene, ground: World, tile: Mesh, centre: NDArray[np.float64], radius: float) -> Scene:
    """Tiles where the brush is and none of this shape stands yet; ``centre`` (3,) and ``radius`` are in metres."""
    if not 0.5 <= radius <= _WIDEST:
        raise InputError.of("brush", f"must have a radius from 0.5 m to {_WIDEST:g} m", radius)
    x, y = _lattice(centre, radius)
    mine = next((thing for thing in scene.objects if thing.mesh is tile and thing.name.startswith("grass")), None)
    if mine is not None:
        there = {tuple(cell) for cell in np.floor(mine.placements.matrices[:, :2, 3]).astype(int).tolist()}
        new = [tuple(cell) not in there for cell in np.floor(np.stack([x, y], 1)).astype(int).tolist()]
        x, y = x[new], y[new]
    heights, along_x, along_y = _heights(ground, x, y, float(centre[2]))
    firm = np.isfinite(heights)
    if not firm.any():
        return scene
    matrices = _upright(x[firm], y[firm], heights[firm], along_x[firm], along_y[firm])
    if mine is None:
        other, thing = placed(scene, tile, (0, 0, 0), name="grass", label="grass", tags=("vegetation",))
        return replaced(other, thing.name, lambda one: replace(one, placements=Placements(matrices)))
    whole = np.concatenate([mine.placements.matrices, matrices])
    return replaced(scene, mine.name, lambda one: replace(one, placements=Placements(whole)))


def erased(scene: Scene, centre: NDArray[np.float64], radius: float) -> Scene:
    """The scene without grass whose middle lies under the brush."""
    gone = scene
    for thing in scene.objects:
        if thing.label != "grass" or thing.motion is not None:
            continue
        kept = np.hypot(*(thing.placements.matrices[:, :2, 3] - centre[:2]).T) > radius
        if kept.all() or (len(scene.everything) == 1 and not kept.any()):
            continue
        left = replace(thing, placements=Placements(thing.placements.matrices[kept])) if kept.any() else None
        gone = replaced(gone, thing.name, partial(_instead, left))
    return gone


def _instead(new: SceneObject | None, _: SceneObject | PlacedVolumes) -> SceneObject | None:
    return new


def _lattice(centre: NDArray[np.float64], radius: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Middles of whole square metres within the brush."""
    low, high = np.floor(centre[:2] - radius), np.ceil(centre[:2] + radius)
    x, y = (v.ravel() + 0.5 for v in np.meshgrid(np.arange(low[0], high[0]), np.arange(low[1], high[1]), indexing="ij"))
    inside = np.hypot(x - centre[0], y - centre[1]) <= radius
    return x[inside], y[inside]


def _heights(
    ground: World, x: NDArray[np.float64], y: NDArray[np.float64], level: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Height [m] of the ground, and its slope along x and y; NaN where there is none."""
    if not len(x):
        return x, x, x
    middle = np.array([(x.min() + x.max()) / 2, (y.min() + y.max()) / 2])
    # Pixels of a quarter metre, whose middles lie at the tiles' middles and a quarter metre beside them.
    side = int(4 * (max(np.ptp(x), np.ptp(y)) + 2)) + 1
    eye = Camera(
        width=side, height=side, lens=Orthographic(width_m=side / 4), samples=1, max_range_m=2 * _ABOVE
    )  # fmt: skip
    # Looking down with a pitch of 90 degrees: the image's right is -y, and its top is +x.
    view = look(
        ground, eye, Pose.at(float(middle[0]), float(middle[1]), level + _ABOVE, pitch=np.pi / 2), depth_only=True
    )
    height = level + _ABOVE - view.range.astype(np.float64)
    height[~np.isfinite(view.range) | (view.range <= 0)] = np.nan
    half = side // 2
    row = np.rint(half - (x - middle[0]) * 4).astype(int)
    column = np.rint(half - (y - middle[1]) * 4).astype(int)
    along_x = (height[row - 1, column] - height[row + 1, column]) / 0.5
    along_y = (height[row, column - 1] - height[row, column + 1]) / 0.5
    return height[row, column], np.nan_to_num(along_x), np.nan_to_num(along_y)


def _upright(
    x: NDArray[np.float64], y: NDArray[np.float64], z: NDArray[np.float64], along_x: NDArray[np.float64],
    along_y: NDArray[np.float64],
) -> NDArray[np.float64]:  # fmt: skip
    """Placements (n, 3, 4): quarter turns and sizes by the tile's place, sheared with the slope, blades upright."""
    i, j = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    mixed = ((i * 73_856_093) ^ (j * 19_349_663)) & 0xFFFF
    quarter, size = mixed % 4, 0.8 + 0.4 * ((mixed >> 2) % 1024) / 1023
    cosine, sine = np.array([1.0, 0.0, -1.0, 0.0])[quarter], np.array([0.0, 1.0, 0.0, -1.0])[quarter]
    matrices = np.zeros((len(x), 3, 4))
    matrices[:, 0, 0], matrices[:, 0, 1] = cosine, -sine
    matrices[:, 1, 0], matrices[:, 1, 1] = sine, cosine
    matrices[:, 2, 0] = along_x * cosine + along_y * sine
    matrices[:, 2, 1] = -along_x * sine + along_y * cosine
    matrices[:, 2, 2] = size
    matrices[:, :, 3] = np.stack([x, y, z], 1)
    return matrices
