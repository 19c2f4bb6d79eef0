"""The peak of what clouds send back, of any mixture of puffs and boxes, beside the integral over the pulse on a fine grid."""

from __future__ import annotations

import numpy as np
from scipy.special import erf

from tussock.pulse.clouds import _peak, new_air_scratch
from tussock.signal.air import CLEAR
from tussock.signal.clouds import PART_NUMBERS, box_part, puff_part

f = np.float32
STEP = 0.01
GRID = np.arange(STEP / 2, 40.0, STEP)


def mixture(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Up to four clouds as parts, and πβ and τ of them on the grid."""
    rows = np.zeros((int(rng.integers(1, 5)), PART_NUMBERS), f)
    beta, depth = np.zeros_like(GRID), np.zeros_like(GRID)
    for row in rows:
        alpha = rng.uniform(0.02, 0.6)
        own = alpha * rng.uniform(0.02, 0.1)
        if rng.random() < 0.3:
            enters = rng.uniform(0.0, 15.0)
            leaves = enters + rng.uniform(0.5, 10.0)
            box_part(row, f(3), f(enters), f(leaves), f(alpha), f(own))
            beta += own * ((enters <= GRID) & (leaves >= GRID))
            depth += alpha * np.clip(np.minimum(GRID, leaves) - enters, 0, None)
        else:
            middle, s = rng.uniform(-1.0, 20.0), rng.uniform(0.4, 3.0)
            puff_part(row, f(3), f(middle), f(s), f(alpha), f(own))
            beta += own * np.exp(-0.5 * ((GRID - middle) / s) ** 2)
            thick = alpha * s * np.sqrt(np.pi / 2)
            depth += thick * (erf((GRID - middle) / s / np.sqrt(2)) + erf(middle / s / np.sqrt(2)))
    return rows, beta, depth


def test_peaks_are_where_the_integral_has_them() -> None:
    """Receivers that begin to see near and far, pulses from short to long, with a wall among the clouds or none.

    Bounds for nine of ten; where two peaks are as high as each other, either may be named.
    """
    rng = np.random.default_rng(3)
    places, heights = [], []
    for _ in range(300):
        rows, beta, depth = mixture(rng)
        begins, near = rng.choice([0.3, 0.9]), rng.choice([0.0, 8.9, 15.6])
        sigma, far = rng.choice([0.05, 0.2, 0.32, 0.6]), rng.choice([60.0, rng.uniform(3.0, 20.0)])
        air = CLEAR._replace(
            overlap_from=f(begins), overlap_to=f(begins + 0.1), near_to=f(near), near_exponent=f(2.0)
        )  # fmt: skip
        path, height = _peak(air, rows, len(rows), f(sigma), f(far), new_air_scratch(8).room)
        seen = np.clip((GRID - begins) / 0.1, 0, 1) * (np.minimum(GRID / near, 1) ** 2 if near else 1)
        back = beta * seen * np.exp(-2 * depth) / GRID**2 * (far > GRID)
        reach = np.arange(-6 * sigma, 6 * sigma + STEP / 2, STEP)
        wave = np.convolve(back, np.exp(-0.5 * (reach / sigma) ** 2), "same") * STEP
        wave[far <= GRID] = 0.0
        top = int(wave.argmax())
        if wave[top] > 1e-5:  # of a white wall: fainter ones no receiver hears
            places.append(abs(path - GRID[top]))
            heights.append(abs(height / wave[top] - 1))
    assert len(places) > 200
    assert np.median(places) < 0.05 and np.quantile(places, 0.9) < 0.2
    assert np.median(heights) < 0.02 and np.quantile(heights, 0.9) < 0.2
