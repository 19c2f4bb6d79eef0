"""Weather as people write it: files, words, and one line for each mistake."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

import tussock
from tussock.air.kinds import AIR_LABELS
from tussock.air.weather import Weather, parse_weather
from tussock.cli.app import app
from tussock.errors import InputError
from tussock.scene.label_map import label_map_names, load_label_map

SCENE = """
name = "wall"
{weather}
[[objects]]
name = "wall"
box = {{size_m = [0.2, 10, 4]}}
position_m = [20, 0, 0]
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("rain 10 mm/h", Weather(rain_mm_h=10)),
        ("Snow 2 mm/h, fog 80 m", Weather(snow_mm_h=2, fog={"visibility_m": 80})),
        ("fog 50", Weather(fog={"visibility_m": 50})),
        ("dust 0.1 g/m³", Weather(dust_g_m3=0.1)),
        ("rain 3 mm / h,fog 1.5km", Weather(rain_mm_h=3, fog={"visibility_m": 1500})),
        ("dry", None),
    ],
)
def test_words(text: str, expected: Weather | None) -> None:
    assert parse_weather(text) == expected


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("hail 3 mm/h", "no such weather"),
        ("rain", "must be like 'rain 10 mm/h'"),
        ("rain ten mm/h", "must be like 'rain 10 mm/h'"),
        ("rain 10 m", "must be like 'rain 10 mm/h'"),
        ("rain 10 km", "must be like 'rain 10 mm/h'"),
        ("dry, rain 5 mm/h", "dry must stand alone"),
        ("rain -3 mm/h", "rain_mm_h"),
        ("rain 5000 mm/h", "rain_mm_h"),
        ("fog 0 m", "visibility_m"),
        ("rain 3 mm/h, rain 4 mm/h", "each once"),
        ("", "no such weather"),
        ("snow nan mm/h", "must be like 'snow 10 mm/h'"),
    ],
)
def test_wrong_words(text: str, complaint: str) -> None:
    with pytest.raises(InputError) as found:
        parse_weather(text)
    assert complaint in str(found.value)
    assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"rain_mm_h": -1}, "rain_mm_h"),
        ({"rain_mm": 1}, "did you mean 'rain_mm_h'"),
        ({"fog": {"visibility_m": 0}}, "fog.visibility_m"),
        ({"snow_mm_h": float("inf")}, "snow_mm_h"),
        ({"dust": [{"position_m": [0, 0, 0], "density_g_m3": 1}]}, "exactly one of puff_m and box_m"),
        ({"dust": [{"puff_m": 1, "position_m": [0, 0, 0], "density_g_m3": -1}]}, "density_g_m3"),
        ({"dust_trails": [{}]}, "exactly one of behind and times_s"),
        ({"dust_trails": [{"times_s": [0, 1], "positions_m": [[0, 0, 0]]}]}, "as many positions_m"),
        ({"dust_trails": [{"times_s": [1, 0], "positions_m": [[0, 0, 0], [1, 0, 0]]}]}, "must rise"),
        ({"dust_trails": [{"behind": "x", "every_s": 0.01, "lasts_s": 600}]}, "at most 4096 puffs"),
        ({"changes": [{"time_s": 5}, {"time_s": 4}]}, "must rise"),
        ({"wet": 2}, "wet"),
        ({"showers": [{"radius_m": 100, "position_m": [0, 0]}]}, "needs rain_mm_h or snow_mm_h above 0"),
        ({"showers": [{"rain_mm_h": 5, "radius_m": 0, "position_m": [0, 0]}]}, "radius_m"),
        ({"showers": [{"rain_mm_h": 500, "radius_m": 10, "position_m": [0, 0]}]}, "rain_mm_h"),
    ],
)
def test_wrong_settings(given: dict, complaint: str) -> None:
    with pytest.raises(InputError) as found:
        Weather.parse(given, "weather")
    assert complaint in str(found.value)
    assert "\n" not in str(found.value)


def test_the_overlap_of_a_receiver_rises() -> None:
    with pytest.raises(InputError, match="overlap_m"):
        tussock.load_sensor("vlp-16").with_(**{"receiver.overlap_m": (2.0, 1.0)})


@pytest.mark.parametrize("least", [-0.1, 1.5])
def test_what_is_seen_near_by_is_a_share(least: float) -> None:
    with pytest.raises(InputError, match="near_reflectivity"):
        tussock.load_sensor("vlp-16").with_(**{"receiver.near_reflectivity": least})


