"""What may happen to a command while it runs: `make faults`, or

    python tools/faults.py --signals 300 --refusals 20        # counts, and what went wrong
    python tools/faults.py --signals 40 --only pack

Signals: every command that writes something is started again and again and gets SIGINT, SIGTERM, SIGHUP or SIGKILL at a
random moment. What is there then must be whole and the same, byte for byte, as without the signal, and nothing else may
be left; after SIGKILL, which nobody can answer, the same command run once more must bring that about. Refusals: of
everything a command does with files, one fails (tests/faults/broken_system.py). And the tests of tests/faults, also
those that take long.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "faults"), str(ROOT / "tests")]
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what runs in its background ignore it
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and nohup this
LONGEST_S = 120
NOTES = ("progress.jsonl", ".run.json", "manifest.json", "journal")
"""files in which a command notes how far it is, so that it can go on"""


def start(words: list[str]) -> int:
    """The process of a command; everything is imported already, nothing has been traced."""
    process = os.fork()
    if process:
        return process
    try:
        from tussock.cli.app import main

        nowhere = os.open(os.devnull, os.O_RDWR)
        for channel in (0, 1, 2):
            os.dup2(nowhere, channel)
        sys.argv = ["tussock", *words]
        main()
    except SystemExit as stop:
        os._exit(int(stop.code or 0))
    except KeyboardInterrupt:  # after its end
        os._exit(128 + signal.SIGINT)
    finally:
        os._exit(99)


def end(process: int) -> int | None:
    """Its exit status, minus the signal that ended it, or None where it goes on and on."""
    late = time.monotonic() + LONGEST_S
    while time.monotonic() < late:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(process, signal.SIGKILL)
    os.waitpid(process, 0)
    return None


def digests(before: set[str]) -> dict[str, str]:
    new = [path for path in Path().rglob("*") if str(path) not in before and path.is_file()]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(new)}


def clean(before: set[str]) -> None:
    for path in sorted(Path().rglob("*"), reverse=True):
        if str(path) not in before:
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)


def differs(found: dict[str, str], whole: dict[str, str], *, begun: bool) -> list[str]:
    """What is not as it should be; ``begun``: a part of the files may be there, and notes."""
    wrong = [f"differs: {name}" for name, digest in found.items() if name in whole and digest != whole[name]]
    wrong = [one for one in wrong if not (begun and one.endswith(NOTES))]
    extra = [name for name in found if name not in whole and not (begun and any(note in name for note in NOTES))]
    missing = [] if begun else [name for name in whole if name not in found]
    return wrong + [f"left: {name}" for name in extra] + [f"missing: {name}" for name in missing]


def signals(folder: Path, count: int, seed: int, only: str) -> int:
    from targets import LIBRARIES
    from workshop import COMMANDS

    for library in (*LIBRARIES, "matplotlib.pyplot", "tussock.datasets.write", "tussock.rigs.log"):
        with suppress(ImportError):
            importlib.import_module(library)  # once, before the children are made
    os.chdir(folder)
    before = {str(path) for path in Path().rglob("*")}
    draw = random.Random(seed)
    chosen = {name: words for name, words in COMMANDS.items() if "--out" in words and only in name}
    known: dict[str, tuple[dict[str, str], float]] = {}
    for name, words in chosen.items():
        for _ in range(2):  # the second has every kernel in the cache
            clean(before)
            begin = time.monotonic()
            status = end(start(words))
            taken = time.monotonic() - begin
        if status != 0:
            sys.exit(f"faults: {name} ends with status {status} even when left alone")
        known[name] = (digests(before), taken)
    counts: Counter[str] = Counter()
    failed = 0
    for number in range(count):
        name = draw.choice(list(chosen))
        whole, taken = known[name]
        clean(before)
        kind = draw.choice(SIGNALS)
        process = start(chosen[name])
        time.sleep(draw.uniform(0, 1.1 * taken))
        os.kill(process, kind)
        status = end(process)
        found = digests(before)
        finished = status == 0 and found == whole
        wrong = [] if finished or kind == signal.SIGKILL else differs(found, whole, begun=True)
        if status is None:
            wrong.append("does not stop")
        elif status not in (0, 128 + kind, -kind):
            wrong.append(f"ends with status {status}")
        if kind == signal.SIGKILL and found != whole:
            kept = {one: digest for one, digest in found.items() if not one.rpartition("/")[2].startswith(".")}
            kept = {one: digest for one, digest in kept.items() if ".part/" not in one}
            wrong += differs(kept, whole, begun=True)
            again = end(start(chosen[name]))
            wrong += differs(digests(before), whole, begun=False)
            wrong += [f"run again it ends with status {again}"] if again not in (0, 2) else []
        counts[f"{kind.name}, {'finished before' if finished else 'stopped'}"] += 1
        if wrong:
            failed += 1
            print(f"{number} {name}, {kind.name}: {'; '.join(wrong)[:400]}", flush=True)
        if number % 20 == 19:
            print(f"{number + 1} signals so far, {failed} wrong", flush=True)
    print(f"{count} signals, {failed} wrong: {dict(counts)}", flush=True)
    return failed


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--signals", type=int, default=300)
    options.add_argument("--refusals", type=int, default=20, help="a command")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", default="", help="commands whose names hold this")
    options.add_argument("--workshop", type=Path, help="a furnished folder, which is copied")
    options.add_argument("--no-tests", action="store_true")
    given = options.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve() / "workshop"
        if given.workshop:
            shutil.copytree(given.workshop, folder)
        else:
            code = "import sys; from pathlib import Path; from workshop import furnish; furnish(Path(sys.argv[1]))"
            paths = os.pathsep.join([*sys.path[:2], os.environ.get("PYTHONPATH", "")])
            subprocess.run([sys.executable, "-c", code, folder], check=True, env=os.environ | {"PYTHONPATH": paths})
        if given.signals:
            failed += signals(folder, given.signals, given.seed, given.only)
        if given.refusals:
            broken = [
                sys.executable,
                ROOT / "tests" / "faults" / "broken_system.py",
                folder,
                given.seed,
                given.refusals,
            ]
            done = subprocess.run([*map(str, broken)], check=False, capture_output=True, text=True)
            print(done.stdout, end="", flush=True)
            failed += done.returncode != 0 or '"wrong": 0}' not in done.stdout
        os.chdir(ROOT)
    if not given.no_tests:
        tests = [sys.executable, "-m", "pytest", "tests/faults"]
        failed += subprocess.run(tests, check=False, env=os.environ | {"TUSSOCK_FAULTS": "1"}).returncode != 0
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
