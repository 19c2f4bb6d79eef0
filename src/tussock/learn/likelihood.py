"""How well volumes foretell pulses that they were not learned from, each by itself.

A pulse that meets volumes 1, 2, … ends in volume i with the probability (1 − ρᵢ) Π ρⱼ over the volumes before it, and
then its range is normal with eqs (2) and (3) of Deschaud et al. (2012), and with what of the sensor's noise is not in the
volume already. That is a likelihood, exact and without sampling anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tussock.kernels import borrowed, kernel
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.pulse_rays import PulseRays, rays_of_pulses
from tussock.scene.volumes import WHOLE, Volumes
from tussock.threads import resolve_threads, run_on_threads
from tussock.trace.ray import ray_in_row
from tussock.trace.volume_cells import new_walk, start_walk
from tussock.trace.volume_hits import gaussians_of, next_volume

__all__ = ["log_likelihood"]

_BLOCK = 2048
_STEP = 0.002  # [m] a range counts as this wide, so that hits and misses are both probabilities
_ASTRAY = 1e-3  # share of pulses that no model explains: dust, birds, people


def log_likelihood(
    volumes: Volumes, pulses: MeasuredPulses, *, box: Sequence[float] | None = None, threads: int | None = None
) -> float:
    """Mean natural logarithm of the probability of the pulses' outcomes; higher is better, 0 is certain.

    Where volumes were learned in a ``box``, a pulse that ended outside it only says that it came as far as it did.
    """
    ranges, ends = pulses.ranges, np.full(len(pulses), pulses.reach)
    if box is not None:
        elsewhere = pulses.hit & ~pulses.inside(box)
        ranges, ends = np.where(elsewhere, np.nan, ranges), np.where(elsewhere, ranges, ends)
    sums = np.zeros((len(pulses) + _BLOCK - 1) // _BLOCK)
    rays = rays_of_pulses(pulses, volumes.origin)._replace(ranges=ranges)
    noise = np.nan_to_num(pulses.noise.variances(pulses.intensity, ranges))
    run_on_threads(_likelihood, resolve_threads(threads), gaussians_of([volumes]), rays, (ends, noise), sums)
    return float(sums.sum() / len(pulses))


@kernel
def _likelihood(worker: int, workers: int, gaussians: Any, rays: PulseRays, limits: Any, sums: Any) -> None:
    _likelihood_all(worker, workers, gaussians, rays, limits, sums, new_walk())


@kernel
def _likelihood_all(
    worker: int, workers: int, gaussians: Any, rays: PulseRays, limits: Any, sums: Any, walk: Any
) -> None:
    gaussians, walk, sums = borrowed(gaussians), borrowed(walk), borrowed(sums)
    ends, noise = borrowed(limits)
    origins, directions, ranges, reach = borrowed(rays)
    for block in range(worker, len(sums), workers):
        total = 0.0
        for b in range(block * _BLOCK, min((block + 1) * _BLOCK, len(ranges))):
            ray = ray_in_row(origins, directions, b, reach)
            left, density, last = 1.0, 0.0, -1
            ended = ranges[b] == ranges[b]
            if start_walk(gaussians.cells, 0, walk, ray):
                while left > 1e-6:
                    i, shell, t, sigma = next_volume(gaussians, 0, walk, ray)
                    if i < 0:
                        break
                    if shell < 0:
                        continue
                    if not ended and t >= ends[b]:
                        last = -1  # it met something else first: nobody knows whether it would have got away
                        break
                    rho = gaussians.shells[i, shell] / WHOLE
                    sigma = math.sqrt(sigma * sigma + max(noise[b] - gaussians.held[i], 0.0))
                    off = (ranges[b] - t) / sigma
                    if abs(off) < 8.0:
                        density += left * (1 - rho) * math.exp(-0.5 * off * off) / sigma
                    left *= rho
                    last = i
            # Those that closure gives back end where the others do, in the same shares.
            back = left * gaussians.closure[last] / WHOLE if last >= 0 else 0.0
            if ended:
                known = density * _STEP / math.sqrt(2 * math.pi) * (1 + back / max(1 - left, 1e-6))
                total += math.log((1 - _ASTRAY) * known + _ASTRAY * _STEP / reach)
            else:
                total += math.log((1 - _ASTRAY) * (left - back) + _ASTRAY * 0.5)
        sums[block] = total
