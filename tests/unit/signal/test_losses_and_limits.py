"""What dims, hides or folds an echo: haze and spreading, BlenSor's detection limit, backfolding."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.signal.detection import Limit, detected, least_reflectivity
from tussock.signal.folding import folded
from tussock.signal.loss import after_loss

f = np.float32


def test_spreading_and_haze() -> None:
    assert float(after_loss(f(0.8), f(20), f(0), f(0))) == pytest.approx(0.8)
    assert float(after_loss(f(0.8), f(20), f(10), f(0))) == pytest.approx(0.2)
    assert float(after_loss(f(0.8), f(20), f(0), f(0.01))) == pytest.approx(0.8 * np.exp(-0.4))
    assert float(after_loss(f(0.8), f(20), f(10), f(0.01))) == pytest.approx(0.2 * np.exp(-0.4))


def test_the_detection_limit_of_the_hdl_64e() -> None:
    """The text of the paper: 10 % at 50 m, 80 % at 120 m, linear between."""
    limit = Limit(f(50), f(120), f(0.1), f(0.8))
    assert float(least_reflectivity(f(50), limit)) == pytest.approx(0.1)
    assert float(least_reflectivity(f(85), limit)) == pytest.approx(0.45)
    assert float(least_reflectivity(f(120), limit)) == pytest.approx(0.8)
    assert detected(f(0.01), f(49), limit)
    assert not detected(f(0.0), f(49), limit)
    assert detected(f(0.46), f(85), limit)
    assert not detected(f(0.44), f(85), limit)
    assert not detected(f(1.0), f(121), limit)
    assert detected(f(0.0), f(500), limit._replace(far=f(0))), "switched off"


@pytest.mark.parametrize(("distance", "expected"), [(3.0, 3.0), (4.99, 4.99), (5.0, 0.0), (7.5, 2.5), (10.0, 5.0)])
def test_backfolding(distance: float, expected: float) -> None:
    assert float(folded(f(distance), f(10))) == pytest.approx(expected, abs=1e-6)


def test_as_bright_as_the_limit_is_bright_enough() -> None:
    """Each comparison at its very edge: the limit itself, its near and its far end."""
    line = Limit(50.0, 120.0, 0.1, 0.8)
    for distance in (50.0, 61.0, 85.0, 120.0):
        least = least_reflectivity.py_func(distance, line)
        assert detected.py_func(least, distance, line)
        assert not detected.py_func(np.nextafter(least, 0), distance, line)
    assert detected.py_func(np.nextafter(0.0, 1), np.nextafter(50.0, 0), line), "nearer than near: anything but black"
    assert not detected.py_func(0.0, np.nextafter(50.0, 0), line)
    assert not detected.py_func(1.0, np.nextafter(120.0, 200), line), "further than far: nothing"
    assert detected.py_func(0.0, 500.0, Limit(50.0, 0.0, 0.1, 0.8)), "without a limit everything"
