"""Ctrl-C and kills: every command stops within a second, says what is kept, and leaves nothing half written."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

RUN = "from tussock.cli.app import main; main()"
SCENE = """
[[objects]]
ground = {size_m = [60, 60]}
"""


STARTED: list[subprocess.Popen[str]] = []


@pytest.fixture(autouse=True)
def nothing_runs_on() -> Iterator[None]:
    """A test that fails leaves no command running behind it."""
    yield
    for process in STARTED:
        process.kill()
        process.communicate()
    STARTED.clear()


def start(folder: Path, *words: object, code: str = RUN) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", code, *map(str, words)], cwd=folder, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    STARTED.append(process)
    return process


def wait_until(ready, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 400  # kernels may have to be compiled first
    while not ready():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def stopped(process: subprocess.Popen[str], number: int) -> tuple[int, str, float]:
    begin = time.monotonic()
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    return process.returncode, err, time.monotonic() - begin


@pytest.mark.parametrize(("number", "word"), [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "stopped")])
def test_a_range_says_what_is_kept_and_how_to_go_on(number, word, tmp_path):
    (tmp_path / "s.toml").write_text(SCENE)
    words = ["scan", "s.toml", "--sensor", "vlp-16", "--rays", "9", "--to", "40", "--out", "f.npz"]
    process = start(tmp_path, *words)
    wait_until(lambda: len(list(tmp_path.glob("f_*.npz"))) > 2, process)
    status, err, _ = stopped(process, number)
    assert status == 128 + number
    kept = len(list(tmp_path.glob("f_*.npz")))
    assert f"{word}; {kept} of 400 frames are finished and kept: the same command goes on from there" in err
    assert "Traceback" not in err
    assert not list(tmp_path.glob(".*"))


def test_one_file_that_was_begun_is_gone(tmp_path):
    (tmp_path / "s.toml").write_text(SCENE)
    process = start(tmp_path, "scan", "s.toml", "--sensor", "vlp-16", "--to", "400", "--out", "f.pcap")
    wait_until(lambda: list(tmp_path.glob(".f.pcap*")), process)
    status, err, _ = stopped(process, signal.SIGINT)
    assert (status, err.strip().splitlines()[-1]) == (130, "interrupted; nothing was written")
    assert [path.name for path in tmp_path.iterdir()] == ["s.toml"]


STUCK = """
import ctypes
from pathlib import Path
import tussock.cli.app as app
from tussock.whole_files import whole_file, whole_folder

def stuck():
    with whole_file(Path("a.txt")) as part, whole_folder(Path("b")) as folder:
        part.write_text("half")
        folder.mkdir()
        (folder / "c").write_text("half")
        print("ready", flush=True)
        until = ctypes.CDLL(None).time(None) + 30
        while ctypes.CDLL(None).time(None) < until:
            ctypes.CDLL(None).usleep(900000)

app.app.command()(stuck)
app.main()
"""


def test_a_command_that_does_not_listen_is_ended(tmp_path):
    process = start(tmp_path, "stuck", code=STUCK)
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    status, err, seconds = stopped(process, signal.SIGINT)
    assert (status, err) == (130, "interrupted; nothing was written\n")
    assert seconds < 5, "a second, and what a busy machine adds"
    assert list(tmp_path.iterdir()) == []


IGNORED = """
import os, signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
from tussock.cli import app

def gone():
    os.kill(os.getpid(), signal.SIGHUP)
    print("still here")

app.app.command()(gone)
app.main()
"""


def test_an_ignored_signal_stays_ignored(tmp_path):
    process = start(tmp_path, "gone", code=IGNORED)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "still here\n", "")


def test_signals_of_others_are_as_before(tussock):
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)]
    assert tussock("scenes")[0] == 0
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)] == before
