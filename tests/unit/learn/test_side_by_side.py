"""The order in which pulses are walked: every one of them once, by sector of azimuth and ring, and as they were fired in both."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.learn.measured_pulses import MeasuredPulses
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
