"""Scores of two scans by hand: shares of bins, pairs of pulses, hits that are lost."""

from __future__ import annotations

import math
import statistics
from dataclasses import replace

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.scan_volumes import simulate_volumes
from tussock.learn.scoring import held_out
from tussock.learn.scoring.field_scores import _pairs, field_scores, scores_by_label, scores_by_region
from tussock.learn.scoring.held_out import HeldOutScore
from tussock.learn.scoring.scores import bhattacharyya, compare
from tussock.scene.volumes import WHOLE, Volumes

NAN = math.nan


def scan(ranges: list[float], azimuths: list[float] | None = None, rings: list[int] | None = None) -> MeasuredPulses:
    n = len(ranges)
    angle = np.zeros(n) if azimuths is None else np.array(azimuths)
    way = np.stack([np.cos(angle), np.sin(angle), np.zeros(n)], 1)
    return MeasuredPulses.of(np.zeros(3), way, ranges, azimuths=angle, rings=rings, reach=50.0)


def test_the_distance_is_that_of_the_shares_of_bins() -> None:
    """−ln Σ√(pq): ¼, ½, ¼ against ½, ¼ and ¼ elsewhere."""
    one = scan([1.0, 2.0, 2.0, NAN])
    two = scan([1.0, 1.0, 2.0, 7.0])
    assert bhattacharyya(one, two) == pytest.approx(-math.log(2 * math.sqrt(1 / 8)))
    assert bhattacharyya(one, one) == 0.0
    assert bhattacharyya(one, scan([8.0, 9.0])) == math.inf
    told = compare(one, two)
    assert (told.real_pulses, told.real_hit_rate, told.simulated_hit_rate) == (4, 0.75, 1.0)
    assert told.hit_rate_difference == 0.25
    assert told.real_quantiles == pytest.approx(np.quantile([1, 2, 2], [0.05, 0.25, 0.5, 0.75, 0.95]))
    assert told.quantile_differences == pytest.approx(np.subtract(told.simulated_quantiles, told.real_quantiles))
    assert all(math.isnan(x) for x in compare(scan([NAN]), one).real_quantiles)
    assert told.plain()["hit_rate_difference"] == 0.25


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"ranges": [1.0009]}, True), ({"ranges": [1.0011]}, False), ({"ranges": [0.9991]}, True),
        ({"ranges": [NAN]}, False), ({"azimuths": [0.052]}, True), ({"azimuths": [0.053]}, False),
        ({"azimuths": [-0.052]}, True), ({"azimuths": [2 * np.pi - 0.053]}, False), ({"rings": [1]}, False),
    ],
)  # fmt: skip
def test_bins_lie_around_multiples_of_their_width(change: dict[str, list[float]], same: bool) -> None:
    """2 mm and a sixtieth of a turn, whose last half is in the bin of 0."""
    given = {"ranges": [1.0], "azimuths": [0.0], "rings": [0]} | change
    found = bhattacharyya(scan([1.0]), scan(**given), angle_bin=2 * np.pi / 60, range_bin=0.002)  # type: ignore[arg-type]
    assert (found == 0.0) is same and (found == math.inf) is not same


def test_nothing_at_the_sensor_is_not_nothing_at_all() -> None:
    assert bhattacharyya(scan([0.0, NAN]), scan([NAN, NAN])) == pytest.approx(-math.log(math.sqrt(0.5)))


def test_bins_that_numbers_have_no_room_for() -> None:
    for bins in ({"angle_bin": 1e-7}, {"range_bin": 1e-9}):
        with pytest.raises(InputError, match="too fine"):
            bhattacharyya(scan([1.0], [3.0]), scan([1.0]), **bins)
    assert bhattacharyya(scan([1.0]), scan([1.0]), range_bin=1.01 / 2**25) == 0.0
    for bins in ({"angle_bin": 0.0}, {"range_bin": math.nan}):
        with pytest.raises(InputError, match="must be above 0"):
            bhattacharyya(scan([1.0]), scan([1.0]), **bins)


