"""Shrubs, conifers, reeds and roots: counts, sizes and areas as asked for; same seed, same plant."""

from __future__ import annotations

from inspect import signature

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.plants.conifer import conifer
from tussock.plants.reeds import reeds
from tussock.plants.root_system import MOST, root_system
from tussock.plants.shape_cache import kept
from tussock.plants.shrub import shrub
from tussock.scenes.root import root


def area_of(mesh, label):
    chosen = [i for i, material in enumerate(mesh.materials) if material.label == label]
    return mesh.areas[np.isin(mesh.material_of_triangles, chosen)].sum()


@pytest.mark.parametrize("triangles", [4_000, 20_000, 90_000])
def test_shrub_has_its_triangles_size_and_leaf_area(triangles):
    shape = shrub(height=2.0, radius=1.2, leaf_area=12.0, triangles=triangles, seed=2)
    assert triangles - 3 <= len(shape.triangles) <= triangles
    assert area_of(shape, "leaf") == pytest.approx(12.0, rel=1e-4)
    assert shape.bounds[1, 2] == pytest.approx(2.0, rel=0.12)
    assert np.hypot(*shape.vertices[:, :2].T).max() == pytest.approx(1.2, rel=0.15)
    assert {m.label for m in shape.materials} == {"stem", "branch", "leaf"}


@pytest.mark.parametrize("triangles", [8_000, 60_000])
def test_conifer_has_its_triangles_size_and_needle_area(triangles):
    shape = conifer(height=15.0, crown_radius=2.5, leaf_area=80.0, triangles=triangles, seed=1)
    assert triangles - 1 <= len(shape.triangles) <= triangles
    assert area_of(shape, "leaf") == pytest.approx(80.0, rel=1e-4)
    assert shape.bounds[1, 2] == pytest.approx(15.0, rel=0.05)
    assert np.hypot(*shape.vertices[:, :2].T).max() == pytest.approx(2.5, rel=0.15)
    # A cone: narrow above, wide below.
    middle = shape.vertices[shape.triangles].mean(1)
    reach = np.hypot(*middle[:, :2].T)
    assert reach[middle[:, 2] > 11].max() < 0.6 * reach[middle[:, 2] < 6].max()


def test_reeds_are_as_many_and_as_thick_as_asked_for():
    bed = reeds(size=(4.0, 3.0), density=37.5, diameter=0.02, height=1.2, sides=24, leaves=0, plumes=0, seed=5)
    each = bed.vertices.reshape(450, 2, 24, 3)
    np.testing.assert_allclose(each[:, 1, :, 2], 1.2, atol=1e-6)
    feet = each[:, 0].mean(1)
    assert (np.abs(feet[:, 0]) <= 2.0).all() and (np.abs(feet[:, 1]) <= 1.5).all()
    # The mean width over all directions is the perimeter over π (Cauchy).
    ring = each[:, 0]
    perimeter = np.linalg.norm(ring - np.roll(ring, 1, axis=1), axis=2).sum(1)
    np.testing.assert_allclose(perimeter / np.pi, 0.02, rtol=1e-3)
    flat = each[:, 1].mean(1)[:, :2]
    np.testing.assert_allclose(flat, feet[:, :2], atol=1e-6)


def test_reeds_with_leaves_are_the_same_stems_with_leaves():
    bare, leafy = (reeds(density=50, height=1.5, sides=6, leaves=count, plumes=0, seed=3) for count in (0, 4))
    stems = len(bare.vertices)
    np.testing.assert_array_equal(leafy.vertices[:stems], bare.vertices)
    assert len(leafy.triangles) - len(bare.triangles) == 200 * 4 * 7  # 200 stems, 4 blades of 4 segments with a point
    assert [material.label for material in leafy.materials] == ["stem", "grass", "grass"]
    # They start on a stem, not below a quarter of its height, and none hangs into the ground.
    blades = leafy.vertices[stems:]
    assert blades[:, 2].min() > 0.05 and blades[:, 2].max() < 1.8
    spread = np.linalg.norm(blades[:, None, :2] - bare.vertices[None, ::12, :2], axis=2).min(1)
    assert 0.05 < spread.max() < 1.0
    with pytest.raises(InputError, match="reeds leaves"):
        reeds(leaves=-1)


def test_plumes_hang_from_the_tips_of_their_share_of_the_stems():
    bare, plumed = (reeds(density=50, height=1.5, sides=6, leaves=0, plumes=share, seed=3) for share in (0, 0.5))
    stems = len(bare.vertices)
    np.testing.assert_array_equal(plumed.vertices[:stems], bare.vertices)
    assert plumed.materials[1].name == "plume"
    tufts = plumed.vertices[stems:]
    assert tufts[:, 2].min() > 1.0 and 1.5 < tufts[:, 2].max() < 1.7
    # Each branch is nearer to one of the chosen stems than it is long, and every chosen stem has some.
    stem = bare.vertices.reshape(200, 12, 3).mean(1)[:, :2]
    away = np.linalg.norm(tufts[:, None, :2] - stem[None], axis=2)
    assert away[:, :100].min(1).max() < 0.3
    assert away[:, :100].min(0).max() < 0.02
    grown = reeds(density=50, height=1.5, sides=6)
    assert [material.name for material in grown.materials] == ["reed", "grass", "dry-grass", "plume"]
    for wrong in (-0.1, 1.1):
        with pytest.raises(InputError, match="reeds plumes"):
            reeds(plumes=wrong)


