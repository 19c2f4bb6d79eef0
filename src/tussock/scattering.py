"""The weather as numbers for the loop over pulses: as one sensor meets it, at one time.

What the beam's size and the receiver's sensitivity leave of the laws in `tussock.air`: which drops can be seen one by one,
and the waveform of everything else; see `tussock.signal.air`.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.air.clouds import cloud_balls, cloud_rows
from tussock.air.kinds import Kind
from tussock.air.particles import Q_EXTINCTION, SizeLaw
from tussock.air.weather import Continuum, WeatherNow
from tussock.arrays import FloatArray
from tussock.listening import near_end_of, sensitivity_of
from tussock.sensors.sensor import Sensor
from tussock.signal.air import CLEAR, Air
from tussock.signal.echoes import REACH
from tussock.signal.waveform import pulse_sigma_m

__all__ = ["Drops", "Eye", "Profile", "air_of", "drops_of", "eye_of", "profile_of"]

_QUANTILES = 4097  # so many that the last one does not reach far beyond where drops can be seen
_RELIEF = 1024
_PIECES, _PIECE = 64, 0.75  # the continuum near the sensor: at most so many pieces, in σ
_FAINT = 0.02  # of the most that a metre sends back: pieces end there
_STEP = 0.025  # [m] of the tables over the path
_MOST_MEAN = 8.0  # drops of one kind that a pulse meets on average: fainter ones are left to the continuum
_HAZE, _HAZE_END = 1024, 60.0  # entries of a table, and how far it goes [m] at most
_HAZE_LEAST = 0.01  # of the least energy that may be noticed: the table ends there
_MOST_HAZE = 24 * math.log(2)  # the largest −ln u of an even number of 24 bits
_MARGIN = 3.5  # [σ of the noise] below the threshold an echo is seen once in 4,300
# [σ of the noise] below the threshold drops are left to the continuum. Of fainter ones it takes three, and luck, to make an echo;
# such echoes, and peaks that stand between drops and not on one, are missed: 0.5 % in rain (at 3.5 1.4 %, at 3.0 2.9 %).
_PART = 4.0
_DIMMEST = 1e-3  # of a white wall: a single drop that a receiver without a sensitivity of its own still notices
_DIMMEST_OF_ALL = 2e-5  # and a continuum


class Eye(NamedTuple):
    """What counts of a sensor."""

    scale: float
    """s₀ and n of its signal-to-noise ratio, and the threshold"""
    exponent: float
    threshold: float
    sigma: float
    """[m] of the pulse"""
    separation: float
    """[m] of two echoes nearer to each other the stronger stays"""
    first: float
    """[m] nearer than this nothing is seen"""
    last: float
    overlap: tuple[float, float]
    """[m]"""
    near: float
    """[m] r₁: nearer than this the receiver takes back what is strong because it is near"""
    spot: tuple[float, float, float, float]
    """as `Air.spot`"""
    wavelength_nm: float

    def area(self, path: FloatArray) -> FloatArray:
        """of the spot [m²]"""
        width, across, up, fill = self.spot
        return np.asarray(fill * (width + across * path) * (width + up * path))

    def sees(self, path: FloatArray) -> FloatArray:
        """ξ: the share of what comes back that the receiver sees."""
        seen = np.clip((path - self.overlap[0]) / (self.overlap[1] - self.overlap[0]), 0.0, 1.0)
        return np.asarray(seen * np.minimum(path / self.near, 1.0) ** self.exponent if self.near > 0 else seen)

    def least(self, path: FloatArray, below: float = _MARGIN) -> FloatArray:
        """The least energy at a path, of a white wall there, that may be noticed: so many σ of the noise ``below`` the threshold."""
        if self.scale <= 0:
            return np.full_like(path, _DIMMEST)
        return np.asarray((self.threshold - below) * path**self.exponent / self.scale)


class Drops(NamedTuple):
    """The drops of one kind that can be seen one by one."""

    law: SizeLaw
    eye: Eye
    alpha: float
    """extinction of the air [1/m]"""
    mean: float
    """of them in a pulse that goes on to the end"""
    paths: FloatArray
    """[m], and along them:"""
    least_mm: FloatArray
    """the least diameter"""
    number: FloatArray
    """how many are nearer"""
    raised: float
    """by what factor the least diameter was raised, so that there are not too many"""

    def least_at(self, path: FloatArray) -> FloatArray:
        """The least diameter at other paths [mm]."""
        return self.raised * _least_mm(self.law, self.eye, self.alpha, path)

    def density_at(self, path: FloatArray) -> FloatArray:
        """How many there are in a metre."""
        return _density(self.law, self.eye, path, self.least_at(path))


class Profile(NamedTuple):
    """What the continuum sends back."""

    paths: FloatArray
    """[m] at equal steps"""
    per_metre: FloatArray
    """πβ·ξ·e^(−2αr)/r²"""
    kind: Kind
    """what gives the most of it"""


def air_of(now: WeatherNow, sensor: Sensor, origin: FloatArray, span: float) -> Air:
    """The air for one sensor; ``origin`` is the tracer's zero [m], ``span`` the length of the frame [s]."""
    eye = eye_of(sensor)
    even = _even_air(now.particles, now.fine, eye, sensor.receiver.model == "echoes")
    # Rows are those of the middle of the frame, and ray time starts with it.
    rows = cloud_rows([row._replace(centre=row.centre - row.velocity * span / 2) for row in now.clouds], origin, span)
    return even._replace(clouds=rows, cloud_balls=cloud_balls(rows))


