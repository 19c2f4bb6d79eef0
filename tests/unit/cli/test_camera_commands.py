"""``render``, ``dataset``, ``view`` and what ``scan`` got from cameras: one line for a mistake, nothing half written."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).parents[3]
RIG = """
[body.path]
times_s = [0, 1]
positions_m = [[-4, 0, 0], [-3, 0, 0]]
[[lidars]]
name = "top"
sensor = "vlp-16"
position_m = [0, 0, 2]
[[cameras]]
name = "front"
position_m = [0, 0, 1.6]
camera = {width = 32, height = 16, samples = 1}
"""
SCENE = """
[[objects]]
name = "ground"
label = "terrain"
plane = {size_m = [40, 40]}
[[objects]]
name = "car"
label = "car"
box = {size_m = [4, 2, 1.5]}
position_m = [6, 0, 0.75]
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "rig.toml").write_text(RIG)
    (tmp_path / "scene.toml").write_text(SCENE)
    return tmp_path


def tussock(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from tussock.cli.app import main; main()", *words]
    environment = {"PYTHONPATH": str(ROOT / "src"), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def test_render_every_kind(folder):
    for kind, name in (
        ("color", "c.png"), ("depth", "d.npy"), ("range", "r.tif"), ("label", "l.png"), ("normal", "n.png"),
        ("instance", "i.npy"), ("boxes", "b.json"),
    ):  # fmt: skip
        ran = tussock(folder, "render", "scene.toml", "--out", name, "--kind", kind, "--size", "40x30", "--json")
        assert ran.returncode == 0, ran.stderr
        assert json.loads(ran.stdout)["file"] == name and (folder / name).stat().st_size > 0
    assert np.load(folder / "d.npy").shape == (30, 40)
    dark = ("render", "scene.toml", "--size", "40x30", "--sun", "90,2", "--out")
    for more in (("n.jpg", "--exposure", "0.5"), ("m.jpg", "--exposure", "auto")):
        assert tussock(folder, *dark, *more).returncode == 0
    metered, plain = (np.asarray(Image.open(folder / name)).mean() for name in ("m.jpg", "n.jpg"))
    assert metered > 1.2 * plain
    assert set(np.unique(np.asarray(Image.open(folder / "l.png"))).tolist()) == {0, 10, 72}
    boxes = json.loads((folder / "b.json").read_text())["boxes"]
    assert [box["name"] for box in boxes] == ["car"] and boxes[0]["visible"] == boxes[0]["whole"]


def test_scan_draws_over_a_picture_and_writes_the_table(folder):
    ran = tussock(
        folder, "scan", "scene.toml", "--sensor", "vlp-16", "--out", "f.npz", "--over", "over.png", "--table", "t.csv"
    )
    assert ran.returncode == 0, ran.stderr
    with Image.open(folder / "over.png") as over:
        assert over.size == (1280, 720)
    assert (folder / "t.csv").read_text().startswith("timestamp,yaw,pitch,distance,distance_noisy,x,y,z,")


def test_dataset_and_again(folder):
    words = ("dataset", "rig.toml", "--scene", "scene.toml", "--out", "set", "--to", "0.2", "--json")
    first = tussock(folder, *words)
    assert first.returncode == 0, first.stderr
    assert json.loads(first.stdout)["made"] == 2
    assert json.loads(tussock(folder, *words).stdout)["made"] == 0


def test_dataset_as_a_ros_log(folder):
    words = ("dataset", "rig.toml", "--scene", "scene.toml", "--out", "run.mcap", "--to", "0.2", "--json")
    ran = tussock(folder, *words)
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout) == {"moments": 2, "made": 2, "log": "run.mcap"}
    assert (folder / "run.mcap").read_bytes().startswith(b"\x89MCAP0")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("render", "scene.toml", "--out", "x.png", "--size", "0x0"), "width"),
        (("render", "scene.toml", "--out", "x.png", "--size", "big"), "WIDTHxHEIGHT"),
        (("render", "scene.toml", "--out", "x.png", "--set", "lens.fx=-5"), "lens.fx"),
        (("render", "scene.toml", "--out", "x.png", "--fov-deg", "0"), "horizontal_fov_deg"),
        (("render", "scene.toml", "--out", "x.gif"), "x.gif"),
        (("render", "scene.toml", "--out", "x.png", "--kind", "dept"), "did you mean 'depth'"),
        (("render", "scene.toml", "--out", "x.png", "--sun", "noon"), "azimuth,elevation"),
        (("render", "scene.toml", "--out", "x.png", "--exposure", "bright"), "must be auto or a number of stops"),
        (("render", "scene.toml", "--out", "x.png", "--camera", "none.toml"), "none.toml: no such file"),
        (("scan", "scene.toml", "--sensor", "vlp-16", "--out", "x.npz", "--over", "x.exr"), ".png or .jpg"),
        (("scan", "scene.toml", "--sensor", "vlp-16", "--out", "x.npz", "--table", "x.txt"), ".csv or .parquet"),
        (("dataset", "rig.toml", "--out", "x", "--to", "0.2"), "names no scene"),
        (("dataset", "rig.toml", "--scene", "scene.toml", "--out", "x", "--to", "5"), "must cover the moments"),
        (
            ("dataset", "rig.toml", "--scene", "scene.toml", "--out", "x.mcap", "--to", "0.2", "--lidar", "top"),
            "--lidar",
        ),
        (("view", "none.pcd"), "no such file"),
    ],
)
def test_a_mistake_is_one_line_and_leaves_nothing(folder, words, says):
    before = sorted(path.name for path in folder.iterdir())
    ran = tussock(folder, *words)
    assert ran.returncode == 2
    lines = ran.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("error: ") and says in lines[0], ran.stderr
    assert sorted(path.name for path in folder.iterdir()) == before
