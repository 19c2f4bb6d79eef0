"""Deadwood: a fallen trunk with the stumps of its limbs, lying on the ground along x."""

from __future__ import annotations

import numpy as np

from tussock.plants.stems import Stems, tubes
from tussock.scene.mesh import Mesh
from tussock.scene.surfaces import SURFACES
from tussock.worlds.sampling import Samples

__all__ = ["fallen_log"]


def fallen_log(variant: int) -> Mesh:
    """A trunk 5 m long and 0.36 m thick at its butt, its underside on z = 0 there."""
    samples = Samples(1, variant)
    x = np.linspace(-2.5, 2.5, 9)
    radius = np.linspace(0.18, 0.10, 9)
    sway = 0.15 * (samples.unit("sway", 0) - 0.5) * np.sin(np.linspace(0, np.pi, 9))
    trunk = Stems(np.stack([x, sway, radius], 1)[None], radius[None])
    bark = SURFACES["bark"].changed(name="deadwood", label="deadwood", color=(0.20, 0.17, 0.13))
    parts = [Mesh.of(*tubes(trunk, 12), (bark,))]
    count = 6
    at = -1.8 + 4.0 * samples.unit("at", np.arange(count))
    turn = np.pi * samples.unit("turn", np.arange(count))
    long = 0.25 + 0.6 * samples.unit("long", np.arange(count))
    start = np.stack([at, np.zeros(count), np.full(count, 0.14)], 1)
    out = np.stack([0.35 * np.ones(count), np.cos(turn), np.sin(turn)], 1)
    points = np.stack([start, start + long[:, None] * out], 1)
    limbs = Stems(points, np.stack([np.full(count, 0.035), np.full(count, 0.012)], 1))
    parts.append(Mesh.of(*tubes(limbs, 6), (bark,)))
    return Mesh.joined(parts)
