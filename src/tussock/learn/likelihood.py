"""How well volumes foretell pulses that they were not learned from, and the voxel size that foretells best.

A pulse that meets volumes 1, 2, … ends in volume i with the probability (1 − ρᵢ) Π ρⱼ over the volumes before it, and
then its range is normal with eqs (2) and (3) of Deschaud et al. (2012), and with what of the sensor's noise is not in the
volume already. That is a likelihood, exact and without
sampling anything. `choose_voxel` learns from four fifths of the pulses with ever smaller voxels and takes the size at
which the fifth that was held out is likeliest: larger voxels blur, smaller ones learn by heart. Of a sensor that moved, it learns
from every other stretch of the way and holds out those between (`tussock.learn.halves`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.kernels import borrowed, kernel
from tussock.learn.fit_volumes import FitOptions, fit_volumes
from tussock.learn.halves import APART, Halves
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.pulse_rays import PulseRays, rays_of_pulses
from tussock.randomness import Purpose
from tussock.sampler import Sampler
from tussock.scene.volumes import WHOLE, Volumes
from tussock.threads import resolve_threads, run_on_threads
from tussock.trace.ray import ray_in_row
from tussock.trace.volume_cells import new_walk, start_walk
from tussock.trace.volume_hits import gaussians_of, next_volume

__all__ = ["choose_voxel", "log_likelihood"]

_BLOCK = 2048
_STEP = 0.002  # [m] a range counts as this wide, so that hits and misses are both probabilities
_ASTRAY = 1e-3  # share of pulses that no model explains: dust, birds, people
_HELD_OUT = 5  # one in so many
_ENOUGH = 300_000  # pulses that settle the choice
_FEWEST = 8  # returns to learn from
_SMALLEST, _LARGEST = 1e-3, 100.0  # [m]


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


def choose_voxel(
    pulses: MeasuredPulses,
    *,
    seed: int = 0,
    tried: Callable[[float, float], None] | None = None,
    **fitting: Unpack[FitOptions],
) -> float:
    """The side of a voxel [m] that foretells held-out pulses best; ``tried`` is told every size and its likelihood.

    The other options are those of `tussock.learn.fit_volumes.fit_volumes`.

    Sizes shrink by √2 from a tenth of the way across the returns until two in a row are worse than the best; where
    the first was the best, they grow from there in the same way.

    >>> rng = np.random.default_rng(1)
    >>> way = rng.normal((5, 0, 0), 0.5, (400, 3))
    >>> pulses = tussock.MeasuredPulses.of(np.zeros(3), way, np.linalg.norm(way, axis=1), reach=10)
    >>> 0.001 < tussock.choose_voxel(pulses, threads=1) < 100
    True
    """
    box, threads = fitting.get("box"), fitting.get("threads")
    chance = Sampler("held-out pulses", seed, purpose=Purpose.HELD_OUT)
    if len(pulses) > _ENOUGH:
        pulses = pulses.select(np.sort(chance.permutation(len(pulses))[:_ENOUGH]))
    moved = float(np.ptp(pulses.origins, axis=0).max()) >= APART
    held = Halves().of(pulses) if moved else chance.integers(0, _HELD_OUT, len(pulses)) == 0
    inside = pulses.hit if box is None else pulses.inside(box)
    if (inside & ~held).sum() < _FEWEST or (inside & held).sum() < 1:
        raise InputError.of("pulses", "are too few to choose a voxel size from", int(inside.sum()), "give the size")
    training, test = pulses.select(~held), pulses.select(held)

    def foretold(size: float) -> float:
        volumes = fit_volumes(training, voxel=size, **fitting)
        likelihood = log_likelihood(volumes, test, box=box, threads=threads)
        if tried is not None:
            tried(size, likelihood)
        return likelihood

    first = _tenth(pulses.points[inside])
    best_size, best = first, foretold(first)
    for step in (1 / math.sqrt(2), math.sqrt(2)):
        if step > 1 and best_size != first:
            break
        size, worse = first * step, 0
        while worse < 2 and _SMALLEST < size < _LARGEST:
            likelihood = foretold(size)
            worse += 1
            if likelihood > best:
                best_size, best, worse = size, likelihood, 0
            size *= step
    return float(f"{best_size:.3g}")


def _tenth(points: NDArray[np.float64]) -> float:
    """A tenth of the middle extent of some points [m], on the ladder 0.01·√2ᵏ."""
    across = np.quantile(points, 0.95, axis=0) - np.quantile(points, 0.05, axis=0)
    wanted = max(float(np.median(across)) / 10, 0.01)
    return 0.01 * math.sqrt(2) ** round(2 * math.log2(wanted / 0.01))
