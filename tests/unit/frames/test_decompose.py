"""Gaussian decomposition against waveforms whose parts are known, and against SciPy's own fit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from tussock.errors import InputError
from tussock.frames.decompose import MOST, decompose
from tussock.frames.waveforms import Waveforms

BIN, FWHM = 1.0, 5.0
PER_FWHM = 1 / (2 * np.sqrt(2 * np.log(2)))
SIGMA_M = FWHM * PER_FWHM * 1e-9 * 299_792_458.0 / 2


def waveforms(*parts: list[tuple[float, float, float]], noise: float = 0.0, seed: int = 0) -> Waveforms:
    """One waveform from 10 m on for every list of (amplitude, range [m], σ [m])."""
    x = 10.0 + 0.149896229 * np.arange(128)
    rows = [sum(a * np.exp(-((x - r) ** 2) / (2 * s**2)) for a, r, s in part) for part in parts]
    samples = np.array(rows) + noise * np.random.default_rng(seed).standard_normal((len(rows), 128))
    n = len(parts)
    return Waveforms(
        np.arange(n, dtype=np.uint32), np.full(n, 10.0, np.float32), samples.astype(np.float32), BIN, FWHM, noise
    )


def test_the_parts_come_back() -> None:
    parts = [[(50.0, 14.0, SIGMA_M), (20.0, 17.0, 1.5 * SIGMA_M), (80.0, 25.0, SIGMA_M)], [(3.0, 12.0, SIGMA_M)]]
    found = decompose(waveforms(*parts))
    assert found.pulse.tolist() == [0, 0, 0, 1]
    expected = np.array([part for row in parts for part in row])
    np.testing.assert_allclose(found.amplitude, expected[:, 0], rtol=1e-3)
    np.testing.assert_allclose(found.range, expected[:, 1], atol=1e-3)
    fwhm_ns = expected[:, 2] / SIGMA_M * FWHM
    np.testing.assert_allclose(found.width, fwhm_ns, rtol=1e-3)


def test_two_that_touch_are_told_apart() -> None:
    found = decompose(waveforms([(40.0, 15.0, SIGMA_M), (40.0, 15.0 + 2.6 * SIGMA_M, SIGMA_M)]))
    np.testing.assert_allclose(found.range, [15.0, 15.0 + 2.6 * SIGMA_M], atol=5e-3)


def test_in_noise_it_does_as_well_as_an_independent_fit() -> None:
    made = waveforms(*[[(60.0, 14.0, SIGMA_M), (30.0, 18.0, 1.4 * SIGMA_M)]] * 40, noise=1.0, seed=4)
    found = decompose(made)
    assert len(found) == 80
    x = made.ranges(0)

    def shape(x: np.ndarray, *p: float) -> np.ndarray:
        return sum(p[3 * i] * np.exp(-((x - p[3 * i + 1]) ** 2) / (2 * p[3 * i + 2] ** 2)) for i in range(2))

    for row in range(40):
        fit, _ = optimize.curve_fit(shape, x, made.samples[row], [55, 14, 0.3, 25, 18, 0.4])
        mine = slice(2 * row, 2 * row + 2)
        np.testing.assert_allclose(found.range[mine], fit[1::3], atol=2e-3)
        np.testing.assert_allclose(found.amplitude[mine], fit[0::3], rtol=5e-3)
        np.testing.assert_allclose(found.width[mine], np.abs(fit[2::3]) / SIGMA_M * FWHM, rtol=1e-2)


def test_noise_alone_is_nothing() -> None:
    found = decompose(waveforms(*[[(0.0, 15.0, SIGMA_M)]] * 200, noise=1.0))
    assert len(found) == 0


def test_more_peaks_than_there_is_room_for_keep_the_highest() -> None:
    many = [(10.0 + i, 11.0 + 1.6 * i, 0.5 * SIGMA_M) for i in range(10)]
    found = decompose(waveforms(many))
    assert len(found) == MOST
    assert found.range[0] == pytest.approx(11.0 + 1.6 * 2, abs=0.02)


def test_threads_give_the_same() -> None:
    made = waveforms(*[[(60.0, 14.0 + 0.01 * i, SIGMA_M)] for i in range(50)], noise=1.0)
    one, two = decompose(made, threads=1), decompose(made, threads=2)
    assert np.array_equal(one.range, two.range)


def test_shapes_and_pulses_are_checked() -> None:
    with pytest.raises(InputError, match="one row a pulse"):
        Waveforms(np.arange(2, dtype=np.uint32), np.zeros(2, np.float32), np.zeros((3, 8), np.float32), 1.0, 5.0, 0.0)
    with pytest.raises(InputError, match="must be one of the 1 pulses"):
        waveforms([(3.0, 12.0, SIGMA_M)]).row_of(7)
