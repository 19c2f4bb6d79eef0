"""Pulses that have one echo, many at once.

Hits within half a σ of each other, a wall or the ground near by, are one echo, and its peak follows from the moments of
their paths alone. With mean m, variance v and third central moment κ, weighted by energy, the peak of the waveform
(`tussock.signal.waveform`) lies at

    m − κ/2σ² / (1 − 3v/2σ²)    and has the height    Σe·exp(−v/2σ²),

the first terms of the series in (spread/σ); within half a σ they are right to 1e-3 of σ and 1e-3 of the height.

Hits within 2σ are one echo as well (`tussock.signal.echoes`). Its peak is where x is the mean of the paths weighted by
what each gives there; Newton's steps find it. The loops go over many pulses, one column each, and hold no branch, so
that they become vector code.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tussock.elementary import exponential
from tussock.kernels import inline_kernel

__all__ = [
    "COMPACT", "SINGLE", "Gathered", "Peaks", "compact_echo", "gather", "peak_of_moments",
    "single_peaks",
]  # fmt: skip

COMPACT = np.float32(0.5)
"""[σ] hits within this are one echo by their moments"""
SINGLE = np.float32(2.0)
"""[σ] hits within this are one echo"""
_HALF, _ONE, _ZERO = np.float32(0.5), np.float32(1.0), np.float32(0.0)
_STEPS = 3
_FLAT = np.float32(0.25)  # where the waveform is as flat as this on top, steps are no longer than four times the mean's


class Peaks(NamedTuple):
    """The one peak of the waveform of each pulse, shape (lanes,)."""

    paths: Any
    """[m]"""
    heights: Any
    slopes: Any
    """scratch, and so the next"""
    curves: Any


class Gathered(NamedTuple):
    """The hits of each pulse summed up, shape (lanes,)."""

    nearest: Any
    """[m], infinite where there is no hit"""
    furthest: Any
    """[m]"""
    energy: Any
    """their sum"""
    mean: Any
    """[m] from the nearest on"""
    square: Any
    """mean of their squares [m²]"""
    cube: Any
    """of their cubes [m³]"""
    rows: Any
    """the strongest hit"""
    most: Any
    """its energy"""


@inline_kernel
def gather(ranges: Any, energies: Any, used: int, min_range: Any, max_range: Any, out: Any) -> None:
    """Sum up the first ``used`` rows; hits outside the range limits lose their energy."""
    lanes = out.energy.shape[0]
    zero = np.float32(0.0)
    for l in range(lanes):
        out.nearest[l], out.furthest[l], out.most[l], out.rows[l] = np.float32(np.inf), zero, zero, 0
        out.energy[l], out.mean[l], out.square[l], out.cube[l] = zero, zero, zero, zero
    for k in range(used):
        for l in range(lanes):
            distance, energy = ranges[k, l], energies[k, l]
            seen = (energy > zero) & (distance >= min_range) & (distance <= max_range)
            energies[k, l] = energy if seen else zero
            out.nearest[l] = min(out.nearest[l], distance) if seen else out.nearest[l]
            out.furthest[l] = max(out.furthest[l], distance) if seen else out.furthest[l]
    for k in range(used):
        for l in range(lanes):
            energy = energies[k, l]
            depth = ranges[k, l] - out.nearest[l] if energy > zero else zero
            out.energy[l] += energy
            out.mean[l] += energy * depth
            out.square[l] += energy * depth * depth
            out.cube[l] += energy * depth * depth * depth
            stronger = energy > out.most[l]
            out.rows[l] = np.int32(k) if stronger else out.rows[l]
            out.most[l] = energy if stronger else out.most[l]
    for l in range(lanes):
        share = _ONE / out.energy[l] if out.energy[l] > zero else zero
        out.mean[l], out.square[l], out.cube[l] = out.mean[l] * share, out.square[l] * share, out.cube[l] * share


@inline_kernel
def compact_echo(gathered: Any, lane: int, sigma: Any) -> Any:
    """Path [m] and height of the one echo of a pulse whose hits lie within half a σ."""
    per_sigma = _ONE / sigma
    place, height = peak_of_moments(
        gathered.mean[lane] * per_sigma, gathered.square[lane] * per_sigma * per_sigma,
        gathered.cube[lane] * per_sigma * per_sigma * per_sigma,
    )  # fmt: skip
    return gathered.nearest[lane] + place * sigma, gathered.energy[lane] * height


@inline_kernel
def peak_of_moments(mean: Any, square: Any, cube: Any) -> Any:
    """Place [σ] and height of the peak of a unit of energy, from the means of its depths [σ], their squares and cubes."""
    spread = max(square - mean * mean, _ZERO)
    skew = cube - np.float32(3.0) * mean * square + np.float32(2.0) * mean * mean * mean
    fall = _HALF * spread
    return mean - _HALF * skew / (_ONE - np.float32(1.5) * spread), _ONE - fall + _HALF * fall * fall


@inline_kernel
def single_peaks(ranges: Any, energies: Any, used: int, gathered: Any, sigma: Any, out: Any) -> None:
    """The peak of every lane whose hits lie within 2σ; what it says of other lanes, and of those without hits, is naught.

    A step is Newton's, x + σ·W′/(−W″σ), with the curvature kept away from 0 where two halves are just about to part.
    """
    lanes, per_sigma = out.paths.shape[0], _ONE / sigma
    for l in range(lanes):
        out.paths[l] = gathered.mean[l]
    for _ in range(_STEPS):
        for l in range(lanes):
            out.heights[l], out.slopes[l], out.curves[l] = _ZERO, _ZERO, _ZERO
        for k in range(used):
            for l in range(lanes):
                energy = energies[k, l]
                depth = ranges[k, l] - gathered.nearest[l] if energy > _ZERO else _ZERO
                z = (depth - out.paths[l]) * per_sigma
                part = energy * exponential(-_HALF * z * z)
                out.heights[l] += part
                out.slopes[l] += part * z
                out.curves[l] += part * (_ONE - z * z)
        for l in range(lanes):
            bent = max(out.curves[l], _FLAT * out.heights[l])
            step = out.slopes[l] / bent if bent > _ZERO else _ZERO
            out.heights[l] += _HALF * out.slopes[l] * step
            out.paths[l] += step * sigma
    for l in range(lanes):
        out.paths[l] += gathered.nearest[l]
