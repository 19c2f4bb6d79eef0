"""All sensors of a rig at the same moments, with the transforms between them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.picture import Picture
from tussock.cameras.render import look, render
from tussock.cameras.view import View
from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.poses import Trajectory, check_covered
from tussock.rigs.rig import MountedCamera, Rig
from tussock.scene.scene import Scene
from tussock.shown import Shown
from tussock.simulate import scan
from tussock.steps import first_whole, steps_between
from tussock.trace.world import World

__all__ = ["Moment", "capture", "capture_moment", "check_range", "moments_between", "sensor_seed"]


@dataclass(frozen=True, eq=False, repr=False)
class Moment(Shown):
    """What all sensors gave at one moment, each by its name.

    >>> scene = tussock.Scene("crate")
    >>> crate = scene.add(tussock.box((1, 1, 1)), position=(5, 0, 0))
    >>> rig = tussock.Rig(
    ...     tussock.Trajectory.standing(tussock.Pose.at(0, 0, 1)),
    ...     lidars=[tussock.MountedLidar("top", tussock.load_sensor("vlp-16"))],
    ... )
    >>> moment = next(iter(tussock.capture(rig, scene, start=0.0, end=0.1)))
    >>> list(moment.frames)
    ['top']
    """

    rig: Rig
    number: int
    time: float
    """[s] when it starts"""
    frames: dict[str, Frame] = field(default_factory=dict)
    pictures: dict[str, Picture] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)

    def transform(self, target: str, source: str, time: float | None = None) -> NDArray[np.float64]:
        """``T_target_source``, shape (4, 4), between "world", "body" and sensors, at ``time`` [s] or the start."""
        return np.asarray(np.linalg.inv(self._in_world(target, time)) @ self._in_world(source, time))

    def _in_world(self, name: str, time: float | None) -> NDArray[np.float64]:
        if name == "world":
            return np.eye(4)
        body = self.rig.body.pose(self.time if time is None else time)
        return (body if name == "body" else body @ self.rig.mount(name)).matrix


def capture(
    rig: Rig,
    scene: Scene | World,
    *,
    start: float = 0.0,
    end: float | None = None,
    seed: int = 0,
    pictures: bool = True,
    views: bool = False,
    threads: int | None = None,
) -> Iterator[Moment]:
    """The moments that start in [start, end) [s], one after the other; one moment if ``end`` is not given.

    Every LIDAR gives a frame, every camera a colour picture (``pictures``) and the truth of every pixel (``views``).
    Each sensor draws its own chance from ``seed`` and its name.

    >>> scene = tussock.Scene("crate")
    >>> crate = scene.add(tussock.box((1, 1, 1)), position=(5, 0, 0))
    >>> rig = tussock.Rig(
    ...     tussock.Trajectory.standing(tussock.Pose.at(0, 0, 1)),
    ...     lidars=[tussock.MountedLidar("top", tussock.load_sensor("vlp-16"))],
    ... )
    >>> moments = list(tussock.capture(rig, scene, start=0.0, end=0.2))
    >>> len(moments)
    2
    """
    world = scene if isinstance(scene, World) else World(scene)
    numbers = moments_between(rig, start, end)
    check_range(rig, world, numbers)
    for number in numbers:
        yield capture_moment(rig, world, number, seed=seed, pictures=pictures, views=views, threads=threads)


def capture_moment(
    rig: Rig, world: World, number: int, *, seed: int = 0, pictures: bool = True, views: bool = False,
    threads: int | None = None,
) -> Moment:  # fmt: skip
    """Moment number ``number``, which starts at ``number`` / rate; the same whatever else is captured."""
    time = number / rig.rate_hz
    moment = Moment(rig, number, time)
    for lidar in rig.lidars:
        frame = first_whole(time / lidar.sensor.frame_period)
        moment.frames[lidar.name] = scan(
            world, lidar.sensor, rig.body.mounted(lidar.mount), seed=sensor_seed(seed, lidar.name), frame=frame,
            threads=threads,
        )  # fmt: skip
    for mounted in rig.cameras:
        path, opens = camera_path(rig, mounted), time + mounted.trigger
        if pictures:
            moment.pictures[mounted.name] = render(
                world, mounted.camera, path, light=rig.light, time=opens, seed=sensor_seed(seed, mounted.name),
                threads=threads,
            )  # fmt: skip
        if views:
            moment.views[mounted.name] = look(
                world, mounted.camera, path, time=opens, seed=sensor_seed(seed, mounted.name), threads=threads
            )
    return moment


def camera_path(rig: Rig, mounted: MountedCamera) -> Trajectory:
    """``T_world_camera`` over time."""
    return rig.body.mounted(mounted.mount)


def moments_between(rig: Rig, start: float, end: float | None) -> range:
    """Numbers of the moments that start in [start, end) [s]; the first from ``start`` on if ``end`` is None."""
    if not np.isfinite(start) or start < 0 or (end is not None and not start < end < np.inf):
        raise InputError.of("time range", "must be 0 <= start < end [s]", (start, end))
    numbers = steps_between(start * rig.rate_hz, (start if end is None else end) * rig.rate_hz, "moments")
    if end is None:
        return range(numbers.start, numbers.start + 1)
    if not len(numbers):
        raise InputError.of(
            "time range", "holds no moment of the rig", (start, end), f"it has one every {1 / rig.rate_hz:g} s"
        )
    return numbers


def check_range(rig: Rig, world: World, numbers: range) -> None:
    """Refuse moments that the animation does not cover: the body's path, or the scene's where the body stands."""
    start, end = numbers[0] / rig.rate_hz, numbers[-1] / rig.rate_hz + rig.reach
    remedy = "choose a shorter time range; a moment lasts until its last frame ends"
    motions = [thing.motion.times for thing in world.objects if thing.motion is not None and thing.motion.moving]
    if rig.body.moving:
        rig.body.check_covers("the moments", start, end, remedy)
    elif motions:
        low, high = min(times[0] for times in motions), max(times[-1] for times in motions)
        check_covered("animation", (low, high), "the moments", start, end, remedy)


def sensor_seed(seed: int, name: str) -> int:
    """The seed of one sensor: two of a kind on one rig must not draw the same noise."""
    digest = hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little")
