"""The weather of a scene, as people write it: rain, snow, fog and dust, even everywhere or in one place, over time.

    [weather]
    rain_mm_h = 10
    fog = {visibility_m = 80}
    changes = [{time_s = 20, rain_mm_h = 30}]

Rates and visibilities change in straight lines from one time to the next (of fog its extinction does). Everything in it
acts on the LIDARs and the cameras of the scene alike.

Fog banks and clouds of dust are where they are, and rays go through them. Rain and snow are as they are where the sensor
is: showers are hundreds of metres wide, and single drops are seen within a few. So a shower changes what a sensor meets
when it drives into it or when it drifts over it, not along one beam.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from tussock.air.clouds import CloudRow, DustCloud, DustTrail, FogBank, dust_backscatter, dust_extinction
from tussock.air.fog import fog_backscatter, fog_extinction
from tussock.air.kinds import Kind
from tussock.air.particles import SizeLaw, rain_law, snow_law
from tussock.errors import InputError, nearest
from tussock.quantities import Fraction, NotNegative, Pair, Positive, Triple
from tussock.settings import Settings

__all__ = [
    "Change", "Continuum", "Fog", "RainRate", "Shower", "SnowRate", "Visibility", "Weather", "WeatherNow", "parse_weather",
]  # fmt: skip

RainRate = Annotated[float, Field(ge=0.0, le=300.0)]
SnowRate = Annotated[float, Field(ge=0.0, le=50.0)]
Visibility = Annotated[float, Field(ge=1.0, le=100_000.0)]
DustDensity = Annotated[float, Field(ge=0.0, le=100.0)]
_FAINTEST = 1e-3
"""[mm/h] less than this is no rain and no snow"""
_WET_FROM = 2.0
"""[mm/h] rain that keeps all of the ground wet"""


class Fog(Settings):
    """Fog everywhere.

    >>> tussock.Weather(fog=tussock.Fog(visibility_m=80)).fog.visibility_m
    80.0
    """

    visibility_m: Visibility
    """meteorological optical range: a black thing has a contrast of 5 % there"""


class Change(Settings):
    """What the weather has become at a time; what it does not name goes on as if it were not there.

    >>> shower = tussock.Weather(changes=[tussock.Change(time_s=10, rain_mm_h=20)])
    >>> [len(shower.at(time).particles) for time in (0, 5)]
    [0, 1]
    """

    time_s: NotNegative
    rain_mm_h: RainRate | None = None
    snow_mm_h: SnowRate | None = None
    dust_g_m3: DustDensity | None = None
    visibility_m: Visibility | None = None
    """of the fog; 100000 is as good as none"""


class Shower(Settings):
    """More rain or snow in one place: its rate falls off as exp(−d²/2·radius²) with the distance d from its middle.

    >>> shower = tussock.Shower(rain_mm_h=30, radius_m=200, position_m=(500, 0), velocity_m_s=(-10, 0))
    >>> [round(shower.share(time, (0, 0, 2)), 2) for time in (0, 50)]
    [0.04, 1.0]
    """

    rain_mm_h: RainRate = 0.0
    """in the middle"""
    snow_mm_h: SnowRate = 0.0
    """as water, in the middle"""
    radius_m: Positive
    """where it has fallen to 61 %"""
    position_m: Pair
    """x and y of its middle at the time 0"""
    velocity_m_s: Pair | None = None
    """along x and y; not given: it drifts as clouds of dust do"""

    @model_validator(mode="after")
    def _something_falls(self) -> Shower:
        if self.rain_mm_h <= 0 and self.snow_mm_h <= 0:
            raise ValueError("needs rain_mm_h or snow_mm_h above 0")
        return self

    def share(self, time: float, place: ArrayLike, air: ArrayLike = (0.0, 0.0, 0.0)) -> float:
        """of its rate that falls at a place [m], where the air moves by ``air`` [m/s]."""
        moves = np.asarray(air, float)[:2] if self.velocity_m_s is None else np.array(self.velocity_m_s)
        off = np.asarray(place, float)[:2] - np.array(self.position_m) - moves * time
        return float(np.exp(-0.5 * (off @ off) / self.radius_m**2))


class Continuum(NamedTuple):
    """What is so fine that it is even: extinction [1/m] and backscatter [1/(m·sr)] of one kind."""

    kind: Kind
    extinction: float
    backscatter: float


class WeatherNow(NamedTuple):
    """The weather at one time."""

    particles: tuple[SizeLaw, ...]
    fine: tuple[Continuum, ...]
    clouds: tuple[CloudRow, ...]
    velocity: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """of the air along x, y and z [m/s]: drops and flakes drift with it"""

    @property
    def extinction(self) -> float:
        """α [1/m] of all that is everywhere"""
        return sum(law.extinction for law in self.particles) + sum(part.extinction for part in self.fine)

    @property
    def clear(self) -> bool:
        return not (self.particles or self.fine or self.clouds)


class Weather(Settings):
    """What is in the air; 0 and empty: nothing.

    >>> rain = tussock.Weather(rain_mm_h=10)
    >>> f"{rain.at(0).extinction:.5f} /m"
    '0.00156 /m'
    """

    rain_mm_h: RainRate = 0.0
    snow_mm_h: SnowRate = 0.0
    """as water"""
    flake_density_g_cm3: Annotated[float, Field(ge=0.01, le=0.917)] = 0.1
    """of snowflakes; 0.917 is ice"""
    fog: Fog | None = None
    dust_g_m3: DustDensity = 0.0
    """of dust that is everywhere"""
    grain_um: Annotated[float, Field(ge=1.0, le=500.0)] = 10.0
    """diameter of its grains"""
    dust: tuple[DustCloud, ...] = ()
    """clouds of dust"""
    dust_trails: tuple[DustTrail, ...] = ()
    """dust behind what drives"""
    fog_banks: tuple[FogBank, ...] = ()
    showers: tuple[Shower, ...] = ()
    """rain and snow that are stronger in one place"""
    changes: tuple[Change, ...] = ()
    """the weather over time; before the first of them it is as above, from time 0 on it changes towards it"""
    wind_m_s: Triple | None = None
    """velocity of the air along x, y and z [m/s]; clouds drift with it; not given: as the scene's wind blows 2 m above
    the ground, still where it has none"""
    wet: Fraction | None = None
    """share of the ground that is wet; not given: as the rain says, all of it from 2 mm/h on"""

    @model_validator(mode="after")
    def _times_rise(self) -> Weather:
        times = [change.time_s for change in self.changes]
        if any(b <= a for a, b in pairwise(times)) or (times and times[0] <= 0):
            raise ValueError("changes: time_s must rise, from above 0 on")
        return self

    @property
    def wetness(self) -> float:
        """Share of the ground that is wet."""
        if self.wet is not None:
            return self.wet
        most = max([self.rain_mm_h, *(change.rain_mm_h or 0.0 for change in self.changes)])
        return min(most / _WET_FROM, 1.0)

    def at(
        self, time: float, trailed: Any = None, *, place: ArrayLike = (0.0, 0.0, 0.0), wind: ArrayLike = (0.0, 0.0, 0.0)
    ) -> WeatherNow:
        """The weather at a time [s] and a place [m] where the scene's wind blows by ``wind`` [m/s].

        ``trailed(name)`` gives the path of an object as `DustTrail.rows` takes it.
        """
        air: NDArray[np.float64] = np.asarray(wind if self.wind_m_s is None else self.wind_m_s, float)
        shares = [(shower, shower.share(time, place, air)) for shower in self.showers]
        rain = self._over_time("rain_mm_h", time) + sum(shower.rain_mm_h * share for shower, share in shares)
        snow = self._over_time("snow_mm_h", time) + sum(shower.snow_mm_h * share for shower, share in shares)
        laws = [rain_law(rain)] if rain >= _FAINTEST else []
        laws += [snow_law(snow, self.flake_density_g_cm3)] if snow >= _FAINTEST else []
        fine = []
        alpha = self._fog_over_time(time)
        if alpha > 0:
            visibility = fog_extinction(1.0) / alpha
            fine.append(Continuum(Kind.FOG, alpha, fog_backscatter(visibility)))
        dust = dust_extinction(self._over_time("dust_g_m3", time), self.grain_um)
        if dust > 0:
            fine.append(Continuum(Kind.DUST, dust, dust_backscatter(dust)))
        clouds = [row for cloud in (*self.dust, *self.fog_banks) for row in cloud.rows(time, air)]
        for trail in self.dust_trails:
            clouds += trail.rows(time, air, None if trail.behind is None else trailed(trail.behind))
        return WeatherNow(tuple(laws), tuple(fine), tuple(clouds), (float(air[0]), float(air[1]), float(air[2])))

    def _over_time(self, name: str, time: float) -> float:
        known = [(0.0, getattr(self, name))]
        known += [(c.time_s, getattr(c, name)) for c in self.changes if getattr(c, name) is not None]
        times, values = zip(*known, strict=True)
        return float(np.interp(time, times, values))

    def _fog_over_time(self, time: float) -> float:
        """α of the fog [1/m]."""
        known = [(0.0, 0.0 if self.fog is None else fog_extinction(self.fog.visibility_m))]
        known += [(c.time_s, fog_extinction(c.visibility_m)) for c in self.changes if c.visibility_m is not None]
        times, values = zip(*known, strict=True)
        return float(np.interp(time, times, values))


_WORDS = {
    "rain": ("rain_mm_h", "mm/h"),
    "snow": ("snow_mm_h", "mm/h"),
    "fog": ("fog", "m"),
    "dust": ("dust_g_m3", "g/m3"),
}
_DRY = ("dry", "clear", "none")
_SAID = re.compile(r"([a-z]+)\s+([-+.\deE]+)\s*(mm\s*/\s*h|km|m|g\s*/\s*m3|g\s*/\s*m³)?")


def parse_weather(text: str) -> Weather | None:
    """Weather in words, ``rain 10 mm/h, fog 80 m``, visibility also in km; ``dry``: none at all.

    >>> tussock.parse_weather("rain 10 mm/h, fog 80 m").rain_mm_h
    10.0
    """
    if text.strip().lower() in _DRY:
        return None
    given: dict[str, Any] = {}
    for part in text.split(","):
        read = _SAID.fullmatch(part.strip().lower())
        word = part.split()[0].lower() if part.split() else ""
        if word in _DRY:
            raise InputError.of("--weather", f"{word} must stand alone", text.strip(), "leave it out, or the rest")
        if word not in _WORDS:
            raise InputError(f"--weather {part.strip()!r}: no such weather; {nearest(word, [*_WORDS, 'dry'])}")
        key, unit = _WORDS[word]
        said = unit if read is None or not read[3] else "".join(read[3].split()).replace("³", "3")
        thousand = said == "km" and unit == "m"
        if read is None or not (said == unit or thousand) or key in given:
            once = ", each once" if key in given else ""
            raise InputError.of("--weather", f"must be like '{word} 10 {unit}'{once}", part.strip())
        try:
            value = float(read[2])
        except ValueError:
            raise InputError.of("--weather", f"must be like '{word} 10 {unit}'", part.strip()) from None
        value *= 1000.0 if thousand else 1.0
        given[key] = {"visibility_m": value} if key == "fog" else value
    return Weather.parse(given, "--weather")
