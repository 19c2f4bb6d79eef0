"""What a surface is to a vehicle: ground that carries it, something solid that stops it, or a plant that gives way.

A triangle's label decides: that of its material, or of its object where the material has none. Whatever is neither
ground nor a yielding plant is solid. Trunks are solid too, and are weighed by their thickness
(`tussock.drive.site.obstacles`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.scene.labels import GROUND, PLANTS
from tussock.scene.scene import SceneObject

__all__ = ["Faces", "faces_of"]

TRUNK = "trunk"


class Faces(NamedTuple):
    """Which triangles of a shape are what; masks of shape (m,)."""

    ground: NDArray[np.bool_]
    plants: NDArray[np.bool_]
    trunk: NDArray[np.bool_]
    solid: NDArray[np.bool_]
    """all that is neither ground nor plant nor trunk"""


def faces_of(thing: SceneObject) -> Faces:
    """The triangles of an object's mesh by what they are to a vehicle."""
    labels = [material.label or thing.label for material in thing.mesh.materials]
    which = thing.mesh.material_of_triangles
    ground = np.array([label in GROUND for label in labels])[which]
    plants = np.array([label in PLANTS for label in labels])[which]
    trunk = np.array([label == TRUNK for label in labels])[which]
    return Faces(ground, plants, trunk, ~(ground | plants | trunk))
