"""SBET trajectories: map coordinates, headings from grid north, and files that are none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import tussock
from tussock.errors import InputError
from tussock.sbet import utm


def records(**columns: np.ndarray) -> np.ndarray:
    names = ("time", "latitude", "longitude", "height", "vx", "vy", "vz", "roll", "pitch", "heading", "wander")
    rows = np.zeros((len(columns["time"]), 17))
    for name, values in columns.items():
        rows[:, names.index(name)] = values
    return rows


def written(path: Path, rows: np.ndarray) -> Path:
    rows.astype("<f8").tofile(path)
    return path


def flight(**changes: np.ndarray | float) -> np.ndarray:
    time = np.arange(5.0)
    columns = {
        "time": time,
        "latitude": np.radians(48.1) + 1e-6 * time,
        "longitude": np.radians(11.6) + 0 * time,
        "height": 500 + time,
    }
    return records(**columns | changes)


@pytest.mark.parametrize(
    ("latitude", "longitude", "east", "north"),
    [
        # On the middle of a zone the east is 500 km and the north the meridian's arc times 0.9996: WGS 84's quarter is
        # 10,001,965.729 m.
        (0.0, 9.0, 500_000.0, 0.0),
        (89.9999999, 9.0, 500_000.0, 0.9996 * 10_001_965.7293),
        # Karney (2011): k0·A·η at 1° from the middle on the equator, from Krüger's series to the sixth order.
        (0.0, 10.0, 611_280.651, 0.0),
    ],
)
def test_places_on_the_map(latitude: float, longitude: float, east: float, north: float) -> None:
    x, y, _ = utm(np.radians([latitude]), np.radians([longitude]))
    assert x[0] == pytest.approx(east, abs=0.05)
    assert y[0] == pytest.approx(north, abs=0.05)


def test_the_map_keeps_angles_and_scale_and_says_where_grid_north_is() -> None:
    """A step to the north on the ellipsoid is a step on the map of 0.9996 to 1.001 times its length, by the convergence."""
    rng = np.random.default_rng(1)
    latitude, longitude = rng.uniform(-1.3, 1.3, 200), np.radians(9) + rng.uniform(-0.05, 0.05, 200)
    latitude[0] = 0.5
    step = 1e-6
    east, north, turned = utm(latitude, longitude)
    east2, north2, _ = utm(latitude + step, longitude)
    e2 = 0.00669437999014
    radius = 6378137 * (1 - e2) / (1 - e2 * np.sin(latitude) ** 2) ** 1.5
    length = np.hypot(east2 - east, north2 - north) / (radius * step)
    assert length.min() > 0.9995
    assert length.max() < 1.0012
    assert np.abs(np.arctan2(-(east2 - east), north2 - north) - turned).max() < 2e-5
    east3, north3, _ = utm(latitude, longitude + step)
    across = np.arctan2(north3 - north, east3 - east) - np.arctan2(north2 - north, east2 - east)
    assert np.abs(np.remainder(across, 2 * np.pi) - 1.5 * np.pi).max() < 2e-5, "it is conformal"


@pytest.mark.parametrize("suffix", [".sbet", ".out"])
def test_attitude_is_ahead_left_up(tmp_path: Path, suffix: str) -> None:
    on_the_middle = {"longitude": np.radians(9.0)}
    path = written(tmp_path / f"f{suffix}", flight(heading=np.radians(100), wander=np.radians(10), **on_the_middle))
    pose = tussock.Trajectory.load(path).pose(0.0)
    np.testing.assert_allclose(pose.rotation, [[1, 0, 0], [0, 1, 0], [0, 0, 1]], atol=1e-9)  # to the east
    assert pose.position[2] == 500
    nose = written(tmp_path / f"n{suffix}", flight(pitch=np.radians(10), **on_the_middle))
    ahead = tussock.Trajectory.load(nose).pose(0.0).rotation[:, 0]
    np.testing.assert_allclose(ahead, [0, np.cos(np.radians(10)), np.sin(np.radians(10))], atol=1e-9)
    bank = written(tmp_path / f"b{suffix}", flight(roll=np.radians(10), **on_the_middle))
    left = tussock.Trajectory.load(bank).pose(0.0).rotation[:, 1]
    np.testing.assert_allclose(left, [-np.cos(np.radians(10)), 0, np.sin(np.radians(10))], atol=1e-9)  # right wing down


def test_a_step_of_the_path_is_as_long_as_on_the_ground(tmp_path: Path) -> None:
    way = tussock.Trajectory.load(written(tmp_path / "f.sbet", flight()))
    step = np.linalg.norm(np.diff(way.positions[:, :2], axis=0), axis=1)
    np.testing.assert_allclose(step, 6.367, atol=0.02)
    assert way.times.tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.zeros((0, 17)), "no multiple of 136 bytes"),
        (np.zeros(20), "no multiple of 136 bytes"),
        (flight(latitude=np.full(5, 48.1)), "it is not an SBET file"),
        (flight(height=np.full(5, np.nan)), "it is not an SBET file"),
        (flight(heading=np.full(5, 100.0)), "it is not an SBET file"),
        (flight(time=np.zeros(5)), "its times do not rise"),
    ],
)
def test_what_is_no_sbet_file_gets_one_line(tmp_path: Path, rows: np.ndarray, message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        tussock.Trajectory.load(written(tmp_path / "x.sbet", rows))
    assert "\n" not in str(caught.value)
    assert "x.sbet" in str(caught.value)


def test_it_lies_as_pyproj_says() -> None:
    pyproj = pytest.importorskip("pyproj", reason="needs pyproj to compare with: pip install pyproj")
    rng = np.random.default_rng(2)
    latitude, longitude = rng.uniform(-79, 79, 100), rng.uniform(6.01, 11.99, 100)
    latitude[0] = 40
    theirs = pyproj.Transformer.from_crs(4326, 32632, always_xy=True).transform(longitude, latitude)
    east, north, _ = utm(np.radians(latitude), np.radians(longitude))
    np.testing.assert_allclose(np.stack([east, north]), theirs, atol=1e-4)
