"""What once went wrong is tried for ever, and a few new cases of chance with it (`make fuzz` tries as many as you like)."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from damage import STRUCTURES, damage
from targets import TARGETS
from workshop_recordings import OSF_IS_READ

ROOT = Path(__file__).parents[2]
CORPUS = Path(__file__).parent / "corpus"
CASES = 60
CANNOT_SHOW = ("view a capture", "view a log")
"""targets that are refused even if their file is whole: nothing is to be opened in a browser"""


def fuzz(*words: str | Path) -> tuple[subprocess.CompletedProcess[str], dict[str, int]]:
    """In children with limits on memory and time, as always."""
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "fuzz.py", *map(str, words)], capture_output=True, text=True, check=False,
        timeout=1200, env=os.environ | {"TUSSOCK_FUZZ": "1"},
    )  # fmt: skip
    assert done.stdout, done.stderr[-2000:]
    return done, json.loads(done.stdout.splitlines()[-1])


def test_cases_of_chance(furnished_for_fuzzing, tmp_path):
    done, counts = fuzz(
        "--cases", CASES, "--seed", 1, "--out", tmp_path / "fuzz", "--workshop", furnished_for_fuzzing
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert counts["cases"] == CASES
    assert counts["wrong"] == 0


def test_what_once_went_wrong(furnished_for_fuzzing, tmp_path):
    files = [file for file in CORPUS.iterdir() if file.suffix != ".osf" or OSF_IS_READ]
    done, counts = fuzz("--corpus", CORPUS, "--out", tmp_path / "fuzz", "--workshop", furnished_for_fuzzing)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    assert counts["cases"] == len(files) >= 5
    assert counts["wrong"] == 0


def test_a_run_goes_on_where_it_was(furnished_for_fuzzing, tmp_path):
    words = ("--seed", 3, "--only", "path", "--out", tmp_path / "fuzz", "--workshop", furnished_for_fuzzing)
    fuzz("--cases", 3, *words)
    done, counts = fuzz("--cases", 5, *words)
    assert counts["cases"] == 5
    assert done.stdout.count(" cases, ") == 1
    notes = json.loads((tmp_path / "fuzz" / "seed-3.json").read_text())
    assert sum(notes["targets"]["path"].get(key, 0) for key in ("read", "refused")) == 5


def test_every_target_reads_its_file_when_it_is_whole(furnished_for_fuzzing, tmp_path, monkeypatch):
    """Otherwise a target would try nothing: it would refuse everything for a reason of its own."""
    from tussock.errors import TussockError

    shutil.copytree(furnished_for_fuzzing, tmp_path / "it")
    monkeypatch.chdir(tmp_path / "it")
    for name, target in TARGETS.items():
        assert Path(target.file).is_file(), name
        if name not in CANNOT_SHOW:
            try:
                target.act()
            except TussockError as error:
                pytest.fail(f"{name}: {error}")


@pytest.mark.parametrize("suffix", [*STRUCTURES, ".bin"])
def test_the_same_seed_damages_alike(suffix):
    data = json.dumps({"a": [1, 2.5, "x"], "entries": {}}).encode() * 3
    one, two, other = (damage(data, suffix, random.Random(seed)) for seed in (7, 7, 8))
    assert one == two
    assert one != other


def test_what_goes_wrong_is_noticed(furnished_for_fuzzing, tmp_path):
    """The check of the check: targets that throw, crash, hang or take all memory are told apart."""
    code = f"""
import os, sys, time
sys.argv = ["fuzz.py", "--cases", "4", "--out", {str(tmp_path / "fuzz")!r}, "--workshop", {str(furnished_for_fuzzing)!r}]
sys.path.insert(0, {str(ROOT / "tools")!r})
import fuzz, targets
from targets import Target
def throws(): raise KeyError("x")
def crashes(): os.abort()
def hangs(): time.sleep(100)
def swells(): bytearray(9 * 2**30)
acts = [throws, crashes, hangs, swells]
targets.TARGETS.clear()
targets.TARGETS.update({{act.__name__: Target("path.csv", act) for act in acts}})
fuzz.LATEST_S = 15
fuzz.ByChance._drawn = lambda self, number: (self.names[number], __import__("random").Random(number))
fuzz.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 1, done.stderr[-2000:]
    counts = json.loads(done.stdout.splitlines()[-1])
    found = {name: counts.get(name, 0) for name in ("traceback", "crash", "hang", "over the limit of memory")}
    assert found == dict.fromkeys(found, 1)
    assert counts["wrong"] == 4
    kept = sorted(path.name.split("@")[0] for path in (tmp_path / "fuzz" / "wrong").glob("*.csv"))
    assert kept == ["crashes", "hangs", "swells", "throws"]
