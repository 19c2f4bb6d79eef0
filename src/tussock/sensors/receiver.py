"""What the receiver makes of a pulse's hits: which it reports, how near and far, how dim, in which steps.

Two models. `echoes`: the hits make a waveform, its peaks are echoes, an echo is seen with a probability that falls with
its signal, and modes choose among echoes (`tussock.signal.echoes`). `hits`: every hit is a return of its own, as
Goodin et al. have it (`tussock.signal.returns`); the papers' experiments use it.
"""

from __future__ import annotations

import math
import re
from statistics import NormalDist
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from tussock.quantities import Fraction, NotNegative, Pair, Positive, TargetDistance, TargetReflectivity
from tussock.return_modes import Mode
from tussock.settings import Settings

__all__ = ["DetectionLimit", "Detects", "Receiver"]

_OF_HITS = ("strongest", "last", "first", "strongest+last", "all")
_EXPONENTS = (0.1, 10.0)
"""of the distance, by which a signal may fall: 2 as 1/r²"""
_SHEET = re.compile(r"\s*([\d.]+)\s*%\s*at\s*([\d.]+)\s*m(?:\s+with\s+probability\s+([\d.]+))?\s*")


class Detects(Settings):
    """A wall that the sensor's sheet says it sees, and how surely: ``10 % at 80 m with probability 0.9``."""

    reflectivity: TargetReflectivity = 0.1
    distance_m: TargetDistance
    probability: Annotated[float, Field(gt=0.0, lt=1.0)] = 0.9

    @model_validator(mode="before")
    @classmethod
    def _as_the_sheet_says(cls, data: Any) -> Any:
        if not isinstance(data, str):
            return data
        read = _SHEET.fullmatch(data)
        if read is None:
            raise ValueError("must be like '10 % at 80 m with probability 0.9'")
        share, distance, probability = read.groups()
        words = {"reflectivity": float(share) / 100, "distance_m": float(distance)}
        return words if probability is None else words | {"probability": float(probability)}


class DetectionLimit(Settings):
    """The least reflectivity that is seen, linear between two distances (`tussock.signal.detection`)."""

    near_m: NotNegative = 50.0
    near_reflectivity: Fraction = 0.1
    far_m: Positive = 120.0
    far_reflectivity: Fraction = 0.8

    @model_validator(mode="after")
    def _ordered(self) -> DetectionLimit:
        if self.near_m >= self.far_m:
            raise ValueError(f"near_m must be below far_m ({self.far_m:g})")
        return self


