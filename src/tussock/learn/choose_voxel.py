"""The size of voxels at which pulses that were held out are foretold best: larger voxels blur, smaller ones learn by heart.

Where the sensor stood still, four fifths of the pulses are learned with ever smaller voxels and the last fifth is held out. Of
a sensor that moved it is every other stretch of the way that is learned, and those between, which look from elsewhere, are
held out (`tussock.learn.halves`), in a part of the place that both have seen (`tussock.learn.windows`). What is held out is scored
as scans are (`tussock.learn.scoring.held_out`). Of pulses without rings all elevations would be one: they are to be as likely as
they can be, pulse by pulse (`tussock.learn.likelihood`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.learn.fit_volumes import FitOptions, fit_volumes
from tussock.learn.halves import Halves, moved
from tussock.learn.likelihood import log_likelihood
from tussock.learn.measured_pulses import MeasuredPulses, join_pulses
from tussock.learn.scoring.held_out import HeldOutScore
from tussock.learn.windows import in_strip, in_windows
from tussock.randomness import Purpose
from tussock.sampler import Sampler
from tussock.threads import resolve_threads, run_jobs

__all__ = ["choose_voxel"]

_ENOUGH = 300_000  # pulses that settle the choice from one place
_ENOUGH_RETURNS = 100_000  # of a part of the place, from several
_HELD_OUT = 5  # one in so many
_FEWEST = 8  # returns to learn from
_SMALLEST, _LARGEST = 1e-3, 100.0  # [m]


def choose_voxel(
    pulses: MeasuredPulses | Sequence[MeasuredPulses],
    *,
    seed: int = 0,
    tried: Callable[[float, float], None] | None = None,
    **fitting: Unpack[FitOptions],
) -> float:
    """The side of a voxel [m] that foretells held-out pulses best; ``tried`` is told every size and how good it is.

    Pulses may come in parts, of which only what is looked at is joined. The other options are those of
    `tussock.learn.fit_volumes.fit_volumes`.

    Sizes shrink by √2 from a tenth of the way across the returns until two in a row are worse than the best; where
    the first was the best, they grow from there in the same way.

    >>> rng = np.random.default_rng(1)
    >>> way = rng.normal((5, 0, 0), 0.5, (400, 3))
    >>> pulses = tussock.MeasuredPulses.of(np.zeros(3), way, np.linalg.norm(way, axis=1), reach=10)
    >>> 0.001 < tussock.choose_voxel(pulses, threads=1) < 100
    True
    """
    parts = [pulses] if isinstance(pulses, MeasuredPulses) else pulses
    box, threads = fitting.get("box"), fitting.get("threads")
    chance = Sampler("held-out pulses", seed, purpose=Purpose.HELD_OUT)
    elsewhere = moved(*parts)
    if elsewhere:
        pulses, box = in_strip(parts, _ENOUGH_RETURNS, box, threads=threads)
        fitting = fitting | {"box": box}
    else:
        pulses = in_windows(join_pulses(parts) if len(parts) > 1 else parts[0], _ENOUGH)
    held = Halves().of(pulses) if elsewhere else chance.integers(0, _HELD_OUT, len(pulses)) == 0
    inside = pulses.hit if box is None else pulses.inside(box)
    if (inside & ~held).sum() < _FEWEST or (inside & held).sum() < 1:
        raise InputError.of("pulses", "are too few to choose a voxel size from", int(inside.sum()), "give the size")
    training, test = pulses.select(~held), pulses.select(held)
    with_rings = bool(np.ptp(pulses.rings) > 0)
    score = HeldOutScore(training, test, box=box, seed=seed, threads=threads) if with_rings else None

    def foretold(size: float) -> float:
        volumes = fit_volumes(training, voxel=size, **fitting)
        return log_likelihood(volumes, test, box=box, threads=threads) if score is None else score.of(volumes)

    def all_foretold(sizes: list[float]) -> list[float]:
        # What a size takes is mostly done by one thread; so several are tried at a time, if they are to be tried whatever comes of them.
        found = run_jobs([partial(foretold, size) for size in sizes], resolve_threads(threads))
        if tried is not None:
            for size, good in zip(sizes, found, strict=True):
                tried(size, good)
        return found

    first = _tenth(pulses.points[inside])
    best_size, (best, *known) = first, all_foretold([first, *_ladder(first, 1 / math.sqrt(2), 2)])
    for step in (1 / math.sqrt(2), math.sqrt(2)):
        if step > 1 and best_size != first:
            break
        size, worse = first * step, 0
        while worse < 2 and _SMALLEST < size < _LARGEST:
            known = known or all_foretold([size, *_ladder(size, step, 1 - worse)])
            good = known.pop(0)
            worse += 1
            if good > best:
                best_size, best, worse = size, good, 0
            size *= step
    return float(f"{best_size:.3g}")


def _ladder(size: float, step: float, most: int) -> list[float]:
    """The next sizes after one, at most so many, that may be tried."""
    sizes: list[float] = []
    for _ in range(most):
        size *= step
        if not _SMALLEST < size < _LARGEST:
            break
        sizes.append(size)
    return sizes


def _tenth(points: NDArray[np.float64]) -> float:
    """A tenth of the middle extent of some points [m], on the ladder 0.01·√2ᵏ."""
    across = np.quantile(points, 0.95, axis=0) - np.quantile(points, 0.05, axis=0)
    wanted = max(float(np.median(across)) / 10, 0.01)
    return 0.01 * math.sqrt(2) ** round(2 * math.log2(wanted / 0.01))
