"""Labels as SemanticKITTI writes them: uint32 a point, instance << 16 | class.

Classes are those of one of these schemes: ``semantickitti`` (``semantic-kitti.yaml``, Behley et al. 2019), RELLIS-3D, GOOSE,
or Tussock's own. The labels of a scene are taken to the nearest class of the scheme (`tussock.scene.label_map`), the leaves
and branches of a shrub to that of shrubs, not of trees; in SemanticKITTI moving things have classes of their own (252 and up). Only things have instance numbers, counted from 1
over the whole scene, so they stay the same through a sequence. There is room for 65,535 of them: what people made and
what lives comes first, and trees, shrubs, rocks and deadwood of an object that no longer fits have the number 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.poses import Trajectory
from tussock.scene.label_map import label_map_names, load_label_map
from tussock.scene.labels import LABELS, STUFF, label_id
from tussock.scene.scene import SceneObject
from tussock.trace.world import World

__all__ = ["LABEL_SCHEMES", "MOVING", "Labeller", "check_scheme", "scheme_table"]

LABEL_SCHEMES = ("tussock", "semantickitti", *(name for name in label_map_names() if name != "semantic-kitti"))
"""whose class numbers a data set may have"""

MOVING: dict[str, int] = {
    "car": 252,
    "bicyclist": 253,
    "person": 254,
    "motorcyclist": 255,
    "bus": 257,
    "truck": 258,
    "other-vehicle": 259,
}
_MANY = frozenset(("tree", "shrub", "rock", "deadwood"))
"""things of which a forest has more than there are numbers"""
_MOST = 65535
_PARTS = ("leaf", "branch", "stem")
"""of a shrub, which other people's classes do not tell apart"""


def check_scheme(scheme: str) -> None:
    """Refuse a name that is none of `LABEL_SCHEMES`."""
    if scheme not in LABEL_SCHEMES:
        raise InputError.of("classes", "must be one of " + ", ".join(LABEL_SCHEMES), scheme)


def scheme_table(scheme: str) -> dict[str, Any]:
    """What a data set's class numbers mean, as plain data: its classes, and which of them each label of ours is."""
    if scheme == "tussock":
        return {"scheme": "tussock", "classes": LABELS, "class_of": {name: name for name in LABELS}}
    theirs = load_label_map("semantic-kitti" if scheme == "semantickitti" else scheme)
    classes = theirs.classes | (
        {f"moving-{name}": n for name, n in MOVING.items()} if scheme == "semantickitti" else {}
    )
    table = {"scheme": scheme, "source": theirs.source, "classes": classes, "class_of": theirs.labels}
    return table | {"class_on_shrubs": dict.fromkeys(_PARTS, theirs.labels["shrub"])}


class Labeller:
    """Labels points and pixels of one scene in the class numbers of ``scheme``."""

    def __init__(self, world: World, scheme: str = "semantickitti") -> None:
        check_scheme(scheme)
        self._classes = np.zeros(65536, np.uint32)
        for name, number in world.labels.items():
            self._classes[number] = _class_of(name, number, scheme)
        count = 1 + max(thing.id for thing in world.named)
        self._moving = np.zeros(count, np.uint32)
        """class of the moving object's own label, 0 for one that stands"""
        self._own = np.zeros(count, np.uint16)
        self._first = np.zeros(count, np.uint32)
        """number of the object's first copy, 0 for stuff"""
        self._on_shrubs = self._classes.copy()
        if scheme != "tussock":
            for part in _PARTS:
                self._on_shrubs[LABELS[part]] = self._classes[LABELS["shrub"]]
        for thing in world.named:
            moves = isinstance(thing, SceneObject) and thing.motion is not None and _moves(thing.motion)
            self._own[thing.id] = label_id(thing.label, world.labels)
            self._moving[thing.id] = MOVING.get(thing.label, 0) if moves and scheme == "semantickitti" else 0
        total = 0
        things = [thing for thing in world.named if thing.label not in STUFF]
        for thing in sorted(things, key=lambda thing: thing.label in _MANY):  # a stable sort
            if total + len(thing.placements) > _MOST:
                if thing.label in _MANY:
                    continue
                raise InputError.of(
                    "scene", "must have at most 65535 things for SemanticKITTI's labels", total + len(thing.placements)
                )
            self._first[thing.id] = total + 1
            total += len(thing.placements)

    def labels(self, frame: Frame) -> NDArray[np.uint32]:
        """One label a return, in the frame's order."""
        returns = frame.select(frame.hit)
        classes = self.classes(returns.label, returns.object_id)
        instances = self.instances(returns.object_id, returns.placement)
        return (instances << np.uint32(16) | classes).astype("<u4")

    def classes(self, label: NDArray[np.uint16], object_id: NDArray[np.uint32]) -> NDArray[np.uint32]:
        """Class numbers of labels on objects, arrays of one shape."""
        own, moving = self._own[object_id], self._moving[object_id]
        plain = np.where(own == LABELS["shrub"], self._on_shrubs[label], self._classes[label])
        return np.where((moving > 0) & (label == own), moving, plain).astype(np.uint32)

    def instances(self, object_id: ArrayLike, placement: ArrayLike) -> NDArray[np.uint32]:
        """The number of each thing, from 1; 0 for stuff and for nothing."""
        first = self._first[np.asarray(object_id, np.int64)]
        return np.where(first > 0, first + np.asarray(placement), 0).astype(np.uint32)


def _class_of(name: str, number: int, scheme: str) -> int:
    """In SemanticKITTI a label of the scene's own is some object; RELLIS-3D and GOOSE have 0 for it."""
    if scheme == "tussock":
        return number
    theirs = load_label_map("semantic-kitti" if scheme == "semantickitti" else scheme)
    if name not in theirs.labels:
        return theirs.classes["other-object"] if scheme == "semantickitti" else 0
    return theirs.classes[theirs.labels[name]]


def _moves(motion: Trajectory) -> bool:
    return bool(np.ptp(motion.positions, axis=0).max() > 1e-6 or np.ptp(motion.quaternions, axis=0).max() > 1e-9)
