"""Scenes as files: readable TOML, with meshes and long lists in files beside it.

    name = "corner"

    [materials.wall]              # a new material, or some fields of one that a mesh brings along
    reflectance = 0.4

    [[objects]]
    name = "house"
    label = "building"
    box = {size_m = [8, 6, 5]}    # or mesh, terrain, ground, plane, card, sphere, cylinder, grow, like, volumes
    material = "wall"
    position_m = [0, 12, 2.5]
    yaw_deg = 30

    [[objects]]
    name = "hedge"
    tags = ["vegetation"]         # a coarse shape: its ranges spread like a plant's, by 1 m unless `response` says it
    response = {mean_m = 0.1, sigma_m = 0.4}
    mesh = "hedge.glb"
    [objects.placements]
    positions_m = [[2, 0, 0], [4, 0, 0]]
    yaw_deg = [0, 90]

    [[objects]]
    name = "oaks"
    volumes = "oak.volumes"       # learned from scans, as large as they were learned
    [objects.placements]
    positions_m = [[9, 0, 0], [14, 2, 0]]

    [[objects]]
    name = "bushes"
    grow = {kind = "shrub", height_m = 1.2}
    [objects.populate]             # over an earlier terrain or ground
    on = "hills"
    density_per_m2 = 0.05
    spacing_m = 2

    [[objects]]
    name = "car"
    label = "car"
    mesh = "car.obj"
    [objects.motion]
    times_s = [0, 10]
    positions_m = [[-40, 4, 0], [40, 4, 0]]

    [weather]                      # what is in the air
    rain_mm_h = 10
    fog = {visibility_m = 80}

    [wind]                         # plants sway in it
    speed_m_s = 6
    from_deg = 240
    gusts = 0.5

Scenes in USD (.usd, .usda, .usdc, .usdz) and glTF (.gltf, .glb) are read too: `tussock.scene_files.exchange`.

Paths are relative to the file and stay in its folder (`tussock.reach` says how others are opened). A key that nobody knows is refused, and so is a material that nothing uses.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from tussock.air.weather import Weather
from tussock.errors import InputError, nearest
from tussock.ground.height_field import HeightField
from tussock.ground.populate import Ground
from tussock.quantities import Triple
from tussock.reach import Reach
from tussock.scene.labels import UNLABELLED
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.response import VEGETATION, VegetationResponse
from tussock.scene.scene import Scene
from tussock.scene.surfaces import SURFACES
from tussock.scene.volumes import Volumes
from tussock.scene.wind import Wind
from tussock.scene_files.exchange.gltf_read import GLTF_SUFFIXES, load_gltf
from tussock.scene_files.exchange.told import warn
from tussock.scene_files.exchange.usd_read import USD_SUFFIXES, load_usd
from tussock.scene_files.ground import PopulateTable, TerrainShape
from tussock.scene_files.mesh_files import MESH_SUFFIXES, load_mesh
from tussock.scene_files.places import FormsTable, MotionTable, PlacementTable, placements_of
from tussock.scene_files.shapes import BoxShape, CardShape, CylinderShape, GroundShape, Grown, PlaneShape, SphereShape
from tussock.scene_files.volume_file import load_volumes
from tussock.settings import Settings, read_toml

__all__ = ["SCENE_SUFFIXES", "ObjectTable", "SceneTable", "is_scene_file", "load_scene"]

_BARE_MESHES = tuple(suffix for suffix in MESH_SUFFIXES if suffix not in GLTF_SUFFIXES)
SCENE_SUFFIXES = (".toml", *USD_SUFFIXES, *GLTF_SUFFIXES, *_BARE_MESHES)
"""of the files that hold a scene"""

_SHAPES = ("mesh", "terrain", "ground", "plane", "card", "box", "sphere", "cylinder", "grow", "like", "volumes")
Grounds = dict[str, tuple[Ground, tuple[float, float], tuple[float, float]]]
"""what can be populated, by the object's name, with its size and its middle [m]"""
_SINGLE = ("position_m", "yaw_deg", "rotation_deg", "scale")
_NOT_FOR_VOLUMES = ("material", "response", "scale", "motion", "forms")
"""what needs a surface, or would change what was learned"""


