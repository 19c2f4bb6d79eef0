"""Plain shapes: their sizes, that they are closed, and that they face outward."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.ground.relief import Relief
from tussock.scene.primitives import box, cylinder, ground, plane, sphere


def volume(mesh) -> float:
    """Enclosed volume by the divergence theorem: positive only where all triangles face outward."""
    a, b, c = (mesh.vertices[mesh.triangles[:, i]].astype(float) for i in range(3))
    return float((a * np.cross(b, c)).sum() / 6)


def edges_meet(mesh) -> bool:
    """Every edge is run through once each way: the shape is closed and turned the same way all over."""
    edges = mesh.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).astype(np.int64)
    there, back = edges[:, 0] * 1_000_000 + edges[:, 1], edges[:, 1] * 1_000_000 + edges[:, 0]
    return len(np.unique(there)) == len(there) and bool(np.isin(there, back).all())


def test_box():
    shape = box((1, 2, 3))
    assert volume(shape) == pytest.approx(6)
    assert edges_meet(shape)
    np.testing.assert_array_equal(shape.bounds, [[-0.5, -1, -1.5], [0.5, 1, 1.5]])
    assert len(shape.triangles) == 12


@pytest.mark.parametrize("subdivisions", [0, 1, 4])
def test_sphere(subdivisions):
    shape = sphere(2.0, subdivisions=subdivisions)
    assert len(shape.triangles) == 20 * 4**subdivisions
    assert edges_meet(shape)
    np.testing.assert_allclose(np.linalg.norm(shape.vertices, axis=1), 2.0, rtol=1e-6)
    assert volume(shape) < 4 / 3 * np.pi * 8
    if subdivisions == 4:
        assert volume(shape) == pytest.approx(4 / 3 * np.pi * 8, rel=5e-3)


def test_cylinder():
    shape = cylinder(0.5, 2.0, sides=64)
    exact = 64 / 2 * 0.25 * np.sin(2 * np.pi / 64) * 2
    assert volume(shape) == pytest.approx(exact, rel=1e-5)
    assert edges_meet(shape)
    assert len(cylinder(sides=8, capped=False).triangles) == 16


def test_ground_follows_a_function_and_an_array():
    grid = ground((4, 2), cells=(8, 4), heights=lambda x, y: 0.5 * x - y)
    x, y, z = grid.vertices.T
    np.testing.assert_allclose(z, 0.5 * x - y, atol=1e-6)
    assert len(grid.triangles) == 64
    a, b, c = (grid.vertices[grid.triangles[:, i]] for i in range(3))
    assert (np.cross(b - a, c - a)[:, 2] > 0).all()
    same = ground((4, 2), cells=(8, 4), heights=z.reshape(9, 5))
    np.testing.assert_array_equal(same.vertices, grid.vertices)


def test_plane_is_two_triangles():
    assert plane((3, 5)).areas.sum() == pytest.approx(15)
    assert len(plane().triangles) == 2


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: box((1, 0, 1)), "box size y: must be above 0"),
        (lambda: box((1, 1)), "three numbers"),
        (lambda: sphere(-1), "sphere radius"),
        (lambda: sphere(subdivisions=30), "subdivisions"),
        (lambda: cylinder(sides=2), "cylinder sides: must be at least 3"),
        (lambda: ground((10, float("nan"))), "ground size y"),
        (lambda: ground((1, 1), cells=(0, 1)), "ground cells x"),
        (lambda: ground((1, 1), cells=(2, 2), heights=np.zeros((2, 2))), "ground heights"),
        (lambda: ground((1, 1), heights=[[0, np.nan], [0, 0]]), "fill the holes"),
        (lambda: Relief(wavelength=0), "relief wavelength"),
    ],
)
def test_sizes_that_cannot_be(make, said):
    with pytest.raises(InputError, match=said):
        make()


def test_relief_has_the_height_asked_for_and_the_slope_it_says():
    relief = Relief(height=0.4, wavelength=30, seed=7)
    x, y = np.meshgrid(np.linspace(-500, 500, 400), np.linspace(-500, 500, 400))
    assert relief(x, y).std() == pytest.approx(0.4, rel=0.1)
    along_x, along_y = relief.slope(x, y)
    step = 1e-5
    np.testing.assert_allclose((relief(x + step, y) - relief(x - step, y)) / (2 * step), along_x, atol=1e-6)
    np.testing.assert_allclose((relief(x, y + step) - relief(x, y - step)) / (2 * step), along_y, atol=1e-6)
    assert not np.array_equal(relief(x, y), Relief(height=0.4, wavelength=30, seed=8)(x, y))