def eye_of(sensor: Sensor) -> Eye:
    """What counts of a sensor."""
    receiver, beam = sensor.receiver, sensor.beam
    across, up = beam.half_sizes
    fill = 1.0 if beam.shape == "rectangle" else math.pi / 4
    return Eye(
        *sensitivity_of(sensor), receiver.threshold_snr, pulse_sigma_m(receiver.pulse_fwhm_ns),
        receiver.min_separation_m, max(receiver.min_range_m, receiver.overlap_m[0], 0.05), receiver.max_range_m, receiver.overlap_m,
        near_end_of(sensor), (beam.exit_mm * 1e-3, 2 * across, 2 * up, fill), sensor.wavelength_nm,
    )  # fmt: skip


@lru_cache(maxsize=64)
def _even_air(particles: tuple[SizeLaw, ...], fine: tuple[Continuum, ...], eye: Eye, echoes: bool) -> Air:
    """What is everywhere; kept, because it is the same in every frame of weather that does not change."""
    alpha = sum(law.extinction for law in particles) + sum(part.extinction for part in fine)
    even = CLEAR._replace(
        extinction=np.float32(alpha),
        overlap_from=np.float32(eye.overlap[0]),
        overlap_to=np.float32(eye.overlap[1]),
        near_to=np.float32(eye.near),
        near_exponent=np.float32(eye.exponent),
        spot=_f4(np.array(eye.spot)),
    )
    if not echoes or not (particles or fine):
        return even
    drops = [found for law in particles if (found := drops_of(law, eye, alpha)).mean > 1e-6]
    profile = profile_of(particles, fine, drops, eye, alpha)
    return _with_soft(_with_haze(_with_drops(even, drops, eye), particles, fine, drops, eye, alpha), profile, eye)


def drops_of(law: SizeLaw, eye: Eye, alpha: float) -> Drops:
    """The drops of a law that can be seen one by one, in air of extinction ``alpha`` [1/m]."""
    paths = np.arange(eye.first, eye.last + _STEP, _STEP)
    least = _least_mm(law, eye, alpha, paths)
    low, high = 1.0, 1.0
    while _cumulative(law, eye, paths, least * high)[-1] > _MOST_MEAN:
        low, high = high, 2 * high
    for _ in range(30 if high > 1 else 0):
        middle = (low + high) / 2
        low, high = (middle, high) if _cumulative(law, eye, paths, least * middle)[-1] > _MOST_MEAN else (low, middle)
    number = _cumulative(law, eye, paths, least * high)
    return Drops(law, eye, alpha, float(number[-1]), paths, least * high, number, high)


def _least_mm(law: SizeLaw, eye: Eye, alpha: float, paths: FloatArray) -> FloatArray:
    """D₀ [mm]: ρ·(π/4)D²/A·ξ·e^(−2αr) of it is the least energy that has a part in what is noticed."""
    with np.errstate(divide="ignore"):
        share = (
            eye.least(paths, _PART)
            * np.exp(2 * alpha * paths)
            / (law.reflectivity(eye.wavelength_nm) * eye.sees(paths))
        )
    return np.asarray(np.sqrt(share * eye.area(paths) * 4 / math.pi) * 1e3)


def _cumulative(law: SizeLaw, eye: Eye, paths: FloatArray, least: FloatArray) -> FloatArray:
    """How many drops above the least diameter a pulse meets up to each path."""
    density = _density(law, eye, paths, least)
    return np.concatenate([[0.0], np.cumsum((density[1:] + density[:-1]) / 2 * _STEP)])


