"""Worlds: functions of recipe, seed and number; all different, all buildable."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.worlds.biome import biome_named, biome_names
from tussock.worlds.choices import choices_of
from tussock.worlds.figures import figures_of
from tussock.worlds.recipe import Recipe, load_recipe
from tussock.worlds.sampling import Samples
from tussock.worlds.site import build_site
from tussock.worlds.species import Season, shape_of, species_named, species_names


def test_a_world_alone_is_the_world_of_a_batch() -> None:
    code = (
        "from tussock.worlds.site import build_site; from tussock.worlds.recipe import Recipe;"
        "print(build_site(Recipe(), 5, 3).fingerprint)"
    )
    alone = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120)
    batch = [build_site(Recipe(), number, 3).fingerprint for number in range(6)]
    assert alone.stdout.strip() == batch[5]
    assert len(set(batch)) == 6


def test_a_thousand_worlds_are_chosen_differently() -> None:
    recipe = Recipe()
    chosen = [choices_of(recipe, number, 0) for number in range(1000)]
    assert len({str(sorted(one.items())) for one in chosen}) == 1000
    biomes = [one["biome"] for one in chosen]
    # Nine biomes of equal weight: each 111 times, give or take five standard deviations.
    assert all(abs(biomes.count(name) - 1000 / 9) < 5 * np.sqrt(1000 / 9) for name in biome_names())
    assert {one["season"] for one in chosen} == set(Season)


@pytest.mark.parametrize("biome", list(biome_names()))
def test_every_biome_can_be_built_in_every_season_and_has_a_way_through(biome: str) -> None:
    for season in Season:
        recipe = Recipe(biomes={biome: 1}, seasons={season: 1}, side_m=(30, 30), people=(1, 1), vehicles=(1, 1))
        site = build_site(recipe, 1, 5)
        figures = figures_of(site)
        assert 0 <= figures.canopy_cover <= 1
        assert figures.stems_ha >= 0
        assert site.scene.triangles > 10_000
        line = site.route.line
        assert np.abs(line).max() <= 15
        strip = site.route.strip(site.choices["trail_width_m"])
        for stand in site.stands:
            if species_named(stand.species).woody:
                assert not strip.covers(*stand.placements.matrices[:, :2, 3].T).any(), "a tree stands on the route"


def test_a_world_is_scanned_with_its_classes() -> None:
    recipe = Recipe(biomes={"mixed-forest": 1}, trail=1.0, people=(2, 2), side_m=(40, 40), puddles=(3, 3))
    site = build_site(recipe, 0, 1)
    frame = scan(site.scene, load_sensor("vlp-16"), site.stand(), seed=1)
    found = {name for name, number in site.scene.labels.items() if (frame.label == number).any()}
    assert {"terrain", "trail", "trunk"} <= found


def test_water_is_level_and_nothing_grows_in_it() -> None:
    site = build_site(Recipe(biomes={"reed-bank": 1}, side_m=(40, 40), trail=1.0), 0, 0)
    floor = site.scene["ground"].mesh
    water = next(index for index, material in enumerate(floor.materials) if material.name == "water")
    wet = floor.triangles[floor.material_of_triangles == water]
    lake = floor.vertices[wet][..., 2]
    assert (np.ptp(lake, axis=1) < 1e-5).all()


def test_the_edge_of_a_puddle_is_no_staircase() -> None:
    site = build_site(Recipe(biomes={"meadow": 1}, trail=1.0, side_m=(30, 30), puddles=(1, 1)), 3, 1)
    floor = site.scene["ground"].mesh
    water = next(index for index, material in enumerate(floor.materials) if material.name == "water")
    wet = floor.triangles[floor.material_of_triangles == water].astype(np.int64)
    corners = floor.vertices[wet].astype(float)
    assert (np.ptp(corners[..., 2], axis=1) < 1e-5).all()
    a, b, c = (corners[:, k, :2] for k in range(3))
    u, v = b - a, c - a
    area = float(np.abs(u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]).sum() / 2)
    edges = np.sort(np.concatenate([wet[:, [0, 1]], wet[:, [1, 2]], wet[:, [2, 0]]]), axis=1)
    lines, count = np.unique(edges, axis=0, return_counts=True)
    rim = floor.vertices[lines[count == 1]].astype(float)[:, :, :2]
    around = float(np.linalg.norm(rim[:, 0] - rim[:, 1], axis=1).sum())
    # Of a circle 1; along the cells it was 4/π times as long around, however fine the cells.
    assert 0.98 < around / np.sqrt(4 * np.pi * area) < 1.12
    assert 0.4 < np.sqrt(area / np.pi) < 1.5


def test_routes_turn_round_and_stay_on_the_ground() -> None:
    site = build_site(Recipe(side_m=(30, 30)), 2, 2)
    path = site.drive(speed=3.0, height=1.5, seconds=60.0)
    times = np.linspace(0, 60, 400)
    positions, _ = path.at(times)
    over = positions[:, 2] - site.ground(positions[:, 0], positions[:, 1])
    assert np.abs(over - 1.5).max() < 0.35  # straight lines between points 0.4 m apart on uneven ground
    assert np.hypot(*np.diff(positions[:, :2], axis=0).T).max() <= 3.0 * 60 / 399 * 1.001


def test_samples_do_not_depend_on_one_another() -> None:
    samples = Samples(7, 3)
    assert samples.unit("a") != samples.unit("b")
    assert samples.of("x").unit("a") != samples.unit("a")
    many = samples.unit("many", np.arange(100_000))
    assert abs(many.mean() - 0.5) < 0.005
    assert abs(many.var() - 1 / 12) < 0.001
    counts = np.bincount([samples.count("n", (2, 4), i) for i in range(3000)])[2:]
    assert (abs(counts - 1000) < 150).all()


def test_bare_trees_have_no_leaves_and_evergreens_keep_theirs() -> None:
    summer, autumn, bare = (shape_of("beech", 1, 0, season) for season in Season)
    assert len(bare.triangles) < len(autumn.triangles) < len(summer.triangles)
    assert all(bare.materials[i].name != "leaf" for i in np.unique(bare.material_of_triangles))
    assert (
        shape_of("spruce", 1, 0, Season.BARE).triangles.shape == shape_of("spruce", 1, 0, Season.SUMMER).triangles.shape
    )
    assert len(species_names()) >= 12


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("biomes = { medow = 1 }", "did you mean 'meadow'"),
        ("slope_deg = [10, 2]", "the least first"),
        ("side_m = [5, 5]", "at least 20"),
        ("seasons = { winter = 1 }", "unknown 'winter'"),
        ("biomes = { meadow = 0 }", "weight above 0"),
        ("fog_visibility_m = [0, 10]", "at least 5"),
        ("colour = 3", "unknown key"),
        ("people = [0, 1e9]", "people"),
        ("density = [nan, 1]", "density"),
    ],
)
def test_wrong_recipes_are_refused_in_one_line(text: str, says: str, tmp_path: Path) -> None:
    file = tmp_path / "recipe.toml"
    file.write_text(text)
    with pytest.raises(InputError) as caught:
        load_recipe(file)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)


def test_biomes_of_ones_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'biomes = { grove = 1 }\nside_m = [30, 30]\n[own.grove]\nmeaning = "birches"\n'
        "[[own.grove.layers]]\nspecies = { birch = 1 }\ndensity_ha = [400, 400]\nspacing_m = 2\n"
    )
    site = build_site(load_recipe(file), 0, 0)
    assert {stand.species for stand in site.stands} == {"birch"}
    with pytest.raises(InputError, match="did you mean 'scrub'"):
        biome_named("scrubb")
    with pytest.raises(InputError, match="world number"):
        build_site(Recipe(), -1)


def test_the_sampled_weather_is_the_scenes() -> None:
    """In the air of the scene itself, so that LIDARs, cameras and saved files have it alike."""
    for word, key in (("fog", "visibility_m"), ("rain", "rain_mm_h"), ("snow", "snow_mm_h")):
        recipe = Recipe(side_m=(20, 20), biomes={"meadow": 1}, weather={word: 1})
        site = build_site(recipe, 3, 5)
        weather = site.scene.weather
        assert weather is not None
        found = weather.fog.visibility_m if word == "fog" and weather.fog else getattr(weather, key, None)
        assert found == site.choices[key]
        assert "visibility_m" not in site.light
    assert build_site(Recipe(side_m=(20, 20), weather={"clear": 1}), 3, 5).scene.weather is None
