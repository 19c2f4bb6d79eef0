"""How worlds differ, in the figures of foresters: canopy cover, stem density, understorey height, slope.

Canopy cover is the share of the ground under crowns of plants above 2 m, on a grid of 0.5 m; a stem is a tree of any
age; the understorey's height is the mean height of everything below 2 m, each plant weighted by the ground it covers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tussock.worlds.site import Site
from tussock.worlds.species import species_named

__all__ = ["Figures", "figures_of"]

_CELL = 0.5
_CANOPY = 2.0
"""[m] from which on a plant is canopy"""


class Figures(NamedTuple):
    canopy_cover: float
    """0 to 1"""
    stems_ha: float
    """trees a hectare"""
    understorey_m: float
    slope_deg: float
    """mean angle of the ground"""


def figures_of(site: Site) -> Figures:
    """What can be counted and measured of a world.

    >>> figures = tussock.figures_of(tussock.build_site(tussock.Recipe(), 0))  # doctest: +SKIP
    """
    side = float(site.choices["side_m"])
    n = round(side / _CELL)
    covered = np.zeros((n, n), bool)
    at = (np.arange(n) + 0.5) * _CELL - side / 2
    stems, weighted, area = 0, 0.0, 0.0
    for stand in site.stands:
        species = species_named(stand.species)
        matrices = stand.placements.matrices
        heights = species.heights_m[stand.age] * np.linalg.norm(matrices[:, :, 2], axis=1)
        if species.kind in ("grass", "reed"):
            radii = np.full(len(heights), np.sqrt(1.0 / np.pi))  # a tile of 1 m²
        else:
            radii = species.crown * species.heights_m[stand.age] * np.linalg.norm(matrices[:, :, 0], axis=1)
        stems += len(heights) if species.woody else 0
        low = heights < _CANOPY
        weighted += float((heights[low] * radii[low] ** 2).sum())
        area += float((radii[low] ** 2).sum())
        for (x, y), radius in zip(matrices[~low, :2, 3], radii[~low], strict=True):
            i, j = (slice(*np.searchsorted(at, (c - radius, c + radius))) for c in (x, y))
            covered[i, j] |= np.hypot(at[i, None] - x, at[None, j] - y) < radius
    along_x, along_y = site.ground.slope(*np.meshgrid(at, at, indexing="ij"))
    return Figures(
        float(covered.mean()), stems / side**2 * 1e4, weighted / area if area else 0.0,
        float(np.rad2deg(np.arctan(np.hypot(along_x, along_y))).mean()),
    )  # fmt: skip
