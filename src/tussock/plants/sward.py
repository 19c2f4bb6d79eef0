"""A sward: what grows on a meadow that nobody sowed, in square tiles as those of `tussock.plants.grass`.

Fine and broad grasses of two thirds to the whole height, stalks that stand out above them, herbs (rosettes of leaves near
the ground, some with a flower on a stem), and litter: last year's blades, dry, lying. Each kind is spread over the tile
one to a cell, so that tiles join without a seam. Which species these are is left open; sizes are those of an unmown
meadow in early summer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import FloatArray
from tussock.plants.blades import BladeShape, blades
from tussock.plants.leaves import leaf_shapes
from tussock.scene.mesh import Mesh
from tussock.scene.sizes import between, chance, positive, whole
from tussock.scene.surfaces import SURFACES

__all__ = ["sward_tile"]

_FINE = SURFACES["grass"].changed(name="fine-grass", color=(0.13, 0.26, 0.06))
_HERB = SURFACES["leaf"].changed(name="herb", color=(0.08, 0.22, 0.04), label="grass")
_FLOWER = SURFACES["leaf"].changed(name="flower", color=(0.75, 0.62, 0.12), label="grass", leaf_transmission=0.3)
_MATERIALS = (_FINE, SURFACES["grass"], SURFACES["dry-grass"], _HERB, _FLOWER)
_GREEN, _BROAD, _DRY, _LEAVES, _PETALS = range(5)
_ROSETTE = 8
"""leaves of a herb"""
_PETALS_EACH = 6


def sward_tile(
    *,
    size: float = 1.0,
    blades: int = 420,
    height: float = 0.28,
    herbs: int = 14,
    flowers: float = 0.3,
    litter: float = 0.35,
    seed: int = 0,
) -> Mesh:
    """A square tile of mixed grasses, herbs and litter on z = 0, centred on its origin; roots reach at most 2 cm below.

    ``size`` [m] of its side; ``blades`` of living grass, a third of them broad, one in twenty a stalk; ``height`` [m] of the
    broad ones on average; ``herbs``, how many; ``flowers``, the share of them with a flower; ``litter``, dry lying blades
    for each living one.

    >>> tile = tussock.sward_tile(blades=60, herbs=3)
    >>> sorted(material.name for material in tile.materials)
    ['dry-grass', 'fine-grass', 'flower', 'grass', 'herb']
    """
    positive("sward size", size)
    count = whole("sward blades", blades, 20, 100_000)
    positive("sward height", height)
    rosettes = whole("sward herbs", herbs, 0, 10_000)
    between("sward flowers", flowers, 0.0, 1.0)
    between("sward litter", litter, 0.0, 5.0)
    rng = chance("sward", seed)
    stalks, broad = count // 20, count // 3
    fine, lying = count - stalks - broad, round(litter * count)
    sunk = min(0.02, 0.1 * height)

    def grown(n: int, shape: BladeShape, tall: Any, wide: float, lean: float, bend: float) -> tuple[Any, Any]:
        return _blades(_spread(rng, n, size, -sunk), shape, rng, sunk + np.asarray(tall), wide, lean, bend)

    parts = [
        (grown(fine, BladeShape(3, folded=False), height * rng.uniform(0.4, 1.1, fine), 0.0028, 0.3, 1.1), _GREEN),
        (grown(broad, BladeShape(4), height * rng.uniform(0.6, 1.35, broad), 0.0065, 0.22, 0.95), _BROAD),
        (grown(stalks, BladeShape(2, folded=False, tip=0.8), height * rng.uniform(1.3, 1.9, stalks), 0.003, 0.1, 0.15), _DRY),
    ]  # fmt: skip
    if lying:
        flat = BladeShape(2, folded=False, tip=0.5)
        laid = _spread(rng, lying, size, 0.002)
        parts.append((_blades(laid, flat, rng, rng.uniform(0.006, 0.03, lying), 0.0045, 1.3, 0.1), _DRY))
    if rosettes:
        parts += _herbs(rng, rosettes, round(flowers * rosettes), size, height)
    return _joined(parts)


def _spread(rng: Any, n: int, size: float, z: float) -> FloatArray:
    """Places (n, 3), one in each cell of a grid over the tile, off its middle by chance."""
    side = int(np.ceil(np.sqrt(n)))
    cell = rng.permutation(side * side)[:n]
    x = ((cell % side + rng.uniform(0, 1, n)) / side - 0.5) * size
    y = ((cell // side + rng.uniform(0, 1, n)) / side - 0.5) * size
    return np.stack([x, y, np.full(n, z)], 1)


def _blades(
    roots: FloatArray, shape: BladeShape, rng: Any, heights: Any, width: float, lean: float, bend: float
) -> tuple[FloatArray, NDArray[np.int64]]:
    n = len(roots)
    leans = np.minimum(lean * rng.uniform(0.3, 1.7, n), 1.35) if lean < 1 else rng.uniform(1.15, 1.35, n)
    return blades(
        roots, shape, heights=heights, widths=width * rng.uniform(0.75, 1.25, n), headings=rng.uniform(0, 2 * np.pi, n),
        leans=leans, bends=bend * rng.uniform(0.2, 1.6, n),
    )  # fmt: skip


def _herbs(rng: Any, count: int, flowering: int, size: float, height: float) -> list[tuple[tuple[Any, Any], int]]:
    """Rosettes of leaves, and a flower on a stem above some of them."""
    roots = _spread(rng, count, size, 0.0)
    spread = rng.uniform(0.03, 0.075, count)
    n = count * _ROSETTE
    heading = np.repeat(rng.uniform(0, 2 * np.pi, count), _ROSETTE) + np.tile(np.arange(_ROSETTE) * 2.4, count)
    rise = rng.uniform(0.15, 0.95, n)
    axes = np.stack([np.cos(heading) * np.cos(rise), np.sin(heading) * np.cos(rise), np.sin(rise)], 1)
    bases = np.repeat(roots, _ROSETTE, 0) + 0.01 * axes
    lengths = np.repeat(spread, _ROSETTE) * rng.uniform(0.7, 1.2, n)
    parts = [(leaf_shapes(bases, axes, np.tile([0.0, 0.0, 1.0], (n, 1)), lengths), _LEAVES)]
    if flowering:
        tall = height * rng.uniform(0.5, 1.1, flowering)
        stem = BladeShape(1, folded=False, tip=0.9)
        at = roots[:flowering]
        parts.append((blades(at, stem, heights=tall, widths=0.003, headings=0.0, leans=0.0, bends=0.0), _GREEN))
        turn = np.tile(np.arange(_PETALS_EACH) * 2 * np.pi / _PETALS_EACH, flowering)
        petals = np.stack([np.cos(turn) * 0.94, np.sin(turn) * 0.94, np.full(len(turn), 0.342)], 1)
        tops = np.repeat(at + np.stack([0 * tall, 0 * tall, tall], 1), _PETALS_EACH, 0)
        long = np.full(len(turn), 0.014)
        parts.append((leaf_shapes(tops, petals, np.tile([0.0, 0.0, 1.0], (len(turn), 1)), long), _PETALS))
    return parts


def _joined(parts: list[tuple[tuple[Any, Any], int]]) -> Mesh:
    first, points, corners, owner = 0, [], [], []
    for (vertices, triangles), material in parts:
        points.append(vertices)
        corners.append(triangles + first)
        owner.append(np.full(len(triangles), material, np.uint16))
        first += len(vertices)
    chosen = np.concatenate(owner)
    used, numbers = np.unique(chosen, return_inverse=True)
    return Mesh.of(
        np.concatenate(points), np.concatenate(corners), tuple(_MATERIALS[k] for k in used), numbers.astype(np.uint16)
    )
