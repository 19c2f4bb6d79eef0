"""A scene made ready for rays: Embree's hierarchies, and the tables that say what a hit means.

What stands is built once. What moves is a second, small Embree scene built for the time span of one frame;
a packet is traced through both. A mesh that is placed once is baked into world coordinates; a mesh placed
many times becomes one instance array over one hierarchy of its own.

Embree computes in float32, whose steps are 0.5 mm at 4 km: scenes away from zero (map coordinates) are shifted by a
whole number of metres, `World.origin`, before they are handed over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.kernels import inline_kernel
from tussock.scene.instances import Instances
from tussock.scene.labels import label_id
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.response import effective_response
from tussock.scene.scene import PlacedVolumes, Scene, SceneObject
from tussock.trace.embree import MAX_TIME_STEPS, Device, GeometryType, RawScene
from tussock.trace.placed_volumes import place_volumes

__all__ = ["SEEN_BY_ALL", "HitTables", "Moving", "World", "material_of"]

SEEN_BY_ALL = 0xFFFFFFFF
DIFFUSE, SPECULAR, SHININESS, RETRO, MIRROR, TRANSMISSION, INDEX = range(7)
_FAR_FROM_ZERO = 100.0
_COMPACT_FROM = 5_000_000
"""triangles in one hierarchy from which Embree's compact form is used: a third less memory, built in half the time"""
_PATH_TOLERANCE = 1e-4  # [m] how far the time steps of a moving object may leave its path


class HitTables(NamedTuple):
    """What kernels look a hit up in. A geometry number is a row of the tables ``geometry_*``."""

    geometry_object: NDArray[np.uint32]
    """object id"""
    geometry_label: NDArray[np.uint16]
    geometry_material: NDArray[np.int32]
    """the one material of the geometry; where it has several, −1 − the start of its row in ``primitives``"""
    geometry_transform: NDArray[np.int64]
    """first row in ``transforms``, −1 where the geometry is in world coordinates already"""
    geometry_steps: NDArray[np.int32]
    """time steps of its transforms, 1 for what stands"""
    geometry_copies: NDArray[np.int32]
    """placements, the rows of one time step"""
    primitives: NDArray[np.uint16]
    """material of every triangle of the geometries that have several"""
    transforms: NDArray[np.float32]
    """column-major 3×4 transforms, shape (n, 12)"""
    optics: NDArray[np.float32]
    """what a material does to light, columns DIFFUSE to INDEX, shape (materials, 7)"""
    material_label: NDArray[np.int32]
    """label of the material, −1: the object's own"""
    shines: bool
    """whether any material has a glint"""
    bends: bool
    """whether any material is a mirror or lets light through"""
    first_volume: int
    """geometries from this number on are volumes"""
    geometry_response: NDArray[np.int64]
    """row of the geometry in ``responses``, to which the number of the material is added; −1: all hard"""
    geometry_bit: NDArray[np.uint32]
    """the one bit of the masks of a geometry that responds, 0 where it has none to itself"""
    responses: NDArray[np.float32]
    """mean and standard deviation of the range error [m], 0 and 0 for a hard surface, shape (rows, 2)"""


@dataclass(frozen=True)
class Moving:
    """What moves, over one span of time; empty where nothing moves."""

    handle: int
    """the Embree scene, 0 for none"""
    tables: HitTables
    _scene: RawScene | None


