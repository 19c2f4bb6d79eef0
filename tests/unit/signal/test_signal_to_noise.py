from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from tussock.signal.intensity import reported_intensity
from tussock.signal.range_noise import range_sigma, spread_of_ranges
from tussock.signal.range_walk import leading_edge, range_walk
from tussock.signal.signal_to_noise import Target, is_seen, sensitivity, signal_to_noise

f = np.float32
PHI = NormalDist().cdf


def probability(reflectivity: float, distance: float, scale: float, exponent: float, threshold: float) -> float:
    ratio = signal_to_noise(f(reflectivity), f(distance), f(scale), f(exponent))
    return PHI(float(ratio) - threshold)


@settings(deadline=None)
@given(
    st.floats(0.02, 1.0), st.floats(5.0, 300.0), st.floats(0.05, 0.99), st.floats(3.0, 8.0),
)  # fmt: skip
def test_the_sheets_point_is_met(reflectivity: float, distance: float, chance: float, threshold: float) -> None:
    scale, exponent = sensitivity((Target(reflectivity, distance, chance),), threshold)
    assert exponent == 2.0
    assert probability(reflectivity, distance, scale, exponent, threshold) == pytest.approx(chance, abs=1e-3)
    assert probability(reflectivity, 2 * distance, scale, exponent, threshold) < chance


def test_two_points_of_a_sheet_are_both_met() -> None:
    targets = (Target(0.1, 50.0, 0.9), Target(0.8, 120.0, 0.7))
    scale, exponent = sensitivity(targets, 5.0)
    for target in targets:
        got = probability(target.reflectivity, target.distance_m, scale, exponent, 5.0)
        assert got == pytest.approx(target.probability, abs=1e-3)
    assert 2.0 < exponent < 3.0


def test_an_echo_is_seen_where_signal_and_noise_pass_the_threshold() -> None:
    draws = np.random.default_rng(3).standard_normal(200_000).astype(f)
    for ratio in (3.0, 5.0, 6.28):
        seen = np.mean([bool(is_seen(f(ratio), draw, f(5.0))) for draw in draws[:20_000]])
        assert seen == pytest.approx(PHI(ratio - 5.0), abs=0.012)


def test_the_range_noise_of_the_sheet_and_its_laws() -> None:
    spread = spread_of_ranges(0.02, 200.0, 0.3)
    floor, shot, thermal = (f(part) for part in spread)
    assert float(range_sigma(f(200.0), floor, shot, thermal)) == pytest.approx(0.02, rel=1e-4)
    strong = [float(range_sigma(f(s), floor, shot, thermal)) for s in (20_000.0, 80_000.0)]
    assert strong[0] / strong[1] == pytest.approx(2.0, rel=0.01), "1/√s of a strong signal"
    weak = [float(range_sigma(f(s), f(0), f(0), thermal)) for s in (5.0, 10.0)]
    assert weak[0] / weak[1] == pytest.approx(2.0, rel=1e-4), "1/s of thermal noise"
    assert weak[0] == pytest.approx(np.sqrt(2) * 0.3 / 5, rel=1e-4), "the bound of Cramér and Rao"
    constant = spread_of_ranges(0.02, 0.0, 0.3)
    assert [float(range_sigma(f(s), *map(f, constant))) for s in (1.0, 1e6)] == pytest.approx([0.02, 0.02])


def test_a_floor_stays_and_a_sheet_better_than_the_bound_is_believed() -> None:
    spread = spread_of_ranges(0.02, 100.0, 0.3, floor=0.004)
    assert float(range_sigma(f(1e9), *map(f, spread))) == pytest.approx(0.004, rel=1e-3)
    assert float(range_sigma(f(100.0), *map(f, spread))) == pytest.approx(0.02, rel=1e-4)
    fine = spread_of_ranges(0.001, 10.0, 0.3)
    assert fine.shot == pytest.approx(0.0, abs=1e-12)
    assert float(range_sigma(f(10.0), *map(f, fine))) == pytest.approx(0.001, rel=1e-4)


