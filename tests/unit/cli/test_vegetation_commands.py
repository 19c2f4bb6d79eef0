"""noise, learn and compare from the command line: results, and one line for a mistake."""

from __future__ import annotations

import json
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tussock.files.formats import load_frame, save_frame
from tussock.poses import Pose
from tussock.scene.material import Material
from tussock.scene.primitives import box, plane
from tussock.scene.response import VegetationResponse
from tussock.scene.scene import Scene
from tussock.scene_files.scene_file import load_scene
from tussock.scene_files.scene_save import save_scene
from tussock.scene_files.volume_file import load_volumes
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.wire.recording import open_recording

BOX = "6,-6,-1.4,14,6,3"
"""around the hedge, as the sensor sees it"""


def yard(sigma: float | None) -> Scene:
    """A flat hedge ahead on the ground, and a wall far behind."""
    hedge = Material(name="hedge", reflectance=0.6)
    scene = Scene("yard")
    scene.add(plane((80, 80), material=hedge), name="ground")
    scene.add(
        box((0.2, 10, 2.4), material=hedge), name="hedge", position=(9, 0, 1.4), tags=["vegetation"],
        response=None if sigma is None else VegetationResponse(sigma_m=sigma),
    )  # fmt: skip
    scene.add(box((0.2, 60, 8), material=hedge), name="wall", position=(30, 0, 4))
    return scene


@pytest.fixture(scope="module")
def scans(tmp_path_factory):
    """A folder with a capture, frames and a scene file."""
    folder = tmp_path_factory.mktemp("scans")
    sensor = load_sensor("vlp-16").with_(**{"noise.ray_sigma_m": 0.0})
    frames = [scan(yard(0.4), sensor, Pose.at(0, 0, 1.5), seed=seed, frame=seed, keep_misses=True) for seed in range(3)]
    with open_recording(folder / "run.pcap", sensor) as run:
        for frame in frames:
            run.write(frame)
    for number, frame in enumerate(frames):
        save_frame(frame, folder / f"f{number}.npz")
    save_frame(frames[0].select(frames[0].hit), folder / "hits.npz")
    save_scene(yard(None), folder / "yard.toml")
    _spoil((folder / "run.pcap").read_bytes(), folder)
    return folder


def _spoil(whole: bytes, folder: Path) -> None:
    """The capture with one thing wrong each; a record is a header of 16 bytes, others of 42, and 1206 of data."""
    first, last = 24 + 16 + 42, 24 + 16 + 42 + 1206 - 1
    odd = bytearray(whole)
    odd[last] = 0x55
    snapped = whole[:24] + struct.pack("<IIII", 0, 0, 500, 1248) + whole[40:540]
    short = bytearray(whole[: first + 800])
    short[24 + 8 : 24 + 16] = struct.pack("<II", 842, 842)
    short[24 + 16 + 16 : 24 + 16 + 18] = struct.pack(">H", 828)  # of IP
    short[24 + 16 + 38 : 24 + 16 + 40] = struct.pack(">H", 808)  # of UDP
    for name, data in (
        ("odd.pcap", odd), ("cut.pcap", whole[:-100]), ("snapped.pcap", snapped), ("short.pcap", short),
        ("empty.pcap", b""), ("empty.npz", b""), ("headed.pcap", whole[:24]), ("text.pcap", b"not a capture at all, but text"),
        ("empty.volumes", b""), ("damaged.volumes", b"PK\3\4 and then nothing that is a zip"),
    ):  # fmt: skip
        (folder / name).write_bytes(data)
    for name in ("empty.volumes", "damaged.volumes", "gone.volumes", "f0.npz"):
        text = f'[[objects]]\nname = "hedge"\nvolumes = "{name}"\n'
        (folder / f"with_{name.split('.')[0]}.toml").write_text(text)


@pytest.fixture
def tussock(tussock, scans):
    """Run the command line in an empty folder; names of scans are found where they are."""

    def run(*words):
        return tussock(*(scans / word if (scans / str(word)).is_file() else word for word in words))

    return run


