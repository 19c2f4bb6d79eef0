from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tussock.return_modes import MODES
from tussock.signal.choice import pair_of

f = np.float32
NAMES = ("none", "strongest", "last", "first", "echo", "second")
Picked = list[tuple[int, str]]


def kernel(echoes: list[tuple[float, float]], mode: str) -> Picked:
    """Echoes are (range, signal), −1 for a lost one; in column 1 of 3, the others must not be looked at."""
    ranges, signals = np.full((len(echoes) + 1, 3), 5.0, f), np.full((len(echoes) + 1, 3), 99.0, f)
    for e, (distance, signal) in enumerate(echoes):
        ranges[e, 1], signals[e, 1] = distance, signal
    found = pair_of(signals, ranges, len(echoes), 1, MODES.index(mode))
    return [(e, NAMES[kind]) for e, kind in (found[:2], found[2:]) if e >= 0]


def twin(echoes: list[tuple[float, float]], mode: str) -> Picked:
    """The manuals, word by word."""
    alive = [e for e, (_, signal) in enumerate(echoes) if signal >= 0]
    if not alive:
        return []
    by_strength = sorted(alive, key=lambda e: -echoes[e][1])
    by_range = sorted(alive, key=lambda e: echoes[e][0])
    named = {"strongest": by_strength[0], "first": by_range[0], "last": by_range[-1]}
    if len(alive) > 1:
        named["second"] = by_strength[1]
    wanted = mode.split("+")
    picked = [(named[name], name) for name in wanted if name in named]
    beside_the_second = mode in ("strongest+last", "first+strongest")
    if beside_the_second and picked[0][0] == picked[1][0] and "second" in named:
        picked[1] = (named["second"], "second")
    return picked


DISTINCT = st.lists(
    st.tuples(st.integers(1, 50).map(float), st.one_of(st.just(-1.0), st.integers(1, 50).map(float))),
    max_size=6,
    unique_by=(lambda echo: echo[0], lambda echo: echo[1] if echo[1] >= 0 else echo),
)


@pytest.mark.parametrize("mode", MODES[:-1])
@settings(deadline=None)
@given(echoes=DISTINCT)
def test_echoes_are_chosen_as_the_manuals_say(mode: str, echoes: list[tuple[float, float]]) -> None:
    assert kernel(echoes, mode) == twin(echoes, mode)


def test_one_echo_is_reported_twice_but_for_the_second_strongest() -> None:
    one = [(10.0, 3.0), (20.0, -1.0)]
    assert kernel(one, "strongest+last") == [(0, "strongest"), (0, "last")]
    assert kernel(one, "first+last") == [(0, "first"), (0, "last")]
    assert kernel(one, "strongest+second") == [(0, "strongest")]
    assert kernel(one, "second") == []


def test_where_the_strongest_is_the_last_the_second_strongest_stands_beside_it() -> None:
    three = [(10.0, 2.0), (20.0, 1.0), (30.0, 5.0)]
    assert kernel(three, "strongest+last") == [(2, "strongest"), (0, "second")]
    assert kernel(three, "first+last") == [(0, "first"), (2, "last")]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("count", [0, 1, 2])
def test_no_echo_is_minus_one(mode: str, count: int) -> None:
    """Whether there is none or every one is lost."""
    signals, ranges = np.full((2, 1), -1.0, f), np.full((2, 1), 4.0, f)
    found = pair_of(signals, ranges, count, 0, MODES.index(mode))
    assert found[0] == found[2] == -1


def test_of_two_measured_alike_the_one_behind_is_the_last() -> None:
    """Steps of the range may make two echoes of one distance."""
    alike = [(10.0, 1.0), (20.0, 3.0), (20.0, 2.0)]
    assert kernel(alike, "last") == [(2, "last")]
    assert kernel(alike[1:], "first") == [(0, "first")]
    assert kernel([(10.0, 2.0), (20.0, 2.0)], "strongest") == [(0, "strongest")]


def test_the_second_strongest_may_be_the_first_that_was_heard() -> None:
    """Noise of ranges may make the later echo the nearer one: it is the first and the strongest, and the other stands beside it."""
    turned = [(12.0, 1.0), (10.0, 5.0)]
    assert kernel(turned, "first+strongest") == [(1, "first"), (0, "second")]
    assert kernel(turned, "first+last") == [(1, "first"), (0, "last")]
    assert kernel([(10.0, 1.0), (12.0, 5.0)], "strongest+last") == [(1, "strongest"), (0, "second")]
    assert kernel([(10.0, 1.0), (12.0, 5.0)], "second") == [(0, "second")]
