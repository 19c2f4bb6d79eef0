"""A scene made ready for rays: Embree's hierarchies, and the tables that say what a hit means.

What stands is built once. What moves is a second, small Embree scene built for the time span of one frame;
a packet is traced through both. A mesh that is placed once is baked into world coordinates; a mesh placed
many times becomes one instance array over one hierarchy of its own.

Embree computes in float32, whose steps are 0.5 mm at 4 km: scenes away from zero (map coordinates) are shifted by a
whole number of metres, `World.origin`, before they are handed over.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.transform import Rotation

from tussock.air.kinds import AIR_LABELS
from tussock.air.weather import Weather, WeatherNow
from tussock.arrays import FloatArray
from tussock.errors import InputError, nearest
from tussock.kernels import callback_address
from tussock.scene.instances import Instances
from tussock.scene.labels import label_id
from tussock.scene.mesh import Mesh
from tussock.scene.scene import PlacedVolumes, Scene, SceneObject
from tussock.scene.wet import wetted
from tussock.scene.wind import Wind
from tussock.shown import Shown
from tussock.threads import resolve_threads, run_on_threads
from tussock.trace.cut_outs.filter import Filtered, known_to_filters
from tussock.trace.cut_outs.opacity import CutOuts
from tussock.trace.embree import Device, Geometry, GeometryType, RawScene
from tussock.trace.hit_tables import FILM, GLOSS, LEAF, MIRROR, RETRO, SPECULAR, TRANSMISSION, HitTables
from tussock.trace.material_numbers import MaterialNumbers
from tussock.trace.normals import PlacedCopies
from tussock.trace.placed_volumes import place_volumes
from tussock.trace.rounding.ties import note_what_is_met
from tussock.trace.surroundings import Surroundings
from tussock.trace.transforms import origin_of, shape_middle, shared_vertices, standing_transforms, time_steps
from tussock.trace.triangles import KeptTriangles
from tussock.trace.watertight import needs_to_be_tight
from tussock.trace.wind.in_wind import flutters, in_wind, root_of
from tussock.trace.wind.sway import LAID, Swaying, no_sway
from tussock.trace.wind.sway_geometry import Copies, swaying_geometry
from tussock.trace.wind.tips import fill_tips

__all__ = ["SEEN_BY_ALL", "Moving", "World"]

SEEN_BY_ALL = 0xFFFFFFFF
_COMPACT_FROM = 5_000_000
"""triangles in one hierarchy from which Embree's compact form is used: a third less memory, built in half the time"""
_TIP_STEP = 0.02
"""[s] between the tips of plants that are kept: on parabolas through them a sway of 5 cm at 4 Hz is off by 0.4 mm"""
_MANY = 5000
"""plants that are worth several threads"""
_IN_PLACE = (-1, 1, 1)
"""row of a geometry that is in the tracer's coordinates already"""


@dataclass(frozen=True)
class Moving:
    """What moves, over one span of time; empty where nothing moves."""

    surroundings: Surroundings
    """this and what stands, for kernels; valid for as long as this and the world live"""
    _scene: RawScene | None

    @property
    def tables(self) -> HitTables:
        return self.surroundings.tables