def test_noise_of_a_capture_as_table_picture_and_json(tussock, tmp_path) -> None:
    status, out, _ = tussock("noise", "run.pcap", "--box", BOX, "--picture", "n.png")
    assert status == 0
    lines = out.splitlines()
    assert lines[0].split() == ["ring", "points", "mean", "[m]", "variance", "[m²]", "σ", "of", "one", "range", "[m]"]
    assert any(line.split()[:1] == ["all"] for line in lines) and (tmp_path / "n.png").stat().st_size > 20_000
    status, out, _ = tussock("noise", "run.pcap", "--box", BOX, "--json", "--turns", "0-1")
    said = json.loads(out)
    assert said["sigma_m"] == pytest.approx(0.4, rel=0.06)
    assert said["points"] == sum(ring["points"] for ring in said["rings"]) > 2000
    assert {"ring", "points", "mean_m", "variance_m2", "sigma_m"} == set(said["rings"][0])


def test_what_a_capture_lacks_is_noted(tussock) -> None:
    for words in (
        ["noise", "cut.pcap", "--box", BOX],
        ["learn", "cut.pcap", "--box", BOX, "--voxel-m", "0.5", "--out", "x.volumes"],
        ["compare", "cut.pcap", "cut.pcap", "--angle-deg", "1", "--range-m", "0.1"],
    ):
        status, _, err = tussock(*words)
        assert status == 0
        assert "note: " in err and "cut.pcap: ends in the middle of record" in err


def test_view_notes_what_a_capture_lacks(tussock, monkeypatch) -> None:
    monkeypatch.setattr("tussock.viewer.Viewer.wait", lambda self: self.stop())
    status, out, err = tussock("view", "cut.pcap", "--no-browser", "--port", "0")
    assert status == 0 and "frame(s) at http://" in out
    assert "note: " in err and "cut.pcap: ends in the middle of record" in err


def test_noise_of_a_frame_agrees_with_that_of_its_capture(tussock) -> None:
    of_frames = []
    for name in ("f0.npz", "f1.npz", "f2.npz"):
        status, out, _ = tussock("noise", name, "--box", "6,-6,0.1,14,6,4.5", "--json")
        assert status == 0
        of_frames.append(json.loads(out))
    _, out, _ = tussock("noise", "run.pcap", "--box", BOX, "--json")
    of_capture = json.loads(out)
    # The two split revolutions elsewhere.
    assert sum(one["points"] for one in of_frames) == pytest.approx(of_capture["points"], rel=0.02)
    assert np.mean([one["variance_m2"] for one in of_frames]) == pytest.approx(of_capture["variance_m2"], rel=0.05)
    assert [ring["ring"] for ring in of_frames[0]["rings"]] == [ring["ring"] for ring in of_capture["rings"]]


def test_match_writes_a_scene_that_spreads_as_much(tussock, tmp_path) -> None:
    words = ["noise", "f0.npz", "--box", "6,-6,0.1,14,6,4.5"]
    more = ["--match", "yard.toml", "--sensor", "vlp-16", "--pose", "0,0,1.5", "--out", "new.toml"]
    status, out, err = tussock(*words, *more, "--json")
    assert status == 0, err
    said = json.loads(out)
    assert said["match"]["sigma_m"] == pytest.approx(0.4, rel=0.08)
    assert said["match"]["after"]["variance_m2"] == pytest.approx(said["variance_m2"], rel=0.08)
    assert load_scene(tmp_path / "new.toml")["hedge"].response == VegetationResponse(sigma_m=said["match"]["sigma_m"])
    status, _, err = tussock(*words, *more)
    assert status == 2 and "new.toml: exists already" in err
    status, out, _ = tussock(*words, *more, "--force", "--match-box", "6,-6,0.1,14,6,4.5")
    assert status == 0 and "wrote new.toml" in out


