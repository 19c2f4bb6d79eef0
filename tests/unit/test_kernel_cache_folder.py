"""A cache of compiled code that is damaged, full or closed is no reason to stop."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TEXT = """
from tussock.kernels import kernel

@kernel
def double(x):
    return 2 * x

print(double(21), sum(double.stats.cache_hits.values()))
"""


def run(folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    (folder / "numbers_doubled.py").write_text(TEXT)
    env = os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache"), **more}
    return subprocess.run(
        [sys.executable, "numbers_doubled.py"], cwd=folder, capture_output=True, text=True, check=False, timeout=600,
        env=env,
    )  # fmt: skip


@pytest.mark.parametrize("damage", [b"", b"garbage", b"\x80\x05"])
def test_a_damaged_cache_is_made_again(tmp_path, damage):
    assert run(tmp_path).stdout == "42 0\n"
    assert run(tmp_path).stdout == "42 1\n"
    files = [file for file in (tmp_path / "cache").rglob("*") if file.is_file()]
    assert {file.suffix for file in files} == {".nbi", ".nbc"}
    for file in files:
        file.write_bytes(damage)
    done = run(tmp_path)
    assert (done.returncode, done.stdout) == (0, "42 0\n"), done.stderr


def test_a_cache_that_cannot_be_written_later_is_said(tmp_path):
    text = TEXT.replace(
        "print(", "import errno\ndef full(*_): raise OSError(errno.ENOSPC, 'No space left on device')\n"
        "double._cache._cache_file.save = full\nprint(", 1,
    )  # fmt: skip
    (tmp_path / "cache").mkdir()
    (tmp_path / "numbers_doubled.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "numbers_doubled.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600,
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "42 0\n"), done.stderr
    assert "UncachedWarning: compiled code could not be kept (No space left on device)" in done.stderr
