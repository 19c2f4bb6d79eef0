"""What of a scene is drawn, and how finely, so that a browser takes it: few triangles each for many copies.

A scene may have two hundred million triangles, a browser on a laptop draws about a million. The room is shared out among
the objects, the small ones first, and an object of many copies has two levels: copies stand in square plots; plots near
the eye show shapes of some hundred triangles, the others cards. Of what is still too much only every n-th copy is drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from tussock.scene.material import Material
from tussock.scene.scene import PlacedVolumes, Scene, SceneObject
from tussock.studio.simpler import Surface, simpler

__all__ = [
    "ROOM", "Drawn", "Plot", "Turned", "display_color", "drawn_objects", "linear_bytes", "turned", "volume_points",
]  # fmt: skip

ROOM = 180_000
"""triangles on the page, unless more detail is asked for: a browser without a graphics card draws these in good time"""
_FINE = 20_000
"""triangles of one copy, where there are few"""
_NEAR = 400
"""triangles of one copy near the eye, where there are many"""
_FEWEST = 8
"""and at least; with less room, only some of the copies are drawn"""
_MANY = 64
"""copies from which there are two levels"""
_PLOTS = 8
"""plots along the longer side, at most"""
_PLOT_M = 12.0
"""[m] side of a plot, at least"""
_REACH_M = 10.0
"""[m] to the eye: a plot within is near"""


class Turned(NamedTuple):
    """Placements as a browser takes them: turn, size along the shape's own axes, place. Shear is left out."""

    positions: NDArray[np.float32]
    """[m], shape (n, 3)"""
    wxyzs: NDArray[np.float32]
    """unit quaternions, shape (n, 4)"""
    scales: NDArray[np.float32]
    """shape (n, 3)"""


def turned(matrices: NDArray[np.float64], origin: NDArray[np.float64]) -> Turned:
    """Placements (n, 3, 4) about an ``origin`` (3,): A = Q·R, of which R's diagonal is the size."""
    q, r = np.linalg.qr(matrices[:, :, :3])
    sizes = np.diagonal(r, axis1=1, axis2=2)
    q = q * np.sign(np.where(sizes == 0, 1, sizes))[:, None, :]
    sizes = np.abs(sizes)
    mirrored = np.linalg.det(q) < 0
    q[mirrored, :, 0] *= -1
    sizes[mirrored, 0] *= -1
    quaternions = np.roll(Rotation.from_matrix(q).as_quat(), 1, axis=1)
    places = matrices[:, :, 3] - origin
    return Turned(places.astype(np.float32), quaternions.astype(np.float32), sizes.astype(np.float32))


def display_color(material: Material) -> tuple[int, int, int]:
    """sRGB of a material, 0 to 255; a texture counts as the mean of what is not cut out of its picture."""
    if material.texture is not None:
        pixels = material.texture.pixels[::4, ::4].reshape(-1, 4)
        there = pixels[pixels[:, 3] >= 255 * material.opacity_cutoff, :3]
        if len(there):
            red, green, blue = (round(float(mean)) for mean in there.mean(0))
            return red, green, blue
    linear = np.array(material.color or (material.reflectance,) * 3, float)
    red, green, blue = (round(255 * float(c) ** (1 / 2.2)) for c in np.clip(linear, 0, 1))
    return red, green, blue


def linear_bytes(colors: NDArray[np.float64]) -> NDArray[np.uint8]:
    """sRGB colours from 0 to 255 as viser wants those of instances: linear, unlike those of single meshes."""
    return np.round(255 * np.clip(colors / 255, 0, 1) ** 2.2).astype(np.uint8)


class Plot(NamedTuple):
    """Copies of an object that stand together."""

    number: int
    copies: NDArray[np.int64]
    """which of the object's placements"""
    low: NDArray[np.float64]
    """[m] corner in plan, shape (2,)"""
    high: NDArray[np.float64]

    def near(self, eye: NDArray[np.float64]) -> bool:
        """Whether an eye at (x, y, …) [m] stands in the plot or not far from it."""
        off = np.maximum(np.maximum(self.low - eye[:2], eye[:2] - self.high), 0.0)
        return bool(np.hypot(*off) < _REACH_M)


