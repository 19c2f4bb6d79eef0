"""Everyday use of the command line: meshes as they are, one file a flight, words on what looks like a mistake."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tussock.files.formats import load_frame
from tussock.frames.join import join_frames
from tussock.ground.below import depth_below_ground
from tussock.poses import Pose, Trajectory
from tussock.scene.primitives import box, ground, plane
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
FLOOR = '[[objects]]\nlabel = "terrain"\nground = { size_m = [40, 40] }\n'


@pytest.mark.parametrize("word", ["scan", "scenes"])
def test_a_mesh_is_a_scene(tussock, tmp_path, word):
    (tmp_path / "thing.obj").write_text(TETRAHEDRON)
    words = ["--sensor", "vlp-16", "--out", "a.npz"] if word == "scan" else []
    status, out, _ = tussock(word, "thing.obj", *words)
    assert status == 0
    assert "thing: 4 triangles" in out
    if word == "scan":  # from beside it, not from within
        frame = load_frame(tmp_path / "a.npz")
        assert len(frame) > 100
        assert frame.range.min() > 0.5


def test_a_line_scanner_makes_one_las_of_a_flight(tussock, tmp_path):
    (tmp_path / "floor.toml").write_text(FLOOR)
    down = "0 0.7071068 0 0.7071068"
    (tmp_path / "flight.tum").write_text(f"0 -5 0 8 {down}\n1 5 0 8 {down}\n")
    flight = ["scan", "floor.toml", "--sensor", "lms-291-s05", "--trajectory", "flight.tum", "--to", "0.3"]
    status, _, said = tussock(*flight, "--out", "flight.las", "--coords", "world")
    assert status == 0, said
    assert sorted(p.name for p in tmp_path.glob("flight*.las")) == ["flight.las"]
    whole = load_frame(tmp_path / "flight.las")
    assert tussock(*flight, "--out", "lines.npz")[0] == 0
    lines = [load_frame(file) for file in sorted(tmp_path.glob("lines_*.npz"))]
    assert len(lines) > 5
    np.testing.assert_array_equal(whole.time, np.concatenate([line.time for line in lines]))
    np.testing.assert_allclose(whole.xyz, np.concatenate([line.xyz for line in lines]), atol=2e-4)
    assert whole.pulses == sum(line.pulses for line in lines)


def test_one_file_or_one_a_frame_as_asked(tussock, tmp_path):
    (tmp_path / "floor.toml").write_text(FLOOR)
    words = ["scan", "floor.toml", "--pose", "0,0,2", "--rays", "1", "--to", "0.2"]
    assert tussock(*words, "--sensor", "vlp-16", "--out", "a.npz", "--together")[0] == 0
    assert tussock(*words, "--sensor", "lms-291-s05", "--out", "b.las", "--one-a-frame")[0] == 0
    assert [p.name for p in tmp_path.glob("a*.npz")] == ["a.npz"]
    assert len(list(tmp_path.glob("b_*.las"))) > 5
    status, _, said = tussock(*words, "--sensor", "vlp-16", "--out", "a.npz", "--together")
    assert (status, "exists already" in said) == (2, True)
    for wrong in (["--out", "c.pcap", "--together"], ["--out", "c.npz", "--together", "--waveform"]):
        status, _, said = tussock(*words, "--sensor", "vlp-16", *wrong)
        assert status == 2
        assert said.startswith("error: --together")


def test_a_sensor_below_the_ground_and_one_that_sees_nothing_are_pointed_out(tussock, tmp_path):
    (tmp_path / "floor.toml").write_text(FLOOR)
    words = ["scan", "floor.toml", "--sensor", "vlp-16", "--rays", "1", "--force"]
    assert "note" not in tussock(*words, "--pose", "0,0,2", "--out", "a.npz")[2]
    assert "1.50 m below the ground" in tussock(*words, "--pose", "0,0,-1.5", "--out", "a.npz")[2]
    assert "no returns" in tussock(*words, "--pose", "0,0,900", "--out", "a.npz")[2]


def test_depth_below_ground_is_that_below_the_lowest_ground_above():
    scene = Scene()
    scene.add(ground((20, 20), cells=(7, 5), heights=lambda x, y: 0.5 * x), label="terrain", position=(100.0, 0.0, 3.0))
    scene.add(plane((2, 2)), label="road", position=(100.0, 0.0, 9.0))
    scene.add(box((9, 9, 9)), label="building", position=(100.0, 0.0, 40.0))
    assert depth_below_ground(scene, (104.0, 1.0, 4.0)) == pytest.approx(1.0)
    assert depth_below_ground(scene, (100.2, 0.3, 2.0)) == pytest.approx(1.1)
    assert depth_below_ground(scene, (104.0, 1.0, 5.1)) is None
    assert depth_below_ground(scene, (150.0, 1.0, -5.0)) is None


def test_joined_frames_keep_their_rows_and_number_pulses_through():
    scene = Scene()
    scene.add(plane((60, 60)), label="terrain")
    path = Trajectory.through([0.0, 1.0], [Pose.at(0, 0, 2), Pose.at(10, 0, 2)])
    sensor = load_sensor("vlp-16").with_(**{"beam.rays": 1})
    frames = [scan(scene, sensor, path, frame=k) for k in range(3)]
    whole = join_frames(frames, path)
    assert len(whole) == sum(map(len, frames))
    assert np.all(np.diff(whole.pulse.astype(np.int64)) >= 0)
    np.testing.assert_allclose(whole.world_xyz(), np.concatenate([frame.world_xyz() for frame in frames]), atol=1e-6)


def test_a_flag_takes_nothing_and_says_so(tussock):
    shown = tussock("scan", "--help")[1]
    (line,) = [line for line in shown.splitlines() if "--force" in line]
    assert "bool" not in line.lower()


@pytest.mark.parametrize(
    ("words", "found"),
    [("tussock scan ya", "yard"), ("tussock scan yard --sensor vls", "vls-128"), ("tussock sca", "scan")],
)
def test_the_shell_completes_commands_scenes_and_sensors(words, found):
    asked = {"_TUSSOCK_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split()) - 1)}
    code = "import sys; sys.argv = ['tussock']; from tussock.cli.app import main; main()"
    said = subprocess.run([sys.executable, "-c", code], env=os.environ | asked, capture_output=True, text=True)
    assert found in said.stdout.split()


@pytest.mark.parametrize("word", ["scan", "render", "stream", "motion", "drive"])
def test_help_names_every_kind_of_scene(tussock, word):
    _, said, _ = tussock(word, "--help")
    told = " ".join(said.replace("│", " ").split())
    for kind in (".toml", ".tussock", ".blend", "ready scene"):
        assert kind in told


def test_flags_have_no_type_in_the_help(tussock):
    for words in ([], ["scan"], ["dataset"]):
        assert "<bool>" not in tussock(*words, "--help")[1]
