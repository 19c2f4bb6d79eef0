"""How much of a ray comes back from a surface.

Lambert, eq (1) of Goodin et al. (2018): I = ρ·I₀·cos θ with I₀ = 1, ρ the reflectance of the surface and θ the
angle between ray and normal. A leaf or blade is seen from both sides alike.

Phong, as Jayaraman et al. use it: diffuse K_d·cos θ + specular K_s·(R·V)^α. Emitter and receiver stand at the
same place, so L = V is the direction to the sensor and R = 2(N·L)N − L, which gives R·V = 2cos²θ − 1. The
formulas printed in the paper are garbled; there is no ambient light in a pulse.

A retro-reflector sends the ray back where it came from, at any angle: its gain times the area seen, g·cos θ.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tussock.kernels import inline_kernel

__all__ = ["cos_incidence", "glint", "lambert"]


@inline_kernel
def cos_incidence(dx: Any, dy: Any, dz: Any, nx: Any, ny: Any, nz: Any) -> Any:
    """|cos θ| between a unit direction and a normal of any length; 0 for a normal of length 0."""
    length2 = nx * nx + ny * ny + nz * nz
    # Branch-free, so that the loop over lanes becomes vector code; the tiny term keeps 0/0 away.
    cosine = abs(dx * nx + dy * ny + dz * nz) / np.float32(math.sqrt(length2 + np.float32(1e-37)))
    return min(np.float32(cosine), np.float32(1.0))


@inline_kernel
def lambert(reflectance: Any, cosine: Any) -> Any:
    """I = ρ cos θ"""
    return reflectance * cosine


@inline_kernel
def glint(specular: Any, shininess: Any, retro: Any, cosine: Any) -> Any:
    """What shine adds to Lambert: K_s·max(2cos²θ − 1, 0)^α + g·cos θ"""
    lobe = np.float32(2.0) * cosine * cosine - np.float32(1.0)
    shine = retro * cosine
    if specular > np.float32(0.0) and lobe > np.float32(0.0):
        shine += specular * np.float32(math.pow(lobe, shininess))
    return shine
