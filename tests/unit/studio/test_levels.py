"""Levels of detail: how many triangles, that area and form are kept, and that near is finer than far."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tussock.plants.grass import grass_tile
from tussock.plants.tree import tree
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.placements import Placements
from tussock.scene.primitives import card, cylinder, ground, sphere
from tussock.scene.scene import Scene
from tussock.scene.surfaces import SURFACES
from tussock.scene.texture import Texture
from tussock.studio.levels import Drawn, display_color, drawn_objects, linear_bytes, turned
from tussock.studio.page.pictured import pictured
from tussock.studio.simpler import simpler


def area(surfaces) -> float:
    return sum(float(Mesh.of(s.vertices, s.triangles).areas.sum()) for s in surfaces)


def count(surfaces) -> int:
    return sum(len(s.triangles) for s in surfaces)


@pytest.fixture(scope="module")
def oak() -> Mesh:
    return tree(height=8, crown_radius=3, triangles=20_000)


@pytest.mark.parametrize("most", [300, 2000, 8000])
def test_a_tree_keeps_its_crown_in_few_triangles(oak, most):
    coarse = simpler(oak, most)
    assert count(coarse) <= 1.05 * most + 8
    points = np.concatenate([s.vertices for s in coarse])
    assert np.abs(points.min(0) - oak.bounds[0]).max() < 1.2 and np.abs(points.max(0) - oak.bounds[1]).max() < 1.2
    assert {s.material for s in coarse} <= set(range(len(oak.materials)))
    leaves = len(oak.materials) - 1
    whole = float(oak.areas[oak.material_of_triangles == leaves].sum())
    # Cards grow at most 6 × 12 times: below that share the area cannot be kept.
    assert area([s for s in coarse if s.material == leaves]) == pytest.approx(whole, rel=0.1)


def test_twigs_do_not_stand_for_leaves():
    """Far trees were brown: twigs had cards as wide as they are around, and of all of their area."""
    fine = tree(height=12, crown_radius=4.5, triangles=300_000, seed=0)
    coarse = simpler(fine, 1500)
    area_of = dict.fromkeys(("bark", "branch", "leaf"), 0.0)
    for surface in coarse:
        area_of[fine.materials[surface.material].name] += area([surface])
    true = {
        material.name: float(fine.areas[fine.material_of_triangles == k].sum())
        for k, material in enumerate(fine.materials)
    }
    assert area_of["leaf"] > 4 * area_of["branch"] * true["leaf"] / (2 * np.pi * true["branch"])
    assert area_of["leaf"] > area_of["branch"] + area_of["bark"]


def test_a_tube_has_a_card_of_its_width_and_a_leaf_one_of_its_area():
    reed = cylinder(0.01, 1.0)
    many = Mesh.joined(
        [Mesh.of(reed.vertices + np.array([k, 0, 0]), reed.triangles, reed.materials) for k in range(20)]
    )
    assert area(simpler(many, 40)) == pytest.approx(20 * 0.02, rel=0.05)
    flat = ground((0.02, 1.0), cells=(1, 4))
    leaves = Mesh.joined(
        [Mesh.of(flat.vertices + np.array([k, 0, 0]), flat.triangles, flat.materials) for k in range(20)]
    )
    assert area(simpler(leaves, 40)) == pytest.approx(20 * 0.02, rel=1e-3)


def test_a_shape_with_room_stays_as_it_is(oak):
    whole = simpler(oak, 10**9)
    assert count(whole) == len(oak.triangles) and area(whole) == pytest.approx(float(oak.areas.sum()), rel=1e-5)


def test_blades_become_cards_of_their_height():
    tile = grass_tile(blades=40, height=0.4, segments=8)
    (cards,) = simpler(tile, 80)
    assert len(cards.triangles) == 80
    assert cards.vertices[:, 2].max() == pytest.approx(float(tile.bounds[1, 2]), abs=0.06)
    (one,) = simpler(tile, 2)
    assert len(one.triangles) == 2


@pytest.mark.parametrize("most", [100, 500])
def test_a_ball_stays_a_ball_and_the_ground_stays_whole(most):
    (ball,) = simpler(sphere(1.0, subdivisions=5), most)
    assert len(ball.triangles) <= most
    assert np.linalg.norm(ball.vertices, axis=1) == pytest.approx(np.ones(len(ball.vertices)), abs=1e-5)
    (floor,) = simpler(ground((30, 30), cells=(30, 30)), most)
    assert area([floor]) == pytest.approx(900, rel=1e-3)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.booleans())
def test_placements_without_shear_are_taken_apart_exactly(seed, mirrored):
    rng = np.random.default_rng(seed)
    turn = Rotation.random(random_state=rng).as_matrix()
    sizes = rng.uniform(0.2, 3, 3) * (1, 1, -1 if mirrored else 1)
    matrix = np.concatenate([turn * sizes, rng.normal(0, 50, (3, 1))], 1)
    got = turned(matrix[None], np.zeros(3))
    back = Rotation.from_quat(np.roll(got.wxyzs[0], -1)).as_matrix() * got.scales[0]
    np.testing.assert_allclose(back, matrix[:, :3], atol=1e-5)
    np.testing.assert_allclose(got.positions[0], matrix[:, 3], atol=1e-4)


def field(copies: int) -> Scene:
    scene = Scene("field")
    scene.add(ground((100, 100), cells=(20, 20)), name="ground", label="terrain")
    rng = np.random.default_rng(0)
    places = np.concatenate([rng.uniform(-50, 50, (copies, 2)), np.zeros((copies, 1))], 1)
    scene.add(grass_tile(blades=30), name="grass", label="grass", placements=Placements.of(places))
    return scene


@pytest.mark.parametrize(("copies", "room"), [(10, 50_000), (500, 50_000), (20_000, 60_000), (20_000, 5_000)])
def test_the_room_is_kept_and_every_plot_is_drawn(copies, room):
    eye = np.zeros(3)
    drawn = {one.thing.name: one for one in drawn_objects(field(copies), room)}
    assert list(drawn) == ["ground", "grass"]
    assert sum(one.triangles(eye) for one in drawn.values()) <= 1.35 * room
    grass = drawn["grass"]
    everywhere = np.concatenate([plot.copies for plot in grass.plots])
    if grass.levels == 2:
        assert sorted(everywhere) == list(range(copies))  # each copy in one plot
        assert any(plot.near(eye) for plot in grass.plots) and not all(plot.near(eye) for plot in grass.plots)
        assert count(grass.near) >= count(grass.far)


def test_shown_gives_placements_of_the_plot_alone():
    grass = next(one for one in drawn_objects(field(5_000), 60_000) if one.thing.name == "grass")
    assert isinstance(grass, Drawn) and grass.levels == 2
    plot = grass.plots[3]
    surfaces, matrices = grass.shown(plot, near=True)
    assert surfaces is grass.near
    assert (matrices[:, :2, 3] >= plot.low).all() and (matrices[:, :2, 3] <= plot.high).all()


def test_a_picture_stays_on_a_shape_that_is_whole_and_counts_as_its_mean_elsewhere():
    pixels = np.zeros((8, 8, 4), np.uint8)
    pixels[:, :4] = (200, 40, 20, 255)  # the right half is not there
    leaf = Material(texture=Texture(pixels))
    shape = card((2.0, 1.0), material=leaf)
    (whole,) = simpler(shape, 100)
    assert whole.uv is not None and whole.uv.shape == (len(whole.vertices), 2)
    assert display_color(leaf) == (200, 40, 20)
    made = pictured(whole, leaf)
    assert made.visual.material.alphaMode == "MASK" and made.visual.material.alphaCutoff == 0.5
    assert np.asarray(made.visual.uv) == pytest.approx(whole.uv)
    assert pictured(whole, Material(texture=Texture(pixels[:, :4]))).visual.material.alphaMode == "OPAQUE"
    (plain,) = simpler(sphere(1.0, subdivisions=1), 1000)
    assert plain.uv is None


def test_colours_of_instances_are_those_of_the_materials():
    # The page takes them as linear; sent as sRGB, trees were pale beside their grass.
    for name in ("leaf", "bark", "grass", "concrete"):
        linear = linear_bytes(np.array(display_color(SURFACES[name]), float))
        np.testing.assert_allclose(linear / 255, SURFACES[name].color, atol=0.004)
    assert linear_bytes(np.array([-3.0, 0.0, 400.0])).tolist() == [0, 0, 255]
