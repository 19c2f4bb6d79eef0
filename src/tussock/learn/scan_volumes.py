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
from tussock.learn.walks.side_by_side import side_by_side
from tussock.randomness import Chance, Purpose, chance_of, check_seed, normal_pair, random_words
from tussock.scene.volumes import Volumes
from tussock.threads import resolve_threads, run_on_threads
from tussock.trace.ray import ray_in_row
from tussock.trace.volume_cells import grid_order, new_walk
from tussock.trace.volume_hits import Gaussians, end_in_volumes, gaussians_of

__all__ = ["simulate_ranges", "simulate_volumes"]

_BLOCK = 2048
_VOLUME = int(Purpose.VOLUME)


def simulate_volumes(
    volumes: Volumes | Gaussians, like: MeasuredPulses, *, seed: int = 0, frame: int = 0, threads: int | None = None
) -> MeasuredPulses:
    """Fire the pulses of ``like`` again, into the volumes (in the same frame); the outcome in place of the ranges.

    Ranges have the noise of ``like.noise``, once: what a volume has of it already is not added again.

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
    ranges, met, draws = _fired(tables, origins, like, chance_of(check_seed(seed), frame), threads)
    # What of the sensor's noise the volume has not got already.
    variances = np.nan_to_num(like.noise.variances(tables.intensity[met], ranges)) - tables.held[met]
    ranges = np.maximum(ranges + np.sqrt(np.maximum(variances, 0.0)) * draws, 0.0)
    intensity = np.where(met >= 0, tables.intensity[met], 0).astype(np.float32)
    fired = replace(like, ranges=ranges, intensity=intensity, others=np.full(len(like), np.nan, np.float32))
    return fired if isinstance(volumes, Gaussians) else replace(fired, **_known(volumes, met))


def _known(volumes: Volumes, met: NDArray[np.int64]) -> dict[str, Any]:
    """Labels and colours of pulses that ended in volumes, which are numbered as their grid has them."""
    order, hit = grid_order(volumes), met >= 0
    rows = met[hit] if order is None else order[met[hit]]
    labels, colors = np.zeros(len(met), np.uint16), np.zeros((len(met), 4), np.uint8)
    if len(volumes.labels):
        labels[hit] = volumes.labels[rows]
    if len(volumes.colors):
        colors[hit] = volumes.colors[rows]
    return {"labels": labels, "colors": colors}


def simulate_ranges(
    tables: Gaussians, origins: NDArray[np.float64], directions: NDArray[np.float64], reach: float, *, seed: int = 0,
    frame: int = 0, threads: int | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:  # fmt: skip
    """Range [m] (NaN: none within ``reach``) and volume (−1: none) of rays (n, 3), both of shape (n,); without noise."""
    like = MeasuredPulses.of(origins, directions, np.full(len(directions), np.nan), reach=reach)
    return _fired(tables, like.origins, like, chance_of(check_seed(seed), frame), threads)[:2]


def _fired(
    tables: Gaussians, origins: NDArray[np.float64], like: MeasuredPulses, chance: Chance, threads: int | None
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    """Range, volume, and a standard normal deviate of each pulse, for the noise, shape (n,)."""
    ranges, met, draws = np.empty(len(like)), np.empty(len(like), np.int64), np.empty(len(like))
    rays = PulseRays(np.ascontiguousarray(origins), like.directions, ranges, float(like.reach))
    run_on_threads(_fire, resolve_threads(threads), tables, rays, chance, (met, draws, side_by_side(like)))
    return ranges, met, draws


@kernel
def _fire(worker: int, workers: int, tables: Any, rays: PulseRays, chance: Chance, out: Any) -> None:
    _fire_all(worker, workers, tables, rays, chance, out, new_walk())


@kernel
def _fire_all(worker: int, workers: int, tables: Any, rays: PulseRays, chance: Chance, out: Any, walk: Any) -> None:
    """Fill in the ranges of the rays, the volume that each met, and one more draw of chance; ``out`` has their order, too."""
    tables, walk = borrowed(tables), borrowed(walk)
    met, draws, order = borrowed(out)
    origins, directions, ranges, reach = borrowed(rays)
    for first in range(worker * _BLOCK, len(ranges), workers * _BLOCK):
        for k in range(first, min(first + _BLOCK, len(ranges))):
            p = order[k]
            ray = ray_in_row(origins, directions, p, reach)
            words = random_words(chance, p, 0, _VOLUME)
            t, i = end_in_volumes(tables, 0, walk, ray, True, words)
            ranges[p] = t if t < math.inf else math.nan
            met[p], draws[p] = i, normal_pair(words[1], words[2])[1]
