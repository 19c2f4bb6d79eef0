"""A plan: worlds × sensors × paths × weather, each for some frames; one TOML file says all of it.

    name = "grassland"
    seed = 7
    frames = 10                        # of every combination, one after the other

    [worlds]
    recipe = "off-road.toml"           # a recipe file; leave it out for the default recipe
    count = 200
    # scenes = ["yard", "my.toml"]     # instead: ready scenes and scene files

    [[sensors]]
    sensor = "vlp-16"                  # of the catalogue or a sensor file; or rig = "rig.toml"
    height_m = 2.0

    [[paths]]
    kind = "drive"                     # along the route of the world; "stand": in the middle of it
    speed_m_s = 2.0

    [[weather]]                        # leave it out: as each world was sampled
    name = "fog80"
    fog_visibility_m = 80              # or rain_mm_h, snow_mm_h

    [output]
    layout = "parquet"                 # parquet, webdataset or kitti
    labels = "goose"                   # tussock, semantickitti, rellis-3d or goose

An item is one combination. Items are numbered, the world slowest, so that item N is known without the others.
"""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Self

from pydantic import Field, model_validator

from tussock.air.weather import Fog, RainRate, SnowRate, Visibility, Weather
from tussock.cameras.camera import Camera
from tussock.datasets.labeller import LABEL_SCHEMES
from tussock.errors import InputError
from tussock.limits import read_bytes
from tussock.reach import refuse_special
from tussock.rigs.rig import load_rig
from tussock.scene_files.scene_file import is_scene_file
from tussock.scenes.ready import scene_names
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.settings import Settings, read_toml
from tussock.version import VERSION
from tussock.worlds.recipe import Recipe, load_recipe

__all__ = ["Item", "Plan", "load_plan"]

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_.-]{0,40}$")]
Height = Annotated[float, Field(ge=0.0, le=1000.0, allow_inf_nan=False)]


class WorldsTable(Settings):
    recipe: Recipe | str | None = None
    """a recipe, or the file that holds it"""
    scenes: list[str] = Field(default_factory=list)
    """ready scenes and scene files instead"""
    count: Annotated[int, Field(ge=1, le=2**32)] = 1
    first: Annotated[int, Field(ge=0, lt=2**32)] = 0
    """number of the first world"""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if self.scenes and (self.recipe is not None or {"count", "first"} & self.model_fields_set):
            raise ValueError("give either scenes or recipe, count and first, not both")
        return self


class SensorTable(Settings):
    name: Name | None = None
    sensor: Sensor | str | None = None
    rig: str | None = None
    settings: dict[str, Any] = Field(default_factory=dict)
    height_m: Height = 2.0
    """above the ground; of the body, where it is a rig"""
    camera: Camera | None = None
    """looks ahead from where the sensor is"""

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if (self.sensor is None) == (self.rig is None):
            raise ValueError("give either sensor or rig")
        if self.rig is not None and (self.settings or self.camera is not None):
            raise ValueError("settings and camera belong into the rig's own file")
        return self

    @property
    def word(self) -> str:
        given = self.sensor.name if isinstance(self.sensor, Sensor) else self.sensor or self.rig or ""
        return self.name or Path(given).stem.lower()


class PathTable(Settings):
    name: Name | None = None
    kind: Literal["drive", "stand"] = "drive"
    speed_m_s: Annotated[float, Field(gt=0.0, le=100.0)] = 2.0

    @property
    def word(self) -> str:
        return self.name or self.kind


class WeatherTable(Settings):
    """What is in the air; nothing given: clear."""

    name: Name
    fog_visibility_m: Visibility | None = None
    rain_mm_h: RainRate = 0.0
    snow_mm_h: SnowRate = 0.0
    """as water"""

    @property
    def weather(self) -> Weather | None:
        """None: clear air"""
        if self.fog_visibility_m is None and not self.rain_mm_h and not self.snow_mm_h:
            return None
        fog = None if self.fog_visibility_m is None else Fog(visibility_m=self.fog_visibility_m)
        return Weather(rain_mm_h=self.rain_mm_h, snow_mm_h=self.snow_mm_h, fog=fog)


class Output(Settings):
    layout: Literal["parquet", "webdataset", "kitti"] = "parquet"
    labels: str = "tussock"
    """whose class numbers: tussock, semantickitti, rellis-3d or goose"""

    @model_validator(mode="after")
    def _known(self) -> Self:
        if self.labels not in LABEL_SCHEMES:
            raise ValueError(f"labels must be one of {', '.join(LABEL_SCHEMES)}")
        return self


class Item(NamedTuple):
    """One combination of a plan."""

    number: int
    world: int
    """number of the world, or of the scene in the list"""
    sensor: int
    path: int
    weather: int
    name: str
    """unique in the plan, fit for a file's name"""


