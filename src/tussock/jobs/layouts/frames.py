"""What every layout writes of a moment: points, labels, and plain data about it."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.files.images import png_bytes
from tussock.frames.frame import Frame
from tussock.jobs.making import Made
from tussock.rigs.capture import Moment, camera_path

__all__ = ["Shown", "json_bytes", "shown"]


class Shown(NamedTuple):
    """One frame of the item's first LIDAR, and the pictures that were taken then."""

    frame: Frame
    """returns only"""
    points: NDArray[np.float32]
    """x, y, z in the LIDAR's frame at each pulse's own time, intensity 0 to 1; shape (n, 4)"""
    labels: NDArray[np.uint32]
    """instance << 16 | class"""
    pictures: dict[str, bytes]
    """PNG by the camera's name"""
    about: dict[str, Any]


def shown(made: Made, moment: Moment, threads: int | None) -> Shown:
    lidar = made.rig.lidars[0]
    whole = moment.frames[lidar.name]
    frame = whole.select(whole.hit)
    start = float(whole.meta["start_s"])
    place = made.rig.body.pose(start) @ lidar.mount
    points = np.column_stack([frame.xyz, np.clip(frame.intensity, 0.0, 1.0)]).astype("<f4")
    world_points = frame.world_xyz()
    numbers, counts = np.unique(frame.label, return_counts=True)
    names = {number: name for name, number in made.ready.world.labels.items()}
    about = {
        "frame": moment.number,
        "start_s": start,
        "pulses": whole.pulses,
        "returns": len(frame),
        "pose": place.matrix.round(12).tolist(),
        "classes": {names[int(n)]: int(c) for n, c in zip(numbers, counts, strict=True)},
        "boxes": made.truth.boxes(whole, place),
        "pictures": {
            mounted.name: {
                "time_s": moment.time + mounted.trigger,
                "pose": (made.rig.body.pose(moment.time + mounted.trigger) @ mounted.mount).matrix.round(12).tolist(),
                "boxes": made.truth.picture_boxes(moment.views[mounted.name], camera_path(made.rig, mounted), threads),
            }
            for mounted in made.rig.cameras
        },
        "low_m": world_points.min(0).round(3).tolist() if len(frame) else None,
        "high_m": world_points.max(0).round(3).tolist() if len(frame) else None,
    }
    labels = made.truth.labels(whole)
    pictures = {name: png_bytes(picture.rgb) for name, picture in moment.pictures.items()}
    return Shown(frame, points, labels, pictures, about)


def json_bytes(data: Any) -> bytes:
    return (json.dumps(data, sort_keys=True) + "\n").encode()
