"""Boxes of things as data sets have them: those that a scan has returns of, and those that a picture shows.

In pictures they are the lines of KITTI's object benchmark (Geiger et al. 2012; ``readme.txt`` of its development kit):
type, truncated, occluded, alpha, left, top, right, bottom [pixels], height, width, length [m], the middle of the
underside x, y, z [m] in the axes of the camera (x right, y down, z ahead), and the turn about its y.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.cameras.boxes import Box, placed_at
from tussock.cameras.camera import Camera
from tussock.datasets.labeller import Labeller
from tussock.frames.frame import Frame
from tussock.poses import Pose
from tussock.scene.labels import STUFF
from tussock.scene.scene import SceneObject
from tussock.trace.world import World

__all__ = ["boxes_in_scan", "object_line", "picture_box"]

_TYPES = {"car": "Car", "truck": "Truck", "person": "Pedestrian", "bicyclist": "Cyclist"}
"""KITTI's own words; other labels keep ours with a capital"""
_PARTLY, _LARGELY = 0.1, 0.5
"""shares hidden from which a thing is partly (1) and largely (2) occluded"""


def boxes_in_scan(world: World, labeller: Labeller, frame: Frame, sensor: Pose, time: float) -> list[dict[str, Any]]:
    """The box of every thing that the frame has returns of, along the thing's own axes, in the sensor's frame.

    ``sensor`` is ``T_world_sensor`` at ``time`` [s]; things that move are boxed as they are then.
    """
    returns = frame.select(frame.hit)
    boxes = []
    for thing in world.named:
        if not isinstance(thing, SceneObject) or thing.label in STUFF:
            continue
        copies, counts = np.unique(returns.placement[returns.object_id == thing.id], return_counts=True)
        if not len(copies):
            continue
        low, high = thing.mesh.bounds.astype(float)
        matrices = placed_at(thing, time)
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
                    "instance": int(labeller.instances(thing.id, int(copy))),
                    "returns": int(count),
                    "center_m": (sensor.rotation.T @ (center - sensor.position)).round(6).tolist(),
                    "size_m": ((high - low) * lengths).round(6).tolist(),
                    "rotation": rotation.round(9).tolist(),
                }
            )
    return boxes


def picture_box(box: Box, labeller: Labeller) -> dict[str, Any]:
    """A box in a picture [pixels]: left, top, right, bottom, as `tussock.cameras.boxes` has them."""
    return {
        "label": box.label,
        "name": box.name,
        "placement": box.placement,
        "instance": int(labeller.instances(box.object_id, box.placement)),
        "visible_px": box.visible,
        "whole_px": box.whole,
        "occlusion": round(box.occlusion, 6),
    }


def object_line(box: Box, camera: Camera) -> str:
    """A line of KITTI's object benchmark; ``truncated`` is -1 for a thing that reaches behind the camera."""
    # The camera's own axes are x ahead, y left, z up; KITTI's are x right, y down, z ahead.
    x, y, z = -box.camera_center[1], -box.camera_center[2], box.camera_center[0]
    length, width, height = box.size
    ahead = box.camera_rotation[:, 0]
    turn = float(np.arctan2(-ahead[0], -ahead[1]))
    alpha = float((turn - np.arctan2(x, z) + np.pi) % (2 * np.pi) - np.pi)
    hidden = 2 if box.occlusion >= _LARGELY else 1 if box.occlusion >= _PARTLY else 0
    kind = _TYPES.get(box.label, box.label.capitalize())
    numbers = [alpha, *box.whole, height, width, length, x, y + height / 2, z, turn]
    return f"{kind} {_truncated(box, camera):.2f} {hidden} " + " ".join(f"{number:.2f}" for number in numbers)


def _truncated(box: Box, camera: Camera) -> float:
    """Share of the picture of the box that lies beyond the edges of the image."""
    if (box.camera_corners[:, 0] < 1e-3).any():
        return -1.0
    pixels = camera.project(box.camera_corners, Pose())
    low, high = pixels.min(0), pixels.max(0)
    edge = np.array([camera.width - 1, camera.height - 1])
    inside = np.clip(np.minimum(high, edge) - np.maximum(low, 0), 0, None)
    return float(1 - inside.prod() / max(float((high - low).prod()), 1e-9))
