"""The layout of KITTI odometry with SemanticKITTI's label files, one sequence an item.

sequences/000731/velodyne/000000.bin   float32 x, y, z, intensity
sequences/000731/labels/000000.label   uint32 instance << 16 | class
sequences/000731/image_2/000000.png    with a camera
sequences/000731/poses.txt, times.txt, calib.txt, about.json
"""

from __future__ import annotations

import numpy as np

from tussock.cameras.lenses.lens import OPTICAL
from tussock.datasets.kitti import matrix_line
from tussock.jobs.layouts.frames import json_bytes, shown
from tussock.jobs.making import Made
from tussock.rigs.rig import MountedCamera

__all__ = ["kitti_files"]


def kitti_files(made: Made, threads: int | None) -> dict[str, bytes]:
    folder = f"sequences/{made.item.number:06d}"
    files: dict[str, bytes] = {}
    poses, times, frames = [], [], []
    lidar = made.rig.lidars[0].mount.matrix
    reference = _optical(made.rig.cameras[0]) if made.rig.cameras else lidar @ _turn()
    to_reference = np.linalg.inv(reference) @ lidar
    first = None
    for index, moment in enumerate(made.moments(threads)):
        seen = shown(made, moment, threads)
        files[f"{folder}/velodyne/{index:06d}.bin"] = seen.points.tobytes()
        files[f"{folder}/labels/{index:06d}.label"] = seen.labels.astype("<u4").tobytes()
        for k, picture in enumerate(list(seen.pictures.values())[:2], start=2):
            files[f"{folder}/image_{k}/{index:06d}.png"] = picture
        body = made.rig.body.pose(float(seen.about["start_s"])).matrix @ reference
        first = body if first is None else first
        poses.append(matrix_line(np.linalg.inv(first) @ body))
        times.append(f"{seen.about['start_s'] - made.plan.start_s:.9e}")
        frames.append(seen.about)
    projections = [
        _projection(made.rig.cameras[k - 2], reference) if 2 <= k < 2 + len(made.rig.cameras) else None
        for k in range(4)
    ]
    plain = next((p for p in projections if p is not None), np.eye(3, 4))
    calib = [f"P{k}: {matrix_line(plain if p is None else p)}" for k, p in enumerate(projections)]
    files[f"{folder}/calib.txt"] = ("\n".join([*calib, f"Tr: {matrix_line(to_reference)}"]) + "\n").encode()
    files[f"{folder}/times.txt"] = ("\n".join(times) + "\n").encode()
    files[f"{folder}/poses.txt"] = ("\n".join(poses) + "\n").encode()
    files[f"{folder}/about.json"] = json_bytes({**made.about, "frames": frames})
    return files


def _turn() -> np.ndarray:
    turn = np.eye(4)
    turn[:3, :3] = OPTICAL
    return turn


def _optical(camera: MountedCamera) -> np.ndarray:
    """``T_body_camera`` in optical axes (x right, y down, z ahead)"""
    return np.asarray(camera.mount.matrix @ _turn())


def _projection(camera: MountedCamera, reference: np.ndarray) -> np.ndarray:
    """Points of the reference camera to pixels of this one, shape (3, 4)"""
    return np.asarray(camera.camera.matrix @ (np.linalg.inv(_optical(camera)) @ reference)[:3])
