"""What learned volumes look like, in tables for kernels.

The colour of a volume is the one that it learned; else that of its label; else that of its material, if that has one; else
that of the label of the whole. Colours that are not its own are lighter and darker by the volume's intensity.

Where the returns of a volume lie in a plane, as those of ground and walls, its *flatness* is 1 and it is shaded as a surface
with the normal of that plane; where they fill it, as those of leaves, it is 0 and it is shaded as leaves that face all
directions alike (`tussock.cameras.shading.veil`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.scene.scene import PlacedVolumes
from tussock.scene.volumes import Volumes
from tussock.trace.placed_volumes import volume_models
from tussock.trace.volume_cells import grid_order
from tussock.trace.world import World

__all__ = ["VolumePaint", "volume_paint"]

_GREEN, _BROWN, _EARTH, _STONE = (0.085, 0.15, 0.035), (0.13, 0.09, 0.055), (0.19, 0.14, 0.085), (0.35, 0.32, 0.28)
_LABEL_COLORS = {
    "vegetation": _GREEN, "leaf": _GREEN, "shrub": (0.09, 0.14, 0.04), "tree": (0.075, 0.13, 0.035),
    "grass": (0.14, 0.2, 0.055), "trunk": _BROWN, "branch": _BROWN, "stem": _BROWN, "root": _BROWN, "deadwood": _BROWN,
    "terrain": _EARTH, "trail": _EARTH, "other-ground": _EARTH, "road": (0.12, 0.12, 0.12), "parking": (0.13, 0.13, 0.13),
    "sidewalk": (0.28, 0.27, 0.25), "lane-marking": (0.6, 0.6, 0.58), "building": _STONE, "wall": _STONE,
    "other-structure": _STONE, "fence": (0.22, 0.17, 0.12), "rock": (0.25, 0.24, 0.22), "water": (0.05, 0.08, 0.09),
    "car": (0.25, 0.05, 0.05), "truck": (0.3, 0.3, 0.32), "person": (0.2, 0.12, 0.1), "pole": (0.3, 0.3, 0.3),
}  # fmt: skip
"""linear RGB of things as they are outdoors, by label; all others are grey"""
_GREY = (0.2, 0.2, 0.2)
_DARKEST, _LIGHTEST = 0.55, 1.6
"""how much the intensity of a volume, over the mean of its kind, makes of a colour that is not its own"""


class VolumePaint(NamedTuple):
    """One row a volume, in the order of `tussock.trace.volume_hits.Gaussians`."""

    color: NDArray[np.float32]
    """linear RGB, shape (n, 3)"""
    normal: NDArray[np.float32]
    """unit normal of the plane of the returns, in the model's coordinates, shape (n, 3)"""
    shape: NDArray[np.float32]
    """flatness, 0 to 1, and [m] how far the volume reaches: light that leaves it is not stopped by itself; shape (n, 2)"""
    first_copy: NDArray[np.int64]
    """number of the first copy of each thing that is volumes"""


def volume_paint(world: World) -> VolumePaint:
    """The tables of all volumes of a world."""
    things = world.placed_volumes
    copies = np.cumsum([0, *(len(thing.placements) for thing in things)])[:-1]
    models = volume_models(things)
    rows = [_rows(model, next(thing for thing in things if thing.volumes is model), world.labels) for model in models]
    if not rows:
        none = np.zeros((0, 3), np.float32)
        return VolumePaint(none, none, none[:, :2], copies.astype(np.int64))
    color, normal, shape = (np.concatenate(part).astype(np.float32) for part in zip(*rows, strict=True))
    return VolumePaint(color, normal, shape, copies.astype(np.int64))


def _rows(model: Volumes, thing: PlacedVolumes, labels: dict[str, int]) -> tuple[NDArray[np.float64], ...]:
    values, vectors = np.linalg.eigh(model.covariances)
    thickness = np.sqrt(np.maximum(values[:, 0], 0) / np.maximum(values[:, 1], 1e-30))
    # Returns that fill a voxel evenly have a thickness of some 0.8 by chance, those of ground 0.25 and less.
    flat = np.clip(1.5 - 2 * thickness, 0, 1)
    if model.partition == "voxels":
        size = np.sqrt(3.0) * model.cell * 4.0**model.levels
    else:
        size = float(model.edges[-1]) * np.sqrt(values[:, 2])
    order = grid_order(model)
    order = np.arange(len(model)) if order is None else order
    return colors_of(model, thing.label, labels)[order], vectors[:, :, 0][order], np.stack([flat, size], 1)[order]


def colors_of(model: Volumes, label: str, labels: dict[str, int]) -> NDArray[np.float64]:
    """Linear RGB of each volume, shape (n, 3); ``label`` is that of the whole, ``labels`` are numbers by name."""
    names = {number: name for name, number in labels.items()}
    numbers = model.labels if len(model.labels) else np.zeros(len(model), np.uint16)
    colors = np.empty((len(model), 3))
    for number in np.unique(numbers).tolist():
        mine = numbers == number
        if number:
            plain = _LABEL_COLORS.get(names.get(number, ""), _GREY)
        else:
            plain = model.material.color or _LABEL_COLORS.get(label, _GREY)
        bright = model.intensity[mine] / max(float(model.intensity[mine].mean()), 1e-6)
        colors[mine] = np.asarray(plain) * np.clip(bright, _DARKEST, _LIGHTEST)[:, None]
    if len(model.colors):
        known = model.colors[:, 3] > 0
        srgb = model.colors[known, :3] / 255.0
        colors[known] = np.where(srgb <= 0.04045, srgb / 12.92, ((srgb + 0.055) / 1.055) ** 2.4)
    return np.clip(colors, 0, 1)
