"""Plain shapes: box, plane, ground, sphere, cylinder, card.

Each is centred on its own origin, z up, with triangles counter-clockwise seen from outside; a plane and a
ground face up. Curved shapes are inscribed: their vertices lie on the true surface, their triangles up to
``r (1 - cos(π / sides))`` inside it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tussock.errors import InputError
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.sizes import between, positive, whole

__all__ = ["box", "card", "cylinder", "ground", "plane", "sphere"]

HeightFunction = Callable[[NDArray[np.float64], NDArray[np.float64]], ArrayLike]

_DEFAULT = Material()


def box(size: ArrayLike = (1.0, 1.0, 1.0), *, material: Material = _DEFAULT) -> Mesh:
    """A box of ``size`` (x, y, z) [m]: 12 triangles.

    >>> crate = tussock.box((1, 2, 3))
    >>> float(crate.areas.sum())
    22.0
    """
    sizes = np.asarray(size, float)
    if sizes.shape != (3,):
        raise InputError.of("box size", "must be three numbers [m]", sizes.tolist())
    for axis, length in zip("xyz", sizes, strict=True):
        positive(f"box size {axis}", length)
    # Corner k has the bits of k as its x, y and z.
    corners = (np.arange(8)[:, None] >> np.arange(3) & 1) - 0.5
    sides = np.array([[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]])
    return Mesh.of(corners * sizes, _halved(sides), (material,))


def plane(size: ArrayLike = (1.0, 1.0), *, material: Material = _DEFAULT) -> Mesh:
    """A rectangle of ``size`` (x, y) [m] in z = 0 that faces up: two triangles.

    >>> ground = tussock.plane((20, 20))
    >>> float(ground.areas.sum())
    400.0
    """
    return ground(size, cells=(1, 1), material=material)


def card(size: ArrayLike = (1.0, 1.0), *, crossed: int = 1, material: Material = _DEFAULT) -> Mesh:
    """An upright picture of ``size`` (width, height) [m] that stands on z = 0, along x and facing −y: two triangles.

    The material's texture fills it, and what is see-through in it is cut out. ``crossed`` such pictures stand in each other,
    turned evenly about z, as plants are often made.

    >>> leaf = np.full((4, 4, 4), 255, np.uint8)
    >>> leaf[0, :, 3] = 0  # nothing at the top
    >>> plant = tussock.card((0.2, 0.4), material=tussock.Material(texture=tussock.Texture(leaf)))
    """
    sizes = np.asarray(size, float)
    if sizes.shape != (2,):
        raise InputError.of("card size", "must be two numbers [m]", sizes.tolist())
    width, height = positive("card width", sizes[0]), positive("card height", sizes[1])
    turns = np.pi * np.arange(between("card crossed", whole("card crossed", crossed, 1), 1, 64)) / crossed
    across = np.array([-0.5, 0.5, 0.5, -0.5]) * width
    corners = np.stack(
        [
            np.outer(np.cos(turns), across),
            np.outer(np.sin(turns), across),
            np.tile([0, 0, height, height], (crossed, 1)),
        ],
        -1,
    )
    quads = np.arange(4 * crossed).reshape(-1, 4)
    uv = np.tile([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]], (crossed, 1))
    return Mesh.of(corners.reshape(-1, 3), _halved(quads), (material,), uv=uv)


def ground(
    size: ArrayLike,
    *,
    cells: tuple[int, int] = (1, 1),
    heights: HeightFunction | ArrayLike | None = None,
    material: Material = _DEFAULT,
) -> Mesh:
    """A rectangle of ``size`` (x, y) [m] in ``cells`` (along x, along y), raised by ``heights`` [m].

    ``heights`` is a function of x and y [m] (arrays of the same shape), or an array of shape
    (cells along x + 1, cells along y + 1), first corner at the lowest x and y. A cell is two triangles.
    """
    sizes = np.asarray(size, float)
    if sizes.shape != (2,):
        raise InputError.of("ground size", "must be two numbers [m]", sizes.tolist())
    width, depth = positive("ground size x", sizes[0]), positive("ground size y", sizes[1])
    nx, ny = whole("ground cells x", cells[0], 1), whole("ground cells y", cells[1], 1)
    x, y = np.meshgrid(
        np.linspace(-width / 2, width / 2, nx + 1), np.linspace(-depth / 2, depth / 2, ny + 1), indexing="ij"
    )
    z = np.zeros_like(x)
    if heights is not None:
        z = np.asarray(heights(x, y) if callable(heights) else heights, float)
        if z.shape != x.shape:
            raise InputError.of("ground heights", f"must have the shape {x.shape}", z.shape)
        if not np.isfinite(z).all():
            raise InputError("ground heights: must be finite, got NaN or infinity; fill the holes")
    index = np.arange((nx + 1) * (ny + 1)).reshape(nx + 1, ny + 1)
    quads = np.stack([index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]], -1)
    return Mesh.of(np.stack([x, y, z], -1).reshape(-1, 3), _halved(quads.reshape(-1, 4)), (material,))


def sphere(radius: float = 0.5, *, subdivisions: int = 4, material: Material = _DEFAULT) -> Mesh:
    """A sphere [m] of 20 · 4^``subdivisions`` nearly equal triangles: an icosahedron, halved again and again.

    >>> ball = tussock.sphere(radius=0.5, subdivisions=3)
    """
    positive("sphere radius", radius)
    between("sphere subdivisions", whole("sphere subdivisions", subdivisions, 0), 0, 9)
    golden = (1 + 5**0.5) / 2
    points = np.array(
        [(0, a, b * golden) for a in (-1, 1) for b in (-1, 1)]
        + [(a, b * golden, 0) for a in (-1, 1) for b in (-1, 1)]
        + [(b * golden, 0, a) for a in (-1, 1) for b in (-1, 1)]
    )
    triangles = _faces_of_icosahedron(points)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    for _ in range(subdivisions):
        edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
        edges, back = np.unique(edges, axis=0, return_inverse=True)
        middle = len(points) + back.reshape(-1, 3)
        points = np.concatenate([points, points[edges].sum(1)])
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        (a, b, c), (ab, bc, ca) = triangles.T, middle.T
        parts = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
        triangles = np.concatenate([np.stack(part, 1) for part in parts])
    return Mesh.of(points * radius, triangles, (material,))


def cylinder(
    radius: float = 0.5,
    height: float = 1.0,
    *,
    sides: int = 32,
    capped: bool = True,
    material: Material = _DEFAULT,
) -> Mesh:
    """An upright cylinder [m] of ``sides`` flat sides, closed at both ends unless ``capped`` is false.

    >>> post = tussock.cylinder(radius=0.1, height=2.0)
    """
    positive("cylinder radius", radius)
    positive("cylinder height", height)
    whole("cylinder sides", sides, 3)
    angle = np.arange(sides) * (2 * np.pi / sides)
    ring = np.stack([radius * np.cos(angle), radius * np.sin(angle)], 1)
    low, high = (np.column_stack([ring, np.full(sides, z)]) for z in (-height / 2, height / 2))
    here = np.arange(sides)
    after = np.roll(here, -1)
    triangles = [_halved(np.stack([here, after, after + sides, here + sides], 1))]
    points = [low, high]
    if capped:
        points.append(np.array([[0, 0, -height / 2], [0, 0, height / 2]]))
        triangles.append(np.stack([after, here, np.full(sides, 2 * sides)], 1))
        triangles.append(np.stack([here + sides, after + sides, np.full(sides, 2 * sides + 1)], 1))
    return Mesh.of(np.concatenate(points), np.concatenate(triangles), (material,))


def _halved(quads: NDArray[np.int64]) -> NDArray[np.int64]:
    """Two triangles for each quad (n, 4), next to one another."""
    return quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)


def _faces_of_icosahedron(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """The 20 triples of corners that are one edge (2, here) apart, each turned to face outward."""
    near = np.isclose(np.linalg.norm(points[:, None] - points[None], axis=2), 2.0)
    faces = np.array(
        [(a, b, c) for a in range(12) for b in range(a) for c in range(b) if near[a, b] and near[b, c] and near[a, c]]
    )
    a, b, c = (points[faces[:, i]] for i in range(3))
    inward = (np.cross(b - a, c - a) * a).sum(1) < 0
    faces[inward] = faces[inward][:, [0, 2, 1]]
    return faces