def _density(law: SizeLaw, eye: Eye, paths: FloatArray, least: FloatArray) -> FloatArray:
    return np.asarray(eye.area(paths) * law.number * np.exp(-np.minimum(law.slope * least, 700.0)))


def profile_of(
    particles: tuple[SizeLaw, ...], fine: tuple[Continuum, ...], drops: list[Drops], eye: Eye, alpha: float
) -> Profile:
    """What all that is not drawn one by one sends back, along the beam."""
    return _profile(particles, fine, drops, eye, alpha, 40.0 * eye.sigma + 2.0, eye.sigma / 32)


def _profile(
    particles: tuple[SizeLaw, ...],
    fine: tuple[Continuum, ...],
    drops: list[Drops],
    eye: Eye,
    alpha: float,
    length: float,
    step: float,
) -> Profile:
    """The same along so much of the beam [m], at such steps [m]."""
    count = int(min(length, eye.last - eye.first) / step)
    paths: FloatArray = eye.first + step * (np.arange(count, dtype=np.float64) + 0.5)
    parts = {part.kind: np.full_like(paths, math.pi * part.backscatter) for part in fine}
    for law in particles:
        drawn = next((found for found in drops if found.law == law), None)
        shadow = law.shadow_above(0.0) * np.ones_like(paths)
        if drawn is not None:
            shadow = shadow - law.shadow_above(np.interp(paths, drawn.paths, np.minimum(drawn.least_mm, 1e6)))
        parts[law.kind] = law.reflectivity(eye.wavelength_nm) * shadow
    way = eye.sees(paths) * np.exp(-2 * alpha * paths) / paths**2
    total = sum(parts.values(), np.zeros_like(paths))
    kind = max(parts, key=lambda one: float((parts[one] * way).sum()))
    return Profile(paths, total * way, kind)


def _with_drops(even: Air, drops: list[Drops], eye: Eye) -> Air:
    """The drops of all kinds as one process."""
    if not drops:
        return even
    paths = drops[0].paths
    number = np.sum([found.number for found in drops], axis=0)
    shares = np.linspace(0, 1, _QUANTILES)
    shares[0], shares[-1] = 0.5 / _QUANTILES, 1 - 0.5 / _QUANTILES  # at the very ends the least diameter has no bounds
    at = np.interp(shares * number[-1], number, paths)
    density = np.stack([found.density_at(at) for found in drops])
    below = np.cumsum(density, axis=0) / np.maximum(density.sum(0), 1e-300)
    columns = [at]
    for found, share in zip(drops, below, strict=True):
        columns += [share, found.least_at(at)]
    laws = [(found.law.kind, 1 / found.law.slope, found.law.reflectivity(eye.wavelength_nm)) for found in drops]
    grid = np.linspace(0, at[-1], _RELIEF)
    depth = np.zeros(_RELIEF)
    for found in drops:
        taken = _taken_per_metre(found, eye)
        drawn = np.concatenate([[0.0], np.cumsum((taken[1:] + taken[:-1]) / 2 * _STEP)])
        depth += np.interp(grid, found.paths, drawn) / 2
    before = np.interp(grid, paths, number)
    before[-1] = number[-1]
    return even._replace(
        places=_f4(np.stack(columns, 1)),
        laws=_f4(np.array(laws)),
        relief=_f4(np.exp(2 * depth)),
        before=_f4(before),
        relief_per_m=np.float32(1 / grid[1]),
    )


