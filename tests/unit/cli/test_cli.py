"""The command line as people meet it: results, files, and one line for a mistake."""

import json

import pytest

from tussock.files.formats import load_frame

SCENE = """
name = "small"
[[objects]]
name = "ground"
label = "terrain"
ground = { size_m = [40, 40] }
[[objects]]
name = "post"
label = "pole"
box = { size_m = [0.3, 0.3, 2] }
position_m = [4, 0, 1]
"""


@pytest.fixture(autouse=True)
def _small_scene(tmp_path):
    (tmp_path / "small.toml").write_text(SCENE)


def test_scan_writes_a_frame_that_loads(tussock, tmp_path):
    status, out, _ = tussock("scan", "small.toml", "--sensor", "vlp-16", "--pose", "0,0,1.5", "--out", "a.pcd")
    assert status == 0
    assert "returns" in out
    frame = load_frame(tmp_path / "a.pcd")
    assert len(frame) > 1000
    assert frame.meta["scene"] == "small"
    assert frame.meta["sensor"]["name"] == "vlp-16"


def test_scan_as_json_says_what_it_did(tussock):
    status, out, _ = tussock(
        "scan", "small.toml", "--sensor", "vlp-16", "--out", "a.npz", "--seed", "7", "--rays", "9", "--json"
    )
    assert status == 0
    said = json.loads(out)
    assert said["frames"] == 1
    assert said["seed"] == 7
    assert 0 < said["returns"] <= said["pulses"]


def test_a_time_range_gives_one_numbered_file_a_frame(tussock, tmp_path):
    status, _, _ = tussock(
        "scan", "small.toml", "--sensor", "vlp-16", "--from", "0.1", "--to", "0.35", "--out", "a.npz"
    )
    assert status == 0
    assert sorted(p.name for p in tmp_path.glob("*.npz")) == ["a_000001.npz", "a_000002.npz", "a_000003.npz"]


def test_the_same_seed_gives_the_same_bytes(tussock, tmp_path):
    for name in ("a.parquet", "b.parquet"):
        assert tussock("scan", "small.toml", "--sensor", "hdl-32e", "--out", name, "--seed", "3")[0] == 0
    assert load_frame(tmp_path / "a.parquet").identical(load_frame(tmp_path / "b.parquet"))


def test_sensors_lists_and_shows(tussock):
    status, out, _ = tussock("sensors", "--json")
    assert status == 0
    assert {"hdl-64e-s2", "hdl-32e", "vlp-16", "vlp-32c", "vls-128"} <= {one["name"] for one in json.loads(out)}
    status, out, _ = tussock("sensors", "vlp-16")
    assert status == 0
    assert "rotation_hz" in out
    assert "[sources]" in out


def test_demo_writes_files_and_a_picture(tussock, tmp_path):
    status, out, _ = tussock("demo", "--out", "demo", "--sensor", "vlp-16", "--json")
    assert status == 0
    said = json.loads(out)
    assert said["returns_by_label"]["grass"] > 0
    assert sorted(p.suffix for p in (tmp_path / "demo").iterdir()) == [".parquet", ".pcd", ".png"]


def test_bench_has_the_promised_form(tussock):
    status, out, _ = tussock("bench", "--rounds", "1", "--json")
    assert status == 0
    said = json.loads(out)
    assert {"processor", "cores", "embree"} <= set(said["machine"])
    meadow = {case["rays"]: case for case in said["cases"] if case["name"] == "meadow"}
    for rays in (1, 9):
        case = meadow[rays]
        assert case["ratio"] == pytest.approx(case["scan_pulses_per_s"] / case["bare_pulses_per_s"], rel=1e-9)
        assert case["close_ratio"] == pytest.approx(case["scan_pulses_per_s"] / case["close_pulses_per_s"], rel=1e-9)
    others = {case["name"]: case for case in said["cases"] if case["name"] != "meadow"}
    assert set(others) == {
        "beams on", "adaptive", "opaque leaves", "hit by hit", "no mirrors", "everything on", "depth image",
    }  # fmt: skip
    assert [case["rays"] for case in said["cases"] if case["name"] == "beams on"] == [16, 32, 48]
    assert all(case["ratio"] > 0 for case in others.values())
    leaves = said["cut_outs"]
    assert leaves["cut out"]["triangles"] < leaves["triangles"]["triangles"]
    assert leaves["cut out"]["share"] == pytest.approx(leaves["triangles"]["share"], abs=0.01)
    assert leaves["solid cards"]["share"] > 1.2 * leaves["triangles"]["share"]


