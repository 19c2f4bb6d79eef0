"""Peaks of the waveform against a plain twin that samples it finely, and the closed form of compact pulses."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tussock.signal.compact import COMPACT, SINGLE, Gathered, Peaks, compact_echo, gather, peak_of_moments, single_peaks
from tussock.signal.echoes import ECHOES, Echoes, LaneHits, PulseHits, Resolution, find_echoes
from tussock.signal.waveform import NODE, NODES, VALUE, pulse_sigma_m, sample_waveform

f = np.float32
SIGMA = 0.3


def room_for(count: int) -> PulseHits:
    return PulseHits(
        np.zeros(count, f), np.zeros(count, f), np.zeros(count, np.int32), np.zeros(count, np.uint64),
        np.zeros(4 * NODES, f),
    )  # fmt: skip


def kernels(paths: np.ndarray, energies: np.ndarray, sigma: float = SIGMA, separation: float = 0.0) -> np.ndarray:
    """Path, height and row of every echo, by the kernels; shape (n, 3)."""
    ranges, weights = np.full((len(paths) + 1, 3), 7.0, f), np.full((len(paths) + 1, 3), 9.0, f)
    ranges[:-1, 1], weights[:-1, 1], weights[-1, 1] = paths, energies, 0.0
    near, far = ranges[:-1, 1].min(), ranges[:-1, 1].max()
    out = Echoes(np.zeros((ECHOES, 3), f), np.zeros((ECHOES, 3), f), np.zeros((ECHOES, 3), np.int32), np.zeros(3, int))
    given = LaneHits(ranges, weights, len(ranges), near, far)
    find_echoes(given, 1, Resolution(f(sigma), f(separation)), room_for(len(ranges)), out)
    assert not out.counts[[0, 2]].any()
    n = out.counts[1]
    return np.stack([out.paths[:n, 1], out.peaks[:n, 1], out.rows[:n, 1]], 1)


def waveform(paths: np.ndarray, energies: np.ndarray, x: np.ndarray, sigma: float = SIGMA) -> np.ndarray:
    return (energies * np.exp(-((x[:, None] - paths) ** 2) / (2 * sigma**2))).sum(1)


def twin(paths: np.ndarray, energies: np.ndarray, sigma: float = SIGMA) -> np.ndarray:
    """Path and height of the peaks of the waveform sampled every σ/200, and how far each stands above its dips."""
    x = np.arange(paths.min() - sigma, paths.max() + sigma, sigma / 200)
    w = waveform(paths, energies, x, sigma)
    top = np.flatnonzero((w[1:-1] > w[:-2]) & (w[1:-1] >= w[2:])) + 1
    rows = []
    for i, at in enumerate(top):
        left = w[top[i - 1] : at].min() if i else 0.0
        right = w[at : top[i + 1]].min() if i + 1 < len(top) else 0.0
        rows.append((x[at], w[at], 1 - max(left, right) / w[at]))
    return np.array(rows)


@st.composite
def pulses(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    count = draw(st.integers(1, 40))
    span = draw(st.sampled_from([0.01, 0.3, 0.6, 1.0, 3.0, 20.0]))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    paths = rng.uniform(5, 80) + span * rng.random(count)
    return paths.astype(f).astype(float), rng.uniform(0.01, 1.0, count)


@settings(max_examples=300, deadline=None)
@given(pulses())
def test_echoes_are_the_peaks_of_the_waveform(pulse: tuple[np.ndarray, np.ndarray]) -> None:
    paths, energies = pulse
    found, expected = kernels(paths, energies), twin(paths, energies)
    # A peak that hardly stands out of its flank may be missed by either side: by how little says the third column.
    for path, height, above in expected:
        if above > 2e-3:
            near = found[np.abs(found[:, 0] - path) < 0.03 * SIGMA]
            assert len(near) == 1, (path, above, found)
            assert near[0, 1] == pytest.approx(height, rel=1e-3)
    for path, height, _ in found:
        assert np.abs(expected[:, 0] - path).min() < 0.1 * SIGMA
        assert height == pytest.approx(waveform(paths, energies, np.array([path]))[0], rel=1e-3)
    assert (np.diff(found[:, 0]) > 0).all()


@settings(max_examples=100, deadline=None)
@given(st.integers(2, 30), st.integers(0, 2**32 - 1))
def test_hits_within_two_sigma_are_one_echo_whatever_their_weights(count: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    paths = 10 + 2 * SIGMA * rng.random(count)
    energies = 10 ** rng.uniform(-3, 0, count)
    found = kernels(paths, energies)
    assert len(found) == 1
    path, height, _ = found[0]
    assert paths.min() <= path <= paths.max()
    assert 0 < height <= energies.sum() * (1 + 1e-6)


def test_two_equal_hits_part_at_two_sigma() -> None:
    for apart, echoes in [(1.0, 1), (1.9, 1), (2.2, 2), (3.0, 2), (8.0, 2)]:
        paths = np.array([20.0, 20.0 + apart * SIGMA])
        found = kernels(paths, np.array([0.5, 0.5]))
        assert len(found) == echoes, apart
        if apart == 8.0:
            np.testing.assert_allclose(found[:, 0], paths, atol=1e-4)
            np.testing.assert_allclose(found[:, 1], 0.5, rtol=1e-5)
        elif echoes == 1:
            assert found[0, 0] == pytest.approx(20.0 + apart * SIGMA / 2, abs=2e-3)
            assert found[0, 1] == pytest.approx(np.exp(-(apart**2) / 8), rel=1e-3)


@pytest.mark.parametrize("behind", [True, False])
def test_a_bump_on_the_flank_of_a_strong_echo_is_an_echo(behind: bool) -> None:
    """Peak and dip may lie between two nodes, half a σ apart, where the waveform falls (or rises) at both."""
    bumps = 0
    for apart in np.arange(2.5, 3.4, 0.1):
        for weak in np.geomspace(0.03, 0.9, 40):
            paths = np.array([20.0, 20.0 + (apart if behind else -apart) * SIGMA])
            expected = twin(paths, np.array([1.0, weak]))
            if expected[:, 2].min() > 2e-3 or len(expected) == 1:
                bumps += len(expected) == 2 and bool(expected[:, 2].min() < 0.02)
                assert len(kernels(paths, np.array([1.0, weak]))) == len(expected), (apart, weak)
    assert bumps >= 5


def test_the_echo_is_that_of_the_hit_that_gives_most() -> None:
    found = kernels(np.array([30.0, 10.0, 10.1, 30.3]), np.array([0.2, 0.3, 0.4, 0.9]))
    assert found[:, 2].tolist() == [2, 3]


def test_of_two_too_near_the_stronger_stays() -> None:
    paths = np.array([10.0, 11.0, 14.0])
    assert len(kernels(paths, np.array([0.2, 0.5, 0.3]))) == 3
    kept = kernels(paths, np.array([0.2, 0.5, 0.3]), separation=2.0)
    np.testing.assert_allclose(kept[:, 0], [11.0, 14.0], atol=0.01)
    kept = kernels(paths, np.array([0.5, 0.2, 0.3]), separation=2.0)
    np.testing.assert_allclose(kept[:, 0], [10.0, 14.0], atol=0.01)


def test_more_echoes_than_there_is_room_for_lose_their_weakest() -> None:
    rng = np.random.default_rng(5)
    paths, energies = 10.0 + 3.0 * np.arange(50), rng.permutation(np.linspace(0.1, 1.0, 50))
    found = kernels(paths, energies)
    assert len(found) == ECHOES
    strongest = np.sort(np.argsort(energies)[-ECHOES:])
    np.testing.assert_array_equal(found[:, 2], strongest)


def test_a_thousand_hits_in_order() -> None:
    rng = np.random.default_rng(8)
    paths, energies = rng.uniform(5, 35, 1500), rng.uniform(0, 1, 1500)
    found, expected = kernels(paths, energies), twin(paths, energies)
    clear = expected[expected[:, 2] > 1e-2]
    assert len(clear) > 10
    for path, _, _ in clear:
        assert np.abs(found[:, 0] - path).min() < 0.02 * SIGMA


@settings(max_examples=200, deadline=None)
@given(st.integers(1, 30), st.floats(0.0, 1.0), st.integers(0, 2**32 - 1))
def test_compact_pulses_have_the_same_echo_in_closed_form(count: int, share: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    paths = (20 + share * float(COMPACT) * SIGMA * rng.random(count)).astype(f)
    energies = (10 ** rng.uniform(-2, 0, count)).astype(f)
    lanes = 4
    out = Gathered(*(np.zeros(lanes, f) for _ in range(6)), np.zeros(lanes, np.int32), np.zeros(lanes, f))
    columns = np.repeat(paths[:, None], lanes, 1), np.repeat(energies[:, None], lanes, 1)
    columns[0][:, 2] = 500.0  # out of range: no hit at all
    gather(*columns, count, f(1.0), f(100.0), out)
    assert out.energy[2] == 0
    assert not columns[1][:, 2].any()
    assert np.isinf(out.nearest[2])
    path, height = compact_echo(out, 1, f(SIGMA))
    expected = kernels(paths.astype(float), energies.astype(float))[0]
    assert path == pytest.approx(expected[0], abs=1e-3 * SIGMA + 2e-6)
    assert height == pytest.approx(expected[1], rel=1e-3)
    assert out.rows[1] == np.argmax(energies)
    assert (out.nearest[1], out.furthest[1]) == (paths.min(), paths.max())


@settings(max_examples=200, deadline=None)
@given(st.integers(2, 30), st.floats(0.05, 0.95), st.integers(0, 2**32 - 1))
def test_pulses_of_one_echo_have_their_peak_by_newtons_steps(count: int, share: float, seed: int) -> None:
    """Against the general way, for hits within 2σ; the two halves of a beam about to part are left out (above 0.95)."""
    rng = np.random.default_rng(seed)
    paths = (20 + share * float(SINGLE) * SIGMA * rng.random(count)).astype(f)
    energies = (10 ** rng.uniform(-2, 0, count)).astype(f)
    ranges, weights = (np.repeat(column[:, None], 4, 1) for column in (paths, energies))
    weights[:, 3] = 0.0
    out = Gathered(*(np.zeros(4, f) for _ in range(6)), np.zeros(4, np.int32), np.zeros(4, f))
    peaks = Peaks(*(np.zeros(4, f) for _ in range(4)))
    gather(ranges, weights, count, f(1.0), f(100.0), out)
    single_peaks(ranges, weights, count, out, f(SIGMA), peaks)
    expected = kernels(paths.astype(float), energies.astype(float))[0]
    assert peaks.paths[1] == pytest.approx(expected[0], abs=5e-3 * SIGMA)
    assert peaks.heights[1] == pytest.approx(expected[1], rel=1e-3)
    assert peaks.paths[0] == peaks.paths[2]
    assert peaks.heights[3] == 0.0


def test_the_pulse_is_half_as_high_half_its_width_away() -> None:
    sigma = pulse_sigma_m(5.0)
    half_width = 5e-9 * 299_792_458.0 / 2 / 2
    samples = np.zeros(4 * NODES, f)
    samples[NODE : NODE + 2] = 10.0, 10.0 + half_width
    sample_waveform(np.array([10.0], f), np.array([0.8], f), 0, 1, f(1 / sigma), samples)
    np.testing.assert_allclose(samples[VALUE : VALUE + 2], [0.8, 0.4], rtol=1e-4)


def test_slope_and_curvature_are_those_of_the_samples() -> None:
    rng = np.random.default_rng(2)
    paths, energies = 10 + rng.random(12), rng.random(12)
    samples, h = np.zeros((4, NODES), f), 1e-3
    samples[0] = np.linspace(9.5, 11.5, NODES)
    sample_waveform(paths.astype(f), energies.astype(f), 0, 12, f(1 / SIGMA), samples.reshape(-1))
    nodes, values, slopes, curves = samples
    before, here, after = (waveform(paths, energies, nodes + d) for d in (-h, 0.0, h))
    np.testing.assert_allclose(values, here, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(slopes, SIGMA * (after - before) / (2 * h), rtol=1e-2, atol=1e-3)
    np.testing.assert_allclose(curves, SIGMA**2 * (after - 2 * here + before) / h**2, rtol=1e-2, atol=1e-2)


def test_of_equal_hits_the_first_counts() -> None:
    ranges, energies = np.full((4, 1), 20.0, f), np.array([[0.2], [0.5], [0.5], [0.1]], f)
    out = Gathered(*(np.zeros(1, f) for _ in range(6)), np.zeros(1, np.int32), np.zeros(1, f))
    gather(ranges, energies, 4, f(1.0), f(100.0), out)
    assert out.rows[0] == 1


def test_a_hit_right_at_a_limit_counts() -> None:
    ranges, energies = np.array([[1.0], [20.0], [99.0], [0.99], [99.01]], f), np.full((5, 1), 0.5, f)
    out = Gathered(*(np.zeros(1, f) for _ in range(6)), np.zeros(1, np.int32), np.zeros(1, f))
    gather(ranges, energies, 5, f(1.0), f(99.0), out)
    assert (out.nearest[0], out.furthest[0], out.energy[0]) == (1.0, 99.0, 1.5)
    assert energies[:, 0].tolist() == [0.5, 0.5, 0.5, 0.0, 0.0]


@pytest.mark.parametrize("share", [0.15, 0.3, 0.7])
def test_the_moments_of_two_uneven_hits_give_their_peak_to_a_few_ten_thousandths(share: float) -> None:
    """Half a σ apart, the widest that is called compact: Newton's steps on the waveform itself, in double precision."""
    at, weights = np.array([0.0, 0.5]), np.array([1 - share, share])
    x = share * 0.5
    for _ in range(50):
        part = weights * np.exp(-0.5 * (at - x) ** 2)
        x = (part * at).sum() / part.sum()
    moments = [f((weights * at**power).sum()) for power in (1, 2, 3)]
    place, height = peak_of_moments(*moments)
    assert place == pytest.approx(x, abs=4e-4)
    assert height == pytest.approx((weights * np.exp(-0.5 * (at - x) ** 2)).sum(), rel=1e-3)