class World(Shown):
    """A `Scene` ready to be traced. It keeps no reference to later changes of the scene.

    >>> scene = tussock.Scene("wall")
    >>> wall = scene.add(tussock.box((1, 9, 9)), name="wall")
    >>> tussock.World(scene).triangles
    12
    """

    def __init__(self, scene: Scene, *, device: Device | None = None) -> None:
        if not isinstance(scene, Scene):
            raise InputError.of(
                "scene", "must be a Scene or a World", scene, "tussock.ready_scene(name) and load_scene(file) give one"
            )
        if not scene.objects and not scene.volumes:
            raise InputError(f"scene {scene.name!r}: is empty; add an object first")
        self.device = device or Device()
        self.name = scene.name
        self.labels = dict(scene.labels)
        self.weather = scene.weather
        """what is in the air"""
        self._dry = list(scene.objects)
        self.objects = wetted(scene.objects, 0.0 if scene.weather is None else scene.weather.wetness)
        self.placed_volumes: list[PlacedVolumes] = list(scene.volumes)
        self.wind = scene.wind
        self.triangles = scene.triangles
        self.placements = scene.placement_count
        self.origin = origin_of(scene)
        """[m] world coordinates of the tracer's zero, shape (3,)"""

        self._standing = [thing for thing in self.objects if thing.motion is None]
        self._movers = [thing for thing in self.objects if thing.motion is not None]
        self._check_trails()
        self._numbers = MaterialNumbers(self.objects, self.placed_volumes, self.labels)
        self.cut_outs = CutOuts(self._numbers.materials)
        """what is cut out of surfaces"""
        self._optics: dict[float, NDArray[np.float32]] = {}
        self.materials = self._numbers.materials
        things: list[SceneObject | PlacedVolumes] = [*self._standing, *self._movers, *self.placed_volumes]
        self._response_starts, self._responses = self._numbers.responses(things)
        self._bits = _mask_bits([things[row].id for row in np.flatnonzero(self._response_starts >= 0)])
        self.volumes = place_volumes(self.placed_volumes, len(self.objects), self.origin)

        self._shapes: dict[int, RawScene] = {}
        self._swaying = {one.number: one.copies for one in in_wind(self.wind, self._standing, self.origin)}
        self._sway = self._swaying_tables()
        self._handed: dict[int, NDArray[np.float32]] = {}
        """transforms of copies as Embree reads them, by geometry"""
        self._upright: dict[int, NDArray[np.float32]] = {}
        """and as they were before any was laid down"""
        self.laid_by: object | None = None
        """who lays plants down at present"""
        self._kept = KeptTriangles(with_neighbours=self.device.edges == "own")
        """of shared shapes by the id of the mesh, of baked ones by minus the object's"""
        self._scene, self._rows, self._transforms = self._stand()
        for thing in self._movers:
            self._shape(thing.mesh)
        still = self._tables(self._movers, self._rows, np.zeros((0, 12), np.float32))
        self._still = self._with(None, self._at(still, 0.0, 0.0))

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process builds the world again: what Embree made stays in this one."""
        scene = (self.name, self.labels, self._dry, self.placed_volumes, self.weather, self.wind)
        return _built_again, (*scene, self.device)

    def _with(self, scene: RawScene | None, tables: HitTables) -> Moving:
        """What moves, beside what stands."""
        handle = 0 if scene is None else scene.handle
        assert handle is not None
        moment = tables.sway.moment.ctypes.data if self._swaying else 0
        return Moving(Surroundings(self.handle, handle, tables, self.volumes, moment), scene)

    def _facts(self) -> dict[str, object]:
        return {"name": self.name, "placements": f"{self.placements:,}", "triangles": f"{self.triangles:,}"}

    def _stand(self) -> tuple[RawScene, list[tuple[int, int, int]], NDArray[np.float32]]:
        """Embree's scene of what stands, with the geometries' rows and the transforms that `HitTables` has of them."""
        uses: Counter[int] = Counter()
        for thing in self.objects:
            uses[id(thing.mesh)] += len(thing.placements) if thing.motion is None else 2
        for number in self._swaying:
            uses[id(self._standing[number].mesh)] += 1  # what bends is no part of what stands
        baked = [thing.mesh for thing in self._standing if uses[id(thing.mesh)] == 1]
        self._tight = any(needs_to_be_tight(mesh) for mesh in baked)
        scene = self.device.scene(
            compact=sum(len(mesh.triangles) for mesh in baked) >= _COMPACT_FROM, robust=self._tight
        )
        rows, blocks, start = [], [np.zeros((0, 12), np.float32)], 0
        for number, thing in enumerate(self._standing):
            if uses[id(thing.mesh)] == 1:
                scene.attach(self._baked(thing), number)
                rows.append(_IN_PLACE)
                continue
            transforms = standing_transforms(thing, self.origin)
            if number in self._swaying:
                scene.attach(self._bending(number), number)
            else:
                self._handed[number] = transforms
                scene.attach(self._copies(thing, transforms), number)
            rows.append((start, 1, len(thing.placements)))
            blocks.append(transforms.reshape(-1, 12))
            start += len(thing.placements)
        return scene.commit(), rows, np.concatenate(blocks)

    def weather_at(self, time: float, place: ArrayLike = (0.0, 0.0, 0.0)) -> WeatherNow | None:
        """What is in the air at a time [s] around a place [m]; None: nothing."""
        if self.weather is None:
            return None
        wind = (0.0, 0.0, 0.0) if self.wind is None else self.wind.velocity()
        now = self.weather.at(time, self._trailed, place=place, wind=wind)
        return None if now.clear else now

    def _trailed(self, name: str) -> Callable[[FloatArray, FloatArray], tuple[FloatArray, NDArray[np.bool_]]]:
        """Where a moving object is at some times; and at which of them that is known."""
        thing = next(thing for thing in self._movers if thing.name == name)
        motion = thing.motion
        assert motion is not None

        def where(times: FloatArray, offset: FloatArray) -> tuple[FloatArray, NDArray[np.bool_]]:
            known = np.ones(len(times), bool)
            if motion.moving:
                known = (times >= motion.times[0]) & (times <= motion.times[-1])
            places = np.zeros((len(times), 3))
            positions, quaternions = motion.at(times[known])
            places[known] = positions + Rotation.from_quat(quaternions).apply(offset) if known.any() else 0.0
            return places, known

        return where

    def _check_trails(self) -> None:
        names = [thing.name for thing in self._movers]
        for trail in () if self.weather is None else self.weather.dust_trails:
            if trail.behind is not None and trail.behind not in names:
                raise InputError(
                    f"weather.dust_trails {trail.behind!r}: nothing of this name moves; {nearest(trail.behind, names)}"
                )

    @property
    def still(self) -> Moving:
        """What stands, alone."""
        return self._still

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

    def baked(self, geometry: int) -> bool:
        """Whether a geometry is in the tracer's coordinates itself, because its shape is placed once and stands."""
        return geometry < len(self._rows) and self._rows[geometry][0] < 0

    def optics_at(self, wavelength_nm: float) -> NDArray[np.float32]:
        """`HitTables.optics` for light of a wavelength [nm]; kept, because sensors ask for theirs in every frame."""
        if wavelength_nm not in self._optics:
            self._optics[wavelength_nm] = self._numbers.optics_at(wavelength_nm)
        return self._optics[wavelength_nm]

    def turned(self, geometry: int) -> bool:
        """Whether the corners of a geometry's triangles are in reverse order: a mirrored copy, baked."""
        return self.baked(geometry) and _is_mirrored(self.geometries[geometry])

    def moving(self, start: float, end: float) -> Moving:
        """What moves between two times [s]; ray time 0 is ``start`` and 1 is ``end``."""
        if not self._movers:
            return self._with(None, self._at(self._still.tables, start, end)) if self._swaying else self._still
        scene = self.device.scene(robust=True)
        rows, blocks, first = list(self._rows), [], 0
        movers = self.formed_movers(start, end)
        for number, thing in enumerate(movers, start=len(self._standing)):
            steps = time_steps(thing, start, end, self.origin)
            scene.attach(self._copies(thing, steps), number)
            rows.append((first, len(steps), steps.shape[1]))
            blocks.append(steps.reshape(-1, 12))
            first += len(blocks[-1])
        return self._with(scene.commit(), self._at(self._tables(movers, rows, np.concatenate(blocks)), start, end))

    def _at(self, tables: HitTables, start: float, end: float) -> HitTables:
        """The tables, with what sways between two times [s]."""
        if not self._swaying:
            return tables
        steps = max(3, 1 + int(np.ceil((end - start) / _TIP_STEP)))
        tips = np.empty((len(tables.sway.plants), steps, 3), np.float32)
        moment = np.array([start, end - start, steps - 1, 0.0])
        moment.view(np.uint64)[3] = tips.ctypes.data
        sway = tables.sway._replace(moment=moment, tips=tips)
        run_on_threads(fill_tips, resolve_threads(None) if len(tips) > _MANY else 1, sway, tips)
        return tables._replace(sway=sway)

    def formed_movers(self, start: float, end: float) -> list[SceneObject]:
        """The objects that move, in the shapes that they have between two times [s]."""
        return [_formed(thing, (start + end) / 2) for thing in self._movers]

    def lay_down(self, object_id: int, copies: NDArray[np.int64], left: NDArray[np.float64]) -> None:
        """Let some copies of a standing object keep the share ``left`` of their height above their root, 1 for all.

        They stay within the boxes that Embree knows, so nothing is built again. A shape that is placed once in still air
        is part of what stands and stays as it is. Not while anybody scans.
        """
        number = next(k for k, thing in enumerate(self._standing) if thing.id == object_id)
        if number in self._swaying:
            self._swaying[number].plants[copies, LAID] = left
        elif number in self._handed:
            whole = self._handed[number][0]
            rest = self._upright.setdefault(number, whole.copy())[copies]
            base = root_of(self._standing[number].mesh)[0] - shape_middle(self._standing[number].mesh)[2]
            rows, share = rest.copy(), left[:, None].astype(np.float32)
            rows[:, 6:9] *= share
            rows[:, 9:] += rest[:, 6:9] * (1 - share) * np.float32(base)
            whole[copies] = rows
            self._transforms[self._rows[number][0] + copies] = rows

    def stand_up(self) -> None:
        """Let all that was laid down stand again."""
        self.laid_by = None
        for number, rows in self._upright.items():
            self._handed[number][0][:] = rows
            self._transforms[self._rows[number][0] :][: len(rows)] = rows
        for copies in self._swaying.values():
            copies.plants[:, LAID] = 1.0

    def copies_in_wind(self, geometry: int) -> Copies | None:
        """How the copies of a geometry sway; None where it stands still."""
        return self._swaying.get(geometry)

    def materials_of(self, thing: SceneObject) -> NDArray[np.int64]:
        """Number of the material of every triangle of an object."""
        return self._numbers.of_triangles(thing)

    @property
    def sways(self) -> bool:
        """Whether the wind moves anything."""
        return bool(self._swaying)

    def mask_of(self, thing: SceneObject) -> int:
        """A ray sees an object if their masks share a bit."""
        return self._bits.get(thing.id, SEEN_BY_ALL)

    def alone(self, geometry: int, copy: int, start: float, end: float) -> Moving:
        """One copy of one geometry with nothing around it, between two times [s]; it keeps its geometry number."""
        thing = _formed(self.geometries[geometry], (start + end) / 2)
        scene = self.device.scene(robust=True)
        tables = self._at(self._still.tables, start, end) if geometry in self._swaying else self._still.tables
        if self.baked(geometry):
            scene.attach(self._baked(thing), geometry)
        elif geometry in self._swaying:
            scene.attach(self._bending(geometry, copy), geometry)
        else:
            if thing.motion is None:
                steps = standing_transforms(thing, self.origin)
            else:
                steps = time_steps(thing, start, end, self.origin)
            scene.attach(self._copies(thing, np.ascontiguousarray(steps[:, copy : copy + 1])), geometry)
        scene.commit()
        assert scene.handle is not None
        # Edges are Embree's word: a copy that is alone has another number than where its triangles stand.
        tables = tables._replace(neighbours=tables.neighbours[:0])
        # What would be "standing" is the one thing itself: nothing else is there to be met.
        return Moving(self._with(None, tables).surroundings._replace(standing=scene.handle), scene)

    def baked_mesh(self, thing: SceneObject) -> tuple[NDArray[np.float32], NDArray[np.uint32]]:
        """Vertices and triangles of a shape that is placed once, in the tracer's coordinates."""
        matrix = thing.placements.matrices[0].copy()
        matrix[:, 3] -= self.origin
        vertices = thing.mesh.vertices
        if not np.array_equal(matrix, np.eye(4)[:3]):
            vertices = vertices.astype(np.float64) @ matrix[:, :3].T + matrix[:, 3]
        vertices = vertices.astype(np.float32, copy=False)
        triangles = thing.mesh.triangles
        if np.linalg.det(matrix[:, :3]) < 0:
            triangles = triangles[:, ::-1]  # a mirrored copy keeps its outside outside
        return vertices, triangles

    def _baked(self, thing: SceneObject) -> Geometry:
        self._kept.keep(-thing.id, *self.baked_mesh(thing), tight=self._tight)
        geometry = self.device.geometry(GeometryType.TRIANGLE).triangles(*self.baked_mesh(thing))
        geometry.asking(self.cut_outs.of(thing.mesh) or self.device.edges == "own")
        return geometry.mask(self.mask_of(thing)).commit()

    def _copies(self, thing: SceneObject, transforms: NDArray[np.float32]) -> Geometry:
        """Copies of a shared shape, at ``transforms`` (steps, copies, 12)."""
        geometry = self.device.geometry(GeometryType.INSTANCE_ARRAY).instances(self._shape(thing.mesh), transforms)
        return geometry.mask(self.mask_of(thing)).commit()

    def _bending(self, number: int, only: int | None = None) -> Geometry:
        """Copies of a shared shape that the wind bends: all, or one."""
        thing, shape = self._standing[number], self._shape(self._standing[number].mesh)
        first, count = (0, None) if only is None else (only, 1)
        geometry = swaying_geometry(
            self.device, shape, self._swaying[number], int(self._sway.first[number]), first, count
        )
        return geometry.mask(self.mask_of(thing)).commit()

    def _swaying_tables(self) -> Swaying:
        """What sways, for kernels, at time 0."""
        things = len(self.objects) + len(self.placed_volumes)
        still = no_sway(things, len(self.materials))
        if not self._swaying:
            return still
        shapes, start = np.zeros((things, len(next(iter(self._swaying.values())).shape))), 0
        for number, copies in self._swaying.items():
            still.first[number], shapes[number] = start, copies.shape
            start += len(copies.plants)
        every = list(self._swaying.values())
        plants = np.concatenate([copies.plants for copies in every])
        for number, copies in self._swaying.items():  # Embree's callbacks read the same rows
            first = still.first[number]
            self._swaying[number] = copies._replace(plants=plants[first : first + len(copies.plants)])
        leaves = np.array([flutters(material) for material in self.materials], np.uint8)
        return still._replace(shapes=shapes, plants=plants, waves=every[0].waves, leaves=leaves)

    def _shape(self, mesh: Mesh) -> RawScene:
        """The hierarchy of a shared mesh, built once."""
        if id(mesh) not in self._shapes:
            tight = needs_to_be_tight(mesh)
            shape = self.device.scene(compact=len(mesh.triangles) >= _COMPACT_FROM, robust=tight)
            vertices = shared_vertices(mesh)
            self._kept.keep(id(mesh), vertices, mesh.triangles, tight=tight)
            geometry = self.device.geometry(GeometryType.TRIANGLE).triangles(vertices, mesh.triangles)
            geometry.asking(self.cut_outs.of(mesh) or self.device.edges == "own")
            shape.attach(geometry.mask(SEEN_BY_ALL).commit(), 0)
            self._shapes[id(mesh)] = shape.commit()
        return self._shapes[id(mesh)]

    def _tables(
        self, movers: list[SceneObject], rows: list[tuple[int, int, int]], moving: NDArray[np.float32]
    ) -> HitTables:
        """The tables of all that stands, moves and is volumes; ``rows`` may end before what has no transforms."""
        things: list[SceneObject | PlacedVolumes] = [*self._standing, *movers, *self.placed_volumes]
        rows = rows + [_IN_PLACE] * (len(things) - len(rows))
        keys = [_keys(thing) for thing in things]
        optics, triangles = self._numbers.optics, self._kept.of(keys)
        placed = PlacedCopies(
            np.array([row[0] for row in rows], np.int64),
            np.array([row[1] for row in rows], np.int32),
            np.array([row[2] for row in rows], np.int32),
            self._transforms,
            moving,
        )
        materials = np.array([self._numbers.of(thing) for thing in things], np.int32)
        uv = np.zeros(len(things), np.uint64)
        for row, thing in enumerate(things):
            if isinstance(thing, SceneObject):
                uv[row] = self.cut_outs.corners(thing.mesh, rows[row] == _IN_PLACE and _is_mirrored(thing))
        return HitTables(
            geometry_object=np.array([thing.id for thing in things], np.uint32),
            geometry_label=np.array([label_id(thing.label, self.labels) for thing in things], np.uint16),
            geometry_material=materials,
            placed=placed,
            triangles=triangles,
            neighbours=self._kept.neighbours_of(keys),
            primitives=self._numbers.primitives,
            optics=optics,
            material_label=np.array(
                [-1 if m.label is None else label_id(m.label, self.labels) for m in self.materials], np.int32
            ),
            shines=bool(optics[:, [SPECULAR, RETRO, FILM]].any()),
            bends=bool(optics[:, [MIRROR, TRANSMISSION, GLOSS]].any()),
            leaves=bool(optics[:, LEAF].any()),
            first_volume=len(self.objects),
            geometry_response=self._response_starts,
            geometry_bit=np.array([self._bits.get(thing.id, 0) for thing in things], np.uint32),
            responses=self._responses,
            air_label=np.array([label_id(name, self.labels) for name in AIR_LABELS], np.uint16),
            sway=self._sway,
            uv=uv,
            known=known_to_filters(
                Filtered(
                    triangles, placed, self._sway.first, uv, materials, self._numbers.primitives, self.cut_outs.rows
                ),
                callback_address(note_what_is_met) if self.device.edges == "own" else 0,
            ),
        )


