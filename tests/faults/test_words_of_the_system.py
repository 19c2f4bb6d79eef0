"""What the system says reaches nobody as ``[Errno 2] …``: it is put in words, with the file's name once."""

from __future__ import annotations

import ast
import shutil
import sys
from pathlib import Path

import pytest
from workshop import COMMANDS

from tussock.cli.app import main
from tussock.errors import cause

SOURCES = sorted((Path(__file__).parents[2] / "src" / "tussock").rglob("*.py"))
CAUGHT = {"OSError", "IOError", "FileNotFoundError", "PermissionError", "Exception", "BaseException"}
NO_NUMBER = {"embree.py"}
"""files whose errors of the system have none: what the loader of libraries says"""


def test_the_cause_of_an_error():
    assert cause(FileNotFoundError(2, "No such file or directory", "x/calib.txt")) == "no such file or folder"
    assert cause(OSError("a library's\n own")) == "a library's own"
    assert cause(ValueError("x" * 500), 10) == "x" * 10
    assert cause(KeyError()) == "KeyError"


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: "/".join(file.parts[-2:]))
def test_no_error_of_the_system_is_shown_as_it_is(file):
    """Whoever catches one and says it puts it through `cause`, `reason` or `in_words`."""
    if file.name in NO_NUMBER:
        return
    for handler in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(handler, ast.ExceptHandler) or handler.name is None or handler.type is None:
            continue
        if not CAUGHT & {name.id for name in ast.walk(handler.type) if isinstance(name, ast.Name)}:
            continue
        for part in ast.walk(handler):
            shown: list[ast.expr] = []
            if isinstance(part, ast.FormattedValue):
                shown = [part.value]
            elif isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "str":
                shown = part.args
            assert not any(isinstance(one, ast.Name) and one.id == handler.name for one in shown), part.lineno


def files_of(words: list[str], folder: Path) -> list[int]:
    return [
        k for k, word in enumerate(words) if (folder / word).exists() and words[k - 1] not in ("--out", "--picture")
    ]


@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.parametrize("instead", ["missing", "a folder"])
def test_every_command_without_one_of_its_files(name, instead, furnished, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(furnished)
    (tmp_path / "folder").mkdir()
    for place in files_of(COMMANDS[name], furnished):
        words = list(COMMANDS[name])
        suffix = Path(words[place]).suffix
        words[place] = str(tmp_path / (f"none{suffix}" if instead == "missing" else f"folder{suffix}"))
        if instead == "a folder":
            Path(words[place]).mkdir(exist_ok=True)
        monkeypatch.setattr(sys, "argv", ["tussock", *words])
        with pytest.raises(SystemExit) as stop:
            main()
        told = "".join(line for line in capsys.readouterr().err.splitlines(True) if not line.startswith("note: "))
        assert stop.value.code == 2, (words, told)
        assert "Errno" not in told and told.startswith("error: ") and told.count("\n") == 1, told
        assert Path(words[place]).name in told, told


def test_data_sets_and_jobs_whose_files_are_gone(furnished, tmp_path, monkeypatch, capsys):
    """A file of theirs, not one that was named."""
    gone = [
        (["view", "set", "--host", "256.1.1.1", "--no-browser"], "set", "set/sequences/00/calib.txt"),
        (["view", "set", "--host", "256.1.1.1", "--no-browser"], "set", "set/sequences/00/times.txt"),
        (["check", "jobs"], "jobs", "jobs/plan.json"),
        (["check", "jobs"], "jobs", "jobs/manifest.json"),
    ]
    for words, folder, file in gone:
        if not (furnished / file).is_file():
            continue
        place = tmp_path / file.replace("/", "_")
        place.mkdir()
        shutil.copytree(furnished / folder, place / folder)
        (place / file).unlink()
        monkeypatch.chdir(place)
        monkeypatch.setattr(sys, "argv", ["tussock", *words])
        with pytest.raises(SystemExit) as stop:
            main()
        told = capsys.readouterr().err
        assert stop.value.code in (0, 1, 2) and "Errno" not in told and "Traceback" not in told, told
