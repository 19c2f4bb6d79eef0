"""Peaks that drops climb to, beside those that the waveform itself has."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.signal.summits import BESIDE, FAR, HEIGHT, ROOM, TOP, Listed, climb

f = np.float32
SIGMA, WIDTH = 0.3, 16


def climbed(paths: list[float], energies: list[float], pulses: list[int]) -> tuple[np.ndarray, np.ndarray]:
    """Where each ends [m], and how high it is there."""
    size = 2 * BESIDE + WIDTH
    listed = Listed(np.ones(size, f), np.zeros(size, f), np.full(size, -1, np.int32))
    for column, numbers in zip(listed, (paths, energies, pulses), strict=True):
        column[BESIDE : BESIDE + len(paths)] = numbers
    room, around = np.full(ROOM * WIDTH, np.nan, f), np.full(4 * BESIDE * WIDTH, np.nan, f)
    getattr(climb, "py_func", climb)(listed, BESIDE, WIDTH, f(SIGMA), FAR * f(SIGMA), room, around)
    return tuple(room[column * WIDTH :][: len(paths)] for column in (TOP, HEIGHT))


def test_one_alone_stays_where_it_is() -> None:
    tops, heights = climbed([5.0, 9.0, 5.1], [0.5, 0.1, 0.2], [0, 0, 3])
    np.testing.assert_array_equal(tops, np.float32([5.0, 9.0, 5.1]))
    np.testing.assert_array_equal(heights, np.float32([0.5, 0.1, 0.2]))


@pytest.mark.parametrize("seed", range(6))
def test_all_end_on_peaks_of_the_waveform(seed: int) -> None:
    """On a fine grid: each on one of its peaks, and none is without one that climbed to it."""
    rng = np.random.default_rng(seed)
    for _ in range(20):
        paths = np.sort(rng.uniform(3.0, 8.0, 7))
        energies = rng.exponential(1.0, 7) + 0.3
        grid = np.arange(1.0, 10.0, 1e-3)
        wave = (energies * np.exp(-0.5 * ((grid[:, None] - paths) / SIGMA) ** 2)).sum(1)
        peaks = np.flatnonzero((wave[1:-1] > wave[:-2]) & (wave[1:-1] >= wave[2:])) + 1
        tops, heights = climbed(list(paths), list(energies), [2] * 7)
        for top, height in zip(tops, heights, strict=True):
            nearest = peaks[np.argmin(np.abs(grid[peaks] - top))]
            flat = abs(np.interp(top, grid, wave) / wave[nearest] - 1)
            assert flat < 0.01, "as high as the peak, where it is flat beside it"
            assert height == pytest.approx(wave[nearest], rel=0.01)
        for peak in peaks:
            assert np.abs(tops - grid[peak]).min() < 0.2 * SIGMA
