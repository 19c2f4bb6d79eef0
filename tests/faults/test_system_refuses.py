"""What the system can refuse is one line at every command, and nothing half written is left; `make faults` tries more."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from workshop import COMMANDS

HERE = Path(__file__).parent
RUN = "from tussock.cli.app import main; main()"


def test_anything_done_with_files_may_fail(workshop_copy):
    done = subprocess.run(
        [sys.executable, HERE / "broken_system.py", workshop_copy, "1", "2"],
        capture_output=True, text=True, check=False, timeout=1500,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    *wrong, counts = map(json.loads, done.stdout.splitlines())
    assert wrong == []
    assert counts["cases"] >= len(COMMANDS)


def command(folder: Path, *words: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", RUN, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False,
        timeout=600, **options,
    )  # fmt: skip


def one_line(done: subprocess.CompletedProcess[str], *, says: str) -> None:
    assert done.returncode == 2, done.stderr[-2000:]
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1, done.stderr[-2000:]
    assert says in done.stderr


def test_a_full_device_as_output(workshop_copy):
    if not Path("/dev/full").exists():
        pytest.skip("needs /dev/full, which Linux has")
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", RUN, "sensors"], cwd=workshop_copy, stdout=full, stderr=subprocess.PIPE, text=True,
            check=False, timeout=300,
        )  # fmt: skip
    assert (done.returncode, done.stderr) == (2, "error: the system refused: no space left on the disk\n")


@pytest.mark.parametrize("name", ["scan", "scan to e57", "scan to rosbag2", "unpack", "pack", "learn"])
def test_a_file_that_may_not_grow(workshop_copy, name):
    """As on a full disk: what is written ends in the middle."""
    before = {path.name for path in workshop_copy.iterdir()}
    done = command(
        workshop_copy, *COMMANDS[name], preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))
    )  # fmt: skip
    assert done.returncode == 2, done.stderr[-2000:]
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1, done.stderr[-3000:]
    assert {path.name for path in workshop_copy.iterdir()} == before


def nobody() -> None:
    """Give up the rights of the superuser, who may do everything."""
    if os.geteuid() == 0:
        os.setgid(65534)
        os.setuid(65534)


@pytest.mark.parametrize(
    ("words", "closed"),
    [
        (["learn", "frame.npz", "--out", "/tmp/never.volumes"], "frame.npz"),
        (["compare", "frame.npz", "frame.pcd"], "frame.pcd"),
        (["view", "set", "--no-browser"], "set/sequences/00/velodyne"),
        (["unpack", "pack.tussock", "--out", "/tmp/never"], "pack.tussock"),
        (["scan", "pack.tussock", "--out", "/tmp/never.npz"], "pack.tussock"),
        (["scan", "scene.toml", "--sensor", "vlp-16", "--out", "/tmp/never.npz"], "scene.toml"),
        (["scan", "scene.toml", "--sensor", "vlp-16", "--out", "/tmp/never.npz"], "part.ply"),
        (["render", "scene.toml", "--out", "/tmp/never.png"], "heights.png"),
        (["dataset", "rig.toml", "--to", "0.1", "--out", "/tmp/never"], "rig.toml"),
        (["replay", "run.pcap", "--to", "127.0.0.1:9"], "run.pcap"),
    ],
)
def test_what_may_not_be_read(workshop_copy, words, closed, monkeypatch):
    for path in (workshop_copy, *workshop_copy.parents):
        if path.owner() == workshop_copy.owner() and path != Path(path.anchor):
            path.chmod(path.stat().st_mode | 0o055)
    (workshop_copy / closed).chmod(0)
    try:
        done = command(workshop_copy, *words, preexec_fn=nobody, env=os.environ | {"HOME": str(workshop_copy)})
    finally:
        (workshop_copy / closed).chmod(0o755)
    one_line(done, says="not allowed with your rights")


@pytest.mark.parametrize("length", [249, 255, 300])
def test_long_names(workshop_copy, length):
    name = "a" * (length - 4) + ".npz"
    done = command(workshop_copy, "scan", "pack.tussock", "--out", name)
    if length > 255:
        one_line(done, says="the name is too long")
    else:
        assert done.returncode == 0, done.stderr
        assert (workshop_copy / name).exists()
