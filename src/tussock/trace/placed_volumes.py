"""Volumes placed in the world: which copies a ray may meet, and where it ends in one of them.

Copies stand in a small tree of boxes, so that a ray looks only at those in its way, the nearer ones first. Each copy
is walked in its own coordinates, no further than what was already met; the nearest end wins. Copies that overlap stop a ray independently
of one another.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numba import uint32
from numpy.typing import NDArray

from tussock.kernels import Array, Real, Whole, inline_kernel, kernel, loop_kernel
from tussock.randomness import Chance, Purpose, random_words
from tussock.scene.scene import PlacedVolumes
from tussock.scene.volumes import Volumes
from tussock.trace.ray import Ray
from tussock.trace.volume_cells import Walk, new_walk
from tussock.trace.volume_hits import Gaussians, end_behind, end_in_volumes, gaussians_of

__all__ = [
    "VolumeTables",
    "VolumeWalk",
    "end_again",
    "end_in_copies",
    "new_volume_walk",
    "place_volumes",
    "volume_models",
]

_STACK = 64
_VOLUME, _VOLUME_BEHIND = int(Purpose.VOLUME), int(Purpose.VOLUME_BEHIND)


class VolumeTables(NamedTuple):
    """What kernels read of placed volumes; no copies: nothing to meet."""

    gaussians: Gaussians
    inverse: NDArray[np.float64]
    """from the tracer's coordinates into the copy's, rows of a 3×4 transform, shape (copies, 12)"""
    model: NDArray[np.int64]
    """which model a copy is of, shape (copies,)"""
    geometry: NDArray[np.uint32]
    """its row in the hit tables, shape (copies,)"""
    number: NDArray[np.uint32]
    """its number among the copies of its object, shape (copies,)"""
    boxes: NDArray[np.float32]
    """of the nodes of the tree: lowest and highest corner [m], shape (nodes, 6)"""
    children: NDArray[np.int32]
    """of the nodes: two nodes, or −1 and a copy, shape (nodes, 2)"""

    @property
    def copies(self) -> int:
        return len(self.model)


class VolumeWalk(NamedTuple):
    """Scratch memory of one thread."""

    walk: Walk
    stack: NDArray[np.int64]


@kernel
def new_volume_walk() -> Any:
    return VolumeWalk(new_walk(), np.empty(_STACK, np.int64))


def volume_models(things: Iterable[PlacedVolumes]) -> list[Volumes]:
    """The models that are placed, each once; their volumes are numbered one model after the other."""
    models: list[Volumes] = []
    for thing in things:
        if not any(known is thing.volumes for known in models):
            models.append(thing.volumes)
    return models


def place_volumes(things: Sequence[PlacedVolumes], first_geometry: int, origin: NDArray[np.float64]) -> VolumeTables:
    """The tables of some placed volumes, whose rows in the hit tables begin at ``first_geometry``."""
    models = volume_models(things)
    inverse, model, geometry, number, boxes = [], [], [], [], []
    for row, thing in enumerate(things):
        kind = next(k for k, known in enumerate(models) if known is thing.volumes)
        turn = thing.placements.matrices[:, :, :3]
        own = np.asarray(thing.volumes.origin)
        shift = thing.placements.matrices[:, :, 3] - origin + turn @ own
        back = np.swapaxes(turn, 1, 2)
        inverse.append(np.concatenate([back, -(back @ shift[:, :, None])], 2).reshape(-1, 12))
        bounds = thing.volumes.bounds - own
        middle, half = turn @ bounds.mean(0) + shift, np.abs(turn) @ ((bounds[1] - bounds[0]) / 2)
        boxes.append(np.concatenate([middle - half, middle + half], 1))
        copies = len(turn)
        model.append(np.full(copies, kind))
        geometry.append(np.full(copies, first_geometry + row))
        number.append(np.arange(copies))
    if not things:
        return _nothing()
    nodes, children = _tree(np.concatenate(boxes))
    return VolumeTables(
        gaussians_of(models),
        np.ascontiguousarray(np.concatenate(inverse)),
        np.concatenate(model).astype(np.int64),
        np.concatenate(geometry).astype(np.uint32),
        np.concatenate(number).astype(np.uint32),
        nodes,
        children,
    )


def _nothing() -> VolumeTables:
    """Tables of the right types with nothing in them."""
    one = Volumes(
        np.zeros((1, 3), np.float32), np.array([[1, 0, 0, 1, 0, 1]], np.float32), np.ones(1, np.float32),
        np.full((1, 1), 65535, np.uint16), np.zeros(1, np.uint16), np.zeros(1, np.uint32), np.zeros(1, np.float32), 1.0, np.ones(1, np.float32),
    )  # fmt: skip
    return VolumeTables(
        gaussians_of([one]), np.zeros((0, 12)), np.zeros(0, np.int64), np.zeros(0, np.uint32), np.zeros(0, np.uint32),
        np.zeros((0, 6), np.float32), np.zeros((0, 2), np.int32),
    )  # fmt: skip


def _tree(boxes: NDArray[np.float64]) -> tuple[NDArray[np.float32], NDArray[np.int32]]:
    """A binary tree over boxes (n, 6), each node split at the median along its longest side; node 0 is the root."""
    corners: list[NDArray[np.float64]] = []
    children: list[tuple[int, int]] = []
    middles = boxes[:, :3] + boxes[:, 3:]

    waiting = [(np.arange(len(boxes)), -1, 0)]
    while waiting:
        members, parent, side = waiting.pop()
        node = len(children)
        corners.append(np.concatenate([boxes[members, :3].min(0), boxes[members, 3:].max(0)]))
        children.append((-1, int(members[0])))
        if parent >= 0:
            pair = list(children[parent])
            pair[side] = node
            children[parent] = (pair[0], pair[1])
        if len(members) > 1:
            axis = int(np.argmax(np.ptp(middles[members], axis=0)))
            members = members[np.argsort(middles[members, axis], kind="stable")]
            half = len(members) // 2
            waiting += [(members[:half], node, 0), (members[half:], node, 1)]
    # Rounded outwards, so that nothing at an edge is lost.
    rounded = np.array(corners)
    pad = 1e-5 * (1 + np.abs(rounded))
    rounded[:, :3] -= pad[:, :3]
    rounded[:, 3:] += pad[:, 3:]
    return rounded.astype(np.float32), np.array(children, np.int32)


@loop_kernel
def end_in_copies(
    tables: VolumeTables, scratch: VolumeWalk, ray: Ray, open_end: bool, pulse: Whole, chance: Chance
) -> tuple[Real, int, int]:
    """How far behind its near end [m] a ray ends in a volume, which, and of which copy; volume −1 where in none.

    ``open_end``: nothing stands at the far end.
    """
    near = ray.near
    ray = Ray(
        ray.x + near * ray.dx, ray.y + near * ray.dy, ray.z + near * ray.dz, ray.dx, ray.dy, ray.dz, near,
        ray.far - near, ray.time,
    )  # fmt: skip
    ix, iy, iz = _inverse(ray.dx), _inverse(ray.dy), _inverse(ray.dz)
    stack = scratch.stack
    stack[0] = 0
    height = 1
    nearest, volume, copy = np.float64(ray.far), -1, -1
    while height > 0:
        height -= 1
        node = stack[height]
        if _entry(tables.boxes[node], ray, ix, iy, iz) > nearest:
            continue
        left, right = tables.children[node, 0], tables.children[node, 1]
        if left >= 0:
            entry_left = _entry(tables.boxes[left], ray, ix, iy, iz)
            entry_right = _entry(tables.boxes[right], ray, ix, iy, iz)
            if entry_left <= entry_right:
                stack[height], stack[height + 1] = right, left
            else:
                stack[height], stack[height + 1] = left, right
            height += 2
            continue
        words = random_words(chance, pulse, uint32(right) * uint32(0x9E3779B1), _VOLUME)
        t, i = end_in_volumes(
            tables.gaussians, tables.model[right], scratch.walk, _in_copy(tables.inverse[right], ray, nearest),
            open_end and volume < 0, words,
        )  # fmt: skip
        if i >= 0:
            nearest, volume, copy = t, i, right
    return nearest, volume, copy


@loop_kernel
def end_again(
    tables: VolumeTables, scratch: VolumeWalk, ray: Ray, volume: Whole, copy: Whole, pulse: Whole, chance: Chance
) -> tuple[bool, Real, int]:
    """Whether a pulse that ended in a ``volume`` of a copy returns again, and how far behind the near end of the ray [m]
    and from which volume of the copy; −1 where none lies behind."""
    words = random_words(chance, pulse, 0, _VOLUME_BEHIND)
    if words[3] >= tables.gaussians.second[volume] * 2.0**16:
        return False, math.inf, -1
    near = ray.near
    behind = Ray(
        ray.x + near * ray.dx, ray.y + near * ray.dy, ray.z + near * ray.dz, ray.dx, ray.dy, ray.dz, 0.0, math.inf, 0.0,
    )  # fmt: skip
    own = _in_copy(tables.inverse[copy], behind, math.inf)
    t, i = end_behind(tables.gaussians, tables.model[copy], scratch.walk, own, words)
    return True, t, i


@inline_kernel
def _in_copy(m: Array, ray: Ray, far: Real) -> Ray:
    """A ray in the coordinates of a copy, up to ``far``."""
    ox, oy, oz, dx, dy, dz = ray.x, ray.y, ray.z, ray.dx, ray.dy, ray.dz
    return Ray(
        m[0] * ox + m[1] * oy + m[2] * oz + m[3], m[4] * ox + m[5] * oy + m[6] * oz + m[7],
        m[8] * ox + m[9] * oy + m[10] * oz + m[11],
        m[0] * dx + m[1] * dy + m[2] * dz, m[4] * dx + m[5] * dy + m[6] * dz, m[8] * dx + m[9] * dy + m[10] * dz,
        0.0, far, 0.0,
    )  # fmt: skip


@inline_kernel
def _inverse(component: Real) -> Real:
    return 1.0 / component if abs(component) > 1e-12 else 1e12


@inline_kernel
def _entry(box: Array, ray: Ray, ix: Real, iy: Real, iz: Real) -> Real:
    """Where a ray enters a box [m], infinity where it misses it; (ix, iy, iz) are the inverses of its direction."""
    x0, x1 = (box[0] - ray.x) * ix, (box[3] - ray.x) * ix
    y0, y1 = (box[1] - ray.y) * iy, (box[4] - ray.y) * iy
    z0, z1 = (box[2] - ray.z) * iz, (box[5] - ray.z) * iz
    enter = max(min(x0, x1), min(y0, y1), min(z0, z1), 0.0)
    leave = min(max(x0, x1), max(y0, y1), max(z0, z1))
    return enter if enter <= leave else math.inf
