"""ROS 2 messages of a run, serialised as ROS itself does (CDR).

`rosbags` knows the standard messages; those of the Velodyne driver are defined here. Points are laid out as the
driver's: x, y, z, intensity, ring, time, 22 bytes a point, ``time`` in seconds since the message's stamp and
``ring`` counted from the lowest laser up. Intensities are 0 to 255, as in the sensor's packets.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.extras import load_extra
from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.sensors.sensor import Sensor
from tussock.wire.livox.custom_msg import DEFINITIONS as LIVOX_DEFINITIONS
from tussock.wire.livox.custom_msg import custom_msg
from tussock.wire.ouster.models import FORMATS as OUSTER
from tussock.wire.packets import Packets, whole_nanoseconds
from tussock.wire.velodyne.encode import intensity_bytes
from tussock.wire.velodyne.models import MODELS

__all__ = ["OUSTER_POINT", "POINT", "RosMessages", "rings_of", "ros1_types"]

POINT = np.dtype([("x", "<f4"), ("y", "<f4"), ("z", "<f4"), ("intensity", "<f4"), ("ring", "<u2"), ("time", "<f4")])
OUSTER_POINT = np.dtype(
    {
        "names": ["x", "y", "z", "intensity", "t", "reflectivity", "ring", "ambient", "range"],
        "formats": ["<f4", "<f4", "<f4", "<f4", "<u4", "<u2", "<u2", "<u2", "<u4"],
        "offsets": [0, 4, 8, 16, 20, 24, 26, 28, 32],
        "itemsize": 48,
    }
)
"""as Ouster's driver lays points out: ``t`` [ns] since the stamp, ``range`` [mm], rings from the top down"""
_DATATYPES = {"<f4": 7, "<u2": 4, "<u4": 6}  # sensor_msgs/PointField
_VELODYNE = {
    "velodyne_msgs/msg/VelodynePacket": "builtin_interfaces/Time stamp\nuint8[1206] data\n",
    "velodyne_msgs/msg/VelodyneScan": "std_msgs/Header header\nvelodyne_msgs/VelodynePacket[] packets\n",
}
_TRANSFORMS = {"tf2_msgs/msg/TFMessage": "geometry_msgs/TransformStamped[] transforms\n"}
"""not among the messages of ROS 1 that `rosbags` knows"""
_ENCODINGS = {("|u1", 1): "mono8", ("|u1", 3): "rgb8", ("|u1", 4): "rgba8", ("<u2", 1): "mono16", ("<f4", 1): "32FC1"}


def rings_of(sensor: Sensor) -> NDArray[np.uint16]:
    """Rank of every laser by elevation, from the lowest up, shape (lasers,); its number where none turns."""
    if not isinstance(sensor.pattern, SpinningPattern):
        return np.arange(sensor.lasers, dtype=np.uint16)
    order = np.argsort(sensor.pattern.elevation_deg, kind="stable")
    rings = np.empty(sensor.lasers, np.uint16)
    rings[order] = np.arange(sensor.lasers)
    return rings


@cache
def _typestore() -> Any:
    typesys = load_extra("rosbags.typesys", extra="ros", purpose="a ROS log")
    store = typesys.get_typestore(typesys.Stores.ROS2_HUMBLE)
    for name, text in (_VELODYNE | LIVOX_DEFINITIONS).items():
        store.register(typesys.get_types_from_msg(text, name))
    return store


@cache
def ros1_types() -> Any:
    """The same messages as ROS 1 defines them."""
    typesys = load_extra("rosbags.typesys", extra="ros", purpose="a ROS log")
    store = typesys.get_typestore(typesys.Stores.ROS1_NOETIC)
    for name, text in (_VELODYNE | _TRANSFORMS | LIVOX_DEFINITIONS).items():
        store.register(typesys.get_types_from_msg(text.replace("builtin_interfaces/Time", "time"), name))
    return store