def _with_haze(
    air: Air, particles: tuple[SizeLaw, ...], fine: tuple[Continuum, ...], drops: list[Drops], eye: Eye, alpha: float
) -> Air:
    """The waveform of all that is not drawn, for the echoes of what is, and how much that of drops fluctuates.

    A drop that is not drawn has the echo e = ρ·(π/4)D²/A·ξ·e^(−2αr)/r², and the variance of a sum of independent ones is
    ∫∫e²·exp(−(x − r)²/σ²)·N(D)·A dD dr (Campbell's theorem).
    """
    if not drops:
        return air
    profile = _profile(particles, fine, drops, eye, alpha, _HAZE_END, eye.sigma / 8)
    along = profile.paths
    way = eye.sees(along) * np.exp(-2 * alpha * along) / along**2
    square = np.zeros_like(along)
    for found in drops:
        least = np.interp(along, found.paths, np.minimum(found.least_mm, 1e3))
        square += (found.law.reflectivity(eye.wavelength_nm) * way) ** 2 * found.law.shadow_squared_below(least)
    paths, mean = _waveform(profile, eye.sigma)
    wide, variance = _waveform(profile._replace(per_metre=square / eye.area(along)), eye.sigma / math.sqrt(2))
    above = np.flatnonzero((paths > 0) & (mean * paths**2 > _HAZE_LEAST * eye.least(np.abs(paths))))
    if len(above) == 0:
        return air
    grid = np.linspace(0.0, min(paths[above[-1]], along[-1]), _HAZE)
    haze = np.stack([np.interp(grid, paths, mean), np.sqrt(np.interp(grid, wide, variance))], 1)
    haze[-1] = 0.0
    most = (haze[:, 0] + _MOST_HAZE * haze[:, 1]) * eye.scale * np.maximum(grid, 1e-3) ** (2 - eye.exponent)
    return air._replace(haze=_f4(haze), haze_step=np.float32(grid[1]), haze_most=np.float32(1.01 * most.max()))


def _taken_per_metre(drops: Drops, eye: Eye) -> FloatArray:
    """What drops that are drawn take on average of the light of a metre, both ways; none takes more than there is.

    A drop takes 2Q times its share of the spot, up to all: ∫min(2Q·(π/4)D²/A, 1)·N(D)·A dD.
    """
    law, area = drops.law, eye.area(drops.paths)
    least = np.minimum(drops.least_mm, 1e4)
    all_of_it = np.maximum(np.sqrt(area / (math.pi / 4 * 2 * Q_EXTINCTION)) * 1e3, least)
    partly = 2 * Q_EXTINCTION * (law.shadow_above(least) - law.shadow_above(all_of_it))
    return np.asarray(partly + area * law.number * np.exp(-np.minimum(law.slope * all_of_it, 700.0)))


def _with_soft(air: Air, profile: Profile, eye: Eye) -> Air:
    """The peak of the continuum's waveform, and the continuum near the sensor in pieces; nothing where it is not seen."""
    path, peak = soft_peak(profile, eye.sigma)
    least = float(eye.least(np.array([path]))[0]) if eye.scale > 0 else _DIMMEST_OF_ALL
    if peak <= 0 or peak * path**2 < least:
        return air
    step = float(profile.paths[1] - profile.paths[0])
    each = max(round(_PIECE * eye.sigma / step), 1)
    bright = np.flatnonzero(profile.per_metre > _FAINT * profile.per_metre.max())[-1] // each + 1
    pieces = int(min(_PIECES, bright, len(profile.paths) // each))
    energy = profile.per_metre[: pieces * each].reshape(pieces, each) * step
    weight = np.maximum(energy.sum(1), 1e-30)
    middles = (energy * profile.paths[: pieces * each].reshape(pieces, each)).sum(1) / weight
    return air._replace(
        soft=_f4(np.stack([middles, energy.sum(1)], 1)),
        soft_kind=int(profile.kind),
        soft_path=np.float32(path),
        soft_peak=np.float32(peak),
        soft_near=np.float32(path + max(float(REACH) * eye.sigma, eye.separation)),
    )


def soft_peak(profile: Profile, sigma: float) -> tuple[float, float]:
    """Path [m] and height of the peak of the continuum's waveform."""
    paths, waveform = _waveform(profile, sigma)
    step = float(paths[1] - paths[0])
    top = int(np.argmax(waveform))
    if waveform[top] <= 0 or not 0 < top < len(waveform) - 1:
        return 0.0, 0.0
    before, here, after = waveform[top - 1 : top + 2]
    bend = before - 2 * here + after
    off = 0.0 if bend >= 0 else 0.5 * (before - after) / bend
    return float(paths[0] + (top + off) * step), float(here - 0.25 * (before - after) * off)


def _waveform(profile: Profile, sigma: float) -> tuple[FloatArray, FloatArray]:
    """Paths [m], from 6σ before the continuum begins, and the waveform there."""
    step = float(profile.paths[1] - profile.paths[0])
    reach = int(6 * sigma / step)
    pulse = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / sigma) ** 2)
    waveform = np.convolve(profile.per_metre, pulse) * step
    return profile.paths[0] + step * (np.arange(len(waveform)) - reach), waveform


def _f4(values: NDArray[np.float64]) -> NDArray[np.float32]:
    """As kernels take it: all alike, so that they are compiled once."""
    return np.ascontiguousarray(values, np.float32)