class ObjectTable(Settings):
    """``[[objects]]``: one shape, its copies, and what it is called."""

    name: str | None = None
    label: str = UNLABELLED
    tags: tuple[str, ...] = ()
    material: str | None = None
    """name of the one material of all its triangles"""

    mesh: Path | None = None
    up_axis: Literal["y", "z"] | None = None
    """which axis of the mesh file is up"""
    terrain: TerrainShape | None = None
    ground: GroundShape | None = None
    plane: PlaneShape | None = None
    card: CardShape | None = None
    box: BoxShape | None = None
    sphere: SphereShape | None = None
    cylinder: CylinderShape | None = None
    grow: Grown | None = None
    like: str | None = None
    """name of an earlier object whose shape this one shares"""
    volumes: Path | None = None
    """a file of volumes learned from scans, see `tussock.scene_files.volume_file`"""

    response: VegetationResponse | None = None
    """range error of pulses that meet it, for a coarse shape that stands for a plant"""

    position_m: Triple | None = None
    yaw_deg: float | None = None
    rotation_deg: Triple | None = None
    scale: float | Triple | None = None
    placements: PlacementTable | None = None
    populate: PopulateTable | None = None
    motion: MotionTable | None = None
    forms: FormsTable | None = None

    @model_validator(mode="after")
    def _one_shape(self) -> ObjectTable:
        given = [key for key in _SHAPES if getattr(self, key) is not None]
        if len(given) != 1:
            raise ValueError(f"needs exactly one of {', '.join(_SHAPES)}, has {' and '.join(given) or 'none'}")
        if self.up_axis is not None and self.mesh is None:
            raise ValueError("up_axis goes with mesh only")
        surplus = [key for key in _NOT_FOR_VOLUMES if self.volumes is not None and getattr(self, key) is not None]
        if surplus:
            raise ValueError(f"{surplus[0]} does not go with volumes: they are used as they were learned")
        single = [key for key in _SINGLE if getattr(self, key) is not None]
        if self.placements is not None and single:
            raise ValueError(f"give either placements or {single[0]}, not both")
        if self.populate is not None and (self.placements is not None or single):
            raise ValueError(f"give either populate or {single[0] if single else 'placements'}, not both")
        return self

    def build_placements(self, reach: Reach, grounds: Grounds) -> Placements:
        if self.populate is not None:
            return self.populate.build(reach, grounds)
        if self.placements is not None:
            return self.placements.build(reach)
        given: dict[str, Any] = {"positions_m": [self.position_m or (0.0, 0.0, 0.0)]}
        for key in ("yaw_deg", "rotation_deg", "scale"):
            value = getattr(self, key)
            if value is not None:
                given[key] = [value]
        return placements_of(given)


class SceneTable(Settings):
    """The whole file."""

    name: str = "scene"
    labels: dict[str, Annotated[int, Field(ge=0, le=65535)]] = Field(default_factory=dict)
    """new class labels, or other numbers for known ones"""
    materials: dict[str, Material] = Field(default_factory=dict)
    objects: list[ObjectTable]
    weather: Weather | None = None
    """what is in the air, see `tussock.air.weather`"""
    wind: Wind | None = None
    """what plants sway in, see `tussock.scene.wind`"""

    @model_validator(mode="after")
    def _named_by_key(self) -> SceneTable:
        for key, material in self.materials.items():
            if "name" in material.model_fields_set and material.name != key:
                raise ValueError(f"materials.{key}.name: the table's own key is the name; leave it out")
        return self


def is_scene_file(name: str) -> bool:
    """Whether this names a file, not a ready scene."""
    return Path(name).suffix.lower() in SCENE_SUFFIXES


def load_scene(path: Path | str, *, reach: Reach | None = None, say: Callable[[str], None] = warn) -> Scene:
    """Read a scene file, and the files that it names as far as they lie within its ``reach``; a mesh file is a scene of
    one object.

    What a USD or glTF file holds and a scene cannot is told to ``say``, a line each; a `SceneWarning` unless told
    otherwise.

    >>> scene = tussock.Scene("yard")
    >>> crate = scene.add(tussock.box((1, 1, 1)), name="crate")
    >>> _ = tussock.save_scene(scene, "yard.toml")
    >>> [thing.name for thing in tussock.load_scene("yard.toml").objects]
    ['crate']
    """
    path = Path(path)
    if path.suffix.lower() in USD_SUFFIXES:
        return load_usd(path, reach=reach, say=say)
    if path.suffix.lower() in GLTF_SUFFIXES:
        return load_gltf(path, reach=reach, say=say)
    if path.suffix.lower() in _BARE_MESHES:
        alone = Scene(path.stem)
        alone.add(load_mesh(path, reach=reach), name=path.stem)
        return alone
    reach = reach or Reach.of(path)
    try:
        table = SceneTable.parse(_with_whole_paths(read_toml(path), reach), str(path))
    except InputError as error:
        raise error.within(path) from None
    if not table.objects:
        raise InputError("objects: the scene is empty; add an object", source=path)
    scene = Scene(table.name, table.labels)
    shapes = _Shapes(reach, table.materials)
    grounds: Grounds = {}
    volumes: dict[Path, Volumes] = {}
    for index, entry in enumerate(table.objects):
        where = f"{path}: objects.{index}" + (f" ({entry.name})" if entry.name else "")
        try:
            if entry.volumes is not None:
                _add_volumes(scene, entry, reach, grounds, volumes)
                continue
            scene.add(
                shapes.of(entry, scene),
                name=entry.name,
                label=entry.label,
                tags=entry.tags,
                placements=entry.build_placements(reach, grounds),
                motion=entry.motion.build(reach) if entry.motion else None,
                forms=entry.forms.build(reach) if entry.forms else None,
                response=entry.response,
            )
            _note_ground(entry, reach, grounds)
        except InputError as error:
            raise error.within(where) from None
        except (MemoryError, ArithmeticError, ValueError) as error:
            # Sizes and counts that single checks let pass, but that no shape can have together.
            why = "out of memory" if isinstance(error, MemoryError) else " ".join(str(error).split())[:120]
            raise InputError(
                f"cannot be built with these numbers ({why}); use smaller ones, or fewer triangles and placements",
                source=where,
            ) from None
    for name in table.materials:
        if name not in shapes.used:
            raise InputError(f"materials.{name}: nothing uses it; {nearest(name, shapes.used)}", source=path)
    scene.weather = table.weather
    scene.wind = table.wind
    return scene


