"""Where a ray meets a triangle: against the plain tracer, and against the plane itself."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tussock.trace.ray import Ray
from tussock.trace.triangles import Corners, meet_triangle

numbers = st.floats(-5, 5, allow_nan=False, width=32)
nine, six, three = (st.lists(numbers, min_size=n, max_size=n) for n in (9, 6, 3))


@given(nine, st.floats(0.05, 0.9), st.floats(0.05, 0.9), three)
def test_the_place_aimed_at_is_found(corners: list[float], u: float, v: float, start: list[float]) -> None:
    if u + v > 0.95:
        u, v = u / 2, v / 2
    a, b, c = np.array(corners).reshape(3, 3)
    normal = np.cross(b - a, c - a)
    way = a + u * (b - a) + v * (c - a) - np.array(start)
    length = float(np.linalg.norm(way))
    if np.linalg.norm(normal) < 1e-2 or length < 1e-2 or abs(way @ normal) < 1e-3 * length * np.linalg.norm(normal):
        return  # no triangle, no way, or along the triangle
    found = meet_triangle(Ray(*start, *(way / length), 0.0, 100.0, 0.0), Corners(*corners))
    assert abs(found.distance - length) < 1e-9 * (1 + length)
    assert np.allclose([found.u, found.v], [u, v], atol=1e-7)
    assert np.allclose([found.nx, found.ny, found.nz], normal, atol=1e-9)


@given(nine, six)
def test_nothing_is_met_outside_the_stretch_of_the_triangle(corners: list[float], ray: list[float]) -> None:
    """Also where the ray lies in the triangle's plane, or the triangle is none."""
    way = np.array(ray[3:])
    if np.linalg.norm(way) < 1e-3:
        return
    way = way / np.linalg.norm(way)
    found = meet_triangle(Ray(*ray[:3], *way, 0.0, 100.0, 0.0), Corners(*corners))
    along = (np.array(corners).reshape(3, 3) - np.array(ray[:3])) @ way
    assert along.min() - 1e-9 <= found.distance <= along.max() + 1e-9
    assert 0 <= found.u <= 1
    assert 0 <= found.v <= 1
