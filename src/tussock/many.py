"""Many sensors of one kind in one world, fired together: robots of a swarm, environments that learn side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.frame_meta import frame_meta
from tussock.frames.collect import Fired
from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.pulse.immersed import media_around, media_differ
from tussock.pulse.tables import PoseTable, Scanning
from tussock.randomness import chances_of, check_seed
from tussock.scene.scene import Scene
from tussock.sensors.sensor import Sensor
from tussock.signal.range_noise import biases_of
from tussock.simulate import (
    add_speeds,
    checked_on,
    pose_table,
    prepare,
    scan,
)
from tussock.trace.hit_tables import HitTables
from tussock.trace.world import World

__all__ = ["ManyFrames", "media_of", "scan_many"]

_SPEEDS = ("true_speed", "speed")
"""columns that are finished on the processor where something moves or the sensor measures them"""


@dataclass(frozen=True, repr=False)
class ManyFrames:
    """The frames of many sensors, one after the other in the same columns.

    >>> room = tussock.Scene("room")
    >>> walls = room.add(tussock.box((20, 20, 10)), name="walls")
    >>> frames = tussock.scan_many(room, tussock.load_sensor("vlp-16"), [tussock.Pose(), tussock.Pose.at(1, 0, 0)])
    >>> len(frames), len(frames.frame(0)) == int(frames.starts[1])
    (2, True)
    """

    columns: Mapping[str, Any]
    """by name, see `tussock.Frame`: NumPy arrays, or arrays on the graphics processor that PyTorch (`torch.as_tensor`)
    and CuPy (`cupy.asarray`) take without a copy. Those are used again by the next `scan_many` of the same sensor in
    the same world: copy what you keep."""
    starts: NDArray[np.int64]
    """first row of every sensor's frame, and the end, shape (sensors + 1,)"""
    _made: Mapping[str, Any]
    """all columns as they were made: ``columns`` themselves, or others whose radial speeds are unfinished"""
    _about: tuple[World, Sensor, Sequence[Pose | Trajectory], Sequence[int], int, Fired, HitTables]

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __repr__(self) -> str:
        where = "" if isinstance(self.columns["time"], np.ndarray) else " on the graphics processor"
        return f"ManyFrames({len(self)} frames of {self._about[1].name}, {int(self.starts[-1])} rows{where})"

    def frame(self, number: int) -> Frame:
        """The frame of one sensor, in the processor's memory."""
        if not 0 <= number < len(self):
            raise InputError.of("frame", f"must be a whole number from 0 to {len(self) - 1}", number)
        world, sensor, poses, seeds, frame, fired, tables = self._about
        path = _path(poses[number])
        first, last = int(self.starts[number]), int(self.starts[number + 1])
        columns: dict[str, Any] = {name: _rows(column, first, last) for name, column in self._made.items()}
        if self._made is not self.columns:
            add_speeds(columns, fired, path, world, sensor, tables)
        meta = frame_meta(world, sensor, seeds[number], frame, len(fired.lasers))
        return Frame(**columns, meta=meta, trajectory=path)


def scan_many(
    scene: Scene | World, sensor: Sensor, poses: Sequence[Pose | Trajectory], seeds: Sequence[int] | None = None, *,
    frame: int = 0, keep_misses: bool = False, threads: int | None = None, on: str = "cpu",
) -> ManyFrames:  # fmt: skip
    """Scan with a sensor at each of ``poses``, each with its own seed (0, 1, … if not given).

    Sensor by sensor the same as `tussock.scan` with that pose and that seed. On a graphics processor (``on="gpu"``) all
    of them are fired together, and their columns stay there.

    >>> room = tussock.Scene("room")
    >>> walls = room.add(tussock.box((20, 20, 10)), name="walls")
    >>> poses = [tussock.Pose(), tussock.Pose.at(1, 0, 0)]
    >>> frames = tussock.scan_many(room, tussock.load_sensor("vlp-16"), poses, seeds=[1, 2])
    >>> alone = tussock.scan(room, tussock.load_sensor("vlp-16"), poses[1], seed=2)
    >>> frames.frame(1).identical(alone)
    True
    """
    world = scene if isinstance(scene, World) else World(scene)
    if len(poses) == 0:
        raise InputError("poses: must hold one pose at least")
    numbers = tuple(check_seed(seed) for seed in (range(len(poses)) if seeds is None else seeds))
    if len(numbers) != len(poses):
        raise InputError.of("seeds", f"must be as many as the poses, {len(poses)}", len(numbers))
    poses = tuple(poses)
    if checked_on(on) == "gpu":
        return _on_gpu(world, sensor, poses, numbers, frame, keep_misses)
    frames = [
        scan(world, sensor, pose, seed=seed, frame=frame, keep_misses=keep_misses, threads=threads)
        for pose, seed in zip(poses, numbers, strict=True)
    ]
    columns = {name: np.concatenate([one.columns[name] for one in frames]) for name in frames[0].columns}
    starts = np.concatenate([[0], np.cumsum([len(one) for one in frames])])
    first = prepare(world, sensor, _path(poses[0]), numbers[0], frame)
    about = (world, sensor, poses, numbers, frame, first.fired, first.moving.tables)
    return ManyFrames(columns, starts, columns, about)


