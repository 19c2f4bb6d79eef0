"""A run of many frames written to one place as it goes, by the suffix of its name; nothing is held whole.

    .pcap      a capture of the sensor's packets and positions (`tussock.wire.captures`)
    .osf       Ouster's own format (`tussock.wire.ouster.osf`)
    .mcap      ROS 2 messages in one file (`tussock.wire.ros.logs`)
    .rosbag2   the same messages in the folder of a rosbag2
    .bag       the same messages in a rosbag of ROS 1

ROS topics: the points of every frame, the packets of a sensor that has them (in a return mode that packets carry),
transform and pose, 100 a second while the sensor moves and once a frame while it stands, and what an inertial
sensor feels, at its own rate.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.sensors.imu import Imu
from tussock.sensors.sensor import Sensor
from tussock.steps import steps_between
from tussock.whole_files import check_folder, check_writable, whole_file
from tussock.wire.captures.capture_writer import CaptureWriter, Flow
from tussock.wire.families import family_of, open_encoder
from tussock.wire.livox.custom_msg import CUSTOM_MSG
from tussock.wire.ouster.encode import OusterEncoder
from tussock.wire.ouster.metadata import metadata
from tussock.wire.ouster.models import FORMATS as OUSTER
from tussock.wire.ouster.osf import open_osf
from tussock.wire.packets import EPOCH, Encoder, Packets, Sent
from tussock.wire.ros.logs import MessageLog, open_mcap, open_rosbag1, open_rosbag2
from tussock.wire.ros.messages import RosMessages
from tussock.wire.velodyne.encode import PacketEncoder
from tussock.wire.velodyne.models import MODELS, speaks_packets
from tussock.wire.velodyne.position import GeoOrigin

__all__ = ["RECORDING_SUFFIXES", "Recording", "check_recording", "open_recording", "pose_times"]

RECORDING_SUFFIXES = (".pcap", ".osf", ".mcap", ".rosbag2", ".bag")
_POSE_STEP = 0.01  # [s]
_MOST_POSES = 1_000  # of one frame: where frames are long, poses are further apart
_IMU_HZ = 100.0
"""of a sensor that has no inertial sensor of its own: one without noise is thought to sit in its origin"""


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
        described = unit_file(path, open_encoder(sensor))
        if described is not None:
            check_writable(described, force=force)
    elif path.suffix == ".osf":
        _ouster_encoder(sensor, EPOCH)


@contextmanager
def open_recording(
    path: Path | str, sensor: Sensor, *, force: bool = False, epoch: float = EPOCH, origin: GeoOrigin | None = None,
) -> Iterator[Recording]:  # fmt: skip
    """A `Recording` at ``path``; it appears whole when the block ends, or not at all.

    ``epoch`` [s] is the Unix time of simulation time 0; ``origin`` is where on the earth the scene's origin lies, for
    the position packets of a capture.

    >>> scene = tussock.Scene("crate")
    >>> crate = scene.add(tussock.box((1, 1, 1)), position=(5, 0, 0))
    >>> sensor = tussock.load_sensor("vlp-16")
    >>> with tussock.open_recording("run.pcap", sensor) as run:
    ...     for frame in tussock.scan_range(scene, sensor, start=0.0, end=0.2):
    ...         run.write(frame)
    """
    path = Path(path)
    if path.suffix == ".pcap":
        with _open_capture(path, open_encoder(sensor, epoch=epoch, origin=origin), force=force) as capture:
            yield capture
        return
    if path.suffix == ".osf":
        with open_osf(path, _ouster_encoder(sensor, epoch), force=force) as recording:
            yield recording
        return
    if path.suffix not in RECORDING_SUFFIXES:
        raise InputError.of(f"{path}", "a run ends in " + ", ".join(RECORDING_SUFFIXES), path.suffix)
    packets = PacketEncoder(sensor, epoch=epoch) if speaks_packets(sensor) else None
    frame_id = "velodyne" if sensor.packets in MODELS else "os_sensor" if sensor.packets in OUSTER else sensor.name
    messages = RosMessages(sensor, epoch=epoch, frame_id=frame_id)
    opened = {".mcap": open_mcap, ".rosbag2": open_rosbag2, ".bag": open_rosbag1}[path.suffix]
    with opened(path, messages, force=force) as log:
        run = _RosRecording(log, messages, packets, sensor)
        yield run
        run.finish()


def _ouster_encoder(sensor: Sensor, epoch: float) -> OusterEncoder:
    encoder = open_encoder(sensor, epoch=epoch)
    if not isinstance(encoder, OusterEncoder):
        raise InputError.of(f"sensor {sensor.name}", "an OSF file holds Ouster's sensors", sensor.packets)
    return encoder


def unit_file(path: Path, encoder: Encoder) -> Path | None:
    """The file beside a capture that describes the unit, without which some makers' packets cannot be read."""
    return path.with_suffix(".json") if isinstance(encoder, OusterEncoder) else None