def test_sensors_plot_draws_a_picture_once(tussock, tmp_path):
    status, out, _ = tussock("sensors", "lms-291-s05", "--plot", "line.png")
    assert (status, out.split()) == (0, ["wrote", "line.png"])
    drawn = (tmp_path / "line.png").read_bytes()
    assert drawn.startswith(b"\x89PNG")
    status, _, err = tussock("sensors", "ibeo-lux", "--plot", "line.png")
    assert status == 2
    assert "--force" in err
    assert (tmp_path / "line.png").read_bytes() == drawn
    assert tussock("sensors", "ibeo-lux", "--plot", "line.png", "--force")[0] == 0
    assert (tmp_path / "line.png").read_bytes() != drawn


def test_the_list_of_sensors_keeps_to_one_line_each(tussock, monkeypatch):
    from tussock.cli.console import out as console
    from tussock.sensors.catalogue import sensor_names

    monkeypatch.setattr(console, "_width", 80)
    monkeypatch.setattr(console, "_force_terminal", True)
    status, out, _ = tussock("sensors")
    assert status == 0
    lines = out.splitlines()
    assert [line.split()[0] for line in lines[1 : 1 + len(sensor_names())]] == list(sensor_names())
    assert max(len(line) for line in lines[: 1 + len(sensor_names())]) <= 80


def test_scan_reports_the_mode_that_was_asked_for(tussock, tmp_path):
    words = ("scan", "small.toml", "--sensor", "vlp-16", "--rays", "9", "--pose", "0,0,1")
    assert tussock(*words, "--mode", "strongest+last", "--out", "two.npz")[0] == 0
    assert tussock(*words, "--mode", "last", "--out", "last.npz")[0] == 0
    two, last = load_frame(tmp_path / "two.npz"), load_frame(tmp_path / "last.npz")
    assert two.meta["sensor"]["receiver"]["mode"] == "strongest+last"
    assert len(two) == 2 * len(last)
    assert set(two.return_number.tolist()) == {1, 2}


MISTAKES = [
    (["scan", "small.toml", "--sensor", "hdl-32", "--out", "a.pcd"], "did you mean 'hdl-32e'"),
    (["scan", "nowhere.toml", "--sensor", "vlp-16", "--out", "a.pcd"], "no such file"),
    (["scan", "courtyrd", "--sensor", "vlp-16", "--out", "a.pcd"], "did you mean 'courtyard'"),
    (["scan", "small.toml", "--sensor", "vlp-16", "--out", "a.xyz"], ".xyz"),
    (["scan", "small.toml", "--sensor", "vlp-16", "--out", "no/folder/a.pcd"], "no such folder"),
    (["scan", "small.toml", "--sensor", "vlp-16", "--out", "small.toml.pcd", "--pose", "1,2"], "pose"),
    (["scan", "small.toml", "--sensor", "vlp-16", "--out", "a.pcd", "--pose", "1,2,nan"], "pose"),
    (["scan", "small.toml", "--sensor", "vlp-16", "--out", "a.pcd", "--rate", "50"], "5 and 20"),
    (
        ["scan", "small.toml", "--sensor", "vlp-16", "--out", "a.pcd", "--set", "receiver.max_range_m=-5"],
        "max_range_m",
    ),
    (["scan", "small.toml", "--sensor", "vlp-16", "--out", "a.pcd", "--set", "beam.ray=9"], "did you mean 'rays'"),
    (["scan", "small.toml", "--sensor", "vlp-16", "--out", "a.pcd", "--set", "nonsense"], "key=value"),
    (["scan", "small.toml", "--sensor", "vlp-16", "--out", "a.pcd", "--seed", "-1"], "seed"),
    (["scan", "small.toml", "--sensor", "vlp-16", "--out", "a.pcd", "--threads", "0"], "threads"),
    (["scan", "small.toml", "--sensor", "vlp-16", "--out", "a.pcd", "--coords", "moon"], "coords"),
    (["scan", "small.toml", "--sensor", "vlp-16", "--out", "a.pcd", "--from", "1", "--to", "0"], "time range"),
    (["scan", "small.toml", "--sensor", "vlp-16", "--out", "a.pcd", "--from", "0.01", "--to", "0.02"], "no start"),
    (["scan", "small.toml", "--sensor", "vlp-16"], "--out"),
    (["scan", "small.toml", "--sensor", "vlp-16", "--out", "a.pcd", "--colour"], "--colour"),
    (["scan", "small.toml", "--sensor", "vlp-16", "--out", "a.pcd", "--mode", "lst"], "did you mean 'last'"),
    (["scan", "small.toml", "--sensor", "vlp-16", "--out", "a.pcd", "--mode", "9"], "known: all, first"),
    (["sensors", "--plot", "a.png"], "which sensor"),
    (["sensors", "vlp-16", "--plot", "a.jpg"], ".png"),
    (["sensors", "vlp-16", "--plot", "no/folder/a.png"], "no such folder"),
    (["sensors", "vlp16"], "did you mean 'vlp-16'"),
    (["dmeo"], "dmeo"),
]


