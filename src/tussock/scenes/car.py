"""A car: body with wheel arches, cabin with windows, wheels, lights. A plain saloon, for things that drive through a scene.

Body and cabin are lofts: cross-sections along x, each half a ring of points from the middle below to the middle above,
joined to the next one and mirrored. What a section looks like follows from smooth curves over x (how high the bonnet, how
wide the flanks, how high the roof); over a wheel its lower edge rises to a circle, and behind it lies the wheel's well.
Glass all around the cabin lets a sensor see the seats. 4.3 m long, 1.8 m wide, 1.45 m high, x forward, wheels on z = 0;
some 8,700 triangles.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tussock.arrays import FloatArray
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.primitives import box, sphere
from tussock.scene.surfaces import SURFACES

__all__ = ["car"]

# Curves over x [m]: corners, which are rounded off.
_BONNET = [
    (-2.15, 0.60),
    (-2.14, 0.88),
    (-1.95, 0.98),
    (-1.4, 0.98),
    (0.9, 0.93),
    (1.6, 0.84),
    (2.05, 0.70),
    (2.15, 0.54),
]
_FLOOR = [(-2.15, 0.40), (-2.02, 0.24), (-1.7, 0.20), (1.7, 0.20), (2.0, 0.22), (2.15, 0.34)]
_FLANK = [(-2.15, 0.62), (-2.08, 0.80), (-1.5, 0.88), (0.0, 0.895), (1.3, 0.88), (1.95, 0.80), (2.15, 0.56)]
_ROOF = [(-1.78, 0.95), (-0.98, 1.42), (-0.35, 1.44), (0.15, 1.44), (0.32, 1.39), (1.02, 0.90)]
_BELT = [(-1.78, 0.70), (-1.2, 0.80), (0.3, 0.80), (1.02, 0.72)]

_AXLES, _WHEEL, _ARCH, _WELL = (-1.32, 1.32), 0.32, 0.375, 0.60
"""[m]: where the axles are, radii of a wheel and of the arch over it, half the width between the wells"""
_WINDSCREEN, _REAR_WINDOW = 0.27, -0.97
"""[m] along x, where the roof ends"""
_SIDE_WINDOWS = ((-1.22, -0.32), (-0.22, 0.74))
_SPOKES = 5


class _Parts(NamedTuple):
    """Materials of a car."""

    paint: Material
    glass: Material
    rubber: Material
    dark: Material
    rim: Material


def car(paint: Material) -> Mesh:
    """A car whose body has the material ``paint``."""
    rubber, chrome = SURFACES["rubber"], SURFACES["chrome"]
    looks = _Parts(
        paint, SURFACES["windscreen"], rubber, rubber.changed(name="seat", color=(0.035, 0.035, 0.04)),
        chrome.changed(name="rim"),
    )  # fmt: skip
    parts = [_body(looks), _cabin(looks), *_fittings(looks)]
    for x in _AXLES:
        parts += [_moved(_wheel(looks, side), (x, side * 0.765, _WHEEL)) for side in (-1, 1)]
    return Mesh.joined(parts)


def _rounded(corners: list[tuple[float, float]], x: FloatArray) -> FloatArray:
    """A curve at ``x``: the line through the corners, each cut off three times (Chaikin 1974)."""
    points = np.array(corners)
    for _ in range(3):
        a, b = points[:-1], points[1:]
        cut = np.stack([0.75 * a + 0.25 * b, 0.25 * a + 0.75 * b], 1).reshape(-1, 2)
        points = np.concatenate([points[:1], cut, points[-1:]])
    return np.interp(x, *points.T)


def _body(looks: _Parts) -> Mesh:
    turn = np.linspace(0, np.pi, 15)
    arches = [axle + _ARCH * np.cos(turn) for axle in _AXLES]
    edges = [axle + side * (_ARCH + 0.004) for axle in _AXLES for side in (-1, 1)]
    ends = 2.15 - np.array([0, 0.006, 0.02, 0.045, 0.08, 0.13, 0.2, 0.3, 0.4])
    x = np.unique(np.concatenate([*arches, edges, ends, -ends, np.linspace(-0.9, 0.9, 13)]))
    low, high, wide = (_rounded(curve, x) for curve in (_FLOOR, _BONNET, _FLANK))
    arch = low.copy()
    for axle in _AXLES:
        inside = np.abs(x - axle) <= _ARCH + 1e-9
        arch[inside] = _WHEEL + np.sqrt(np.maximum(_ARCH**2 - (x[inside] - axle) ** 2, 0))
    well = np.minimum(_WELL, 0.9 * wide)
    shoulder = high - 0.35 * (high - low) * 0.5
    rows = [(0 * x, low), (well, low), (well, arch), (0.975 * wide, arch)]
    rows += [((0.975 + 0.1 * t * (1 - t)) * wide, arch + t * (shoulder - arch)) for t in (0.13, 0.35, 0.65, 1.0)]
    for angle in np.deg2rad([20, 40, 60, 78]):
        rows.append((wide * (0.78 + 0.195 * np.cos(angle)), shoulder + (high - shoulder) * np.sin(angle)))
    rows += [(0.74 * wide, high + 0.002), (0.4 * wide, high + 0.012), (0 * x, high + 0.016)]
    mesh, where, row = _lofted(x, rows, capped=True)
    chosen = np.zeros(len(mesh.triangles), np.uint16)
    chosen[row <= 3] = 1  # below, in the wells, and the sill
    under_cabin = (row >= 11) & (where[:, 0] > -1.62) & (where[:, 0] < 0.84) & (np.abs(where[:, 1]) < 0.72)
    chosen[under_cabin] = 2
    return Mesh(mesh.vertices, mesh.triangles, (looks.paint, looks.rubber, looks.dark), chosen)


def _cabin(looks: _Parts) -> Mesh:
    """Roof, pillars and windows; its lower edge is inside the body."""
    sides = [edge for window in _SIDE_WINDOWS for edge in window]
    front, back = np.linspace(_WINDSCREEN, 1.02, 9), np.linspace(-1.78, _REAR_WINDOW, 9)
    x = np.unique(np.concatenate([front, back, sides, np.linspace(_REAR_WINDOW, _WINDSCREEN, 9)]))
    belt, wide = _rounded(_BONNET, x) - 0.05, _rounded(_BELT, x)
    high = np.maximum(_rounded(_ROOF, x), belt + 0.005)
    top = 0.74 * wide
    share = np.clip((high - belt) / 0.4, 0, 1)
    rows = [(wide + (top - wide) * t, belt + (high - 0.03 * share - belt) * t) for t in (0.0, 0.22, 0.55, 0.88)]
    rows += [(0.97 * top, high - 0.018 * share), (0.88 * top, high - 0.004 * share)]
    rows += [(0.5 * top, high + 0.006 * share), (0 * x, high + 0.01 * share)]
    mesh, where, row = _lofted(x, rows)
    at = where[:, 0]
    window = np.zeros(len(at), bool)
    for start, end in _SIDE_WINDOWS:
        window |= (row >= 1) & (row < 3) & (at > start) & (at < end)
    window |= (row >= 5) & ((at > _WINDSCREEN) | (at < _REAR_WINDOW))
    return Mesh(mesh.vertices, mesh.triangles, (looks.paint, looks.glass), window.astype(np.uint16))


def _lofted(
    x: FloatArray, rows: list[tuple[FloatArray, FloatArray]], *, capped: bool = False
) -> tuple[Mesh, FloatArray, NDArray[np.int64]]:
    """Half a ring of (y, z) at each of n places ``x``, mirrored: the mesh, the middle (m, 3) of each triangle and the
    row of the ring where it begins (m,). Triangles without area are left out. ``capped``: closed at both ends."""
    half = np.array([np.stack([x, y, z], 1) for y, z in rows])  # (rows, n, 3)
    k, n = len(rows), len(x)
    j, i = np.meshgrid(np.arange(k - 1), np.arange(n - 1), indexing="ij")
    a, b = (j * n + i).ravel(), ((j + 1) * n + i).ravel()
    quads = np.stack([a, a + 1, b + 1, a, b + 1, b], 1).reshape(-1, 3)
    row = np.repeat(j.ravel(), 2)
    if capped:
        for end, turn in ((0, [0, 1, 2]), (n - 1, [0, 2, 1])):
            ring = np.arange(k) * n + end
            fan = np.stack([np.full(k - 2, ring[-1]), ring[:-2], ring[1:-1]], 1)[:, turn]
            quads, row = np.concatenate([quads, fan]), np.concatenate([row, np.full(k - 2, 5)])
    right = half.reshape(-1, 3)
    points = np.concatenate([right * [1, -1, 1], right])
    corners = np.concatenate([quads, quads[:, ::-1] + k * n])
    both = np.concatenate([row, row])
    a3, b3, c3 = (points[corners[:, c]] for c in range(3))
    real = np.linalg.norm(np.cross(b3 - a3, c3 - a3), axis=1) > 1e-8
    return Mesh.of(points, corners[real]), ((a3 + b3 + c3) / 3)[real], both[real]


def _wheel(looks: _Parts, side: int) -> Mesh:
    """A tyre on a rim with spokes, turned about y; its outer face looks to ``side`` (±1)."""
    profile = np.array([
        (0.0, 0.055), (0.055, 0.06), (0.185, 0.045), (0.2, 0.085), (0.215, 0.1), (0.285, 0.105), (0.312, 0.09),
        (_WHEEL, 0.06), (_WHEEL, -0.06), (0.3, -0.1), (0.2, -0.1), (0.0, -0.02),
    ])  # fmt: skip
    segments, k = 6 * _SPOKES, len(profile)
    angle = np.arange(segments) * 2 * np.pi / segments - np.pi / 2  # one corner stands on the ground
    radius, across = profile.T
    ring = np.stack(
        [
            radius * np.cos(angle)[:, None],
            np.broadcast_to(side * across, (segments, k)),
            radius * np.sin(angle)[:, None],
        ],
        2,
    )
    s, j = np.meshgrid(np.arange(segments), np.arange(k - 1), indexing="ij")
    a, b = (s * k + j).ravel(), ((s + 1) % segments * k + j).ravel()
    quads = np.stack([a, b, b + 1, a, b + 1, a + 1], 1).reshape(-1, 3)
    at, spoke = np.repeat(j.ravel(), 2), np.repeat(s.ravel(), 2) % 6
    chosen = np.where(at < 3, np.where((at == 1) & (spoke >= 2) & (spoke < 5), 2, 1), 0)
    keep = ~((at == 0) & (np.arange(len(quads)) % 2 == 0)) & ~((at == k - 2) & (np.arange(len(quads)) % 2 == 1))
    faces = quads if side > 0 else quads[:, ::-1]
    return Mesh.of(ring.reshape(-1, 3), faces[keep], (looks.rubber, looks.rim, looks.dark), chosen[keep])


def _fittings(looks: _Parts) -> list[Mesh]:
    """Lights, grille, number plates, mirrors, handles; seats and dashboard inside."""
    front, back = SURFACES["chrome"].changed(name="headlight", color=(0.8, 0.8, 0.78)), SURFACES["tail-light"]
    plate = Material(name="number-plate", reflectance=0.6, color=(0.75, 0.75, 0.7))
    parts = [
        _moved(box((0.03, 0.76, 0.13), material=looks.rubber), (2.135, 0.0, 0.44)),
        _moved(box((0.012, 0.5, 0.1), material=plate), (2.148, 0.0, 0.42)),
        _moved(box((0.012, 0.5, 0.1), material=plate), (-2.148, 0.0, 0.62)),
        _moved(box((0.3, 1.25, 0.07), material=looks.dark), (0.6, 0.0, 0.95)),
        _moved(box((0.14, 1.15, 0.28), material=looks.dark), (-1.1, 0.0, 1.06)),
    ]
    for side in (-1, 1):
        parts += [
            _moved(_egg((0.13, 0.17, 0.06), front), (1.98, side * 0.56, 0.645)),
            _moved(_egg((0.07, 0.15, 0.075), back), (-2.09, side * 0.58, 0.80)),
            _moved(_egg((0.06, 0.07, 0.05), looks.paint), (0.66, side * 0.82, 1.0)),
            _moved(box((0.13, 0.46, 0.36), material=looks.dark), (-0.28, side * 0.36, 1.08)),
            _moved(box((0.08, 0.26, 0.13), material=looks.dark), (-0.3, side * 0.36, 1.29)),
        ]
        parts += [_moved(box((0.16, 0.02, 0.025), material=looks.rim), (x, side * 0.872, 0.80)) for x in (-1.0, -0.02)]
    return parts


def _egg(radii: tuple[float, float, float], material: Material) -> Mesh:
    ball = sphere(1.0, subdivisions=2, material=material)
    return Mesh(ball.vertices * np.asarray(radii, np.float32), ball.triangles, ball.materials)


def _moved(part: Mesh, by: ArrayLike) -> Mesh:
    return Mesh(part.vertices + np.asarray(by, np.float32), part.triangles, part.materials, part.triangle_materials)
