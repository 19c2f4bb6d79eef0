"""What KITTI's layouts share: which camera is which, calibration, poses, and scans without motion distortion.

Conventions (Geiger et al., "Vision meets robotics: the KITTI dataset", 2013, and the development kits):

- camera axes are x right, y down, z ahead; camera 0 is the reference; images are rectified, so cameras have pinhole
  lenses without distortion and look the same way;
- the rig's first camera is image_2 and at once the reference; the second, if there is one, is image_3;
- ``P_i`` (3 × 4) takes points of camera 0 to pixels of camera i, ``Tr`` (3 × 4) points of the LIDAR to camera 0;
- poses are those of camera 0 when each image opens, in the axes that it had at the first one;
- scans are little-endian float32 x, y, z, reflectance in the LIDAR's frame when the image opens: as KITTI's, they are
  corrected for the motion of the car within a revolution, not for that of other things.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import FloatArray
from tussock.cameras.lenses.lens import OPTICAL
from tussock.cameras.lenses.pinhole import Pinhole
from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.poses import Pose
from tussock.rigs.rig import MountedCamera, MountedLidar, Rig

__all__ = ["KittiRig", "matrix_line", "untwisted"]


@dataclass(frozen=True, eq=False)
class KittiRig:
    """A rig that fits KITTI: one LIDAR, and one or two cameras."""

    rig: Rig
    lidar: MountedLidar
    cameras: tuple[MountedCamera, ...]
    """image_2 and, where there is one, image_3"""

    @classmethod
    def of(cls, rig: Rig, *, lidar: str | None = None, cameras: list[str] | None = None) -> KittiRig:
        """Choose sensors by name; the first LIDAR and the first two cameras if none are named."""
        if not rig.lidars or not rig.cameras:
            raise InputError(f"rig {rig.name!r}: a KITTI data set needs a LIDAR and a camera at least")
        by_name = {one.name: one for one in rig.lidars}
        if lidar is not None and lidar not in by_name:
            raise InputError.of("LIDAR", "must be one of " + ", ".join(by_name), lidar)
        named = {one.name: one for one in rig.cameras}
        names = list(named)[:2] if cameras is None else cameras
        for name in names:
            if name not in named:
                raise InputError.of("camera", "must be one of " + ", ".join(named), name)
        if not 1 <= len(names) <= 2 or len(set(names)) != len(names):
            raise InputError.of("cameras", "must be one or two different ones for KITTI", names)
        chosen = tuple(named[name] for name in names)
        _check(chosen)
        return cls(rig, by_name[lidar] if lidar else rig.lidars[0], chosen)

    @property
    def used(self) -> Rig:
        """The rig with nothing but the sensors of the data set."""
        rig = self.rig
        return Rig(
            body=rig.body, lidars=[self.lidar], cameras=list(self.cameras), rate_hz=rig.rate_hz, light=rig.light,
            name=rig.name, scene=rig.scene,
        )  # fmt: skip

    def time(self, number: int) -> float:
        """[s] when the images of a moment open: the time of its pose and its scan"""
        return number / self.rig.rate_hz + self.cameras[0].trigger

    def reference(self, time: float) -> FloatArray:
        """``T_world_cam0`` in optical axes, shape (4, 4)"""
        return np.asarray((self.rig.body.pose(time) @ self.cameras[0].mount).matrix @ _optical())

    def pose(self, number: int, first: int) -> FloatArray:
        """``T_cam0(first)_cam0(number)``, shape (4, 4)"""
        if number == first:
            return np.eye(4)
        start = self.reference(self.time(first))
        return np.asarray(np.linalg.inv(start) @ self.reference(self.time(number)))

    @property
    def tr(self) -> FloatArray:
        """``T_cam0_velo``, shape (4, 4)"""
        camera = self.cameras[0].mount.matrix @ _optical()
        return np.asarray(np.linalg.inv(camera) @ self.lidar.mount.matrix)

    def projection(self, index: int) -> FloatArray:
        """``P_i``, shape (3, 4): those of cameras 0 and 1 are that of camera 2"""
        if index == 3 and len(self.cameras) == 2:
            mounted = self.cameras[1]
            to_camera = np.linalg.inv(mounted.mount.matrix @ _optical()) @ self.cameras[0].mount.matrix @ _optical()
        else:
            mounted, to_camera = self.cameras[0], np.eye(4)
        return np.asarray(mounted.camera.matrix @ to_camera[:3])


def _check(cameras: tuple[MountedCamera, ...]) -> None:
    for mounted in cameras:
        lens = mounted.camera.lens
        if not isinstance(lens, Pinhole) or any(lens.distortion):
            rule = "must have a pinhole lens without distortion: KITTI's images are rectified"
            raise InputError.of(f"camera {mounted.name!r}", rule, lens.kind)
    first = cameras[0]
    for mounted in cameras[1:]:
        apart = np.abs(first.mount.rotation - mounted.mount.rotation).max()
        if apart > 1e-9:
            raise InputError(
                f"camera {mounted.name!r}: must look the same way as {first.name!r}: KITTI's images are rectified; "
                "choose the cameras by name"
            )
        if mounted.trigger != first.trigger:
            raise InputError.of(
                f"camera {mounted.name!r}: trigger_s", f"must be that of {first.name!r}", mounted.trigger
            )
        # A rectified pair differs by a shift along the rows only, and that is all that readers expect.
        shift = first.mount.rotation.T @ (mounted.mount.position - first.mount.position)
        if abs(shift[0]) > 1e-9 or abs(shift[2]) > 1e-9:
            raise InputError.of(
                f"camera {mounted.name!r}: position_m", f"must be left or right of {first.name!r}", shift.tolist()
            )


def untwisted(frame: Frame, mount: Pose, body: Pose) -> NDArray[np.float32]:
    """The returns of a frame as x, y, z, reflectance (n, 4) in the LIDAR's frame with the body at ``body``."""
    returns = frame.select(frame.hit)
    xyz = returns.xyz.astype(np.float64)
    if returns.trajectory is not None and returns.trajectory.moving:
        at = body @ mount
        xyz = (returns.world_xyz() - at.position) @ at.rotation
    reflectance = np.clip(returns.intensity, 0.0, 1.0)
    return np.column_stack([xyz, reflectance]).astype("<f4")


def matrix_line(matrix: FloatArray) -> str:
    """Twelve numbers of a 3 × 4 matrix row by row, in digits that keep every bit."""
    return " ".join(f"{value:.17g}" for value in np.asarray(matrix)[:3].ravel())


def _optical() -> FloatArray:
    turn = np.eye(4)
    turn[:3, :3] = OPTICAL
    return turn
