"""The likelihood of beams where volumes were learned in a box: what ended elsewhere tells only how far it came."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tussock.learn.beams import Beams
from tussock.learn.learner import learn
from tussock.learn.likelihood import choose_voxel, log_likelihood

BOX = (5.0, -1.0, -1.0, 7.0, 1.0, 1.0)


@pytest.fixture(scope="module")
def beams() -> Beams:
    """A slab of leaves from 5.5 to 6.5 m that a third of the pulses pass, and a wall at 9 m."""
    rng = np.random.default_rng(0)
    n = 20_000
    way = np.stack([np.ones(n), *rng.uniform(-0.1, 0.1, (2, n))], 1)
    depth = rng.exponential(0.9, n)
    ahead = np.where(depth < 1, 5.5 + depth, 9.0)
    return Beams.of(np.zeros(3), way, ahead * np.linalg.norm(way, axis=1), reach=15.0)


def test_a_wall_behind_the_box_is_as_good_as_nothing(beams: Beams) -> None:
    behind = beams.points[:, 0] > 8
    free = replace(beams, ranges=np.where(behind, np.nan, beams.ranges))
    volumes = learn(free, voxel=0.2)
    assert log_likelihood(volumes, beams, box=BOX) == pytest.approx(log_likelihood(volumes, free), rel=1e-12)
    assert log_likelihood(volumes, beams) < log_likelihood(volumes, free) - 1, "without the box nothing explains it"
    assert choose_voxel(beams, box=BOX) == choose_voxel(free)


def test_a_beam_that_ended_in_front_of_the_box_tells_nothing(beams: Beams) -> None:
    volumes = learn(beams, voxel=0.2, box=BOX)
    rows = np.flatnonzero(beams.inside(BOX))[:100]
    ranges = beams.ranges.copy()
    ranges[rows[1:]] = 2.0
    stopped = replace(beams.select(rows), ranges=ranges[rows])
    alone = log_likelihood(volumes, beams.select(rows[:1]), box=BOX)
    assert log_likelihood(volumes, stopped, box=BOX) == pytest.approx(alone / 100, abs=1e-3)
