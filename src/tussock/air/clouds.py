"""Clouds in one place: dust that a wheel throws up, a bank of fog. Puffs and boxes that drift, grow and thin out.

A puff is a Gaussian ball: density ρ(x) = ρ₀·exp(−|x − c|²/2s²). It drifts with the wind and grows by turbulence as
s² = s₀² + 2Kt (Fick's law with an eddy diffusivity K), keeping its mass, so ρ₀ falls as (s₀/s)³; what settles leaves as
exp(−t/τ). A box is even inside and stays as it is. A trail is a chain of puffs, one every so often along a path.

Dust: grains far larger than the wavelength (Q = 2) of diameter d and density 2.65 g/cm³, ρ [g/m³] of them:

    α = 3ρ/(2.65·10⁶·d)    (0.11 m²/g for 10 µm),     β = α/55 sr

the lidar ratio of desert dust, 55 ± 10 sr (Tesche et al. 2009, Tellus B 61, 144-164).
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Annotated, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from tussock.air.fog import fog_backscatter, fog_extinction
from tussock.air.kinds import Kind
from tussock.quantities import NotNegative, Positive, Triple
from tussock.settings import Settings

__all__ = [
    "BOX",
    "PUFF",
    "PUFF_REACH",
    "CloudRow",
    "DustCloud",
    "DustTrail",
    "FogBank",
    "cloud_balls",
    "cloud_rows",
    "dust_backscatter",
    "dust_extinction",
]

PUFF, BOX = 0, 1
PUFF_REACH = 4.0
"""[s] beside its middle a puff is looked at: 3e-4 of it"""
_AT_ONCE = 16  # balls that kernels look at together
_QUARTZ_G_M3 = 2.65e6
_DUST_LIDAR_RATIO = 55.0  # [sr]
_GONE = 1e-5  # [1/m] a puff thinner than this is not there any more
_MOST = 4096
Density = Annotated[float, Field(gt=0.0, le=1000.0)]


def dust_extinction(density_g_m3: float, grain_um: float) -> float:
    """α [1/m] of dust."""
    return 3.0 * density_g_m3 / (_QUARTZ_G_M3 * grain_um * 1e-6)


def dust_backscatter(extinction: float) -> float:
    """β [1/(m·sr)] of dust of an extinction [1/m]."""
    return extinction / _DUST_LIDAR_RATIO


class CloudRow(NamedTuple):
    """A cloud at one moment: what kernels get."""

    shape: int
    kind: Kind
    centre: NDArray[np.float64]
    """[m], world"""
    size: NDArray[np.float64]
    """[m] s of a puff three times, or half the sides of a box"""
    velocity: NDArray[np.float64]
    """[m/s]"""
    extinction: float
    """α in the middle [1/m]"""
    backscatter: float
    """β in the middle [1/(m·sr)]"""


class _Growing(Settings):
    """How puffs change with time."""

    spread_m2_s: NotNegative = 0.05
    """K: how fast a puff grows"""
    settles_s: Positive | None = None
    """time in which what is in the air falls to 1/e; not given: it stays"""
    grain_um: Annotated[float, Field(ge=1.0, le=500.0)] = 10.0
    """diameter of the grains of dust"""

    def _aged(self, born: float, place: NDArray[np.float64], s0: float, alpha: float, t: float, wind: Any) -> Any:
        """Middle, size and α of a puff at the time ``t``."""
        age = t - born
        s = math.sqrt(s0 * s0 + 2.0 * self.spread_m2_s * age)
        left = (s0 / s) ** 3 * (math.exp(-age / self.settles_s) if self.settles_s else 1.0)
        return place + wind * age, np.full(3, s), alpha * left


class _Cloud(_Growing):
    """One puff or box."""

    puff_m: Positive | None = None
    """s of a puff: where it has fallen to 61 %, at its start"""
    box_m: tuple[Positive, Positive, Positive] | None = None
    """the sides of a box along x, y and z"""
    position_m: Triple
    """the middle, at its start"""
    start_s: float = 0.0
    """when it is there first"""
    drifts: bool = True
    """whether it moves with the wind"""

    @model_validator(mode="after")
    def _one_shape(self) -> Self:
        if (self.puff_m is None) == (self.box_m is None):
            raise ValueError("needs exactly one of puff_m and box_m")
        return self

    def _kind_and_density(self) -> tuple[Kind, float, float]:
        """What it is, and α [1/m] and β [1/(m·sr)] in its middle at its start."""
        raise NotImplementedError

    def rows(self, time: float, wind: NDArray[np.float64]) -> list[CloudRow]:
        """The cloud at a time [s], 0 or 1 row."""
        if time < self.start_s:
            return []
        wind = wind if self.drifts else np.zeros(3)
        place = np.array(self.position_m, float)
        kind, alpha, beta = self._kind_and_density()
        ratio = beta / alpha
        if self.box_m is not None:
            shape, middle, size = BOX, place + wind * (time - self.start_s), np.array(self.box_m) / 2
        else:
            assert self.puff_m is not None
            shape, (middle, size, alpha) = PUFF, self._aged(self.start_s, place, self.puff_m, alpha, time, wind)
        return [] if alpha < _GONE else [CloudRow(shape, kind, middle, size, wind, alpha, ratio * alpha)]


class DustCloud(_Cloud):
    """Dust in one place.

    >>> puff = tussock.DustCloud(puff_m=1, position_m=(10, 0, 1), density_g_m3=2)
    >>> tussock.Weather(dust=[puff]).dust[0].puff_m
    1.0
    """

    density_g_m3: Density
    """in the middle, at its start"""

    def _kind_and_density(self) -> tuple[Kind, float, float]:
        alpha = dust_extinction(self.density_g_m3, self.grain_um)
        return Kind.DUST, alpha, dust_backscatter(alpha)


class FogBank(_Cloud):
    """Fog in one place.

    >>> bank = tussock.FogBank(box_m=(30, 20, 3), position_m=(40, 0, 1.5), visibility_m=15)
    >>> tussock.Weather(fog_banks=[bank]).fog_banks[0].visibility_m
    15.0
    """

    visibility_m: Annotated[float, Field(ge=1.0, le=100_000.0)]
    """in the middle, at its start"""
    spread_m2_s: NotNegative = 0.0

    def _kind_and_density(self) -> tuple[Kind, float, float]:
        return Kind.FOG, fog_extinction(self.visibility_m), fog_backscatter(self.visibility_m)


class DustTrail(_Growing):
    """The dust behind something that drives: a puff every so often, from where it is at that moment.

    >>> trail = tussock.DustTrail(behind="truck", every_s=0.5, lasts_s=4)
    >>> len(trail.births(10))
    9
    """

    behind: str | None = None
    """name of the moving object that it trails"""
    times_s: tuple[float, ...] = ()
    """where nothing of the scene is trailed: its path"""
    positions_m: tuple[Triple, ...] = ()
    offset_m: Triple = (0.0, 0.0, 0.3)
    """from the object's origin, in its own coordinates"""
    every_s: Annotated[float, Field(ge=0.01, le=60.0)] = 0.25
    puff_m: Positive = 0.6
    density_g_m3: Density = 1.0
    lasts_s: Annotated[float, Field(gt=0.0, le=600.0)] = 8.0
    """how old puffs get; older ones are not followed"""

    @model_validator(mode="after")
    def _one_path(self) -> DustTrail:
        if (self.behind is None) == (not self.times_s):
            raise ValueError("needs exactly one of behind and times_s")
        if len(self.times_s) != len(self.positions_m):
            raise ValueError(f"needs as many positions_m as times_s ({len(self.times_s)})")
        if any(b <= a for a, b in pairwise(self.times_s)):
            raise ValueError("times_s must rise")
        if self.lasts_s / self.every_s > _MOST:
            raise ValueError(f"holds at most {_MOST} puffs at a time (lasts_s / every_s)")
        return self

    def births(self, time: float) -> NDArray[np.float64]:
        """When the puffs that are there at a time were thrown up [s]."""
        last = math.floor(time / self.every_s + 1e-9)
        first = math.ceil((time - self.lasts_s) / self.every_s - 1e-9)
        return np.arange(first, last + 1, dtype=np.float64) * self.every_s

    def rows(self, time: float, wind: NDArray[np.float64], where: Any = None) -> list[CloudRow]:
        """The puffs at a time; ``where(times)`` gives the place [m] at times, and which of them are known."""
        born = self.births(time)
        if where is None:
            known = (born >= self.times_s[0]) & (born <= self.times_s[-1])
            path = np.array(self.positions_m, float)
            places = np.stack([np.interp(born, self.times_s, path[:, i]) for i in range(3)], 1) + self.offset_m
        else:
            places, known = where(born, np.array(self.offset_m))
        alpha = dust_extinction(self.density_g_m3, self.grain_um)
        rows = []
        for at, place in zip(born[known], places[known], strict=True):
            middle, size, thin = self._aged(float(at), place, self.puff_m, alpha, time, wind)
            if thin >= _GONE:
                rows.append(CloudRow(PUFF, Kind.DUST, middle, size, wind, thin, dust_backscatter(thin)))
        return rows


