"""What is known of a frame beside its points: labels, instances and boxes of things."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.boxes import placed_at
from tussock.datasets.semantic_kitti import Labeller
from tussock.frames.frame import Frame
from tussock.poses import Pose
from tussock.scene.labels import STUFF
from tussock.scene.scene import SceneObject
from tussock.trace.world import World

__all__ = ["boxes_of", "labels_of"]


def labels_of(frame: Frame, world: World, scheme: str) -> NDArray[np.uint32]:
    """One uint32 a return: instance << 16 | class, in the class numbers of ``scheme``; only things have instances."""
    labels = np.asarray(Labeller(world).labels(frame))
    if scheme == "semantickitti":
        return labels
    returns = frame.select(frame.hit)
    return (labels & np.uint32(0xFFFF0000) | returns.label.astype(np.uint32)).astype("<u4")


def boxes_of(frame: Frame, world: World, sensor: Pose) -> list[dict[str, Any]]:
    """The box of every thing that the frame has returns of, along the thing's own axes, in the sensor's frame.

    ``sensor`` is ``T_world_sensor`` when the frame starts; things that move are boxed as they are then.
    """
    returns = frame.select(frame.hit)
    start = float(frame.meta["start_s"])
    boxes = []
    for thing in world.named:
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
                    "returns": int(count),
                    "center_m": (sensor.rotation.T @ (center - sensor.position)).round(6).tolist(),
                    "size_m": ((high - low) * lengths).round(6).tolist(),
                    "rotation": rotation.round(9).tolist(),
                }
            )
    return boxes
