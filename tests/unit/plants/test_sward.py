"""Mixed grasses with herbs and litter: counted, rooted in their tile, the same for the same seed; and the scene made of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tussock.errors import InputError
from tussock.plants.sward import sward_tile
from tussock.scene_files.scene_file import load_scene
from tussock.scenes.pasture import pasture


@settings(max_examples=25, deadline=None)
@given(
    blades=st.integers(20, 300), herbs=st.integers(0, 20), flowers=st.floats(0, 1), litter=st.floats(0, 2),
    height=st.floats(0.05, 1.0), seed=st.integers(0, 99),
)  # fmt: skip
def test_every_part_is_counted(blades, herbs, flowers, litter, height, seed):
    tile = sward_tile(blades=blades, herbs=herbs, flowers=flowers, litter=litter, height=height, seed=seed)
    name = np.array([material.name for material in tile.materials])[tile.material_of_triangles]
    stalks, broad, blossoms = blades // 20, blades // 3, round(flowers * herbs)
    assert (name == "fine-grass").sum() == 5 * (blades - stalks - broad) + 2 * blossoms
    assert (name == "grass").sum() == 14 * broad
    assert (name == "dry-grass").sum() == 4 * (stalks + round(litter * blades))
    assert (name == "herb").sum() == 4 * 8 * herbs and (name == "flower").sum() == 4 * 6 * blossoms
    assert {material.label for material in tile.materials} == {"grass"}
    low, high = tile.bounds
    assert low[2] >= -0.022 and high[2] <= 2.0 * height + 0.1  # 2 cm, and the keel of a broad blade
    assert (tile.areas > 0).all()


def test_the_same_seed_gives_the_same_tile_and_another_another():
    one, again, other = (sward_tile(blades=40, seed=seed) for seed in (3, 3, 4))
    assert np.array_equal(one.vertices, again.vertices) and not np.array_equal(one.vertices, other.vertices)


@pytest.mark.parametrize("wrong", [{"blades": 3}, {"height": 0.0}, {"flowers": 1.5}, {"litter": -1.0}, {"herbs": -2}])
def test_what_cannot_grow_is_refused(wrong):
    with pytest.raises(InputError, match=f"sward {next(iter(wrong))}"):
        sward_tile(**wrong)


def test_a_scene_file_grows_it(tmp_path):
    (tmp_path / "s.toml").write_text(
        '[[objects]]\nname = "turf"\ngrow = {kind = "sward", blades = 50, herbs = 2, seed = 5}\n'
    )
    mesh = load_scene(tmp_path / "s.toml")["turf"].mesh
    assert np.array_equal(mesh.vertices, sward_tile(blades=50, herbs=2, seed=5).vertices)


def test_the_pasture_is_covered_once_and_nothing_stands_alone_in_its_shape():
    scene = pasture()
    swards = [thing for thing in scene.objects if thing.name.startswith("sward")]
    cells = np.concatenate([np.floor(thing.placements.matrices[:, :2, 3]) for thing in swards])
    assert len(swards) == 5 and len(np.unique(cells, axis=0)) == len(cells) == 80 * 80
    shapes = {thing.label: sum(other.label == thing.label for other in scene.objects) for thing in scene.objects}
    assert shapes["tree"] == shapes["shrub"] == 3
    kept = sum(len(thing.mesh.triangles) for thing in scene.objects)
    drawn = sum(len(thing.mesh.triangles) * len(thing.placements) for thing in scene.objects)
    assert kept < 600_000 and drawn > 30_000_000
    middle = [
        np.hypot(*thing.placements.matrices[:, :2, 3].T).min() for thing in scene.objects if thing.label == "tree"
    ]
    assert min(middle) > 6.0