@contextmanager
def _open_capture(path: Path, encoder: Encoder, *, force: bool) -> Iterator[Recording]:
    with whole_file(path, force=force) as temporary, temporary.open("wb") as file:
        capture = _CaptureRecording(file, encoder)
        yield capture
        capture.finish()
        file.flush()
        described = unit_file(path, encoder)
        if described is not None:
            assert isinstance(encoder, OusterEncoder)
            with whole_file(described, force=force) as document:
                document.write_text(json.dumps(metadata(encoder.unit), indent=1) + "\n", encoding="utf-8")


class _CaptureRecording:
    """Everything a sensor sends, each channel to the port of the factory's settings."""

    def __init__(self, file: IO[bytes], encoder: Encoder) -> None:
        self._family = family_of(encoder.sensor)
        self._capture, self._encoder = CaptureWriter(file, source=self._family.address), encoder

    def write(self, frame: Frame) -> None:
        self._write(self._encoder.encode(frame))

    def write_image(self, topic: str, time: float, pixels: NDArray[Any], frame_id: str) -> None:
        raise InputError("a capture holds no images; write the run to .mcap or .rosbag2")

    def finish(self) -> None:
        self._write(self._encoder.flush())

    def _write(self, sent: Sent) -> None:
        epoch, ports = self._encoder.epoch, self._family.ports
        flows = [Flow(packets.payloads, epoch + packets.times, ports[name]) for name, packets in sent.items()]
        self._capture.write(*flows)


class _RosRecording:
    def __init__(self, log: MessageLog, messages: RosMessages, encoder: PacketEncoder | None, sensor: Sensor) -> None:
        self._log, self._messages, self._encoder = log, messages, encoder
        self._period, self._imu = sensor.frame_period, sensor.imu or Imu(rate_hz=_IMU_HZ)
        self._livox = sensor.name.startswith("livox") or (sensor.packets or "").startswith("livox")
        self._points = "/velodyne_points" if messages.frame_id == "velodyne" else "/points"
        self._felt = "/imu/data"
        if messages.organised:  # as Ouster's driver calls them
            self._points, self._felt = "/ouster/points", "/ouster/imu"

    def write(self, frame: Frame) -> None:
        say, ns = self._messages, self._messages.nanoseconds
        start = float(frame.meta["start_s"])
        if frame.trajectory is not None:
            for time in pose_times(frame.trajectory, start, self._period):
                self._log.write("/tf", "tf2_msgs/msg/TFMessage", ns(time), say.transform(time, frame.trajectory))
                self._log.write("/pose", "geometry_msgs/msg/PoseStamped", ns(time), say.pose(time, frame.trajectory))
        path = frame.trajectory or Trajectory.standing(Pose())
        samples = self._imu.samples(start, start + self._period)
        felt = self._imu.measure(path, samples, seed=int(frame.meta.get("seed", 0)))
        for time, force, rate in zip(felt.time.tolist(), felt.force, felt.rate, strict=True):
            self._log.write(self._felt, "sensor_msgs/msg/Imu", ns(time), say.imu(time, force, rate))
        if self._encoder:
            self._write_packets(self._encoder.encode(frame))
        # A cloud is known when its last pulse has come back.
        end = float(frame.time.max()) if len(frame) else start
        self._log.write(self._points, "sensor_msgs/msg/PointCloud2", ns(end), say.points(frame))
        if self._livox:
            self._log.write("/livox/lidar", CUSTOM_MSG, ns(end), say.livox(frame))

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
    step = max(_POSE_STEP, period / _MOST_POSES)
    return [k * step for k in steps_between(start / step, (start + period) / step, "poses")]
