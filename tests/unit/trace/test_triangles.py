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


@given(nine, three, st.floats(-1, 2), three)
def test_no_ray_slips_between_two_triangles(
    corners: list[float], fourth: list[float], share: float, start: list[float]
) -> None:
    """Aimed at the edge that they share, as near as double precision goes: it passes inside one of the two, or on none."""
    a, b, c = np.array(corners).reshape(3, 3)
    d = np.array(fourth)
    way = a + share * (b - a) - np.array(start)
    length = float(np.linalg.norm(way))
    if length < 1e-2:
        return
    ray = Ray(*start, *(way / length), 0.0, 100.0, 0.0)
    left, right = meet_triangle(ray, Corners(*a, *b, *c)), meet_triangle(ray, Corners(*b, *a, *d))

    def sides(p: np.ndarray, q: np.ndarray, r: np.ndarray) -> tuple[float, ...]:
        p, q, r, way = p - start, q - start, r - start, np.array(ray[3:6])
        return tuple(float(way @ np.cross(*pair)) for pair in ((p, q), (q, r), (r, p)))

    one, other = sides(a, b, c), sides(b, a, d)
    # Both lie on their own side of the edge, and the ray goes between their other edges.
    if min(one[1:]) > 1e-9 and min(other[1:]) > 1e-9 and 0.01 < share < 0.99:
        assert left.inside or right.inside
    assert not (left.inside and min(one[1:]) < -1e-9 and max(one[1:]) > 1e-9)