class World:
    """A `Scene` ready to be traced. It keeps no reference to later changes of the scene."""

    def __init__(self, scene: Scene, *, device: Device | None = None) -> None:
        if not scene.objects and not scene.volumes:
            raise InputError(f"scene {scene.name!r}: is empty; add an object first")
        self.device = device or Device()
        self.name = scene.name
        self.labels = dict(scene.labels)
        self.materials: list[Material] = []
        self.objects = list(scene.objects)
        self.placed_volumes: list[PlacedVolumes] = list(scene.volumes)
        self.triangles = scene.triangles
        self.placements = scene.placement_count
        middle = scene.bounds.mean(0)
        self.origin = np.where(np.abs(middle) > _FAR_FROM_ZERO, np.round(middle), 0.0)
        """[m] world coordinates of the tracer's zero, shape (3,)"""

        self._standing = [thing for thing in self.objects if thing.motion is None]
        self._movers = [thing for thing in self.objects if thing.motion is not None]
        uses: dict[int, int] = {}
        for thing in self.objects:
            uses[id(thing.mesh)] = uses.get(id(thing.mesh), 0) + (len(thing.placements) if thing.motion is None else 2)
        self._shapes: dict[int, RawScene] = {}
        self._material_numbers: dict[int, int] = {}
        self._mesh_materials: dict[int, list[int]] = {}
        self._primitive_starts: dict[int, int] = {}
        primitives: list[NDArray[np.uint16]] = []
        for thing in self.objects:
            for mesh in (thing.mesh,) if thing.forms is None else thing.forms.meshes:
                self._number_materials(mesh, primitives)
        self._primitives = np.concatenate(primitives) if primitives else np.zeros(0, np.uint16)
        for placed in self.placed_volumes:
            if placed.volumes.material not in self.materials:
                self.materials.append(placed.volumes.material)
        self._optics = np.array([_optics(material) for material in self.materials], np.float32)
        self._things: list[SceneObject | PlacedVolumes] = [*self._standing, *self._movers, *self.placed_volumes]
        self._response_starts, self._responses = self._respond()
        self._bits = self._mask_bits()
        self.volumes = place_volumes(self.placed_volumes, len(self.objects), self.origin)

        baked = sum(len(thing.mesh.triangles) for thing in self._standing if uses[id(thing.mesh)] == 1)
        self._scene = self.device.scene(compact=baked >= _COMPACT_FROM)
        blocks: list[NDArray[np.float32]] = []
        self._rows: list[tuple[int, int, int]] = []
        start = 0
        for number, thing in enumerate(self._standing):
            if uses[id(thing.mesh)] == 1:
                self._scene.attach(self._baked(thing), number)
                self._rows.append((-1, 1, 1))
                continue
            transforms = column_major(thing.placements.matrices - _shift(self.origin))[None]
            shape = self._shape(thing.mesh)
            geometry = self.device.geometry(GeometryType.INSTANCE_ARRAY).instances(shape, transforms)
            self._scene.attach(geometry.mask(self._bits.get(thing.id, SEEN_BY_ALL)).commit(), number)
            self._rows.append((start, 1, len(thing.placements)))
            blocks.append(transforms.reshape(-1, 12))
            start += len(thing.placements)
        for thing in self._movers:
            self._shape(thing.mesh)
        self._transforms = np.concatenate(blocks) if blocks else np.zeros((0, 12), np.float32)
        self._scene.commit()
        self._still = Moving(0, self._tables(self._movers, self._rows, self._transforms), None)

    @property
    def handle(self) -> int:
        """The Embree scene of what stands."""
        assert self._scene.handle is not None
        return self._scene.handle

    @cached_property
    def instances(self) -> Instances:
        """Numbers of all copies of all objects."""
        return Instances.among(self.named)

    @property
    def named(self) -> list[SceneObject | PlacedVolumes]:
        """All that has a name and a number."""
        return [*self.objects, *self.placed_volumes]

    @property
    def geometries(self) -> list[SceneObject]:
        """The objects in the order of their geometry numbers: what stands, then what moves."""
        return self._standing + self._movers

    def turned(self, geometry: int) -> bool:
        """Whether the corners of a geometry's triangles are in reverse order: a mirrored copy, baked."""
        baked = geometry < len(self._rows) and self._rows[geometry][0] < 0
        return baked and bool(np.linalg.det(self.geometries[geometry].placements.matrices[0, :, :3]) < 0)

    def moving(self, start: float, end: float) -> Moving:
        """What moves between two times [s]; ray time 0 is ``start`` and 1 is ``end``."""
        if not self._movers:
            return self._still
        scene = self.device.scene()
        rows, blocks = list(self._rows), [self._transforms]
        first = len(self._transforms)
        movers = [_formed(thing, (start + end) / 2) for thing in self._movers]
        for number, thing in enumerate(movers, start=len(self._standing)):
            steps = self._steps(thing, start, end)
            geometry = self.device.geometry(GeometryType.INSTANCE_ARRAY)
            geometry.instances(self._shape(thing.mesh), steps)
            scene.attach(geometry.mask(self._bits.get(thing.id, SEEN_BY_ALL)).commit(), number)
            rows.append((first, len(steps), steps.shape[1]))
            blocks.append(steps.reshape(-1, 12))
            first += len(blocks[-1])
        scene.commit()
        tables = self._tables(movers, rows, np.concatenate(blocks))
        assert scene.handle is not None
        return Moving(scene.handle, tables, scene)

    def alone(self, geometry: int, copy: int, start: float, end: float) -> Moving:
        """One copy of one geometry with nothing around it, between two times [s]; it keeps its geometry number."""
        thing = _formed(self.geometries[geometry], (start + end) / 2)
        scene = self.device.scene()
        if geometry < len(self._rows) and self._rows[geometry][0] < 0:
            scene.attach(self._baked(thing), geometry)
        else:
            if thing.motion is None:
                steps = column_major(thing.placements.matrices[copy] - _shift(self.origin))[None, None]
            else:
                steps = np.ascontiguousarray(self._steps(thing, start, end)[:, copy : copy + 1])
            single = self.device.geometry(GeometryType.INSTANCE_ARRAY).instances(self._shape(thing.mesh), steps)
            scene.attach(single.mask(SEEN_BY_ALL).commit(), geometry)
        scene.commit()
        assert scene.handle is not None
        return Moving(scene.handle, self._still.tables, scene)

    def _steps(self, thing: SceneObject, start: float, end: float) -> NDArray[np.float32]:
        """Transforms at equal time steps, as many as keep the object on its path; (steps, copies, 12)."""
        motion = thing.motion
        assert motion is not None
        rest = thing.placements.matrices
        corners = np.array(list(product(*thing.mesh.bounds.T.astype(float))))
        # Copies may stand far out from the object's own zero: what counts is where their corners are.
        reach = np.abs(corners @ np.swapaxes(rest[:, :, :3], 1, 2) + rest[:, None, :, 3]).max()
        fine = np.linspace(start, end, 8 * (MAX_TIME_STEPS - 1) + 1)
        exact = motion.matrices(fine)
        count = 2
        while count < MAX_TIME_STEPS:
            coarse = motion.matrices(np.linspace(start, end, count))
            place = np.linspace(0, count - 1, len(fine))
            low = np.minimum(place.astype(int), count - 2)
            share = (place - low)[:, None, None]
            error = np.abs(coarse[low] * (1 - share) + coarse[low + 1] * share - exact)
            if (error[:, :, :3].sum(2) * reach + error[:, :, 3]).max() < _PATH_TOLERANCE:
                break
            count = 2 * count - 1
        path = motion.matrices(np.linspace(start, end, count))
        turned = np.einsum("tij,pjk->tpik", path[:, :, :3], rest)
        turned[..., 3] += path[:, None, :, 3]
        return column_major(turned - _shift(self.origin))

    def _baked(self, thing: SceneObject):  # type: ignore[no-untyped-def]
        matrix = thing.placements.matrices[0]
        vertices = thing.mesh.vertices
        if not np.array_equal(matrix - _shift(self.origin), np.eye(4)[:3]):
            shifted = vertices.astype(np.float64) @ matrix[:, :3].T + (matrix[:, 3] - self.origin)
            vertices = shifted.astype(np.float32)
        triangles = thing.mesh.triangles
        if np.linalg.det(matrix[:, :3]) < 0:
            triangles = triangles[:, ::-1]  # a mirrored copy keeps its outside outside
        geometry = self.device.geometry(GeometryType.TRIANGLE).triangles(vertices, triangles)
        return geometry.mask(self._bits.get(thing.id, SEEN_BY_ALL)).commit()

    def _shape(self, mesh: Mesh) -> RawScene:
        """The hierarchy of a shared mesh, built once."""
        if id(mesh) not in self._shapes:
            shape = self.device.scene(compact=len(mesh.triangles) >= _COMPACT_FROM)
            geometry = self.device.geometry(GeometryType.TRIANGLE).triangles(mesh.vertices, mesh.triangles)
            shape.attach(geometry.mask(SEEN_BY_ALL).commit(), 0)
            self._shapes[id(mesh)] = shape.commit()
        return self._shapes[id(mesh)]

    def _number_materials(self, mesh: Mesh, primitives: list[NDArray[np.uint16]]) -> None:
        """Give the mesh's materials their numbers in the scene, and its triangles their rows."""
        if id(mesh) in self._material_numbers:
            return
        numbers = []
        for material in mesh.materials:
            if material not in self.materials:
                self.materials.append(material)
            numbers.append(self.materials.index(material))
        self._mesh_materials[id(mesh)] = numbers
        self._material_numbers[id(mesh)] = numbers[0]
        if mesh.triangle_materials is not None and len(mesh.materials) > 1:
            self._primitive_starts[id(mesh)] = sum(map(len, primitives))
            primitives.append(np.array(numbers, np.uint16)[mesh.triangle_materials])
        elif mesh.triangle_materials is not None:
            self._material_numbers[id(mesh)] = numbers[0]

    def _tables(
        self, movers: list[SceneObject], rows: list[tuple[int, int, int]], transforms: NDArray[np.float32]
    ) -> HitTables:
        """The tables of all that stands, moves and is volumes; ``rows`` may end before what has no transforms."""
        things: list[SceneObject | PlacedVolumes] = [*self._standing, *movers, *self.placed_volumes]
        rows = rows + [(-1, 1, 1)] * (len(things) - len(rows))

        def material(thing: SceneObject | PlacedVolumes) -> int:
            if isinstance(thing, PlacedVolumes):
                return self.materials.index(thing.volumes.material)
            key = id(thing.mesh)
            if key in self._primitive_starts:
                return -1 - self._primitive_starts[key]
            return self._material_numbers[key]

        return HitTables(
            geometry_object=np.array([thing.id for thing in things], np.uint32),
            geometry_label=np.array([label_id(thing.label, self.labels) for thing in things], np.uint16),
            geometry_material=np.array([material(thing) for thing in things], np.int32),
            geometry_transform=np.array([row[0] for row in rows], np.int64),
            geometry_steps=np.array([row[1] for row in rows], np.int32),
            geometry_copies=np.array([row[2] for row in rows], np.int32),
            primitives=self._primitives,
            transforms=np.ascontiguousarray(transforms),
            optics=self._optics,
            material_label=np.array(
                [-1 if m.label is None else label_id(m.label, self.labels) for m in self.materials], np.int32
            ),
            shines=bool(self._optics[:, [SPECULAR, RETRO]].any()),
            bends=bool(self._optics[:, [MIRROR, TRANSMISSION]].any()),
            first_volume=len(self.objects),
            geometry_response=self._response_starts,
            geometry_bit=np.array([self._bits.get(thing.id, 0) for thing in things], np.uint32),
            responses=self._responses,
        )

    def _respond(self) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """`HitTables.geometry_response` and `HitTables.responses`."""
        starts = np.full(len(self._things), -1, np.int64)
        blocks: list[NDArray[np.float32]] = []
        for row, thing in enumerate(self._things):
            if isinstance(thing, PlacedVolumes):
                continue
            rows = np.zeros((len(self.materials), 2), np.float32)
            for number in self._mesh_materials[id(thing.mesh)]:
                material = self.materials[number]
                response = effective_response(material.response, material.label, thing.response, thing.tags)
                if response is not None:
                    rows[number] = response.mean_m, response.sigma_m
            if rows.any():
                starts[row] = len(blocks) * len(self.materials)
                blocks.append(rows)
        return starts, np.concatenate(blocks) if blocks else np.zeros((0, 2), np.float32)

    def _mask_bits(self) -> dict[int, int]:
        """A bit of the ray masks for each object that responds as vegetation, so that rays can look past it.

        There are 32 bits; objects beyond that have none to themselves and are skipped hit by hit.
        """
        responding = [self._things[row].id for row in np.flatnonzero(self._response_starts >= 0)]
        return {number: 1 << bit for bit, number in enumerate(responding[:32])}


