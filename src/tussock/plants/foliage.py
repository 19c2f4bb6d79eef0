"""Foliage: leaves on twigs, of a given number and a given area together."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import FloatArray
from tussock.plants.leaves import LEAF_AREA, leaf_shapes
from tussock.plants.stems import Stems, sprout
from tussock.sampler import Sampler

__all__ = ["foliage", "reach_to_egg"]


def foliage(twigs: Stems, count: int, area: float, rng: Sampler) -> tuple[FloatArray, NDArray[np.int64]]:
    """``count`` leaves of ``area`` [m²] together, along the outer part of the twigs."""
    at = sprout(twigs, count, first=0.15, down=0.9, spread=0.25, rng=rng)
    lengths = rng.uniform(0.7, 1.3, count)
    lengths *= np.sqrt(area / (LEAF_AREA * (lengths**2).sum()))
    # Leaves turn to the light: up, give or take, and their tips hang a little.
    normals = np.array([0.0, 0.0, 1.0]) + 0.55 * rng.standard_normal((count, 3))
    axes = at.directions - np.array([0.0, 0.0, 0.35])
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    return leaf_shapes(at.starts, axes, normals, lengths)


def reach_to_egg(starts: FloatArray, directions: FloatArray, height: float, radius: float, base: float) -> FloatArray:
    """Way (n,) [m] from inside the crown to its egg-shaped surface, along unit ``directions``."""
    lower, upper = 0.85 * base, height
    # The widest part lies below the middle; the ellipsoid is stretched to the crown's height.
    centre = np.array([0.0, 0.0, lower + 0.46 * (upper - lower)])
    stretch = np.array([radius, radius, 0.54 * (upper - lower)])
    o, d = (starts - centre) / stretch, directions / stretch
    a, b, c = (d * d).sum(1), (o * d).sum(1), (o * o).sum(1) - 1
    inside = np.maximum(b * b - a * c, 0.0)
    return np.maximum((-b + np.sqrt(inside)) / a, 0.0)
