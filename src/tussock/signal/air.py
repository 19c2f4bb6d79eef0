"""What the air does to a pulse: drops that the beam meets, a continuum too fine to be told apart, clouds in its way.

Everything is a share of what a white wall that fills the beam would send back from the same place.

A drop of diameter D at r: ρ·(π/4)D²/A(r), A the area of the spot there, ρ that of its kind (`tussock.air.particles`).
Drops are drawn only where they count: those above a least diameter D₀(r), of which two together may be noticed.
Those of all kinds are one Poisson process along the beam: as many of them as lie before the end of the pulse are drawn, in
their order. n even numbers in order are the sums of n + 1 exponential ones over all of them. The inverse of the distribution
function makes places of those; which kind a drop is of depends on its place; and, because the laws of sizes are exponential,
D − D₀ has that same law again. All others are in the continuum,
whose backscatter and extinction leave out exactly what was drawn, so the two join without a seam. The echo of a drop
stands on what the continuum sends back at the same time (`Air.haze`), which alone may be too weak to be noticed: in
rain of 20 mm/h an HDL-32E has three drops in a metre of its beam 10 m away, and its pulse of 5 ns is 0.75 m long.

A continuum of backscatter β sends back W(x) = ∫ πβ(r)·ξ(r)·e^(−2τ(r))/r²·exp(−(x − r)²/2σ²) dr, the integral over the
pulse (Rasshofer et al. 2011); ξ is the share that the receiver gets of it. It has two factors: the overlap of beam and
receiver, which grows from 0 to 1 between two distances, and what the receiver leaves of what is near, (r/r₁)ⁿ up to a
distance r₁ (`tussock.listening.near_end_of`).

Clouds in one place are in `tussock.signal.clouds`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.elementary import exponential, logarithm
from tussock.kernels import Real, Whole, inline_kernel
from tussock.randomness import uniform

__all__ = [
    "CLEAR", "MOST_DROPS", "Air", "Drop", "DropPlace", "drop_at", "drop_place", "drops_before", "error_function", "error_series", "haze_at",
    "haze_drawn", "haze_of", "relief_entry", "spot_area", "way_back",
]  # fmt: skip

MOST_DROPS = 32
"""in one pulse"""
_ZERO, _HALF, _ONE, _TWO = np.float32(0.0), np.float32(0.5), np.float32(1.0), np.float32(2.0)
_LEAST = np.float32(1e-6)
_QUARTER_PI_MM2 = np.float32(np.pi / 4 * 1e-6)
_E = tuple(np.float32(a) for a in (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429))
_E1, _E2, _E3, _E4, _E5 = _E
_P = np.float32(0.3275911)


class Air(NamedTuple):
    """The air as a sensor meets it during one frame."""

    soft: NDArray[np.float32]
    """the continuum near the sensor in pieces: path [m] and energy, shape (k, 2); none where it is never seen"""
    soft_kind: int
    """what sends back the most there"""
    soft_path: np.float32
    """[m] where the continuum's waveform has its peak, and how high it is there"""
    soft_peak: np.float32
    soft_near: np.float32
    """[m] things nearer than this have a part in that peak"""
    haze: NDArray[np.float32]
    """what the echo of a drop stands on, at equal steps of the path: the continuum's waveform, of which drops that are not
    drawn have a part, and the standard deviation of that part; the last row 0; shape (n, 2), none: no drops"""
    haze_step: np.float32
    """[m]"""
    haze_most: np.float32
    """the most that an echo can stand on, as a signal-to-noise ratio"""
    places: NDArray[np.float32]
    """drops by the quantile of their place: path [m], then of each kind the share of it and those before it, and the least
    diameter [mm]; shape (quantiles, 1 + 2 · kinds)"""
    laws: NDArray[np.float32]
    """drops: kind, 1/Λ [mm] and ρ, shape (kinds, 3)"""
    relief: NDArray[np.float32]
    """what drops that are drawn take off the extinction, as a factor, at equal steps of the path; none: no drops"""
    before: NDArray[np.float32]
    """how many drops there are before a path on average, at the same steps"""
    relief_per_m: np.float32
    """how many of these steps there are in a metre"""
    clouds: NDArray[np.float32]
    """see `tussock.air.clouds.cloud_rows`, shape (n, 13)"""
    cloud_balls: NDArray[np.float32]
    """see `tussock.air.clouds.cloud_balls`, shape (4, n and some more)"""
    extinction: np.float32
    """α of all that is everywhere [1/m]"""
    overlap_from: np.float32
    """[m] where the receiver begins to see the beam, and where it sees all of it"""
    overlap_to: np.float32
    near_to: np.float32
    """[m] r₁: up to there the receiver leaves (r/r₁)ⁿ of what comes back; 0: it leaves all of it"""
    near_exponent: np.float32
    """n"""
    spot: NDArray[np.float32]
    """of the beam: its width where it leaves [m], how width and height grow [m/m], area of a spot of 1 by 1"""


CLEAR = Air(
    np.zeros((0, 2), np.float32), 0, _ZERO, _ZERO, _ZERO, np.zeros((0, 2), np.float32), _ONE, _ZERO,
    np.zeros((0, 1), np.float32), np.zeros((0, 3), np.float32), np.zeros(0, np.float32), np.zeros(0, np.float32), _ONE,
    np.zeros((0, 13), np.float32), np.zeros((4, 0), np.float32), _ZERO, _ZERO, _ONE, _ZERO, _TWO, np.ones(4, np.float32),
)  # fmt: skip
"""nothing in it"""


