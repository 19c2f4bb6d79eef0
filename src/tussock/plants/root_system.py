"""The roots of an old tree at its stump, laid bare, as finely as a hand scanner would see them.

Main roots leave the flare of a stump, run along the ground and dive into it; lateral and fine roots leave them.
Each is a tube of rings over a smooth line. The bark is relief on the tubes: three octaves of ridged noise,
stretched along the root, whose depth goes with the root's girth. The triangles asked for are spread over the four
orders so that cells are about square; 22 million give cells of 1 to 2 mm.

The tubes are not welded where they meet, and nothing keeps two roots from growing through one another.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tussock.arrays import FloatArray
from tussock.kernels import inline_kernel, kernel
from tussock.plants.stems import Growth, Stems, across, grow, sprout
from tussock.sampler import Sampler
from tussock.scene.mesh import Mesh
from tussock.scene.sizes import chance, positive, whole
from tussock.scene.surfaces import SURFACES

__all__ = ["MOST", "root_system"]


MOST = 200_000_000
"""triangles: 8 GB of them"""
_SHARES = (0.10, 0.50, 0.28, 0.12)
"""of the triangles: stump, main, lateral and fine roots"""


def root_system(*, radius: float = 6.0, triangles: int = 22_000_000, seed: int = 0) -> Mesh:
    """Roots on z = 0 around the origin that reach ``radius`` [m]; at least ``triangles``, at most a tenth more.

    >>> roots = tussock.root_system(radius=3.0, triangles=200_000)  # doctest: +SKIP
    """
    positive("root radius", radius)
    whole("root triangles", triangles, 100_000, MOST)
    rng = chance("root", seed)
    orders = _skeleton(radius, rng)
    shapes = [_cells(order, share * triangles) for order, share in zip(orders, _SHARES, strict=True)]
    vertices = np.empty((sum(len(o.points) * k * s for o, (k, s) in zip(orders, shapes, strict=True)), 3), np.float32)
    faces = np.empty(
        (sum(2 * len(o.points) * (k - 1) * s for o, (k, s) in zip(orders, shapes, strict=True)), 3), np.uint32
    )
    at, face = 0, 0
    for number, (order, (k, s)) in enumerate(zip(orders, shapes, strict=True)):
        fine = _smooth(order, k)
        side, other = _frames(fine.points)
        n = len(fine.points)
        _bark(fine.points, fine.radii, side, other, s, seed % 2**32 + 7919 * number, vertices[at : at + n * k * s])
        count = 2 * n * (k - 1) * s
        _strips(n, k, s, at, faces[face : face + count])
        at, face = at + n * k * s, face + count
    return Mesh(vertices, faces, (SURFACES["root"],))


def _skeleton(radius: float, rng: Sampler) -> list[Stems]:
    """Stump, main, lateral and fine roots, each order grown from the one before."""
    thick = 0.09 * radius
    up = np.linspace(0, 1, 9)
    stump_line = np.stack([0.03 * np.sin(3 * up), 0.02 * up, -0.35 + 1.25 * up], 1)[None]
    stump = Stems(stump_line, thick * (1 + 0.9 * np.exp(-up * 4.5))[None])

    n = 15
    knots = np.linspace(0, 1, 14)
    start = 2 * np.pi * (np.arange(n) + rng.uniform(-0.3, 0.3, n)) / n
    heading = start[:, None] + np.cumsum(rng.normal(0, 0.13, (n, len(knots))), 1)
    length = radius * rng.uniform(0.55, 0.93, n)[:, None]
    step = length / (len(knots) - 1)
    x = np.cumsum(step * np.cos(heading), 1) + 0.6 * thick * np.cos(start)[:, None]
    y = np.cumsum(step * np.sin(heading), 1) + 0.6 * thick * np.sin(start)[:, None]
    wave = (
        0.012 * radius * np.sin(2 * np.pi * (rng.uniform(1, 2.5, n)[:, None] * knots + rng.uniform(0, 1, n)[:, None]))
    )
    z = 0.045 * radius * (1 - knots) ** 2 + wave * np.sin(np.pi * knots) + 0.012 * radius - 0.05 * radius * knots**3
    girth = rng.uniform(0.6, 1.0, n)[:, None] * (0.036 * radius * (1 - knots) ** 0.9 + 0.002 * radius)
    main = Stems(np.stack([x, y, z], -1), girth)

    def offspring(parents: Stems, count: int, reach: tuple[float, float], down: float) -> Stems:
        at = sprout(parents, count, first=0.06, last=0.92, down=down, spread=0.2, rng=rng)
        flat = at.directions * np.array([1.0, 1.0, 0.35])
        flat /= np.linalg.norm(flat, axis=1, keepdims=True)
        return grow(
            at.starts,
            flat,
            Growth(taper=0.2, segments=9, wander=0.55, rise=-0.25),
            lengths=radius * rng.uniform(*reach, count) * (1.1 - 0.7 * at.fractions),
            radii=np.maximum(0.55 * at.radii, 0.0012 * radius),
            rng=rng,
        )

    lateral = offspring(main, 110, (0.10, 0.26), 0.7)
    return [stump, main, lateral, offspring(lateral, 900, (0.02, 0.06), 0.9)]


def _cells(order: Stems, triangles: float) -> tuple[int, int]:
    """Rings and sides of each root so that a cell is about square and the order has its triangles."""
    n = len(order.points)
    slender = order.lengths.mean() / (2 * np.pi * order.radii.mean())
    quads = triangles / (2 * n)
    sides = max(5, round(np.sqrt(quads / slender)))
    return max(3, int(np.ceil(quads / sides)) + 1), sides


def _smooth(order: Stems, rings: int) -> Stems:
    """The stems with ``rings`` points each, on cubic splines through the points they have."""
    from scipy.interpolate import CubicSpline

    old = np.linspace(0, 1, order.points.shape[1])
    new = np.linspace(0, 1, rings)
    radii = np.stack([np.interp(new, old, row) for row in order.radii])
    return Stems(np.ascontiguousarray(CubicSpline(old, order.points, axis=1)(new)), radii)


def _frames(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two unit vectors (n, k, 3) across each line at each point, carried along without twisting."""
    along = np.gradient(points, axis=1)
    along /= np.linalg.norm(along, axis=2, keepdims=True)
    side = np.empty_like(along)
    side[:, 0] = across(along[:, 0])[0]
    for i in range(1, points.shape[1]):
        carried = side[:, i - 1]
        carried = carried - (carried * along[:, i]).sum(1, keepdims=True) * along[:, i]
        side[:, i] = carried / np.linalg.norm(carried, axis=1, keepdims=True)
    return side, np.cross(along, side)