def _built_again(
    name: str, labels: dict[str, int], objects: list[SceneObject], volumes: list[PlacedVolumes],
    weather: Weather | None, wind: Wind | None, device: Device,
) -> World:  # fmt: skip
    scene = Scene(name, labels=labels)
    scene.objects, scene.volumes, scene.weather, scene.wind = objects, volumes, weather, wind
    return World(scene, device=device)


def _keys(thing: SceneObject | PlacedVolumes) -> tuple[int, ...]:
    """What the triangles of a thing may be kept as: baked, or shared; volumes have none."""
    return (-thing.id, id(thing.mesh)) if isinstance(thing, SceneObject) else ()


def _is_mirrored(thing: SceneObject) -> bool:
    """Whether the first copy of an object is a mirrored one."""
    return bool(np.linalg.det(thing.placements.matrices[0, :, :3]) < 0)


def _mask_bits(responding: list[int]) -> dict[int, int]:
    """A bit of the ray masks for each object that responds as vegetation, so that rays can look past it.

    There are 32 bits; objects beyond that have none to themselves and are skipped hit by hit.
    """
    return {number: 1 << bit for bit, number in enumerate(responding[:32])}


def _formed(thing: SceneObject, time: float) -> SceneObject:
    """The object in the shape that it has at ``time`` [s]."""
    return thing if thing.forms is None else replace(thing, mesh=thing.forms.at(time))
