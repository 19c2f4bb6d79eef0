"""The layout of KITTI odometry with SemanticKITTI's labels.

sequences/00/calib.txt                P0 to P3, Tr
sequences/00/times.txt                seconds since the first image
sequences/00/poses.txt                the same as poses/00.txt, where SemanticKITTI's tools look
sequences/00/velodyne/000000.bin      float32 x, y, z, reflectance
sequences/00/labels/000000.label      uint32 instance << 16 | class, in the order of the points
sequences/00/image_2/000000.png       and image_3 with a second camera
poses/00.txt                          12 numbers a line
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tussock.datasets.kitti import KittiRig, matrix_line, untwisted
from tussock.datasets.semantic_kitti import Labeller
from tussock.files.images import png_bytes
from tussock.rigs.capture import Moment
from tussock.trace.world import World

__all__ = ["Odometry"]


class Odometry:
    """Writes one sequence."""

    def __init__(self, kitti: KittiRig, world: World, *, sequence: int = 0) -> None:
        self._kitti = kitti
        self._labeller = Labeller(world)
        self._name = f"{sequence:02d}"
        self.settings: dict[str, Any] = {"layout": "odometry", "sequence": self._name}

    def fixed_files(self, numbers: range) -> dict[Path, str]:
        """Texts that hold for the whole sequence."""
        kitti = self._kitti
        folder = Path("sequences") / self._name
        calib = [f"P{index}: {matrix_line(kitti.projection(index))}" for index in range(4)]
        times = [f"{kitti.time(number) - kitti.time(numbers[0]):.9e}" for number in numbers]
        poses = "".join(matrix_line(kitti.pose(number, numbers[0])) + "\n" for number in numbers)
        return {
            folder / "calib.txt": "\n".join([*calib, f"Tr: {matrix_line(kitti.tr)}"]) + "\n",
            folder / "times.txt": "\n".join(times) + "\n",
            folder / "poses.txt": poses,
            Path("poses") / f"{self._name}.txt": poses,
        }

    def contents(self, moment: Moment, index: int) -> dict[Path, bytes]:
        """The files of a moment, which is number ``index`` of the sequence."""
        kitti = self._kitti
        folder = Path("sequences") / self._name
        frame = moment.frames[kitti.lidar.name]
        scan = untwisted(frame, kitti.lidar.mount, kitti.rig.body.pose(kitti.time(moment.number)))
        files = {
            folder / "velodyne" / f"{index:06d}.bin": scan.tobytes(),
            folder / "labels" / f"{index:06d}.label": self._labeller.labels(frame).tobytes(),
        }
        for k, mounted in enumerate(kitti.cameras, start=2):
            files[folder / f"image_{k}" / f"{index:06d}.png"] = png_bytes(moment.pictures[mounted.name].rgb)
        return files
