"""The story of an image: a camera looks at a scene, and a view or a picture comes back.

`look` gives what is there, one exact ray a pixel: depth, labels, instances, normals. `render` gives what it looks
like: colour, with light and shadow, several rays a pixel. Both are taken by the same camera from the same place at
the same moment.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.camera import Camera
from tussock.cameras.development import develop
from tussock.cameras.picture import Picture
from tussock.cameras.shading.color_loop import Coloring, Sampling, color_loop
from tussock.cameras.shading.light import Light
from tussock.cameras.shading.paint import paint_of
from tussock.cameras.view import View
from tussock.cameras.view_loop import Seen, view_loop
from tussock.cameras.viewing import viewing_of
from tussock.cameras.weather import Sight, add_weather, hazy
from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.randomness import chance_of, check_seed
from tussock.scene.scene import Scene
from tussock.simulate import checked_on
from tussock.threads import resolve_threads, run_on_threads
from tussock.trace.world import World
from tussock.version import VERSION

__all__ = ["look", "render"]

_PIECE = 50_000  # rays of the camera that a thread traces without looking up


def look(
    scene: Scene | World,
    camera: Camera,
    pose: Pose | Trajectory | None = None,
    *,
    frame: int = 0,
    time: float | None = None,
    depth_only: bool = False,
    seed: int = 0,
    threads: int | None = None,
    on: str = "cpu",
) -> View:
    """Look through every pixel's middle once: image number ``frame``, or the one that starts at ``time`` [s].

    A pixel that looks at learned volumes ends in one of them or behind them by chance, as a pulse would; ``seed`` chooses.

    ``pose`` is ``T_world_camera``, standing or moving. ``depth_only`` leaves all but the ranges out, which is
    quicker. Hand over a `World` instead of a `Scene` to look many times without building it again. ``on`` is ``"cpu"``
    or ``"gpu"``, an NVIDIA graphics processor (extra ``cuda``).

    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall", position=(5.5, 0, 0))
    >>> view = tussock.look(scene, tussock.Camera(width=16, height=8))
    >>> float(view.depth[4, 8].round(3))
    5.0
    """
    world = scene if isinstance(scene, World) else World(scene)
    path = pose if isinstance(pose, Trajectory) else Trajectory.standing(Pose() if pose is None else pose)
    start = _start(camera, frame, time)
    viewing = viewing_of(camera, path, start, world.origin)
    moving = world.moving(start, start + camera.shutter.duration)
    seen = _room(camera, truth=not depth_only)
    if checked_on(on) == "gpu":
        if world.placed_volumes:
            raise InputError("volumes: cameras do not see them on='gpu' yet; look on='cpu'")
        # Late: it needs Numba's compiler for CUDA.
        from tussock.cameras.on_gpu import look_on_gpu

        look_on_gpu(world, viewing, moving.surroundings.tables, seen, (start, start + camera.shutter.duration))
    else:
        count = resolve_threads(threads)
        chance = chance_of(check_seed(seed), _draw_number(camera, frame, time))
        run_on_threads(view_loop, count, moving.surroundings, viewing, seen, chance, pieces=_pieces(camera, 1, count))
    return View(
        camera=camera,
        pose=path.pose(start),
        time=start,
        **seen._asdict(),
        instances=world.instances,
        meta=_meta(world, camera, start) | {
            "objects": {thing.id: thing.name for thing in world.named},
            "labels": world.labels,
            "materials": [material.name for material in world.materials],
        },
    )  # fmt: skip


def render(
    scene: Scene | World,
    camera: Camera,
    pose: Pose | Trajectory | None = None,
    *,
    light: Light | None = None,
    frame: int = 0,
    time: float | None = None,
    seed: int = 0,
    shadows: bool = True,
    threads: int | None = None,
) -> Picture:
    """Take a colour picture; arguments as for `look`. The same seed gives the same bytes whatever the ``threads``.

    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall", position=(5, 0, 0))
    >>> picture = tussock.render(scene, tussock.Camera(width=16, height=8, samples=1), light=tussock.Light(clouds=0))
    >>> tussock.save_image(picture.rgb, "wall.png")
    """
    world = scene if isinstance(scene, World) else World(scene)
    path = pose if isinstance(pose, Trajectory) else Trajectory.standing(Pose() if pose is None else pose)
    light = light or Light()
    seed, count = check_seed(seed), resolve_threads(threads)
    start = _start(camera, frame, time)
    viewing = viewing_of(camera, path, start, world.origin)
    moving = world.moving(start, start + camera.shutter.duration)
    draw = _draw_number(camera, frame, time)
    middle = start + camera.shutter.duration / 2
    now = world.weather_at(middle, path.pose(middle).position)
    lit = hazy(light, now)
    coloring = Coloring(
        moving.surroundings, paint_of(world), lit, viewing, Sampling(camera.samples, shadows, shadows),
        chance_of(seed, draw), (world.origin % 1024.0).astype(np.float32),
    )  # fmt: skip
    got = np.zeros((camera.height, camera.width, 3), np.float32)
    run_on_threads(color_loop, count, coloring, got, pieces=_pieces(camera, camera.samples, count))
    if now is not None:
        ranges = look(world, camera, path, time=start, depth_only=True, seed=seed, threads=count).range
        got = add_weather(Sight(camera, path.pose(start), got, ranges, seed, draw), now, lit)
    return Picture(
        camera=camera,
        pose=path.pose(start),
        time=start,
        rgb=develop(got, camera.development, seed=seed, frame=draw, threads=count),
        light=got,
        meta=_meta(world, camera, start) | {"seed": seed, "light": light.model_dump(mode="json")},
    )


def _pieces(camera: Camera, samples: int, threads: int) -> int:
    """How many pieces an image is made in, so that each takes a small part of a second."""
    return 1 + camera.width * camera.height * samples // (_PIECE * threads)


def _start(camera: Camera, frame: int, time: float | None) -> float:
    if time is None:
        if frame < 0:
            raise InputError.of("frame", "must be 0 or more", frame)
        return frame * camera.frame_period
    if not np.isfinite(time):
        raise InputError.of("time", "must be finite [s]", time)
    return time


def _draw_number(camera: Camera, frame: int, time: float | None) -> int:
    """What the draws of an image are numbered by: its frame, or its time in microseconds."""
    return frame % 2**32 if time is None else round(time * 1e6) % 2**32


def _room(camera: Camera, *, truth: bool) -> Seen:
    def image(dtype: Any, *more: int) -> NDArray[Any]:
        return np.empty((camera.height, camera.width, *more) if truth else (0, 0, *more), dtype)

    return Seen(
        np.empty((camera.height, camera.width), np.float32),
        image(np.uint32), image(np.uint32), image(np.uint16), image(np.uint16), image(np.float32, 3),
    )  # fmt: skip


def _meta(world: World, camera: Camera, start: float) -> dict[str, Any]:
    return {
        "tussock": VERSION,
        "scene": world.name,
        "start_s": start,
        "camera": camera.model_dump(mode="json"),
    }
