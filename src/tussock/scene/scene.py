"""What is out there: objects made of shared shapes, standing or moving."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tussock.air.weather import Weather
from tussock.errors import InputError, nearest
from tussock.poses import Pose, Trajectory
from tussock.scene.forms import Forms
from tussock.scene.labels import LABELS, UNLABELLED, label_id, labels_beside
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.response import VegetationResponse
from tussock.scene.volumes import Volumes
from tussock.scene.wind import Wind
from tussock.shown import Shown

__all__ = ["PlacedVolumes", "Scene", "SceneObject"]


@dataclass(frozen=True, eq=False, repr=False)
class SceneObject(Shown):
    """A shape, where its copies stand, and what it is called.

    >>> scene = tussock.Scene("yard")
    >>> scene.add(tussock.box((1, 1, 1)), name="crate", label="building").label
    'building'
    """

    id: int
    """from 1; 0 in a frame means that nothing was hit"""
    name: str
    mesh: Mesh
    placements: Placements
    label: str = UNLABELLED
    tags: frozenset[str] = frozenset()
    motion: Trajectory | None = None
    """``T_world_object`` over time; the placements are then relative to the moving object"""
    response: VegetationResponse | None = None
    """range error of pulses that meet it, see `tussock.scene.response`; None: as its tags and materials say"""
    forms: Forms | None = None
    """where the shape changes with time; ``mesh`` is the first of them"""


@dataclass(frozen=True, eq=False, repr=False)
class PlacedVolumes(Shown):
    """Volumes in a scene, where their copies stand, and what they are called."""

    id: int
    """one numbering with the objects"""
    name: str
    volumes: Volumes
    placements: Placements
    label: str = UNLABELLED
    tags: frozenset[str] = frozenset()


class Scene(Shown):
    """Objects, their labels and their materials. Build it with `add`, then hand it to `tussock.scan`.

    >>> scene = tussock.Scene("yard")
    >>> hedge = scene.add(tussock.box((1, 8, 1.5)), name="hedge", tags=["vegetation"], position=(9, 0, 0.75))
    >>> scene["hedge"].id == hedge.id
    True
    """

    def __init__(self, name: str = "scene", labels: dict[str, int] | None = None) -> None:
        self.name = name
        self.labels: dict[str, int] = {**LABELS, **(labels or {})}
        for label, number in self.labels.items():
            if not 0 <= number <= 65535:
                raise InputError.of(f"label {label!r}", "must be a number from 0 to 65535", number)
        self.objects: list[SceneObject] = []
        self.volumes: list[PlacedVolumes] = []
        self.weather: Weather | None = None
        """what is in the air; None: nothing"""
        self.wind: Wind | None = None
        """what plants sway in; None: still air"""
        self._places: dict[str, int] = {}

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
        response: VegetationResponse | None = None,
        forms: Forms | None = None,
    ) -> SceneObject:
        """Add an object: one copy at ``position`` [m] turned by ``yaw`` [rad], or many by ``placements``."""
        label_id(label, self.labels)
        for material in mesh.materials:
            if material.label is not None:
                label_id(material.label, self.labels)
        placements = _placements(placements, position, yaw, scale)
        number, name = self._numbered(name)
        if forms is not None:
            # What changes is built anew for every frame, like what moves: it moves, if only on the spot.
            mesh, motion = forms.meshes[0], motion or Trajectory.standing(Pose())
        thing = SceneObject(number, name, mesh, placements, label, frozenset(tags), motion, response, forms)
        self.objects.append(thing)
        if not self.volumes:
            self._places[name] = number - 1
        return thing

    def add_volumes(
        self,
        volumes: Volumes,
        *,
        name: str | None = None,
        label: str = "vegetation",
        tags: Iterable[str] = (),
        placements: Placements | None = None,
        position: ArrayLike | None = None,
        yaw: float = 0.0,
    ) -> PlacedVolumes:
        """Add learned volumes: once at ``position`` [m] turned by ``yaw`` [rad], or many times by ``placements``.

        They are as large as they were learned: a placement may turn and shift them, not scale them. Volumes that learned
        labels keep them, ``label`` is that of all others; labels that the scene does not know yet become its own.
        """
        label_id(label, self.labels)
        self.labels |= labels_beside(self.labels, volumes.labels, volumes.label_names)
        placements = _placements(placements, position, yaw, 1.0)
        axes = placements.matrices[:, :, :3]
        off = np.abs(axes @ np.swapaxes(axes, 1, 2) - np.eye(3)).max((1, 2))
        if off.max() > 1e-6 or np.linalg.det(axes).min() < 0:
            bad = int(np.argmax((off > 1e-6) | (np.linalg.det(axes) < 0)))
            raise InputError.of(
                f"placement {bad} of volumes", "must turn and shift only (scale 1, not mirrored)", axes[bad].tolist()
            )
        number, name = self._numbered(name)
        thing = PlacedVolumes(number, name, volumes, placements, label, frozenset(tags))
        self.volumes.append(thing)
        self._places[name] = number - 1
        return thing

    def _numbered(self, name: str | None) -> tuple[int, str]:
        """The next number, and the name given or made of it."""
        number = len(self.objects) + len(self.volumes) + 1
        if name and self._place(name) is not None:
            raise InputError.of("object name", "must be unique in the scene", name)
        made, more = name or f"object{number}", 1
        while self._place(made) is not None:
            more += 1
            made = f"object{number}-{more}"
        return number, made

    def _place(self, name: str) -> int | None:
        """Where the thing of this name is, counted through objects and then volumes; None where there is none."""
        # `objects` and `volumes` are plain lists, so what is known of them may be old.
        place = self._places.get(name) if len(self._places) == len(self.objects) + len(self.volumes) else -1
        if place is not None and (place < 0 or self._at(place).name != name):
            names = [*(thing.name for thing in self.objects), *(thing.name for thing in self.volumes)]
            self._places = {one: k for k, one in enumerate(names)}
            place = self._places.get(name)
        return place

    def _at(self, place: int) -> SceneObject | PlacedVolumes:
        return self.objects[place] if place < len(self.objects) else self.volumes[place - len(self.objects)]

    def __contains__(self, name: object) -> bool:
        """Whether something in the scene has this name."""
        return isinstance(name, str) and self._place(name) is not None

    def with_weather(self, weather: Weather | None) -> Scene:
        """The same scene in other weather."""
        other = copy(self)
        other.objects, other.volumes, other._places = list(self.objects), list(self.volumes), dict(self._places)
        other.weather = weather
        return other

    _pictured = True

    def _facts(self) -> dict[str, object]:
        names = [thing.name for thing in self.everything]
        return {
            "name": self.name,
            "objects": f"{len(names)}: {', '.join(names[:6])}{', …' if len(names) > 6 else ''}" if names else "0",
            "placements": f"{self.placement_count:,}",
            "triangles": f"{self.triangles:,}",
        }

    def __getitem__(self, name: str) -> SceneObject:
        place = self._place(name)
        if place is None:
            place = next((k for k, thing in enumerate(self.objects) if thing.name == name), None)
        if place is None:
            raise InputError(f"object {name!r}: no such object; {nearest(name, [o.name for o in self.objects])}")
        thing = self._at(place)
        if isinstance(thing, PlacedVolumes):
            raise InputError(f"object {name!r}: is a set of volumes; find it in `volumes` of the scene")
        return thing

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
        return sum(len(thing.placements) for thing in self.everything)

    @property
    def everything(self) -> list[SceneObject | PlacedVolumes]:
        """Objects and volumes: all that has a name and a number."""
        return [*self.objects, *self.volumes]

    @property
    def bounds(self) -> NDArray[np.float64]:
        """lowest and highest corner of all that stands [m], shape (2, 3); moving objects as at their start"""
        boxes = self.boxes
        return np.stack([boxes[:, 0].min(0), boxes[:, 1].max(0)])

    @property
    def boxes(self) -> NDArray[np.float64]:
        """lowest and highest corner [m] of each of `everything`, all its copies together, shape (n, 2, 3)"""
        if not self.objects and not self.volumes:
            raise InputError("scene: is empty; add an object first")
        boxes = []
        for thing in self.objects:
            box = _box(thing.mesh.bounds.astype(float), thing.placements)
            if thing.motion is not None:
                start = thing.motion.pose(thing.motion.times[0])
                eight = np.array([[box[i, 0], box[j, 1], box[k, 2]] for i in (0, 1) for j in (0, 1) for k in (0, 1)])
                moved = start.apply(eight)
                box = np.stack([moved.min(0), moved.max(0)])
            boxes.append(box)
        boxes += [_box(thing.volumes.bounds, thing.placements) for thing in self.volumes]
        return np.stack(boxes)


def _placements(placements: Placements | None, position: ArrayLike | None, yaw: float, scale: ArrayLike) -> Placements:
    """The placements given, or the one that position, yaw and scale say."""
    if placements is None:
        place = np.zeros(3) if position is None else np.asarray(position, float)
        if place.shape != (3,):
            raise InputError.of("object position", "must be three numbers [m]", place.tolist())
        return Placements.of(place[None], yaw=yaw, scale=np.atleast_1d(np.asarray(scale, float))[None])
    if position is not None or yaw != 0.0 or np.ndim(scale) > 0 or scale != 1.0:
        raise InputError("object placements: give either placements or position, yaw and scale, not both")
    return placements


def _box(bounds: NDArray[np.float64], placements: Placements) -> NDArray[np.float64]:
    """Lowest and highest corner [m] of all copies of what lies within ``bounds``, both of shape (2, 3)."""
    middle, half = bounds.mean(0), (bounds[1] - bounds[0]) / 2
    turn, shift = placements.matrices[:, :, :3], placements.matrices[:, :, 3]
    centre = turn @ middle + shift
    reach = np.abs(turn) @ half
    return np.stack([(centre - reach).min(0), (centre + reach).max(0)])