def test_learn_writes_volumes_and_their_picture(tussock, tmp_path) -> None:
    inside = "6,-6,0.1,14,6,4.5"
    status, out, err = tussock("learn", "f0.npz", "--out", "h.volumes", "--box", inside, "--voxel-m", "0.5", "--picture", "h.png")  # fmt: skip
    assert status == 0, err
    assert "at 0.5 m (given)" in out and "wrote h.volumes" in out and (tmp_path / "h.png").exists()
    volumes = load_volumes(tmp_path / "h.volumes")
    assert volumes.partition == "voxels" and len(volumes) > 20
    assert (volumes.means >= [6, -6, 0.1]).all() and (volumes.means <= [14, 6, 4.5]).all()
    status, out, _ = tussock("learn", "f0.npz", "--out", "g.volumes", "--box", inside, "--partition", "growing", "--voxel-m", "0.5", "--tau", "1.5", "--json")  # fmt: skip
    said = json.loads(out)
    assert said["partition"] == "growing" and load_volumes(tmp_path / "g.volumes").tau == 1.5
    assert said["bytes_per_volume"] <= 100
    status, out, _ = tussock("learn", "f0.npz", "--out", "c.volumes", "--box", inside)
    assert status == 0 and "chosen by held-out pulses" in out


def test_learn_takes_several_recordings(tussock, scans, tmp_path) -> None:
    """As one, from the files and from their folder; nothing is left beside the result."""
    words = ["--voxel-m", "0.5", "--range-noise-m", "0.01", "--json"]
    status, out, err = tussock("learn", "f0.npz", "f1.npz", "--out", "two.volumes", *words)
    assert status == 0, err
    said = json.loads(out)
    frames = [load_frame(scans / f"f{k}.npz") for k in range(2)]
    assert said["pulses"] == sum(frame.pulses for frame in frames)
    assert said["range_noise_m"] == pytest.approx(0.01) and said["files"] == ["two.volumes"]
    assert len(load_volumes(tmp_path / "two.volumes")) == said["volumes"]
    assert not (tmp_path / "two.volumes.learning").exists()
    for more, line in (
        (["--partition", "growing"], "partition: must be voxels for a drive"),
        (["--turns", "0"], "turns: goes with a single scan, not with a drive"),
        (["--vehicle", "1,2"], "box: must be six numbers"),
        (["--odometry", "--poses", "p.tum"], "odometry: give either --poses or --odometry"),
        (["--range-noise-m", "-1"], "range noise: must be a standard deviation from 0 on"),
    ):
        status, _, err = tussock("learn", "f0.npz", "f1.npz", "--out", "x.volumes", *more)
        assert status == 2 and line in err and "Traceback" not in err, err
    assert not list(tmp_path.glob("x.volumes*"))


