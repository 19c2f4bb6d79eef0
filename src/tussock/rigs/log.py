"""All sensors of a rig in one ROS 2 log: an MCAP file or the folder of a rosbag2.

    /NAME/points        sensor_msgs/PointCloud2     every LIDAR
    /NAME/packets       velodyne_msgs/VelodyneScan  every LIDAR with packets
    /NAME/image_raw     sensor_msgs/Image           every camera
    /NAME/camera_info   sensor_msgs/CameraInfo      every camera with a pinhole or fisheye lens
    /tf                 map to base_link, 100 a second while the body moves
    /tf_static          base_link to every sensor, and a camera to NAME_optical (z ahead, x right), in which images are
    /pose               geometry_msgs/PoseStamped   of the body

Moments are written as they come and none is held.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tussock.cameras.camera import Camera
from tussock.cameras.lenses.fisheye import Fisheye
from tussock.cameras.lenses.lens import OPTICAL
from tussock.cameras.lenses.pinhole import Pinhole
from tussock.cameras.picture import Picture
from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.poses import Pose
from tussock.rigs.capture import Moment
from tussock.rigs.rig import Rig
from tussock.wire.packets import EPOCH, Packets
from tussock.wire.recording import pose_times
from tussock.wire.ros.logs import MessageLog, open_mcap, open_rosbag2
from tussock.wire.ros.messages import RosMessages
from tussock.wire.velodyne.encode import PacketEncoder
from tussock.wire.velodyne.models import speaks_packets

__all__ = ["LOG_SUFFIXES", "RigLog", "open_rig_log"]

LOG_SUFFIXES = (".mcap", ".rosbag2")
_BODY = "base_link"


@contextmanager
def open_rig_log(path: Path | str, rig: Rig, *, force: bool = False, epoch: float = EPOCH) -> Iterator[RigLog]:
    """A log at ``path``; it appears whole when the block ends, or not at all.

    >>> with tussock.open_rig_log("run.mcap", rig) as log:  # doctest: +SKIP
    ...     for moment in tussock.capture(rig, scene, end=1.0):
    ...         log.write(moment)
    """
    path = Path(path)
    if path.suffix not in LOG_SUFFIXES:
        raise InputError.of("suffix", "of a rig's log must be " + " or ".join(LOG_SUFFIXES), path.suffix, source=path)
    body = RosMessages(None, epoch=epoch, frame_id=_BODY)
    opened = open_mcap if path.suffix == ".mcap" else open_rosbag2
    with opened(path, body, force=force) as log:
        whole = RigLog(log, rig, body, epoch)
        yield whole
        whole.finish()


class RigLog:
    """Takes the moments of a rig in their order."""

    def __init__(self, log: MessageLog, rig: Rig, body: RosMessages, epoch: float) -> None:
        self._log, self._rig, self._body = log, rig, body
        self._lidars = {one.name: RosMessages(one.sensor, epoch=epoch, frame_id=one.name) for one in rig.lidars}
        self._encoders = {
            one.name: PacketEncoder(one.sensor, epoch=epoch) for one in rig.lidars if speaks_packets(one.sensor)
        }
        self._placed = False

    def write(self, moment: Moment) -> None:
        """Add everything that the sensors gave at one moment."""
        if not self._placed:
            self._write_mounts(moment.time)
        ns = self._body.nanoseconds
        for time in pose_times(self._rig.body, moment.time, 1 / self._rig.rate_hz):
            place = ("map", _BODY, self._rig.body.pose(time))
            self._log.write("/tf", "tf2_msgs/msg/TFMessage", ns(time), self._body.transforms(time, [place]))
            told = self._body.pose(time, self._rig.body)
            self._log.write("/pose", "geometry_msgs/msg/PoseStamped", ns(time), told)
        for name, picture in moment.pictures.items():
            self._write_picture(name, picture)
        for name, frame in moment.frames.items():
            self._write_frame(name, frame)

    def finish(self) -> None:
        """Add the packets that were begun."""
        for name, encoder in self._encoders.items():
            self._write_packets(name, encoder.flush())

    def _write_mounts(self, time: float) -> None:
        edges = [(_BODY, sensor.name, sensor.mount) for sensor in self._rig.sensors]
        turned = np.eye(4)
        turned[:3, :3] = OPTICAL
        edges += [(camera.name, f"{camera.name}_optical", Pose.from_matrix(turned)) for camera in self._rig.cameras]
        data = self._body.transforms(time, edges)
        self._log.write("/tf_static", "tf2_msgs/msg/TFMessage", self._body.nanoseconds(time), data)
        self._placed = True

    def _write_frame(self, name: str, frame: Frame) -> None:
        if name in self._encoders:
            self._write_packets(name, self._encoders[name].encode(frame))
        end = float(frame.time.max()) if len(frame) else float(frame.meta["start_s"])
        data = self._lidars[name].points(frame)
        self._log.write(f"/{name}/points", "sensor_msgs/msg/PointCloud2", self._body.nanoseconds(end), data)

    def _write_packets(self, name: str, packets: Packets) -> None:
        if len(packets):
            time = self._body.nanoseconds(float(packets.times[-1]))
            data = self._lidars[name].packets(packets)
            self._log.write(f"/{name}/packets", "velodyne_msgs/msg/VelodyneScan", time, data)

    def _write_picture(self, name: str, picture: Picture) -> None:
        time, frame_id = picture.time, f"{name}_optical"
        stamp = self._body.nanoseconds(time)
        image = self._body.image(time, picture.rgb, frame_id)
        self._log.write(f"/{name}/image_raw", "sensor_msgs/msg/Image", stamp, image)
        lens = _ros_lens(picture.camera)
        if lens is not None:
            size = (picture.camera.width, picture.camera.height)
            info = self._body.camera_info(time, frame_id, size, picture.camera.matrix, *lens)
            self._log.write(f"/{name}/camera_info", "sensor_msgs/msg/CameraInfo", stamp, info)


def _ros_lens(camera: Camera) -> tuple[str, tuple[float, ...]] | None:
    """ROS's name of a lens and its coefficients, None for one that it has no name for."""
    lens = camera.lens
    if isinstance(lens, Pinhole):
        rational = any(lens.distortion[5:])
        return ("rational_polynomial", lens.distortion) if rational else ("plumb_bob", lens.distortion[:5])
    if isinstance(lens, Fisheye):
        return "equidistant", (lens.k1, lens.k2, lens.k3, lens.k4)
    return None
