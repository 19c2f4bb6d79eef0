"""The range noise of the sensor that measured: what is known of it, and how it is taken out of Gaussians.

The returns of a volume lie where things are, plus the sensor's noise along the pulse. With d the direction and σ the
noise of each of the n returns of a volume, the covariance C that was fitted to them, (S + prior)/(n + 1), holds

    N = Σ σ²·d dᵀ · (n − 1)/n / (n + 1)

of noise on average (the rest of it is in the mean). C − s·N with s = 1 is the covariance of the things themselves. Where
few returns, or the walls of a voxel, have left less than that in C, s is as large as leaves no direction thinner than
`_THINNEST`, or a thousandth of the volume's size. What was not taken out is held by the volume, and a scan adds only
the rest of its own noise there (`tussock.signal.range_noise.rest_of_noise`). So the sensor that the volumes were learned
with gets back the spread that it recorded, whatever s is, and a better one sees less.

For pulses that all go one way, taking out s·N leaves the Mahalanobis distance of eq (1) as it is and takes s·σ² from the
variance along the pulse of eq (3), by the formula of Sherman and Morrison.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.listening import sensitivity_of, spread_of
from tussock.scene.volumes import positive_definite
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.noise import Noise
from tussock.sensors.receiver import Receiver
from tussock.sensors.sensor import Sensor

__all__ = [
    "NO_NOISE", "NoiseSums", "RangeNoise", "constant_noise", "noise_of", "noise_of_model", "noise_sums", "told_noise",
    "without_noise",
]  # fmt: skip

_THINNEST = 1e-3  # [m]
_THIN_SHARE = 1e-3
_HALVINGS = 24


class RangeNoise(NamedTuple):
    """σ² = floor + shot/s + thermal/s² [m²] at the signal-to-noise ratio s = scale·intensity/rⁿ, at least 1."""

    floor: float = 0.0
    shot: float = 0.0
    thermal: float = 0.0
    scale: float = 0.0
    """s of a white wall one metre away; 0: the noise is the same everywhere"""
    exponent: float = 2.0

    def variances(self, intensity: NDArray[Any], ranges: NDArray[Any]) -> NDArray[np.float64]:
        """[m²] of returns of a relative intensity at a range [m], NaN where there is none, shape (n,)"""
        if self.scale == 0.0:
            return np.where(np.isfinite(ranges), self.floor, np.nan)
        far = np.maximum(np.asarray(ranges, np.float64), 1e-3)
        ratio = np.maximum(self.scale * np.asarray(intensity, np.float64) * far**-self.exponent, 1.0)
        variances: NDArray[np.float64] = self.floor + self.shot / ratio + self.thermal / ratio**2
        return variances


NO_NOISE = RangeNoise()


def constant_noise(sigma: float) -> RangeNoise:
    """The same ``sigma`` [m] for every return."""
    if not (np.isfinite(sigma) and sigma >= 0):
        raise InputError.of("range noise", "must be a standard deviation from 0 on [m]", sigma)
    return RangeNoise(floor=float(sigma) ** 2)


def noise_of(sensor: Sensor) -> RangeNoise:
    """The range noise of a sensor as its sheet says; biases of lasers are not among it."""
    if sensor.receiver.model != "echoes":
        return constant_noise(sensor.noise.ray_sigma_m)
    scale, exponent = sensitivity_of(sensor)
    return RangeNoise(*spread_of(sensor), scale, exponent)


def noise_of_model(name: str) -> RangeNoise:
    """The range noise of a model that a recording names; none where the catalogue has no such sensor."""
    try:
        return noise_of(load_sensor(name.lower()))
    except InputError:
        return NO_NOISE


def told_noise(settings: Any) -> RangeNoise:
    """The range noise of the sensor whose settings a frame tells; none where they are not what they should be.

    Its pattern is not asked for: that may name a file, and a frame may come from anybody.
    """
    try:
        receiver, noise = (settings[part] for part in ("receiver", "noise"))
        parts = {"receiver": Receiver.parse(receiver, "receiver"), "noise": Noise.parse(noise, "noise")}
    except (KeyError, TypeError, InputError):
        return NO_NOISE
    return noise_of(load_sensor("vlp-16").model_copy(update=parts))


class NoiseSums(NamedTuple):
    """The range noise of the returns that Gaussians were fitted to."""

    total: NDArray[np.float64]
    """Σ σ²·d dᵀ as xx, xy, xz, yy, yz, zz [m²], shape (volumes, 6)"""
    variance: NDArray[np.float64]
    """mean σ² [m²], shape (volumes,)"""
    counts: NDArray[Any]
    """returns of each, shape (volumes,)"""


def noise_sums(
    directions: NDArray[np.float64], variances: NDArray[np.float64], labels: NDArray[np.int64], volumes: int
) -> NoiseSums:
    """The noise of labelled returns that came along ``directions`` (n, 3) with ``variances`` [m²], shape (n,)."""
    n = np.maximum(np.bincount(labels, minlength=volumes), 1)
    x, y, z = directions.T
    pairs = ((x, x), (x, y), (x, z), (y, y), (y, z), (z, z))
    sums = [np.bincount(labels, variances * a * b, volumes) for a, b in pairs]
    return NoiseSums(np.stack(sums, 1), np.bincount(labels, variances, volumes) / n, n)


def without_noise(
    covariances: NDArray[np.float64], noise: NoiseSums, size: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Covariances (xx, xy, xz, yy, yz, zz) [m²], shape (volumes, 6), without range noise, and the noise that each volume
    still holds [m²], shape (volumes,). ``size`` [m] is that of the volumes, shape (volumes,)."""
    if not noise.variance.any():
        return covariances, np.zeros(len(covariances))
    n = noise.counts
    part = noise.total * ((n - 1) / (n * (n + 1.0)))[:, None]
    floor = np.maximum(_THINNEST, _THIN_SHARE * size)[:, None] ** 2 * np.array([1.0, 0, 0, 1.0, 0, 1.0])
    share = _largest_share(covariances - floor, part)
    left = noise.variance - share * (part[:, 0] + part[:, 3] + part[:, 5])
    return covariances - share[:, None] * part, np.maximum(left, 0.0)


def _largest_share(matrices: NDArray[np.float64], noise: NDArray[np.float64]) -> NDArray[np.float64]:
    """The largest s within 0 and 1 for which matrix − s·noise is positive definite, to 2^−24, shape (n,)."""
    asked = np.flatnonzero(~positive_definite(matrices - noise))
    low, high = np.zeros(len(asked)), np.ones(len(asked))
    some, part = matrices[asked], noise[asked]
    for _ in range(_HALVINGS if len(asked) else 0):
        middle = (low + high) / 2
        fine = positive_definite(some - middle[:, None] * part)
        low, high = np.where(fine, middle, low), np.where(fine, high, middle)
    share = np.ones(len(matrices))
    share[asked] = low
    return share
