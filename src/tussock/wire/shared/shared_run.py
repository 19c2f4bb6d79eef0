"""A sensor in shared memory: the channels that a run of frames has, and what comes back.

    points      out  f4 (n, 6)   x, y, z [m], relative intensity, ring, time since the frame's start [s]
    pose        out  f8 (7,)     of the sensor in the world at the frame's end: position [m], quaternion (x, y, z, w)
    numbers     out  f8 (8,)     frame, start [s], end [s], pulses, returns, revolutions dropped, speed, 0
    image       out  u1 (h, w, 3)  of a camera, where there is one
    pose_in     in   f8 (7,)     where the sensor is to be at the end of the next frame
    command     in   i4 (1,)     0 go on, 1 pause, 2 stop
    numbers_in  in   f8 (16,)    anything that the two sides agree on

Given a pose the sensor moves there in a straight line during the next frame, and every pulse is fired from where it
is at that moment.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.sensors.sensor import Sensor
from tussock.wire.ros.messages import rings_of
from tussock.wire.shared.shared_memory import SharedSegment
from tussock.wire.shared.shm_layout import ChannelSpec

__all__ = ["Command", "SharedRun", "shared_points"]

NUMBERS_OUT, NUMBERS_IN = 8, 16


class Command(IntEnum):
    """What a consumer can ask for.

    >>> shared.publish("command", [tussock.Command.STOP])  # doctest: +SKIP
    """

    GO_ON = 0
    PAUSE = 1
    STOP = 2


class SharedRun:
    """The simulator's end of a run in shared memory.

    >>> with tussock.SharedRun("demo", sensor, pose) as shared:  # doctest: +SKIP
    ...     shared.publish(tussock.scan(world, sensor, pose))
    """

    def __init__(
        self, name: str, sensor: Sensor, start: Pose | Trajectory, *, lockstep: bool = False,
        image_shape: tuple[int, int] | None = None,
    ) -> None:  # fmt: skip
        # A revolution may hold one firing cycle more than another.
        rows = (len(sensor.pulses(0)) + sensor.lasers) * sensor.receiver.returns
        channels = [
            ChannelSpec("points", "out", "f4", (rows, 6)),
            ChannelSpec("pose", "out", "f8", (7,)),
            ChannelSpec("numbers", "out", "f8", (NUMBERS_OUT,)),
            ChannelSpec("pose_in", "in", "f8", (7,)),
            ChannelSpec("command", "in", "i4", (1,)),
            ChannelSpec("numbers_in", "in", "f8", (NUMBERS_IN,)),
        ]
        if image_shape is not None:
            channels.append(ChannelSpec("image", "out", "u1", (*image_shape, 3)))
        self.segment = SharedSegment.create(name, channels, lockstep=lockstep)
        self._sensor, self._rings = sensor, rings_of(sensor)
        self._given = start
        self._moved: Pose | None = None
        self._pose_number = 0

    def path(self, frame: int) -> Pose | Trajectory:
        """How the sensor moves during a frame: as it was given, until a consumer says otherwise."""
        sample = self.segment.latest("pose_in", after=self._pose_number)
        if sample is None:
            return self._moved or self._given
        self._pose_number = sample.number
        start = frame * self._sensor.frame_period
        before = self._moved or (self._given if isinstance(self._given, Pose) else self._given.pose(start))
        self._moved = Pose(sample.array[:3], sample.array[3:])
        return Trajectory.through([start, start + self._sensor.frame_period], [before, self._moved])

    def publish(self, frame: Frame, *, dropped: int = 0, speed: float = 0.0) -> None:
        """Put a frame into the channels."""
        start = float(frame.meta["start_s"])
        end = start + self._sensor.frame_period
        self.segment.publish("points", shared_points(frame, self._rings, start), time=end)
        if frame.trajectory is not None:
            position, quaternion = frame.trajectory.at([end])
            self.segment.publish("pose", np.concatenate([position[0], quaternion[0]]), time=end)
        returns = int(frame.hit.sum())
        numbers = [frame.meta["frame"], start, end, frame.pulses, returns, dropped, speed, 0.0]
        self.segment.publish("numbers", np.array(numbers, float), time=end)

    def publish_image(self, pixels: NDArray[np.uint8], *, time: float) -> None:
        """Put a camera's image (h, w, 3) into its channel."""
        self.segment.publish("image", pixels, time=time)

    @property
    def command(self) -> Command:
        """What the consumer asked for last."""
        sample = self.segment.latest("command")
        value = 0 if sample is None else int(sample.array[0])
        return Command(value) if value in list(Command) else Command.GO_ON

    @property
    def numbers(self) -> NDArray[Any] | None:
        """The consumer's own numbers, shape (16,), None before the first."""
        sample = self.segment.latest("numbers_in")
        return None if sample is None else sample.array

    def close(self) -> None:
        self.segment.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def shared_points(frame: Frame, rings: NDArray[np.uint16], start: float) -> NDArray[np.float32]:
    """The returns of a frame as rows of x, y, z, intensity, ring, time, shape (n, 6)."""
    hit: Any = slice(None) if frame.hit.all() else frame.hit
    points = np.empty((len(frame.time[hit]), 6), np.float32)
    points[:, :3] = frame.xyz[hit]
    points[:, 3] = frame.intensity[hit]
    points[:, 4] = rings[frame.laser[hit]]
    points[:, 5] = frame.time[hit] - start
    return points
