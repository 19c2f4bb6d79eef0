"""Species: shapes by age, variant and season, from a table of facts.

Every species has a small pool of shapes (three ages, a few variants), made once a process and placed any number of
times. Autumn thins and colours the leaves; a bare tree has lost them all. Evergreens stay as they are.
"""

from __future__ import annotations

import zlib
from enum import StrEnum
from functools import lru_cache
from importlib.resources import files
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from tussock.errors import InputError, nearest
from tussock.plants.conifer import conifer
from tussock.plants.grass import grass_tile
from tussock.plants.leaves import LEAF_TRIANGLES
from tussock.plants.reeds import reeds
from tussock.plants.shrub import shrub
from tussock.plants.tree import tree
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.settings import Settings
from tussock.worlds.sampling import Samples

__all__ = ["AGES", "VARIANTS", "Season", "Species", "shape_of", "species_named", "species_names"]

AGES = ("young", "grown", "old")
VARIANTS = 2
"""shapes of each age"""

Share = Annotated[float, Field(ge=0.0, le=1.0)]
Color = tuple[Share, Share, Share]
_LEFT_IN_AUTUMN = 0.55
"""share of the leaves that still hang"""


class Season(StrEnum):
    SUMMER = "summer"
    AUTUMN = "autumn"
    BARE = "bare"


class Species(Settings):
    kind: Literal["tree", "conifer", "shrub", "grass", "reed"]
    heights_m: tuple[float, float, float]
    """young, grown, old"""
    crown: Annotated[float, Field(gt=0.0, lt=2.0)] = 0.25
    """radius of the crown as a share of the height"""
    base: Annotated[float, Field(ge=0.0, lt=0.8)] = 0.2
    """height of the lowest limb as a share of the height"""
    triangles: Annotated[int, Field(ge=5_000)] = 20_000
    blades: Annotated[int, Field(ge=1)] = 150
    width_m: Annotated[float, Field(gt=0.0)] = 0.006
    stems_m2: Annotated[float, Field(gt=0.0)] = 60.0
    evergreen: bool = False
    leaf: Color | None = None
    bark: Color | None = None
    autumn: Color = (0.40, 0.28, 0.06)

    @property
    def woody(self) -> bool:
        """Whether it has stems that are counted one by one."""
        return self.kind in ("tree", "conifer")


@lru_cache(maxsize=1)
def _table() -> dict[str, Species]:
    import tomllib

    text = (files("tussock.worlds") / "species.toml").read_text(encoding="utf-8")
    return {name: Species.parse(entry, f"species {name}") for name, entry in tomllib.loads(text).items()}


def species_names() -> tuple[str, ...]:
    return tuple(_table())


def species_named(name: str) -> Species:
    if name not in _table():
        raise InputError(f"species {name!r}: no such species; {nearest(name, _table())}")
    return _table()[name]


@lru_cache(maxsize=512)
def shape_of(name: str, age: int, variant: int, season: Season) -> Mesh:
    """The mesh of a species: ``age`` 0 to 2, ``variant`` 0 to `VARIANTS` − 1."""
    species = species_named(name)
    seed = zlib.crc32(f"{name} {age} {variant}".encode()) >> 1
    height = species.heights_m[age]
    if species.kind == "grass":
        dead = {Season.SUMMER: 0.1, Season.AUTUMN: 0.5, Season.BARE: 0.85}[season]
        return grass_tile(blades=species.blades, height=height, width=species.width_m, segments=5, dead=dead, seed=seed)
    if species.kind == "reed":
        return reeds(
            size=(1.0, 1.0), density=species.stems_m2, diameter=0.008, height=height, lean=0.08, variation=0.25,
            sides=3, leaves=3, plumes=0.4, seed=seed,
        )  # fmt: skip
    return _in_season(_painted(_grown(species, height, seed), species), species, season, seed)


def _grown(species: Species, height: float, seed: int) -> Mesh:
    radius = species.crown * height
    if species.kind == "shrub":
        return shrub(height=height, radius=radius, triangles=species.triangles, seed=seed)
    build = tree if species.kind == "tree" else conifer
    return build(
        height=height, crown_radius=radius, crown_base=species.base * height, triangles=species.triangles, seed=seed
    )


def _painted(mesh: Mesh, species: Species) -> Mesh:
    """Leaves and bark in the species' own colours."""
    colors = {"leaf": species.leaf, "needle": species.leaf, "bark": species.bark}
    materials = tuple(
        material if colors.get(material.name) is None else material.changed(color=colors[material.name])
        for material in mesh.materials
    )
    return Mesh(mesh.vertices, mesh.triangles, materials, mesh.triangle_materials)


def _in_season(mesh: Mesh, species: Species, season: Season, seed: int) -> Mesh:
    if species.evergreen or season is Season.SUMMER:
        return mesh
    leaf = next(index for index, material in enumerate(mesh.materials) if material.name == "leaf")
    is_leaf = mesh.material_of_triangles == leaf
    keep = ~is_leaf
    materials: tuple[Material, ...] = mesh.materials
    if season is Season.AUTUMN:
        leaves = int(is_leaf.sum()) // LEAF_TRIANGLES
        hangs = Samples(2, seed & 0xFFFFFFFF).unit("leaf", np.arange(leaves)) < _LEFT_IN_AUTUMN
        keep = keep.copy()
        keep[np.flatnonzero(is_leaf)] = np.repeat(hangs, LEAF_TRIANGLES)
        painted = mesh.materials[leaf].changed(name="autumn-leaf", color=species.autumn)
        materials = (*mesh.materials[:leaf], painted, *mesh.materials[leaf + 1 :])
    used, triangles = np.unique(mesh.triangles[keep], return_inverse=True)
    return Mesh(
        mesh.vertices[used], triangles.reshape(-1, 3).astype(np.uint32), materials, mesh.material_of_triangles[keep]
    )
