"""The ready scenes have the sizes that they are known for."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.ground.relief import Relief
from tussock.scene.placements import Placements
from tussock.scene.primitives import box
from tussock.scenes.courtyard import grass_on, trees_on
from tussock.scenes.forest_trail import trail_line
from tussock.scenes.grown_stand import Age, by_age
from tussock.scenes.ready import ready_scene, scene_names
from tussock.scenes.root import root


def test_full_courtyard_is_that_of_the_paper():
    scene = ready_scene("courtyard")
    assert scene.triangles >= 191_245_324
    tiles, blades = len(scene["grass"].placements), 22
    assert len(scene["grass"].mesh.triangles) % blades == 0
    assert 1_900_000 <= tiles * blades < 2_000_000
    assert len(scene["trees"].placements) == 50
    np.testing.assert_allclose(scene["ground"].mesh.bounds[:, :2], [[-150, -150], [150, 150]])
    assert scene["wall"].mesh.bounds[1, 2] == 10.0
    # What is kept in memory is small: that is what sharing shapes is for.
    assert sum(len(thing.mesh.triangles) for thing in scene.objects) < 2_000_000


def test_yard_is_small_and_stands_on_its_ground():
    scene = ready_scene("yard", seed=2)
    assert sum(len(thing.mesh.triangles) for thing in scene.objects) < 100_000
    assert scene["trees"].label == "tree"
    assert "vegetation" in scene["grass"].tags
    labels = {m.label for thing in scene.objects for m in thing.mesh.materials}
    assert {"grass", "leaf", "trunk", "branch", "terrain"} <= labels


def test_tiles_follow_the_ground_and_lie_edge_to_edge():
    relief = Relief(height=0.25, wavelength=45, seed=1)
    matrices = grass_on(relief, 20, seed=0).matrices
    corners = np.array([[x, y, 0.0] for x in (-0.5, 0.5) for y in (-0.5, 0.5)])
    world = np.einsum("nij,kj->nki", matrices[:, :, :3], corners) + matrices[:, None, :, 3]
    np.testing.assert_allclose(world[..., 2], relief(world[..., 0], world[..., 1]), atol=0.01)
    low = np.round(world[..., :2].min(1)).astype(int)
    assert len(np.unique(low, axis=0)) == 400
    np.testing.assert_allclose(np.ptp(world[..., :2], axis=1), 1.0, atol=1e-12)
    turns = np.unique(np.round(matrices[:, :2, 0]), axis=0)
    assert len(turns) == 4


def test_trees_keep_their_distance():
    places = trees_on(Relief(), 300, 50, seed=3).matrices[:, :2, 3]
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + 99 * np.eye(50)
    assert apart.min() > 6
    assert np.abs(places).max() < 144
    assert np.linalg.norm(places, axis=1).min() > 6


def test_meadow_is_the_benchmark():
    scene = ready_scene("meadow")
    assert len(scene["terrain"].mesh.triangles) == 200 * 200 * 2
    assert len(scene["grass"].mesh.triangles) == 150_000 * 2
    assert scene.placement_count == 2
    np.testing.assert_array_equal(scene["grass"].placements.matrices[0], np.eye(4)[:3])
    grass, ground = scene["grass"].mesh, scene["terrain"].mesh
    np.testing.assert_allclose(ground.bounds[:, :2], [[-50, -50], [50, 50]])
    assert grass.bounds[1, 2] > ground.bounds[1, 2]


def test_same_seed_same_scene():
    first, again, other = (ready_scene("yard", seed=s) for s in (1, 1, 2))
    for a, b in zip(first.objects, again.objects, strict=True):
        np.testing.assert_array_equal(a.mesh.vertices, b.mesh.vertices)
        np.testing.assert_array_equal(a.placements.matrices, b.placements.matrices)
    assert not np.array_equal(first["trees"].placements.matrices, other["trees"].placements.matrices)


def test_unknown_names_and_options():
    assert set(scene_names()) >= {"courtyard", "meadow", "yard"}
    with pytest.raises(InputError, match="did you mean 'meadow'"):
        ready_scene("medow")
    with pytest.raises(InputError, match="unknown option 'sed'; did you mean 'seed'"):
        ready_scene("yard", sed=1)


def test_full_root_scene_is_that_of_the_paper():
    # The root mesh itself takes seconds and gigabytes (`benchmarks/root_scene.py`); what stands around it does not.
    around = ready_scene("root", root_triangles=100_000)
    assert len(around["grass"].placements) + len(around["trees"].placements) >= 24_564
    assert around.triangles - len(around["root"].mesh.triangles) + 22_000_000 >= 604_488_350
    assert sum(len(thing.mesh.triangles) for thing in around.objects) < 1_000_000
    default = inspect.signature(root).parameters["root_triangles"].default
    assert default >= 22_000_000


def test_rods_stems_and_shrub_are_where_the_papers_have_them():
    stand = ready_scene("rods", background=2.0)
    thin = next(thing for thing in stand.objects if len(thing.placements) == 8)
    places = np.sort(thin.placements.matrices[:, 1, 3])
    np.testing.assert_allclose(thin.placements.matrices[:, 0, 3], 0.8)
    np.testing.assert_allclose(np.delete(np.diff(places), 3), 0.127)
    field = ready_scene("stems", density=50, width=10, depth=5)
    low, high = next(t for t in field.objects if t.label != "terrain").mesh.bounds
    assert high[2] - low[2] == pytest.approx(4.0, abs=0.02)
    plant = ready_scene("shrub", distance=8.0)["shrub"]
    assert plant.placements.matrices[0, 0, 3] == 8.0
    assert "vegetation" in plant.tags


def test_cars_move_at_the_crossing_and_never_touch():
    scene = ready_scene("crossing")
    cars = [thing for thing in scene.objects if thing.label == "car"]
    assert len(cars) == 4
    times = np.linspace(0, 12, 241)
    places = np.array([thing.motion.at(times)[0] for thing in cars])
    assert (np.linalg.norm(places[:, -1] - places[:, 0], axis=1) > 1).all()
    apart = [np.linalg.norm(places[i] - places[j], axis=1).min() for i in range(4) for j in range(i)]
    assert min(apart) > 2.0  # a car is 1.8 m wide


def test_trail_is_free_of_trunks():
    scene = ready_scene("forest-trail", side=40, triangles=20_000)
    line = trail_line(40)
    tall = [thing for thing in scene.objects if thing.name.startswith(("spruces", "beeches"))]
    trunks = np.concatenate([thing.placements.matrices[:, :2, 3] for thing in tall])
    away = np.linalg.norm(trunks[:, None] - np.asarray(line)[None, :, :2], axis=2).min(1)
    assert len(trunks) > 20
    assert away.min() > 1.0


@pytest.mark.parametrize(("species", "ages"), [("spruces", 3), ("beeches", 3), ("saplings", 2), ("shrubs", 2)])
def test_a_species_has_ages_and_no_two_shapes_alike(species, ages):
    scene = ready_scene("forest-trail", side=60, triangles=20_000)
    things = [thing for thing in scene.objects if thing.name.startswith(species)]
    shapes = {thing.name: thing.mesh for thing in things}
    assert len({name.split("-")[1] for name in shapes}) == ages and len(shapes) == 2 * ages
    assert len({mesh.vertices.tobytes() for mesh in shapes.values()}) == 2 * ages
    heights = {name: float(np.ptp(mesh.bounds[:, 2])) for name, mesh in shapes.items()}
    stretch = np.concatenate([np.linalg.norm(thing.placements.matrices[:, :, 2], axis=1) for thing in things])
    least = 0.6 if species in ("saplings", "shrubs") else 0.85
    assert least < stretch.min() and stretch.max() < 1.35, "each copy is near to the height that its shape was grown to"
    tallest = [max(high for name, high in heights.items() if f"-{age}-" in name) for age in _ages_of(shapes)]
    assert tallest == sorted(tallest)


def _ages_of(shapes) -> list[str]:
    """From the youngest on, as the scene has them."""
    return list(dict.fromkeys(name.split("-")[1] for name in shapes))


def test_a_copy_keeps_its_place_and_its_height_whatever_its_age():
    rng = np.random.default_rng(5)
    places = Placements.of(rng.uniform(-9, 9, (400, 3)), yaw=rng.uniform(0, 6, 400), scale=rng.uniform(0.5, 1.5, 400))
    ages = {"young": Age(4.0, lambda _: box((1.0, 1.0, 4.0))), "old": Age(10.0, lambda _: box((1.0, 1.0, 10.0)), 3)}
    found = list(by_age(places, ages, height=8.0, seed=3))
    assert [name for name, _, _ in found] == ["young-1", "young-2", "old-1", "old-2", "old-3"]
    tall = np.concatenate(
        [np.linalg.norm(some.matrices[:, :, 2], axis=1) * np.ptp(mesh.bounds[:, 2]) for _, mesh, some in found]
    )
    where = np.concatenate([some.matrices[:, :, 3] for _, _, some in found])
    order, wanted = np.lexsort(where.T), np.lexsort(places.matrices[:, :, 3].T)
    np.testing.assert_array_equal(where[order], places.matrices[wanted, :, 3])
    np.testing.assert_allclose(tall[order], 8.0 * np.linalg.norm(places.matrices[wanted, :, 2], axis=1))
    for name, mesh, some in found:
        own = np.linalg.norm(some.matrices[:, :, 2], axis=1) * np.ptp(mesh.bounds[:, 2])
        assert ((own < np.sqrt(40.0)) == name.startswith("young")).all(), "the nearest age by ratio"
