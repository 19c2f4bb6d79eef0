"""Wind: how fast, where from, how gusty, and what gives way to it.

    wind = { speed_m_s = 6, from_deg = 240, gusts = 0.5 }

The speed is the mean at 10 m above open ground, as weather services give it. Near the ground it is less, by the
logarithmic law over grassland (roughness length z₀ = 0.03 m, WMO guide no. 8, class 3)

    U(z) = U₁₀ · ln(z / z₀) / ln(10 m / z₀)

``from_deg`` is the bearing that it comes from, clockwise from north; x of a scene is east and y is north. ``gusts`` is
the standard deviation of the speed over its mean (the intensity of turbulence).

Gusts are waves of speed that the mean wind carries over the field without changing them (Taylor's frozen turbulence):
`waves` draws them with counters. Their energy over wavelengths follows the spectrum of EN 1991-1-4, annex B.
"""

from __future__ import annotations

import re
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from tussock.errors import InputError
from tussock.randomness import Purpose, uniform_array
from tussock.scene.stems import Stem
from tussock.settings import Settings

__all__ = ["Waves", "Wind", "spectrum", "speed_at", "turbulence_length", "waves", "wind_of"]

_ROUGHNESS = 0.03  # [m]
_REFERENCE = 10.0  # [m] where the speed is given
_LONGEST, _SHORTEST = 60.0, 4.0  # [m] of the gusts' waves
_COUNT = 8
_ASIDE = np.deg2rad(40.0)  # how far a wave may run off the wind's own direction
_TEXT = re.compile(
    r"\s*(?P<speed>\S+?)\s*m/s(?:\s+from\s+(?P<from>\S+?)\s*(?:deg|°)?)?(?:,?\s+gusts\s+(?P<gusts>\S+))?\s*"
)


class Wind(Settings):
    """The wind over a scene, the same for all sensors in it.

    >>> import tussock
    >>> scene = tussock.ready_scene("yard")
    >>> scene.wind = tussock.Wind(speed_m_s=6, from_deg=240, gusts=0.5)
    >>> scene.wind.towards.round(3).tolist()
    [0.866, 0.5]
    """

    speed_m_s: Annotated[float, Field(ge=0.0, le=100.0)]
    """mean at 10 m above the ground; 0: nothing moves"""
    from_deg: Annotated[float, Field(ge=0.0, le=360.0)] = 270.0
    """bearing that it comes from, clockwise from north (y)"""
    gusts: Annotated[float, Field(ge=0.0, le=1.0)] = 0.3
    """standard deviation of the speed over its mean"""
    seed: Annotated[int, Field(ge=0, lt=2**64)] = 0
    """of the gusts, and of the plants' own frequencies and phases"""
    stems: dict[str, Stem] = Field(default_factory=dict)
    """how objects bend, by their names; others as their height and label say"""
    still: tuple[str, ...] = ()
    """names of plants that do not move"""

    @property
    def towards(self) -> NDArray[np.float64]:
        """unit vector along the wind, x east and y north, shape (2,)"""
        bearing = np.deg2rad(self.from_deg + 180.0)
        return np.array([np.sin(bearing), np.cos(bearing)])

    def velocity(self, height: float = 2.0) -> NDArray[np.float64]:
        """of the mean wind at a ``height`` [m] above the ground, along x, y and z [m/s], shape (3,); what clouds of dust
        drift with is that at 2 m"""
        return np.append(self.towards * float(speed_at(self.speed_m_s, height)), 0.0)


def wind_of(text: str) -> Wind:
    """The wind that a line says: ``6 m/s from 240``, ``6 m/s from 240 gusts 0.5``."""
    found = _TEXT.fullmatch(text)
    remedy = 'say it as "6 m/s from 240" or "6 m/s from 240 gusts 0.5"'
    if found is None:
        raise InputError.of("wind", "must be a speed in m/s, a bearing and gusts", text, remedy)
    keys = {"speed_m_s": found["speed"], "from_deg": found["from"], "gusts": found["gusts"]}
    numbers = {}
    for key, word in keys.items():
        if word is not None:
            try:
                numbers[key] = float(word)
            except ValueError:
                raise InputError.of(f"wind {key}", "must be a number", word, remedy) from None
    return Wind.parse(numbers, "wind")


def speed_at(speed: float, height: ArrayLike) -> NDArray[np.float64]:
    """Mean speed [m/s] at a ``height`` [m] above the ground, of a wind of ``speed`` at 10 m."""
    # Below three roughness lengths the law gives nothing: among the lowest leaves some air moves all the same.
    over = np.maximum(np.asarray(height, float), 3 * _ROUGHNESS) / _ROUGHNESS
    return np.asarray(speed * np.log(over) / np.log(_REFERENCE / _ROUGHNESS))


def turbulence_length(height: ArrayLike) -> NDArray[np.float64]:
    """Length of the eddies [m] at a height [m]: 300 m·(z / 200 m)^α, α = 0.67 + 0.05 ln z₀ (EN 1991-1-4, B.1)."""
    return np.asarray(300.0 * (np.asarray(height, float) / 200.0) ** (0.67 + 0.05 * np.log(_ROUGHNESS)))


def spectrum(x: ArrayLike) -> NDArray[np.float64]:
    """f·S(f) / σ² at x = f·L / U (EN 1991-1-4, B.2): a variance of 1 over ln f."""
    at = np.asarray(x, float)
    return np.asarray(6.8 * at / (1.0 + 10.2 * at) ** (5.0 / 3.0))


class Waves(NamedTuple):
    """Gusts: the speed is U·(1 + gusts·Σ amplitude·cos 2π(turns·(x, y) − frequency·t + phase))."""

    turns: NDArray[np.float64]
    """a metre along x and y, shape (n, 2)"""
    frequency: NDArray[np.float64]
    """[Hz] at a place that stands, shape (n,)"""
    phase: NDArray[np.float64]
    """[turns], shape (n,)"""
    amplitude: NDArray[np.float64]
    """shape (n,); the sum of waves has the variance 1"""


def waves(wind: Wind) -> Waves:
    """The gusts of a wind: eight waves of 4 m to 60 m, up to 40° off its direction."""
    number = np.arange(_COUNT)
    aside, phase, shift = (uniform_array(wind.seed, Purpose.WIND, 0, number, d).astype(float) for d in range(3))
    lengths = _LONGEST * (_SHORTEST / _LONGEST) ** ((number + shift) / _COUNT)
    angle = (2 * aside - 1) * _ASIDE
    along, across = np.cos(angle) / lengths, np.sin(angle) / lengths
    (x, y) = wind.towards
    turns = np.stack([along * x - across * y, along * y + across * x], 1)
    share = np.sqrt(spectrum(turbulence_length(_REFERENCE) / lengths))
    return Waves(turns, wind.speed_m_s * along, phase, share / np.sqrt((share**2).sum() / 2))
