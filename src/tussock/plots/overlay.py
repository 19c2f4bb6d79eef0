"""Points drawn over a picture: what the LIDAR saw, in the eyes of the camera."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tussock.cameras.camera import Camera
from tussock.errors import InputError
from tussock.plots.viewable import range_colors
from tussock.poses import Pose

__all__ = ["overlay_points"]


def overlay_points(
    rgb: NDArray[np.uint8],
    camera: Camera,
    pose: Pose,
    points: ArrayLike,
    *,
    colors: NDArray[np.uint8] | None = None,
    ranges: NDArray[np.float32] | None = None,
    size: int | None = None,
) -> NDArray[np.uint8]:
    """A copy of the picture ``rgb`` (height, width, 3) with world ``points`` (n, 3) [m] on it, near ones on top.

    ``pose`` is ``T_world_camera``. ``colors`` (n, 3) are those of the points; by their distance if not given.
    ``ranges`` (height, width), from `look`, leaves out points that the camera cannot see behind something else.
    ``size`` is the width of a dot [pixels].

    >>> camera = tussock.Camera(width=40, height=30)
    >>> plain = np.zeros((30, 40, 3), np.uint8)
    >>> over = tussock.overlay_points(plain, camera, tussock.Pose.at(0, 0, 0), [[5.0, 0.0, 0.0]])
    >>> bool(over.any())
    True
    """
    if rgb.shape != (camera.height, camera.width, 3):
        raise InputError.of("picture", f"must have the shape {(camera.height, camera.width, 3)}", rgb.shape)
    out = rgb.copy()
    place = np.asarray(points, np.float64).reshape(-1, 3)
    pixels = camera.project(place, pose)
    inside = np.flatnonzero(camera.inside(pixels))
    distance = np.linalg.norm(place[inside] - pose.position, axis=1)
    column, line = np.rint(pixels[inside]).astype(int).T
    if ranges is not None:
        seen = distance <= ranges[line, column] * 1.01 + 0.1
        inside, distance, column, line = inside[seen], distance[seen], column[seen], line[seen]
    if not len(inside):
        return out
    order = np.argsort(-distance, kind="stable")  # where dots overlap the last one stays
    inside, distance, column, line = inside[order], distance[order], column[order], line[order]
    if colors is None:
        paint = range_colors(distance, float(np.percentile(distance, 1)), float(np.percentile(distance, 99)))
    else:
        paint = colors[inside]
    width = size or max(2, round(camera.width / 640))
    for a in range(-(width // 2), width - width // 2):
        for b in range(-(width // 2), width - width // 2):
            x, y = column + a, line + b
            fits = (x >= 0) & (x < camera.width) & (y >= 0) & (y < camera.height)
            out[y[fits], x[fits]] = paint[fits]
    return out
