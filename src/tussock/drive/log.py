"""The log of a drive: an MCAP file that Foxglove and ROS 2 show as it was, readable however the program ends.

/points            sensor_msgs/PointCloud2        every frame, in the sensor's axes at each pulse's own time
/map               nav_msgs/OccupancyGrid         the cost map, with every new plan
/plan              nav_msgs/Path                  from where the vehicle believes to be
/driven            nav_msgs/Path                  where it truly was, a point every half metre
/estimate          geometry_msgs/PoseStamped      where it believes to be
/goal              geometry_msgs/PoseStamped
/cmd_vel           geometry_msgs/TwistStamped     what it is told
/gps/fix  /compass  /odom  /imu                   the small sensors, as they read
/camera/image  /camera/camera_info                a picture ahead, where there is a camera
/tf  /tf_static                                   map to base_link (the truth) and to every sensor; to odom, the start
/truth/odom                                       nav_msgs/Odometry
/truth/collisions  /truth/plant_force  /truth/drive_force  /truth/nearest    std_msgs/Float64
/status            std_msgs/String                why the drive ended, once
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tussock.arrays import FloatArray
from tussock.cameras.lenses.lens import OPTICAL
from tussock.cameras.picture import Picture
from tussock.drive.autonomy.cost_map import CostMap
from tussock.drive.camera import FrontCamera
from tussock.drive.loop import DriveStep
from tussock.drive.patterns import Pattern
from tussock.drive.ros import DriveMessages
from tussock.drive.settings import DriveSettings
from tussock.drive.vehicles.attitude import quaternions
from tussock.errors import InputError
from tussock.poses import Pose
from tussock.sensors.sensor import Sensor
from tussock.wire.packets import EPOCH
from tussock.wire.ros.logs import MessageLog, open_growing_mcap
from tussock.wire.ros.messages import RosMessages
from tussock.wire.velodyne.position import GeoOrigin

__all__ = ["DriveLog", "open_drive_log"]

_TF_STEP = 2  # of the vehicle's own steps: 50 transforms a second
_WAY_STEP = 0.5  # [m] between points of the driven path
_BEHIND = 4  # steps that the log may lag behind


@contextmanager
def open_drive_log(
    path: Path, sensor: Sensor, settings: DriveSettings, *, camera: FrontCamera | None = None,
    origin: GeoOrigin | None = None, epoch: float = EPOCH,
) -> Iterator[DriveLog]:  # fmt: skip
    """A log at ``path``, to be shown every step of a drive; ``epoch`` [s] is the Unix time of simulation time 0.

    ``origin`` is where on earth the scene is, `GeoOrigin.near` the start if not given.
    """
    if path.suffix != ".mcap":
        raise InputError.of(f"{path}", "a drive's log ends in .mcap", path.suffix)
    messages = RosMessages(sensor, epoch=epoch, frame_id="lidar")
    with open_growing_mcap(path, messages) as log:
        writing = DriveLog(log, messages, settings, camera, origin)
        try:
            yield writing
        finally:
            writing.finish()


class DriveLog:
    """Is shown every step and writes it down, in a thread of its own beside the next scan."""

    def __init__(
        self, log: MessageLog, messages: RosMessages, settings: DriveSettings, camera: FrontCamera | None,
        origin: GeoOrigin | None,
    ) -> None:  # fmt: skip
        self._log, self._ros, self._say = log, messages, DriveMessages(messages)
        self._settings, self._camera, self._origin = settings, camera, origin
        gps = settings.sensors.gps
        across, up = (float(np.hypot(e.white, e.drift)) for e in (gps.horizontal_m, gps.vertical_m))
        self._fix, self._imu, self._attitude = self._say.fix((across, up)), self._say.imu(), self._say.attitude()
        self._wheels, self._place = self._say.wheels(), self._say.place()
        self._way: list[np.ndarray] = []
        self._begun = False
        self._pool = ThreadPoolExecutor(1, "tussock-log")
        self._waiting: deque[Future[None]] = deque()

    def watch(self, step: DriveStep) -> None:
        # The map goes on changing while the step is written.
        kept = None if step.cost_map is None or not _tells(step) else step.cost_map.copy()
        pictures = list(self._camera.pictures(step.sensed)) if self._camera is not None else []
        while len(self._waiting) >= _BEHIND:
            self._waiting.popleft().result()
        self._waiting.append(self._pool.submit(self._write, step, kept, pictures))

    def finish(self) -> None:
        """Wait until all is written; what went wrong is raised here, if not before."""
        self._pool.shutdown(wait=True)
        while self._waiting:
            self._waiting.popleft().result()

    def _write(self, step: DriveStep, cost_map: CostMap | None, pictures: list[Picture]) -> None:
        if not self._begun:
            self._write_mounts(step)
            self._begun = True
        self._write_motion(step)
        self._write_readings(step)
        self._write_points(step)
        self._write_pictures(pictures)
        self._write_thoughts(step, cost_map)
        if step.ended is not None:
            self._put("/status", "std_msgs/msg/String", step.sensed.end, self._say.text(step.ended))

    def _put(self, topic: str, kind: str, time: float, data: bytes) -> None:
        self._log.write(topic, kind, self._ros.nanoseconds(time), data)

    def _put_all(self, topic: str, kind: str, pattern: Pattern, times: FloatArray, rows: FloatArray) -> None:
        """Messages that are alike: one a time (n,) with its row of numbers (n, m)."""
        for time, row in zip(times.tolist(), rows.tolist(), strict=True):
            nanoseconds = self._ros.nanoseconds(time)
            self._log.write(topic, kind, nanoseconds, pattern.message(nanoseconds, row))

    def _write_mounts(self, step: DriveStep) -> None:
        path = step.sensed.driven.path
        # The wheels' own frame: where they began to count.
        edges = [("map", "odom", Pose(path.positions[0], path.quaternions[0]))]
        edges.append(("base_link", "lidar", self._settings.mount))
        edges.append(("base_link", "gps", Pose.at(*self._settings.sensors.gps.antenna_m)))
        if self._camera is not None:
            turned = np.eye(4)
            turned[:3, :3] = OPTICAL
            edges.append(("base_link", "camera", self._camera.mount))
            edges.append(("camera", "camera_optical", Pose.from_matrix(turned)))
        start = step.sensed.start
        self._put("/tf_static", "tf2_msgs/msg/TFMessage", start, self._ros.transforms(start, edges))

    def _write_motion(self, step: DriveStep) -> None:
        driven = step.sensed.driven
        path = driven.path
        places = np.concatenate([path.positions, path.quaternions], 1)
        self._put_all("/tf", "tf2_msgs/msg/TFMessage", self._place, path.times[:-1:_TF_STEP], places[:-1:_TF_STEP])
        end, row = step.sensed.end, driven.rows[-1]
        pose = Pose(path.positions[-1], path.quaternions[-1])
        told = self._say.odometry(end, "map", pose, float(row[6]), float(row[7]))
        self._put("/truth/odom", "nav_msgs/msg/Odometry", end, told)
        numbers = {
            "collisions": step.collisions,
            "plant_force": abs(float(driven.column("plant_force")[1:].mean())),
            "drive_force": float(driven.column("drive_force")[1:].mean()),
            "nearest": driven.nearest,
        }
        for name, value in numbers.items():
            if np.isfinite(value):
                self._put(f"/truth/{name}", "std_msgs/msg/Float64", end, self._say.number(value))
        if not self._way or np.linalg.norm(self._way[-1] - row[:3]) > _WAY_STEP:
            self._way.append(row[:3].copy())

    def _write_readings(self, step: DriveStep) -> None:
        gps, compass, odometry, imu = step.sensed.readings
        if self._origin is None:
            x, y = step.sensed.driven.rows[0, :2].tolist()
            self._origin = GeoOrigin.near(x, y)
        fixes = [(*self._origin.geographic(float(x), float(y)), float(z)) for x, y, z in gps.positions]
        self._put_all("/gps/fix", "sensor_msgs/msg/NavSatFix", self._fix, gps.times, np.array(fixes).reshape(-1, 3))
        turns = quaternions(*compass.angles.T)
        self._put_all("/compass", "geometry_msgs/msg/QuaternionStamped", self._attitude, compass.times, turns)
        wheels = np.stack([odometry.speeds, odometry.turn_rates], 1)
        self._put_all("/odom", "nav_msgs/msg/Odometry", self._wheels, odometry.times, wheels)
        inertial = np.concatenate([imu.rates, imu.forces], 1)
        self._put_all("/imu", "sensor_msgs/msg/Imu", self._imu, imu.times, inertial)

    def _write_points(self, step: DriveStep) -> None:
        data = self._ros.points(step.sensed.frame)
        self._put("/points", "sensor_msgs/msg/PointCloud2", step.sensed.end, data)

    def _write_pictures(self, pictures: list[Picture]) -> None:
        from PIL import Image

        for picture in pictures:
            memory = io.BytesIO()
            Image.fromarray(picture.rgb).save(memory, "JPEG", quality=85)
            data = self._say.jpeg(picture.time, "camera_optical", memory.getvalue())
            self._put("/camera/image", "sensor_msgs/msg/CompressedImage", picture.time, data)
            size = (picture.camera.width, picture.camera.height)
            info = self._ros.camera_info(
                picture.time, "camera_optical", size, picture.camera.matrix, "plumb_bob", [0.0] * 5
            )
            self._put("/camera/camera_info", "sensor_msgs/msg/CameraInfo", picture.time, info)

    def _write_thoughts(self, step: DriveStep, cost_map: CostMap | None) -> None:
        end, thought = step.sensed.end, step.thought
        height = float(step.sensed.driven.rows[-1, 2])
        e = thought.estimate
        believed = Pose.at(e.x, e.y, height, roll=e.roll, pitch=e.pitch, yaw=e.yaw)
        self._put("/estimate", "geometry_msgs/msg/PoseStamped", end, self._say.pose(end, believed))
        told = self._say.command(end, *thought.command)
        self._put("/cmd_vel", "geometry_msgs/msg/TwistStamped", end, told)
        if _tells(step):
            goal = Pose.at(*step.goal, height)
            self._put("/goal", "geometry_msgs/msg/PoseStamped", end, self._say.pose(end, goal))
            if cost_map is not None:
                self._put("/map", "nav_msgs/msg/OccupancyGrid", end, self._say.grid(end, cost_map))
            path = np.empty((0, 2)) if thought.path is None else thought.path
            self._put("/plan", "nav_msgs/msg/Path", end, self._say.path(end, path, height))
            self._put("/driven", "nav_msgs/msg/Path", end, self._say.path(end, np.array(self._way), height))


def _tells(step: DriveStep) -> bool:
    """Whether the map and the plan are told with this step."""
    return step.thought.replanned or step.ended is not None
