"""The layout of KITTI odometry with SemanticKITTI's labels, and beside KITTI's own files what is known of each picture.

sequences/00/calib.txt                P0 to P3, Tr
sequences/00/times.txt                seconds since the first image
sequences/00/poses.txt                the same as poses/00.txt, where SemanticKITTI's tools look
sequences/00/velodyne/000000.bin      float32 x, y, z, reflectance
sequences/00/labels/000000.label      uint32 instance << 16 | class, in the order of the points
sequences/00/boxes/000000.json        boxes of the things that have points, in the LIDAR's frame
sequences/00/image_2/000000.png       and image_3, depth_3, … with a second camera
sequences/00/depth_2/000000.png       16 bits, 1/256 m along the camera's axis, 0 for none, as KITTI's depth benchmark
sequences/00/semantic_2/000000.png    16 bits, class of each pixel
sequences/00/instance_2/000000.png    16 bits, instance of each pixel, the number that its points have
sequences/00/label_2/000000.txt       boxes of the things that are seen, as KITTI's object benchmark
sequences/00/boxes_2/000000.json      the same, line by line: label, instance, visible part, share hidden
poses/00.txt                          12 numbers a line
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.boxes import boxes_in
from tussock.cameras.view import View
from tussock.datasets.boxes import boxes_in_scan, object_line, picture_box
from tussock.datasets.kitti import KittiRig, matrix_line, untwisted
from tussock.datasets.labeller import Labeller
from tussock.files.images import png_bytes
from tussock.rigs.capture import Moment, camera_path
from tussock.rigs.rig import MountedCamera
from tussock.trace.world import World

__all__ = ["Odometry"]

DEPTH_STEPS = 256
"""a metre, in KITTI's images of depth"""


class Odometry:
    """Writes one sequence; ``truth``: with boxes, and depth, classes and instances of the pictures."""

    def __init__(
        self, kitti: KittiRig, world: World, *, classes: str = "semantickitti", truth: bool = True, sequence: int = 0
    ) -> None:
        self._kitti, self._world = kitti, world
        self._labeller = Labeller(world, classes)
        self._truth = truth
        self._name = f"{sequence:02d}"
        self.views = truth
        """whether moments need what each pixel shows"""
        self.settings: dict[str, Any] = {
            "layout": "odometry", "sequence": self._name, "classes": classes, "truth": truth
        }  # fmt: skip

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
        kitti, time = self._kitti, self._kitti.time(moment.number)
        folder = Path("sequences") / self._name
        frame = moment.frames[kitti.lidar.name]
        body = kitti.rig.body.pose(time)
        files = {
            folder / "velodyne" / f"{index:06d}.bin": untwisted(frame, kitti.lidar.mount, body).tobytes(),
            folder / "labels" / f"{index:06d}.label": self._labeller.labels(frame).tobytes(),
        }
        for k, mounted in enumerate(kitti.cameras, start=2):
            files[folder / f"image_{k}" / f"{index:06d}.png"] = png_bytes(moment.pictures[mounted.name].rgb)
        if self._truth:
            boxes = boxes_in_scan(self._world, self._labeller, frame, body @ kitti.lidar.mount, time)
            files[folder / "boxes" / f"{index:06d}.json"] = (json.dumps(boxes) + "\n").encode("ascii")
            for k, mounted in enumerate(kitti.cameras, start=2):
                files |= {
                    folder / f"{kind}_{k}" / f"{index:06d}{suffix}": content
                    for (kind, suffix), content in self._seen(moment.views[mounted.name], mounted).items()
                }
        return files

    def _seen(self, view: View, mounted: MountedCamera) -> dict[tuple[str, str], bytes]:
        """What is known of a picture, by the folder and the suffix of its file."""
        boxes = boxes_in(view, self._world, camera_path(self._kitti.rig, mounted), hidden=False)
        classes = self._labeller.classes(view.label, view.object_id)
        instances = self._labeller.instances(view.object_id, view.placement)
        return {
            ("depth", ".png"): png_bytes(_depth(view)),
            ("semantic", ".png"): png_bytes(classes.astype(np.uint16)),
            ("instance", ".png"): png_bytes(instances.astype(np.uint16)),
            ("boxes", ".json"): (json.dumps([picture_box(box, self._labeller) for box in boxes]) + "\n").encode(
                "ascii"
            ),
            ("label", ".txt"): "".join(object_line(box, view.camera) + "\n" for box in boxes).encode("ascii"),
        }


def _depth(view: View) -> NDArray[np.uint16]:
    """Steps of 1/256 m; what is further than 255.99 m has none."""
    depth = view.depth
    steps = np.round(np.where(np.isfinite(depth), depth, 0.0) * float(DEPTH_STEPS))
    return np.where(steps < 2**16, steps, 0).astype(np.uint16)
