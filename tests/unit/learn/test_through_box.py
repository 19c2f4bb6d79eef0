"""MeasuredPulses that pass through a box, wherever they ended."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.through_box import through_box

BOX = (4.0, -1.0, -1.0, 6.0, 1.0, 1.0)


def test_against_points_along_the_lines() -> None:
    """A pulse is chosen if one of many points on its line is in the box."""
    rng = np.random.Generator(np.random.Philox(3))
    origins = rng.uniform(-3, 8, (500, 3))
    ways = np.array([5, 0, 0]) + rng.normal(size=(500, 3)) - origins
    pulses = MeasuredPulses.of(origins, ways * rng.choice([-1, 1], (500, 1)), np.full(500, np.nan), reach=50)
    along = np.linspace(0, 20, 8001)
    points = pulses.origins[:, None] + along[:, None] * pulses.directions[:, None]
    wanted = ((points >= BOX[:3]) & (points <= BOX[3:])).all(2).any(1)
    chosen = through_box(pulses, BOX)
    assert 100 < len(chosen) < 400
    assert np.array_equal(chosen.origins, pulses.origins[wanted])


def test_behind_beside_and_along_the_axes() -> None:
    ways = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [1, 0.1, 0], [1, 0.3, 0]], float)
    pulses = MeasuredPulses.of(np.zeros(3), ways, [np.nan, np.nan, np.nan, 2.0, 9.0])
    assert np.allclose(through_box(pulses, BOX).directions[:, 1], [0, 0.1 / np.sqrt(1.01)])
    inside = MeasuredPulses.of(np.array([5.0, 0, 0]), ways, np.full(5, 1.0))
    assert len(through_box(inside, BOX)) == 5


def test_none_is_a_mistake() -> None:
    with pytest.raises(InputError, match="box: no pulse passes through the box"):
        through_box(MeasuredPulses.of(np.zeros(3), [[0, 0, 1.0]], [1.0]), BOX)
    with pytest.raises(InputError, match="box: must be x0"):
        through_box(MeasuredPulses.of(np.zeros(3), [[0, 0, 1.0]], [1.0]), BOX[:5])
