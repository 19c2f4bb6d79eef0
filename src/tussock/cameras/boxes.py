"""Boxes around things: in the image, and in space.

For every thing (a copy of an object whose label is not in `tussock.scene.labels.STUFF`, or any labels and objects
asked for) that the camera would see if it stood alone:

- the visible box holds the pixels that show it, from the view itself; a hidden thing has none;
- the whole box holds the pixels that would show it if nothing stood in front: the thing is looked at alone;
- the occlusion share is the part of those pixels that shows something else;
- the box in space has the thing's own axes, in the world and in the camera, when the first row opens.

Pixels are those of the view, one ray through each middle; a thing thinner than a pixel may fall between them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.camera import Camera
from tussock.cameras.lenses.pinhole import Pinhole
from tussock.cameras.view import View
from tussock.cameras.viewing import TILE, Viewing, aim, new_tile, set_pixels, viewing_of
from tussock.errors import InputError, nearest
from tussock.kernels import Array, kernel
from tussock.poses import Pose, Trajectory
from tussock.scene.labels import STUFF
from tussock.scene.scene import SceneObject
from tussock.threads import resolve_threads, run_on_threads
from tussock.trace.packets import LANES, new_packet, was_stopped
from tussock.trace.surroundings import Surroundings, stop_light
from tussock.trace.world import World

__all__ = ["Box", "boxes_in", "placed_at"]

PixelBox = tuple[int, int, int, int]
Region = tuple[int, int, int, int]
"""rows from, to and columns from, to; the first row and column begin a tile"""


@dataclass(frozen=True, eq=False)
class Box:
    """One thing in an image.

    >>> wall = tussock.Scene("wall")
    >>> thing = wall.add(tussock.box((1, 1, 1)), name="crate", label="other-object", position=(5, 0, 0))
    >>> view = tussock.look(wall, tussock.Camera(width=40, height=30))
    >>> box, = tussock.boxes_in(view, tussock.World(wall))
    >>> box.name, box.occlusion
    ('crate', 0.0)
    """

    name: str
    label: str
    object_id: int
    placement: int
    instance: int
    visible: PixelBox | None
    """columns and rows of the first and the last pixel that show it: left, top, right, bottom"""
    whole: PixelBox
    """the same as if nothing stood in front of it"""
    occlusion: float
    """share of the pixels of the thing that show something else, 0 to 1"""
    center: NDArray[np.float64]
    """[m], world, shape (3,)"""
    size: NDArray[np.float64]
    """[m] along the thing's own x, y, z, shape (3,)"""
    rotation: NDArray[np.float64]
    """the thing's own axes in the world, as columns, shape (3, 3)"""
    corners: NDArray[np.float64]
    """[m], world, shape (8, 3)"""
    camera_center: NDArray[np.float64]
    """[m], camera, shape (3,)"""
    camera_rotation: NDArray[np.float64]
    """the thing's own axes in the camera, as columns, shape (3, 3)"""
    camera_corners: NDArray[np.float64]
    """[m], camera, shape (8, 3)"""

    def plain(self) -> dict[str, Any]:
        """As plain data, ready for JSON."""
        return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in vars(self).items()}


def boxes_in(
    view: View,
    world: World,
    pose: Pose | Trajectory | None = None,
    *,
    of: Iterable[str] | None = None,
    hidden: bool = True,
    threads: int | None = None,
) -> list[Box]:
    """The boxes of the things in ``view``, nearest first; ``pose`` is what the view was looked at with.

    ``of`` names labels or objects; all things if not given. Without ``hidden`` those that no pixel shows are left out,
    which takes a fraction of the time in a forest.

    >>> scene = tussock.Scene("two crates")
    >>> near = scene.add(tussock.box((1, 1, 1)), name="near", label="other-object", position=(5, -1, 0))
    >>> far = scene.add(tussock.box((1, 1, 1)), name="far", label="other-object", position=(9, 1, 0))
    >>> world = tussock.World(scene)
    >>> view = tussock.look(world, tussock.Camera(width=80, height=60))
    >>> [box.name for box in tussock.boxes_in(view, world)]
    ['near', 'far']
    """
    path = pose if isinstance(pose, Trajectory) else Trajectory.standing(pose or view.pose)
    viewing = viewing_of(view.camera, path, view.time, world.origin)
    instance = view.instance
    end = view.time + view.camera.shutter.duration
    seen = None if hidden else set(np.unique(instance).tolist())
    boxes = []
    for geometry, named in _things(world, of):
        thing = named if named.forms is None else replace(named, mesh=named.forms.at((view.time + end) / 2))
        matrices = placed_at(thing, view.time)
        for copy, matrix in enumerate(matrices):
            number = int(view.instances.starts[thing.id]) + copy
            if seen is not None and number not in seen:
                continue
            corners = _corners(thing, matrix)
            region = _region(view.camera, view.pose, corners)
            if region is None:
                continue
            alone = world.alone(geometry, copy, view.time, end)
            mask = np.zeros((view.camera.height, view.camera.width), np.bool_)
            run_on_threads(_mask_loop, resolve_threads(threads), alone.surroundings, viewing, region, mask)
            whole = _extent(mask, region)
            if whole is None:
                continue
            shown = instance[region[0] : region[1], region[2] : region[3]] == number
            covered = int(mask.sum())
            visible = _extent_of(shown, region[0], region[2])
            occlusion = 1.0 - min(int(shown.sum()) / covered, 1.0)
            boxes.append(
                Box(
                    name=thing.name,
                    label=thing.label,
                    object_id=thing.id,
                    placement=copy,
                    instance=number,
                    visible=visible,
                    whole=whole,
                    occlusion=occlusion,
                    **_in_space(view, thing, matrix, corners),
                )
            )
    return sorted(boxes, key=lambda box: float(np.linalg.norm(box.camera_center)))


