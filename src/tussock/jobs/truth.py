"""What is known of a frame beside its points: labels, instances, boxes of things in space and in pictures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.boxes import boxes_in, placed_at
from tussock.cameras.view import View
from tussock.datasets.semantic_kitti import MOVING, Labeller
from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.scene.label_map import label_map_names, load_label_map
from tussock.scene.labels import LABELS, STUFF
from tussock.scene.scene import SceneObject
from tussock.trace.world import World

__all__ = ["LABEL_SCHEMES", "Truth", "scheme_table"]

LABEL_SCHEMES = ("tussock", "semantickitti", *(name for name in label_map_names() if name != "semantic-kitti"))
"""whose class numbers a data set may have"""


def scheme_table(scheme: str) -> dict[str, Any]:
    """What a data set's class numbers mean, as plain data: its classes, and which of them each label of ours is."""
    if scheme == "tussock":
        return {"scheme": "tussock", "classes": LABELS, "class_of": {name: name for name in LABELS}}
    theirs = load_label_map("semantic-kitti" if scheme == "semantickitti" else scheme)
    classes = theirs.classes | (
        {f"moving-{name}": n for name, n in MOVING.items()} if scheme == "semantickitti" else {}
    )
    return {"scheme": scheme, "source": theirs.source, "classes": classes, "class_of": theirs.labels}


class Truth:
    """Labels, instance numbers and boxes of one world, in the class numbers of ``scheme``.

    Instance numbers are the same in points, boxes in space and boxes in pictures.
    """

    def __init__(self, world: World, scheme: str) -> None:
        self._world, self._scheme, self._labeller = world, scheme, Labeller(world)

    def labels(self, frame: Frame) -> NDArray[np.uint32]:
        """One uint32 a return: instance << 16 | class; only things have instances."""
        labels = np.asarray(self._labeller.labels(frame))
        if self._scheme == "semantickitti":
            return labels
        own = frame.select(frame.hit).label
        classes = own if self._scheme == "tussock" else load_label_map(self._scheme).numbers(own)
        return (labels & np.uint32(0xFFFF0000) | classes.astype(np.uint32)).astype("<u4")

    def boxes(self, frame: Frame, sensor: Pose) -> list[dict[str, Any]]:
        """The box of every thing that the frame has returns of, along the thing's own axes, in the sensor's frame.

        ``sensor`` is ``T_world_sensor`` when the frame starts; things that move are boxed as they are then.
        """
        returns = frame.select(frame.hit)
        start = float(frame.meta["start_s"])
        boxes = []
        for thing in self._world.named:
            if not isinstance(thing, SceneObject) or thing.label in STUFF:
                continue
            copies, counts = np.unique(returns.placement[returns.object_id == thing.id], return_counts=True)
            if not len(copies):
                continue
            low, high = thing.mesh.bounds.astype(float)
            matrices = placed_at(thing, start)
            for copy, count in zip(copies, counts, strict=True):
                axes = matrices[copy, :, :3]
                lengths = np.linalg.norm(axes, axis=0)
                center = axes @ ((low + high) / 2) + matrices[copy, :, 3]
                rotation = sensor.rotation.T @ (axes / lengths)
                boxes.append(
                    {
                        "label": thing.label,
                        "name": thing.name,
                        "placement": int(copy),
                        "instance": int(self._labeller.instances(thing.id, int(copy))),
                        "returns": int(count),
                        "center_m": (sensor.rotation.T @ (center - sensor.position)).round(6).tolist(),
                        "size_m": ((high - low) * lengths).round(6).tolist(),
                        "rotation": rotation.round(9).tolist(),
                    }
                )
        return boxes

    def picture_boxes(self, view: View, path: Trajectory, threads: int | None) -> list[dict[str, Any]]:
        """The boxes of things in a picture [pixels]: left, top, right, bottom, as `tussock.cameras.boxes` has them."""
        return [
            {
                "label": box.label,
                "name": box.name,
                "placement": box.placement,
                "instance": int(self._labeller.instances(box.object_id, box.placement)),
                "visible_px": box.visible,
                "whole_px": box.whole,
                "occlusion": round(box.occlusion, 6),
            }
            for box in boxes_in(view, self._world, path, threads=threads)
        ]
