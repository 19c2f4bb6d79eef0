"""The order in which pulses are walked: every one of them once, by sector of azimuth and ring, and as they were fired in both."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.scan_volumes import simulate_volumes
from tussock.learn.walks.side_by_side import side_by_side


def pulses_at(azimuths: np.ndarray, rings: np.ndarray) -> MeasuredPulses:
    return MeasuredPulses.of(
        np.zeros(3), np.tile([1.0, 0, 0], (len(rings), 1)), np.ones(len(rings)), azimuths=azimuths, rings=rings
    )


@pytest.mark.parametrize("around", [0.0, -np.pi, 100 * np.pi])
def test_pulses_come_by_sector_and_ring_and_as_they_were_fired(around: float) -> None:
    rng = np.random.default_rng(1)
    sector, rings, n = rng.integers(0, 64, 5000), rng.integers(0, 128, 5000), 5000
    azimuths = (sector + rng.uniform(0.01, 0.99, n)) * 2 * np.pi / 64 + around
    order = side_by_side(pulses_at(azimuths, rings))
    sector = (sector + round(around * 64 / (2 * np.pi))) % 64
    assert order.tolist() == sorted(range(n), key=lambda p: (sector[p], rings[p], p))


def test_every_pulse_comes_once_whatever_its_azimuth_and_ring() -> None:
    azimuths = np.array([np.nan, np.inf, -np.inf, 1e300, -1e-300, 2 * np.pi, np.nextafter(2 * np.pi, 0), -1e12])
    order = side_by_side(pulses_at(azimuths, np.array([0, 1023, 1024, 65535, 5, 0, 0, 3])))
    assert sorted(order.tolist()) == list(range(len(azimuths)))


@pytest.mark.parametrize("place", [0.0, 5e5])
def test_what_is_learned_and_foretold_does_not_hang_on_azimuths(place: float) -> None:
    """They decide the order in which pulses are taken, nothing else: far from zero and with ends on walls of voxels, too."""
    rng = np.random.default_rng(2)
    n = 4000
    ends = np.round(rng.normal((6, 0, 0), (1.0, 2.0, 1.0), (n, 3)) * 4) / 4  # of voxels of 0.5 m
    ends[:500] = rng.normal((6, 0, 0), (1.0, 2.0, 1.0), (500, 3))
    ends[500:700, 1:] = 0.0  # along an axis
    ranges = np.where(rng.random(n) < 0.2, np.nan, np.linalg.norm(ends, axis=1))
    found = []
    for azimuths in (np.zeros(n), rng.uniform(-4, 4, n)):
        pulses = MeasuredPulses.of([place, -place, 0], ends, ranges, azimuths=azimuths, reach=20.0)
        volumes = fit_volumes(pulses, voxel=0.5, threads=2)
        fired = simulate_volumes(volumes, pulses, seed=3, threads=2)
        columns = (volumes.means, volumes.shells, volumes.closure, volumes.pulses, volumes.precisions)
        found.append([fired.ranges, *columns])
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other, equal_nan=True)
    assert len(found[0][1]) > 300
