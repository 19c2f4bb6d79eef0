"""What the system can refuse is one line at every command, and nothing half written is left; `make faults` tries more."""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from broken_system import mistakes
from powerless import powerless
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


@pytest.mark.parametrize(
    ("took", "found"),
    [
        ((0, "", set(), "open", True), []),
        ((0, "note: a\n", {"out.npz"}, "open", True), []),
        ((0, "", {"out.npz"}, "open", False), ["ends well, and its files differ"]),
        ((2, "error: a\n", set(), "open", False), []),
        ((2, "note: a\nerror: a\n", set(), "open", False), []),
        ((2, "error: a\nException ignored in\n", set(), "open", False), ["does not say one line"]),
        ((2, "", set(), "open", False), ["does not say one line"]),
        ((None, "Traceback\nOSError\n", set(), "open", False), ["ends in a traceback"]),
        ((1, "error: a\n", set(), "open", False), ["ends with status 1"]),
        ((3, "error: a\n", set(), "open", False), ["ends with status 3"]),
        ((2, "error: a\n", {".out.npz.tussock.part"}, "open", False), ["leaves parts behind"]),
        ((2, "error: a\n", {".out.npz.tussock.part"}, "os.remove", False), []),
    ],
)
def test_what_is_held_against_a_command(took, found):
    assert mistakes("scan", *took) == found


def test_without_the_net_every_refusal_is_found(workshop_copy):
    """The check of the check: with the net of the command line cut, every command that fails is told."""
    code = "import tussock.cli.app as app\ndef cut(error): raise error\napp._failed = cut\nimport broken_system; broken_system.main()"
    done = subprocess.run(
        [sys.executable, "-c", code, workshop_copy, "1", "2", "unpack", "motion"], capture_output=True, text=True,
        check=False, timeout=600, env=os.environ | {"PYTHONPATH": os.pathsep.join([str(HERE), *sys.path])},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    *wrong, counts = map(json.loads, done.stdout.splitlines())
    assert {one["command"] for one in wrong} == {"unpack", "motion"}
    assert all("ends in a traceback" in one["wrong"] for one in wrong)
    assert counts["wrong"] == len(wrong) > 0


def command(folder: Path, *words: object, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", RUN, *map(str, words)], cwd=folder, capture_output=True, text=True, check=False,
        timeout=600, **options,
    )  # fmt: skip


def one_line(done: subprocess.CompletedProcess[str], *, says: str) -> None:
    assert done.returncode == 2, done.stderr[-2000:]
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1, done.stderr[-2000:]
    assert re.search(says, done.stderr), done.stderr


def test_a_full_device_as_output(workshop_copy):
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full: run it on Linux")
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
    said = [line for line in done.stderr.splitlines() if not line.startswith("note: ")]
    assert [line[:7] for line in said] == ["error: "], done.stderr[-3000:]
    assert {path.name for path in workshop_copy.iterdir()} == before


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
def test_what_may_not_be_read(workshop_copy, words, closed):
    (workshop_copy / closed).chmod(0)
    try:
        done = command(workshop_copy, *words, **powerless(workshop_copy))
    finally:
        (workshop_copy / closed).chmod(0o755)
    one_line(done, says="not allowed with your rights|is not readable")  # by us, or by the parser of the command line


@pytest.mark.parametrize("length", [249, 255, 300])
def test_long_names(workshop_copy, length):
    name = "a" * (length - 4) + ".npz"
    done = command(workshop_copy, "scan", "pack.tussock", "--out", name)
    if length > 255:
        one_line(done, says="the name is too long")
    else:
        assert done.returncode == 0, done.stderr
        assert (workshop_copy / name).exists()
