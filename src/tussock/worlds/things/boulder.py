"""A boulder: a sphere cut by planes, as broken stone is."""

from __future__ import annotations

import numpy as np

from tussock.scene.mesh import Mesh
from tussock.scene.primitives import sphere
from tussock.scene.surfaces import SURFACES
from tussock.worlds.sampling import Samples

__all__ = ["boulder"]

_CUTS = 9


def boulder(variant: int) -> Mesh:
    """A stone 1 m long, 0.8 m wide and 0.6 m high about its middle; every ``variant`` is cut otherwise."""
    samples = Samples(0, variant)
    axes = 2 * samples.unit("axes", np.arange(3 * _CUTS)).reshape(_CUTS, 3) - 1
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    depth = 0.62 + 0.28 * samples.unit("depth", np.arange(_CUTS))
    ball = sphere(1.0, subdivisions=3, material=SURFACES["rock"])
    unit = ball.vertices.astype(float)
    cut = np.minimum(1.0, (depth / np.maximum(unit @ axes.T, 1e-6)).min(1))
    return Mesh.of(unit * (0.5 * cut)[:, None] * [1.0, 0.8, 0.6], ball.triangles, ball.materials)