def _add_volumes(scene: Scene, entry: ObjectTable, reach: Reach, grounds: Grounds, loaded: dict[Path, Volumes]) -> None:
    """Add volumes; objects that name one file share what is in it."""
    assert entry.volumes is not None
    file = reach.file(entry.volumes)
    if file not in loaded:
        loaded[file] = load_volumes(file)
    scene.add_volumes(
        loaded[file],
        name=entry.name,
        label=entry.label if "label" in entry.model_fields_set else VEGETATION,
        tags=entry.tags,
        placements=entry.build_placements(reach, grounds),
    )


def _note_ground(entry: ObjectTable, reach: Reach, grounds: Grounds) -> None:
    """Remember the heights of a terrain or a ground, where it stands level: others may stand on it."""
    shape = entry.terrain or entry.ground
    level = not (
        entry.placements or entry.populate or entry.motion or entry.yaw_deg or entry.rotation_deg or entry.scale
    )
    if shape is None or entry.name is None or not level:
        return
    field = shape.field(reach)
    x, y, z = entry.position_m or (0.0, 0.0, 0.0)
    centre = (field.centre[0] + x, field.centre[1] + y)
    grounds[entry.name] = (HeightField(field.size, field.heights + z, centre), field.size, centre)


def _with_whole_paths(table: dict[str, Any], reach: Reach) -> dict[str, Any]:
    """The textures of materials are named relative to the scene file."""
    materials = table.get("materials")
    for name, material in materials.items() if isinstance(materials, dict) else ():
        texture = material.get("texture") if isinstance(material, dict) else None
        if isinstance(texture, str) and not texture.startswith("data:"):
            material["texture"] = str(_reached(texture, name, reach))
    return table


def _reached(texture: str, material: str, reach: Reach) -> Path:
    try:
        return reach.file(texture)
    except InputError as error:
        raise error.within(f"materials.{material}.texture") from None


class _Shapes:
    """Builds each different shape of a file once, in the materials of the file."""

    def __init__(self, reach: Reach, materials: dict[str, Material]) -> None:
        self._reach = reach
        self._materials = materials
        self._built: dict[tuple[str, ...], Mesh] = {}
        self.used: set[str] = set()

    def of(self, entry: ObjectTable, scene: Scene) -> Mesh:
        key = ("paint", self._key(entry), entry.material or "")
        if key not in self._built:
            self._built[key] = self._painted(self._raw(entry, scene), entry.material)
        mesh = self._built[key]
        self.used |= {material.name for material in mesh.materials}
        return mesh

    def _key(self, entry: ObjectTable) -> str:
        return entry.model_dump_json(include={*_SHAPES, "up_axis"}, exclude_unset=True)

    def _raw(self, entry: ObjectTable, scene: Scene) -> Mesh:
        if entry.like is not None:
            return scene[entry.like].mesh
        key = ("raw", self._key(entry))
        if key not in self._built:
            if entry.mesh is not None:
                self._built[key] = load_mesh(self._reach.file(entry.mesh), up_axis=entry.up_axis, reach=self._reach)
            else:
                source = next(s for name in _SHAPES if (s := getattr(entry, name)) is not None)
                self._built[key] = source.build(self._reach)
        return self._built[key]

    def _painted(self, mesh: Mesh, name: str | None) -> Mesh:
        if name is not None:
            if name not in self._materials and name not in SURFACES:
                known = [*self._materials, *SURFACES]
                raise InputError(f"material {name!r}: no such material; {nearest(name, known)}")
            return mesh.painted(self._overridden(SURFACES.get(name, Material(name=name))))
        new = tuple(self._overridden(material) for material in mesh.materials)
        return mesh if new == mesh.materials else _with_materials(mesh, new)

    def _overridden(self, material: Material) -> Material:
        """The material with the fields that the file sets for its name."""
        given = self._materials.get(material.name)
        if given is None:
            return material
        return material.changed(**{key: getattr(given, key) for key in given.model_fields_set})


def _with_materials(mesh: Mesh, materials: tuple[Material, ...]) -> Mesh:
    return replace(mesh, materials=materials)
