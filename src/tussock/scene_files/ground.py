"""``[objects.terrain]`` and ``[objects.populate]`` of a scene file: hills, and what stands on them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field, model_validator

from tussock.errors import InputError, nearest
from tussock.ground.height_field import HeightField, Mask, Steep
from tussock.ground.populate import Ground, populate
from tussock.ground.terrain import brightness_image, geotiff_terrain, image_terrain, mask_image, noise_terrain
from tussock.ground.turf import covered
from tussock.ground.zones import Circle, Polygon, Strip
from tussock.quantities import Pair
from tussock.reach import Reach
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.surfaces import SURFACES
from tussock.scene_files.shapes import check_made
from tussock.settings import Settings

__all__ = ["NoiseTable", "PopulateTable", "TerrainShape", "ZoneTable"]


class NoiseTable(Settings):
    """``noise = {height_m = 4, wavelength_m = 60}``."""

    height_m: float = 1.0
    wavelength_m: float = 50.0
    octaves: int = 6
    roughness: float = 0.5
    seed: int = 0


class SlopeTable(Settings):
    """``slopes = [{above_deg = 30, material = "rock"}]``."""

    above_deg: Annotated[float, Field(ge=0, lt=90)]
    material: str


class MaskTable(Settings):
    """``masks = [{image = "path.png", material = "gravel"}]``: of this material where the image is bright."""

    image: Path
    material: str


class TerrainShape(Settings):
    """Hills from ``noise``, a 16-bit ``image`` or a ``geotiff``; its materials by slope and by mask."""

    size_m: Pair | None = None
    cells: tuple[int, int] | None = None
    noise: NoiseTable | None = None
    image: Path | None = None
    height_range_m: Pair | None = None
    geotiff: Path | None = None
    keep_place: bool = False
    """a GeoTIFF stays at its map coordinates instead of coming to zero"""
    material: str = "soil"
    slopes: list[SlopeTable] = Field(default_factory=list)
    masks: list[MaskTable] = Field(default_factory=list)
    covered: bool = False
    """soil shows turf, litter fallen leaves, gravel pebbles; to a LIDAR they are what they were"""

    @model_validator(mode="after")
    def _one_source(self) -> TerrainShape:
        given = [key for key in ("noise", "image", "geotiff") if getattr(self, key) is not None]
        if len(given) != 1:
            raise ValueError(f"needs exactly one of noise, image, geotiff, has {' and '.join(given) or 'none'}")
        if (self.size_m is None) != (self.geotiff is not None):
            raise ValueError("size_m goes with noise and image; a geotiff has its own size")
        if (self.height_range_m is None) != (self.image is None):
            raise ValueError("height_range_m goes with image, and only with it")
        if self.cells is not None and self.noise is None:
            raise ValueError("cells goes with noise only; pixels are the cells of an image")
        return self

    def field(self, reach: Reach) -> HeightField:
        if self.noise is not None and self.size_m is not None:
            n = self.noise
            nx, ny = self.cells or self.size_m
            check_made("triangles", 2.0 * nx * ny)
            return noise_terrain(
                self.size_m,
                cells=self.cells,
                height=n.height_m,
                wavelength=n.wavelength_m,
                octaves=n.octaves,
                roughness=n.roughness,
                seed=n.seed,
            )
        if self.image is not None and self.size_m is not None and self.height_range_m is not None:
            return image_terrain(reach.file(self.image), self.size_m, self.height_range_m)
        assert self.geotiff is not None
        return geotiff_terrain(reach.file(self.geotiff), keep_place=self.keep_place)

    def build(self, reach: Reach) -> Mesh:
        mesh = self.field(reach).mesh(
            _surface(self.material),
            steep=[Steep(math.radians(rule.above_deg), _surface(rule.material)) for rule in self.slopes],
            masks=[Mask(mask_image(reach.file(mask.image)), _surface(mask.material)) for mask in self.masks],
        )
        return covered(mesh) if self.covered else mesh


def _surface(name: str) -> Material:
    """A known surface, or one that ``[materials.NAME]`` of the file says."""
    return SURFACES.get(name, Material(name=name))


class ZoneTable(Settings):
    """``{centre_m, radius_m}``, ``{corners_m}`` or ``{line_m, width_m}``: see `tussock.ground.zones`."""

    centre_m: Pair | None = None
    radius_m: float | None = None
    corners_m: list[Pair] | None = None
    line_m: list[Pair] | None = None
    width_m: float | None = None

    @model_validator(mode="after")
    def _one_kind(self) -> ZoneTable:
        self.zone()
        return self

    def zone(self) -> Circle | Polygon | Strip:
        given = {key: getattr(self, key) for key in self.model_fields_set}
        kinds = {frozenset(kind.model_fields): kind for kind in (Circle, Polygon, Strip)}
        if frozenset(given) not in kinds:
            raise ValueError("a zone has centre_m and radius_m, or corners_m, or line_m and width_m")
        return kinds[frozenset(given)].model_validate(given)


class PopulateTable(Settings):
    """``[objects.populate]``: copies over an earlier object, see `tussock.ground.populate`."""

    on: str
    """name of an earlier object that is a terrain or a ground"""
    density_per_m2: float
    size_m: Pair | None = None
    """the whole ground unless given"""
    centre_m: Pair | None = None
    density_map: Path | None = None
    """image: white has the whole density, black none"""
    spacing_m: float = 0.0
    slope_deg: Pair = (0.0, 90.0)
    exclude: list[ZoneTable] = Field(default_factory=list)
    only: list[ZoneTable] = Field(default_factory=list)
    scale: Pair = (1.0, 1.0)
    turn: bool = True
    tilt: float = 0.0
    sink_m: float = 0.0
    seed: int = 0

    def build(self, reach: Reach, grounds: dict[str, tuple[Ground, Pair, Pair]]) -> Placements:
        """``grounds``: by name, each with its size and its middle [m]."""
        if self.on not in grounds:
            raise InputError(
                f"populate.on {self.on!r}: no earlier terrain or ground of that name; {nearest(self.on, grounds)}"
            )
        ground, size, centre = grounds[self.on]
        wide, deep = self.size_m or size
        check_made("copies", self.density_per_m2 * wide * deep)
        options: dict[str, Any] = {}
        if self.density_map is not None:
            options["density_map"] = brightness_image(reach.file(self.density_map))
        low, high = np.deg2rad(self.slope_deg)
        return populate(
            ground,
            self.size_m or size,
            density=self.density_per_m2,
            centre=self.centre_m or centre,
            spacing=self.spacing_m,
            slope=(float(low), float(high)),
            exclude=[zone.zone() for zone in self.exclude],
            only=[zone.zone() for zone in self.only],
            scale=self.scale,
            turn=self.turn,
            tilt=self.tilt,
            sink=self.sink_m,
            seed=self.seed,
            **options,
        )
