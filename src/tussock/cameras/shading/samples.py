"""The draws of a picture's samples: where in the pixel, when, where on the sun and where in the sky.

Chance is counter-based: pixel, frame and sample give the draws, so the same seed gives the same picture on any number
of threads. Within a pixel the samples follow an additive sequence (Roberts 2018, R₂) from a random start, which
covers the pixel and the sky more evenly than independent draws.
"""

from __future__ import annotations

import numpy as np

from tussock.cameras.viewing import TILE, Viewing
from tussock.kernels import Array, Real, inline_kernel, loop_kernel
from tussock.randomness import Chance, Purpose, random_words, uniform
from tussock.trace.packets import LANES

__all__ = ["PIXEL_U", "PIXEL_V", "SKY_A", "SKY_B", "SUN_A", "SUN_B", "WHEN", "draw_sample", "start_sequences"]

_PIXEL_SAMPLE = int(Purpose.PIXEL_SAMPLE)
PIXEL_U, PIXEL_V, WHEN, SUN_A, SUN_B, SKY_A, SKY_B = range(7)
"""rows of the draws, and of where their sequences start"""


@loop_kernel
def start_sequences(viewing: Viewing, chance: Chance, band: int, left: int, starts: Array) -> None:
    """Where each pixel's seven sequences start, by chance, from 0 to 1."""
    width, height = viewing.width, viewing.height
    for l in range(LANES):
        pixel = min(band * TILE + l // TILE, height - 1) * width + min(left + l % TILE, width - 1)
        a = random_words(chance, pixel, 0, _PIXEL_SAMPLE)
        b = random_words(chance, pixel, 1, _PIXEL_SAMPLE)
        starts[PIXEL_U, l], starts[PIXEL_V, l] = uniform(a[0]), uniform(a[1])
        starts[WHEN, l], starts[SUN_A, l] = uniform(a[2]), uniform(a[3])
        starts[SUN_B, l], starts[SKY_A, l], starts[SKY_B, l] = uniform(b[0]), uniform(b[1]), uniform(b[2])


@loop_kernel
def draw_sample(samples: int, sample: int, starts: Array, draws: Array) -> None:
    """Seven numbers from 0 to 1 a lane."""
    for l in range(LANES):
        if samples == 1:
            draws[PIXEL_U, l] = draws[PIXEL_V, l] = 0.5
        else:
            draws[PIXEL_U, l] = _spread(starts[PIXEL_U, l], sample, 0.7548776662466927)
            draws[PIXEL_V, l] = _spread(starts[PIXEL_V, l], sample, 0.5698402909980532)
        draws[WHEN, l] = _spread(starts[WHEN, l], sample, 0.6180339887498949)
        draws[SUN_A, l] = _spread(starts[SUN_A, l], sample, 0.7548776662466927)
        draws[SUN_B, l] = _spread(starts[SUN_B, l], sample, 0.5698402909980532)
        draws[SKY_A, l] = _spread(starts[SKY_A, l], sample, 0.7548776662466927)
        draws[SKY_B, l] = _spread(starts[SKY_B, l], sample, 0.5698402909980532)


@inline_kernel
def _spread(start: Real, sample: int, step: float) -> Real:
    place = start + sample * step
    return np.float32(place - np.int64(place))
