"""People and animals as bodies of rounded limbs: what a LIDAR sees of them, not a portrait.

A limb is a capsule: a tube between two joints with a ball at either end. Sizes are those of an adult of 1.75 m and of
a roe deer of 0.7 m at the shoulder.
"""

from __future__ import annotations

import numpy as np

from tussock.plants.stems import Stems, tubes
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.primitives import sphere

__all__ = ["deer", "person"]

Joint = tuple[float, float, float]


def person(coat: tuple[float, float, float] = (0.10, 0.16, 0.35)) -> Mesh:
    """An adult who walks along x, feet on z = 0; ``coat``: linear RGB of the jacket."""
    cloth = Material(name="coat", reflectance=0.55, color=coat, label="person")
    legs = Material(name="trousers", reflectance=0.45, color=(0.08, 0.07, 0.07), label="person")
    skin = Material(name="skin", reflectance=0.55, color=(0.60, 0.40, 0.30), label="person")
    limbs: list[tuple[Joint, Joint, float, Material]] = [
        ((-0.30, 0.10, 0.07), (-0.12, 0.10, 0.48), 0.065, legs),
        ((-0.12, 0.10, 0.48), (0.0, 0.09, 0.92), 0.085, legs),
        ((0.28, -0.10, 0.07), (0.16, -0.10, 0.50), 0.065, legs),
        ((0.16, -0.10, 0.50), (0.0, -0.09, 0.92), 0.085, legs),
        ((0.0, 0.0, 0.98), (0.0, 0.0, 1.35), 0.17, cloth),
        ((0.0, 0.20, 1.42), (0.10, 0.25, 1.12), 0.05, cloth),
        ((0.10, 0.25, 1.12), (0.28, 0.22, 0.95), 0.042, cloth),
        ((0.0, -0.20, 1.42), (-0.10, -0.25, 1.12), 0.05, cloth),
        ((-0.10, -0.25, 1.12), (-0.22, -0.24, 0.88), 0.042, cloth),
        ((0.02, 0.0, 1.62), (0.02, 0.0, 1.66), 0.10, skin),
    ]
    return Mesh.joined([_capsule(*limb) for limb in limbs])


def deer() -> Mesh:
    """A roe deer that looks along x, hooves on z = 0."""
    fur = Material(name="fur", reflectance=0.45, color=(0.28, 0.16, 0.08), label="animal")
    limbs: list[tuple[Joint, Joint, float, Material]] = [
        ((-0.35, 0.0, 0.62), (0.30, 0.0, 0.60), 0.14, fur),
        ((0.34, 0.0, 0.68), (0.52, 0.0, 0.95), 0.07, fur),
        ((0.54, 0.0, 1.0), (0.70, 0.0, 0.95), 0.06, fur),
        ((0.52, 0.06, 1.06), (0.48, 0.12, 1.18), 0.025, fur),
        ((0.52, -0.06, 1.06), (0.48, -0.12, 1.18), 0.025, fur),
    ]
    limbs += [
        ((x, y, 0.52), (x + lean, y, 0.03), 0.03, fur)
        for x, lean in ((-0.35, -0.05), (0.28, 0.06))
        for y in (-0.09, 0.09)
    ]
    return Mesh.joined([_capsule(*limb) for limb in limbs])


def _capsule(start: Joint, end: Joint, radius: float, material: Material) -> Mesh:
    line = np.array([[start, end]], float)
    ball = sphere(radius, subdivisions=2, material=material)
    tube = Mesh.of(*tubes(Stems(line, np.full((1, 2), radius)), 14), (material,))
    ends = [Mesh.of(ball.vertices.astype(float) + joint, ball.triangles, (material,)) for joint in line[0]]
    return Mesh.joined([tube, *ends])
