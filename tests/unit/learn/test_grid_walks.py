"""Many crossings together are measured and counted as one by one, to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_permeability import cloud, fired

from tussock.kernels import kernel
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.permeability import Asked, Owners, _escape
from tussock.learn.pulse_rays import rays_of_pulses
from tussock.learn.walks.crossings import measure, new_crossings
from tussock.learn.walks.grid_walks import count_in_grid, escape_in_grid
from tussock.threads import run_on_threads
from tussock.trace.ray import ray_in_row
from tussock.trace.volume_hits import Gaussians, closest, gaussians_of, shell_of


def tables_of(seed: int) -> Gaussians:
    """A cloud of voxels, each with a permeability of its own in every shell."""
    tables = gaussians_of([cloud("voxels", seed)])
    shells = np.random.default_rng(seed).integers(20_000, 65_536, tables.shells.shape)
    return tables._replace(shells=shells.astype(np.uint16))


@kernel
def one_by_one(gaussians: Any, rays: Any, volumes: Any, pulses: Any, out: Any) -> None:
    for k in range(len(volumes)):
        ray = ray_in_row(rays.origins, rays.directions, pulses[k], 1.0)
        t, _, distance2 = closest(gaussians, volumes[k], ray)
        shell = shell_of(gaussians.edges2, 0, distance2)
        out[k, 0], out[k, 1] = t, shell if shell >= 0 else gaussians.edges2.shape[1]


def test_crossings_are_measured_as_one_by_one() -> None:
    tables = tables_of(3)
    pulses, _ = fired(cloud("voxels", 3), 4, 400)
    rng = np.random.default_rng(5)
    n = 1500
    volumes, rows = rng.integers(0, len(tables.means), n), rng.integers(0, len(pulses), n)
    out = np.zeros((n, 2))
    one_by_one(tables, rays_of_pulses(pulses), volumes, rows, out)
    together = new_crossings()
    together.volumes[:n], together.pulses[:n] = volumes, rows
    measure(tables, rays_of_pulses(pulses), together, n)
    assert (together.nearest[:n] == out[:, 0]).all()
    assert (together.shells[:n] == out[:, 1]).all()
    assert len(np.unique(out[:, 1])) > 3


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("workers", [1, 3])
def test_who_gets_away_is_asked_as_one_by_one(seed: int, workers: int) -> None:
    """Pulses that went on together, and the walk that takes one after the other; among them some that ended in nothing."""
    tables = tables_of(seed)
    pulses, labels = fired(cloud("voxels", seed), seed + 10)
    volumes, shells = tables.shells.shape
    own = np.random.default_rng(seed).uniform(1.0, 1.5, (volumes, shells)).astype(np.float32)
    rays = rays_of_pulses(pulses)
    alone, together = (tuple(np.zeros((workers, volumes), np.int64) for _ in range(2)) for _ in range(2))
    fired_in, any_order = np.arange(len(labels)), np.random.default_rng(seed).permutation(len(labels))
    _escape(0, 1, tables, rays, Owners(labels, own, fired_in, np.zeros(1, np.int64)), alone)
    asked = Owners(labels, own, any_order, np.zeros(1, np.int64))
    run_on_threads(escape_in_grid, workers, tables, rays, asked, together)
    for one, other in zip(alone, together, strict=True):
        assert (one.sum(0) == other.sum(0)).all()
        assert one.sum() > 100


def test_a_return_that_rounding_put_beside_the_way_still_ended() -> None:
    """A pulse past a volume that is said to have ended there ends there and passes nothing twice."""
    tables = tables_of(0)
    pulses = MeasuredPulses.of([[0.0, 50.0, 0.0]], [[1.0, 0.0, 0.0]], [6.0], reach=12.0)
    volumes, shells = tables.shells.shape
    counts = np.zeros((1, volumes, 2 * shells + 3), np.uint32)
    asked = Asked(np.array([4]), pulses.turns, np.zeros((0, 2), np.int32), 0, np.arange(1), np.zeros(1, np.int64))
    count_in_grid(0, 1, tables, rays_of_pulses(pulses), asked, counts)
    assert counts.sum() == counts[0, 4, shells + 2 :].sum() == 1
