"""Rays near the edges of triangles, as our own arithmetic sees them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tussock.trace.ray import Ray
from tussock.trace.rounding.edges import band_of, edge_of, ends_here, is_beyond, is_thin, nears_edge, third_corner
from tussock.trace.triangles import Corners

numbers = st.floats(-5, 5, allow_nan=False, width=32)
twelve, three = (st.lists(numbers, min_size=n, max_size=n) for n in (12, 3))


def ray_to(place: np.ndarray, start: list[float]) -> Ray:
    way = place - np.array(start)
    assume(np.linalg.norm(way) > 0.1)
    return Ray(*start, *(way / np.linalg.norm(way)), 0.0, 100.0, 0.0)


def turned(points: np.ndarray, by: int) -> Corners:
    return Corners(*np.roll(points, -by, axis=0).ravel())


@given(
    twelve, three, st.floats(0, 1), st.sampled_from([0.0, 1e-16, -1e-12, 1e-9]), st.integers(0, 2), st.integers(0, 2)
)
def test_of_two_neighbours_one_has_the_ray(
    points: list[float], start: list[float], share: float, off: float, one: int, other: int
) -> None:
    """Wherever the ray passes, by whichever corner the triangles begin, and whichever way round they are."""
    p, q, left, right = np.array(points).reshape(4, 3)
    ray = ray_to(p + share * (q - p) + off, start)
    first, second = turned(np.array([p, q, left]), one), turned(np.array([q, p, right]), other)
    here = edge_of(ray, first, -one % 3, third_corner(first, -one % 3))
    there = edge_of(ray, second, -other % 3, third_corner(second, -other % 3))
    assert (here.ray, here.length) == (there.ray, there.length)
    if here.corner * there.corner < 0.0:
        assert is_beyond(here) != is_beyond(there)


@given(twelve, three, st.floats(0.2, 0.8), st.sampled_from([-3.0, -0.5, 0.5, 3.0]))
def test_the_band_is_as_wide_as_it_says(points: list[float], start: list[float], share: float, bands: float) -> None:
    a, b, c, _ = np.array(points).reshape(4, 3)
    at, middle = Corners(*a, *b, *c), a + share * (b - a)
    normal = np.cross(b - a, c - a)
    assume(np.linalg.norm(normal) > 1.0)
    ray = ray_to(middle, start)
    way = np.array([ray.dx, ray.dy, ray.dz])
    assume(abs(way @ normal) > 0.1 * np.linalg.norm(normal))
    across = np.cross(b - a, way) / np.linalg.norm(np.cross(b - a, way))
    inward = across * np.sign(across @ (c - a))
    band = band_of(ray, at, 0.0)
    moved = ray._replace(**dict(zip("xyz", np.array(start) + bands * band * inward, strict=True)))
    assert nears_edge(moved, at, 0.0) == (bands < 1.0)
    assert ends_here(edge_of(moved, at, 0, third_corner(at, 0)), band) == (bands < 1.0)
    assert not nears_edge(ray_to((a + b + c) / 3, start), at, 0.0)


@pytest.mark.parametrize(("height", "thin"), [(1.0, False), (1e-3, False), (1e-6, True), (0.0, True)])
def test_a_triangle_seen_from_its_side_is_thin(height: float, thin: bool) -> None:
    ray = Ray(0.0, 0.5 * height, -2.0, 0.0, 0.0, 1.0, 0.0, 100.0, 0.0)
    at = Corners(-1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 4.0 * height, 3.0)
    assert is_thin(ray, at, 0, band_of(ray, at, 0.0)) == thin


@pytest.mark.parametrize("edge", [0, 1, 2])
@pytest.mark.parametrize("turn", [1, -1])
def test_every_edge_has_a_band_of_the_same_width(edge: int, turn: int) -> None:
    """A slim triangle whose edges are 1, 3 and 3.2 m long, seen slanting, from either side: half a band inside is near, two are not."""
    corners = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.2], [0.7, 3.0, -0.4]])[::turn]
    at, middle = Corners(*corners.ravel()), corners.mean(0)
    p, q = corners[edge], corners[(edge + 1) % 3]
    way = np.array([0.1, -0.2, -0.9]) / np.linalg.norm([0.1, -0.2, -0.9])
    aside = np.cross(way, q - p) / np.linalg.norm(np.cross(way, q - p))
    aside *= np.sign(aside @ (middle - p))
    for share in (0.3, 0.6):
        place = p + share * (q - p)
        for bands, near in ((0.5, True), (2.0, False), (-0.5, True), (-50.0, True)):
            start = place - 4.0 * way
            band = band_of(Ray(*start, *way, 0.0, 9.0, 0.0), at, 0.0)
            ray = Ray(*(start + bands * band * aside), *way, 0.0, 9.0, 0.0)
            assert bool(nears_edge(ray, at, 0.0)) == near, (share, bands)