def _formed(thing: SceneObject, time: float) -> SceneObject:
    """The object in the shape that it has at ``time`` [s]."""
    return thing if thing.forms is None else replace(thing, mesh=thing.forms.at(time))


def _optics(material: Material) -> tuple[float, ...]:
    """The row of a material in the table of optics."""
    return (
        material.reflectance,
        material.specular,
        material.shininess,
        material.retro,
        material.mirror,
        material.transmission,
        material.refractive_index,
    )


@inline_kernel
def material_of(tables: Any, geometry: Any, primitive: Any) -> Any:
    """Number of the material of a primitive of a geometry."""
    material = tables.geometry_material[geometry]
    if material >= 0:
        return material
    return np.int32(tables.primitives[-1 - np.int64(material) + np.int64(primitive)])


def column_major(matrices: NDArray[np.float64]) -> NDArray[np.float32]:
    """3×4 matrices (…, 3, 4) as Embree reads them: four columns one after the other, (…, 12)."""
    turned = np.swapaxes(matrices, -1, -2).astype(np.float32)
    return np.ascontiguousarray(turned).reshape(*matrices.shape[:-2], 12)


def _shift(origin: NDArray[np.float64]) -> NDArray[np.float64]:
    """The matrix to subtract so that translations count from ``origin``."""
    shift = np.zeros((3, 4))
    shift[:, 3] = origin
    return shift
