"""The ground of a world: hills on a slope, the trail worn in, and water where it stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

from tussock.ground.borders import Border
from tussock.ground.height_field import HeightField
from tussock.ground.relief import Relief
from tussock.ground.terrain import noise_terrain
from tussock.ground.turf import covered
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.surfaces import SURFACES
from tussock.worlds.biome import Biome
from tussock.worlds.route import Route
from tussock.worlds.sampling import Samples

__all__ = ["Wet", "floor_mesh", "ground_of"]

_CELL = 0.25
"""[m] of the ground's grid"""
_SHORE = 1.45
"""cells that the edge of water keeps from the next corner that is not level: more than the diagonal of a cell"""
_WATER = Material(name="water", reflectance=0.02, mirror=0.03, color=(0.03, 0.05, 0.06), label="water")
_TRAIL = SURFACES["gravel"].changed(name="trail", label="trail")


@dataclass(frozen=True, eq=False)
class Wet:
    """Where water stands, as a zone: nothing is planted there."""

    ground: HeightField
    water: NDArray[np.bool_]
    """cells under water, first index along x"""

    def covers(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.bool_]:
        cell = (np.stack([x, y], -1) - self.ground.low) / self.ground.cell
        i, j = (np.clip(cell[..., k].astype(int), 0, self.water.shape[k] - 1) for k in (0, 1))
        return np.asarray(self.water[i, j])


def ground_of(
    chosen: dict[str, Any], biome: Biome, route: Route, samples: Samples
) -> tuple[HeightField, NDArray[np.bool_]]:
    """Hills on a slope, the trail worn in, water level where it stands; and which cells are water."""
    side = float(chosen["side_m"])
    cells = round(side / _CELL)
    hills = noise_terrain(
        (side, side), cells=(cells, cells), height=chosen["relief_m"], wavelength=chosen["wavelength_m"],
        roughness=chosen["roughness"], seed=samples.seed_of("hills"),
    )  # fmt: skip
    at = np.linspace(-side / 2, side / 2, cells + 1)
    x, y = np.meshgrid(at, at, indexing="ij")
    towards = np.deg2rad(chosen["slope_towards_deg"])
    heights = hills.heights + np.tan(np.deg2rad(chosen["slope_deg"])) * (x * np.cos(towards) + y * np.sin(towards))
    if chosen["trail"]:
        away = route.strip(1.0).distance(x, y)
        heights = heights - 0.12 * np.exp(-((away / (0.55 * chosen["trail_width_m"])) ** 2))
    water = np.zeros((cells, cells), bool)
    if biome.shore:
        level = np.quantile(heights, samples.between("shore", (0.12, 0.35)))
        # The route stays dry: the shore is where it is not.
        far = route.strip(1.0).distance(x, y) > chosen["trail_width_m"] + 2.0
        heights = np.where(far, np.maximum(heights, level), np.maximum(heights, level + 0.1))
        low = far & (heights <= level)
        water |= low[:-1, :-1] & low[1:, :-1] & low[:-1, 1:] & low[1:, 1:]
    for puddle in range(chosen["puddles"] if chosen["trail"] else 0):
        middle = route.line[int(samples.unit("puddle at", puddle) * len(route.line))]
        radius = samples.between("puddle radius", (0.5, 1.4), puddle)
        inside = np.hypot(x - middle[0], y - middle[1]) < radius + _SHORE * _CELL
        if inside.sum() < 4:
            continue
        heights = np.where(inside, heights[inside].min(), heights)
        water |= inside[:-1, :-1] & inside[1:, :-1] & inside[:-1, 1:] & inside[1:, 1:]
    return HeightField((side, side), heights), water


def floor_mesh(
    ground: HeightField, water: NDArray[np.bool_], chosen: dict[str, Any], biome: Biome, route: Route, samples: Samples
) -> Mesh:
    """The ground as triangles: the biome's own, trail and water on it."""
    masks: list[Border] = []
    if chosen["trail"]:
        # Nobody trims a trail: its edge is ragged.
        ragged = Relief(height=0.12, wavelength=2.0, seed=samples.seed_of("ragged"))
        strip, half = route.strip(1.0), chosen["trail_width_m"] / 2
        masks.append(Border(lambda x, y: strip.distance(x, y) + ragged(x, y) - half, _TRAIL))
    if water.any():
        masks.append(Border(_shore(ground, water), _WATER))
    return covered(ground.mesh(SURFACES[biome.ground], masks=masks))


def _shore(ground: HeightField, water: NDArray[np.bool_]) -> HeightField:
    """How far from the edge of the water a place is, below 0 in it [cells]: a line across level cells, not along them."""
    level = np.zeros(ground.heights.shape, bool)
    for i in (slice(None, -1), slice(1, None)):
        for j in (slice(None, -1), slice(1, None)):
            level[i, j] |= water
    return HeightField(ground.size, _SHORE - distance_transform_edt(level), ground.centre)
