"""As in a container: the package and its folders cannot be written, nor any home."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from powerless import powerless

import tussock

SCENE = "[[objects]]\nplane = {size_m = [20, 20]}\n"
all_of_it = pytest.mark.skipif(
    "TUSSOCK_FAULTS" not in os.environ,
    reason="compiles every kernel for a minute; run it with TUSSOCK_FAULTS=1, as `make faults` does",
)
PACKAGE = Path(tussock.__file__).parent


@pytest.fixture(scope="module")
def sealed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the package without its caches, that nobody may write to."""
    folder = tmp_path_factory.mktemp("sealed")
    shutil.copytree(PACKAGE, folder / "tussock", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o555 if path.is_dir() else 0o444)
    yield folder
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o755)


COUNTED = """
import sys
from numba.core import event
class Listener(event.Listener):
    def on_start(self, event): print("compiled", file=sys.stderr)
    def on_end(self, event): pass
event.register("numba:compile", Listener())
from tussock.cli.app import main
main()
"""


def run(sealed: Path, folder: Path, *words: str, code: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "LANG", "LD_LIBRARY_PATH")}
    return subprocess.run(
        [sys.executable, "-B", "-c", code, *words], cwd=folder, capture_output=True, text=True, check=False, timeout=1500,
        env=kept | {"PYTHONPATH": str(sealed), "TMPDIR": str(folder), "HOME": str(sealed / "nobody")}, **powerless(folder),
    )  # fmt: skip


@pytest.mark.parametrize(
    "words", [["sensors"], ["scenes"], ["sensors", "vlp-16"], ["validate", "--list"], ["--version"]]
)
def test_commands_that_need_no_kernel_compile_none(sealed, tmp_path, words):
    done = run(sealed, tmp_path, *words, code=COUNTED)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ["sensors", "vlp-16", "--plot", "f.png"],  # one kernel
        pytest.param(["scan", "s.toml", "--sensor", "vlp-16", "--out", "f.npz", "--picture", "f.png"], marks=all_of_it),
    ],
)
def test_what_needs_kernels_works_and_says_one_line(sealed, tmp_path, words):
    (tmp_path / "s.toml").write_text(SCENE)
    done = run(sealed, tmp_path, *words, code="from tussock.cli.app import main; main()")
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stderr == (
        "note: no folder can be written to keep compiled code: every start compiles it again; "
        "set NUMBA_CACHE_DIR to a folder that can be written\n"
    )
    assert {word for word in words if word.startswith("f.")} <= {path.name for path in tmp_path.iterdir()}