def test_the_curve_of_the_os1_sheet() -> None:
    """Repeatability of 1.5 cm at an SNR above 250, 3 cm at 100, 10 cm at 12."""
    got = [100 * float(range_sigma(f(s), f(0), f(0.0860), f(0.64**2))) for s in (250.0, 100.0, 12.0)]
    np.testing.assert_allclose(got, [1.9, 3.0, 10.0], atol=0.06)


def test_the_bound_of_the_pulses_timing_is_that_of_a_matched_filter() -> None:
    """Monte Carlo: the least-squares delay of a sampled Gaussian pulse in white noise against √2·σ_p/s."""
    rng, sigma, step = np.random.default_rng(11), 1.0, 0.1
    t = np.arange(-8, 8, step)
    shape = np.exp(-(t**2) / 2)
    noise = 0.02
    # The signal-to-noise ratio of the matched filter's output.
    ratio = np.sqrt((shape**2).sum()) / noise
    delays = []
    for _ in range(400):
        seen = shape + noise * rng.standard_normal(len(t))

        def misfit(x: np.ndarray, seen: np.ndarray = seen) -> np.ndarray:
            return x[0] * np.exp(-((t - x[1]) ** 2) / 2) - seen

        delays.append(optimize.least_squares(misfit, [1.0, 0.0]).x[1])
    assert np.std(delays) == pytest.approx(np.sqrt(2) * sigma / ratio, rel=0.1)


def test_range_walk_is_where_the_leading_edge_crosses() -> None:
    for ratio in (6.0, 20.0, 500.0):
        x = optimize.brentq(lambda x, ratio=ratio: ratio * np.exp(-(x**2) / 2) - 5.0, -10.0, 0.0)
        assert float(leading_edge(f(ratio), f(5.0))) == pytest.approx(-x, rel=1e-4)
    assert float(leading_edge(f(2.0), f(5.0))) == 0.0
    calibrated = leading_edge(f(20.0), f(5.0))
    assert float(range_walk(f(20.0), f(5.0), calibrated, f(0.3))) == 0.0
    assert float(range_walk(f(2000.0), f(5.0), calibrated, f(0.3))) < 0, "the stronger seems nearer"
    assert float(range_walk(f(6.0), f(5.0), calibrated, f(0.3))) > 0


@settings(deadline=None)
@given(st.floats(0.0, 5000.0))
def test_reported_intensities(energy: float) -> None:
    assert float(reported_intensity(f(energy), f(0), f(0))) == pytest.approx(energy, rel=1e-6)
    assert float(reported_intensity(f(energy), f(1.5), f(0))) == pytest.approx(min(energy, 1.5), rel=1e-6)
    got = float(reported_intensity(f(energy), f(2.55), f(1000.0)))
    if energy <= 1.0:
        assert got == pytest.approx(energy, rel=1e-6), "walls as they are"
    else:
        assert got == pytest.approx(min(1 + 1.55 * np.log(energy) / np.log(1000.0), 2.55), rel=1e-5)
    assert float(reported_intensity(f(-0.2), f(2.55), f(1000.0))) == 0.0


@pytest.mark.parametrize("ratio", [0.3, 0.9, 1.0, 1.4, 30.0])
def test_the_sheets_noise_is_met_at_any_ratio(ratio: float) -> None:
    for floor in (0.0, 0.004):
        spread = spread_of_ranges(0.02, ratio, 0.3, floor)
        assert spread.floor + spread.shot / ratio + spread.thermal / ratio**2 == pytest.approx(0.02**2)
        assert spread.shot >= 0.0
        assert 0.0 <= spread.thermal <= 2 * 0.3**2
        assert spread.floor == pytest.approx(floor**2)


def test_a_target_is_seen_nine_times_in_ten_unless_said() -> None:
    assert Target(0.1, 50.0) == Target(0.1, 50.0, 0.9)
