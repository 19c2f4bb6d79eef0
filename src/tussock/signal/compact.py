"""Pulses that met one thing: their one echo in closed form.

Hits within half a σ of each other, a wall or the ground near by, are one echo, and its peak follows from the moments of
their paths alone. With mean m, variance v and third central moment κ, weighted by energy, the peak of the waveform
(`tussock.signal.waveform`) lies at

    m − κ/2σ² / (1 − 3v/2σ²)    and has the height    Σe·exp(−v/2σ²),

the first terms of the series in (spread/σ); within half a σ they are right to 1e-3 of σ and 1e-3 of the height. The
loops go over many pulses at once, one column each, and hold no branch, so that they become vector code.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tussock.kernels import inline_kernel

__all__ = ["COMPACT", "Gathered", "compact_echo", "gather"]

COMPACT = np.float32(0.5)
"""[σ] hits within this are one echo by their moments"""
_HALF, _ONE = np.float32(0.5), np.float32(1.0)


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
    variance: Any
    """[m²]"""
    third: Any
    """third central moment [m³]"""
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
        out.energy[l], out.mean[l], out.variance[l], out.third[l] = zero, zero, zero, zero
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
            out.variance[l] += energy * depth * depth
            out.third[l] += energy * depth * depth * depth
            stronger = energy > out.most[l]
            out.rows[l] = np.int32(k) if stronger else out.rows[l]
            out.most[l] = energy if stronger else out.most[l]
    for l in range(lanes):
        share = _ONE / out.energy[l] if out.energy[l] > zero else zero
        mean, square, cube = out.mean[l] * share, out.variance[l] * share, out.third[l] * share
        out.mean[l] = mean
        out.variance[l] = max(square - mean * mean, zero)
        out.third[l] = cube - np.float32(3.0) * mean * square + np.float32(2.0) * mean * mean * mean


@inline_kernel
def compact_echo(gathered: Any, lane: int, sigma: Any) -> Any:
    """Path [m] and height of the one echo of a pulse whose hits lie within half a σ."""
    spread = gathered.variance[lane] / (sigma * sigma)
    skew = gathered.third[lane] / (sigma * sigma)
    path = gathered.nearest[lane] + gathered.mean[lane] - _HALF * skew / (_ONE - np.float32(1.5) * spread)
    fall = _HALF * spread
    return path, gathered.energy[lane] * (_ONE - fall + _HALF * fall * fall)