def test_pairs_are_nearest_in_angle_and_of_one_laser() -> None:
    """Forwards and backwards, within a bin; across the turn there are none."""
    real = scan([1.0] * 5, [0.10, 0.20, 0.305, 0.90, 0.10], [0, 0, 0, 0, 1])
    made = scan([1.0] * 6, [0.299, 0.11, 0.18, 0.225, 0.0999, 0.12], [0, 0, 0, 0, 2, 1])
    own, other = _pairs(real, made, 0.021)
    assert dict(zip(own.tolist(), other.tolist(), strict=True)) == {0: 1, 1: 2, 2: 0, 4: 5}
    own, other = _pairs(real, made, 0.0105)
    assert dict(zip(own.tolist(), other.tolist(), strict=True)) == {0: 1, 2: 0}
    own, _ = _pairs(scan([1.0], [0.01]), scan([1.0], [0.02]), 0.02)
    assert own.tolist() == [0]
    own, other = _pairs(real, real, 1e-9)
    assert own.tolist() == other.tolist() == [0, 1, 2, 3, 4]


def test_figures_of_five_pairs() -> None:
    """Hit both, 0.02 and 0.04 m off; missed both; one each alone."""
    turned = [0.0, 0.5, 1.0, 1.5, 2.0]
    real, made = scan([5.0, 8.0, NAN, 4.0, NAN], turned), scan([5.02, 8.04, NAN, NAN, 6.0], turned)
    found = field_scores(real, made)
    assert found.pairs == 5 and found.drop_accuracy == pytest.approx(0.6) and found.drop_f_score == pytest.approx(0.5)
    assert found.depth_median_m == pytest.approx(0.03) and found.depth_rmse_m == pytest.approx(math.sqrt(0.001))
    assert found.intensity_rmse == 0.0 and found.f_score == pytest.approx(2 / 3)
    away = [np.linalg.norm(made.points[4] - p) for p in real.points[real.hit]]
    lone = [np.linalg.norm(real.points[3] - p) for p in made.points[made.hit]]
    wanted = (0.02**2 + 0.04**2 + min(lone) ** 2) / 3 + (0.02**2 + 0.04**2 + min(away) ** 2) / 3
    assert found.chamfer_m2 == pytest.approx(wanted)
    assert found.plain()["pairs"] == 5
    none = field_scores(scan([NAN]), scan([NAN])).plain()
    assert none["drop_accuracy"] == 1.0 and none["drop_f_score"] == 1.0 and none["chamfer_m2"] is None
    apart = field_scores(scan([1.0], [0.0]), scan([9.0], [2.0]))
    assert apart.pairs == 0 and math.isnan(apart.drop_accuracy) and math.isnan(apart.drop_f_score)
    assert apart.f_score == 0.0


def test_a_region_is_of_pulses_that_either_scan_returned_from() -> None:
    turned = [0.0, 0.5, 1.0, 1.5]
    real, made = scan([5.0, 10.0, NAN, 31.0], turned), scan([NAN, 9.99, 5.0, 31.0], turned)
    found = scores_by_region(real, made)
    assert {key: score.pairs for key, score in found.items()} == {(0.0, 10.0): 3, (10.0, 30.0): 1, (30.0, math.inf): 1}
    assert found[0.0, 10.0].drop_accuracy == pytest.approx(1 / 3)
    # Points are compared with those of the same region: 10.00 m with none within 10 to 30 m.
    assert math.isnan(found[10.0, 30.0].chamfer_m2) and found[30.0, math.inf].chamfer_m2 == 0.0
    for edges in ((0.0,), (0.0, 0.0), (-1.0, 3.0)):
        with pytest.raises(InputError, match="at least two rising distances"):
            scores_by_region(real, made, edges=edges)


