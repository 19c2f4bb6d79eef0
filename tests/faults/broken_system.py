"""Every command with every refusal of the system: the k-th thing that it does with a file or a folder fails.

Run as a program in a furnished folder; prints one JSON line a failure of ours and a last one with counts. Python tells of
each thing before it is done (audit events), and an exception there is the one that the caller gets.
"""

from __future__ import annotations

import errno
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
        if status != 0:
            print(json.dumps({"command": name, "without a fault": True, "status": status, "err": err}), flush=True)
            wrong += 1
        clean()
        total = breaker.count
        at = sorted(draw.sample(range(1, total + 1), min(most, total)))
        for k in at:
            breaker.count, breaker.fails_at, breaker.code = 0, k, draw.choice(ERRNOS)
            breaker.active = True
            status, _, err = run(words)
            breaker.active = False
            cases += 1
            lines = [line for line in err.strip().splitlines() if not line.startswith("note: ")]
            good = status == 0 or (status == 2 and len(lines) == 1 and lines[0].startswith("error: "))
            good |= name == "run" and status == 3  # an item that failed, and is said to have
            left = [path for path in names(folder) - before if path.endswith(".part")]
            if breaker.failed in ("os.remove", "os.rmdir", "shutil.rmtree"):
                left = []  # what may not be removed stays
            if not good or left:
                wrong += 1
                told = {"command": name, "k": k, "errno": errno.errorcode[breaker.code], "status": status}
                print(json.dumps(told | {"err": err[-1500:], "left": left}), flush=True)
            clean()
    print(json.dumps({"cases": cases, "wrong": wrong}), flush=True)


if __name__ == "__main__":
    main()
