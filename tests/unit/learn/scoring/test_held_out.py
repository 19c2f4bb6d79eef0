"""The score of a size: what counts as chance, and what lies outside the box."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.scoring import held_out
from tussock.learn.scoring.held_out import HeldOutScore

AROUND = (np.arange(6400) + 0.5) / 6400 * 2 * np.pi - np.pi


def around(ranges: NDArray[np.float64]) -> MeasuredPulses:
    """A hundred pulses a sector, 64 sectors."""
    way = np.stack([np.cos(AROUND), np.sin(AROUND), 0 * AROUND], 1)
    return MeasuredPulses.of(np.zeros(3), way, ranges, azimuths=AROUND, reach=30.0)


def scored(monkeypatch: pytest.MonkeyPatch, found: NDArray[np.float64], box: list[float] | None = None) -> float:
    """The score of volumes that give these ranges where every other pulse ended 5 m away."""
    truth = around(np.where(np.arange(6400) % 2 == 0, 5.0, np.nan))
    score = HeldOutScore(truth, truth, box=box, seed=0, threads=1)
    monkeypatch.setattr(held_out, "simulate_volumes", lambda *_, **__: around(found))
    volumes: Any = None
    return score.of(volumes)


def lost(share: NDArray[np.float64]) -> NDArray[np.float64]:
    """The truth, less a share of each sector's hits."""
    number = np.arange(6400) % 100 // 2
    keep = (np.arange(6400) % 2 == 0) & (number >= np.repeat(share, 100) * 50)
    return np.where(keep, 5.0, np.nan)


def test_hits_lost_everywhere_are_dear_and_those_lost_here_and_there_are_chance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    everywhere, somewhere = lost(np.full(64, 0.06)), lost(np.where(np.arange(64) % 16 == 3, 0.96, 0.0))
    assert np.isnan(everywhere).sum() == np.isnan(somewhere).sum() == 3392
    # 192 of 3200 hits are gone; 32 of them are tolerated, and of 6400 pulses the rest weighs ten times. The distance is below 0.03.
    assert -0.28 < scored(monkeypatch, everywhere) < -10 * 160 / 6400
    assert -0.03 < scored(monkeypatch, somewhere) < 0


def test_what_is_foretold_to_end_outside_the_box_counts_as_what_did(monkeypatch: pytest.MonkeyPatch) -> None:
    """A volume that reaches through the wall ends pulses behind it, which ended there in truth as well, on something else."""
    box = [-4.0, -9.0, -1.0, 4.0, 9.0, 1.0]
    truth = np.where(np.arange(6400) % 2 == 0, 5.0, np.nan)
    aside = np.abs(4.99 * np.cos(AROUND)) > 4.0
    through = np.where(np.isnan(truth) & aside, 4.99, truth)
    assert scored(monkeypatch, truth, box) == scored(monkeypatch, through, box)
    inside = np.where(np.isnan(truth) & ~aside, 4.99, truth)
    assert scored(monkeypatch, inside, box) < scored(monkeypatch, truth, box)


def test_no_hit_at_all_is_a_score(monkeypatch: pytest.MonkeyPatch) -> None:
    nothing = np.full(6400, np.nan)
    assert scored(monkeypatch, nothing, [-9.0, -9.0, -1.0, 9.0, 9.0, 1.0]) < -4.0
    assert replace(around(nothing), reach=5.0).hit.sum() == 0
