"""A film of water on a surface: it turns away what comes in at a grazing angle, and shines like a mirror there.

F(θ) is Fresnel's reflectance of water (index 1.33) for light of no polarisation, 2 % straight on and 59 % at 85°. What
lies under the film gets 1 − F of the light and sends 1 − F of its own back out, so a wet surface returns

    ((1 − F(θ))/(1 − F(0)))²

of what it does straight on. How dark it is straight on, the material says (`tussock.scene.wet`). Where the film lies
smooth, F(θ) goes on as from a mirror; below a fifth, whose square would come back, it is not followed.
"""

from __future__ import annotations

import math

import numpy as np

from tussock.kernels import Real, inline_kernel

__all__ = ["film_mirror", "film_passes", "fresnel"]

_WATER = np.float32(1.33)
_ONE, _HALF = np.float32(1.0), np.float32(0.5)
_STRAIGHT = np.float32((0.33 / 2.33) ** 2)
_FAINT = np.float32(0.2)


@inline_kernel
def fresnel(cosine: Real) -> Real:
    """F of a film of water, from the cosine of the angle of incidence, 0 to 1."""
    sine2 = (_ONE - cosine * cosine) / (_WATER * _WATER)
    inside = np.float32(math.sqrt(_ONE - sine2))
    across = (cosine - _WATER * inside) / (cosine + _WATER * inside)
    along = (_WATER * cosine - inside) / (_WATER * cosine + inside)
    return _HALF * (across * across + along * along)


@inline_kernel
def film_passes(film: Real, cosine: Real) -> Real:
    """Share that comes back through a film over the share ``film`` of a surface, of what does straight on."""
    passes = (_ONE - fresnel(cosine)) / (_ONE - _STRAIGHT)
    return _ONE - film * (_ONE - passes * passes)


@inline_kernel
def film_mirror(gloss: Real, cosine: Real) -> Real:
    """Share that goes on as from a mirror, of a film that lies smooth over the share ``gloss``; 0 where it is faint."""
    share = gloss * fresnel(cosine)
    return share if share >= _FAINT else np.float32(0.0)
