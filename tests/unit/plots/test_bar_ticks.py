"""Labels of colour bars: round, within the scale, few, and clear of one another."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tussock.plots.frame import bar_ticks


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e4), st.sampled_from([0.3, 0.5, 1.0]))
def test_labels_keep_clear_of_one_another(low, span, gamma):
    ticks = bar_ticks(low, low + span, gamma)
    places = [(max(value - low, 0.0) / span) ** gamma for value in ticks]
    assert 1 <= len(ticks) <= 9
    assert all(low - 1e-6 * span <= value <= low + span * (1 + 1e-6) for value in ticks)
    assert all(b - a > 0.039 for a, b in pairwise(places))


def test_ranges_of_a_yard():
    assert bar_ticks(1.0, 35.0, 0.5) == [5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0]
