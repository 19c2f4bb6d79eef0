"""How like two scans are: the Bhattacharyya distance of their histograms, hit rates, range quantiles.

Deschaud et al. (2012), section VI: histograms over laser angle and range, 0.09° × 2 mm, with one more bin for each
angle that holds the pulses without return; distance −ln Σ √(p·q), 0 for equal ones. Every laser has its own angles;
both histograms are normalised as a whole. Range bins lie around whole multiples of their width, where a sensor with
that resolution puts its ranges.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.learn.measured_pulses import MeasuredPulses

__all__ = ["ANGLE_BIN", "QUANTILES", "RANGE_BIN", "Score", "bhattacharyya", "compare"]

ANGLE_BIN = float(np.deg2rad(0.09))
"""[rad] one count of the encoder of an HDL-64E"""
RANGE_BIN = 0.002
"""[m]"""
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Score:
    """What `compare` finds.

    >>> way = np.random.default_rng(1).normal((5, 0, 0), 0.5, (100, 3))
    >>> pulses = tussock.MeasuredPulses.of(np.zeros(3), way, np.linalg.norm(way, axis=1))
    >>> tussock.compare(pulses, pulses).hit_rate_difference
    0.0
    """

    distance: float
    """Bhattacharyya distance, infinite where the histograms share nothing"""
    real_pulses: int
    simulated_pulses: int
    real_hit_rate: float
    simulated_hit_rate: float
    real_quantiles: tuple[float, ...]
    """[m], at `QUANTILES` of the ranges"""
    simulated_quantiles: tuple[float, ...]

    @property
    def hit_rate_difference(self) -> float:
        """simulated less real"""
        return self.simulated_hit_rate - self.real_hit_rate

    @property
    def quantile_differences(self) -> tuple[float, ...]:
        """[m] simulated less real"""
        return tuple(s - r for r, s in zip(self.real_quantiles, self.simulated_quantiles, strict=True))

    def plain(self) -> dict[str, Any]:
        return asdict(self) | {
            "hit_rate_difference": self.hit_rate_difference,
            "quantile_differences": self.quantile_differences,
        }


def compare(
    real: MeasuredPulses, simulated: MeasuredPulses, *, angle_bin: float = ANGLE_BIN, range_bin: float = RANGE_BIN
) -> Score:
    """Score a simulated scan against a real one; bins [rad] and [m].

    >>> way = np.random.default_rng(1).normal((5, 0, 0), 0.5, (100, 3))
    >>> pulses = tussock.MeasuredPulses.of(np.zeros(3), way, np.linalg.norm(way, axis=1))
    >>> round(tussock.compare(pulses, pulses).distance, 6)
    0.0
    """
    return Score(
        bhattacharyya(real, simulated, angle_bin=angle_bin, range_bin=range_bin),
        len(real),
        len(simulated),
        float(real.hit.mean()),
        float(simulated.hit.mean()),
        _quantiles(real),
        _quantiles(simulated),
    )


def bhattacharyya(
    real: MeasuredPulses, simulated: MeasuredPulses, *, angle_bin: float = ANGLE_BIN, range_bin: float = RANGE_BIN
) -> float:
    """−ln Σ √(p·q) over laser, angle and range, pulses without return included."""
    for name, width in (("angle bin", angle_bin), ("range bin", range_bin)):
        if not (np.isfinite(width) and width > 0):
            raise InputError.of(name, "must be above 0", width)
    one, p = _histogram(real, angle_bin, range_bin)
    two, q = _histogram(simulated, angle_bin, range_bin)
    _, at_one, at_two = np.intersect1d(one, two, assume_unique=True, return_indices=True)
    shared = float(np.sqrt(p[at_one] * q[at_two]).sum())
    return float(-np.log(min(shared, 1.0))) if shared > 0 else float("inf")


def _histogram(
    pulses: MeasuredPulses, angle_bin: float, range_bin: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The keys of the bins that are not empty, and their shares."""
    angle = np.rint(np.mod(pulses.azimuths, 2 * np.pi) / angle_bin).astype(np.int64)
    angle %= max(1, int(np.rint(2 * np.pi / angle_bin)))
    along = np.where(pulses.hit, np.rint(np.nan_to_num(pulses.ranges) / range_bin) + 1, 0).astype(np.int64)
    if angle.max() >= 2**22 or along.max() >= 2**25:
        raise InputError.of("bins", "are too fine for these ranges and angles", (angle_bin, range_bin))
    key = (pulses.rings.astype(np.int64) << 47) | (angle << 25) | along
    keys, counts = np.unique(key, return_counts=True)
    return keys, counts / len(pulses)


def _quantiles(pulses: MeasuredPulses) -> tuple[float, ...]:
    ranges = pulses.ranges[pulses.hit]
    if not len(ranges):
        return (float("nan"),) * len(QUANTILES)
    return tuple(float(v) for v in np.quantile(ranges, QUANTILES))