class Drawn:
    """One object on the page: its plots, and its shape for copies that are near and far."""

    def __init__(self, thing: SceneObject, room: int) -> None:
        self.thing = thing
        self._room = room
        count = len(thing.placements)
        self.levels = 2 if count >= _MANY and thing.motion is None and self._each < len(thing.mesh.triangles) else 1
        share = room if self.levels == 1 else room / 2
        # Where not even a card a copy fits, every n-th copy is drawn.
        self.every = max(1, int(np.ceil(2 * count / max(share, 1))))

    @property
    def _each(self) -> float:
        return self._room / len(self.thing.placements)

    @cached_property
    def far(self) -> list[Surface]:
        """The shape where it is not near, and everywhere if there is one level."""
        if self.levels == 1:
            return simpler(self.thing.mesh, max(int(self._each * self.every), 2))
        return simpler(self.thing.mesh, max(int(self._each / 2 * self.every), 2))

    @cached_property
    def near(self) -> list[Surface]:
        """The shape near the eye."""
        return simpler(self.thing.mesh, int(np.clip(self._near_each * self.near_every, _FEWEST, _NEAR)))

    @cached_property
    def near_every(self) -> int:
        """Of copies near the eye, every n-th is drawn."""
        return max(1, int(np.ceil(_FEWEST / self._near_each)))

    @cached_property
    def _near_each(self) -> float:
        """Triangles that a copy near the eye may have: half of the room, for all plots within reach."""
        most = max((len(plot.copies) for plot in self.plots), default=1)
        side = max((float((plot.high - plot.low).max()) for plot in self.plots), default=_PLOT_M)
        reached = (1 + 2 * _REACH_M / max(side, _PLOT_M / 2)) ** 2
        return self._room / 2 / (most * reached)

    @cached_property
    def plots(self) -> list[Plot]:
        places = self.thing.placements.matrices[:, :2, 3]
        low, high = places.min(0), places.max(0)
        if self.levels == 1:
            return [Plot(0, np.arange(0, len(places), self.every), low, high)]
        side = max(float((high - low).max()) / _PLOTS, _PLOT_M)
        cell = np.floor((places - low) / side).astype(np.int64)
        key = cell[:, 0] * (int(cell[:, 1].max()) + 1) + cell[:, 1]
        number = np.unique(key, return_inverse=True)[1]
        order = np.argsort(number, kind="stable")
        groups = np.split(order, np.cumsum(np.bincount(number))[:-1])
        return [Plot(k, group, places[group].min(0), places[group].max(0)) for k, group in enumerate(groups)]

    def triangles(self, eye: NDArray[np.float64]) -> int:
        """How many are on the page for an eye at a place [m]."""
        far, near = (sum(len(s.triangles) for s in shape) for shape in (self.far, self.near))
        if self.levels == 1:
            return far * len(self.plots[0].copies)
        return sum(
            near * len(plot.copies[:: self.near_every]) if plot.near(eye) else far * len(plot.copies[:: self.every])
            for plot in self.plots
        )

    def shown(self, plot: Plot, *, near: bool) -> tuple[list[Surface], NDArray[np.float64]]:
        """Surfaces, and the placements (n, 3, 4) of a plot's copies that show them."""
        matrices = self.thing.placements.matrices
        if self.levels == 1:
            return self.far, matrices[plot.copies]
        surfaces, every = (self.near, self.near_every) if near else (self.far, self.every)
        return surfaces, matrices[plot.copies[::every]]


def drawn_objects(scene: Scene, room: int = ROOM) -> Iterator[Drawn]:
    """The objects of a scene, those of few triangles first: a wall shall not be missing because of a tree."""
    left = float(room)
    things = sorted(scene.objects, key=lambda thing: len(thing.mesh.triangles) * len(thing.placements))
    for number, thing in enumerate(things):
        whole = len(thing.mesh.triangles) * len(thing.placements)
        enough = _FINE * len(thing.placements) * room / ROOM
        mine = min(float(whole), enough, left / (len(things) - number))
        left -= mine
        yield Drawn(thing, max(int(mine), 2))


def volume_points(thing: PlacedVolumes, most: int = 20_000) -> NDArray[np.float64]:
    """Middles of the voxels of placed volumes [m], shape (n, 3): they are drawn as points."""
    means = thing.volumes.means
    every = -(-len(means) * len(thing.placements) // most)
    shape = means[:: max(every, 1)].astype(np.float64)
    matrices = thing.placements.matrices
    return (np.einsum("pij,vj->pvi", matrices[:, :, :3], shape) + matrices[:, None, :, 3]).reshape(-1, 3)