def test_compare_two_scans(tussock, tmp_path) -> None:
    coarse = ["--angle-deg", "1", "--range-m", "0.5"]
    status, out, _ = tussock("compare", "f0.npz", "f1.npz", *coarse, "--picture", "c.png")
    assert status == 0
    assert "Bhattacharyya distance" in out and "range, 50% [m]" in out and (tmp_path / "c.png").exists()
    _, out, _ = tussock("compare", "f0.npz", "f1.npz", *coarse, "--json")
    whole = json.loads(out)
    assert 0 < whole["distance"] < 0.1
    assert abs(whole["hit_rate_difference"]) < 0.01 and len(whole["quantile_differences"]) == 5
    field = whole["field"]
    assert {"all", "0 to 10 m", "10 to 30 m", "30 m and further"} <= set(field) and whole["floor"] is None
    assert field["all"]["drop_accuracy"] > 0.98 and field["all"]["depth_median_m"] < 0.5
    _, out, _ = tussock("compare", "f0.npz", "f0.npz", "--json")
    assert json.loads(out)["distance"] == pytest.approx(0, abs=1e-9)
    _, out, _ = tussock("compare", "f0.npz", "f1.npz", *coarse, "--json", "--box", "8,-5,0.2,10,5,2.6")
    part = json.loads(out)
    assert part["real_pulses"] < whole["real_pulses"] / 4 and part["distance"] > whole["distance"]
    _, out, _ = tussock("compare", "f0.npz", "f1.npz", *coarse, "--json", "--returns-only")
    assert json.loads(out)["real_hit_rate"] == 1.0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["noise", "f0.npz"], "Missing option '--box'"),
        (["noise", "f0.npz", "--box", "1,2,3"], "box: must be six numbers x0,y0,z0,x1,y1,z1 [m], got '1,2,3'"),
        (["noise", "f0.npz", "--box", "1,2,3,a,5,6"], "box: must be six numbers"),
        (["noise", "f0.npz", "--box", "14,-6,-1,6,6,3"], "with x0 < x1 and so on [m], got [14.0, -6.0"),
        (["noise", "f0.npz", "--box", "nan,-6,-1,6,6,3"], "with x0 < x1 and so on [m]"),
        (["learn", "f0.npz", "--out", "x.volumes", "--box", "14,-6,-1,6,6,3"], "with x0 < x1 and so on [m]"),
        (["compare", "f0.npz", "f1.npz", "--box", "14,-6,-1,6,6,3"], "with x0 < x1 and so on [m]"),
        (["noise", "f0.npz", "--box", "0,0,50,1,1,51"], "no points in the box"),
        (["noise", "f0.npz", "--box", BOX, "--window-deg", "0"], "window: must be an angle above 0"),
        (["noise", "f0.npz", "--box", BOX, "--picture", "n.gif"], "must be .png"),
        (["noise", "f0.npz", "--box", BOX, "--sensor", "vlp-16"], "--sensor: goes with --match only"),
        (["noise", "f0.npz", "--box", BOX, "--match", "yard.toml"], "--out: is required with --match"),
        (
            ["noise", "f0.npz", "--box", BOX, "--match", "yard.toml", "--out", "x.json", "--sensor", "vlp-16"],
            "a scene file ends in .toml",
        ),
        (
            ["noise", "f0.npz", "--box", BOX, "--match", "yard.toml", "--out", "x.toml", "--sensor", "vlp-61"],
            "did you mean 'vlp-16'?",
        ),
        (["noise", "gone.pcap", "--box", BOX], "gone.pcap: no such file"),
        (["noise", "empty.pcap", "--box", BOX], "empty.pcap: is empty"),
        (["noise", "headed.pcap", "--box", BOX], "must hold Velodyne packets of 1206 bytes, but holds none"),
        (["noise", "text.pcap", "--box", BOX], "text.pcap: is neither a pcap nor a pcapng capture"),
        (["noise", "snapped.pcap", "--box", BOX], "but holds none; 1 datagrams were recorded in part"),
        (
            ["noise", "short.pcap", "--box", BOX],
            "must hold Velodyne packets of 1206 bytes, but holds only 1 of 800 bytes",
        ),
        (["noise", "odd.pcap", "--box", BOX], "factory bytes of packet 0: the second must be 21 hdl-32e, 22 vlp-16"),
        (
            ["noise", "run.pcap", "--box", BOX, "--model", "vlp-61"],
            "model 'vlp-61': no such model; did you mean 'vlp-16'?",
        ),
        (["noise", "run.pcap", "--box", BOX, "--unit", "10.0.0.1"], "unit: no unit has this name, got '10.0.0.1'"),
        (["noise", "f0.npz", "--box", BOX, "--model", "vlp-16"], "model: goes with a capture"),
        (["noise", "yard.toml", "--box", BOX], ".toml"),
        (["noise", "empty.npz", "--box", BOX], "empty.npz: is empty"),
        (["noise", "f0.npz", "--box", BOX, "--turns", "x"], "turns: must be numbers from 0"),
        (["noise", "run.pcap", "--box", BOX, "--turns", "7"], "turns: must be among the revolutions of run.pcap"),
        (
            ["noise", "run.pcap", "--box", BOX, "--turns", "2-1"],
            "turns: must be numbers from 0, as 0,1 or 0-2, got '2-1'",
        ),
        (["noise", "f0.npz", "--box", BOX, "--origin", "a,b"], "origin: must be three numbers x,y,z"),
        (["noise", "f0.npz", "--box", BOX, "--origin", "1,2"], "origin: must be three numbers x,y,z"),
        (["learn", "f0.npz", "--out", "x.vol"], "ends in .volumes; name it x.volumes"),
        (["learn", "f0.npz", "--out", "x.volumes", "--tau", "0"], "tau: must be"),
        (["learn", "f0.npz", "--out", "x.volumes", "--tau", "-2"], "tau: must be a Mahalanobis distance above 0"),
        (["learn", "f0.npz", "--out", "x.volumes", "--voxel-m", "0"], "voxel: must be a length above 0"),
        (["learn", "f0.npz", "--out", "x.volumes", "--voxel-m", "-1"], "voxel: must be a length above 0"),
        (["learn", "f0.npz", "--out", "x.volumes", "--voxel-m", "nan"], "voxel: must be a length above 0"),
        (
            ["learn", "f0.npz", "--out", "x.volumes", "--voxel-m", "1", "--regions", "--plain"],
            "regions: does not go with",
        ),
        (
            ["learn", "f0.npz", "--out", "x.volumes", "--voxel-m", "1e-4"],
            "every voxel holds one point only, got 0.0001 m",
        ),
        (["learn", "empty.pcap", "--out", "x.volumes"], "empty.pcap: is empty"),
        (["learn", "odd.pcap", "--out", "x.volumes"], "factory bytes"),
        (["learn", "damaged.volumes", "--out", "x.volumes"], "damaged.volumes: is a file of volumes, not a scan"),
        (
            ["scan", "with_damaged.toml", "--sensor", "vlp-16", "--out", "s.npz"],
            "damaged.volumes: is damaged or not a file of volumes",
        ),
        (["scan", "with_empty.toml", "--sensor", "vlp-16", "--out", "s.npz"], "empty.volumes: is empty"),
        (["scan", "with_gone.toml", "--sensor", "vlp-16", "--out", "s.npz"], "gone.volumes: no such file of volumes"),
        (["scan", "with_f0.toml", "--sensor", "vlp-16", "--out", "s.npz"], "f0.npz: suffix: must be .volumes"),
        (["learn", "f0.npz", "--out", "x.volumes", "--partition", "octree"], "partition 'octree': no such partition"),
        (["learn", "f0.npz", "--out", "no/x.volumes"], "no such folder"),
        (["learn", "f0.npz", "--out", "x.volumes", "--box", "0,0,50,1,1,51", "--voxel-m", "1"], "no points in the box"),
        (["compare", "f0.npz", "gone.npz"], "no such file"),
        (
            ["compare", "run.pcap", "hits.npz"],
            "hits.npz: holds no pulses without return but run.pcap does; scan it with --misses",
        ),
        (["compare", "hits.npz", "f1.npz"], "or compare with --returns-only"),
        (["compare", "f0.npz", "f1.npz", "--picture", "c.jpg"], "must be .png"),
        (["compare", "f0.npz", "f1.npz", "--range-m", "0"], "range bin: must be above 0"),
        (["compare", "f0.npz", "f1.npz", "--box", "100,0,50,101,1,51"], "no pulse passes through the box"),
    ],
)
def test_a_mistake_is_one_line_and_status_2(tussock, tmp_path, words: list[str], said: str) -> None:
    status, out, err = tussock(*words)
    assert (status, out) == (2, "")
    assert err.startswith("error: ") and err.count("\n") == 1, err
    assert said in err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["noise", "f0.npz", "--box", BOX, "--picture"], "n.png"),
        (["noise", "f0.npz", "--box", BOX, "--match", "yard.toml", "--sensor", "vlp-16", "--out"], "m.toml"),
        (["learn", "f0.npz", "--voxel-m", "1", "--out"], "v.volumes"),
        (["learn", "f0.npz", "--voxel-m", "1", "--out", "v.volumes", "--picture"], "v.png"),
        (["compare", "f0.npz", "f1.npz", "--picture"], "c.png"),
    ],
)
def test_what_exists_is_kept(tussock, tmp_path, words: list[str], name: str) -> None:
    (tmp_path / name).write_bytes(b"mine")
    status, out, err = tussock(*words, name)
    assert (status, out) == (2, "")
    assert err == f"error: {name}: exists already; choose another name or pass --force\n"
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [(name, b"mine")]


