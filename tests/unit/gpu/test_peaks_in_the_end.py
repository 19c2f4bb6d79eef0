"""Peaks that a thread finds in the end, and the queue that a pulse waits in."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tussock.gpu.kernels import _LATER
from tussock.gpu.peaks import LATER, forget_peaks
from tussock.gpu.queues import QUEUES, kind_of
from tussock.rebound import Rebound, in_python
from tussock.signal.echoes import ECHOES, Echoes, LaneHits, PulseHits, Resolution, find_echoes
from tussock.signal.waveform import NODES

f = np.float32


def echoes_of(find: Any, ranges: list[float], energies: list[float]) -> Echoes:
    count = len(ranges)
    room = PulseHits(
        np.zeros(count, f), np.zeros(count, f), np.zeros(count, np.int32), np.zeros(count, np.uint64), np.zeros(4 * NODES, f),
        np.full(LATER, np.nan, f),
    )  # fmt: skip
    in_python(forget_peaks)(room)
    out = Echoes(
        np.zeros((ECHOES, 1), f), np.zeros((ECHOES, 1), f), np.zeros((ECHOES, 1), np.int32), np.zeros(1, np.int64)
    )
    given = LaneHits(
        np.array(ranges, f)[:, None], np.array(energies, f)[:, None], count, f(min(ranges)), f(max(ranges))
    )
    with np.errstate(all="ignore"):
        find(given, 0, Resolution(f(0.3), f(0.2)), room, out)
    return out


@pytest.mark.parametrize("hits", [2, 5, 9, 40])
def test_they_are_the_peaks_that_are_found_at_once(hits: int) -> None:
    """With forty hits there are more than are remembered, and more than a pulse may have."""
    rebound = Rebound({}, lambda copy, original: copy)
    for at_once, later in _LATER.items():
        rebound.put(at_once, rebound.of(later))
    rng = np.random.default_rng(hits)
    for reach in (1.0, 4.0, 60.0):
        ranges, energies = (20 + rng.uniform(0, reach, hits)).tolist(), rng.uniform(0.1, 1.0, hits).tolist()
        one, two = (echoes_of(find, ranges, energies) for find in (in_python(find_echoes), rebound.of(find_echoes)))
        count = int(one.counts[0])
        assert count == two.counts[0] >= 1
        for here, there in zip(one[:3], two[:3], strict=True):
            np.testing.assert_array_equal(here[:count], there[:count])


@pytest.mark.parametrize(
    ("ranges", "queue"), [([9.0], 0), ([9.0, 9.1], 0), ([9.0, 9.5], 1), ([9.0, 11.0], 2), ([9.0, 12.0], 3)]
)
def test_pulses_wait_behind_those_that_take_as_long(ranges: list[float], queue: int) -> None:
    """In the last queue those whose hits are so far apart that they are put in order first; what is not seen does not count."""
    receiving: Any = SimpleNamespace(min_range=f(1.0), max_range=f(50.0), listening=SimpleNamespace(sigma=f(0.3)))
    seen = np.array([*ranges, 0.5, 60.0, 40.0], f)[:, None]
    energies = np.array([0.5] * (len(ranges) + 2) + [0.0], f)[:, None]
    hits: Any = SimpleNamespace(ranges=seen, energies=energies)
    assert in_python(kind_of)(receiving, len(seen), hits) == queue < QUEUES


def test_a_pulse_that_met_nothing_takes_no_time() -> None:
    receiving: Any = SimpleNamespace(min_range=f(1.0), max_range=f(50.0), listening=SimpleNamespace(sigma=f(0.3)))
    hits: Any = SimpleNamespace(ranges=np.zeros((3, 1), f), energies=np.zeros((3, 1), f))
    with np.errstate(all="ignore"):
        assert in_python(kind_of)(receiving, 3, hits) == 0
