"""Documentation pages as programs: the blocks of a page, run one after the other in one folder.

A page is a story. Its blocks run as they are written, in their order, in a folder that is empty at first; files and
Python names of a block are there for the next ones. Every fence names its language:

- ``python`` is executed;
- ``sh`` (or ``bash``) is run line by line: ``tussock`` commands must end with status 0, a line that ends in ``&`` runs beside the
  rest, what serves until it is stopped (`SERVING`) is stopped by Ctrl-C once it is up, ``pip install`` and ``make`` are
  looked up in ``pyproject.toml`` and the ``Makefile`` instead of being run; a block with a here-document (``<<``) is
  run whole by bash;
- ``toml`` begins with ``# name.toml`` and is written to that file; where no later block names the file, it is loaded as
  the scene, sensor, camera or rig it is;
- ``text`` is what a program said, or a layout; it is not run. Other languages (c, json, …) are not run either.

Comments before a fence, which readers do not see, help with what is too long or needs more:

- ``<!-- in the tests: --to 20 => --to 0.2 -->`` replaces text of the block (it must be there);
- ``<!-- needs: bpy -->`` leaves the block out where a module or program of that name is absent;
- ``<!-- status: 1 -->`` is the exit status of every command of a block that is to fail.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
import tomllib
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

__all__ = ["Block", "Page", "PageError", "blocks_of", "run_page", "tussock_lines"]

ROOT = Path(__file__).parents[1]
SERVING = {"view", "stream", "replay", "studio"}
"""commands that go on until they are stopped, unless they are told for how long"""
NOT_RUN = {"text", "c", "cpp", "matlab", "json", "xml", "csv", "yaml", "mermaid"}
_FENCE = re.compile(r"^```([\w+-]*)[^\n]*\n(.*?)^```[ ]*$", re.M | re.S)
_COMMENTS = re.compile(r"(?:<!--[^>]*?(?:=>[^>]*?)?-->\s*)+\Z")
_COMMENT = re.compile(r"<!--\s*(in the tests|needs|status):\s*(.*?)\s*-->", re.S)
_SHELL = re.compile(r"[|<>;$`*]|&&")


class PageError(AssertionError):
    """A block that does not do what it says; the message names page and line."""


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    """as the tests run it"""
    where: str
    """page and line of the fence"""
    needs: tuple[str, ...] = ()
    status: int = 0


@dataclass
class Page:
    """A page that is being run: what its blocks share."""

    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})
    beside: list[subprocess.Popen[bytes]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)


def blocks_of(path: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in order, with the comments before them heeded."""
    page = path.read_text(encoding="utf-8")
    for fence in _FENCE.finditer(page):
        where = f"{path.name}:{page.count(chr(10), 0, fence.start()) + 1}"
        language, text, needs, status = fence[1], fence[2], [], 0
        before = _COMMENTS.search(page, 0, fence.start())
        for kind, said in _COMMENT.findall(before[0] if before else ""):
            if kind == "needs":
                needs.append(said)
            elif kind == "status":
                status = int(said)
            else:
                old, arrow, new = said.partition("=>")
                if not arrow or old.strip() not in text:
                    raise PageError(f"{where}: in the tests: {said!r}: write OLD => NEW, with an OLD that is there")
                text = text.replace(old.strip(), new.strip())
        yield Block(language, text, where, tuple(needs), status)


def run_page(path: Path) -> Page:
    """Run every block of a page in the current folder."""
    page = Page()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            blocks = list(blocks_of(path))
            for number, block in enumerate(blocks):
                run_block(page, block, blocks[number + 1 :])
    finally:
        for process in page.beside:
            _interrupt(process)
    return page


def run_block(page: Page, block: Block, later: Sequence[Block] = ()) -> None:
    if block.language in NOT_RUN:
        return
    for need in block.needs:
        if find_spec(need) is None and shutil.which(need) is None:
            page.left_out.append(f"{block.where} needs {need}")
            return
    if block.language == "python":
        lines = int(block.where.rsplit(":", 1)[1])
        code = compile("\n" * lines + block.text, block.where, "exec")
        try:
            exec(code, page.names)
        except Exception as error:
            raise PageError(f"{block.where}: {type(error).__name__}: {error}") from error
    elif block.language in {"sh", "bash"} and "<<" in block.text:
        done = subprocess.run(
            ["bash", "-ec", block.text], env=_environment(), capture_output=True, text=True, timeout=300
        )
        expect(block, "the block", done.returncode, done.stderr)
    elif block.language in {"sh", "bash"}:
        for line in commands_of(block.text):
            run_line(page, block, line)
    elif block.language == "toml":
        write_toml(block, later)
    else:
        raise PageError(f"{block.where}: a fence names its language: python, sh, toml, or text for what is not run")


def commands_of(text: str) -> Iterator[str]:
    """The lines of a shell block, continued ones joined, comments and empty ones left out."""
    for line in text.replace("\\\n", " ").splitlines():
        if line.strip() and not line.lstrip().startswith("#"):
            yield line.strip()


