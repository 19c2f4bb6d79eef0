"""The colours of learned volumes from photographs of the place.

Each volume is looked for in each photograph, where its mean is. What a photograph says of it counts by how much of the way to
it is free: the share of light that passes the volumes before it, by the law that pulses pass them by. So what stands behind a
bush does not get the colour of the bush. Light and shadow of the photograph stay in the colour.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.kernels import kernel
from tussock.learn.attributes.knowledge import linear_of_srgb, srgb_of_linear
from tussock.learn.attributes.photos import Photo
from tussock.scene.volumes import WHOLE, Volumes
from tussock.threads import resolve_threads, run_on_threads
from tussock.trace.ray import Ray
from tussock.trace.volume_cells import grid_order, new_walk, start_walk
from tussock.trace.volume_hits import Gaussians, gaussians_of, next_volume

__all__ = ["color_volumes", "free_ways"]

_LEAST = 0.1
"""what a photograph sees less of a volume than this, it does not tell its colour"""


def color_volumes(volumes: Volumes, photos: Sequence[Photo], *, threads: int | None = None) -> Volumes:
    """The volumes with the colours that they have in photographs; those that none shows keep what they had.

    >>> way = np.random.default_rng(1).normal((5, 0, 0), 0.5, (400, 3))
    >>> pulses = tussock.MeasuredPulses.of(np.zeros(3), way, np.linalg.norm(way, axis=1), reach=10)
    >>> camera = tussock.Camera(width=64, height=48)
    >>> green = tussock.Photo(np.full((48, 64, 3), (40, 120, 30), np.uint8), camera, tussock.Pose.at(0, 0, 0))
    >>> colored = tussock.color_volumes(tussock.learn_volumes(pulses, voxel=0.5), [green])
    >>> colored.colors[colored.colors[:, 3] > 0, :3].max(0).tolist()
    [40, 120, 30]
    """
    if not photos:
        raise InputError("photos: give at least one")
    places = volumes.means.astype(np.float64) + volumes.origin
    light, weight = np.zeros((len(volumes), 3)), np.zeros(len(volumes))
    for photo in photos:
        pixels = photo.camera.project(places, photo.pose)
        shown = photo.camera.inside(pixels)
        if not shown.any():
            continue
        free = np.where(shown, free_ways(volumes, photo.pose.position, threads=threads), 0.0)
        free[free < _LEAST] = 0.0
        column, line = (np.round(np.where(shown, pixels[:, axis], 0)).astype(int) for axis in (0, 1))
        light += linear_of_srgb(photo.rgb[line, column]) * free[:, None]
        weight += free
    seen = weight > 0
    if not seen.any():
        raise InputError("photos: none of them shows any volume; check their poses, in the coordinates of the scan")
    colors = volumes.colors.copy() if len(volumes.colors) else np.zeros((len(volumes), 4), np.uint8)
    colors[seen, :3] = srgb_of_linear(light[seen] / weight[seen, None])
    colors[seen, 3] = 255
    return replace(volumes, colors=colors)


def free_ways(volumes: Volumes, eye: Any, *, threads: int | None = None) -> NDArray[np.float64]:
    """The share of light from the mean of each volume that reaches a place ``eye`` [m] past the others, shape (n,)."""
    free = np.zeros(len(volumes))
    start = np.asarray(eye, np.float64) - volumes.origin
    run_on_threads(_walk_to_means, resolve_threads(threads), gaussians_of([volumes]), start, free)
    order = grid_order(volumes)
    if order is None:
        return free
    back = np.empty_like(free)
    back[order] = free
    return back


@kernel
def _walk_to_means(worker: int, workers: int, gaussians: Gaussians, start: Any, free: Any) -> None:
    walk = new_walk()
    means = gaussians.means
    for i in range(worker, len(means), workers):
        x, y, z = means[i, 0] - start[0], means[i, 1] - start[1], means[i, 2] - start[2]
        far = np.sqrt(x * x + y * y + z * z)
        if far == 0.0:
            free[i] = 1.0
            continue
        ray = Ray(start[0], start[1], start[2], x / far, y / far, z / far, 0.0, np.inf, 0.0)
        left: Any = 1.0
        going = start_walk(gaussians.cells, 0, walk, ray)
        while going:
            met, shell, t, _ = next_volume(gaussians, 0, walk, ray)
            going = met >= 0 and met != i and t < far
            if going and shell >= 0 and t > 0.0:
                left *= gaussians.shells[met, shell] / WHOLE
        free[i] = left
