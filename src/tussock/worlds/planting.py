"""The plants of a layer: how many, where, and which shape each has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tussock.arrays import FloatArray
from tussock.errors import InputError
from tussock.ground.height_field import HeightField
from tussock.ground.populate import populate
from tussock.ground.zones import Zone
from tussock.scene.placements import Placements
from tussock.worlds.biome import Layer
from tussock.worlds.sampling import Samples
from tussock.worlds.species import AGES, VARIANTS, species_named

__all__ = ["Stand", "plant_layer"]


class Stand(NamedTuple):
    """All plants of one shape."""

    species: str
    age: int
    variant: int
    placements: Placements


class Plot(NamedTuple):
    """The ground that a layer is planted on."""

    ground: HeightField
    side: float
    """[m]"""
    keep_free: Sequence[Zone]
    """where nothing that stands in the way grows"""
    trodden: Sequence[Zone]
    """where not even grass grows"""


def plant_layer(layer: Layer, plot: Plot, density: float, samples: Samples) -> list[Stand]:
    """The stands of a layer; ``density`` is a factor on what the layer says."""
    if layer.cover is not None:
        share = min(1.0, density * samples.between("cover", layer.cover))
        matrices = _tiles(layer, plot, share, samples)
    elif layer.rows_m is not None:
        matrices = _rows(samples.between("rows", layer.rows_m), plot, samples)
    else:
        assert layer.density_ha is not None
        matrices = _scattered(layer, density * samples.between("density", layer.density_ha) / 1e4, plot, samples)
    if len(matrices) == 0:
        return []
    return _by_shape(layer, matrices, samples)


def _by_shape(layer: Layer, matrices: FloatArray, samples: Samples) -> list[Stand]:
    """Each plant gets a species, an age and a variant; in a sward of grass the age is one a species."""
    every = np.arange(len(matrices))
    names = list(layer.species)
    ends = np.cumsum([layer.species[name] for name in names])
    which = np.searchsorted(ends, samples.unit("which species", every) * ends[-1], side="right")
    which = np.minimum(which, len(names) - 1)
    ages = np.array([layer.ages.get(age, 0.0) for age in AGES])
    age_ends = np.cumsum(ages)
    age = np.searchsorted(age_ends, samples.unit("which age", every) * age_ends[-1], side="right")
    variant = np.minimum((samples.unit("which variant", every) * VARIANTS).astype(int), VARIANTS - 1)
    stands = []
    for s, name in enumerate(names):
        own_age = age
        if layer.cover is not None:
            weights = {word: layer.ages.get(word, 0.0) for word in AGES}
            own_age = np.full_like(age, AGES.index(samples.one_of(f"age of {name}", weights)))
        for a in range(len(AGES)):
            for v in range(VARIANTS):
                chosen = (which == s) & (own_age == a) & (variant == v)
                if chosen.any():
                    stands.append(Stand(name, a, v, Placements(matrices[chosen])))
    return stands


def _tiles(layer: Layer, plot: Plot, share: float, samples: Samples) -> FloatArray:
    """Tiles of 1 m on a grid, quarter turns by chance, sheared with the slope under their middle."""
    count = int(plot.side)
    middle = np.arange(count) + 0.5 - count / 2
    x, y = (v.ravel() for v in np.meshgrid(middle, middle, indexing="ij"))
    every = np.arange(len(x))
    patches = _patches(samples, count, layer.patchy).ravel()
    # Rank, not threshold: the share of the ground that is covered is the one asked for.
    rank = np.argsort(np.argsort(samples.unit("tile", every) - patches))
    keep = rank < round(share * len(x))
    for zone in plot.trodden:
        keep &= ~zone.covers(x, y)
    x, y, every = x[keep], y[keep], every[keep]
    quarter = (4 * samples.unit("quarter", every)).astype(int)
    cosine, sine = np.array([1.0, 0.0, -1.0, 0.0])[quarter], np.array([0.0, 1.0, 0.0, -1.0])[quarter]
    along_x, along_y = plot.ground.slope(x, y)
    matrices = np.zeros((len(x), 3, 4))
    matrices[:, 0, 0], matrices[:, 0, 1] = cosine, -sine
    matrices[:, 1, 0], matrices[:, 1, 1] = sine, cosine
    matrices[:, 2, 0] = along_x * cosine + along_y * sine
    matrices[:, 2, 1] = -along_x * sine + along_y * cosine
    matrices[:, 2, 2] = 0.75 + 0.5 * samples.unit("tall", every)
    matrices[:, :, 3] = np.stack([x, y, plot.ground(x, y)], 1)
    return matrices


def _rows(apart: float, plot: Plot, samples: Samples) -> FloatArray:
    """A square grid, each plant a little off its place."""
    at = np.arange(-plot.side / 2 + apart / 2, plot.side / 2 - 1.0, apart)
    x, y = (v.ravel() for v in np.meshgrid(at, at, indexing="ij"))
    every = np.arange(len(x))
    x = x + 0.1 * apart * (samples.unit("off x", every) - 0.5)
    y = y + 0.1 * apart * (samples.unit("off y", every) - 0.5)
    keep = np.ones(len(x), bool)
    for zone in plot.keep_free:
        keep &= ~zone.covers(x, y)
    x, y, every = x[keep], y[keep], every[keep]
    return Placements.of(
        np.stack([x, y, plot.ground(x, y) - 0.05], 1),
        yaw=2 * np.pi * samples.unit("yaw", every), scale=0.85 + 0.3 * samples.unit("size", every),
    ).matrices if len(x) else np.empty((0, 3, 4))  # fmt: skip


def _scattered(layer: Layer, density: float, plot: Plot, samples: Samples) -> FloatArray:
    area = (plot.side - 2) ** 2
    if density * area < 0.5:
        return np.empty((0, 3, 4))
    shares = None
    if layer.patchy > 0:
        shares = _patches(samples, 24, layer.patchy)
        shares = np.clip(0.5 + shares, 0.0, 1.0)
        density = density / max(float(shares.mean()), 0.05)
    woody = any(species_named(name).woody for name in layer.species)
    try:
        return populate(
            plot.ground, (plot.side - 2, plot.side - 2), density=density, density_map=shares, spacing=layer.spacing_m,
            exclude=plot.keep_free, scale=(0.8, 1.2), tilt=0.0 if woody else 0.6, sink=0.1 if woody else 0.0,
            seed=samples.seed_of("places"),
        ).matrices  # fmt: skip
    except InputError:
        # Few plants and little free ground: none of them found room, and that is a world too.
        return np.empty((0, 3, 4))


def _patches(samples: Samples, cells: int, strength: float) -> FloatArray:
    """Smooth groups and gaps: −strength/2 to strength/2 on a grid (cells, cells), coarse noise made smooth."""
    from scipy.ndimage import zoom

    if strength == 0:
        return np.zeros((cells, cells))
    coarse = samples.unit("patches", np.arange(49)).reshape(7, 7)
    smooth = zoom(coarse, cells / 7, order=3, mode="nearest", grid_mode=True)[:cells, :cells]
    smooth = np.pad(smooth, [(0, cells - n) for n in smooth.shape], mode="edge")
    low, high = smooth.min(), smooth.max()
    return np.asarray(2.0 * strength * ((smooth - low) / max(high - low, 1e-9) - 0.5))
