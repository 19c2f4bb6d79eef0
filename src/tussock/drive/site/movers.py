"""Solid things that move, as boxes on the ground: each copy's outline at a moment, and whether a vehicle touches it.

A moving thing's outline is the box of its solid triangles in its own coordinates, turned as it moves. Two rectangles
overlap unless a side of one of them parts them (separating axes).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tussock.arrays import FloatArray
from tussock.drive.site.kinds import faces_of
from tussock.poses import Trajectory
from tussock.scene.scene import Scene

__all__ = ["Movers", "rectangle"]


def rectangle(x: float, y: float, yaw: float, length: float, width: float) -> FloatArray:
    """Corners [m] of a rectangle around (x, y), counter-clockwise, shape (4, 2)."""
    c, s = np.cos(yaw), np.sin(yaw)
    along, across = 0.5 * length * np.array([c, s]), 0.5 * width * np.array([-s, c])
    return np.array([x, y]) + np.array([along + across, across - along, -along - across, along - across])


@dataclass(frozen=True)
class Movers:
    """All solid things of a scene that move."""

    boxes: tuple[tuple[Trajectory, FloatArray], ...]
    """how a thing moves, and the corners of one copy's box in its own coordinates, shape (4, 3)"""

    @classmethod
    def of(cls, scene: Scene) -> Movers:
        boxes = []
        for thing in scene.objects:
            faces = faces_of(thing)
            solid = faces.solid | faces.trunk
            if thing.motion is None or not solid.any():
                continue
            corners = thing.mesh.vertices[np.unique(thing.mesh.triangles[solid])].astype(float)
            (x0, y0, z0), (x1, y1, _) = corners.min(0), corners.max(0)
            box = np.array([[x1, y1, z0], [x0, y1, z0], [x0, y0, z0], [x1, y0, z0]])
            boxes += [(thing.motion, box @ m[:, :3].T + m[:, 3]) for m in thing.placements.matrices]
        return cls(tuple(boxes))

    def outlines(self, time: float) -> list[FloatArray]:
        """Corners on the ground [m] (4, 2) of every box at ``time`` [s]."""
        return [motion.pose(time).apply(box)[:, :2] for motion, box in self.boxes]

    def distance(self, time: float, outline: FloatArray) -> float:
        """[m] from a rectangle (4, 2) to the nearest box at ``time`` [s]; 0 where they touch, infinite without any."""
        return min((_apart(outline, other) for other in self.outlines(time)), default=np.inf)


def _apart(a: FloatArray, b: FloatArray) -> float:
    """[m] between two rectangles (4, 2)."""
    if _overlap(a, b):
        return 0.0
    return float(min(_to_edges(a, b), _to_edges(b, a)))


def _overlap(a: FloatArray, b: FloatArray) -> bool:
    for corners in (a, b):
        for side in (corners[1] - corners[0], corners[2] - corners[1]):
            first, second = a @ side, b @ side
            if first.max() < second.min() or second.max() < first.min():
                return False
    return True


def _to_edges(points: FloatArray, corners: FloatArray) -> float:
    """[m] from the nearest of some points to the nearest edge of a rectangle."""
    starts, ways = corners, np.roll(corners, -1, 0) - corners
    share = ((points[:, None] - starts) * ways).sum(2) / np.maximum((ways**2).sum(1), 1e-12)
    nearest = starts + np.clip(share, 0, 1)[:, :, None] * ways
    return float(np.linalg.norm(points[:, None] - nearest, axis=2).min())
