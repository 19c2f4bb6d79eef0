"""Sun and sky: where the light of a picture comes from.

Light is in units of a white surface that faces the sun at 40°: the sun alone makes it 1. The sun is a disc of 0.53°
across; the lower it stands the longer is its way through the air (Kasten and Young 1989), which takes its blue first:
Rayleigh's optical depth (Bodhaine et al. 1999) and that of a clear day's dust. The sky is a gradient from the blue of the
zenith to the pale horizon, darker and warmer with a low sun, with a glow around the sun and, where wanted, clouds: a
drawing of a sky, not a measurement of one (for that: Hosek and Wilkie 2012). Distant things fade into the colour of the
horizon with the ``visibility_m`` of Koschmieder (1924), at which a dark thing keeps 2 % of its contrast. Where that is
some kilometres or less the air is grey, above too, and the sun fades in it.
"""

from __future__ import annotations

import math
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from tussock.cameras.shading.mottle import mottle
from tussock.kernels import kernel
from tussock.quantities import Fraction, Positive
from tussock.settings import Settings

__all__ = ["Light", "LightNumbers", "sky"]

_ZENITH = np.array([0.085, 0.21, 0.52])
_HORIZON = np.array([0.46, 0.60, 0.76])
_LOW_ZENITH = np.array([0.10, 0.17, 0.38])
_LOW_HORIZON = np.array([0.86, 0.58, 0.36])
"""with the sun on the horizon"""
_FOG = np.array([0.62, 0.63, 0.64])
_SUN = np.array([1.0, 0.95, 0.86])
"""at 40°"""
_DEPTHS = np.array([0.066, 0.100, 0.199]) + np.array([0.095, 0.109, 0.136])
"""of the air above us at 610, 550 and 465 nm: of its molecules, and of dust (0.05 λ^-1.3, λ in µm)"""
_HIGH = 40.0
"""[degrees] where the sun has its full strength, and the sky its colours of day"""
_GROUND = np.array([0.16, 0.15, 0.10])
"""what the ground sends back of the light it gets, where rays meet nothing below the horizon"""
_SKY_SHARE = 0.75
"""the painted sky is brighter than a real one beside the sun; this much of it lights surfaces"""


class Light(Settings):
    """Sun, sky and haze.

    >>> evening = tussock.Light(sun_azimuth_deg=270, sun_elevation_deg=5)
    """

    sun_azimuth_deg: Annotated[float, Field(ge=-360.0, le=360.0)] = 215.0
    """where the sun stands, counter-clockwise from x of the world"""
    sun_elevation_deg: Annotated[float, Field(ge=-90.0, le=90.0)] = 40.0
    """below 0 there is no sun"""
    sun: Annotated[float, Field(ge=0.0, le=100.0)] = 1.0
    """strength; 0: an overcast day"""
    sky: Annotated[float, Field(ge=0.0, le=100.0)] = 1.0
    """strength"""
    clouds: Fraction = 0.4
    """share of the sky, roughly; they cast no shadow"""
    visibility_m: Positive | None = 8000.0
    """haze; none: clear air"""

    def numbers(self, extinction: float = 0.0) -> LightNumbers:
        """For kernels; ``extinction`` [1/m] of the weather is added to the haze."""
        azimuth, elevation = math.radians(self.sun_azimuth_deg), math.radians(self.sun_elevation_deg)
        level = math.cos(elevation)
        to_sun = np.array([level * math.cos(azimuth), level * math.sin(azimuth), math.sin(elevation)])
        haze = extinction + (0.0 if self.visibility_m is None else math.log(50.0) / self.visibility_m)
        fog = _greyness(haze)
        above = min(max(self.sun_elevation_deg / 2.0 + 0.5, 0.0), 1.0)  # it takes 2° to set
        longer = _air_mass(self.sun_elevation_deg) - _air_mass(_HIGH)
        color = self.sun * above * (1 - 0.97 * fog) * _SUN * np.exp(-_DEPTHS * longer)
        zenith, horizon = (self.sky * part for part in _gradient(self.sun_elevation_deg, fog))
        around = _SKY_SHARE * (zenith + horizon) / 2
        from_ground = _GROUND * (color * max(to_sun[2], 0.0) + around)
        return LightNumbers(
            to_sun.astype(np.float32),
            color.astype(np.float32),
            zenith.astype(np.float32),
            horizon.astype(np.float32),
            from_ground.astype(np.float32),
            around.astype(np.float32),
            np.float32(self.clouds * (1 - fog)),
            np.float32(haze),
        )


