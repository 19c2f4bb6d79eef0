"""From light to an 8-bit picture: blur, exposure, noise and the tone curve.

Light is linear; 1 is a white surface in full sun. In this order:

    blur      a Gaussian of ``blur_px`` pixels: a lens that is not quite in focus
    exposure  times 2^``exposure_ev``; with ``auto_exposure`` also times what makes the logarithmic mean of the picture's
              luminance (Y of Rec. 709) middle grey, 0.18 of white, as a camera's meter does
    noise     σ² = read_noise² + shot_noise² · light: the two parts of a real sensor's noise, in units of white
    curve     straight up to 0.6, then bending smoothly towards 1 so that bright sky keeps its colour; then the
              transfer function of sRGB (IEC 61966-2-1), rounded up or down by a fixed pattern of chance, which
              keeps a clear sky free of bands

Noise is counter-based: the same seed and frame give the same bits.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tussock.cameras.shading.mottle import hashed
from tussock.kernels import Array, inline_kernel, kernel
from tussock.randomness import Chance, Purpose, chance_of, normal_pair, random_words
from tussock.settings import Settings
from tussock.threads import run_on_threads

__all__ = ["Development", "develop"]

_IMAGE_NOISE = int(Purpose.IMAGE_NOISE)
_KNEE = np.float32(0.6)
_LUMINANCE = np.array([0.2126, 0.7152, 0.0722])
_MIDDLE_GREY = 0.18
_STEPS = 16384  # entries of the table of the sRGB function: at least 5 a grey level


class Development(Settings):
    """How light becomes the numbers of a picture.

    >>> tussock.Development(exposure_ev=1.0, read_noise=0.01).exposure_ev
    1.0
    """

    exposure_ev: Annotated[float, Field(ge=-20, le=20)] = 0.5
    """stops: +1 doubles the light"""
    auto_exposure: bool = False
    """whether a meter sets the exposure of every picture, and ``exposure_ev`` is on top of it"""
    blur_px: Annotated[float, Field(ge=0, le=100)] = 0.0
    """standard deviation [pixels]"""
    read_noise: Annotated[float, Field(ge=0, le=1)] = 0.0
    """standard deviation in the dark, white = 1"""
    shot_noise: Annotated[float, Field(ge=0, le=1)] = 0.0
    """standard deviation at white, white = 1"""


def develop(
    light: NDArray[np.float32], settings: Development, *, seed: int = 0, frame: int = 0, threads: int = 1
) -> NDArray[np.uint8]:
    """sRGB (height, width, 3) of linear light of the same shape."""
    if settings.blur_px > 0:
        from scipy.ndimage import gaussian_filter

        light = gaussian_filter(light, (settings.blur_px, settings.blur_px, 0), mode="nearest")
    picture = np.empty(light.shape, np.uint8)
    metered = _metered(light) if settings.auto_exposure else 1.0
    film = _Film(
        np.float32(metered * 2.0**settings.exposure_ev), np.float32(settings.read_noise), np.float32(settings.shot_noise),
        _srgb_table(),
    )  # fmt: skip
    run_on_threads(_develop, threads, np.ascontiguousarray(light), film, chance_of(seed, frame), picture)
    return picture


def _metered(light: NDArray[np.float32]) -> float:
    """What makes the logarithmic mean of a picture's luminance middle grey; 1 in the dark."""
    luminance = np.maximum(light.reshape(-1, 3).astype(np.float64) @ _LUMINANCE, 0.0)
    brightest = float(luminance.max(initial=0.0))
    if not 0.0 < brightest < np.inf:
        return 1.0
    # Black corners and deep shade count as 13 stops below the brightest: what no film holds.
    mean = float(np.exp(np.log(np.maximum(luminance, brightest * 2.0**-13)).mean()))
    return _MIDDLE_GREY / mean


class _Film(NamedTuple):
    """The settings for the kernel."""

    gain: np.float32
    read: np.float32
    shot: np.float32
    table: NDArray[np.float32]
    """see `_srgb_table`"""


def _srgb_table() -> NDArray[np.float32]:
    """Grey levels 0 to 255 of linear light from 0 to 1."""
    linear = (np.arange(_STEPS) + 0.5) / _STEPS
    curve = np.where(linear <= 0.0031308, 12.92 * linear, 1.055 * linear ** (1 / 2.4) - 0.055)
    return (255 * curve).astype(np.float32)


@inline_kernel
def shoulder(x: Any) -> Any:
    """0…∞ to 0…1: the identity up to the knee, then 1 − (1 − knee)·exp(−(x − knee)/(1 − knee))."""
    rest = np.float32(1.0) - _KNEE
    return x if x <= _KNEE else np.float32(1.0) - rest * np.float32(math.exp(-(x - _KNEE) / rest))


@kernel
def _develop(worker: int, workers: int, light: Array, film: _Film, chance: Chance, picture: Array) -> None:
    gain, read, shot, table = film
    height, width = light.shape[0], light.shape[1]
    noisy = read > np.float32(0.0) or shot > np.float32(0.0)
    last = np.int64(len(table) - 1)
    for r in range(worker, height, workers):
        for c in range(width):
            n0, n1, n2 = np.float32(0.0), np.float32(0.0), np.float32(0.0)
            if noisy:
                words = random_words(chance, r * width + c, 0, _IMAGE_NOISE)
                n0, n1 = normal_pair(words[0], words[1])
                n2 = normal_pair(words[2], words[3])[0]
            for i in range(3):
                x = max(light[r, c, i] * gain, np.float32(0.0))
                if noisy:
                    sigma = np.float32(math.sqrt(read * read + shot * shot * x))
                    x += sigma * (n0 if i == 0 else (n1 if i == 1 else n2))
                step = np.int64(shoulder(max(x, np.float32(0.0))) * np.float32(len(table)))
                level = table[min(step, last)] + hashed(r, c, i)
                picture[r, c, i] = np.uint8(min(level, np.float32(255.0)))
