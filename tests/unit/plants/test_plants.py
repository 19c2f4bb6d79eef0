"""Grown shapes: counts, sizes and areas as asked for; same seed, same plant."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.plants.blades import BladeShape, blades
from tussock.plants.grass import grass_tile
from tussock.plants.leaves import LEAF_AREA, leaf_shapes
from tussock.plants.tree import tree


def of_label(mesh, label):
    chosen = [i for i, material in enumerate(mesh.materials) if material.label == label]
    return np.isin(mesh.material_of_triangles, chosen)


@pytest.mark.parametrize("folded", [True, False])
@pytest.mark.parametrize("segments", [1, 2, 7])
@pytest.mark.parametrize("tip", [0.0, 0.3])
def test_blade_has_its_triangles_height_and_root(folded, segments, tip):
    vertices, triangles = blades(
        [[5.0, 6.0, 1.0]],
        BladeShape(segments, folded, tip),
        heights=0.4,
        widths=0.02,
        headings=1.0,
        leans=0.2,
        bends=0.7,
    )
    assert len(triangles) == BladeShape(segments, folded, tip).triangles
    assert sorted(set(triangles.ravel())) == list(range(len(vertices)))
    assert vertices[:, 2].max() - 1.0 == pytest.approx(0.4, abs=0.01)
    np.testing.assert_allclose(vertices[[0, 2 if folded else 1]].mean(0), [5, 6, 1], atol=1e-9)


def test_a_flat_upright_blade_has_the_area_of_its_width_profile():
    vertices, triangles = blades(
        [[0.0, 0.0, 0.0]], BladeShape(200, folded=False), heights=1.0, widths=0.1, headings=0.0, leans=0.0, bends=0.0
    )
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1).sum() / 2
    assert area == pytest.approx(0.1 * (1 - 1 / 2.8), rel=1e-3)


def test_grass_tile_is_rooted_inside_and_as_high_as_asked():
    tile = grass_tile(size=2.0, blades=1000, height=0.3, segments=5, seed=3)
    assert len(tile.triangles) == 1000 * BladeShape(5).triangles
    each = tile.vertices.reshape(1000, -1, 3)
    roots = each[:, [0, 2]].mean(1)
    assert (np.abs(roots[:, :2]) <= 1.0).all()
    assert (roots[:, 2] <= 0).all() and (roots[:, 2] >= -0.0201).all()
    assert each[..., 2].max(1).mean() == pytest.approx(0.3, rel=0.05)
    # One blade in (nearly) every cell of a grid: no bare patches.
    counts = np.histogram2d(roots[:, 0], roots[:, 1], bins=8, range=[[-1, 1], [-1, 1]])[0]
    assert counts.min() >= 7


def test_grass_has_the_dead_share_and_its_label():
    tile = grass_tile(blades=100, dead=0.3, segments=2)
    dry = tile.material_of_triangles.reshape(100, -1)
    assert (dry == dry[:, :1]).all()
    assert dry[:, 0].sum() == 30
    assert of_label(tile, "grass").all()
    assert grass_tile(blades=5).triangle_materials is None


@pytest.mark.parametrize("triangles", [5_000, 40_000, 123_456])
def test_tree_has_the_triangles_size_and_leaf_area_asked_for(triangles):
    shape = tree(height=9.0, crown_radius=3.0, leaf_area=90.0, triangles=triangles, seed=5)
    assert triangles - 3 <= len(shape.triangles) <= triangles
    leaves = of_label(shape, "leaf")
    assert shape.areas[leaves].sum() == pytest.approx(90.0, rel=1e-4)
    leaf = np.sqrt(90.0 / (leaves.sum() / 4) / LEAF_AREA)
    assert shape.bounds[1, 2] == pytest.approx(9.0, abs=leaf)
    assert np.hypot(*shape.vertices[:, :2].T).max() == pytest.approx(3.0, abs=leaf)
    assert shape.bounds[0, 2] == pytest.approx(-0.03 * 9, rel=0.2)
    assert (shape.areas > 0).all()


def test_tree_has_a_bare_trunk_below_a_crown():
    shape = tree(height=12.0, crown_radius=4.5, triangles=60_000)
    middle = shape.vertices[shape.triangles].mean(1)
    leaves, trunk = of_label(shape, "leaf"), of_label(shape, "trunk")
    assert trunk.any() and of_label(shape, "branch").any()
    assert (middle[leaves, 2] > 1.0).all()
    assert np.hypot(*middle[trunk, :2].T).max() < 2.25  # half the crown
    # Leaves stand on all sides of the trunk and mostly in the outer half of the crown.
    turn = np.arctan2(middle[leaves, 1], middle[leaves, 0])
    share = np.histogram(turn, bins=6, range=(-np.pi, np.pi))[0] / leaves.sum()
    assert share.min() > 0.08
    assert (np.hypot(*middle[leaves, :2].T) > 1.2).mean() > 0.6


def test_trunks_wander_little():
    away = []
    for seed in range(8):
        shape = tree(height=12.0, crown_radius=4.5, triangles=5_000, seed=seed)
        trunk = shape.vertices[shape.triangles[of_label(shape, "trunk")]]
        away.append(np.hypot(trunk[..., 0], trunk[..., 1]).max())
    assert np.median(away) < 1.0 and max(away) < 2.25


@pytest.mark.parametrize("make", [grass_tile, lambda seed: tree(triangles=6_000, seed=seed)])
def test_same_seed_same_plant(make):
    first, again, other = make(seed=4), make(seed=4), make(seed=5)
    np.testing.assert_array_equal(first.vertices, again.vertices)
    np.testing.assert_array_equal(first.triangles, again.triangles)
    assert not np.array_equal(first.vertices, other.vertices)


def test_leaf_area_is_exact():
    rng = np.random.default_rng(0)
    axes = rng.standard_normal((50, 3))
    axes /= np.linalg.norm(axes, axis=1, keepdims=True)
    lengths = rng.uniform(0.02, 0.2, 50)
    vertices, triangles = leaf_shapes(rng.uniform(size=(50, 3)), axes, rng.standard_normal((50, 3)), lengths)
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1).reshape(50, 4).sum(1) / 2
    np.testing.assert_allclose(areas, LEAF_AREA * lengths**2, rtol=1e-9)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: grass_tile(blades=0), "grass blades: must be at least 1, got 0"),
        (lambda: grass_tile(blades=1.5), "must be a whole number"),
        (lambda: grass_tile(height=-1), "grass height: must be above 0, got -1"),
        (lambda: grass_tile(lean=2), "grass lean"),
        (lambda: grass_tile(dead=1.5), "grass dead: must be at least 0 and at most 1, got 1.5"),
        (lambda: tree(triangles=100), "tree triangles: must be at least 5000"),
        (lambda: tree(height=float("nan")), "tree height"),
        (lambda: tree(height=10, crown_base=9.5), "tree crown_base"),
        (lambda: tree(seed=-1), "tree seed"),
    ],
)
def test_plants_that_cannot_grow(make, said):
    with pytest.raises(InputError, match=said):
        make()