def _path(pose: Pose | Trajectory) -> Trajectory:
    return pose if isinstance(pose, Trajectory) else Trajectory.standing(pose)


def _on_gpu(
    world: World, sensor: Sensor, poses: Sequence[Pose | Trajectory], seeds: tuple[int, ...], frame: int, keep_misses: bool
) -> ManyFrames:  # fmt: skip
    from tussock.gpu.scans import Shots
    from tussock.gpu.wandering import Wandering
    from tussock.gpu.worlds import Wanted, ready_on_gpu

    first = prepare(world, sensor, _path(poses[0]), seeds[0], frame)
    scanning, fired = first.scanning, first.fired
    positions, quaternions = _places(world, sensor, poses, frame, scanning.poses)
    media = media_of(scanning, positions)
    _check_one_weather(world, sensor, positions, frame)
    shots = Shots(
        positions,
        quaternions,
        chances_of(seeds, frame),
        biases_of(sensor.noise.bias_sigma_m, sensor.lasers, seeds),
        media,
    )
    sigma = scanning.firing.pointing_sigma
    sent = Wandering.of(fired, sigma) if sigma > 0 else fired
    there = ready_on_gpu(
        world, Wanted(sensor, scanning, sent, first.slots, fired.start, first.end, len(poses), keep_misses, len(media) > 0)
    )  # fmt: skip
    there.fire(shots, fired.start)
    starts = there.starts()
    made = {name: column.first(int(starts[-1])) for name, column in there.columns.items()}
    moves = (
        world.sways
        or any(isinstance(pose, Trajectory) and pose.moving for pose in poses)
        or any(thing.motion is not None for thing in world.objects)
    )
    unfinished = _SPEEDS if moves else _SPEEDS[1:] if sensor.noise.speed_sigma_m_s is not None else ()
    columns = {name: column for name, column in made.items() if name not in unfinished}
    return ManyFrames(columns, starts, made, (world, sensor, poses, seeds, frame, fired, first.moving.tables))


def media_of(scanning: Scanning, positions: NDArray[np.float64]) -> NDArray[np.float32]:
    """The media that sensors stand in, shape (sensors, 4); no rows where all stand in those of the first."""
    if not media_differ(scanning.around):
        return np.zeros((0, 4), np.float32)
    media = np.array([media_around(scanning.around, place) for place in positions[:, 0]], np.float32)
    return media if (media != media[0]).any() else media[:0]


def _check_one_weather(world: World, sensor: Sensor, positions: NDArray[np.float64], frame: int) -> None:
    """All sensors of one launch share one air; showers make it another one from place to place."""
    if world.weather is None or not world.weather.showers:
        return
    time = (frame + 0.5) * sensor.frame_period
    here = [world.weather_at(time, places[len(places) // 2] + world.origin) for places in positions]
    if any(now != here[0] for now in here):
        raise InputError("poses: on='gpu' takes sensors that are all in the same shower; scan the others by themselves")


def _places(
    world: World, sensor: Sensor, poses: Sequence[Pose | Trajectory], frame: int, first: PoseTable
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Where sensors are at the times of the first one's table: positions (sensors, times, 3), quaternions."""
    if all(isinstance(pose, Pose) for pose in poses):  # no loop but this: there may be thousands
        standing: Any = poses
        place = np.array([pose.position for pose in standing]) - world.origin
        return place[:, None], np.array([pose.quaternion for pose in standing])[:, None]
    tables = [pose_table(world, sensor, _path(pose), frame) for pose in poses]
    if any(not np.array_equal(table.times, first.times) for table in tables):
        raise InputError("poses: on='gpu' takes sensors that all stand, or paths that share their times")
    return np.stack([table.positions for table in tables]), np.stack([table.quaternions for table in tables])


def _rows(column: Any, first: int, last: int) -> NDArray[Any]:
    if isinstance(column, np.ndarray):
        return column[first:last]
    rows: NDArray[Any] = column.rows(first, last).to_host()
    return rows
