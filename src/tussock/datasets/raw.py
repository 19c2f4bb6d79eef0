"""The layout of KITTI's raw recordings, synchronised and rectified.

    DATE/calib_cam_to_cam.txt, calib_velo_to_cam.txt, calib_imu_to_velo.txt
    DATE/DATE_drive_0001_sync/image_02/data/0000000000.png      and image_03 with a second camera
    DATE/DATE_drive_0001_sync/velodyne_points/data/0000000000.bin
    DATE/DATE_drive_0001_sync/oxts/data/0000000000.txt          position, attitude and rates of the body
    …/timestamps.txt in each of these folders

The IMU is the body's own frame; east is x of the world, north is y, and the first moment stands at 49° N, 8.4° E.
Positions become latitude and longitude by the Mercator formula of KITTI's development kit, so its tools give the
simulated poses back. Velocities and turn rates are differences over a millisecond; accelerations are left at zero.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tussock.datasets.kitti import KittiRig, untwisted
from tussock.errors import InputError
from tussock.files.images import png_bytes
from tussock.rigs.capture import Moment
from tussock.trace.world import World

__all__ = ["Raw"]

_EARTH = 6378137.0
_LATITUDE, _LONGITUDE, _ALTITUDE = 49.0, 8.4, 115.0


class Raw:
    """Writes one drive."""

    def __init__(self, kitti: KittiRig, world: World, *, date: str = "2011_09_26", drive: int = 1) -> None:
        try:
            self._day = datetime.strptime(date, "%Y_%m_%d")
        except ValueError:
            raise InputError.of("date", "must be YYYY_MM_DD", date) from None
        self._kitti = kitti
        self._date = date
        self._drive = Path(date) / f"{date}_drive_{drive:04d}_sync"
        self.views = False
        self.settings: dict[str, Any] = {"layout": "raw", "date": date, "drive": f"{drive:04d}"}

    def fixed_files(self, numbers: range) -> dict[Path, str]:
        """Texts that hold for the whole drive, and the small ones of every moment."""
        kitti = self._kitti
        stamps = "".join(self._stamp(kitti.time(number)) + "\n" for number in numbers)
        folders = [f"image_{2 + k:02d}" for k in range(len(kitti.cameras))] + ["velodyne_points", "oxts"]
        imu_to_velo = np.linalg.inv(kitti.lidar.mount.matrix)
        texts = {
            Path(self._date) / "calib_cam_to_cam.txt": self._cam_to_cam(),
            Path(self._date) / "calib_velo_to_cam.txt": self._rigid(kitti.tr),
            Path(self._date) / "calib_imu_to_velo.txt": self._rigid(imu_to_velo),
        }
        texts |= {self._drive / folder / "timestamps.txt": stamps for folder in folders}
        for index, number in enumerate(numbers):
            text = self._oxts(kitti.time(number), kitti.time(numbers[0]))
            texts[self._drive / "oxts" / "data" / f"{index:010d}.txt"] = text
        return texts

    def contents(self, moment: Moment, index: int) -> dict[Path, bytes]:
        """The files of a moment, which is number ``index`` of the drive."""
        kitti = self._kitti
        body = kitti.rig.body.pose(kitti.time(moment.number))
        scan = untwisted(moment.frames[kitti.lidar.name], kitti.lidar.mount, body)
        files = {self._drive / "velodyne_points" / "data" / f"{index:010d}.bin": scan.tobytes()}
        for k, mounted in enumerate(kitti.cameras, start=2):
            image = self._drive / f"image_{k:02d}" / "data" / f"{index:010d}.png"
            files[image] = png_bytes(moment.pictures[mounted.name].rgb)
        return files

    def _stamp(self, time: float) -> str:
        whole, rest = divmod(round(time * 1e9), 10**9)
        return f"{self._day + timedelta(hours=13, seconds=whole):%Y-%m-%d %H:%M:%S}.{rest:09d}"

    def _header(self) -> str:
        return f"calib_time: {self._day:%d-%b-%Y} 13:00:00\n"

    def _rigid(self, matrix: NDArray[Any]) -> str:
        return self._header() + f"R: {_numbers(matrix[:3, :3])}\nT: {_numbers(matrix[:3, 3])}\n"

    def _cam_to_cam(self) -> str:
        """Cameras 0 and 1 are camera 2; nothing is left to rectify."""
        lines = [self._header().rstrip("\n"), "corner_dist: 9.950000e-02"]
        for index in range(4):
            camera = self._kitti.cameras[1 if index == 3 and len(self._kitti.cameras) == 2 else 0].camera
            size, p = _numbers(np.array([camera.width, camera.height], float)), self._kitti.projection(index)
            shift = np.linalg.solve(p[:, :3], p[:, 3])
            for key, value in (
                ("S", size), ("K", _numbers(p[:, :3])), ("D", _numbers(np.zeros(5))), ("R", _numbers(np.eye(3))),
                ("T", _numbers(shift)), ("S_rect", size), ("R_rect", _numbers(np.eye(3))), ("P_rect", _numbers(p)),
            ):  # fmt: skip
                lines.append(f"{key}_{index:02d}: {value}")
        return "\n".join(lines) + "\n"

    def _oxts(self, time: float, first: float) -> str:
        """Thirty values: place, attitude, velocities, accelerations, turn rates, accuracies, status."""
        body = self._kitti.rig.body
        pose, away = body.pose(time), body.pose(time).position - body.pose(first).position
        scale = np.cos(np.radians(_LATITUDE))
        longitude = _LONGITUDE + np.degrees(away[0] / (scale * _EARTH))
        north = np.log(np.tan(np.radians(90 + _LATITUDE) / 2)) + away[1] / (scale * _EARTH)
        latitude = 2 * np.degrees(np.arctan(np.exp(north))) - 90
        yaw, pitch, roll = Rotation.from_quat(pose.quaternion).as_euler("ZYX")
        velocity, turning = _rates(body, time)
        own = pose.rotation.T
        values = [
            latitude, longitude, _ALTITUDE + away[2], roll, pitch, yaw, velocity[1], velocity[0], *(own @ velocity),
            *np.zeros(6), *(own @ turning), *(own @ turning), 0.01, 0.01,
        ]  # fmt: skip
        return " ".join(f"{value:.17g}" for value in values) + " 4 10 4 4 0\n"


def _rates(body: Any, time: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Velocity [m/s] and turn rate [rad/s] in the world, each (3,)."""
    if not body.moving:
        return np.zeros(3), np.zeros(3)
    # One-sided at the ends of the path, where the body is at rest outside.
    low, high = max(time - 5e-4, body.times[0]), min(time + 5e-4, body.times[-1])
    positions, quaternions = body.at([low, high])
    turns = Rotation.from_quat(quaternions)
    return (positions[1] - positions[0]) / (high - low), (turns[1] * turns[0].inv()).as_rotvec() / (high - low)


def _numbers(values: NDArray[Any]) -> str:
    return " ".join(f"{value:.17g}" for value in np.asarray(values).ravel())