def test_what_is_learned_less_well_than_it_could_be_is_said(tussock, scans) -> None:
    _, _, err = tussock("learn", "f0.npz", "--out", "a.volumes", "--voxel-m", "0.5")
    assert "note:" not in err
    frame = load_frame(scans / "f0.npz")
    lost = np.where(frame.laser == 2, 0, frame.return_number).astype(np.uint8)  # ring 1, which sees the ground
    save_frame(replace(frame, return_number=lost), "dead.npz")
    _, _, err = tussock("learn", "dead.npz", "--out", "d.volumes", "--voxel-m", "0.5")
    assert "note: pulses: left out as dead" in err and err.endswith("ring 1\n")
    _, out, err = tussock("learn", "hits.npz", "--out", "c.volumes", "--voxel-m", "0.5", "--json")
    assert err == ""
    assert [note for note in json.loads(out)["notes"] if "none without a return" in note]


def test_help_names_the_commands(tussock) -> None:
    status, out, _ = tussock("--help")
    assert status == 0
    for name in ("noise", "learn", "compare"):
        assert name in out
    status, out, _ = tussock("noise", "--help")
    assert status == 0
    assert "side [deg]" in out, "units are no markup"


def test_volumes_in_a_scene_file_are_scanned(tussock, tmp_path) -> None:
    tussock("learn", "f0.npz", "--out", "h.volumes", "--box", "6,-6,0.1,14,6,4.5", "--voxel-m", "0.3")
    (tmp_path / "s.toml").write_text('[[objects]]\nname = "hedge"\nvolumes = "h.volumes"\n')
    status, out, err = tussock("scan", "s.toml", "--sensor", "vlp-16", "--pose", "0,0,1.5", "--out", "s.npz", "--misses", "--json")  # fmt: skip
    assert status == 0, err
    said = json.loads(out)
    assert 0.05 < said["returns"] / said["pulses"] < 0.5
    _, _, err = tussock("render", "s.toml", "--out", "s.png", "--size", "32x16")
    assert err == ""
    status, out, _ = tussock("compare", "f1.npz", "s.npz", "--box", "8.9,-5,0.3,9.1,5,2.5", "--angle-deg", "1", "--range-m", "0.5", "--json")  # fmt: skip
    both = json.loads(out)
    assert abs(both["hit_rate_difference"]) < 0.1
    assert np.abs(both["quantile_differences"]).max() < 0.5


