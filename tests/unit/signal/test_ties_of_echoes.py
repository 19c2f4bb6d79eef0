"""Echoes right between two cases: peaks between two nodes of the waveform, hits at one place, echoes of one height; and intensities.

Beside `tussock.signal.echoes` these are `tussock.signal.returns`, `tussock.signal.compact`, `tussock.signal.bending` and
`tussock.signal.intensity`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from tussock.rebound import in_python
from tussock.signal import echoes
from tussock.signal.bending import reflected, refracted
from tussock.signal.compact import Gathered, Peaks, gather, peak_of_moments, single_peaks
from tussock.signal.echoes import ECHOES, Echoes, LaneHits, PulseHits, Resolution, find_echoes
from tussock.signal.intensity import reported_intensity
from tussock.signal.leaves import depth_of_light
from tussock.signal.loss import after_loss
from tussock.signal.media import AIR, Media, beyond
from tussock.signal.reflectance import cos_incidence, glint, lambert
from tussock.signal.returns import Window, first_return, last_hits, next_echo, order_hits, strongest_hits
from tussock.signal.waveform import NODES

f = np.float32


def between(values: list[float], width: float, falls: bool) -> tuple[float, float]:
    """`_peak_between` nodes of these values, slopes and curvatures: of the first, then of the second."""
    one, two = (echoes.Node(*map(f, node)) for node in (values[:3], values[3:]))
    t, height = in_python(echoes._peak_between)(one, two, f(width), falls)
    return float(t), float(height)


def quintic(values: list[float], width: float) -> np.polynomial.Polynomial:
    """The polynomial of both nodes, by solving for it."""
    v0, s0, c0, v1, s1, c1 = values
    rows = [[float(math.perm(k, d)) for k in range(6)] for d in range(3)]
    left = np.array([[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0], *rows])
    wanted = [v0, s0 * width, c0 * width**2, v1, s1 * width, c1 * width**2]
    return np.polynomial.Polynomial(np.linalg.solve(left, wanted))


def test_a_peak_between_two_nodes_is_that_of_their_polynomial() -> None:
    """Two Gaussians about the nodes: where the slope falls through 0, there the waveform peaks, to a hundred-thousandth."""
    assert sum(peaks_as_its_polynomial(seed) for seed in range(60)) > 30


def peaks_as_its_polynomial(seed: int) -> bool:
    """Whether some waveform peaks between its nodes; that it does so where their polynomial does."""
    rng = np.random.default_rng(seed)
    width = rng.uniform(0.3, 0.5)
    middles, weights = (
        np.array([rng.uniform(0.1, 0.9) * width, rng.uniform(-2.0, 2.5)]),
        np.array([1.0, rng.uniform(0, 0.8)]),
    )
    values = []
    for x in (0.0, width):
        part = weights * np.exp(-((x - middles) ** 2) / 2)
        values += [part.sum(), (part * (middles - x)).sum(), (part * ((x - middles) ** 2 - 1)).sum()]
    if not values[1] > 0 > values[4]:
        return False
    p = quintic(values, width)
    tops = [float(r.real) for r in p.deriv().roots() if abs(r.imag) < 1e-12 and 0 <= r.real <= 1]
    t, height = between(values, width, True)
    assert len(tops) == 1 and t == pytest.approx(tops[0], abs=3e-5)
    assert height == pytest.approx(p(tops[0]), rel=2e-6)
    return True


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("weak", np.linspace(0.06, 0.13, 15).tolist())
def test_a_peak_and_a_dip_between_two_nodes_are_seen_by_the_polynomial(weak: float, mirrored: bool) -> None:
    """On the flank of a strong Gaussian 3 σ away: the waveform falls at both nodes, and rises between them, or does not."""
    middles, weights = np.array([0.0, 3.0]), np.array([1.0, weak])
    found = 0
    for begin in np.linspace(2.2, 2.7, 6):
        values = []
        for x in (begin, begin + 0.5):
            part = weights * np.exp(-((x - middles) ** 2) / 2)
            values += [part.sum(), (part * (middles - x)).sum(), (part * ((x - middles) ** 2 - 1)).sum()]
        if mirrored:
            values = [values[3], -values[4], values[5], values[0], -values[1], values[2]]
        v0, s0, c0, _, s1, c1 = values
        if not (s0 * s1 > 0 and c0 * s0 < 0 and c0 * c1 < 0):
            continue
        p = quintic(values, 0.5)
        slope, bend = p.deriv(), p.deriv(2)
        tops = [float(r.real) for r in slope.roots() if abs(r.imag) < 1e-12 and 0 < r.real < 1 and bend(r.real) < 0]
        turns = [float(r.real) for r in bend.roots() if abs(r.imag) < 1e-12 and 0 < r.real < 1]
        t, height = between(values, 0.5, False)
        if abs(slope(turns[0])) < 1e-4 * v0:
            continue  # it hardly rises, or hardly not
        found += 1
        if tops:
            assert t == pytest.approx(tops[0], abs=2e-2) and height == pytest.approx(p(tops[0]), rel=1e-4)
        else:
            assert (t, height) == (-1.0, 0.0)
    assert found


@pytest.mark.parametrize("mirrored", [False, True])
@pytest.mark.parametrize("values", [
    [1.74, -0.35, 0.3, 1.63, -0.66, -0.22], [1.88, -0.56, 0.18, 1.73, -0.83, -0.13], [1.29, -0.77, 2.49, 1.12, -0.91, -1.77],
    [1.05, -0.77, 1.2, 0.87, -1.0, -2.36], [1.59, -0.85, 1.01, 1.45, -0.68, -1.61], [1.48, -0.19, 1.83, 1.36, -0.92, -1.92],
    [1.4, -0.93, 2.18, 1.25, -0.55, -1.04], [1.75, -0.42, 1.0, 1.64, -0.66, -2.11], [1.95, -0.54, 1.33, 1.83, -0.63, -0.84],
    [1.05, -0.83, 2.3, 0.91, -0.58, -1.24], [1.49, -0.6, 0.28, 1.35, -0.79, -0.18], [1.99, -0.79, 2.29, 1.81, -0.96, -1.52],
])  # fmt: skip
def test_where_the_slope_is_most_is_found_and_not_guessed(values: list[float], mirrored: bool) -> None:
    """Where the curvature is 0 between two nodes is not where a straight line between both would have it: two steps find it.

    These polynomials fall at both nodes and at that guess, and rise where their curvature is 0.
    """
    v0, s0, c0, v1, s1, c1 = values
    if mirrored:
        values = [v1, -s1, c1, v0, -s0, c0]
    p = quintic(values, 0.5)
    slope, bend = p.deriv(), p.deriv(2)
    (top,) = (float(r.real) for r in slope.roots() if abs(r.imag) < 1e-9 and 0 < r.real < 1 and bend(r.real) < 0)
    (turn,) = (float(r.real) for r in bend.roots() if abs(r.imag) < 1e-9 and 0 < r.real < 1)
    guess = values[2] / (values[2] - values[5])
    assert slope(guess) * slope(turn) < 0
    t, height = between(values, 0.5, False)
    assert t == pytest.approx(top, abs=2e-3) and height == pytest.approx(p(top), rel=1e-4)


def strongest_row(paths: list[float], energies: list[float], path: float) -> int:
    hits: Any = PulseHits(np.array(paths, f), np.array(energies, f), np.arange(10, 10 + len(paths)), None, None)
    return int(in_python(echoes._strongest)(hits, 0, len(paths), f(path), f(0.5)))


def test_an_echo_is_of_the_strongest_hit_within_a_sigma() -> None:
    """One that is a σ away counts; of equals the first; where none is so near, the nearest, and of those the first."""
    assert strongest_row([9.5, 10.0, 10.5], [0.3, 0.2, 0.1], 10.0) == 10
    assert strongest_row([9.5, 10.0, 10.5], [0.1, 0.2, 0.3], 10.0) == 12
    assert strongest_row([9.4375, 10.0, 10.5625], [0.3, 0.2, 0.4], 10.0) == 11
    assert strongest_row([9.75, 10.25, 10.0], [0.2, 0.2, 0.2], 10.0) == 10
    assert strongest_row([9.0, 11.0, 8.0], [0.2, 0.9, 0.9], 10.0) == 10
    assert strongest_row([8.0, 9.0, 11.0], [0.2, 0.3, 0.9], 10.0) == 11
    assert strongest_row([8.0, 9.0, 10.75], [0.2, 0.3, 0.9], 10.0) == 12


def noted(out: Echoes, *notes: tuple[float, float, int], separation: float = 0.0) -> list[tuple[float, float, int]]:
    for path, peak, row in notes:
        in_python(echoes._note)(out, 1, f(path), f(peak), row, f(separation))
    n = out.counts[1]
    assert not out.counts[[0, 2]].any()
    return [(float(out.paths[e, 1]), float(out.peaks[e, 1]), int(out.rows[e, 1])) for e in range(n)]


def no_echoes() -> Echoes:
    return Echoes(np.zeros((ECHOES, 3), f), np.zeros((ECHOES, 3), f), np.zeros((ECHOES, 3), np.int32), np.zeros(3, int))


def test_of_two_echoes_of_one_height_the_first_stays() -> None:
    """Nearer than the receiver tells apart; right at that distance both stay."""
    assert noted(no_echoes(), (10, 0.5, 1), (10.5, 0.5, 2), separation=1.0) == [(10, 0.5, 1)]
    assert noted(no_echoes(), (10, 0.5, 1), (11, 0.5, 2), separation=1.0) == [(10, 0.5, 1), (11, 0.5, 2)]
    assert noted(no_echoes(), (10, 0.5, 1), (10.5, 0.75, 2), separation=1.0) == [(10.5, 0.75, 2)]
    assert noted(no_echoes(), (10, 0.5, 1), (10.5, 0.25, 2), (11, 0.5, 3), separation=1.0) == [
        (10, 0.5, 1),
        (11, 0.5, 3),
    ]


def test_where_there_is_no_room_the_first_of_the_weakest_gives_way() -> None:
    """And to a stronger one only. Those behind it move up."""
    full = [(10.0 + e, 0.5 if e in (5, 9, 31) else 0.75, e) for e in range(ECHOES)]
    assert noted(no_echoes(), *full, (90, 0.5, 77)) == full
    assert noted(no_echoes(), *full, (90, 0.625, 77)) == [*full[:5], *full[6:], (90, 0.625, 77)]
    last = [(10.0 + e, 0.25 if e == 31 else 0.75, e) for e in range(ECHOES)]
    assert noted(no_echoes(), *last, (90, 0.5, 77)) == [*last[:31], (90, 0.5, 77)]
    first = [(10.0 + e, 0.25 if e == 0 else 0.75, e) for e in range(ECHOES)]
    assert noted(no_echoes(), *first, (90, 0.5, 77)) == [*first[1:], (90, 0.5, 77)]
    assert noted(no_echoes(), *full[:31], (90, 0.125, 77)) == [*full[:31], (90, 0.125, 77)]


@pytest.mark.parametrize("count", [2, 63, 64, 65, 66, 200])
def test_hits_in_any_order_make_the_same_echoes(count: int) -> None:
    """Sorted by counting up to 64, by steps beyond; rows are those of the hits, also where some are at one place."""
    rng = np.random.default_rng(count)
    paths = np.sort(rng.uniform(5, 5 + 0.75 * count, count)).astype(f)
    paths[1::7] = paths[0::7][: len(paths[1::7])]
    energies = rng.uniform(0.1, 1, count).astype(f)
    told = []
    for order in (np.arange(count), rng.permutation(count), np.arange(count)[::-1]):
        out = no_echoes()
        ranges, weights = np.full((count + 2, 3), 3.0, f), np.zeros((count + 2, 3), f)
        ranges[:count, 1], weights[:count, 1] = paths[order], energies[order]
        room = PulseHits(
            np.zeros(count, f),
            np.zeros(count, f),
            np.zeros(count, np.int32),
            np.zeros(count, np.uint64),
            np.zeros(4 * NODES, f),
        )
        in_python(find_echoes)(
            LaneHits(ranges, weights, count + 2, paths.min(), paths.max()), 1, Resolution(f(0.1), f(0)), room, out
        )
        n = out.counts[1]
        np.testing.assert_array_equal(room.paths, np.sort(paths))
        told.append((out.paths[:n, 1].copy(), out.peaks[:n, 1].copy(), paths[order][out.rows[:n, 1]]))
    for one in told[1:]:
        for a, b in zip(told[0], one, strict=True):
            np.testing.assert_allclose(a, b, atol=2e-6)


def column(values: list[float]) -> np.ndarray:
    """In lane 1 of three."""
    table = np.full((len(values), 3), 4.0, f)
    table[:, 1] = values
    return table


def test_hits_at_one_range_stay_in_the_order_of_their_rows() -> None:
    window, order = Window(f(1), f(50), f(2)), np.full(6, -1)
    ranges, energies = column([20, 10, 20, 1, 50, 10]), column([0.1, 0.4, 0.3, 0.2, 0.2, 0.4])
    assert in_python(order_hits)(ranges, energies, 1, window, order) == 6
    assert order.tolist() == [3, 1, 5, 0, 2, 4]
    end, best, distance, energy = in_python(next_echo)(ranges, energies, 1, order, 1, window, 4)
    assert (end, best, float(distance), float(energy)) == (3, 1, 10.0, pytest.approx(0.2)), "of equals the first"
    end, best, *_ = in_python(next_echo)(ranges, energies, 1, order, 3, window, 4)
    assert (end, best) == (5, 2)
    end, *_ = in_python(next_echo)(column([10, 12, 12.01]), column([1, 1, 1]), 1, np.arange(3), 0, window, 4)
    assert end == 2, "as far as the cutoff belongs to it"


def test_the_first_return_of_what_lies_at_its_limits() -> None:
    """From the nearest to the cutoff behind it and no further than the range; both limits belong to it, the first of equals is told."""
    window = Window(f(5), f(11), f(2))
    row, distance, energy = in_python(first_return)(
        column([4.9, 11, 9, 10, 11.5]), column([9, 1, 1, 0, 9]), 1, window, 8
    )
    assert (row, float(distance), float(energy)) == (1, 10.0, 0.25)
    row, distance, energy = in_python(first_return)(column([5, 7, 7.01]), column([0.5, 0.25, 1]), 1, window, 1)
    assert (row, float(distance), float(energy)) == (0, 6.0, 0.75)
    row, *_ = in_python(first_return)(column([10, 12]), column([0.25, 1]), 1, window, 1)
    assert row == 0
    assert in_python(first_return)(column([4, 12]), column([1, 1]), 1, window, 1) == (-1, 0, 0)
    assert in_python(first_return)(column([6.0]), column([0.0]), 1, window, 1) == (-1, 0, 0)


def test_of_two_hits_of_one_energy_the_nearer_is_the_strongest_and_of_two_as_far_the_first_the_last() -> None:
    class Room:
        rows, ranges, energies = np.zeros(3, int), np.zeros(3, f), np.zeros(3, f)

    window = Window(f(1), f(50), f(2))
    for choose, ranges, energies, row in (
        (strongest_hits, [20, 10, 10, 30], [0.5, 0.5, 0.5, 0.25], 1), (strongest_hits, [20, 10], [0.5, 0.25], 0),
        (last_hits, [10, 20, 20], [0.5, 0.1, 0.9], 1), (last_hits, [10, 60], [0.5, 0.9], 0),
    ):  # fmt: skip
        in_python(choose)(column(ranges), column(energies), window, Room)
        assert Room.rows[1] == row and Room.ranges[1] == ranges[row] and Room.energies[1] == f(energies[row])


def test_hits_are_summed_up_by_their_moments() -> None:
    """Energies 1, 2 and 1 at 10, 10.5 and 11: mean, mean square and mean cube from the nearest on; other lanes by themselves."""
    ranges, energies = column([10.5, 10, 11, 60]), column([2, 1, 1, 9])
    energies[:, 2] = 0
    out = Gathered(*(np.full(3, 5, f) for _ in range(6)), np.full(3, 5, np.int32), np.full(3, 5, f))
    in_python(gather)(ranges, energies, 4, f(1), f(50), out)
    assert [float(part[1]) for part in out] == [10, 11, 4, 0.5, 0.375, (2 * 0.125 + 1) / 4, 0, 2]
    assert [float(part[2]) for part in out] == [np.inf, 0, 0, 0, 0, 0, 0, 0]
    assert [float(part[0]) for part in out] == [4, 4, 16, 0, 0, 0, 0, 4]
    place, height = in_python(peak_of_moments)(f(0.25), f(0.125), f(0.0625))
    variance, skew = 0.0625, 0.0625 - 3 * 0.25 * 0.125 + 2 * 0.25**3
    assert place == pytest.approx(0.25 - 0.5 * skew / (1 - 1.5 * variance), rel=1e-5)
    assert height == pytest.approx(1 - variance / 2 + variance**2 / 8, rel=1e-6)


def test_the_one_peak_of_uneven_hits_is_found_by_three_steps() -> None:
    """Energies 3 and 1, 1.2 σ apart: where the slope of the waveform is 0, in double precision."""
    sigma, at, weights = 0.5, np.array([20.0, 20.6]), np.array([3.0, 1.0])
    x = 20.15
    for _ in range(200):
        part = weights * np.exp(-((at - x) ** 2) / 2 / sigma**2)
        x = (part * at).sum() / part.sum()
    ranges, energies = column(at.tolist()), column(weights.tolist())
    out = Gathered(*(np.zeros(3, f) for _ in range(6)), np.zeros(3, np.int32), np.zeros(3, f))
    peaks = Peaks(*(np.zeros(3, f) for _ in range(4)))
    in_python(gather)(ranges, energies, 2, f(1), f(50), out)
    in_python(single_peaks)(ranges, energies, 2, out, f(sigma), peaks)
    assert peaks.paths[1] == pytest.approx(x, abs=2e-5)
    assert peaks.heights[1] == pytest.approx(part.sum(), rel=1e-5)


@pytest.mark.parametrize(("energy", "ceiling", "full", "told"), [
    (-0.5, 0, 0, 0), (3.5, 0, 0, 3.5), (3.5, 2, 0, 2), (1.5, 2, 0, 1.5), (1.5, 2, 1, 1.5), (10, 2, 100, 1.5), (1, 2, 100, 1),
    (1.5, 3, 100, 1 + 2 * math.log(1.5) / math.log(100)), (100, 2.5, 100, 2.5), (1000, 2.5, 100, 2.5), (0.5, 2.5, 100, 0.5),
    (1.5, 3, 1.5, 3), (-1, 2, 100, 0), (1.2, 3, 2, 1 + 2 * math.log(1.2) / math.log(2)), (5, -1, 100, 5),
])  # fmt: skip
def test_reported_intensities(energy: float, ceiling: float, full: float, told: float) -> None:
    """1 is a white wall, the ceiling a reflector ``full`` times as bright, and between them the logarithm counts."""
    assert float(in_python(reported_intensity)(f(energy), f(ceiling), f(full))) == pytest.approx(told, rel=1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_turned_and_bent_rays_keep_to_their_plane(seed: int) -> None:
    """Against the laws as vectors: d − 2(d·n)n, and n₁ d × n = n₂ d' × n; from either side, and turned back where it cannot pass."""
    rng = np.random.default_rng(seed)
    d, n = rng.normal(size=(2, 3))
    d, n = d / np.linalg.norm(d), n / np.linalg.norm(n)
    np.testing.assert_allclose(in_python(reflected)(*map(f, (*d, *n))), d - 2 * (d @ n) * n, atol=1e-6)
    for ratio in (0.5, 1.0, 1.6, 5.0):
        x, y, z, passed = in_python(refracted)(*map(f, (*d, *n, ratio)))
        on = np.array([x, y, z], float)
        sine = ratio * np.linalg.norm(np.cross(d, n))
        assert passed == (sine <= 1)
        assert np.linalg.norm(on) == pytest.approx(1, abs=1e-5)
        if passed:
            np.testing.assert_allclose(np.cross(on, n), ratio * np.cross(d, n), atol=1e-5)
            assert (on @ n) * (d @ n) > 0
        else:
            np.testing.assert_allclose(on, d - 2 * (d @ n) * n, atol=1e-5)