class Drop(NamedTuple):
    """A drop or a flake that the beam meets."""

    energy: Real
    """what comes back of it"""
    taken: Real
    """share of the light that it takes, on both ways together"""


class DropPlace(NamedTuple):
    """Where a drop is, and what it is."""

    path: Real
    """[m]"""
    least: Real
    """[mm] the least diameter that is drawn there"""
    law: int
    """its row of `Air.laws`"""


@inline_kernel
def way_back(air: Air, path: Real) -> Real:
    """ξ·e^(−2αr): what the receiver gets of the light that comes back from a path."""
    share = min(max((path - air.overlap_from) * (_ONE / (air.overlap_to - air.overlap_from)), _ZERO), _ONE)
    # Also where it is not wanted: without a branch, loops over many paths become vector code.
    left = air.near_exponent * logarithm(path * (_ONE / max(air.near_to, _LEAST)))
    return share * exponential((left if path < air.near_to else _ZERO) - _TWO * air.extinction * path)


@inline_kernel
def spot_area(air: Air, path: Real) -> Real:
    """[m²]"""
    return air.spot[3] * (air.spot[0] + air.spot[1] * path) * (air.spot[0] + air.spot[2] * path)


@inline_kernel
def drops_before(air: Air, path: Real) -> Real:
    """How many drops a pulse that ends at a path meets on average; a few more, as a table says it."""
    return air.before[np.uint64(min(path * air.relief_per_m + _ONE, np.float32(len(air.before) - 1)))]


@inline_kernel
def drop_place(air: Air, quantile: Real, u: Real) -> DropPlace:
    """The drop at a quantile of the places of all; ``u``, an even number, draws its kind."""
    last = np.float32(len(air.places) - 1)
    at = min(quantile, _ONE) * last
    low = np.uint64(min(at, last - _ONE))  # without a sign no index counts from the end
    share, high = at - np.float32(low), low + np.uint64(1)
    law, column = 0, np.uint64(1)
    for other in range(1, len(air.laws)):
        more = u >= air.places[low, np.uint64(2 * other - 1)]
        law, column = (other, np.uint64(2 * other + 1)) if more else (law, column)
    column += np.uint64(1)
    path, least = air.places[low, 0], air.places[low, column]
    return DropPlace(
        path + share * (air.places[high, 0] - path), least + share * (air.places[high, column] - least), law
    )


@inline_kernel
def drop_at(air: Air, path: Real, least: Real, slope: Real, rho: Real, word: Whole) -> Drop:
    """A drop at a path [m] where none below a ``least`` diameter [mm] is drawn, of a law with 1/Λ [mm] and ρ."""
    diameter = least - logarithm(_ONE - uniform(word)) * slope
    area, path2 = spot_area(air, path), path * path
    per = _ONE / (area * path2)  # one division for two
    fills = min(_QUARTER_PI_MM2 * diameter * diameter * path2 * per, _ONE)
    return Drop(rho * fills * way_back(air, path) * area * per, min(np.float32(4.0) * fills, _ONE))


@inline_kernel
def relief_entry(air: Air, path: Real) -> Real:
    """Which entry of `Air.relief` is that of a path, the nearest one; that of the furthest also where there is no path at all."""
    at, last = path * air.relief_per_m + _HALF, np.float32(len(air.relief) - 1)
    return at if at < last else last


@inline_kernel
def haze_at(air: Air, path: Real, u: Real) -> Real:
    """How high the continuum's waveform is at a path, by one draw of chance ``u`` of those drops in it that nobody drew."""
    mean, spread = haze_of(air, path)
    return haze_drawn(mean, spread, u)


@inline_kernel
def haze_drawn(mean: Real, spread: Real, u: Real) -> Real:
    """A sum of a few faint drops is skewed: that of its mean m and standard deviation s is taken as m + s·(−ln u − 1)."""
    return mean - spread * (logarithm(_ONE - u) + _ONE)


@inline_kernel
def haze_of(air: Air, path: Real) -> tuple[Real, Real]:
    """Mean and standard deviation of the continuum's waveform at a path."""
    last = len(air.haze) - 1
    at = min(path / air.haze_step, np.float32(last))
    low = min(int(at), last - 1)
    share = at - np.float32(low)
    mean = air.haze[low, 0] + share * (air.haze[low + 1, 0] - air.haze[low, 0])
    spread = air.haze[low, 1] + share * (air.haze[low + 1, 1] - air.haze[low, 1])
    return mean, spread


@inline_kernel
def error_series(x: Real) -> Real:
    """(1 − erf x)·exp(x²) of an x from 0 on, to 2e-7 (Abramowitz and Stegun 1964, 7.1.26)."""
    t = _ONE / (_ONE + _P * x)
    return t * (_E1 + t * (_E2 + t * (_E3 + t * (_E4 + t * _E5))))


@inline_kernel
def error_function(x: Real) -> Real:
    """erf x to 2e-7."""
    value = _ONE - error_series(abs(x)) * exponential(-x * x)
    return value if x >= _ZERO else -value