class RosMessages:
    """Builds the messages of one sensor (None: of a body without one).

    ``epoch`` [s] is the Unix time of simulation time 0.
    """

    def __init__(self, sensor: Sensor | None, *, epoch: float, frame_id: str, world_id: str = "map") -> None:
        self.frame_id, self.world_id = frame_id, world_id
        self._epoch_ns = whole_nanoseconds(epoch)
        self._rings = np.empty(0, np.uint16) if sensor is None else rings_of(sensor)
        self.organised = sensor is not None and sensor.packets in OUSTER
        """whether points come as rows and columns"""
        self._period = 0.0 if sensor is None else sensor.frame_period
        known = None if sensor is None else sensor.packets
        self._white = MODELS[known].white if known in MODELS else 100.0
        self.types = _typestore()

    def nanoseconds(self, time: float) -> int:
        """Unix time [ns] of a simulation time [s]."""
        return self._epoch_ns + round(time * 1e9)

    def definition(self, kind: str) -> str:
        """The text that describes a message and all its parts."""
        return str(self.types.generate_msgdef(kind, ros_version=2)[0])

    def points(self, frame: Frame) -> bytes:
        """``sensor_msgs/PointCloud2`` of all returns, in the sensor's frame at each pulse's own time.

        An Ouster's is organised as its driver's: a row a laser, a column a measurement, zeros without return.
        """
        start = float(frame.meta.get("start_s", frame.time[0] if len(frame) else 0.0))
        records = self._organised(frame, start) if self.organised else self._records(frame, start)
        height, width = records.shape
        form = records.dtype
        assert form.fields is not None and form.names is not None
        fields = [
            self._new("sensor_msgs/msg/PointField", name, form.fields[name][1], _DATATYPES[form[name].str], 1)
            for name in form.names
        ]
        message = self._new(
            "sensor_msgs/msg/PointCloud2", self._header(start, self.frame_id), height, width, fields, False,
            form.itemsize, form.itemsize * width, records.reshape(-1).view(np.uint8), True,
        )  # fmt: skip
        return self._serialised(message)

    def _records(self, frame: Frame, start: float) -> NDArray[Any]:
        hit = frame.hit
        records = np.empty((1, int(hit.sum())), POINT)
        for axis, name in enumerate("xyz"):
            records[name] = frame.xyz[hit, axis]
        records["intensity"] = intensity_bytes(frame.intensity[hit], self._white)
        records["ring"] = self._rings[frame.laser[hit]]
        records["time"] = frame.time[hit] - start
        return records

    def _organised(self, frame: Frame, start: float) -> NDArray[Any]:
        lasers = len(self._rings)
        records = np.zeros((lasers, frame.pulses // lasers), OUSTER_POINT)
        records["ring"] = np.arange(lasers)[:, None]
        first = frame.select(frame.hit & (frame.return_number == 1))
        place = first.laser, first.pulse // lasers
        for axis, name in enumerate("xyz"):
            records[name][place] = first.xyz[:, axis]
        bright = np.clip(first.intensity * np.float32(self._white) + np.float32(0.5), 0, 255).astype(np.uint16)
        records["intensity"][place], records["reflectivity"][place] = bright, bright
        records["range"][place] = np.rint(first.range * 1000).astype(np.uint32)
        # All lasers of a column fire at once: those without return know the time too.
        when = np.arange(records.shape[1]) * (self._period / records.shape[1])
        records["t"] = np.rint(when * 1e9).astype(np.uint32)
        records["t"][place] = np.rint((first.time - start) * 1e9).astype(np.uint32)
        return records

    def livox(self, frame: Frame) -> bytes:
        """``livox_ros_driver2/CustomMsg`` of all returns."""
        start = float(frame.meta.get("start_s", frame.time[0] if len(frame) else 0.0))
        return custom_msg(frame, self.nanoseconds(start), self.frame_id)

    def packets(self, packets: Packets) -> bytes:
        """``velodyne_msgs/VelodyneScan`` of data packets."""
        parts = [
            self._new("velodyne_msgs/msg/VelodynePacket", self._time(float(time)), payload)
            for payload, time in zip(packets.payloads, packets.times, strict=True)
        ]
        header = self._header(float(packets.times[-1]), self.frame_id)
        return self._serialised(self._new("velodyne_msgs/msg/VelodyneScan", header, parts))

    def imu(self, time: float, force: NDArray[np.float64], rate: NDArray[np.float64]) -> bytes:
        """``sensor_msgs/Imu`` of one sample: specific force [m/s²] and rate [rad/s]; an orientation is not told."""
        unknown, none = np.zeros(9), np.array([-1.0, *[0.0] * 8])
        message = self._new(
            "sensor_msgs/msg/Imu", self._header(time, self.frame_id),
            self._new("geometry_msgs/msg/Quaternion", 0.0, 0.0, 0.0, 1.0), none,
            self._new("geometry_msgs/msg/Vector3", *map(float, rate)), unknown,
            self._new("geometry_msgs/msg/Vector3", *map(float, force)), unknown,
        )  # fmt: skip
        return self._serialised(message)

    def transform(self, time: float, path: Trajectory) -> bytes:
        """``tf2_msgs/TFMessage``: the sensor in the world."""
        return self.transforms(time, [(self.world_id, self.frame_id, path.pose(time))])

    def transforms(self, time: float, edges: Sequence[tuple[str, str, Pose]]) -> bytes:
        """``tf2_msgs/TFMessage`` of several frames: parent, child, ``T_parent_child``."""
        stamped = [
            self._new(
                "geometry_msgs/msg/TransformStamped", self._header(time, parent), child,
                self._new(
                    "geometry_msgs/msg/Transform",
                    self._new("geometry_msgs/msg/Vector3", *map(float, pose.position)),
                    self._new("geometry_msgs/msg/Quaternion", *map(float, pose.quaternion)),
                ),
            )
            for parent, child, pose in edges
        ]  # fmt: skip
        return self._serialised(self._new("tf2_msgs/msg/TFMessage", stamped))

    def pose(self, time: float, path: Trajectory) -> bytes:
        """``geometry_msgs/PoseStamped``: the sensor in the world."""
        position, quaternion = (value[0] for value in path.at([time]))
        pose = self._new(
            "geometry_msgs/msg/Pose", self._new("geometry_msgs/msg/Point", *map(float, position)),
            self._new("geometry_msgs/msg/Quaternion", *map(float, quaternion)),
        )  # fmt: skip
        stamped = self._new("geometry_msgs/msg/PoseStamped", self._header(time, self.world_id), pose)
        return self._serialised(stamped)

    def image(self, time: float, pixels: NDArray[Any], frame_id: str) -> bytes:
        """``sensor_msgs/Image`` of pixels (height, width) or (height, width, channels), 8-bit, 16-bit or float."""
        channels = pixels.shape[2] if pixels.ndim == 3 else 1
        encoding = _ENCODINGS.get((pixels.dtype.str, channels)) if pixels.ndim in (2, 3) else None
        if encoding is None:
            known = "mono8, rgb8, rgba8, mono16 or 32-bit float"
            raise InputError.of("image", f"must be {known}", f"{pixels.dtype} {pixels.shape}")
        height, width = pixels.shape[:2]
        raw = np.ascontiguousarray(pixels).view(np.uint8).ravel()
        step = width * channels * pixels.dtype.itemsize
        header = self._header(time, frame_id)
        return self._serialised(self._new("sensor_msgs/msg/Image", header, height, width, encoding, 0, step, raw))

    def camera_info(
        self, time: float, frame_id: str, size: tuple[int, int], matrix: NDArray[np.float64], model: str,
        distortion: Sequence[float],
    ) -> bytes:  # fmt: skip
        """``sensor_msgs/CameraInfo``: image (width, height), camera matrix K (3, 3), ROS's name of the distortion."""
        width, height = size
        region = self._new("sensor_msgs/msg/RegionOfInterest", 0, 0, 0, 0, False)
        projection = np.zeros((3, 4))
        projection[:, :3] = matrix
        message = self._new(
            "sensor_msgs/msg/CameraInfo", self._header(time, frame_id), height, width, model,
            np.array(distortion, float), matrix.ravel(), np.eye(3).ravel(), projection.ravel(), 0, 0, region,
        )  # fmt: skip
        return self._serialised(message)

    def _header(self, time: float, frame_id: str) -> Any:
        return self._new("std_msgs/msg/Header", self._time(time), frame_id)

    def _time(self, time: float) -> Any:
        return self._new("builtin_interfaces/msg/Time", *divmod(self.nanoseconds(time), 1_000_000_000))

    def _new(self, kind: str, *values: Any) -> Any:
        return self.types.types[kind](*values)

    def _serialised(self, message: Any) -> bytes:
        return bytes(self.types.serialize_cdr(message, message.__msgtype__))
