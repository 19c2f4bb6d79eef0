"""A laser that never returns between two that do is dead; one that looks into the sky is not."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.learn.dead_lasers import dead_rings
from tussock.learn.measured_pulses import MeasuredPulses


def fan(rates: list[float], pulses: int = 200) -> MeasuredPulses:
    """Rings from the lowest up, of each the given share with a return."""
    rings = np.repeat(np.arange(len(rates)), pulses)
    turn = np.tile(np.arange(pulses) / pulses, len(rates))
    way = np.stack([np.cos(turn), np.sin(turn), 0.1 * rings - 0.3], 1)
    return MeasuredPulses.of(
        np.zeros(3), way, np.where(turn < np.array(rates)[rings], 5.0, np.nan), rings=rings, reach=50.0
    )


@pytest.mark.parametrize(
    ("rates", "dead"),
    [
        ([1, 1, 1, 1], []),
        ([1, 0, 1, 0.9], [1]),
        ([1, 0, 0.8, 0, 1], [1, 3]),
        ([1, 1, 0, 0], []),  # above the horizon
        ([0, 1, 1], []),
        ([1, 0.01, 1], []),  # dark, not dead
        ([1, 0, 0.3], []),
        ([0], []),
    ],
)
def test_who_is_dead(rates: list[float], dead: list[int]) -> None:
    assert dead_rings(fan(rates)).tolist() == dead


def test_a_few_pulses_are_no_verdict() -> None:
    assert dead_rings(fan([1, 0, 1], pulses=50)).tolist() == []
