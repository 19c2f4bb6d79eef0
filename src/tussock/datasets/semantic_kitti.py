"""Labels as SemanticKITTI writes them: uint32 a point, instance << 16 | class.

Classes are those of ``semantic-kitti.yaml`` (Behley et al. 2019). Tussock's finer names for plants have numbers from
100 on and are taken to the nearest official class here (`tussock.scene.label_map`); moving things have classes of their own (252 and up). Only
things have instance numbers, counted from 1 over the whole scene, so they stay the same through a sequence.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.poses import Trajectory
from tussock.scene.label_map import load_label_map
from tussock.scene.labels import STUFF, label_id
from tussock.scene.scene import SceneObject
from tussock.trace.world import World

__all__ = ["Labeller"]

MOVING: dict[str, int] = {
    "car": 252,
    "bicyclist": 253,
    "person": 254,
    "motorcyclist": 255,
    "bus": 257,
    "truck": 258,
    "other-vehicle": 259,
}


class Labeller:
    """Labels the points of one scene."""

    def __init__(self, world: World) -> None:
        names = {number: name for name, number in world.labels.items()}
        self._classes = np.zeros(65536, np.uint32)
        for number, name in names.items():
            self._classes[number] = _official(name)
        count = 1 + max(thing.id for thing in world.named)
        self._moving = np.zeros(count, np.uint32)
        """class of the moving object's own label, 0 for one that stands"""
        self._own = np.zeros(count, np.uint16)
        self._first = np.zeros(count, np.uint32)
        """number of the object's first copy, 0 for stuff"""
        total = 1
        for thing in world.named:
            moves = isinstance(thing, SceneObject) and thing.motion is not None and _moves(thing.motion)
            self._own[thing.id] = label_id(thing.label, world.labels)
            self._moving[thing.id] = MOVING.get(thing.label, 0) if moves else 0
            if thing.label not in STUFF:
                self._first[thing.id] = total
                total += len(thing.placements)
        if total > 65536:
            raise InputError.of("scene", "must have at most 65535 things for SemanticKITTI's labels", total - 1)

    def labels(self, frame: Frame) -> NDArray[np.uint32]:
        """One label a return, in the frame's order."""
        returns = frame.select(frame.hit)
        classes = self._classes[returns.label]
        moving = self._moving[returns.object_id]
        classes = np.where((moving > 0) & (returns.label == self._own[returns.object_id]), moving, classes)
        instances = self.instances(returns.object_id, returns.placement)
        return (instances << np.uint32(16) | classes.astype(np.uint32)).astype("<u4")

    def instances(self, object_id: ArrayLike, placement: ArrayLike) -> NDArray[np.uint32]:
        """The number of each thing, from 1; 0 for stuff and for nothing."""
        first = self._first[np.asarray(object_id, np.int64)]
        return np.where(first > 0, first + np.asarray(placement), 0).astype(np.uint32)


def _official(name: str) -> int:
    """A label of the scene's own is some object."""
    theirs = load_label_map("semantic-kitti")
    return theirs.classes[theirs.labels.get(name, "other-object")]


def _moves(motion: Trajectory) -> bool:
    return bool(np.ptp(motion.positions, axis=0).max() > 1e-6 or np.ptp(motion.quaternions, axis=0).max() > 1e-9)
