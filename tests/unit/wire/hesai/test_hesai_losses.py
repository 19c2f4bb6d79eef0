"""Packets that are missing, where they carry no numbers: by the steps of their stamps."""

from __future__ import annotations

import numpy as np

from tussock.wire.hesai.firings import _MIXED_US, _lost_by_time


def test_gaps_count_and_leaps_and_steps_back_do_not() -> None:
    steps = np.full(40, 555)
    assert _lost_by_time(np.cumsum(steps)) == 0
    steps[[5, 20]] = 2 * 555, 4 * 555  # one and three are missing
    assert _lost_by_time(np.cumsum(steps)) == 4
    steps[[8, 9]] = -20 * 555, 0  # a clock that was set back, two packets of one stamp
    steps[30] = 2 * _MIXED_US  # a recording that rests
    assert _lost_by_time(np.cumsum(steps)) == 4
    assert _lost_by_time(np.array([7])) == _lost_by_time(np.full(5, 7)) == 0