def test_a_ray_along_the_normal_goes_straight_on_and_right_at_the_limit_it_passes() -> None:
    for sign in (1, -1):
        assert in_python(refracted)(*map(f, (0, 0, sign, 0, 0, 1, 1.5))) == pytest.approx((0, 0, sign, True))
    x, y, z, passed = in_python(refracted)(*map(f, (0.5, 0, -0.8660254, 0, 0, 1, 2.0)))
    assert (x, y, z) == pytest.approx((1, 0, 0), abs=1e-3) and isinstance(bool(passed), bool)
    x, y, z, passed = in_python(refracted)(*map(f, (1, 0, 0, 0, 0, 1, 1.0)))
    assert bool(passed) and (x, y, z) == pytest.approx((1, 0, 0))


def test_what_a_surface_sends_back() -> None:
    """ρ·cos θ, K_s·(2cos²θ − 1)^α up to 45°, and g·cos θ; normals of any length, on either side, and none at all."""
    assert in_python(cos_incidence)(*map(f, (0.6, 0, -0.8, 0, 0, 5))) == pytest.approx(0.8)
    assert in_python(cos_incidence)(*map(f, (0.6, 0.48, -0.64, 3, 4, 12))) == pytest.approx(
        abs(1.8 + 1.92 - 7.68) / 13, rel=1e-6
    )
    assert (
        in_python(cos_incidence)(*map(f, (1, 0, 0, 0, 0, 0))) == 0
        and in_python(cos_incidence)(*map(f, (1, 0, 0, 2, 0, 0))) == 1
    )
    assert in_python(lambert)(f(0.5), f(0.8)) == pytest.approx(0.4)
    assert in_python(glint)(f(0.5), f(3), f(0), f(0.8)) == pytest.approx(0.5 * 0.28**3, rel=1e-4)
    assert in_python(glint)(f(0.5), f(3), f(2), f(0.8)) == pytest.approx(0.5 * 0.28**3 + 1.6, rel=1e-5)
    assert in_python(glint)(f(0.5), f(3), f(2), f(0.6)) == pytest.approx(1.2)
    assert in_python(glint)(f(0), f(3), f(2), f(0.9)) == pytest.approx(1.8)
    assert in_python(after_loss)(f(0.5), f(4), f(2), f(0.25)) == pytest.approx(0.125 * math.exp(-2), rel=1e-5)


