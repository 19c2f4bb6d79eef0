"""What is out there: objects made of shared shapes, standing or moving."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tussock.errors import InputError, nearest
from tussock.poses import Pose, Trajectory
from tussock.scene.forms import Forms
from tussock.scene.labels import LABELS, UNLABELLED, label_id
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements

__all__ = ["Scene", "SceneObject"]


@dataclass(frozen=True, eq=False)
class SceneObject:
    """A shape, where its copies stand, and what it is called."""

    id: int
    """from 1; 0 in a frame means that nothing was hit"""
    name: str
    mesh: Mesh
    placements: Placements
    label: str = UNLABELLED
    tags: frozenset[str] = frozenset()
    motion: Trajectory | None = None
    """``T_world_object`` over time; the placements are then relative to the moving object"""
    forms: Forms | None = None
    """where the shape changes with time; ``mesh`` is the first of them"""


class Scene:
    """Objects, their labels and their materials. Build it with `add`, then hand it to `tussock.scan`."""

    def __init__(self, name: str = "scene", labels: dict[str, int] | None = None) -> None:
        self.name = name
        self.labels: dict[str, int] = {**LABELS, **(labels or {})}
        for label, number in self.labels.items():
            if not 0 <= number <= 65535:
                raise InputError.of(f"label {label!r}", "must be a number from 0 to 65535", number)
        self.objects: list[SceneObject] = []

    def add(
        self,
        mesh: Mesh,
        *,
        name: str | None = None,
        label: str = UNLABELLED,
        tags: Iterable[str] = (),
        placements: Placements | None = None,
        position: ArrayLike | None = None,
        yaw: float = 0.0,
        scale: ArrayLike = 1.0,
        motion: Trajectory | None = None,
        forms: Forms | None = None,
    ) -> SceneObject:
        """Add an object: one copy at ``position`` [m] turned by ``yaw`` [rad], or many by ``placements``."""
        label_id(label, self.labels)
        for material in mesh.materials:
            if material.label is not None:
                label_id(material.label, self.labels)
        if placements is None:
            place = np.zeros(3) if position is None else np.asarray(position, float)
            if place.shape != (3,):
                raise InputError.of("object position", "must be three numbers [m]", place.tolist())
            placements = Placements.of(place[None], yaw=yaw, scale=np.atleast_1d(np.asarray(scale, float))[None])
        elif position is not None or yaw != 0.0 or np.ndim(scale) > 0 or scale != 1.0:
            raise InputError("object placements: give either placements or position, yaw and scale, not both")
        if name is not None and any(known.name == name for known in self.objects):
            raise InputError.of("object name", "must be unique in the scene", name)
        number = len(self.objects) + 1
        if forms is not None:
            # What changes is built anew for every frame, like what moves: it moves, if only on the spot.
            mesh, motion = forms.meshes[0], motion or Trajectory.standing(Pose())
        thing = SceneObject(
            number, name or f"object{number}", mesh, placements, label, frozenset(tags), motion, forms
        )
        self.objects.append(thing)
        return thing

    def __getitem__(self, name: str) -> SceneObject:
        for thing in self.objects:
            if thing.name == name:
                return thing
        raise InputError(f"object {name!r}: no such object; {nearest(name, [o.name for o in self.objects])}")

    def replace_material(self, name: str, material: Material) -> None:
        """Give every surface of the material called ``name`` another one."""
        if name not in self.materials:
            raise InputError(f"material {name!r}: no such material; {nearest(name, self.materials)}")
        changed: dict[int, Mesh] = {}

        def repainted(mesh: Mesh) -> Mesh:
            if id(mesh) not in changed:
                new = tuple(material if m.name == name else m for m in mesh.materials)
                changed[id(mesh)] = mesh if new == mesh.materials else replace(mesh, materials=new)
            return changed[id(mesh)]

        for index, thing in enumerate(self.objects):
            forms = thing.forms and Forms(thing.forms.times, tuple(repainted(m) for m in thing.forms.meshes))
            self.objects[index] = replace(thing, mesh=repainted(thing.mesh), forms=forms)

    @property
    def materials(self) -> dict[str, Material]:
        """Every material in the scene by name."""
        return {m.name: m for thing in self.objects for m in thing.mesh.materials}

    @property
    def triangles(self) -> int:
        """Triangles as the sensor sees them: each placement counts."""
        return sum(len(thing.mesh.triangles) * len(thing.placements) for thing in self.objects)

    @property
    def placement_count(self) -> int:
        return sum(len(thing.placements) for thing in self.objects)

    @property
    def bounds(self) -> NDArray[np.float64]:
        """lowest and highest corner of all that stands [m], shape (2, 3); moving objects as at their start"""
        if not self.objects:
            raise InputError("scene: is empty; add an object first")
        corners = []
        for thing in self.objects:
            low, high = thing.mesh.bounds.astype(float)
            middle, half = (low + high) / 2, (high - low) / 2
            turn, shift = thing.placements.matrices[:, :, :3], thing.placements.matrices[:, :, 3]
            centre = turn @ middle + shift
            reach = np.abs(turn) @ half
            box = np.stack([(centre - reach).min(0), (centre + reach).max(0)])
            if thing.motion is not None:
                start = thing.motion.pose(thing.motion.times[0])
                eight = np.array([[box[i, 0], box[j, 1], box[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
                moved = start.apply(eight)
                box = np.stack([moved.min(0), moved.max(0)])
            corners.append(box)
        stacked = np.stack(corners)
        return np.stack([stacked[:, 0].min(0), stacked[:, 1].max(0)])
