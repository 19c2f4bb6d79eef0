"""Places of a ring's comb without a point: each rule by a ring of points made by hand."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.learn.drives.misses import with_misses
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.range_noise import constant_noise

COLUMNS = 360


def ring(
    taken: np.ndarray, *, number: int = 2, elevation_deg: float = 5.0, turn: int = 7, offset: float = 0.3
) -> MeasuredPulses:
    """Points at some of the 360 places of a comb that begins at ``offset`` of a step."""
    angle = (taken + offset) * 2 * np.pi / COLUMNS
    up = np.deg2rad(elevation_deg)
    way = np.stack([np.cos(up) * np.cos(angle), np.cos(up) * np.sin(angle), np.full(len(angle), np.sin(up))], 1)
    return MeasuredPulses.of(
        np.zeros(3), way, np.full(len(angle), 9.0), rings=np.full(len(angle), number), azimuths=angle, complete=False,
        turns=np.full(len(angle), turn), noise=constant_noise(0.02),
    )  # fmt: skip


def test_places_without_a_point_are_pulses_without_return() -> None:
    """A gap of five from 100 on; a single place between two points may have been either of them."""
    gone = [100, 101, 102, 103, 104, 200]
    taken = np.setdiff1d(np.arange(COLUMNS), gone)
    whole = with_misses(ring(taken))
    missed = whole.select(~whole.hit)
    assert whole.complete and len(whole) == len(taken) + 5 and set(whole.turns.tolist()) == {7}
    assert np.rad2deg(missed.azimuths) == pytest.approx(np.arange(100, 105) + 0.3, abs=1e-6)
    assert np.arcsin(missed.directions[:, 2]) == pytest.approx(np.deg2rad(5.0))
    assert np.arctan2(missed.directions[:, 1], missed.directions[:, 0]) == pytest.approx(missed.azimuths)
    assert set(missed.rings.tolist()) == {2} and whole.reach == 9.0 and whole.noise == constant_noise(0.02)
    assert with_misses(ring(taken), reach=40.0).reach == 40.0


def test_the_gap_may_lie_where_the_azimuth_begins_anew() -> None:
    taken = np.arange(2, COLUMNS - 1)
    whole = with_misses(ring(taken))
    assert sorted(np.rint(np.rad2deg(whole.azimuths[~whole.hit]) - 0.3).astype(int) % 360) == [0, 1, 359]


def test_few_points_tell_nothing() -> None:
    """30 neighbours tell the step, 30 points a ring its comb."""
    assert len(with_misses(ring(np.arange(30)))) == 30
    assert len(with_misses(ring(np.arange(31)))) == COLUMNS
    scan = ring(np.arange(200))
    small = ring(np.arange(29), number=5, turn=7)
    both = MeasuredPulses.of(
        np.zeros(3), np.concatenate([scan.directions, small.directions]), np.full(229, 9.0), complete=False,
        rings=np.concatenate([scan.rings, small.rings]), azimuths=np.concatenate([scan.azimuths, small.azimuths]),
    )  # fmt: skip
    found = with_misses(both)
    assert set(found.rings[~found.hit].tolist()) == {2}
    every = ring(np.arange(COLUMNS))
    assert with_misses(every) is every


@pytest.mark.parametrize(("columns", "told"), [(128, True), (124, False), (72, False)])
def test_lines_that_are_too_coarse_tell_no_comb(columns: int, told: bool) -> None:
    """A twentieth of a radian from pulse to pulse, 125.7 of which are a turn; of wider steps gaps and pulses are not told apart."""
    angle = np.delete(np.arange(columns), [5, 6, 7]) * 2 * np.pi / columns
    way = np.stack([np.cos(angle), np.sin(angle), np.zeros(len(angle))], 1)
    scan = MeasuredPulses.of(np.zeros(3), way, np.full(len(angle), 9.0), azimuths=angle, complete=False)
    assert len(with_misses(scan)) == (columns if told else columns - 3)


def test_the_step_of_a_comb_is_its_smallest_that_is_common() -> None:
    """One neighbour of three is a step away, two are two steps: gaps are multiples of it."""
    taken = np.cumsum(np.tile([1, 2, 2], 72))
    whole = with_misses(ring(taken[taken < 358]))
    # Alone between two points a place may have been either's: nothing is added there, but where the ring ends.
    missed = np.rint(np.rad2deg(whole.azimuths[~whole.hit]) - 0.3).astype(int) % 360
    assert len(whole) >= 216 - 3 and set(missed.tolist()) <= {0, 357, 358, 359} and len(missed) > 0