def _things(world: World, of: Iterable[str] | None) -> list[tuple[int, SceneObject]]:
    """Geometry numbers and objects that are asked for."""
    numbered = list(enumerate(world.geometries))
    if of is None:
        return [(number, thing) for number, thing in numbered if thing.label not in STUFF]
    wanted = set(of)
    known = {thing.name for thing in world.objects} | set(world.labels)
    for name in wanted - known:
        raise InputError(f"boxes of {name!r}: no such label or object; {nearest(name, known)}")
    return [(number, thing) for number, thing in numbered if {thing.label, thing.name} & wanted]


def placed_at(thing: SceneObject, time: float) -> NDArray[np.float64]:
    """Shape to world for every copy at a time, (n, 3, 4)."""
    rest = thing.placements.matrices
    if thing.motion is None:
        return rest
    path = thing.motion.matrices([time])[0]
    moved = path[:, :3] @ rest
    moved[..., 3] += path[:, 3]
    return np.asarray(moved)


def _corners(thing: SceneObject, matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    low, high = thing.mesh.bounds.astype(np.float64)
    eight = np.array([[(low, high)[i >> a & 1][a] for a in range(3)] for i in range(8)])
    return np.asarray(eight @ matrix[:, :3].T + matrix[:, 3])


def _region(camera: Camera, pose: Pose, corners: NDArray[np.float64]) -> Region | None:
    """The pixels that may show a box in space; None where none can."""
    whole = (0, camera.height, 0, camera.width)
    # Only without distortion, and in front of the camera, is the image of a box inside that of its corners; and
    # only while nothing moves during the exposure.
    if not isinstance(camera.lens, Pinhole) or any(camera.lens.distortion) or camera.shutter.duration > 0:
        return whole
    ahead = (corners - pose.position) @ pose.rotation[:, 0]
    if (ahead <= 0).all():
        return None
    if (ahead < 1e-3).any():
        return whole
    pixels = camera.project(corners, pose)
    left, top = (max(int(low), 0) for low in np.floor(pixels.min(0)))
    right, bottom = (int(high) for high in np.ceil(pixels.max(0)))
    right, bottom = min(right, camera.width - 1), min(bottom, camera.height - 1)
    if left > right or top > bottom:
        return None
    return top // TILE * TILE, bottom + 1, left // TILE * TILE, right + 1


def _extent(mask: NDArray[np.bool_], region: Region) -> PixelBox | None:
    return _extent_of(mask[region[0] : region[1], region[2] : region[3]], region[0], region[2])


def _extent_of(mask: NDArray[np.bool_], top: int, left: int) -> PixelBox | None:
    rows, columns = np.flatnonzero(mask.any(1)), np.flatnonzero(mask.any(0))
    if not len(rows):
        return None
    return int(columns[0]) + left, int(rows[0]) + top, int(columns[-1]) + left, int(rows[-1]) + top


def _in_space(
    view: View, thing: SceneObject, matrix: NDArray[np.float64], corners: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """The box in space of a thing, in the world and in the camera."""
    lengths = np.linalg.norm(matrix[:, :3], axis=0)
    low, high = thing.mesh.bounds.astype(np.float64)
    rotation = matrix[:, :3] / lengths
    center = corners.mean(0)
    turn, place = view.pose.rotation, view.pose.position
    return {
        "center": center,
        "size": (high - low) * lengths,
        "rotation": rotation,
        "corners": corners,
        "camera_center": (center - place) @ turn,
        "camera_rotation": turn.T @ rotation,
        "camera_corners": (corners - place) @ turn,
    }


@kernel
def _mask_loop(
    worker: int, workers: int, alone: Surroundings, viewing: Viewing, region: Region, mask: Array
) -> None:  # fmt: skip
    """Which pixels of a region see anything of a thing that stands alone."""
    packet, tile = new_packet(), new_tile()
    top, bottom, left, right = region
    for band in range(top // TILE + worker, (bottom + TILE - 1) // TILE, workers):
        for first in range(left, right, TILE):
            set_pixels(viewing, band, first, tile)
            aim(viewing, band, tile, packet)
            stop_light(alone, packet)
            for l in range(LANES):
                r, c = band * TILE + l // TILE, first + l % TILE
                if packet.masks[l] != 0 and r < bottom and c < right and was_stopped(packet, l):
                    mask[r, c] = True