class Receiver(Settings):
    """From hits to returns.

    >>> tussock.Receiver(mode="strongest+last", max_range_m=80.0).returns
    2
    """

    model: Literal["echoes", "hits"] = "echoes"
    """echoes: peaks of the waveform; hits: every hit by itself, as in MAVS"""
    mode: Mode = "strongest"
    """which echoes (or hits) of a pulse are reported"""
    pulse_fwhm_ns: Annotated[float, Field(gt=0.0, le=1000.0)] = 5.0
    """full width of the received pulse at half its height [ns]; what is nearer than about 0.85 of it is one echo"""
    min_separation_m: NotNegative = 0.0
    """of two echoes nearer than this the stronger is kept; 0: the pulse alone decides"""
    detects: Annotated[tuple[Detects, ...], Field(max_length=2)] = ()
    """what the sheet says the sensor sees: one target, or two; none: every echo is seen"""
    threshold_snr: Annotated[float, Field(ge=1.0, le=100.0)] = 5.0
    """signal and noise must pass this, in standard deviations of the noise, to be an echo"""
    signal_cutoff_m: NotNegative = 1.0
    """model hits: hits this close behind the nearest are one echo (modes first and all)"""
    max_returns: Annotated[int, Field(ge=1, le=32)] = 5
    """most returns a pulse in mode all: the nearest ones"""
    min_range_m: NotNegative = 0.0
    max_range_m: Positive = 100.0
    range_step_m: NotNegative = 0.0
    """measured ranges are whole multiples of this; 0: not quantised"""
    intensity_step: NotNegative = 0.0
    """measured intensities are whole multiples of this; 0: not quantised"""
    min_intensity: NotNegative = 0.0
    """returns dimmer than this are not reported"""
    intensity_ceiling: NotNegative = 0.0
    """the highest intensity that is reported; 0: there is none"""
    ceiling_gain: NotNegative = 0.0
    """what reports the ceiling: so many times a white wall, intensities between by their logarithm; 0: cut off"""
    spreading_reference_m: NotNegative = 0.0
    """intensities fall as 1/r² and are given as at this range; 0: the sensor makes up for it"""
    extinction_per_m: NotNegative = 0.0
    """κ of the air, lost as exp(−2κr); the weather of a scene comes on top"""
    overlap_m: Pair = (0.9, 1.0)
    """where the receiver begins to see the beam, and where it sees all of it; weighs what the air sends back"""
    near_reflectivity: Fraction = 0.005
    """the faintest that is seen near by, as a wall that fills the beam: so much does the receiver take back of what is
    near; weighs what the air sends back; 0: one sensitivity at all distances. Velodyne's calibration of an HDL-64E S3 has
    its lasers in focus at 10.5, 15, 24 m and so on; a wall of 0.5 % is just seen at 15.6 m. A lens of 25 mm before a
    detector as wide as a VLP-16's beam, 3 mrad, is in focus from 8.3 m on; a wall of 0.5 % is just seen at 8.9 m"""
    detection_limit: DetectionLimit | None = None
    """BlenSor's limit, sharp and of the material alone; `detects` is the limit of a receiver"""
    range_walk: Fraction = 0.0
    """share of the leading edge's walk that calibration leaves: strong echoes seem nearer"""
    near_infrared: bool = False
    """whether the sensor also reports the sunlight that it receives, as Ouster's do"""
    backfolding: bool = False
    """ranges in the upper half of the range appear nearer by half the range (time-of-flight cameras)"""
    max_bounces: Annotated[int, Field(ge=0, le=16)] = 6
    """how often a ray goes on from mirrors and glass"""

    @model_validator(mode="before")
    @classmethod
    def _one_target_or_more(cls, data: Any) -> Any:
        if isinstance(data, dict) and isinstance(data.get("detects"), (str, dict)):
            return data | {"detects": (data["detects"],)}
        return data

    @model_validator(mode="after")
    def _consistent(self) -> Receiver:
        if self.min_range_m >= self.max_range_m:
            raise ValueError(f"min_range_m must be below max_range_m ({self.max_range_m:g})")
        if not 0 <= self.overlap_m[0] < self.overlap_m[1]:
            raise ValueError("overlap_m must be two distances of 0 or more, the first below the second")
        if self.model == "hits" and self.mode not in _OF_HITS:
            raise ValueError(f"mode {self.mode} needs model 'echoes'; model 'hits' has {', '.join(_OF_HITS)}")
        if self.range_walk > 0 and not self.detects:
            raise ValueError("range_walk needs detects: the walk follows from the signal-to-noise ratio")
        if 0 < self.intensity_ceiling <= 1 < self.ceiling_gain or 0 < self.ceiling_gain <= 1:
            raise ValueError("ceiling_gain must be above 1, or 0, and needs an intensity_ceiling above 1")
        self._check_detects()
        return self

    def _check_detects(self) -> None:
        if any(self.threshold_snr + NormalDist().inv_cdf(one.probability) <= 0 for one in self.detects):
            raise ValueError("detects: what is seen so seldom is noise alone; give a probability nearer to 1")
        if len(self.detects) < 2:
            return
        near, far = self.detects
        if near.distance_m >= far.distance_m or near.reflectivity >= far.reflectivity:
            raise ValueError("detects: the second target must be further away and brighter than the first")
        # As `tussock.signal.signal_to_noise.sensitivity` has it.
        seen, dim = (self.threshold_snr + NormalDist().inv_cdf(one.probability) for one in self.detects)
        drop = math.log((far.reflectivity / dim) / (near.reflectivity / seen))
        if not _EXPONENTS[0] <= drop / math.log(far.distance_m / near.distance_m) <= _EXPONENTS[1]:
            raise ValueError(
                "detects: from one target to the other the signal must fall as 1/r to the power of 0.1 to 10"
            )

    @property
    def returns(self) -> int:
        """The most returns a pulse can have."""
        return self.max_returns if self.mode == "all" else 1 + ("+" in self.mode)
