"""Damaged files for every loader and command: `make fuzz`, or

    python tools/fuzz.py --cases 100000 --seed 7             # counts, and what went wrong, below build/fuzz
    python tools/fuzz.py --cases 100000 --seed 7             # stopped before its end? it goes on where it was
    python tools/fuzz.py --only capture --cases 1000
    python tools/fuzz.py --seed 7 --case 4711                # one case again, with its traceback
    python tools/fuzz.py --corpus tests/faults/corpus        # what once went wrong

Each case is a file of the workshop (tests/faults/workshop.py), damaged by chance that depends on seed and number alone
(tests/faults/damage.py), and read by its loader or command (tests/faults/targets.py). Children do them, one after the
other, with a limit on memory and on time. A case is good if the file is read or refused by an error of ours; wrong are
tracebacks, crashes of the process, hangs, and taking more memory than allowed. The damaged file of each wrong case is
kept below build/fuzz/wrong, named as tests/faults/corpus names its files: put it there, and the suite tries it for ever.
Counts and processor time of each target are in build/fuzz/seed-7.json.
"""

from __future__ import annotations

import argparse
import faulthandler
import importlib
import json
import os
import random
import resource
import select
import shutil
import signal
import sys
import time
import traceback
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, Protocol

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "faults"), str(ROOT / "tests")]
LONGEST_S, LATEST_S = 20, 600
"""of a case: its own time, so that a busy machine makes no hang, and the clock's"""
MOST_BYTES = 2**30
"""that a case may take"""
MOST_ADDRESSES = 8 * 2**30
"""beside what is mapped at first: an allocation beyond is refused at once; threads reserve much that they never take"""
BATCH = 2000
FEW = 500
"""cases, for which it does not pay to import everything at once"""
STACKS = "stacks.txt"
GOOD = ("read", "refused")


class Case(NamedTuple):
    number: int
    target: str
    outcome: str
    """``read``, ``refused``, or what is wrong"""
    said: str
    """the traceback of what is wrong"""
    seconds: float
    """of the processor"""


class Cases(Protocol):
    def target(self, number: int) -> str:
        """Name of what reads the file of a case."""

    def damaged(self, number: int, before: bytes) -> bytes:
        """That file, of which the workshop holds ``before``."""

    def called(self, number: int) -> str:
        """What its file is called where it is kept; the target comes before the @."""


class ByChance(NamedTuple):
    """Cases that depend on seed and number alone."""

    seed: int
    names: list[str]

    def target(self, number: int) -> str:
        return self._drawn(number)[0]

    def damaged(self, number: int, before: bytes) -> bytes:
        from damage import damage
        from targets import TARGETS

        name, draw = self._drawn(number)
        return damage(before, Path(TARGETS[name].file).suffix, draw)

    def called(self, number: int) -> str:
        from targets import TARGETS

        name = self.target(number)
        return f"{file_name(name)}@{self.seed}-{number}{Path(TARGETS[name].file).suffix}"

    def _drawn(self, number: int) -> tuple[str, random.Random]:
        from targets import TARGETS

        draw = random.Random(f"{self.seed}/{number}")
        return draw.choices(self.names, [TARGETS[name].weight for name in self.names])[0], draw


class Corpus(NamedTuple):
    """The files of a folder, each named as it was kept."""

    files: list[Path]

    def target(self, number: int) -> str:
        from targets import TARGETS

        name = self.files[number].name.rpartition("@")[0]
        return next(target for target in TARGETS if file_name(target) == name)

    def damaged(self, number: int, before: bytes) -> bytes:
        return self.files[number].read_bytes()

    def called(self, number: int) -> str:
        return self.files[number].name


def file_name(target: str) -> str:
    return target.replace("/", "_").replace(" ", "_").replace("'", "")


def do(source: Cases, number: int) -> Case:
    """One case, in the folder of the workshop."""
    from targets import TARGETS

    name = source.target(number)
    file = Path(TARGETS[name].file)
    before = file.read_bytes()
    file.write_bytes(source.damaged(number, before))
    try:
        return attempt(number, name)
    finally:
        file.write_bytes(before)


