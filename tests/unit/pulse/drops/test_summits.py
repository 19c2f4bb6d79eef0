"""Peaks that drops climb to, beside those that the waveform itself has."""

from __future__ import annotations

import numpy as np

from tussock.pulse.drops.summits import BESIDE, FAR, HEIGHT, ROOM, TOP, Listed, climb

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


def test_peaks_are_those_of_the_waveform() -> None:
    """On a fine grid; what has climbed to the peak of another one has the height 0."""
    rng = np.random.default_rng(5)
    found, false, peaks_in_all, missed = 0, 0, 0, 0
    for _ in range(400):
        paths = np.sort(rng.uniform(3.0, 8.0, 7))
        energies = rng.exponential(1.0, 7) + 0.3
        grid = np.arange(1.0, 10.0, 2e-3)
        wave = (energies * np.exp(-0.5 * ((grid[:, None] - paths) / SIGMA) ** 2)).sum(1)
        peaks = np.flatnonzero((wave[1:-1] > wave[:-2]) & (wave[1:-1] >= wave[2:])) + 1
        tops, heights = climbed(list(paths), list(energies), [2] * 7)
        tops, heights = tops[heights > 0], heights[heights > 0]
        found, peaks_in_all = found + len(tops), peaks_in_all + len(peaks)
        away = np.abs(tops[:, None] - grid[peaks])
        false += int((away.min(1) > 0.2 * SIGMA).sum())
        missed += int((away.min(0) > 0.2 * SIGMA).sum())
        near = away.min(1) < 0.02 * SIGMA
        np.testing.assert_allclose(heights[near], wave[peaks[away.argmin(1)]][near], rtol=0.01)
    assert found > 2000 and false < 0.01 * found and missed < 0.002 * peaks_in_all


def test_two_that_stand_close_climb_to_the_peak_between_them() -> None:
    """By symmetry it is in the middle, and 2·exp(−d²/8σ²) high; the closer to 2σ, the flatter, and the more steps it takes."""
    for apart in (0.5, 1.0, 1.5, 1.8):
        tops, heights = climbed([5.0, 5.0 + apart * SIGMA], [1.0, 1.0], [4, 4])
        np.testing.assert_allclose(tops, 5.0 + 0.5 * apart * SIGMA, rtol=0, atol=0.02 * SIGMA)
        np.testing.assert_allclose(heights, 2.0 * np.exp(-(apart**2) / 8.0), rtol=0.005)
