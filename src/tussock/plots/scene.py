"""A picture of a scene, for people who want to see what they scan: taken by the colour camera from a free place.

Scenes grow by chance, so a tree may stand where the picture was to be taken from. The place counts as free if rays
all around, down to 45° below the horizon, meet nothing within `ROOM`; otherwise the nearest free one is taken, in
rings around it and at its height.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tussock.cameras.camera import Camera
from tussock.cameras.lenses.equirectangular import Equirectangular
from tussock.cameras.lenses.pinhole import Pinhole
from tussock.cameras.render import look, render
from tussock.errors import InputError
from tussock.files.images import save_image
from tussock.poses import Pose
from tussock.scene.scene import Scene
from tussock.trace.world import World
from tussock.whole_files import check_writable

__all__ = ["ROOM", "free_place", "plot_scene"]

ROOM = 1.5
"""[m] in which nothing stands around the camera"""
_RINGS = 12
_STEPS = 8
_SUFFIXES = (".png", ".jpg", ".jpeg")
_AROUND = Camera(width=256, height=128, lens=Equirectangular())
_DOWN_TO = 96  # rows of it above −45°


def plot_scene(
    scene: Scene | World,
    path: Path | str,
    view: Pose,
    *,
    size: tuple[int, int] = (960, 540),
    field_of_view: float = np.deg2rad(75.0),
    time: float = 0.0,
    force: bool = False,
) -> None:
    """Draw what is seen from ``view`` (x into the picture, z up), or from a free place by it, at ``time`` [s].

    >>> tussock.plot_scene(tussock.ready_scene("yard"), "yard.png", tussock.ready_view("yard"))  # doctest: +SKIP
    """
    path = Path(path)
    if path.suffix.lower() not in _SUFFIXES:
        raise InputError.of("suffix", "must be one of " + ", ".join(_SUFFIXES), path.suffix, source=path)
    check_writable(path, force=force)
    world = scene if isinstance(scene, World) else World(scene)
    lens = Pinhole(horizontal_fov_deg=float(np.rad2deg(field_of_view)))
    camera = Camera(width=size[0], height=size[1], lens=lens)
    save_image(render(world, camera, free_place(world, view, time=time), time=time).rgb, path, force=force)


def free_place(world: World, view: Pose, *, time: float = 0.0, room: float = ROOM) -> Pose:
    """The place nearest to ``view`` from which nothing is in the way; ``view`` itself where none is found."""
    heading = np.arctan2(view.rotation[1, 0], view.rotation[0, 0])
    for ring in range(_RINGS + 1):
        for step in range(_STEPS if ring else 1):
            angle = heading + np.pi + 2 * np.pi * step / _STEPS  # back first
            place = view.position + ring * np.array([np.cos(angle), np.sin(angle), 0.0])
            around = look(world, _AROUND, Pose.at(*place), time=time, depth_only=True)
            if around.range[:_DOWN_TO].min() >= room:
                return Pose(place, view.quaternion)
    return view
