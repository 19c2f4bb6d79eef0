"""What once went wrong is tried for ever, and a few new cases of chance with it (`make fuzz` tries as many as you like)."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest
from damage import STRUCTURES, damage

ROOT = Path(__file__).parents[2]
CASES = 60


def test_cases_of_chance(furnished_for_fuzzing, tmp_path):
    """In children with limits on memory and time, as always."""
    words = [
        "--cases",
        str(CASES),
        "--seed",
        "1",
        "--out",
        str(tmp_path / "fuzz"),
        "--workshop",
        str(furnished_for_fuzzing),
    ]
    done = subprocess.run(
        [sys.executable, ROOT / "tools" / "fuzz.py", *words], capture_output=True, text=True, check=False, timeout=1200,
        env=os.environ | {"TUSSOCK_FUZZ": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    counts = json.loads(done.stdout.splitlines()[-1])
    assert counts["cases"] == CASES
    assert counts["wrong"] == 0


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
def swells(): bytearray(4 * 2**30)
acts = [throws, crashes, hangs, swells]
targets.TARGETS.clear()
targets.TARGETS.update({{act.__name__: Target("path.csv", act) for act in acts}})
fuzz.LATEST_S = 15
fuzz.chosen = lambda seed, number, names: (names[number], __import__("random").Random(number))
fuzz.main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 1, done.stderr[-2000:]
    counts = json.loads(done.stdout.splitlines()[-1])
    found = {name: counts.get(name, 0) for name in ("traceback", "crash", "hang", "over the limit of memory")}
    assert found == dict.fromkeys(found, 1)
    assert counts["wrong"] == 4
    kept = sorted(path.name.split(" ")[0] for path in (tmp_path / "fuzz" / "wrong").glob("*.csv"))
    assert kept == ["crashes", "hangs", "swells", "throws"]