def test_a_damaged_file_of_volumes_is_one_line(tussock, tmp_path) -> None:
    tussock("learn", "f0.npz", "--out", "h.volumes", "--box", "6,-6,0.1,14,6,4.5", "--voxel-m", "0.5")
    (tmp_path / "s.toml").write_text('[[objects]]\nname = "hedge"\nvolumes = "h.volumes"\n')
    whole = (tmp_path / "h.volumes").read_bytes()
    (tmp_path / "h.volumes").write_bytes(whole[: len(whole) // 2])
    status, out, err = tussock("scan", "s.toml", "--sensor", "vlp-16", "--pose", "0,0,1.5", "--out", "s.npz")
    assert (status, out) == (2, "")
    assert err.startswith("error: ") and err.count("\n") == 1
    assert "h.volumes" in err and "damaged" in err
    assert not (tmp_path / "s.npz").exists()


def test_beams_that_all_go_one_way_are_learned_with_a_warning(tussock, tmp_path) -> None:
    rows = "\n".join(f"{5 + 0.01 * k},0,0" for k in range(40))
    (tmp_path / "line.csv").write_text(f"x,y,z\n{rows}\n")
    status, out, err = tussock("learn", "line.csv", "--out", "line.volumes", "--voxel-m", "0.2", "--json")
    said = json.loads(out)
    assert status == 0 and err == "" and said["volumes"] in (2, 3)
    assert said["notes"][0].startswith("pulses: all go in one direction")
    assert (tmp_path / "line.volumes").exists()
