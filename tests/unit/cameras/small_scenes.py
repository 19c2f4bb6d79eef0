"""Small scenes, and a ray tracer in plain NumPy that tries every triangle."""

from __future__ import annotations

import numpy as np

from tussock.cameras.camera import Camera
from tussock.poses import Pose
from tussock.scene.material import Material
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, plane
from tussock.scene.scene import Scene

RED = Material(name="red", reflectance=0.3, color=(0.8, 0.1, 0.1))


def parked_cars() -> Scene:
    """Ground, a wall, two cars of one shape (the second partly behind the first), and one wholly behind the wall."""
    scene = Scene("parked")
    scene.add(plane((60.0, 60.0)), name="ground", label="terrain")
    scene.add(box((0.5, 4.0, 3.0)), name="wall", label="wall", position=(12.0, 6.0, 1.5))
    places = Placements.of([(8.0, 0.0, 0.75), (13.0, -1.5, 0.75)], yaw=[0.4, 1.2], scale=[1.0, 1.1])
    scene.add(box((4.0, 1.8, 1.5), material=RED), name="cars", label="car", placements=places)
    scene.add(box((1.5, 1.5, 1.5)), name="hidden", label="truck", position=(14.0, 6.9, 0.75))
    scene.add(box((0.4, 0.4, 1.8)), name="behind", label="person", position=(-5.0, 0.0, 0.9))
    return scene


def brute_force(scene: Scene, camera: Camera, pose: Pose, only: tuple[int, int] | None = None):
    """Object id, placement and range, each (height, width), by Möller and Trumbore over all triangles.

    ``only`` leaves all but one copy (object id, placement) away.
    """
    v, u = np.mgrid[0 : camera.height, 0 : camera.width]
    starts, directions = camera.rays(np.stack([u.ravel(), v.ravel()], 1))
    starts, directions = pose.apply(starts), directions @ pose.rotation.T
    nearest = np.full(len(starts), np.inf)
    owner, copy = np.zeros(len(starts), np.uint32), np.zeros(len(starts), np.uint32)
    for thing in scene.objects:
        for number, matrix in enumerate(thing.placements.matrices):
            if only is not None and only != (thing.id, number):
                continue
            vertices = thing.mesh.vertices.astype(float) @ matrix[:, :3].T + matrix[:, 3]
            for a, b, c in vertices[thing.mesh.triangles]:
                distance = _meet(starts, directions, a, b, c)
                nearer = distance < nearest
                nearest[nearer], owner[nearer], copy[nearer] = distance[nearer], thing.id, number
    shape = (camera.height, camera.width)
    return owner.reshape(shape), copy.reshape(shape), nearest.reshape(shape)


def _meet(starts, directions, a, b, c):
    """Distance [m] along each ray to a triangle, infinite where it misses."""
    p = np.cross(directions, c - a)
    det = p @ (b - a)
    with np.errstate(divide="ignore", invalid="ignore"):
        u = ((starts - a) * p).sum(1) / det
        q = np.cross(starts - a, b - a)
        v = (directions * q).sum(1) / det
        t = (q @ (c - a)) / det
    hit = (np.abs(det) > 1e-12) & (u >= 0) & (v >= 0) & (u + v <= 1) & (t > 1e-4)
    return np.where(hit, t, np.inf)
