"""Wind as people say it: in a line, in Python, in a scene file; and what is refused."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from typer.testing import CliRunner

from tussock.cli.app import app
from tussock.errors import InputError
from tussock.plants.grass import grass_tile
from tussock.scene.placements import Placements
from tussock.scene.primitives import box
from tussock.scene.scene import Scene
from tussock.scene.stems import Stem
from tussock.scene.wind import Wind, wind_of
from tussock.scene_files.scene_file import load_scene
from tussock.scene_files.scene_save import save_scene
from tussock.trace.world import World

SCENE = """
name = "tuft"
wind = {{ {wind} }}

[[objects]]
name = "grass"
label = "grass"
grow = {{kind = "grass", blades = 20}}
position_m = [3, 0, 0]
"""


@pytest.mark.parametrize(
    ("text", "wind"),
    [
        ("6 m/s from 240", Wind(speed_m_s=6, from_deg=240)),
        ("6m/s from 240deg gusts 0.5", Wind(speed_m_s=6, from_deg=240, gusts=0.5)),
        ("12.5 m/s", Wind(speed_m_s=12.5)),
        (" 3 m/s gusts 0 ", Wind(speed_m_s=3, gusts=0)),
        ("0 m/s", Wind(speed_m_s=0)),
        ("6 m/s from 240°, gusts 0.5", Wind(speed_m_s=6, from_deg=240, gusts=0.5)),
    ],
)
def test_a_line_says_it(text, wind):
    assert wind_of(text) == wind


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("breezy", "wind: must be a speed in m/s"),
        ("", "wind: must be a speed in m/s"),
        ("6 knots from 240", "wind: must be a speed in m/s"),
        ("six m/s", "wind speed_m_s: must be a number, got 'six'"),
        ("6 m/s from west", "wind from_deg: must be a number, got 'west'"),
        ("-3 m/s", "speed_m_s: should be greater than or equal to 0"),
        ("300 m/s", "speed_m_s: should be less than or equal to 100"),
        ("nan m/s", "speed_m_s: should be a finite number"),
        ("6 m/s from 400", "from_deg: should be less than or equal to 360"),
        ("6 m/s from 240 gusts 3", "gusts: should be less than or equal to 1"),
        ("6 m/s from 240 gusts -0.1", "gusts: should be greater than or equal to 0"),
    ],
)
def test_a_line_that_says_something_else(text, why):
    with pytest.raises(InputError) as caught:
        wind_of(text)
    assert why in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("wind", "why"),
    [
        ("speed_m_s = -1", "wind.speed_m_s: should be greater than or equal to 0"),
        ("speed_ms = 3", "wind.speed_ms: unknown key; did you mean 'speed_m_s'"),
        ("from_deg = 3", "wind.speed_m_s: is required"),
        ("speed_m_s = 3, from_deg = -20", "wind.from_deg: should be greater than or equal to 0"),
        ("speed_m_s = 3, stems = {grass = {frequency_hz = 0, mass_kg_m = 1, drag_width_m = 1}}", "frequency_hz"),
    ],
)
def test_a_file_that_says_something_else(tmp_path, wind, why):
    (tmp_path / "a.toml").write_text(SCENE.format(wind=wind))
    with pytest.raises(InputError) as caught:
        load_scene(tmp_path / "a.toml")
    assert why in str(caught.value)


def test_a_file_holds_it(tmp_path):
    (tmp_path / "a.toml").write_text(SCENE.format(wind="speed_m_s = 6, from_deg = 240, gusts = 0.5"))
    scene = load_scene(tmp_path / "a.toml")
    assert scene.wind == Wind(speed_m_s=6, from_deg=240, gusts=0.5)
    save_scene(scene, tmp_path / "b.toml")
    assert load_scene(tmp_path / "b.toml").wind == scene.wind
    for name in ("c.glb", "c.usda"):
        with pytest.raises(InputError, match="wind: cannot be written as"):
            save_scene(scene, tmp_path / name)


def plants() -> Scene:
    scene = Scene("plants")
    tile = grass_tile(blades=20)
    scene.add(tile, name="grass", label="grass", placements=Placements.of([[3, 0, 0], [4, 0, 0]]))
    scene.add(tile, name="tuft", label="grass", position=(5, 0, 0))
    scene.add(box((1, 1, 1)), name="block", label="building", position=(9, 0, 0.5))
    field = grass_tile(size=30.0, blades=50)
    scene.add(field, name="field", label="grass", position=(0, 0, 0))
    return scene


def test_plants_sway_and_nothing_else():
    scene = plants()
    assert not World(scene).sways
    scene.wind = Wind(speed_m_s=5.0)
    world = World(scene)
    assert sorted(world._swaying) == [0, 1]  # a field in one mesh has no one root to bend about
    scene.wind = Wind(
        speed_m_s=5.0, still=("tuft",), stems={"field": Stem(frequency_hz=1, mass_kg_m=1, drag_width_m=1)}
    )
    assert sorted(World(scene)._swaying) == [0, 3]
    again = pickle.loads(pickle.dumps(World(scene)))
    assert again.wind == scene.wind and again.sways


@pytest.mark.parametrize("key", ["stems", "still"])
def test_names_that_are_not_there(key):
    scene = plants()
    value = ("gras",) if key == "still" else {"gras": Stem(frequency_hz=1, mass_kg_m=1, drag_width_m=1)}
    scene.wind = Wind(speed_m_s=5.0, **{key: value})
    with pytest.raises(InputError, match=f"wind.{key}: no object 'gras' stands in the scene; did you mean 'grass'"):
        World(scene)


def test_copies_have_their_own_phases_and_stay_in_their_boxes():
    scene = Scene("many")
    rng = np.random.default_rng(0)
    places = Placements.of(
        rng.uniform(-40, 40, (200, 3)) * [1, 1, 0], yaw=rng.uniform(0, 6, 200), scale=rng.uniform(0.5, 2, 200)
    )
    scene.add(grass_tile(blades=10), name="grass", label="grass", placements=places)
    scene.wind = Wind(speed_m_s=15.0, gusts=1.0)
    world = World(scene)
    copies = world._swaying[0]
    assert len(np.unique(copies.plants[:, 6:9].ravel())) > 590
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)])
    box_low, box_high = copies.box.reshape(2, 3)
    for start in rng.uniform(0, 1000, 20):
        tips = world.moving(start, start + 0.1).tables.sway.tips
        for k in range(tips.shape[1]):
            local = box_low + corners * (box_high - box_low)
            top = corners[:, 2:] * np.concatenate([tips[:, k, :2], np.zeros((200, 1))], 1)[:, None]
            moved = local + top
            world_points = np.einsum("nij,nkj->nki", places.matrices[:, :, :3], moved) + places.matrices[:, None, :, 3]
            assert (world_points.min(1) >= copies.bounds[:, :3]).all()
            assert (world_points.max(1) <= copies.bounds[:, 4:7]).all()
    assert np.abs(tips[:, :, 2] - 1).max() > 0.02


def test_the_command_takes_it(tmp_path):
    (tmp_path / "a.toml").write_text(SCENE.format(wind="speed_m_s = 0"))

    def said(*words: str) -> dict[str, object]:
        out = str(tmp_path / f"{len(list(tmp_path.iterdir()))}.npz")
        got = CliRunner().invoke(
            app,
            [
                "scan",
                str(tmp_path / "a.toml"),
                "--sensor",
                "vlp-16",
                "--pose",
                "0,0,0.2",
                "--out",
                out,
                *words,
                "--json",
            ],
        )
        assert got.exit_code == 0, got.output
        return dict(np.load(json.loads(got.output)["files"][0]))

    calm, windy, stronger = said(), said("--wind", "4 m/s from 270"), said("--wind", "9 m/s from 270 gusts 0.8")
    assert not np.array_equal(calm["range"], windy["range"]) and not np.array_equal(windy["range"], stronger["range"])


@pytest.mark.parametrize("command", ["scan", "render"])
def test_the_command_refuses_it_in_one_line(tmp_path, command):
    (tmp_path / "a.toml").write_text(SCENE.format(wind="speed_m_s = 0"))
    more = ["--sensor", "vlp-16", "--out", "a.npz"] if command == "scan" else ["--out", "a.png"]
    got = CliRunner().invoke(app, [command, str(tmp_path / "a.toml"), *more, "--wind", "-3 m/s"])
    assert isinstance(got.exception, InputError) or got.exit_code == 2