class Plan(Settings):
    """What a data set is made of: worlds × sensors × paths × weather.

    >>> plan = tussock.Plan(sensors=[{"sensor": "vlp-16"}], frames=2)
    """

    name: Name = "dataset"
    seed: Annotated[int, Field(ge=0, lt=2**64)] = 0
    frames: Annotated[int, Field(ge=1, le=1_000_000)] = 1
    start_s: Annotated[float, Field(ge=0.0, allow_inf_nan=False)] = 0.0
    worlds: WorldsTable = WorldsTable()
    sensors: Annotated[list[SensorTable], Field(min_length=1)]
    paths: Annotated[list[PathTable], Field(min_length=1)] = Field(default_factory=lambda: [PathTable()])
    weather: list[WeatherTable] = Field(default_factory=list)
    """empty: as each world was sampled"""
    output: Output = Output()

    @model_validator(mode="after")
    def _sound(self) -> Self:
        for what, tables in (("sensors", self.sensors), ("paths", self.paths)):
            words = [table.word for table in tables]
            twice = next((word for word in words if words.count(word) > 1), None)
            if twice is not None:
                raise ValueError(f"{what} has two of the name {twice!r}; give each a name of its own")
        names = [table.name for table in self.weather]
        if len(set(names)) != len(names):
            raise ValueError("weather has two of one name")
        if self.worlds.first + self.world_count > 2**32:
            raise ValueError("worlds: first + count must be at most 2^32")
        return self

    @property
    def world_count(self) -> int:
        return len(self.worlds.scenes) or self.worlds.count

    def __len__(self) -> int:
        return self.world_count * self._each_world

    @cached_property
    def _each_world(self) -> int:
        return len(self.sensors) * len(self.paths) * max(1, len(self.weather))

    def item(self, index: int) -> Item:
        """Item number ``index``, without the others."""
        if not 0 <= index < len(self):
            raise InputError.of("item", f"must be from 0 to {len(self) - 1}", index)
        world, rest = divmod(index, self._each_world)
        sensor, rest = divmod(rest, len(self.paths) * max(1, len(self.weather)))
        path, weather = divmod(rest, max(1, len(self.weather)))
        number = self.worlds.first + world if not self.worlds.scenes else world
        return Item(index, number, sensor, path, weather, f"w{number:06d}{self._words[index % self._each_world]}")

    @cached_property
    def _words(self) -> list[str]:
        """What names have after the world's number, in the order of its items."""
        air = [f"-{table.name}" for table in self.weather] or [""]
        return [f"-{s.word}-{p.word}{a}" for s in self.sensors for p in self.paths for a in air]

    @cached_property
    def recipe(self) -> Recipe | None:
        """None where the worlds are scenes"""
        if self.worlds.scenes:
            return None
        given = self.worlds.recipe
        return given if isinstance(given, Recipe) else Recipe() if given is None else load_recipe(given)

    @cached_property
    def digest(self) -> str:
        """32 characters over everything that the data set depends on; how fast and where it is made is not in it."""
        about: dict[str, Any] = self.model_dump(mode="json") | {"tussock": VERSION}
        about["rigs"] = [load_rig(table.rig).plain() for table in self.sensors if table.rig is not None]
        about["scenes"] = [
            hashlib.blake2b(read_bytes(Path(one))).hexdigest() for one in self.worlds.scenes if is_scene_file(one)
        ]
        return hashlib.blake2b(json.dumps(about, sort_keys=True).encode(), digest_size=16).hexdigest()


def load_plan(path: Path | str) -> Plan:
    """Read a plan; files it names are relative to it, and recipe, sensors and rigs are checked at once.

    Recipe and sensors are taken into the plan as they are now, so that workers need no files beside it.

    >>> from pathlib import Path
    >>> _ = Path("plan.toml").write_text('[[sensors]]\\nsensor = "vlp-16"\\n')
    >>> tussock.load_plan("plan.toml").frames
    1
    """
    path = Path(path)
    data = read_toml(path)
    data.setdefault("name", path.stem.lower().replace(" ", "-"))
    plan = Plan.parse(data, str(path))
    worlds = plan.worlds
    try:
        if isinstance(worlds.recipe, str):
            worlds = worlds.changed(
                recipe=load_recipe(_plain(path.parent / worlds.recipe)).model_dump(exclude_unset=True)
            )
        scenes = [str(_plain(path.parent / one)) if is_scene_file(one) else one for one in worlds.scenes]
        for scene in scenes:
            if not is_scene_file(scene) and scene not in scene_names():
                raise InputError.of("worlds scenes", "must be ready scenes or scene files (.toml, .usd, .glb)", scene)
        sensors = []
        for table in plan.sensors:
            if table.rig is not None:
                rig = str(_plain(path.parent / table.rig))
                load_rig(rig)
                sensors.append(table.model_copy(update={"rig": rig}))
            else:
                sensors.append(table.model_copy(update={"sensor": _sensor(table, path.parent), "settings": {}}))
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return plan.model_copy(update={"worlds": worlds.model_copy(update={"scenes": scenes}), "sensors": sensors})


def _sensor(table: SensorTable, folder: Path) -> Sensor:
    sensor = table.sensor if isinstance(table.sensor, Sensor) else load_sensor(_beside(table.sensor or "", folder))
    return sensor.with_(**table.settings) if table.settings else sensor


def _beside(name: str, folder: Path) -> str:
    """A file beside the plan, or a name as it is."""
    return str(_plain(folder / name)) if name.lower().endswith(".toml") else name


def _plain(path: Path) -> Path:
    """A file that a plan names, which ends."""
    refuse_special(path)
    return path.resolve()
