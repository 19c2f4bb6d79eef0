"""A run of many frames written to one place as it goes, by the suffix of its name; nothing is held whole.

    .pcap      a capture of the sensor's packets and positions (`tussock.wire.captures`)
    .mcap      ROS 2 messages in one file (`tussock.wire.ros.logs`)
    .rosbag2   the same messages in the folder of a rosbag2

ROS topics: the points of every frame, the packets of a sensor that has them (in a return mode that packets carry),
and transform and pose, 100 a second while the sensor moves and once a frame while it stands.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.sensors.sensor import Sensor
from tussock.whole_files import check_folder, check_writable, whole_file
from tussock.wire.captures.capture_writer import CaptureWriter, Flow
from tussock.wire.ros.logs import MessageLog, open_mcap, open_rosbag2
from tussock.wire.ros.messages import RosMessages
from tussock.wire.velodyne.encode import EPOCH, PacketEncoder, Packets
from tussock.wire.velodyne.models import DATA_PORT, MODELS, mode_of, model_of, speaks_packets
from tussock.wire.velodyne.position import DATA_PER_POSITION, POSITION_PORT, GeoOrigin, position_packets

__all__ = ["RECORDING_SUFFIXES", "PositionClock", "Recording", "check_recording", "open_recording", "pose_times"]

RECORDING_SUFFIXES = (".pcap", ".mcap", ".rosbag2")
_POSE_STEP = 0.01  # [s]


class Recording(Protocol):
    """Takes the frames of a run in their order."""

    def write(self, frame: Frame) -> None: ...

    def write_image(self, topic: str, time: float, pixels: NDArray[Any], frame_id: str) -> None:
        """Add a camera's image at a simulation time [s]; not every kind of run can hold one."""


def check_recording(path: Path, sensor: Sensor, *, force: bool = False) -> None:
    """Refuse early what `open_recording` would refuse: an unknown suffix, a sensor without packets, an existing file."""
    if path.suffix not in RECORDING_SUFFIXES:
        raise InputError.of(f"{path}", "a run ends in " + ", ".join(RECORDING_SUFFIXES), path.suffix)
    if path.suffix == ".rosbag2":
        check_folder(path, force=force)
    else:
        check_writable(path, force=force)
    if path.suffix == ".pcap":
        model_of(sensor)
        mode_of(sensor)


@contextmanager
def open_recording(
    path: Path | str, sensor: Sensor, *, force: bool = False, epoch: float = EPOCH, origin: GeoOrigin | None = None,
) -> Iterator[Recording]:  # fmt: skip
    """A `Recording` at ``path``; it appears whole when the block ends, or not at all.

    ``epoch`` [s] is the Unix time of simulation time 0; ``origin`` is where on the earth the scene's origin lies, for
    the position packets of a capture.
    """
    path = Path(path)
    if path.suffix == ".pcap":
        encoder = PacketEncoder(sensor, epoch=epoch)
        with whole_file(path, force=force) as temporary, temporary.open("wb") as file:
            capture = _CaptureRecording(CaptureWriter(file), encoder, origin or GeoOrigin())
            yield capture
            capture.finish()
        return
    if path.suffix not in RECORDING_SUFFIXES:
        raise InputError.of(f"{path}", "a run ends in " + ", ".join(RECORDING_SUFFIXES), path.suffix)
    packets = PacketEncoder(sensor, epoch=epoch) if speaks_packets(sensor) else None
    messages = RosMessages(sensor, epoch=epoch, frame_id="velodyne" if sensor.packets in MODELS else sensor.name)
    opened = open_mcap if path.suffix == ".mcap" else open_rosbag2
    with opened(path, messages, force=force) as log:
        run = _RosRecording(log, messages, packets, sensor.frame_period)
        yield run
        run.finish()


class PositionClock:
    """Picks the moments of position packets out of the times of data packets."""

    def __init__(self) -> None:
        self._sent = 0

    def times(self, packets: Packets) -> NDArray[np.float64]:
        """[s], one for every 14 data packets, counted over the whole run."""
        chosen = packets.times[(-self._sent) % DATA_PER_POSITION :: DATA_PER_POSITION]
        self._sent += len(packets)
        return chosen


class _CaptureRecording:
    def __init__(self, capture: CaptureWriter, encoder: PacketEncoder, origin: GeoOrigin) -> None:
        self._capture, self._encoder, self._origin = capture, encoder, origin
        self._clock = PositionClock()
        self._path = Trajectory.standing(Pose())

    def write(self, frame: Frame) -> None:
        self._path = frame.trajectory or self._path
        self._write(self._encoder.encode(frame))

    def write_image(self, topic: str, time: float, pixels: NDArray[Any], frame_id: str) -> None:
        raise InputError("a capture holds no images; write the run to .mcap or .rosbag2")

    def finish(self) -> None:
        self._write(self._encoder.flush())

    def _write(self, packets: Packets) -> None:
        times, epoch = self._clock.times(packets), self._encoder.epoch
        positions = position_packets(times, self._path, epoch=epoch, origin=self._origin)
        self._capture.write(
            Flow(packets.payloads, epoch + packets.times, DATA_PORT), Flow(positions, epoch + times, POSITION_PORT)
        )


class _RosRecording:
    def __init__(self, log: MessageLog, messages: RosMessages, encoder: PacketEncoder | None, period: float) -> None:
        self._log, self._messages, self._encoder, self._period = log, messages, encoder, period
        self._points = "/velodyne_points" if messages.frame_id == "velodyne" else "/points"

    def write(self, frame: Frame) -> None:
        say, ns = self._messages, self._messages.nanoseconds
        start = float(frame.meta["start_s"])
        if frame.trajectory is not None:
            for time in pose_times(frame.trajectory, start, self._period):
                self._log.write("/tf", "tf2_msgs/msg/TFMessage", ns(time), say.transform(time, frame.trajectory))
                self._log.write("/pose", "geometry_msgs/msg/PoseStamped", ns(time), say.pose(time, frame.trajectory))
        if self._encoder:
            self._write_packets(self._encoder.encode(frame))
        # A cloud is known when its last pulse has come back.
        end = float(frame.time.max()) if len(frame) else start
        self._log.write(self._points, "sensor_msgs/msg/PointCloud2", ns(end), say.points(frame))

    def write_image(self, topic: str, time: float, pixels: NDArray[Any], frame_id: str) -> None:
        data = self._messages.image(time, pixels, frame_id)
        self._log.write(topic, "sensor_msgs/msg/Image", self._messages.nanoseconds(time), data)

    def finish(self) -> None:
        if self._encoder:
            self._write_packets(self._encoder.flush())

    def _write_packets(self, packets: Packets) -> None:
        if len(packets):
            time = self._messages.nanoseconds(float(packets.times[-1]))
            data = self._messages.packets(packets)
            self._log.write("/velodyne_packets", "velodyne_msgs/msg/VelodyneScan", time, data)


def pose_times(path: Trajectory, start: float, period: float) -> list[float]:
    """[s] when the pose is told within a frame."""
    if not path.moving:
        return [start]
    first, last = (int(np.ceil(time / _POSE_STEP - 1e-9)) for time in (start, start + period))
    return [k * _POSE_STEP for k in range(first, last)]
