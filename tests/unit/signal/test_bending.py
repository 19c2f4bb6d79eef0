from __future__ import annotations

import itertools

import numpy as np
import pytest

from tussock.signal import media as media_of_a_ray
from tussock.signal.bending import reflected, refracted
from tussock.signal.media import AIR


def unit(*v: float) -> np.ndarray:
    return (np.array(v) / np.linalg.norm(v)).astype(np.float32)


@pytest.mark.parametrize("seed", range(5))
def test_mirrors(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, n = unit(*rng.normal(size=3)), unit(*rng.normal(size=3))
    r = np.array(reflected(*d, *n))
    assert np.linalg.norm(r) == pytest.approx(1, abs=1e-6)
    assert r @ n == pytest.approx(-(d @ n), abs=1e-6)
    assert np.allclose(np.cross(r, n), np.cross(d, n), atol=1e-6), "stays in the plane of incidence"


@pytest.mark.parametrize("angle", [0.0, 0.3, 0.8, 1.4])
@pytest.mark.parametrize("side", [1, -1])
def test_snell(angle: float, side: int) -> None:
    """Into glass and out of it, whichever way the normal looks."""
    d, n = unit(np.sin(angle), 0, -np.cos(angle)), unit(0, 0, side)
    *r, passed = refracted(*d, *n, np.float32(1 / 1.5))
    assert passed
    assert np.linalg.norm(r) == pytest.approx(1, abs=1e-5)
    assert r[0] == pytest.approx(np.sin(angle) / 1.5, abs=1e-6)
    assert r[2] < 0
    *back, passed = refracted(*np.array(r, np.float32), *n, np.float32(1.5))
    assert passed
    assert np.allclose(back, d, atol=1e-5)


def test_total_reflection() -> None:
    d, n = unit(np.sin(0.8), 0, -np.cos(0.8)), unit(0, 0, 1)
    *r, passed = refracted(*d, *n, np.float32(1.5))
    assert not passed
    assert np.allclose(r, [np.sin(0.8), 0, np.cos(0.8)], atol=1e-6)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_media_are_left_in_any_order(order: tuple[int, ...]) -> None:
    """Of bodies in one another, each that is left is gone, wherever it stood; the innermost of the others counts."""
    beyond = media_of_a_ray.beyond.py_func  # compiled, it would give numbers of Python's back
    entered = [np.float32(index) for index in (1.33, 1.5, 1.7, 1.2)]
    media, inside = AIR, []
    for index in entered:
        media, inside = beyond(media, index, True), [index, *inside]
        assert beyond(media, np.float32(1.0), True) == beyond(media, np.float32(1.0), False) == media
        assert beyond(media, np.float32(2.4), False) == media, "one that was never entered"
    for one in order:
        media = beyond(media, entered[one], False)
        inside.remove(entered[one])
        assert tuple(media) == (*inside, *[np.float32(1.0)] * (4 - len(inside)))
