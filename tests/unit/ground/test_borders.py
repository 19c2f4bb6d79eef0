"""Borders cut the ground along a line: the surface stays what it is, and the line is no staircase."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.ground.borders import Border, cut
from tussock.ground.height_field import HeightField, Mask
from tussock.ground.terrain import noise_terrain
from tussock.scene.mesh import Mesh
from tussock.scene.surfaces import SURFACES

SOIL, GRAVEL, WATER = SURFACES["soil"], SURFACES["gravel"], SURFACES["rock"]


def areas(mesh: Mesh) -> dict[str, float]:
    """Area of each material in plan [m²]."""
    a, b, c = (mesh.vertices[mesh.triangles[:, k]].astype(float) for k in range(3))
    plan = ((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]) / 2
    assert (plan > 0).all()  # nothing is turned over, nothing is folded
    which = mesh.material_of_triangles
    return {material.name: float(plan[which == k].sum()) for k, material in enumerate(mesh.materials)}


def edge(mesh: Mesh) -> float:
    """Length of the line between two materials in plan [m]."""
    which = mesh.material_of_triangles
    pairs: dict[tuple[int, int], list[int]] = {}
    for corners, material in zip(mesh.triangles.tolist(), which.tolist(), strict=True):
        for k in range(3):
            a, b = sorted((corners[k], corners[(k + 1) % 3]))
            pairs.setdefault((a, b), []).append(material)
    border = [pair for pair, sides in pairs.items() if len(set(sides)) == 2]
    places = mesh.vertices[:, :2].astype(float)
    return float(sum(np.linalg.norm(places[a] - places[b]) for a, b in border))


@pytest.mark.parametrize("angle", [0.0, 0.3, 1.1, 2.0])
def test_a_straight_border_is_straight(angle):
    """Its area and its length are those of a rectangle cut by a line; whole cells would make a staircase of it."""
    field = HeightField((10.0, 10.0), np.zeros((41, 41)))
    across = np.array([np.cos(angle), np.sin(angle)])

    def distance(x, y):
        return x * across[0] + y * across[1] - 0.07

    mesh = field.mesh(SOIL, masks=[Border(distance, GRAVEL)])
    found = areas(mesh)
    steps = (np.arange(4000) + 0.5) / 400 - 5
    inside = (distance(steps[:, None], steps[None]) < 0).mean() * 100
    assert sum(found.values()) == pytest.approx(100.0, rel=1e-6)
    assert found["gravel"] == pytest.approx(inside, abs=0.03)
    # a line through nearly the middle of a square of 10 m
    assert edge(mesh) == pytest.approx(10 / max(abs(np.cos(angle)), abs(np.sin(angle))), rel=0.01)
    cells = np.arange(40) * 0.25 - 4.875
    stairs = field.mesh(SOIL, masks=[Mask(distance(cells[:, None], cells[None]) < 0, GRAVEL)])
    if angle in (0.3, 1.1, 2.0):
        assert edge(stairs) > 1.2 * edge(mesh)


def test_a_round_border_has_the_area_and_the_length_of_a_circle():
    field = HeightField((10.0, 10.0), np.zeros((81, 81)))
    mesh = field.mesh(SOIL, masks=[Border(lambda x, y: np.hypot(x, y) - 3.0, GRAVEL)])
    assert areas(mesh)["gravel"] == pytest.approx(np.pi * 9, rel=2e-3)
    assert edge(mesh) == pytest.approx(2 * np.pi * 3, rel=5e-3)


def test_heights_stay_what_they_are():
    field = noise_terrain((20.0, 14.0), cells=(30, 21), height=1.5, wavelength=6.0, seed=3)
    mesh = field.mesh(SOIL, masks=[Border(lambda x, y: np.hypot(x - 1, y) - 4.0, GRAVEL)])
    corners = mesh.vertices.astype(float)
    np.testing.assert_allclose(field(corners[:, 0], corners[:, 1]), corners[:, 2], atol=1e-5)
    middles = corners[mesh.triangles].mean(1)
    np.testing.assert_allclose(field(middles[:, 0], middles[:, 1]), middles[:, 2], atol=1e-5)


def test_no_gaps_and_no_triangle_on_both_sides():
    rng = np.random.default_rng(4)
    for _ in range(20):
        field = HeightField((3.0, 2.0), rng.normal(size=(7, 5)), centre=(1.0, -2.0))
        plain = field.mesh(SOIL)
        distance = rng.normal(size=len(plain.vertices))
        distance[rng.integers(len(distance), size=5)] = 0.0
        places, triangles, of = cut(plain.vertices.astype(float), plain.triangles.astype(int), distance)
        beyond = np.concatenate([distance, np.zeros(len(places) - len(distance))])[triangles]
        assert not ((beyond < 0).any(1) & (beyond > 0).any(1)).any()
        sides = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
        _, count = np.unique(sides, axis=0, return_counts=True)
        before = np.sort(np.concatenate([plain.triangles[:, [k, (k + 1) % 3]] for k in range(3)]), axis=1)
        _, rim = np.unique(before, axis=0, return_counts=True)
        assert set(count) <= {1, 2}
        # what is met by one triangle alone is the rim: each of its edges, once or cut in two
        assert (count == 1).sum() >= (rim == 1).sum()
        np.testing.assert_array_equal(np.unique(of), np.arange(len(plain.triangles)))


def test_of_several_the_last_one_holds():
    field = HeightField((10.0, 10.0), np.zeros((21, 21)))
    wet = np.zeros((20, 20), bool)
    wet[8:12, 8:12] = True  # 2 m × 2 m in the middle
    trail = Border(lambda x, y: np.abs(y) - 1.3, GRAVEL)
    over = areas(field.mesh(SOIL, masks=[trail, Mask(wet, WATER)]))
    assert over["rock"] == pytest.approx(4.0, rel=1e-6)
    assert over["gravel"] == pytest.approx(26.0 - 4.0, rel=1e-5)
    under = areas(field.mesh(SOIL, masks=[Mask(wet, WATER), trail]))
    assert under["rock"] == pytest.approx(0.0, abs=1e-9)
    assert under["gravel"] == pytest.approx(26.0, rel=1e-5)
