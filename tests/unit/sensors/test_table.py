from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.patterns.table import TablePattern

HEADING = "azimuth_deg,elevation_deg,time_s\n"


def write(folder: Path, text: str) -> Path:
    path = folder / "pattern.csv"
    path.write_text(text)
    return path


def test_pulses_are_the_rows(tmp_path: Path) -> None:
    path = write(tmp_path, "laser,time_s,azimuth_deg,elevation_deg\n3,0.0,90,0\n0,0.5,0,30\n1,0.5,-90,-30\n")
    pattern = TablePattern(file=path)
    pulses = pattern.pulses(7)
    half = np.sqrt(3) / 2
    np.testing.assert_allclose(pulses.directions, [[0, 1, 0], [half, 0, 0.5], [0, -half, -0.5]], atol=1e-7)
    assert pulses.lasers.tolist() == [3, 0, 1]
    assert pattern.lasers == 4
    np.testing.assert_array_equal(pulses.offsets, [0.0, 0.5, 0.5])
    assert pattern.frame_period == pytest.approx(0.75)
    assert TablePattern(file=path, frame_period_s=2.0).frame_period == 2.0


def test_laser_may_be_left_out_and_a_changed_file_is_read_anew(tmp_path: Path) -> None:
    path = write(tmp_path, HEADING + "0,0,0\n1,0,0.1\n")
    pattern = TablePattern(file=path)
    assert pattern.pulses(0).lasers.tolist() == [0, 0]
    write(tmp_path, HEADING + "0,0,0\n1,0,0.1\n2,0,0.2\n")
    assert len(pattern.pulses(0)) == 3


def test_a_sensor_file_names_its_table_relative_to_itself(tmp_path: Path) -> None:
    write(tmp_path, HEADING + "0,0,0\n1,0,0.1\n")
    sensor = tmp_path / "mine.toml"
    sensor.write_text('base = "hdl-32e"\n[pattern]\nkind = "table"\nfile = "pattern.csv"\n')
    mine = load_sensor(sensor)
    assert len(mine.pulses(0)) == 2
    assert mine.beam == load_sensor("hdl-32e").beam


def test_what_is_told_is_what_the_table_holds_and_not_where_it_lies(tmp_path: Path) -> None:
    told = []
    for folder, text in (("a", "0,0,0\n1,0,0.1\n"), ("b", "0,0,0\n1,0,0.1\n"), ("c", "0,0,0\n2,0,0.1\n")):
        (tmp_path / folder).mkdir()
        told.append(TablePattern(file=write(tmp_path / folder, HEADING + text)).told())
    assert told[0] == told[1] != told[2]
    assert told[0]["file"] == "pattern.csv"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "cannot be read"),
        (HEADING, "holds no pulses"),
        ("azimuth_deg,time_s\n0,0\n", "column elevation_deg is missing"),
        ("azimuth_deg,elevation_deg,time_s,colour\n0,0,0,1\n", "unknown column 'colour'"),
        (HEADING + "0,0,0\n0,,1\n", "line 3: elevation_deg: must be a number in every row"),
        (HEADING + "0,0,0\n0,1\n", "cannot be read"),
        (HEADING + "0,0,0\nnan,0,1\n", "line 3: azimuth_deg: must be a number"),
        (HEADING + "0,0,0\ninf,0,1\n", "line 3: azimuth_deg: must be a number"),
        (HEADING + "0,0,0\nleft,0,1\n", "cannot be read"),
        (HEADING + "0,0,0.2\n0,0,0.1\n", "line 3: time_s: must not decrease"),
        (HEADING + "0,0,-1\n", "line 2: time_s: must not be negative"),
        (HEADING + "0,91,0\n", "line 2: elevation_deg: must lie within -90 and 90"),
        ("azimuth_deg,elevation_deg,time_s,laser\n0,0,0,1.5\n", "line 2: laser: must be a whole number"),
        ("azimuth_deg,elevation_deg,time_s,laser\n0,0,0,70000\n", "line 2: laser: must be a whole number"),
        (HEADING + "0,0,0\n1,0,0\n", "frame_period_s is needed"),
    ],
)
def test_mistakes_in_the_table_are_one_line(tmp_path: Path, text: str, message: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(InputError) as error:
        TablePattern(file=path)
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_a_missing_table_and_a_frame_that_is_too_short(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        TablePattern(file=tmp_path / "gone.csv")
    with pytest.raises(InputError, match=r"before the last pulse, at 0\.5 s"):
        TablePattern(file=write(tmp_path, HEADING + "0,0,0.5\n"), frame_period_s=0.1)


def test_frames_are_cut_out_of_a_long_table(tmp_path: Path) -> None:
    """Whatever the cut, the frames one behind the other are the table over and over."""
    rng = np.random.default_rng(4)
    times = np.sort(rng.uniform(0, 0.999, 700)).round(6)
    rows = "\n".join(f"{time},{number % 360},{number % 90}" for number, time in enumerate(times))
    path = tmp_path / "long.csv"
    path.write_text("Time/s,Azimuth/deg,Zenith/deg\n" + rows + "\n")
    pattern = TablePattern(file=path, frame_period_s=1.0, cut_every_s=0.07)
    assert pattern.frame_period == 0.07
    seen = [pattern.pulses(frame) for frame in range(100)]
    stamps = np.concatenate([frame * 0.07 + pulses.offsets for frame, pulses in enumerate(seen)])
    np.testing.assert_allclose(stamps, np.concatenate([turn + times for turn in range(7)]), atol=2e-9)
    assert all((pulses.offsets >= 0).all() and (pulses.offsets < 0.07).all() for pulses in seen)
    elevation = np.rad2deg(np.concatenate([pulses.elevations for pulses in seen]))
    np.testing.assert_allclose(elevation, np.tile(90 - np.arange(700) % 90, 7), atol=1e-4)
    with pytest.raises(InputError, match="cut_every_s must be longer than the longest pause"):
        TablePattern(file=path, frame_period_s=1.0, cut_every_s=0.0001)