def run_line(page: Page, block: Block, line: str) -> None:
    words = shlex.split(line, comments=True)
    if words[0] in {"pip", "make", "git", "cd"}:
        look_up(block, words)
    elif words[-1] == "&":
        page.beside.append(_start(words[:-1]))
    elif words[0] != "tussock" or _SHELL.search(shlex.join(words).replace("'", "")) or _SHELL.search(_bare(line)):
        done = subprocess.run(["bash", "-ec", line], env=_environment(), capture_output=True, text=True, timeout=120)
        expect(block, line, done.returncode, done.stderr)
    elif words[1] in SERVING and "--seconds" not in words and "--help" not in words:
        serve(block, line, words)
    else:
        expect(block, line, *_in_process(words))


def expect(block: Block, line: str, status: int, said: str) -> None:
    if status != block.status:
        raise PageError(
            f"{block.where}: {line!r} ended with status {status}, not {block.status}: {said.strip()[-800:]}"
        )


def serve(block: Block, line: str, words: list[str]) -> None:
    """Start what goes on until it is stopped, wait until it has said something, and press Ctrl-C."""
    process = _start(words)
    deadline = time.monotonic() + 90
    while process.poll() is None and not _said(process) and time.monotonic() < deadline:
        time.sleep(0.1)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(1.0)  # it has gone wrong, or goes on serving
    said = _interrupt(process)
    if process.returncode not in {0, 130}:
        raise PageError(f"{block.where}: {line!r} ended with status {process.returncode}: {said[-800:]}")


def look_up(block: Block, words: list[str]) -> None:
    """What a block asks to install or make must exist; it is not done."""
    if words[:2] == ["pip", "install"]:
        extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
        asked = {name for word in words for group in re.findall(r"\[(.*?)\]", word) for name in group.split(",")}
        if asked - extras:
            raise PageError(f"{block.where}: there is no extra {sorted(asked - extras)}")
    elif words[0] == "make":
        targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))
        if not set(words[1:2]) <= targets:
            raise PageError(f"{block.where}: the Makefile has no target {words[1:]}")


def write_toml(block: Block, later: Sequence[Block]) -> None:
    """Write the block to the file that its first line names; load it as what it is, unless a later block uses it."""
    import tussock

    named = re.match(r"#\s*([\w./-]+\.toml)\b", block.text)
    if not named:
        raise PageError(f"{block.where}: a toml block begins with the name of its file: # garden.toml")
    path = Path(named[1])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(block.text, encoding="utf-8")
    loaders: dict[str, Callable[[Path], object]] = {
        "objects": tussock.load_scene, "lidars": tussock.load_rig, "cameras": tussock.load_rig, "lens": tussock.load_camera
    }  # fmt: skip
    try:
        keys = set(tomllib.loads(block.text))
        if not any(path.name in other.text for other in later):
            next((load for key, load in loaders.items() if key in keys), tussock.load_sensor)(path)
    except Exception as error:
        raise PageError(f"{block.where}: {path} is refused: {error}") from error


def tussock_lines(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Every ``tussock`` command in the running text of a page: the page, and its words."""
    text = _FENCE.sub("", path.read_text(encoding="utf-8"))
    for code in re.findall(r"`(tussock [^`]+)`", text.replace("\n", " ")):
        with contextlib.suppress(ValueError):
            yield path.name, shlex.split(code.split(" #")[0])


def _bare(line: str) -> str:
    """A line without its comment and without what stands in quotes."""
    return re.sub(r"'[^']*'|\"[^\"]*\"|\s#.*", "", line)


def _in_process(words: list[str]) -> tuple[int, str]:
    """Status and last words of a command, run in this process: an import costs more than most blocks."""
    import io

    from tussock.cli.app import main

    before, said = sys.argv, io.StringIO()
    sys.argv = words
    try:
        with contextlib.redirect_stderr(said):
            main()
        status: object = 0
    except SystemExit as stop:
        status = stop.code or 0
    finally:
        sys.argv = before
    return (status if isinstance(status, int) else 1), said.getvalue()


def _environment() -> dict[str, str]:
    """The commands of this Python come first; pages that open a browser open none."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    source = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PATH": path, "PYTHONPATH": source, "BROWSER": "true", "PYTHONUNBUFFERED": "1"}


def _start(words: list[str]) -> subprocess.Popen[bytes]:
    if words[0] == "tussock":
        words = [sys.executable, "-c", "from tussock.cli.app import main; main()", *words[1:]]
    number = len(list(Path.cwd().glob(".said-*")))
    with Path(f".said-{number}").open("wb") as said:
        process = subprocess.Popen(words, env=_environment(), stdout=said, stderr=subprocess.STDOUT)
    process.said = Path.cwd() / f".said-{number}"  # type: ignore[attr-defined]
    return process


def _said(process: subprocess.Popen[bytes]) -> str:
    return str(process.said.read_text(errors="replace"))  # type: ignore[attr-defined]


def _interrupt(process: subprocess.Popen[bytes]) -> str:
    """Ctrl-C, and what the process has said until it ended."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    return _said(process)
