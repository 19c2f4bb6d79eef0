"""``tussock drive`` as people meet it."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

SCENE = """
name = "paddock"
[[objects]]
name = "ground"
label = "terrain"
ground = { size_m = [40, 30] }
[[objects]]
name = "wall"
label = "wall"
box = { size_m = [0.6, 10, 3] }
position_m = [0, 0, 1.5]
"""
RING = "".join(
    f"""
[[objects]]
name = "side{k}"
label = "wall"
box = {{ size_m = [{sx}, {sy}, 3] }}
position_m = [{x}, {y}, 1.5]
"""
    for k, (x, y, sx, sy) in enumerate(((14, 8, 0.5, 8.5), (6, 8, 0.5, 8.5), (10, 12, 8.5, 0.5), (10, 4, 8.5, 0.5)))
)
QUICK = ("--set-sensor", "pattern.cycle_us=221.184", "--no-camera")


@pytest.fixture(autouse=True)
def _scene(tmp_path):
    (tmp_path / "paddock.toml").write_text(SCENE)
    (tmp_path / "ring.toml").write_text(SCENE + RING)


def test_a_drive_leaves_log_metrics_truth_picture_and_film(tussock, tmp_path):
    words = ("drive", "paddock.toml", "--from=-10,0", "--to", "10,0", "--out", "out", *QUICK)
    status, out, _ = tussock(*words)
    assert status == 0
    assert "reached the goal" in out
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert files == ["drive.gif", "drive.mcap", "drive.png", "metrics.json", "truth.csv"]
    document = json.loads((tmp_path / "out" / "metrics.json").read_text())
    assert document["metrics"]["success"] is True
    assert document["metrics"]["collisions"] == 0
    assert document["settings"]["vehicle"]["name"] == "skid-steer"
    assert document["goals"] == [[10.0, 0.0]]
    header = (tmp_path / "out" / "truth.csv").read_text().splitlines()[0].split(",")
    assert header[:5] == ["time_s", "x_m", "y_m", "z_m", "yaw_deg"]
    assert "plant_force_n" in header

    status, _, err = tussock(*words)
    assert status == 2
    assert "exists already" in err
    status, out, _ = tussock(*words, "--force", "--json", "--seconds", "0.3", "--no-film")
    assert status == 1
    assert json.loads(out)["ending"] == "time limit"
    assert not (tmp_path / "out" / "drive.gif").exists(), "nothing of the drive before is left"


def test_no_way_is_said_and_the_log_is_whole(tussock, tmp_path):
    pytest.importorskip("mcap", reason="reading the log needs mcap: pip install 'tussock[ros]'")
    from mcap.reader import make_reader

    words = ("drive", "ring.toml", "--from=-10,8", "--to", "10,8", "--out", "out", *QUICK)
    status, _, err = tussock(*words)
    assert status == 2
    assert "goal: must not be shut in" in err
    assert not (tmp_path / "out").exists()
    status, out, _ = tussock(*words, "--set", "refuse_shut_in=false")
    assert status == 1
    assert out.startswith("no way from ")
    with (tmp_path / "out" / "drive.mcap").open("rb") as file:
        topics = {channel.topic for _, channel, _ in make_reader(file).iter_messages()}
    assert {"/points", "/map", "/status"} <= topics


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--to", "0,0"), "goal: must be free of obstacles"),
        (("--to", "100,0"), "goal: must lie on the scene's ground"),
        (("--to", "1;2"), "--to: must be x,y"),
        (("--to", "10,0", "--from", "0,1"), "start: must be free of obstacles"),
        (("--to", "10,0", "--vehicle", "tank"), "vehicle: 'tank' is not in the catalogue"),
        (("--to", "10,0", "--sensor", "vlp-61"), "did you mean 'vlp-16'"),
        (("--to", "10,0", "--speed", "0"), "--speed: must be above 0"),
        (("--to", "10,0", "--set", "autonomy.map.cell=2"), "unknown key"),
        (("--to", "10,0", "--seed", "-1"), "seed: must be a whole number"),
        (("--to", "10,0", "--origin", "95,0"), "origin: must be a latitude"),
        (("--to", "10,0", "--origin", "48"), "origin: must be latitude,longitude"),
        (("--to", "0,0", "--share", "tussock-test-refused"), "goal: must be free of obstacles"),
        (("--to", "10,0", "--settings", "none.toml"), "no such file"),
    ],
)
def test_mistakes_are_one_line_and_nothing_is_written(tussock, tmp_path, words, told):
    status, _, err = tussock("drive", "paddock.toml", "--out", "out", "--from=-10,0", *words)
    assert status == 2
    assert told in err
    assert len(err.strip().splitlines()) == 1
    assert not (tmp_path / "out" / "drive.mcap").exists()
    assert not Path("/dev/shm/tussock-test-refused").exists(), "nothing of what was to be shared is left"


def test_a_blind_sensor_is_said(tussock):
    status, out, _ = tussock(
        "drive", "paddock.toml", "--from=-10,0", "--to", "10,0", "--out", "out", *QUICK,
        "--set-sensor", "receiver.max_range_m=1.0",
    )  # fmt: skip
    assert status == 1
    assert "has seen nothing within its range of 1 m" in out


def test_who_stops_a_drive_is_told_of_its_log(tmp_path):
    words = ["drive", "yard", "--sensor", "lms-291-s05", "--to", "20,0", "--out", "d", "--speed", "0.2"]
    run = subprocess.Popen(
        [sys.executable, "-c", "from tussock.cli.app import main; main()", *words],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "d" / "drive.mcap").exists() and run.poll() is None:
        time.sleep(0.05)
    time.sleep(0.3)
    run.send_signal(signal.SIGTERM)
    told = run.communicate(timeout=60)[1]
    assert told.splitlines()[-1] == "stopped; d/drive.mcap is kept, up to this moment; --force drives anew"
    assert (tmp_path / "d" / "drive.mcap").stat().st_size > 0
