"""Damaged files for every loader and command: `make fuzz`, or

    python tools/fuzz.py --cases 100000 --seed 7             # counts, and what went wrong, below build/fuzz
    python tools/fuzz.py --only capture --cases 1000
    python tools/fuzz.py --seed 7 --case 4711                # one case again, with its traceback

Each case is a file of the workshop (tests/faults/workshop.py), damaged by chance that depends on seed and number alone
(tests/faults/damage.py), and read by its loader or command (tests/faults/targets.py). Children do them, one after the
other, with a limit on memory and on time. A case is good if the file is read or refused by an error of ours; wrong are
tracebacks, crashes of the process, hangs, and taking more memory than allowed. The damaged file of each wrong case is
kept: put it into tests/faults/corpus, where the suite tries it for ever.
"""

from __future__ import annotations

import argparse
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
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tests" / "faults"), str(ROOT / "tests")]
LONGEST_S, LATEST_S = 20, 600
"""of a case: its own time, so that a busy machine makes no hang, and the clock's"""
MOST_BYTES = 2**30
BATCH = 2000


def chosen(seed: int, number: int, names: list[str]) -> tuple[str, random.Random]:
    """The target of a case, and its chance."""
    from targets import TARGETS

    draw = random.Random(f"{seed}/{number}")
    return draw.choices(names, [TARGETS[name].weight for name in names])[0], draw


def do(seed: int, number: int, names: list[str]) -> tuple[str, str, str]:
    """Target, outcome and traceback of one case, in the folder of the workshop."""
    from damage import damage
    from targets import TARGETS, outcome

    name, draw = chosen(seed, number, names)
    file = Path(TARGETS[name].file)
    before = file.read_bytes()
    file.write_bytes(damage(before, file.suffix, draw))
    try:
        return name, outcome(TARGETS[name]), ""
    except MemoryError:
        return name, "over the limit of memory", traceback.format_exc()
    except BaseException:
        return name, "traceback", traceback.format_exc()
    finally:
        file.write_bytes(before)


def child(seed: int, numbers: range, names: list[str], pipe: int) -> None:
    """Do cases one after the other; each is told before and after."""
    base = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    virtual = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (virtual + 3 * MOST_BYTES, virtual + 3 * MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    for number in numbers:
        os.write(pipe, json.dumps([number]).encode() + b"\n")
        name, end, text = do(seed, number, names)
        taken = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - base
        if taken > MOST_BYTES and end != "traceback":
            end = "over the limit of memory"
        os.write(pipe, json.dumps([number, name, end, text[-3000:]]).encode() + b"\n")
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


def batch(seed: int, numbers: range, names: list[str]) -> tuple[list[list[str]], int]:
    """Rows (number, target, outcome, traceback) of what one child did, and the first case that it did not come to."""
    read, write = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(read)
        try:
            child(seed, numbers, names, write)
        finally:
            os._exit(99)
    os.close(write)
    rows, text, begun, why = [], b"", None, "crash"
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
            rows += [line] if len(line) > 1 else []
        if not piece:
            break
    os.close(read)
    _, status = os.waitpid(process, 0)
    if begun is not None:
        rows.append([begun, chosen(seed, begun, names)[0], why, f"status {status}"])
    elif not rows:
        sys.exit(f"fuzz: a child ended before its first case, with status {status}")
    return rows, rows[-1][0] + 1


def keep(seed: int, row: list, names: list[str], workshop: Path, kept: Path) -> None:
    """Keep the damaged file of a case that went wrong, and what was said."""
    from damage import damage
    from targets import TARGETS

    name, draw = chosen(seed, row[0], names)
    file = workshop / TARGETS[name].file
    target = kept / f"{name} {seed}-{row[0]}{file.suffix}".replace("/", "_")
    target.write_bytes(damage(file.read_bytes(), file.suffix, draw))
    target.with_suffix(target.suffix + ".txt").write_text(f"{row[1]}: {row[2]}\n{row[3]}\n")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--cases", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--case", type=int, help="this one alone, in this process")
    options.add_argument("--from", type=int, default=0, dest="first", help="number of the first case")
    options.add_argument("--only", action="append", help="targets whose names hold this")
    options.add_argument("--workshop", type=Path, help="a folder that is furnished already, which is copied")
    options.add_argument("--out", type=Path, default=ROOT / "build" / "fuzz")
    given = options.parse_args()
    from targets import TARGETS
    from workshop import furnish_for_fuzzing

    import tussock.cli.app  # noqa: F401  once, before the children are made

    names = [name for name in TARGETS if not given.only or any(part in name for part in given.only)]
    out = given.out.resolve()
    workshop = out / "workshop"
    if given.workshop:
        workshop = given.workshop.resolve()
    elif not (workshop / "ready").exists():
        shutil.rmtree(workshop, ignore_errors=True)
        process = os.fork()  # this process must not have threads when it makes children
        if process == 0:
            furnish_for_fuzzing(workshop)
            (workshop / "ready").touch()
            os._exit(0)
        os.waitpid(process, 0)
    place, kept = out / f"place-{os.getpid()}", out / "wrong"
    kept.mkdir(parents=True, exist_ok=True)
    shutil.copytree(workshop, place)
    os.chdir(place)
    os.environ["TMPDIR"] = str(place)
    if given.case is not None:
        print(*do(given.seed, given.case, names), sep="\n")
        return
    counts: Counter[str] = Counter()
    begin, number, end = time.monotonic(), given.first, given.first + given.cases
    try:
        while number < end:
            rows, number = batch(given.seed, range(number, min(number + BATCH, end)), names)
            for row in rows:
                counts[row[2]] += 1
                if row[2] not in ("read", "refused"):
                    keep(given.seed, row, names, workshop, kept)
                    print(f"{row[0]} {row[1]}: {row[2]}: {(row[3].strip().splitlines() or [''])[-1][:200]}", flush=True)
                    shutil.rmtree(place)  # whatever it left
                    shutil.copytree(workshop, place)
                    os.chdir(place)
            print(f"{number - given.first} cases, {time.monotonic() - begin:.0f} s: {dict(counts)}", flush=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    wrong = sum(counts.values()) - counts["read"] - counts["refused"]
    print(json.dumps({"cases": sum(counts.values()), "seed": given.seed, "wrong": wrong, **counts}))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