def attempt(number: int, name: str) -> Case:
    """What a target makes of the workshop as it is."""
    from targets import TARGETS, outcome

    said, begun = "", time.process_time()
    try:
        end = outcome(TARGETS[name])
    except MemoryError:
        end, said = "over the limit of memory", traceback.format_exc()
    except BaseException:
        end, said = "traceback", traceback.format_exc()
    return Case(number, name, end, said[-3000:], time.process_time() - begun)


def child(source: Cases, numbers: range, pipe: int) -> None:
    """Do cases one after the other; each is told before and after."""
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    virtual = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (virtual + MOST_ADDRESSES, virtual + MOST_ADDRESSES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    faulthandler.enable(os.open(STACKS, os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
    for number in numbers:
        os.write(pipe, json.dumps([number]).encode() + b"\n")
        case = do(source, number)
        taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - base
        if taken > MOST_BYTES and case.outcome != "traceback":
            case = case._replace(outcome="over the limit of memory")
        os.write(pipe, json.dumps(case).encode() + b"\n")
        if taken > MOST_BYTES:
            break  # the most that was ever taken does not go down again
    os._exit(0)


def own_time(process: int) -> float:
    """[s] that a process has worked."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def batch(source: Cases, numbers: range) -> list[Case]:
    """The cases that one child did; one that breaks it is its last."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(read)
        try:
            child(source, numbers, write)
        finally:
            os._exit(99)
    os.close(write)
    cases: list[Case] = []
    text, begun, why = b"", None, "crash"
    since = (0.0, time.monotonic())
    while True:
        ready, _, _ = select.select([read], [], [], 0.5)
        if not ready:
            if begun is not None and (
                own_time(process) - since[0] > LONGEST_S or time.monotonic() - since[1] > LATEST_S
            ):
                why = "hang"
                os.kill(process, signal.SIGKILL)
                break
            continue
        piece = os.read(read, 65536)
        text += piece
        *lines, text = text.split(b"\n")
        for line in map(json.loads, lines):
            begun = line[0] if len(line) == 1 else None
            since = (own_time(process), time.monotonic())
            cases += [Case(*line)] if len(line) > 1 else []
        if not piece:
            break
    os.close(read)
    _, status = os.waitpid(process, 0)
    if begun is not None:
        cases.append(Case(begun, source.target(begun), why, f"status {status}\n{stacks()}", 0.0))
    elif not cases:
        sys.exit(f"fuzz: a child ended before its first case, with status {status}")
    return cases


def stacks() -> str:
    """Where the threads of a child were when it crashed, as far as it could still say."""
    try:
        return Path(STACKS).read_text(errors="replace")[-3000:]
    except FileNotFoundError:
        return ""


def keep(source: Cases, case: Case, workshop: Path, kept: Path) -> None:
    """Keep the damaged file of a case that went wrong, and what was said."""
    from targets import TARGETS

    target = kept / source.called(case.number)
    target.write_bytes(source.damaged(case.number, (workshop / TARGETS[case.target].file).read_bytes()))
    target.with_suffix(target.suffix + ".txt").write_text(f"{case.target}: {case.outcome}\n{case.said}\n")


class Tally:
    """How far a run of cases is: counts and processor time of each target, in a file."""

    def __init__(self, path: Path, of: dict[str, Any], first: int) -> None:
        """``of``: what a run must have in common with the one in the file to go on with it."""
        self._path = path
        of = json.loads(json.dumps(of | {"first": first}))
        try:
            found = json.loads(path.read_text())
        except FileNotFoundError:
            found = {}
        self.state: dict[str, Any] = found if found.get("of") == of else {"of": of, "next": first, "targets": {}}

    def add(self, cases: list[Case]) -> None:
        for case in cases:
            target = self.state["targets"].setdefault(case.target, {})
            target[case.outcome] = target.get(case.outcome, 0) + 1
            target["seconds"] = round(target.get("seconds", 0.0) + case.seconds, 4)
        self.state["next"] = cases[-1].number + 1
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(self.state, indent=1) + "\n")
        part.replace(self._path)

    @property
    def counts(self) -> dict[str, int]:
        found: dict[str, int] = {}
        for target in self.state["targets"].values():
            for key, number in target.items():
                if key != "seconds":
                    found[key] = found.get(key, 0) + number
        return found

    @property
    def seconds(self) -> float:
        return sum(target["seconds"] for target in self.state["targets"].values())


def furnished(out: Path) -> Path:
    from workshop import furnish_for_fuzzing

    workshop = out / "workshop"
    ready = workshop / "ready"
    # Of older code it is made anew, which compiles, too: a case would pay for that, and be called a hang.
    changed = max(file.stat().st_mtime for file in (ROOT / "src").rglob("*.py"))
    if not ready.exists() or ready.stat().st_mtime < changed:
        shutil.rmtree(workshop, ignore_errors=True)
        process = os.fork()  # this process must not have threads when it makes children
        if process == 0:
            try:
                furnish_for_fuzzing(workshop)
                ready.touch()
                os._exit(0)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(1)
        if os.waitpid(process, 0)[1]:
            sys.exit("fuzz: the workshop could not be furnished")
    return workshop


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--cases", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--case", type=int, help="this one alone, in this process")
    options.add_argument("--from", type=int, default=0, dest="first", help="number of the first case")
    options.add_argument("--only", action="append", help="targets whose names hold this")
    options.add_argument("--corpus", type=Path, help="the files of this folder instead of cases by chance")
    options.add_argument("--workshop", type=Path, help="a folder that is furnished already, which is copied")
    options.add_argument("--out", type=Path, default=ROOT / "build" / "fuzz")
    given = options.parse_args()
    from targets import LIBRARIES, TARGETS

    for library in LIBRARIES if given.cases > FEW else LIBRARIES[:1]:  # once, before the children are made
        with suppress(ImportError):
            importlib.import_module(library)
    names = [name for name in TARGETS if not given.only or any(part in name for part in given.only)]
    out = given.out.resolve()
    workshop = given.workshop.resolve() if given.workshop else furnished(out)
    place, kept = out / f"place-{os.getpid()}", out / "wrong"
    kept.mkdir(parents=True, exist_ok=True)

    end = given.first + given.cases
    weights = {name: TARGETS[name].weight for name in names}
    source: Cases = ByChance(given.seed, names)
    tally = Tally(out / f"seed-{given.seed}.json", {"weights": weights}, given.first)
    if given.corpus:
        there = {file_name(name) for name in TARGETS}  # some want a library that is not here
        files = [file for file in sorted(given.corpus.resolve().iterdir()) if file.name.rpartition("@")[0] in there]
        source, end = Corpus(files), len(files)
        tally = Tally(out / "corpus.json", {"at": time.time()}, 0)

    def begin_anew() -> None:
        shutil.rmtree(place, ignore_errors=True)
        shutil.copytree(workshop, place)
        os.chdir(place)

    begin_anew()
    os.environ["TMPDIR"] = str(place)
    try:
        if given.case is not None:
            print(*do(source, given.case), sep="\n")
            return
        while (number := tally.state["next"]) < end:
            cases = batch(source, range(number, min(number + BATCH, end)))
            for case in (case for case in cases if case.outcome not in GOOD):
                keep(source, case, workshop, kept)
                last = (case.said.strip().splitlines() or [""])[-1][:200]
                print(f"{case.number} {case.target}: {case.outcome}: {last}", flush=True)
            tally.add(cases)
            begin_anew()  # whatever they left
            done = tally.state["next"] - given.first
            print(f"{done} cases, {tally.seconds:.0f} s of the processor: {tally.counts}", flush=True)
    finally:
        os.chdir(out)
        shutil.rmtree(place, ignore_errors=True)
    counts = tally.counts
    wrong = sum(number for key, number in counts.items() if key not in GOOD)
    print(json.dumps({"cases": sum(counts.values()), "seed": given.seed, "wrong": wrong, **counts}))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