def test_a_shower_is_where_it_is_and_moves() -> None:
    shower = tussock.Shower(rain_mm_h=30, radius_m=100, position_m=(300, 0), velocity_m_s=(-10, 0))
    weather = Weather(rain_mm_h=1, showers=(shower,))

    def rate(time: float, place: tuple[float, float, float]) -> float:
        return (weather.at(time, place=place).particles[0].slope / 4.1) ** (-1 / 0.21)

    assert rate(0, (300, 0, 2)) == pytest.approx(31)
    assert rate(30, (0, 0, 0)) == pytest.approx(31)
    assert rate(0, (300, 100, 2)) == pytest.approx(1 + 30 * np.exp(-0.5))
    assert rate(0, (-700, 0, 2)) == pytest.approx(1)
    free = Weather(showers=(shower.model_copy(update={"velocity_m_s": None}),), wind_m_s=(0, 5, 0))
    assert free.at(20, place=(300, 100, 0)).extinction == pytest.approx(free.at(0, place=(300, 0, 0)).extinction)


def test_sensors_and_cameras_meet_the_shower_that_they_are_in() -> None:
    scene = tussock.Scene()
    scene.add(tussock.box((1, 400, 40)), name="wall", label="wall", position=(60, 0, 0))
    scene.weather = Weather(showers=({"rain_mm_h": 60, "radius_m": 20, "position_m": (0, 150)},), wet=0)
    world, sensor = tussock.World(scene), tussock.load_sensor("vlp-16")
    counts = [
        int((tussock.scan(world, sensor, tussock.Pose.at(0, y, 1)).label == scene.labels["rain"]).sum())
        for y in (0, 150)
    ]
    assert counts[0] == 0 < 100 < counts[1]
    camera = tussock.Camera(width=24, height=16, samples=1)
    shown = [tussock.render(world, camera, tussock.Pose.at(0, y, 1)).light for y in (0, 150)]
    assert not np.allclose(shown[0], shown[1])


def test_clouds_drift_with_the_wind_of_the_scene() -> None:
    """As the air moves 2 m above grassland, ln(2/0.03)/ln(10/0.03) of the speed at 10 m; the weather's own word wins."""
    scene = tussock.Scene()
    scene.add(tussock.box((1, 1, 1)), name="stone")
    puff = tussock.DustCloud(puff_m=1, position_m=(10, 0, 1), density_g_m3=2)
    scene.weather, scene.wind = Weather(dust=(puff,)), tussock.Wind(speed_m_s=6, from_deg=270)
    now = tussock.World(scene).weather_at(3.0)
    assert now is not None
    moved = 3 * 6 * np.log(2 / 0.03) / np.log(10 / 0.03)
    np.testing.assert_allclose(now.clouds[0].centre, [10 + moved, 0, 1], atol=1e-9)
    scene.weather = Weather(dust=(puff,), wind_m_s=(0, 1, 0))
    now = tussock.World(scene).weather_at(3.0)
    assert now is not None
    np.testing.assert_allclose(now.clouds[0].centre, [10, 3, 1], atol=1e-9)


def test_a_trail_needs_something_that_moves() -> None:
    scene = tussock.Scene()
    scene.add(tussock.box((1, 1, 1)), name="stone")
    scene.weather = Weather(dust_trails=({"behind": "stone"},))
    with pytest.raises(InputError, match="nothing of this name moves"):
        tussock.World(scene)


def test_files_and_the_command_line(tmp_path) -> None:
    path = tmp_path / "scene.toml"
    path.write_text(SCENE.format(weather="weather = {rain_mm_h = 10, fog = {visibility_m = 80}}"))
    assert tussock.load_scene(path).weather == Weather(rain_mm_h=10, fog={"visibility_m": 80})
    path.write_text(SCENE.format(weather=""))
    run = CliRunner()
    words = ["scan", str(path), "--sensor", "vlp-16", "--pose", "0,0,0"]
    done = run.invoke(app, [*words, "-o", str(tmp_path / "a.npz"), "--weather", "fog 30 m"])
    assert done.exit_code == 0, done.output
    labels = np.load(tmp_path / "a.npz", allow_pickle=False)["label"]
    assert (labels == tussock.Scene().labels["fog"]).any()
    wrong = run.invoke(app, [*words, "-o", str(tmp_path / "b.npz"), "--weather", "frogs 3"])
    assert isinstance(wrong.exception, InputError)  # status 2, where the program itself runs
    assert not (tmp_path / "b.npz").exists()


def test_every_map_of_labels_knows_the_air() -> None:
    for name in label_map_names():
        table = load_label_map(name)
        assert set(AIR_LABELS) <= set(table.labels), name


def test_another_weather_leaves_the_scene_as_it_was() -> None:
    scene = tussock.Scene()
    scene.add(tussock.box((1, 1, 1)), name="stone")
    other = scene.with_weather(Weather(rain_mm_h=1))
    other.add(tussock.box((1, 1, 1)), name="more")
    assert scene.weather is None
    assert len(scene.objects) == 1