@inline_kernel
def _hash(i: Any, j: Any, key: Any) -> Any:
    """A number in [−1, 1) of a lattice point, well enough mixed for bark."""
    # Numba widens a product of 32-bit words: each step is cut back to 32 bits.
    h = np.uint32(np.uint32(i) * np.uint32(0x9E3779B1) + np.uint32(j) * np.uint32(0x85EBCA77) + np.uint32(key))
    h = np.uint32(np.uint32(h ^ (h >> np.uint32(15))) * np.uint32(0x2C1B3C6D))
    h = np.uint32(np.uint32(h ^ (h >> np.uint32(12))) * np.uint32(0x297A2D39))
    return np.float64(np.uint32(h ^ (h >> np.uint32(15)))) * 2.0**-31 - 1.0


@kernel
def _ridge(u: float, v: float, around: int, key: int) -> float:
    """Ridged value noise; ``v`` counts cells around the root and closes after ``around`` of them."""
    i, j = np.int64(np.floor(u)), np.int64(np.floor(v))
    a, b = u - i, v - j
    a, b = a * a * (3 - 2 * a), b * b * (3 - 2 * b)
    j0, j1 = j % around, (j + 1) % around
    low = _hash(i, j0, key) * (1 - a) + _hash(i + 1, j0, key) * a
    high = _hash(i, j1, key) * (1 - a) + _hash(i + 1, j1, key) * a
    return 1.0 - abs(low * (1 - b) + high * b) * 2.0


@kernel
def _bark(points: Any, radii: Any, side: Any, other: Any, sides: int, key: int, out: Any) -> None:
    n, k = points.shape[0], points.shape[1]
    at = 0
    for s in range(n):
        length = 0.0
        for i in range(k):
            if i > 0:
                d = points[s, i] - points[s, i - 1]
                length += np.sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2])
            r = radii[s, i]
            for t in range(sides):
                turn = t / sides
                angle = 2 * np.pi * turn
                depth = 0.0
                share, cells = 1.0, 8
                for octave in range(3):
                    depth += share * _ridge(length * cells * 1.3, turn * cells, cells, key + 131 * s + 17 * octave)
                    share, cells = share * 0.5, cells * 3
                swell = r * (1.0 + 0.07 * depth)
                c, d2 = swell * np.cos(angle), swell * np.sin(angle)
                for x in range(3):
                    out[at, x] = points[s, i, x] + c * side[s, i, x] + d2 * other[s, i, x]
                at += 1


@kernel
def _strips(n: int, k: int, sides: int, first: int, out: Any) -> None:
    """Two triangles a cell of n tubes of k rings, their vertices counted from ``first``."""
    f = 0
    for s in range(n):
        for i in range(k - 1):
            row = first + (s * k + i) * sides
            for t in range(sides):
                after = (t + 1) % sides
                out[f, 0], out[f, 1], out[f, 2] = row + t, row + after, row + sides + after
                out[f + 1, 0], out[f + 1, 1], out[f + 1, 2] = row + t, row + sides + after, row + sides + t
                f += 2