def test_media_are_left_as_they_were_entered_or_not() -> None:
    """The innermost bends; four are remembered; a pane of index 1 is none, and what was never entered is none to leave."""
    step = in_python(beyond)
    four = AIR
    for index in (1.2, 1.3, 1.4, 1.5):
        four = step(four, f(index), True)
    assert tuple(map(float, four)) == pytest.approx((1.5, 1.4, 1.3, 1.2))
    for index, left in ((1.5, (1.4, 1.3, 1.2, 1)), (1.4, (1.5, 1.3, 1.2, 1)), (1.3, (1.5, 1.4, 1.2, 1)), (1.2, (1.5, 1.4, 1.3, 1)),
                        (1.7, (1.5, 1.4, 1.3, 1.2)), (1.0, (1.5, 1.4, 1.3, 1.2))):  # fmt: skip
        assert tuple(map(float, step(four, f(index), False))) == pytest.approx(left)
    assert tuple(map(float, step(four, f(1.6), True))) == pytest.approx((1.6, 1.5, 1.4, 1.3))
    assert step(Media(f(1.5), f(1), f(1), f(1)), f(1), True).inner == f(1.5)
    assert float(in_python(depth_of_light)(f(0.01), f(2), f(0.02))) == pytest.approx(0, abs=1e-7)
    assert float(in_python(depth_of_light)(f(0.04), f(6), f(0.02))) == pytest.approx(math.sqrt(12.64) - 0.8, rel=1e-5)
