"""The likelihood of pulses where volumes were learned in a box: what ended elsewhere tells only how far it came."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.likelihood import log_likelihood
from tussock.learn.measured_pulses import MeasuredPulses

BOX = (5.0, -1.0, -1.0, 7.0, 1.0, 1.0)


@pytest.fixture(scope="module")
def pulses() -> MeasuredPulses:
    """A slab of leaves from 5.5 to 6.5 m that a third of the pulses pass, and a wall at 9 m."""
    rng = np.random.default_rng(0)
    n = 20_000
    way = np.stack([np.ones(n), *rng.uniform(-0.1, 0.1, (2, n))], 1)
    depth = rng.exponential(0.9, n)
    ahead = np.where(depth < 1, 5.5 + depth, 9.0)
    return MeasuredPulses.of(np.zeros(3), way, ahead * np.linalg.norm(way, axis=1), reach=15.0)


def test_a_wall_behind_the_box_is_as_good_as_nothing(pulses: MeasuredPulses) -> None:
    behind = pulses.points[:, 0] > 8
    free = replace(pulses, ranges=np.where(behind, np.nan, pulses.ranges))
    volumes = fit_volumes(free, voxel=0.2)
    assert log_likelihood(volumes, pulses, box=BOX) == pytest.approx(log_likelihood(volumes, free), rel=1e-12)
    assert log_likelihood(volumes, pulses) < log_likelihood(volumes, free) - 1, "without the box nothing explains it"


def test_a_beam_that_ended_in_front_of_the_box_tells_nothing(pulses: MeasuredPulses) -> None:
    volumes = fit_volumes(pulses, voxel=0.2, box=BOX)
    rows = np.flatnonzero(pulses.inside(BOX))[:100]
    ranges = pulses.ranges.copy()
    ranges[rows[1:]] = 2.0
    stopped = replace(pulses.select(rows), ranges=ranges[rows])
    alone = log_likelihood(volumes, pulses.select(rows[:1]), box=BOX)
    assert log_likelihood(volumes, stopped, box=BOX) == pytest.approx(alone / 100, abs=1e-3)
