"""What is known of a frame beside its points: labels, instances, boxes of things in space and in pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.boxes import boxes_in
from tussock.cameras.view import View
from tussock.datasets.boxes import boxes_in_scan, picture_box
from tussock.datasets.labeller import Labeller
from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.trace.world import World

__all__ = ["Truth"]


class Truth:
    """Labels, instance numbers and boxes of one world, in the class numbers of ``scheme``.

    Instance numbers are the same in points, boxes in space and boxes in pictures.
    """

    def __init__(self, world: World, scheme: str) -> None:
        self._world, self._labeller = world, Labeller(world, scheme)

    def labels(self, frame: Frame) -> NDArray[np.uint32]:
        """One uint32 a return: instance << 16 | class; only things have instances."""
        return self._labeller.labels(frame)

    def boxes(self, frame: Frame, sensor: Pose) -> list[dict[str, Any]]:
        """The boxes of `tussock.datasets.boxes.boxes_in_scan`; ``sensor`` is ``T_world_sensor`` when the frame starts."""
        return boxes_in_scan(self._world, self._labeller, frame, sensor, float(frame.meta["start_s"]))

    def picture_boxes(self, view: View, path: Trajectory, threads: int | None) -> list[dict[str, Any]]:
        """The boxes of the things that a picture shows [pixels]."""
        boxes = boxes_in(view, self._world, path, hidden=False, threads=threads)
        return [picture_box(box, self._labeller) for box in boxes]
