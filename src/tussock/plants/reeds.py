"""Reeds, stalks, poles: upright stems as true cylinders, spread by chance.

Grass as Goodin et al. test it: vertical cylinders of one diameter, λ of them a square metre, independent of one
another, for which the range that a beam reaches has a closed form (their eqs (4) and (5)). A cylinder is a prism
of many sides made wider by (π/n)/sin(π/n): its perimeter, and with it the width that it shows on average to all
sides (Cauchy), is exactly that of the circle. The number of stems is exact, not Poisson. With ``leaves=0, plumes=0`` they are
those bare cylinders. Unless told so they are reeds: long blades leave the stem one above the other, from a quarter of its
height up, and bend over; most stems end in a plume, a tuft of thin drooping branches that the wind has combed to one side.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tussock.arrays import FloatArray
from tussock.errors import InputError
from tussock.plants.blades import BladeShape, blades, rise
from tussock.plants.stems import Stems, tubes
from tussock.sampler import Sampler
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.sizes import between, chance, positive, whole
from tussock.scene.surfaces import SURFACES

__all__ = ["reeds", "round_radius"]

_REED = SURFACES["reed"]
_PLUME = SURFACES["dry-grass"].changed(name="plume", color=(0.27, 0.18, 0.12))
_BRANCHES = 18
"""of a plume"""


def reeds(
    *,
    size: ArrayLike = (2.0, 2.0),
    density: float = 50.0,
    diameter: float = 0.01,
    height: float = 1.5,
    lean: float = 0.0,
    variation: float = 0.0,
    sides: int = 16,
    leaves: int = 5,
    plumes: float = 0.7,
    material: Material = _REED,
    seed: int = 0,
) -> Mesh:
    """Stems on a rectangle of ``size`` (x, y) [m] on z = 0, centred on its origin, from 1 cm below the ground.

    ``density`` [1/m²]; ``diameter`` and ``height`` [m]; ``lean`` [rad], mean angle from upright; ``variation`` of
    height, ± this share; ``sides`` of each stem; ``leaves`` of each, green or, of a third of them, dry; ``plumes``, the
    share of stems that end in one.

    >>> bed = tussock.reeds(size=(1.0, 1.0), density=20.0, height=1.5)
    >>> stalks = tussock.reeds(size=(1.0, 1.0), density=20.0, height=1.5, leaves=0, plumes=0)
    """
    sizes = np.asarray(size, float)
    if sizes.shape != (2,):
        raise InputError.of("reeds size", "must be two numbers [m]", sizes.tolist())
    width, depth = positive("reeds size x", sizes[0]), positive("reeds size y", sizes[1])
    positive("reeds density", density)
    positive("reeds diameter", diameter)
    positive("reeds height", height)
    between("reeds lean", lean, 0.0, np.pi / 4)
    between("reeds variation", variation, 0.0, 0.9)
    whole("reeds sides", sides, 3)
    whole("reeds leaves", leaves, 0)
    between("reeds plumes", plumes, 0.0, 1.0)
    rng = chance("reeds", seed)
    n = round(density * width * depth)
    if n < 1:
        raise InputError.of("reeds density", "must give at least one stem on this size", density, "raise it")
    foot = np.stack(
        [rng.uniform(-width / 2, width / 2, n), rng.uniform(-depth / 2, depth / 2, n), np.full(n, -0.01)], 1
    )
    tall = height * rng.uniform(1 - variation, 1 + variation, n) + 0.01
    angle, heading = lean * rng.uniform(0, 2, n), rng.uniform(0, 2 * np.pi, n)
    along = np.stack([np.tan(angle) * np.cos(heading), np.tan(angle) * np.sin(heading), np.ones(n)], 1)
    points = np.stack([foot, foot + tall[:, None] * along], 1)
    stems = Stems(points, np.full((n, 2), round_radius(diameter / 2, sides)))
    vertices, triangles = tubes(stems, sides)
    # Closed on top, where a sensor on a mast looks in.
    ring = (2 * np.arange(n)[:, None] + 1) * sides + np.arange(sides)
    fan = np.stack([np.repeat(ring[:, :1], sides - 2, 1), ring[:, 1:-1], ring[:, 2:]], -1).reshape(-1, 3)
    bed = Mesh.of(vertices, np.concatenate([triangles, fan]), (material,))
    grown = _leaves(points, leaves, diameter, rng) if leaves else []
    if round(plumes * n):
        grown.append(_plumes(points[: round(plumes * n)], diameter, rng))
    return Mesh.joined([bed, *grown]) if grown else bed


def _leaves(points: FloatArray, count: int, diameter: float, rng: Sampler) -> list[Mesh]:
    """``count`` blades on each stem, as green and dry ones; ``points`` (n, 2, 3) are the ends of the stems."""
    n = len(points)
    share = (0.25 + 0.65 * (np.arange(count) + rng.uniform(0, 1, (n, count))) / count)[..., None]
    roots = (points[:, :1] * (1 - share) + points[:, 1:] * share).reshape(-1, 3)
    tall = np.repeat(np.linalg.norm(points[:, 1] - points[:, 0], axis=1), count)
    # Leaves stand in two rows, left and right of the stem in turn, more or less.
    turn = rng.uniform(0, 2 * np.pi, (n, 1)) + np.pi * np.arange(count) + rng.normal(0, 0.4, (n, count))
    green, dry = SURFACES["grass"], SURFACES["dry-grass"]
    dead = rng.uniform(0, 1, n * count) < 1 / 3
    parts = []
    for chosen, material, bend in ((~dead, green, 1.5), (dead, dry, 2.1)):
        if chosen.any():
            k = int(chosen.sum())
            leans, bends = rng.uniform(0.35, 0.7, k), bend * rng.uniform(0.7, 1.2, k)
            shapes = blades(
                roots[chosen], BladeShape(4, folded=False),
                heights=tall[chosen] * rng.uniform(0.18, 0.34, k) * rise(4, leans, bends),
                widths=diameter * rng.uniform(1.6, 2.8, k), headings=turn.ravel()[chosen], leans=leans, bends=bends,
            )  # fmt: skip
            parts.append(Mesh.of(*shapes, (material,)))
    return parts


def _plumes(points: FloatArray, diameter: float, rng: Sampler) -> Mesh:
    """A tuft on each stem: branches from its last seventh and its tip, most of them to one side, hanging."""
    n = len(points)
    share = 1.0 - 0.14 * rng.uniform(0, 1, (n, _BRANCHES)) ** 1.5
    roots = points[:, :1] * (1 - share[..., None]) + points[:, 1:] * share[..., None]
    tall = np.linalg.norm(points[:, 1] - points[:, 0], axis=1)[:, None]
    combed = rng.uniform(0, 2 * np.pi, (n, 1)) + rng.normal(0, 0.9, (n, _BRANCHES))
    k = n * _BRANCHES
    leans, bends = rng.uniform(0.05, 0.6, k), rng.uniform(0.9, 2.4, k)
    shapes = blades(
        roots.reshape(-1, 3), BladeShape(3, folded=False, tip=0.15),
        heights=(tall * rng.uniform(0.05, 0.12, (n, _BRANCHES))).ravel() * rise(3, leans, bends),
        widths=diameter * rng.uniform(0.5, 0.9, k), headings=combed.ravel(), leans=leans, bends=bends,
    )  # fmt: skip
    return Mesh.of(*shapes, (_PLUME,))


def round_radius(radius: float, sides: int) -> float:
    """Radius of the corners of a regular polygon whose perimeter is that of a circle of ``radius`` [m]."""
    return radius * (np.pi / sides) / np.sin(np.pi / sides)
