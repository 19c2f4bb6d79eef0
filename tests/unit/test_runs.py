"""A time range in one go, in parts, or killed and taken up again: always the same files."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tussock.errors import InputError, OutputError
from tussock.poses import Pose, Trajectory
from tussock.runs import Run
from tussock.scene.primitives import box, ground
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.trace.world import World

PATH = Trajectory.through([0, 10], [Pose.at(0, 0, 1.5), Pose.at(5, 2, 1.5, yaw=2.0)])


def scene():
    made = Scene("small")
    made.add(ground((60, 60)), name="ground")
    made.add(box((2, 1, 1)), name="cart", motion=Trajectory.through([0, 10], [Pose.at(5, -5), Pose.at(5, 5, yaw=1)]))
    return made


def run(folder: Path, start: float, end: float, **options) -> Run:
    folder.mkdir(exist_ok=True)
    return Run(scene(), load_sensor("vlp-16"), PATH, folder / "f.npz", start, end, **options)


def finish(job: Run, **options):
    finished = job.prepare(**options)
    return [done.number for done in job.scan(World(job.scene), finished=finished) if done.frame is not None]


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def test_any_cut_gives_the_same_files(tmp_path):
    assert finish(run(tmp_path / "whole", 0.0, 1.0)) == list(range(10))
    for start, end in ((0.5, 1.0), (0.0, 0.31), (0.31, 0.5)):
        finish(run(tmp_path / "parts", start, end))
    assert contents(tmp_path / "whole") == contents(tmp_path / "parts")
    assert len(contents(tmp_path / "whole")) == 11


def test_what_is_there_is_kept_and_not_done_again(tmp_path):
    finish(run(tmp_path / "a", 0.0, 0.3))
    file = tmp_path / "a" / "f_000001.npz"
    file.write_bytes(b"mine")
    (tmp_path / "a" / ".f_000003.npz.tussock.part").write_bytes(b"left over")
    assert finish(run(tmp_path / "a", 0.0, 0.5)) == [3, 4]
    assert file.read_bytes() == b"mine"
    assert not list((tmp_path / "a").glob(".*"))
    assert finish(run(tmp_path / "a", 0.0, 0.2), force=True) == [0, 1]
    assert file.read_bytes() != b"mine"


def test_another_run_is_never_mixed_in(tmp_path):
    finish(run(tmp_path / "a", 0.0, 0.1))
    with pytest.raises(OutputError, match="notes a run with another seed"):
        finish(run(tmp_path / "a", 0.1, 0.2, seed=1))
    (tmp_path / "a" / "f.run.json").unlink()
    with pytest.raises(OutputError, match="exists already"):
        finish(run(tmp_path / "a", 0.0, 0.2))
    (tmp_path / "a" / "f.run.json").write_text("{")
    with pytest.raises(OutputError, match="not the note of a run"):
        finish(run(tmp_path / "a", 0.0, 0.2))
    with pytest.raises(InputError, match="holds no start of a frame"):
        run(tmp_path / "a", 0.01, 0.02)


SCENE = """
name = "s"
[[objects]]
ground = {size_m = [60, 60]}
[[objects]]
box = {size_m = [2, 1, 1]}
[objects.motion]
times_s = [0, 10]
positions_m = [[5, -5, 0], [5, 5, 0]]
"""


def test_a_killed_run_goes_on_and_ends_the_same(tmp_path):
    (tmp_path / "s.toml").write_text(SCENE)
    code = "from tussock.cli.app import main; main()"
    words = ["scan", str(tmp_path / "s.toml"), "--sensor", "hdl-32e", "--to", "1.5", "--out"]
    (tmp_path / "killed").mkdir()
    (tmp_path / "whole").mkdir()
    command = [sys.executable, "-c", code, *words, str(tmp_path / "killed" / "f.parquet")]
    for files in (1, 4):
        job = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 120
        while job.poll() is None and len(list((tmp_path / "killed").glob("f_*"))) < files:
            assert time.monotonic() < deadline
            time.sleep(0.002)
        os.kill(job.pid, signal.SIGKILL)
        job.wait()
    assert len(list((tmp_path / "killed").glob("f_*"))) >= 4
    for folder in ("killed", "whole"):
        out = str(tmp_path / folder / "f.parquet")
        done = subprocess.run([sys.executable, "-c", code, *words, out], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    assert contents(tmp_path / "killed") == contents(tmp_path / "whole")
    assert len(contents(tmp_path / "whole")) == 16


def test_planning_looks_into_the_folder_once_however_many_frames_there_are(tmp_path, monkeypatch):
    job = run(tmp_path / "a", 0.0, 200.0)
    assert len(job.frames) == 2000
    job.prepare()
    for number in job.frames[::2]:
        job.file(number).touch()
    for owner, name in (
        (os, "scandir"),
        (os, "listdir"),
        (os, "stat"),
        (Path, "exists"),
        (Path, "is_file"),
        (Path, "stat"),
    ):
        monkeypatch.setattr(owner, name, _asked_seldom(getattr(owner, name)))
    assert job.prepare() == list(job.frames[::2])


def _asked_seldom(ask):
    calls = []

    def asked(*words, **options):
        calls.append(words)
        assert len(calls) < 100, "asks for every file by itself"
        return ask(*words, **options)

    return asked
