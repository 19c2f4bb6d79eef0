"""A sensor's receiver as numbers for the loop over pulses: what its sheet says, worked out."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from tussock.pulse.tables import Listening
from tussock.sensors.receiver import Receiver
from tussock.sensors.sensor import Sensor
from tussock.signal.range_noise import RangeSpread, spread_of_ranges
from tussock.signal.range_walk import leading_edge
from tussock.signal.signal_to_noise import Target, sensitivity
from tussock.signal.waveform import pulse_sigma_m

__all__ = ["listening_of", "near_end_of", "ratio_of", "sensitivity_of", "spread_of"]


def sensitivity_of(sensor: Sensor) -> tuple[float, float]:
    """s₀ and n of the sensor's signal-to-noise ratio s₀·E·(1 m/r)ⁿ; (0, 2) where its sheet says nothing of it."""
    return _sensitivity(sensor.receiver)


@lru_cache(maxsize=16)
def _sensitivity(receiver: Receiver) -> tuple[float, float]:
    """Kept: it is asked several times a scan."""
    targets = tuple(Target(t.reflectivity, t.distance_m, t.probability) for t in receiver.detects)
    return sensitivity(targets, receiver.threshold_snr) if targets else (0.0, 2.0)


def near_end_of(sensor: Sensor) -> float:
    """r₁ [m]: up to there the receiver is so much less sensitive that `receiver.near_reflectivity` is just seen.

    What comes back from near by is so strong that receivers are built to take it back: their optics are out of focus
    there, so that most of a near spot's image misses the detector ("geometrical compression", Harms, Lahmann and
    Weitkamp 1978, Appl. Opt. 17, 1131-1135), and their gain or threshold changes with the time since the shot
    (sensitivity time control). Both make up for the 1/rⁿ of the signal, so what is left of it nearer than r₁ is (r/r₁)ⁿ,

        s₀·ρ/r₁ⁿ = T,

    ρ the least reflectivity that is seen there and T the threshold; 0 where ρ is 0, or the sensitivity is not known.
    """
    scale, exponent = sensitivity_of(sensor)
    return float((scale * sensor.receiver.near_reflectivity / sensor.receiver.threshold_snr) ** (1.0 / exponent))


def ratio_of(sensor: Sensor, reflectivity: float, distance_m: float) -> float:
    """The signal-to-noise ratio of a wall that fills the beam; 0 where it is not known."""
    scale, exponent = sensitivity_of(sensor)
    return scale * reflectivity / distance_m**exponent


def spread_of(sensor: Sensor) -> RangeSpread:
    """How the sensor's range noise grows as the signal falls."""
    noise, stated = sensor.noise, sensor.noise.stated_at
    ratio = 0.0 if stated is None else ratio_of(sensor, stated.reflectivity, stated.distance_m)
    return spread_of_ranges(noise.ray_sigma_m, ratio, pulse_sigma_m(sensor.receiver.pulse_fwhm_ns), noise.floor_sigma_m)


def listening_of(sensor: Sensor) -> Listening:
    """The numbers of the receiver of echoes."""
    receiver, noise, stated = sensor.receiver, sensor.noise, sensor.noise.stated_at
    sigma = pulse_sigma_m(receiver.pulse_fwhm_ns)
    scale, exponent = sensitivity_of(sensor)
    threshold = np.float32(receiver.threshold_snr)
    # Without a target of its own, the walk is calibrated with the first that the sheet names.
    target = stated or (receiver.detects[0] if receiver.detects else None)
    calibration = ratio_of(sensor, target.reflectivity, target.distance_m) if target else 0.0
    numbers = (
        sigma, receiver.min_separation_m, scale, exponent, threshold, *spread_of(sensor), receiver.intensity_ceiling,
        receiver.ceiling_gain, sigma * receiver.range_walk, leading_edge(np.float32(calibration), threshold),
        noise.false_alarms, noise.interference,
    )  # fmt: skip
    return Listening(*(np.float32(number) for number in numbers))
