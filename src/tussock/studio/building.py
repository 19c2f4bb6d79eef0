"""Changes of a scene, each a new scene that shares all shapes with the old one; and their history.

A thing is one copy of an object: the object's name, and which of its placements. Numbers of objects are renewed with every
change, so that they are those that a saved and loaded scene has: equal scans have equal bytes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from tussock.errors import InputError
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.scene import PlacedVolumes, Scene, SceneObject

__all__ = ["History", "Thing", "copied", "matrix_of", "moved", "parts_of", "placed", "removed", "replaced", "reshaped"]

Change = Callable[[SceneObject | PlacedVolumes], SceneObject | PlacedVolumes | None]


class Thing(NamedTuple):
    """One copy of an object."""

    name: str
    copy: int = 0


class History:
    """Scenes one after the other, with undo and redo.

    >>> history = History(Scene("yard"))
    >>> history.do(Scene("yard with a tree"))
    >>> history.undo().name, history.redo().name
    ('yard', 'yard with a tree')
    """

    MOST = 200

    def __init__(self, first: Scene, *, saved: bool = True) -> None:
        self._scenes = [first]
        self._at = 0
        self._saved: Scene | None = first if saved else None

    @property
    def now(self) -> Scene:
        return self._scenes[self._at]

    @property
    def changed(self) -> bool:
        """Whether there is something that no file has."""
        return self.now is not self._saved

    @property
    def back(self) -> int:
        """How many changes can be undone."""
        return self._at

    @property
    def forth(self) -> int:
        """How many can be done again."""
        return len(self._scenes) - 1 - self._at

    def do(self, scene: Scene) -> None:
        """Go on to another scene; what was undone is forgotten."""
        self._scenes = [*self._scenes[: self._at + 1], scene][-self.MOST :]
        self._at = len(self._scenes) - 1

    def undo(self) -> Scene:
        self._at = max(self._at - 1, 0)
        return self.now

    def redo(self) -> Scene:
        self._at = min(self._at + 1, len(self._scenes) - 1)
        return self.now

    def saved(self) -> None:
        """The scene of now is in a file."""
        self._saved = self.now


def placed(scene: Scene, mesh: Mesh, position: ArrayLike, *, name: str, label: str, tags: tuple[str, ...] = (),
           yaw: float = 0.0) -> tuple[Scene, Thing]:  # fmt: skip
    """Another object with one copy; ``name`` gets a number where it is taken."""
    free = _free(scene, name)
    other = _with(scene, lambda thing: thing)
    other.add(mesh, name=free, label=label, tags=tags, position=position, yaw=yaw)
    return other, Thing(free)


def moved(scene: Scene, thing: Thing, matrix: NDArray[np.float64]) -> Scene:
    """The thing at another place: ``matrix`` (3, 4) maps its shape to the world."""
    old = _found(scene, thing)
    if isinstance(old, SceneObject) and old.motion is not None:
        raise InputError(f"{thing.name}: moves by itself; its path is in the scene's file")
    matrices = old.placements.matrices.copy()
    matrices[thing.copy] = matrix
    return replaced(scene, thing.name, lambda one: replace(one, placements=Placements(matrices)))


def copied(scene: Scene, thing: Thing, by: ArrayLike = (1.0, 1.0, 0.0)) -> tuple[Scene, Thing]:
    """One more copy of the thing, shifted [m]; the shape is shared."""
    old = _found(scene, thing)
    more = old.placements.matrices[thing.copy].copy()
    more[:, 3] += np.asarray(by, float)
    matrices = np.concatenate([old.placements.matrices, more[None]])
    other = replaced(scene, thing.name, lambda one: replace(one, placements=Placements(matrices)))
    return other, Thing(thing.name, len(matrices) - 1)


def removed(scene: Scene, thing: Thing) -> Scene:
    """The scene without the thing."""
    old = _found(scene, thing)
    left = np.delete(old.placements.matrices, thing.copy, 0)
    if len(scene.everything) == 1 and not len(left):
        raise InputError(f"{thing.name}: is the last thing of the scene; place another one first")
    return replaced(
        scene, thing.name, lambda one: replace(one, placements=Placements(left)) if len(left) else None
    )  # fmt: skip


def reshaped(scene: Scene, thing: Thing, mesh: Mesh) -> Scene:
    """The thing's object, all its copies, in another shape."""
    old = _found(scene, thing)
    if not isinstance(old, SceneObject):
        raise InputError(f"{thing.name}: volumes keep the shape that was learned")
    new = replace(old, mesh=mesh, forms=None)
    return replaced(scene, thing.name, lambda _: new)


def matrix_of(position: ArrayLike, wxyz: ArrayLike, old: NDArray[np.float64]) -> NDArray[np.float64]:
    """The placement (3, 4) at a place and turn of a gizmo, in the size that ``old`` has; whole millimetres.

    The turn is rounded to 0.1 degrees. What stands upright keeps its exact zeros.
    """
    w, x, y, z = np.asarray(wxyz, float)
    angles = np.round(Rotation.from_quat([x, y, z, w]).as_euler("xyz", degrees=True, suppress_warnings=True), 1)
    turn = Rotation.from_euler("xyz", angles, degrees=True).as_matrix()
    # Shear and size are those of the old one: only the turn of its nearest rotation is exchanged.
    u, _, v = np.linalg.svd(old[:, :3])
    rest = (u @ v).T @ old[:, :3]
    matrix = np.empty((3, 4))
    matrix[:, :3] = turn @ rest
    matrix[:, :3][np.abs(matrix[:, :3]) < 1e-15] = 0.0
    matrix[:, 3] = np.round(np.asarray(position, float), 3)
    return matrix


def parts_of(matrix: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Place (3,) [m] and turn (w, x, y, z) of a placement, as a gizmo shows it."""
    u, _, v = np.linalg.svd(matrix[:, :3])
    turn = u @ v
    if np.linalg.det(turn) < 0:
        turn = -turn
    return matrix[:, 3].copy(), np.roll(Rotation.from_matrix(turn).as_quat(), 1)


def _found(scene: Scene, thing: Thing) -> SceneObject | PlacedVolumes:
    found = next((one for one in scene.everything if one.name == thing.name), None)
    if found is None or not 0 <= thing.copy < len(found.placements):
        raise InputError(f"{thing.name}, copy {thing.copy}: is not in the scene any more")
    return found


def _free(scene: Scene, name: str) -> str:
    taken, number = {one.name for one in scene.everything}, 1
    free = name
    while free in taken:
        number += 1
        free = f"{name}-{number}"
    return free


def replaced(scene: Scene, name: str, change: Change) -> Scene:
    """The scene with one object changed, or without it where the change gives None."""
    return _with(scene, lambda thing: change(thing) if thing.name == name else thing)


def _with(scene: Scene, change: Change) -> Scene:
    """The scene with every thing changed, those that become None left out, numbered from 1."""
    other = Scene(scene.name, scene.labels)
    other.weather, other.wind = scene.weather, scene.wind
    for thing in sorted(scene.everything, key=lambda thing: thing.id):
        new = change(thing)
        if new is None:
            continue
        new = replace(new, id=len(other.everything) + 1)
        (other.objects if isinstance(new, SceneObject) else other.volumes).append(new)  # type: ignore[arg-type]
    return other
