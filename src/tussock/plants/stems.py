"""Stems: trunks, limbs, branches and twigs as tapering tubes along bent lines.

All stems of one order (all limbs, all twigs) have the same number of points and are grown, branched and meshed
together as arrays. The vocabulary is that of Weber and Penn 1995, "Creation and rendering of realistic trees":
children leave their parent at a down angle, turned about it by the golden angle from one to the next; a stem
wanders by chance and turns up towards the light or down by its weight. Joints between tubes are not welded: a
child starts inside its parent.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tussock.arrays import FloatArray
from tussock.sampler import Sampler

__all__ = ["Growth", "Sprouts", "Stems", "fitted", "grow", "sprout", "thinned", "tubes"]


_GOLDEN_ANGLE = np.pi * (3 - np.sqrt(5))


@dataclass(frozen=True, eq=False)
class Stems:
    """n stems of k points each."""

    points: FloatArray
    """middle line [m], shape (n, k, 3)"""
    radii: FloatArray
    """[m], shape (n, k)"""

    @property
    def lengths(self) -> FloatArray:
        """[m], shape (n,)"""
        return np.linalg.norm(np.diff(self.points, axis=1), axis=2).sum(1)


@dataclass(frozen=True, eq=False)
class Sprouts:
    """Where children leave their parents; all arrays have n rows."""

    starts: FloatArray
    """[m], shape (n, 3)"""
    directions: FloatArray
    """unit vectors, shape (n, 3)"""
    parents: NDArray[np.int64]
    """index of the parent, shape (n,)"""
    fractions: FloatArray
    """how far along the parent, 0 to 1, shape (n,)"""
    radii: FloatArray
    """of the parent there [m], shape (n,)"""


class Growth(NamedTuple):
    """How the stems of one order grow."""

    taper: float
    """radius of the tip as a share of the radius"""
    segments: int
    wander: float
    """how much the direction changes over the whole length, by chance, as a share of a unit vector"""
    rise: float
    """the same, upwards; negative: drooping"""


def grow(
    starts: ArrayLike, directions: ArrayLike, growth: Growth, *, lengths: ArrayLike, radii: ArrayLike, rng: Sampler
) -> Stems:
    """Stems from ``starts`` (n, 3) [m] along ``directions`` (n, 3), ``lengths`` (n,) and ``radii`` (n,) [m]."""
    taper, segments, wander, rise = growth
    at = np.asarray(starts, float)
    towards = np.asarray(directions, float)
    n = len(at)
    step = np.broadcast_to(np.asarray(lengths, float), (n,))[:, None] / segments
    points = [at]
    for _ in range(segments):
        push = wander / np.sqrt(segments) * rng.standard_normal((n, 3))
        push[:, 2] += rise / segments
        towards = _unit(towards + push)
        at = at + step * towards
        points.append(at)
    thinning = 1 - (1 - taper) * np.linspace(0, 1, segments + 1) ** 0.8
    return Stems(np.stack(points, 1), np.asarray(radii, float).reshape(-1, 1) * thinning)


def sprout(
    parents: Stems,
    count: int,
    *,
    first: float,
    down: float,
    spread: float,
    rng: Sampler,
    last: float = 1.0,
) -> Sprouts:
    """``count`` children on the part of the parents from ``first`` to ``last`` (shares of their length).

    A long parent gets more of them than a short one. They leave at the angle ``down`` [rad] to the parent,
    give or take ``spread`` (standard deviation).
    """
    ends = np.cumsum(parents.lengths)
    place = (np.arange(count) + rng.uniform(0, 1, count)) / count * ends[-1]
    owner = np.minimum(np.searchsorted(ends, place, side="right"), len(ends) - 1)
    inside = 1 - (ends[owner] - place) / parents.lengths[owner]
    fraction = first + (last - first) * np.clip(inside, 0, 1)
    segments = parents.points.shape[1] - 1
    knot = np.minimum((fraction * segments).astype(int), segments - 1)
    beyond = fraction * segments - knot
    a, b = parents.points[owner, knot], parents.points[owner, knot + 1]
    along = _unit(b - a)
    side, other = across(along)
    turn = _GOLDEN_ANGLE * np.arange(count) + 0.5 * rng.standard_normal(count)
    angle = np.clip(down + spread * rng.standard_normal(count), 0.1, 2.4)[:, None]
    outward = np.cos(turn)[:, None] * side + np.sin(turn)[:, None] * other
    radius = parents.radii[owner, knot] * (1 - beyond) + parents.radii[owner, knot + 1] * beyond
    return Sprouts(
        a + beyond[:, None] * (b - a),
        np.cos(angle) * along + np.sin(angle) * outward,
        owner,
        fraction,
        radius,
    )


def fitted(stems: list[Stems], height: float, crown_radius: float) -> list[Stems]:
    """The skeleton stretched so that it just reaches ``height`` and ``crown_radius`` [m]."""
    points = np.concatenate([order.points.reshape(-1, 3) for order in stems])
    wide = crown_radius / np.hypot(points[:, 0], points[:, 1]).max()
    stretch = np.array([wide, wide, height / points[:, 2].max()])
    return [replace(order, points=order.points * stretch) for order in stems]


def thinned(stems: Stems, area: float) -> Stems:
    """The stems with radii so small that their surfaces together have at most ``area`` [m²]."""
    around = 2 * np.pi * float((stems.lengths * stems.radii.mean(1)).sum())
    return replace(stems, radii=stems.radii * min(1.0, area / around))


def tubes(stems: Stems, sides: int) -> tuple[FloatArray, NDArray[np.int64]]:
    """Vertices (v, 3) [m] and triangles (t, 3) of open tubes: ``2 · sides`` triangles a segment."""
    n, k, _ = stems.points.shape
    between = _unit(np.diff(stems.points, axis=1))
    along = np.concatenate([between[:, :1], _unit(between[:, :-1] + between[:, 1:]), between[:, -1:]], 1)
    side = np.empty_like(along)
    side[:, 0] = across(along[:, 0])[0]
    for i in range(1, k):
        # Carrying the side along with the least turn keeps the tube from twisting.
        carried = side[:, i - 1]
        side[:, i] = _unit(carried - (carried * along[:, i]).sum(1, keepdims=True) * along[:, i])
    other = np.cross(along, side)
    angle = np.arange(sides) * (2 * np.pi / sides)
    ring = np.cos(angle)[:, None] * side[:, :, None] + np.sin(angle)[:, None] * other[:, :, None]
    vertices = stems.points[:, :, None] + stems.radii[:, :, None, None] * ring

    row, here = np.meshgrid(np.arange(k - 1) * sides, np.arange(sides), indexing="ij")
    after = (here + 1) % sides
    quads = np.stack([row + here, row + after, row + sides + after, row + sides + here], -1)
    one = quads.reshape(-1, 4)[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    triangles = one[None] + (np.arange(n) * k * sides)[:, None, None]
    return vertices.reshape(-1, 3), triangles.reshape(-1, 3)


def across(directions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two unit vectors (n, 3) square to each direction and to one another."""
    helper = np.where(np.abs(directions[:, 2:]) < 0.9, [[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]])
    side = _unit(np.cross(helper, directions))
    return side, np.cross(directions, side)


def _unit(vectors: FloatArray) -> FloatArray:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
