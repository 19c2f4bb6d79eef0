"""Every command with every refusal of the system: the k-th thing that it does with a file or a folder fails.

Run as a program in a furnished folder; prints one JSON line a failure of ours and a last one with counts. Python tells of
each thing before it is done (audit events), and an exception there is the one that the caller gets.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import random
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

from workshop import COMMANDS

ERRNOS = (
    errno.EACCES, errno.ENOSPC, errno.EIO, errno.ENAMETOOLONG, errno.EROFS, errno.EMFILE, errno.ENOENT, errno.ENOMEM
)  # fmt: skip
EVENTS = (
    "open", "os.listdir", "os.scandir", "os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.chmod",
    "os.truncate", "shutil.rmtree", "shutil.copyfile", "tempfile.mkdtemp", "tempfile.mkstemp",
)  # fmt: skip


class Breaker:
    """Counts what is done in a folder, and makes one of these things fail."""

    def __init__(self, folder: Path) -> None:
        self._folder = str(folder)
        self.count, self.fails_at, self.code = 0, -1, 0
        self.active = False
        self.failed = ""

    def __call__(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.active or event not in EVENTS or not arguments:
            return
        name = arguments[0]
        if isinstance(name, bytes):
            name = os.fsdecode(name)
        if not isinstance(name, str | os.PathLike):
            return
        path = str(Path(name).absolute())
        if not path.startswith(self._folder) and event != "tempfile.mkdtemp":
            return
        self.count += 1
        if self.count == self.fails_at:
            self.failed = event
            raise OSError(self.code, os.strerror(self.code), str(name))


def run(words: list[str]) -> tuple[int | None, str, str]:
    """Exit status (None: an exception came through), output and errors of a command."""
    from tussock.cli.app import main

    sys.argv = ["tussock", *words]
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main()
        except SystemExit as stop:
            return int(stop.code or 0), out.getvalue(), err.getvalue()
        except BaseException as error:
            import traceback

            return None, out.getvalue(), "".join(traceback.format_exception(error))[-1500:]
    return 0, out.getvalue(), err.getvalue()


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*")}


def contents(folder: Path, before: set[str]) -> dict[str, str]:
    """Digests of the files that are new; parts, which `mistakes` asks for by themselves, are none."""
    new = [folder / name for name in sorted(names(folder) - before) if ".part" not in Path(name).suffixes[-1:]]
    new = [path for path in new if not any(above.suffix == ".part" for above in path.parents)]
    return {str(path): hashlib.sha256(path.read_bytes()).hexdigest() for path in new if path.is_file()}


MAY_FAIL_IN_PART = ("run", "check")
"""commands that go through many things, and say with status 3 that some of them are not as they should be"""
REMOVES = ("os.remove", "os.rmdir", "shutil.rmtree")


def mistakes(name: str, status: int | None, err: str, left: set[str], failed: str, same: bool) -> list[str]:
    """What is wrong with how a command took a refusal; ``same``: its files are those of the command without one."""
    found = []
    lines = [line for line in err.strip().splitlines() if not line.startswith("note: ")]
    if status == 0:
        if not same:
            found.append("ends well, and its files differ")
    elif status == 2:
        if len(lines) != 1 or not lines[0].startswith("error: "):
            found.append("does not say one line")
    elif not (status == 3 and name in MAY_FAIL_IN_PART and "Traceback" not in err):
        found.append("ends in a traceback" if status is None else f"ends with status {status}")
    # What may not be removed stays.
    if failed not in REMOVES and any(path.endswith(".part") for path in left):
        found.append("leaves parts behind")
    return found


def main() -> None:
    folder, seed, most = Path(sys.argv[1]).resolve(), int(sys.argv[2]), int(sys.argv[3])
    chosen = sys.argv[4:] or list(COMMANDS)
    os.chdir(folder)
    before = names(folder)
    breaker = Breaker(folder)
    sys.addaudithook(breaker)
    draw = random.Random(seed)
    cases = wrong = 0

    def clean() -> None:
        for name in sorted(names(folder) - before, reverse=True):
            path = folder / name
            shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink(missing_ok=True)

    for name in chosen:
        words = COMMANDS[name]
        breaker.count, breaker.fails_at = 0, -1
        breaker.active = True
        status, _, err = run(words)
        breaker.active = False
        whole = contents(folder, before)
        if status != 0:
            print(json.dumps({"command": name, "without a fault": True, "status": status, "err": err}), flush=True)
            wrong += 1
        clean()
        total = breaker.count
        at = sorted(draw.sample(range(1, total + 1), min(most, total)))
        for k in at:
            breaker.count, breaker.fails_at, breaker.code, breaker.failed = 0, k, draw.choice(ERRNOS), ""
            breaker.active = True
            status, _, err = run(words)
            breaker.active = False
            cases += 1
            left = names(folder) - before
            same = contents(folder, before) == whole
            found = mistakes(name, status, err, left, breaker.failed, same)
            if found:
                wrong += 1
                told = {"command": name, "k": k, "event": breaker.failed, "errno": errno.errorcode[breaker.code]}
                print(json.dumps(told | {"wrong": found, "status": status, "err": err[-1500:]}), flush=True)
            clean()
    print(json.dumps({"cases": cases, "wrong": wrong}), flush=True)


if __name__ == "__main__":
    main()