def test_reeds_lean_and_differ_in_height():
    bed = reeds(density=100, lean=0.2, variation=0.3, height=1.0, sides=8, leaves=0, plumes=0, seed=1)
    each = bed.vertices.reshape(400, 2, 8, 3)
    tops, feet = each[:, 1].mean(1), each[:, 0].mean(1)
    angle = np.arctan2(np.hypot(*(tops - feet)[:, :2].T), (tops - feet)[:, 2])
    assert angle.mean() == pytest.approx(0.2, rel=0.1)
    assert 0.69 < tops[:, 2].min() < 0.75 and 1.25 < tops[:, 2].max() < 1.31


@pytest.mark.parametrize("triangles", [100_000, 250_000])
def test_roots_have_their_triangles_and_reach(triangles):
    shape = root_system(radius=5.0, triangles=triangles, seed=3)
    assert triangles <= len(shape.triangles) <= 1.1 * triangles
    assert 3.0 < np.hypot(*shape.vertices[:, :2].T).max() < 6.0
    assert shape.bounds[1, 2] < 1.2
    assert shape.materials[0].label == "root"
    assert (shape.areas > 0).mean() > 0.999


@pytest.mark.parametrize(
    "make",
    [
        lambda seed: shrub(triangles=5_000, seed=seed),
        lambda seed: conifer(triangles=8_000, seed=seed),
        lambda seed: reeds(seed=seed),
        lambda seed: root_system(triangles=100_000, seed=seed),
    ],
)
def test_same_seed_same_plant(make):
    first, again, other = make(4), make(4), make(5)
    np.testing.assert_array_equal(first.vertices, again.vertices)
    np.testing.assert_array_equal(first.triangles, again.triangles)
    assert not np.array_equal(first.vertices, other.vertices)


def test_kept_shapes_come_back_bit_for_bit_and_damage_is_made_good(tmp_path, monkeypatch):
    monkeypatch.setenv("TUSSOCK_CACHE", str(tmp_path / "cache"))
    first = kept(root_system, triangles=100_000, seed=1)
    (file,) = (tmp_path / "cache").iterdir()
    again = kept(root_system, triangles=100_000, seed=1)
    np.testing.assert_array_equal(first.vertices, again.vertices)
    np.testing.assert_array_equal(first.triangles, again.triangles)
    assert first.materials == again.materials
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    np.testing.assert_array_equal(kept(root_system, triangles=100_000, seed=1).vertices, first.vertices)
    middle = len(whole) // 2
    file.write_bytes(whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :])
    np.testing.assert_array_equal(kept(root_system, triangles=100_000, seed=1).vertices, first.vertices)
    assert len(list((tmp_path / "cache").iterdir())) == 1
    kept(root_system, triangles=100_000, seed=2)
    assert len(list((tmp_path / "cache").iterdir())) == 2


def test_the_root_of_the_paper_may_grow():
    """Its 22 million triangles are more than a shape has by default; growing it takes a minute, so it is not grown."""
    for maker, parameter in ((root_system, "triangles"), (root, "root_triangles")):
        assert signature(maker).parameters[parameter].default <= MOST


def test_a_closed_cache_only_costs_time(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("TUSSOCK_CACHE", str(tmp_path / "file"))
    assert len(kept(root_system, triangles=100_000).triangles) >= 100_000


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: shrub(stems=0), "shrub stems: must be at least 1"),
        (lambda: shrub(triangles=500), "shrub triangles"),
        (lambda: conifer(crown_base=14.0, height=15.0), "conifer crown_base"),
        (lambda: conifer(leaf_area=-1), "conifer leaf_area: must be above 0"),
        (lambda: reeds(density=-3), "reeds density: must be above 0, got -3"),
        (lambda: reeds(density=0.01), "must give at least one stem"),
        (lambda: reeds(size=(1, 2, 3)), "reeds size: must be two numbers"),
        (lambda: root_system(triangles=5), "root triangles"),
        (lambda: root_system(triangles=MOST + 1), f"root triangles: must be at most {MOST}, got"),
    ],
)
def test_plants_that_cannot_grow(make, said):
    with pytest.raises(InputError, match=said):
        make()


def test_leaves_and_plumes_of_reeds_are_no_longer_than_leaves_and_plumes_are():
    bed = reeds(size=(3.0, 3.0), density=60, height=2.0, sides=4, seed=9)
    names = [material.name for material in bed.materials]
    for name, longest in (("grass", 0.34 * 2.02), ("dry-grass", 0.34 * 2.02), ("plume", 0.12 * 2.02)):
        mine = bed.triangles[bed.material_of_triangles == names.index(name)]
        each = 6 if name == "plume" else 7  # three segments with a blunt tip, four that end in a point
        corners = bed.vertices[mine].reshape(-1, each * 3, 3)
        reach = np.linalg.norm(corners - corners[:, :1], axis=2).max(1)
        assert reach.max() < longest + 0.03