@pytest.mark.parametrize(
    ("words", "said"), MISTAKES, ids=lambda part: " ".join(part[1:]) if isinstance(part, list) else ""
)
def test_a_mistake_is_one_line_and_leaves_nothing(tussock, tmp_path, words, said):
    before = sorted(p.name for p in tmp_path.iterdir())
    status, out, err = tussock(*words)
    assert status == 2
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert said in err
    assert "Traceback" not in out + err
    assert sorted(p.name for p in tmp_path.iterdir()) == before


def test_nothing_is_overwritten_unasked(tussock, tmp_path):
    (tmp_path / "a.pcd").write_text("mine")
    status, _, err = tussock("scan", "small.toml", "--sensor", "vlp-16", "--out", "a.pcd")
    assert status == 2
    assert "--force" in err
    assert (tmp_path / "a.pcd").read_text() == "mine"
    assert tussock("scan", "small.toml", "--sensor", "vlp-16", "--out", "a.pcd", "--force")[0] == 0
    assert len(load_frame(tmp_path / "a.pcd")) > 0


BAD_SCENES = [
    ("name = 'empty'\n", "objects: is required"),
    ("[[objects]]\nmesh = 'gone.ply'\n", "gone.ply"),
    ("[[objects]]\nmesh = 'torn.obj'\n", "torn.obj"),
    ("[[objects]]\nbox = { size_m = [1, 1, 1] }\nscale = 0\n", "scale"),
    ("[[objects]]\nbox = { size_m = [1, 1, 1] }\nlabel = 'gras'\n", "did you mean 'grass'"),
    ("[[objects]]\nbox = { size_m = [1, 1, 1] }\ncolour = 3\n", "unknown key"),
    (
        "[materials.paint]\nreflectance = 1.2\n[[objects]]\nbox = { size_m = [1, 1, 1] }\nmaterial = 'paint'\n",
        "got 1.2",
    ),
]


@pytest.mark.parametrize(("text", "said"), BAD_SCENES, ids=[said for _, said in BAD_SCENES])
def test_a_bad_scene_is_one_line_and_leaves_nothing(tussock, tmp_path, text, said):
    (tmp_path / "bad.toml").write_text(text)
    (tmp_path / "torn.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 inf\nf 1 2 3\n")
    status, _, err = tussock("scan", "bad.toml", "--sensor", "vlp-16", "--out", "a.pcd")
    assert status == 2
    assert err.count("\n") == 1
    assert said in err
    assert not (tmp_path / "a.pcd").exists()


def test_help_and_version(tussock):
    status, out, _ = tussock("--version")
    assert (status, out.split()[0]) == (0, "tussock")
    status, out, _ = tussock()
    assert status == 0
    assert "scan" in out
