"""Simulating volumes alone: the pulses that would come of given rays, without scene or sensor.

The same kernel as in the scan loop, for scores and experiments. In a scene, `tussock.scan` mixes volumes with
surfaces, pulses with spread and receivers.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.kernels import borrowed, kernel
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.pulse_rays import PulseRays
from tussock.randomness import Chance, Purpose, chance_of, check_seed, random_words
from tussock.scene.volumes import Volumes
from tussock.threads import resolve_threads, run_on_threads
from tussock.trace.ray import ray_in_row
from tussock.trace.volume_cells import new_walk
from tussock.trace.volume_hits import Gaussians, end_in_volumes, gaussians_of

__all__ = ["simulate_ranges", "simulate_volumes"]

_BLOCK = 2048
_VOLUME = int(Purpose.VOLUME)


def simulate_volumes(
    volumes: Volumes | Gaussians, like: MeasuredPulses, *, seed: int = 0, frame: int = 0, threads: int | None = None
) -> MeasuredPulses:
    """Fire the pulses of ``like`` again, into the volumes (in the same frame); the outcome in place of the ranges.

    >>> way = np.random.default_rng(1).normal((5, 0, 0), 0.5, (400, 3))
    >>> pulses = tussock.MeasuredPulses.of(np.zeros(3), way, np.linalg.norm(way, axis=1), reach=10)
    >>> again = tussock.simulate_volumes(tussock.learn_volumes(pulses, voxel=0.5), pulses, seed=1)
    >>> len(again) == len(pulses)
    True
    """
    if isinstance(volumes, Gaussians):
        tables, origins = volumes, like.origins
    else:
        tables, origins = gaussians_of([volumes]), like.origins - np.asarray(volumes.origin)
    ranges, met = simulate_ranges(tables, origins, like.directions, like.reach, seed=seed, frame=frame, threads=threads)
    intensity = np.where(met >= 0, tables.intensity[met], 0).astype(np.float32)
    return replace(like, ranges=ranges, intensity=intensity)


def simulate_ranges(
    tables: Gaussians, origins: NDArray[np.float64], directions: NDArray[np.float64], reach: float, *, seed: int = 0,
    frame: int = 0, threads: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:  # fmt: skip
    """Range [m] (NaN: none within ``reach``) and volume (−1: none) of rays (n, 3), both of shape (n,)."""
    ranges = np.empty(len(directions))
    met = np.empty(len(directions), np.int64)
    rays = PulseRays(
        np.ascontiguousarray(origins, np.float64), np.ascontiguousarray(directions, np.float64), ranges, float(reach)
    )
    run_on_threads(_fire, resolve_threads(threads), tables, rays, chance_of(check_seed(seed), frame), met)
    return ranges, met


@kernel
def _fire(worker: int, workers: int, tables: Any, rays: PulseRays, chance: Chance, met: Any) -> None:
    _fire_all(worker, workers, tables, rays, chance, met, new_walk())


@kernel
def _fire_all(worker: int, workers: int, tables: Any, rays: PulseRays, chance: Chance, met: Any, walk: Any) -> None:
    """Fill in the ranges of the rays, and the volume that each met."""
    tables, walk, met = borrowed(tables), borrowed(walk), borrowed(met)
    origins, directions, ranges, reach = borrowed(rays)
    for first in range(worker * _BLOCK, len(ranges), workers * _BLOCK):
        for p in range(first, min(first + _BLOCK, len(ranges))):
            ray = ray_in_row(origins, directions, p, reach)
            t, i = end_in_volumes(tables, 0, walk, ray, True, random_words(chance, p, 0, _VOLUME))
            ranges[p] = t if t < math.inf else math.nan
            met[p] = i