def cloud_rows(rows: list[CloudRow], origin: NDArray[np.float64], span: float) -> NDArray[np.float32]:
    """Clouds as kernels take them, shape (n, 13): shape, kind, middle [m], size [m], motion over a ``span`` [s], α, πβ."""
    table = np.zeros((len(rows), 13), np.float32)
    for i, row in enumerate(rows):
        table[i, :2] = row.shape, row.kind
        table[i, 2:5], table[i, 5:8], table[i, 8:11] = row.centre - origin, row.size, row.velocity * span
        table[i, 11:] = row.extinction, math.pi * row.backscatter
    return table


def cloud_balls(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """Balls that hold all of `cloud_rows` in the whole frame: middle [m] and radius [m], shape (4, n and up to a multiple of 16)."""
    balls = np.zeros((4, -(-len(rows) // _AT_ONCE) * _AT_ONCE))
    wide = rows.astype(np.float64)
    drift = wide[:, 8:11] / 2
    size = np.where(wide[:, 0] == BOX, np.linalg.norm(wide[:, 5:8], axis=1), PUFF_REACH * wide[:, 5])
    balls[:3, : len(rows)] = (wide[:, 2:5] + drift).T
    balls[3, : len(rows)] = (size + np.linalg.norm(drift, axis=1)) * 1.001
    return balls.astype(np.float32)
