"""Where a formula turns: noise of signals about the receiver's own, tables of the air beyond their end, limits that belong to a window."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tussock.kernels import kernel
from tussock.pulse.tables import new_chosen
from tussock.signal.air import CLEAR, Air, haze_at, relief_entry
from tussock.signal.leaves import depth_of_light, share_behind_leaf
from tussock.signal.range_noise import quantised, range_sigma
from tussock.signal.returns import Window, last_hits, strongest_hits

f = np.float32


@kernel
def _sigma(ratios: np.ndarray, floor: np.float32, shot: np.float32, thermal: np.float32, out: np.ndarray) -> None:
    for i in range(len(ratios)):
        out[i] = range_sigma(ratios[i], floor, shot, thermal)


@kernel
def _in_air(air: Air, paths: np.ndarray, u: np.float32, haze: np.ndarray, relief: np.ndarray) -> None:
    for i in range(len(paths)):
        haze[i], relief[i] = haze_at(air, paths[i], u), air.relief[int(relief_entry(air, paths[i]))]


def test_noise_of_a_range_by_its_signal() -> None:
    """√(floor + shot/s + thermal/s²), where s counts as 1 at least."""
    ratios, out = np.array([0.0, 0.5, 1.0, 1.2, 1.7, 2.0, 2.5, 40.0], f), np.zeros(8, f)
    _sigma(ratios, f(1e-4), f(4e-3), f(9e-3), out)
    s = np.maximum(ratios, 1)
    assert out == pytest.approx(np.sqrt(1e-4 + 4e-3 / s + 9e-3 / s**2), rel=1e-6)


def test_tables_of_the_air_go_on_as_they_end() -> None:
    """Between two rows of the haze in proportion, at its last row and beyond it as that; of the relief the nearest one."""
    haze, relief = np.array([[1, 0.5], [2, 0.25], [4, 0.0]], f), np.array([0.0, 0.5, 0.9], f)
    air = CLEAR._replace(haze=haze, haze_step=f(2.0), relief=relief, relief_per_m=f(0.5))
    paths = np.array([0.0, 0.9, 1.1, 3.5, 4.0, 4.5, np.inf], f)
    found, factor = np.zeros(7, f), np.zeros(7, f)
    u = 0.3
    _in_air(air, paths, f(u), found, factor)
    at = np.minimum(paths / 2, 2.0)
    mean, spread = (np.interp(at, [0, 1, 2], haze[:, k]) for k in range(2))
    assert found == pytest.approx(mean - spread * (math.log(1 - u) + 1), abs=1e-5)
    np.testing.assert_array_equal(factor, f([0.0, 0.0, 0.5, 0.9, 0.9, 0.9, 0.9]))


@pytest.mark.parametrize("choose", [strongest_hits, last_hits])
def test_both_limits_belong_to_the_window(choose: object) -> None:
    window = Window(f(1.0), f(100.0), f(1.0))
    for distance, seen in ((1.0, True), (100.0, True), (0.9999, False), (100.001, False)):
        ranges, energies = np.full((1, 16), distance, f), np.full((1, 16), 0.5, f)
        chosen = new_chosen(1)
        choose(ranges, energies, window, chosen)  # type: ignore[operator]
        assert (chosen.rows == (0 if seen else -1)).all(), distance


def test_steps_of_ranges() -> None:
    for value, step, wanted in (
        (1.2345, 0.01, 1.23),
        (1.236, 0.01, 1.24),
        (0.0049, 0.01, 0.0),
        (5.0, -1.0, 5.0),
        (9e6, 1.0, 9e6),
        (5e9, 1.0, 5e9),
    ):
        assert float(quantised(f(value), f(step))) == pytest.approx(wanted, rel=1e-6)


@kernel
def _light(energies: np.ndarray, radius: np.float32, least: np.float32, depths: np.ndarray, shares: np.ndarray) -> None:
    for i in range(len(energies)):
        depths[i] = depth_of_light(energies[i], radius, least)
        shares[i] = share_behind_leaf(depths[i], radius)


@pytest.mark.parametrize("radius", [0.005, 0.2])
def test_behind_a_leaf_light_ends_where_only_the_least_of_it_finds_back(radius: float) -> None:
    """E/(1 + 0.8 s/a + 3s²/a²) is the least at the depth s; 0 where there is less to begin with."""
    energies, depths, shares = np.array([1e-6, 1e-4, 2e-4, 1e-2, 3.0], f), np.zeros(5, f), np.zeros(5, f)
    _light(energies, f(radius), f(1e-4), depths, shares)
    assert depths[:2] == pytest.approx([0, 0], abs=1e-7) and (np.diff(depths[1:]) > 0).all()
    assert energies[2:] * shares[2:] == pytest.approx(1e-4, rel=2e-3)
    x = depths / radius
    assert shares == pytest.approx(1 / (1 + 0.8 * x + 3 * x * x), rel=1e-5)
