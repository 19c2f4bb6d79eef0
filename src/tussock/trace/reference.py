"""A tracer to be read and to be compared with: every ray against every triangle, in plain NumPy and float64.

Möller and Trumbore, "Fast, minimum storage ray/triangle intersection" (1997): the hit of the ray o + t·d with the
triangle a, a + e, a + f solves

    t·(−d) + u·e + v·f = o − a,   u ≥ 0, v ≥ 0, u + v ≤ 1

by Cramer's rule. With n = e × f and the moment o × d of the ray the four determinants are

    D = −d·n,   t·D = (o − a)·n,   u·D = f·(o × d) − d·(f × a),   v·D = d·(e × a) − e·(o × d)

A placement moves the corners of the triangles. A moving object is met in its own coordinates, where it stands
still: the ray is taken there by the object's pose at the ray's own time, which is exact and keeps t. It leaves
out everything that makes a tracer fast; a thousand rays against ten thousand triangles take half a second.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from tussock.arrays import FloatArray
from tussock.scene.scene import Scene, SceneObject

__all__ = ["ReferenceHits", "trace_reference"]


_PAIRS_AT_ONCE = 200_000  # rays times triangles: some 20 MB of intermediate arrays


class ReferenceHits(NamedTuple):
    """What every ray met first; arrays of shape (n,)."""

    range: FloatArray
    """[m] for a direction of length 1, infinite where nothing was met"""
    object_id: NDArray[np.uint32]
    """0 where nothing was met"""
    placement: NDArray[np.uint32]
    triangle: NDArray[np.uint32]
    cos_incidence: FloatArray
    """|cos θ| between ray and surface normal, 0 where nothing was met"""


def trace_reference(
    scene: Scene,
    origins: ArrayLike,
    directions: ArrayLike,
    times: ArrayLike | None = None,
    max_range: float = np.inf,
) -> ReferenceHits:
    """The nearest hit of every ray up to ``max_range`` [m].

    ``origins`` [m] and unit ``directions``: world, shape (n, 3); ``times`` [s]: shape (n,), None for 0.
    """
    start, towards = np.asarray(origins, float), np.asarray(directions, float)
    count = len(start)
    when = np.zeros(count) if times is None else np.asarray(times, float)
    hits = ReferenceHits(
        np.full(count, np.inf),
        np.zeros(count, np.uint32),
        np.zeros(count, np.uint32),
        np.zeros(count, np.uint32),
        np.zeros(count),
    )
    for thing in scene.objects:
        local_start, local_towards = _in_coordinates_of(thing, start, towards, when)
        corners = thing.mesh.vertices.astype(float)[thing.mesh.triangles]
        for copy, matrix in enumerate(thing.placements.matrices):
            placed = corners @ matrix[:, :3].T + matrix[:, 3]
            rays_at_once = max(1, _PAIRS_AT_ONCE // len(placed))
            for first in range(0, count, rays_at_once):
                rays = slice(first, first + rays_at_once)
                t, triangle, cosine = _nearest(placed, local_start[rays], local_towards[rays])
                nearer = (t < hits.range[rays]) & (t <= max_range)
                hits.range[rays][nearer] = t[nearer]
                hits.object_id[rays][nearer] = thing.id
                hits.placement[rays][nearer] = copy
                hits.triangle[rays][nearer] = triangle[nearer]
                hits.cos_incidence[rays][nearer] = cosine[nearer]
    return hits


def _in_coordinates_of(
    thing: SceneObject, origins: FloatArray, directions: FloatArray, times: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The rays as the object sees them, each at its own time."""
    if thing.motion is None:
        return origins, directions
    positions, quaternions = thing.motion.at(times)
    back = Rotation.from_quat(quaternions).inv()
    return back.apply(origins - positions), back.apply(directions)


def _nearest(
    corners: FloatArray, origins: FloatArray, directions: FloatArray
) -> tuple[FloatArray, NDArray[np.int64], FloatArray]:
    """Range, number and |cos θ| of the nearest of the triangles ``corners`` (m, 3, 3), for every ray."""
    # Map coordinates would cost the products below half their digits.
    middle = origins.mean(0)
    d, o = directions, origins - middle
    a = corners[:, 0] - middle
    e, f = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    n = np.cross(e, f)
    moment = np.cross(o, d)
    determinant = -d @ n.T
    # A ray along the triangle's plane has the determinant 0 and meets it nowhere.
    with np.errstate(divide="ignore", invalid="ignore"):
        t = (o @ n.T - (a * n).sum(1)) / determinant
        u = (moment @ f.T - d @ np.cross(f, a).T) / determinant
        v = (d @ np.cross(e, a).T - moment @ e.T) / determinant
        inside = (determinant != 0) & (u >= 0) & (v >= 0) & (u + v <= 1) & (t > 0)
    t = np.where(inside, t, np.inf)
    triangle = t.argmin(1)
    normal = n[triangle]
    length = np.linalg.norm(normal, axis=1)
    cosine = np.abs((d * normal).sum(1)) / np.where(length > 0, length, 1.0)
    return t[np.arange(len(t)), triangle], triangle, cosine
