from __future__ import annotations

import numpy as np
import pytest

from tussock.signal.reflectance import cos_incidence, glint, lambert

f = np.float32


def cosine(direction: tuple, normal: tuple) -> float:
    return float(cos_incidence(*map(f, direction), *map(f, normal)))


@pytest.mark.parametrize("length", [1e-8, 1e-3, 1.0, 1e6])
def test_the_angle_does_not_depend_on_the_length_of_the_normal(length: float) -> None:
    for angle in (0.0, 0.3, 1.0, 1.5):
        normal = (length * np.cos(angle), 0, length * np.sin(angle))
        assert cosine((1, 0, 0), normal) == pytest.approx(np.cos(angle), abs=1e-6)


def test_both_sides_are_alike_and_nothing_exceeds_one() -> None:
    assert cosine((0, 0, -1), (0, 0, 2)) == cosine((0, 0, -1), (0, 0, -2)) == 1.0
    rng = np.random.default_rng(0)
    for direction in rng.normal(size=(200, 3)):
        unit = direction / np.linalg.norm(direction)
        assert cosine(unit, 7 * unit) <= 1.0


def test_a_triangle_without_area_returns_nothing() -> None:
    assert cosine((1, 0, 0), (0, 0, 0)) == 0.0


def test_lambert() -> None:
    assert float(lambert(f(0.5), f(0.6))) == pytest.approx(0.3)


def test_glint_is_phong_with_sensor_and_light_in_one_place() -> None:
    for angle in (0.0, 0.2, 0.5, np.pi / 4 - 1e-3):
        expected = 0.7 * np.cos(2 * angle) ** 5 + 0.4 * np.cos(angle)
        assert float(glint(f(0.7), f(5), f(0.4), f(np.cos(angle)))) == pytest.approx(expected, rel=1e-5)
    assert float(glint(f(0.7), f(5), f(0.0), f(np.cos(1.0)))) == 0.0, "beyond 45° the mirrored ray leaves backwards"
