"""One table of fields: what is a part of a scene is in its fingerprint, in its files and in a pack."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import MISSING, field, fields, is_dataclass, make_dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pytest
from pydantic import create_model

from tussock.air.clouds import DustCloud, DustTrail, FogBank
from tussock.air.weather import Change, Fog, Shower, Weather
from tussock.pack import load_pack, save_pack
from tussock.poses import Pose, Trajectory
from tussock.scene.fingerprint import fingerprint
from tussock.scene.forms import Forms
from tussock.scene.material import Band, Material
from tussock.scene.mesh import Mesh
from tussock.scene.parts import parts
from tussock.scene.placements import Placements
from tussock.scene.response import VegetationResponse
from tussock.scene.scene import Scene, SceneObject
from tussock.scene.stems import Stem
from tussock.scene.texture import Texture
from tussock.scene.volumes import Volumes, shell_edges
from tussock.scene.wind import Wind
from tussock.scene_files.scene_file import load_scene
from tussock.scene_files.scene_save import save_scene
from tussock.settings import Settings

CORNERS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
FACES = np.array([[0, 1, 2], [0, 1, 3], [0, 2, 3]])


def mesh(name: str, size: float = 1.0) -> Mesh:
    bark = Material(
        name=f"{name} bark", reflectance=0.2, spectrum=(Band(wavelength_nm=1550.0, reflectance=0.5, leaf_transmission=0.4),),
        leaf_transmission=0.05, specular=0.1, shininess=7.0, retro=2.0, mirror=0.1, transmission=0.2,
        refractive_index=1.5, film=0.6, film_gloss=0.5, color=(0.1, 0.2, 0.3), texture=Texture(np.arange(48, dtype=np.uint8).reshape(4, 4, 3)),
        translucency=0.3, variation=0.4, opacity_cutoff=0.3, response=VegetationResponse(mean_m=0.25, sigma_m=0.5), label="trunk",
    )  # fmt: skip
    uv = np.linspace(0, size, 8, dtype=np.float32).reshape(4, 2)
    return Mesh(CORNERS * np.float32(size), FACES, (bark, Material(name=f"{name} leaf")), np.array([0, 1, 0]), uv)


def volumes() -> Volumes:
    n, edges = 3, shell_edges(1.5, "ellipsoids")
    return Volumes(
        np.arange(9, dtype=np.float32).reshape(n, 3), np.tile(np.float32([400, 10, 0, 900, -5, 700]), (n, 1)),
        np.float32([0.1, 0.2, 0.3]), np.arange(n * len(edges), dtype=np.uint16).reshape(n, -1),
        np.uint16([4, 5, 6]), np.uint32([7, 8, 9]), np.float32([0.4, 0.5, 0.6]), 0.75, edges, "ellipsoids", 1.5,
        Material(name="reed", color=(0.3, 0.5, 0.2)), {"voxel_m": 0.2, "of": ["a", {"b": None}], "whole": True},
        (1e6, 2e6, 3.0), np.uint16([11, 12, 13]), np.uint16([14, 15, 16]), gap=0.5,
        labels=np.uint16([0, 71, 4321]), colors=np.uint8([[1, 2, 3, 255], [0, 0, 0, 0], [7, 8, 9, 255]]),
        label_names={"trunk": 71, "mace": 4321},
    )  # fmt: skip


def everything() -> Scene:
    """A scene in which every part of every class has some value of its own."""
    scene = Scene("everything", {"moss": 1234})
    path = Trajectory.through([0.0, 2.0], [Pose.at(0, 0, 0), Pose.at(4, 0.1, 0, yaw=1.1)])
    forms = Forms(np.array([0.0, 0.5]), (mesh("young"), mesh("old", 2.0)))
    places = Placements.of([[1, 2, 3], [4, 5, 6.5]], yaw=[0.1, 0.2], scale=[1.5, 2.0])
    scene.add(
        forms.meshes[0], name="tree", label="moss", tags=["vegetation", "wet"], placements=places, motion=path,
        response=VegetationResponse(mean_m=0.1, sigma_m=0.4), forms=forms,
    )  # fmt: skip
    scene.add_volumes(volumes(), name="reeds", label="shrub", tags=["wet"], position=(7, 8, 9), yaw=0.3)
    scene.weather = weather()
    stem = Stem(frequency_hz=1.5, mass_kg_m=0.2, drag_width_m=0.03, damping=0.2)
    scene.wind = Wind(speed_m_s=4.5, from_deg=33.0, gusts=0.7, seed=5, stems={"tree": stem}, still=("reeds",))
    return scene


def weather() -> Weather:
    cloud = {"start_s": 1.0, "drifts": False, "spread_m2_s": 0.1, "settles_s": 9.0, "grain_um": 5.0}
    trail = {"offset_m": (1.0, 0.0, 0.0), "every_s": 0.5, "puff_m": 0.7, "density_g_m3": 2.0, "lasts_s": 4.0}
    growing = {"spread_m2_s": 0.1, "settles_s": 9.0, "grain_um": 5.0}
    return Weather(
        rain_mm_h=1.0, snow_mm_h=2.0, flake_density_g_cm3=0.2, fog=Fog(visibility_m=80.0), dust_g_m3=0.01, grain_um=5.0,
        dust=(
            DustCloud(puff_m=1.0, position_m=(1, 2, 3), density_g_m3=0.5, **cloud),
            DustCloud(box_m=(1, 2, 3), position_m=(1, 2, 3), density_g_m3=0.5),
        ),
        dust_trails=(
            DustTrail(behind="tree", **trail, **growing),
            DustTrail(times_s=(0, 1), positions_m=((0, 0, 0), (1, 0, 0))),
        ),
        fog_banks=(
            FogBank(puff_m=1.0, position_m=(1, 2, 3), visibility_m=20.0, **cloud),
            FogBank(box_m=(1, 2, 3), position_m=(1, 2, 3), visibility_m=20.0),
        ),
        changes=(Change(time_s=3.0, rain_mm_h=4.0, snow_mm_h=1.0, dust_g_m3=0.1, visibility_m=50.0),),
        showers=(Shower(rain_mm_h=3.0, snow_mm_h=1.0, radius_m=20.0, position_m=(1, 2), velocity_m_s=(0.5, 1)),),
        wind_m_s=(3, 1, 0), wet=0.4,
    )  # fmt: skip


def owners(thing: Any) -> Iterator[Any]:
    """Everything below ``thing`` that has parts, itself included."""
    if isinstance(thing, list | tuple):
        for item in thing:
            yield from owners(item)
    elif is_dataclass(thing) or isinstance(thing, Scene | Settings | Texture):
        yield thing
        for part in parts(thing).values():
            yield from owners(part)


def defaults(kind: type) -> dict[str, Any]:
    if issubclass(kind, Settings):
        return {name: field.default for name, field in kind.model_fields.items()}
    return {} if not is_dataclass(kind) else {one.name: one.default for one in fields(kind)}


def equal(one: Any, two: Any) -> bool:
    return one is two or bool(np.all(one == two))


def other(value: Any) -> Any:
    """Something else of the kind of ``value``; None where its own parts are what can differ."""
    if isinstance(value, np.ndarray):
        changed = value.copy()
        changed.reshape(-1).view(np.uint8)[0] ^= 1
        return changed
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + 1
    if isinstance(value, str):
        return value + "x"
    if isinstance(value, frozenset):
        return value | {"x"}
    if isinstance(value, dict):
        return {**value, "x": 1}
    if isinstance(value, tuple | list):
        return value[:-1] if value else (1,)
    return "x" if value is None else None


CASES = [
    (at, name) for at, owner in enumerate(owners(everything())) for name in parts(owner)
]  # by number, so that every case has a scene of its own


def test_the_scene_tries_every_part() -> None:
    """A new field with a default must get a value in `everything`, so that the tests below see to it."""
    found: dict[type, list[Any]] = {}
    for owner in owners(everything()):
        found.setdefault(type(owner), []).append(owner)
    assert {kind.__name__ for kind in found} == {
        "Scene", "SceneObject", "PlacedVolumes", "Mesh", "Placements", "Forms", "Trajectory", "Volumes", "Material",
        "Band", "Texture", "VegetationResponse", "Weather", "Fog", "DustCloud", "DustTrail", "FogBank", "Change", "Shower", "Wind",
    }  # fmt: skip
    for kind, things in found.items():
        for name, default in defaults(kind).items():
            assert any(default is MISSING or not equal(getattr(one, name), default) for one in things), (kind, name)


def test_files_and_packs_hold_every_part(tmp_path) -> None:
    scene = everything()
    assert fingerprint(scene) == fingerprint(everything())
    save_scene(scene, tmp_path / "all.toml")
    assert fingerprint(load_scene(tmp_path / "all.toml")) == fingerprint(scene)
    save_pack(scene, tmp_path / "all.tussock")
    assert fingerprint(load_pack(tmp_path / "all.tussock").scene) == fingerprint(scene)


def test_who_asks_changes_nothing() -> None:
    """What is computed once and remembered (how see-through a texture is) is no part: it is there only once it was asked for."""
    scene = everything()
    before = fingerprint(scene)
    for owner in list(owners(scene)):
        for kind in type(owner).__mro__:
            for name, member in vars(kind).items():
                if isinstance(member, property | cached_property) and not name.startswith("__"):
                    getattr(owner, name)
        assert repr(owner)
    assert fingerprint(scene) == before


@pytest.mark.parametrize(("at", "name"), CASES, ids=lambda value: str(value))
def test_no_part_can_change_unnoticed(at: int, name: str) -> None:
    scene = everything()
    before = fingerprint(scene)
    owner = list(owners(scene))[at]
    changed = copy.copy(owner)
    changed.__dict__[name] = other(getattr(owner, name))
    replace_all(scene, owner, changed)
    assert fingerprint(scene) != before


def replace_all(thing: Any, old: Any, new: Any) -> None:
    """Put ``new`` wherever ``old`` stands below ``thing``."""
    if thing is old:
        thing.__dict__.update(new.__dict__)
        return
    for name, part in parts(thing).items():
        if part is old:
            thing.__dict__[name] = new
        elif isinstance(part, list | tuple):
            thing.__dict__[name] = type(part)(new if item is old else item for item in part)
            for item in part:
                if item is not old and (is_dataclass(item) or isinstance(item, Settings)):
                    replace_all(item, old, new)
        elif is_dataclass(part) or isinstance(part, Settings):
            replace_all(part, old, new)


@pytest.mark.parametrize(
    "kind", sorted({type(owner) for owner in owners(everything())}, key=lambda kind: kind.__name__)
)
def test_a_new_field_is_noticed_in_every_class(kind: type) -> None:
    one = next(owner for owner in owners(everything()) if type(owner) is kind)
    marks = {fingerprint(one)}
    for value in (1, 2):
        if is_dataclass(kind):
            wider: Any = make_dataclass(
                kind.__name__, [("extra", int, field(default=0))], bases=(kind,), frozen=True, eq=False
            )
        elif issubclass(kind, Settings):
            wider = create_model(kind.__name__, __base__=kind, extra=(int, 0))
        else:
            wider = kind
        new = copy.copy(one) if wider is kind else object.__new__(wider)
        new.__dict__.update({**one.__dict__, "extra": value})
        marks.add(fingerprint(new))
    assert len(marks) == 3


def test_sharing_a_mesh_or_having_an_equal_one_is_the_same() -> None:
    shared, apart = Scene("s"), Scene("s")
    one = mesh("a")
    for scene, second in ((shared, one), (apart, mesh("a"))):
        scene.add(one, name="1")
        scene.add(second, name="2")
    assert fingerprint(shared) == fingerprint(apart)


def test_what_moves_from_one_part_into_the_next_is_noticed() -> None:
    def tagged(name: str, label: str) -> SceneObject:
        return SceneObject(1, name, mesh("a"), Placements.identity(), label)

    assert fingerprint(tagged("ab", "c")) != fingerprint(tagged("a", "bc"))
    assert fingerprint({"a": [1, 2], "b": []}) != fingerprint({"a": [1], "b": [2]})
    assert fingerprint([np.zeros(4, np.float32)]) != fingerprint([np.zeros(2, np.float64)])
    assert fingerprint([2, np.float64(0.5)]) == fingerprint((2.0, 0.5))
    assert fingerprint([True]) != fingerprint([1]) and fingerprint([None]) != fingerprint(["None"])


def test_a_scene_without_wind_has_the_fingerprint_that_it_had_before_there_was_any() -> None:
    scene = Scene("calm")
    scene.add(mesh("a"), name="a")
    assert "wind" not in parts(scene)
    before = fingerprint(scene)
    scene.wind = Wind(speed_m_s=0.0)
    assert fingerprint(scene) != before