def test_labels_without_a_name_are_numbers_and_none_is_no_label() -> None:
    real = replace(scan([5.0, 6.0, 7.0, NAN], [0.0, 0.5, 1.0, 1.5]), labels=np.array([0, 3, 4, 3], np.uint16))
    named = replace(real, label_names={4: "tree"})
    assert {name: score.pairs for name, score in scores_by_label(named, scan([5.0, 6.0, 7.0, 8.0], [0.0, 0.5, 1.0, 1.5])).items()} == {
        "3": 1, "tree": 1,
    }  # fmt: skip
    assert set(scores_by_label(replace(real, label_names={0: "none"}), real)) == {"none", "3", "4"}


def wall(share: float) -> Volumes:
    """One volume 5 m ahead that lets a share of the pulses pass."""
    packed = np.array([[1e4, 0, 0, 1e4, 0, 1e4]])
    none = np.zeros(1)
    return Volumes(
        np.array([[5.5, 0.5, 0.5]]), packed, none, np.array([[round(share * WHOLE)]]), none, none, none, 1.0,
        np.array([np.inf]),
    )  # fmt: skip


def at_the_wall(hits: int, misses: int) -> MeasuredPulses:
    n = hits + misses
    ranges = np.r_[np.full(hits, 5.5), np.full(misses, NAN)]
    return MeasuredPulses.of([0.0, 0.5, 0.5], np.tile([1.0, 0, 0], (n, 1)), ranges, reach=20.0)


def test_hits_that_are_lost_cost_ten_times_what_is_more_than_tolerated() -> None:
    """Off by more than 1 % of the hits and two standard deviations of what 64 sectors of the view lose."""
    test = at_the_wall(80, 0)
    score = HeldOutScore(at_the_wall(40, 0), test, box=None, seed=0, threads=1)
    found = replace(simulate_volumes(wall(0.5), test, seed=0, threads=1))
    rate = found.hit.mean()
    assert 0.3 < rate < 0.7
    lost = [0.0] * 64  # of each sector; all pulses go the same way, so they are dealt out in the order they are in
    for number, hit in enumerate(found.hit):
        lost[number * 64 // 80] += 0.0 if hit else 1.0
    off = (1 - rate) - 0.01 - 2 * statistics.stdev(lost) * math.sqrt(64) / 80
    distance = bhattacharyya(test, found, angle_bin=math.radians(score._bins[0]), range_bin=score._bins[1])
    assert off > 0 and score.of(wall(0.5)) == pytest.approx(-distance - 10 * off, abs=1e-9)


def test_the_bins_are_the_finest_at_which_two_samples_of_one_truth_agree() -> None:
    def bins(apart: float) -> tuple[float, float]:
        one, two = scan([1.5 + apart], [0.0]), scan([1.5], [0.0])
        return HeldOutScore(one, two, box=None, seed=0, threads=1)._bins

    found = [bins(apart) for apart in (0.0, 0.004, 0.014, 0.049, 0.12, 9.0)]
    assert found == [(0.09, 0.002), (0.2, 0.01), (0.5, 0.03), (1.0, 0.1), (2.0, 0.25), (2.0, 0.25)]


def test_what_ended_outside_the_box_only_came_as_far(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a return in front of the box nothing behind it is asked; what ended behind counts as none."""
    ranges = np.array([5.5, 2.0, 9.0])
    test = MeasuredPulses.of([0.0, 0.5, 0.5], np.tile([1.0, 0, 0], (3, 1)), ranges, reach=20.0)
    told: list[MeasuredPulses] = []
    score = HeldOutScore(test, test, box=[5.0, 0.0, 0.0, 6.0, 1.0, 1.0], seed=0, threads=1)
    monkeypatch.setattr(held_out, "_distance", lambda one, two, bins: told.extend([one, two]) or 0.0)
    assert score.of(wall(0.0)) == 0  # of three pulses one more is chance
    asked, found = told
    assert asked.hit.tolist() == [True, False, False] and found.hit.tolist() == [True, False, True]
