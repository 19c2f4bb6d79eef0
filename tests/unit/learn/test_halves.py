"""Two halves of the pulses of a place: taking turns along a drive, by chance where the sensor stands."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.learn.halves import Halves, moved
from tussock.learn.measured_pulses import MeasuredPulses


def halves_of(pulses: MeasuredPulses, parts: int) -> np.ndarray:
    halves = Halves()
    return np.concatenate([halves.of(pulses.select(rows)) for rows in np.array_split(np.arange(len(pulses)), parts)])


def test_halves_take_turns_along_a_drive() -> None:
    n = 5000
    x = np.linspace(0, 20.5, n)
    way = np.random.default_rng(0).normal(0, 1, (n, 3))
    pulses = MeasuredPulses.of(np.stack([x, 0 * x, 0 * x], 1), way, np.ones(n), reach=10.0)
    second = halves_of(pulses, 1)
    assert np.array_equal(second, halves_of(pulses, 13))
    stretch = np.floor(x / 2.0)
    later = (stretch >= 1) & (np.abs(x / 2.0 - np.round(x / 2.0)) > 0.01)
    assert np.array_equal(second[later], stretch[later] % 2 == 1)
    assert second[stretch == 0].mean() == pytest.approx(0.5, abs=0.1), "by chance before the sensor moves"


def test_standing_pulses_fall_to_a_half_by_chance() -> None:
    way = np.random.default_rng(1).normal(0, 1, (20_000, 3))
    pulses = MeasuredPulses.of(np.zeros(3), way, np.ones(len(way)), reach=10.0)
    second = halves_of(pulses, 3)
    assert second.mean() == pytest.approx(0.5, abs=0.02)
    assert np.corrcoef(second[1:], second[:-1])[0, 1] == pytest.approx(0.0, abs=0.03)


def test_parts_have_moved_where_one_is_away_from_another() -> None:
    here = MeasuredPulses.of([1.0, 2.0, 3.0], [[1, 0, 0]], [4.0])
    away = MeasuredPulses.of([1.0, 0.0, 3.0], [[1, 0, 0]], [4.0])
    assert not moved(here) and not moved(here, here) and moved(here, away) and moved(away, here)