def _air_mass(elevation: float) -> float:
    """How much air the sun shines through, 1 from the zenith (Kasten and Young 1989); [degrees]."""
    e = max(elevation, 0.0)
    return 1.0 / (math.sin(math.radians(e)) + 0.50572 * (e + 6.07995) ** -1.6364)


def _greyness(haze: float) -> float:
    """How grey the air is, 0 to 1: nothing beyond 6 km of visibility, two thirds at 1 km, fog at 300 m."""
    return 1.0 - math.exp(-1.35 * max(haze * 250.0 - 0.16, 0.0))


def _gradient(elevation: float, fog: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Colours of the zenith and of the horizon, linear RGB."""
    up = max(math.sin(math.radians(elevation)), 0.0)
    bright = min((up + 0.04) / (math.sin(math.radians(_HIGH)) + 0.04), 1.3) ** 0.6
    bright *= max(math.exp(min(elevation, 0.0) / 5.0), 0.02)  # twilight
    low = min(max((25.0 - elevation) / 25.0, 0.0), 1.0) ** 2
    low *= min(max((elevation + 12.0) / 12.0, 0.0), 1.0)  # the glow goes after the sun
    zenith = _ZENITH + low * (_LOW_ZENITH - _ZENITH)
    horizon = _HORIZON + low * (_LOW_HORIZON - _HORIZON)
    return bright * (zenith + fog * (1.1 * _FOG - zenith)), bright * (horizon + fog * (_FOG - horizon))


class LightNumbers(NamedTuple):
    """The light for kernels; colours are linear RGB, shape (3,)."""

    to_sun: NDArray[np.float32]
    """unit vector, world, shape (3,)"""
    sun: NDArray[np.float32]
    zenith: NDArray[np.float32]
    horizon: NDArray[np.float32]
    ground: NDArray[np.float32]
    """from below"""
    around: NDArray[np.float32]
    """from the whole sky, on a surface that faces up"""
    clouds: np.float32
    haze: np.float32
    """[1/m]"""


@kernel
def sky(light: Any, x: Any, y: Any, z: Any) -> Any:
    """The light that comes down the unit direction (x, y, z): red, green, blue."""
    if z < np.float32(0.0):
        # The ground far below the horizon line, through the haze near it.
        share = min(-z * np.float32(6.0), np.float32(1.0))
        return (
            light.horizon[0] + share * (light.ground[0] - light.horizon[0]),
            light.horizon[1] + share * (light.ground[1] - light.horizon[1]),
            light.horizon[2] + share * (light.ground[2] - light.horizon[2]),
        )
    up = np.float32(math.sqrt(z))
    r = light.horizon[0] + up * (light.zenith[0] - light.horizon[0])
    g = light.horizon[1] + up * (light.zenith[1] - light.horizon[1])
    b = light.horizon[2] + up * (light.zenith[2] - light.horizon[2])
    near = max(x * light.to_sun[0] + y * light.to_sun[1] + z * light.to_sun[2], np.float32(0.0))
    if light.clouds > np.float32(0.0):
        # Clouds lie on a flat ceiling; they thin out towards the horizon.
        scale = np.float32(1.6) / (z + np.float32(0.12))
        cover = cloud(x * scale, y * scale) - (np.float32(0.82) - np.float32(0.5) * light.clouds)
        cover = min(max(cover * np.float32(3.0), np.float32(0.0)), np.float32(1.0))
        cover = np.float32(0.85) * cover * cover * (np.float32(3.0) - np.float32(2.0) * cover)
        cover *= min(z * np.float32(12.0), np.float32(1.0))
        white = np.float32(1.05) * light.horizon[2]
        r += cover * (white - r)
        g += cover * (white * np.float32(1.01) - g)
        b += cover * (white * np.float32(1.03) - b)
    n2 = near * near
    n8 = n2 * n2 * n2 * n2
    n64 = n8 * n8 * n8 * n8 * n8 * n8 * n8 * n8
    glow = np.float32(0.10) * n8 + np.float32(0.25) * n64
    if near > np.float32(0.99999):
        glow += np.float32(20.0)
    return r + glow * light.sun[0], g + glow * light.sun[1], b + glow * light.sun[2]


@kernel
def cloud(x: Any, y: Any) -> Any:
    """Fractal noise, about 0 to 1."""
    total, size = np.float32(0.0), np.float32(0.5)
    for octave in range(5):
        total += size * mottle(x, y, np.float32(7.3) * octave)
        x, y = np.float32(2.03) * x + np.float32(1.7), np.float32(2.03) * y - np.float32(3.1)
        size *= np.float32(0.5)
    return total
