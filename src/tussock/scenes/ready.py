"""Ready scenes, by name, each with a place for a sensor and a place to draw it from."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tussock.errors import InputError, nearest
from tussock.poses import Pose
from tussock.scene.scene import Scene
from tussock.scenes.courtyard import courtyard
from tussock.scenes.crossing import crossing
from tussock.scenes.forest_trail import forest_trail
from tussock.scenes.meadow import meadow
from tussock.scenes.pasture import pasture
from tussock.scenes.root import root
from tussock.scenes.stands import rods, shrub_stand, stems

__all__ = ["ready_pose", "ready_scene", "ready_view", "scene_names"]


class _Ready(NamedTuple):
    build: Callable[..., Scene]
    meaning: str
    place: tuple[float, float, float] = (0.0, 0.0, 2.0)
    """where a sensor stands [m]"""
    yaw_deg: float = 0.0
    view: tuple[float, float, float, float, float] = (-12.0, -4.0, 3.0, 12.0, -6.0)
    """x, y, z [m], yaw and pitch (up positive) [deg] of the picture in the documentation"""
    seconds: float = 0.0
    """how long something moves in it"""


_READY: dict[str, _Ready] = {
    "courtyard": _Ready(
        partial(courtyard, full=True), "300 m × 300 m, walled, 1.98 M blades, 50 trees, 193 M triangles",
        view=(0.0, 0.0, 5.0, 0.0, -5.0),
    ),
    "crossing": _Ready(
        crossing, "two roads, walls, four cars that move for 12 s", place=(-6.5, -6.5, 2.2), yaw_deg=45.0,
        view=(-17.0, -14.0, 9.0, 42.0, -22.0), seconds=12.0,
    ),
    "forest-trail": _Ready(
        forest_trail,
        "a path through trees and undergrowth, 120 m × 120 m",
        place=(0.0, 0.0, 4.0),  # two metres above the ground that is there
        view=(-12.0, -5.6, 2.2, 28.0, -3.0),
    ),
    "meadow": _Ready(
        meadow, "100 m × 100 m of grass on uneven ground, the benchmark", view=(-6.0, 0.0, 1.6, 0.0, -12.0)
    ),
    "pasture": _Ready(
        pasture, "80 m × 80 m of mixed grasses, herbs and litter, trees of three ages, a hedge",
        view=(-14.0, -6.0, 1.7, 24.0, -6.0),
    ),
    "rods": _Ready(rods, "nine rods before a wall: mixed pixels", view=(-1.2, 0.0, 2.0, 0.0, 0.0)),
    "root": _Ready(
        root, "a root of 22 M triangles in 24,900 grass and tree meshes, 626 M triangles", place=(4.0, -5.0, 2.0),
        yaw_deg=128.0, view=(5.5, -6.5, 2.6, 130.0, -15.0),
    ),
    "shrub": _Ready(shrub_stand, "one shrub 8 m away on bare ground", view=(2.0, 0.0, 2.0, 0.0, -5.0)),
    "stems": _Ready(
        stems, "2,500 upright cylinders, 50 to the square metre, 20 m away", view=(10.0, -4.0, 5.0, 18.0, -12.0)
    ),
    "yard": _Ready(
        partial(courtyard, full=False), "60 m × 60 m, walled, grass and 6 trees: a small courtyard",
        view=(-24.0, -20.0, 3.0, 40.0, -4.0),
    ),
}  # fmt: skip


def scene_names() -> dict[str, str]:
    """The names that `ready_scene` knows, each with a line on what it is.

    >>> "meadow" in tussock.scene_names()
    True
    """
    return {name: ready.meaning for name, ready in _READY.items()}


def ready_scene(name: str, **options: Any) -> Scene:
    """Build the scene called ``name``; ``options`` (``seed``, …) go to its generator.

    >>> tussock.ready_scene("crossing").name
    'crossing'
    """
    build = _known(name).build
    known = [option for option in inspect.signature(build).parameters if option != "full"]
    for option in options:
        if option not in known:
            raise InputError(f"scene {name!r}: unknown option {option!r}; {nearest(option, known)}")
    return build(**options)


def ready_pose(name: str) -> Pose:
    """Where a sensor stands in the scene called ``name`` unless it is told otherwise.

    >>> pose = tussock.ready_pose("crossing")
    """
    ready = _known(name)
    return Pose.at(*ready.place, yaw=np.deg2rad(ready.yaw_deg))


def ready_view(name: str) -> Pose:
    """From where the scene called ``name`` is drawn: x of the pose looks into the picture.

    >>> view = tussock.ready_view("crossing")
    """
    x, y, z, yaw, pitch = _known(name).view
    return Pose.at(x, y, z, yaw=np.deg2rad(yaw), pitch=-np.deg2rad(pitch))


def _known(name: str) -> _Ready:
    if name not in _READY:
        raise InputError(f"scene {name!r}: no ready scene of that name; {nearest(name, _READY)}")
    return _READY[name]
