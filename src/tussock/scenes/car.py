"""A car: body, cabin with windows, wheels, lights. A plain saloon, for things that drive through a scene.

The body is an outline seen from the side, given a width at each of its corners; the cabin stands on it with glass
all around, through which the sensor sees the seats. 4.3 m long, 1.8 m wide, 1.45 m high, x forward, wheels on z = 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.primitives import box, cylinder
from tussock.scene.surfaces import SURFACES

__all__ = ["car"]

# x, z and half the width [m], counter-clockwise seen from the right (−y) side: rear to front along the bottom.
_BODY = [
    (-2.05, 0.28, 0.80), (-1.2, 0.20, 0.86), (1.2, 0.20, 0.86), (2.0, 0.26, 0.78), (2.15, 0.45, 0.74),
    (2.10, 0.66, 0.76), (1.75, 0.78, 0.84), (0.95, 0.90, 0.88), (-1.45, 0.95, 0.88), (-2.0, 0.92, 0.82),
    (-2.15, 0.70, 0.80), (-2.15, 0.45, 0.80),
]  # fmt: skip
_CABIN = [(-1.75, 0.93, 0.80), (0.95, 0.89, 0.80), (0.25, 1.40, 0.58), (-0.2, 1.45, 0.58), (-0.9, 1.42, 0.56)]


def car(paint: Material) -> Mesh:
    """A car whose body has the material ``paint``."""
    glass, rubber, dark = SURFACES["windscreen"], SURFACES["rubber"], SURFACES["rubber"].changed(name="seat")
    front, back = SURFACES["chrome"].changed(name="headlight"), SURFACES["tail-light"]
    parts = [_lofted(_BODY, paint), _cabin(paint, glass)]
    parts += [_moved(box((0.5, 1.2, 0.35), material=dark), (x, 0.0, 1.02)) for x in (-0.9, 0.05)]
    for x in (-1.32, 1.32):
        for y in (-0.78, 0.78):
            wheel = cylinder(0.32, 0.22, sides=28, material=rubber)
            lying = Mesh(
                wheel.vertices[:, [0, 2, 1]] * np.array([1, -1, 1], np.float32), wheel.triangles, wheel.materials
            )
            parts.append(_moved(lying, (x, y, 0.32)))
    for y in (-0.55, 0.55):
        parts.append(_moved(box((0.04, 0.32, 0.14), material=front), (2.13, y, 0.60)))
        parts.append(_moved(box((0.04, 0.30, 0.16), material=back), (-2.16, y, 0.78)))
    return Mesh.joined(parts)


def _cabin(paint: Material, glass: Material) -> Mesh:
    """The cabin: glass all around, the two faces of the roof painted."""
    shape = _lofted(_CABIN, glass)
    n = len(_CABIN)
    chosen = np.zeros(len(shape.triangles), np.uint16)
    roof = 2 * (n - 2)  # the two side walls come first, then two triangles for each edge of the outline
    for edge in (2, 3):
        chosen[roof + 2 * edge : roof + 2 * edge + 2] = 1
    return Mesh(shape.vertices, shape.triangles, (glass, paint), chosen)


def _lofted(outline: list[tuple[float, float, float]], material: Material) -> Mesh:
    """A closed body: the outline (x, z) at −y and +y half its width, joined around."""
    rows = np.array(outline)
    n = len(rows)
    right = np.stack([rows[:, 0], -rows[:, 2], rows[:, 1]], 1)
    left = right * [1, -1, 1]
    fan = np.array([(0, i, i + 1) for i in range(1, n - 1)])
    here, after = np.arange(n), (np.arange(n) + 1) % n
    around = np.stack([here, here + n, after + n, here, after + n, after], 1).reshape(-1, 3)
    return Mesh.of(np.concatenate([right, left]), np.concatenate([fan, fan[:, ::-1] + n, around]), (material,))


def _moved(part: Mesh, by: ArrayLike) -> Mesh:
    return Mesh(part.vertices + np.asarray(by, np.float32), part.triangles, part.materials, part.triangle_materials)
