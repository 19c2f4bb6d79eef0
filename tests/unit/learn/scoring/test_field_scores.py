"""Scores as papers give them, by hand-made cases and by a second way."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.scoring.field_scores import field_scores, scores_by_label, scores_by_region


def ring(ranges: np.ndarray, **more: object) -> MeasuredPulses:
    azimuth = np.linspace(-np.pi, np.pi, len(ranges), endpoint=False)
    way = np.stack([np.cos(azimuth), np.sin(azimuth), np.zeros(len(ranges))], 1)
    return MeasuredPulses.of(np.zeros(3), way, ranges, azimuths=azimuth, reach=50.0, **more)  # type: ignore[arg-type]


def test_a_scan_is_itself() -> None:
    scan = ring(np.where(np.arange(360) % 5 == 0, np.nan, 10.0))
    score = field_scores(scan, scan)
    assert (score.chamfer_m2, score.f_score, score.depth_median_m, score.drop_accuracy) == (0.0, 1.0, 0.0, 1.0)
    assert score.drop_f_score == 1.0 and score.intensity_rmse == 0.0 and score.pairs == 360


def test_each_score_sees_what_it_is_for() -> None:
    real = ring(np.where(np.arange(400) < 100, np.nan, 10.0), intensity=np.full(400, 0.5))
    # A quarter is missing; of the simulated ones 50 more are, 20 return that should not; all others are 3 cm further.
    ranges = np.where((np.arange(400) < 80) | (np.arange(400) >= 350), np.nan, 10.03)
    other = ring(ranges, intensity=np.full(400, 0.4))
    score = field_scores(real, other)
    assert score.depth_median_m == pytest.approx(0.03) and score.depth_rmse_m == pytest.approx(0.03)
    assert score.drop_accuracy == pytest.approx(1 - 70 / 400)
    assert score.drop_f_score == pytest.approx(2 * 80 / (2 * 80 + 70))
    assert score.intensity_rmse == pytest.approx(0.1, abs=1e-6)
    there, back = (
        np.array([np.linalg.norm(b - a, axis=1).min() for a in one])
        for one, b in (
            (real.points[real.hit], other.points[other.hit]),
            (other.points[other.hit], real.points[real.hit]),
        )
    )
    assert score.chamfer_m2 == pytest.approx((there**2).mean() + (back**2).mean())
    p, r = (back < 0.05).mean(), (there < 0.05).mean()
    assert score.f_score == pytest.approx(2 * p * r / (p + r))


def test_pulses_are_paired_by_laser_and_angle_whatever_their_order() -> None:
    rng = np.random.default_rng(1)
    real = ring(rng.uniform(5, 20, 500))
    mixed = replace(real, azimuths=real.azimuths + 1e-4).select(rng.permutation(500))
    assert field_scores(real, mixed).depth_median_m == 0.0
    assert field_scores(real, replace(mixed, rings=np.ones(500, np.uint16))).pairs == 0
    few = mixed.select(slice(50))
    assert field_scores(real, few).pairs == 50


def test_regions_and_labels_are_scored_by_themselves() -> None:
    ranges = np.where(np.arange(400) < 200, 5.0, 20.0)
    labels = np.where(np.arange(400) < 200, 7, 9)
    real = replace(ring(ranges), labels=labels.astype(np.uint16), label_names={7: "grass", 9: "tree"})
    other = ring(ranges + np.where(np.arange(400) < 200, 0.01, 0.5))
    by_range = scores_by_region(real, other, edges=(0, 10, 30))
    assert [round(score.depth_median_m, 6) for score in by_range.values()] == [0.01, 0.5]
    by_label = scores_by_label(real, other)
    assert {name: round(score.depth_median_m, 6) for name, score in by_label.items()} == {"grass": 0.01, "tree": 0.5}
    assert by_label["grass"].f_score == 1.0 and by_label["tree"].f_score == 0.0
    assert scores_by_label(ring(ranges), other) == {}


def test_mistakes() -> None:
    scan = ring(np.full(10, 5.0))
    with pytest.raises(InputError, match="regions: must be at least two rising distances"):
        scores_by_region(scan, scan, edges=(3, 1))
    with pytest.raises(InputError, match="angle bin: must be above 0"):
        field_scores(scan, scan, angle_bin=0.0)
    nothing = ring(np.full(10, np.nan))
    assert np.isnan(field_scores(nothing, nothing).chamfer_m2)
