"""The shape of the code: short lists of parameters, rooms of a size, one home for each thing."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

import tussock
from tussock.return_modes import MODES, ModeNumber

ROOT = Path(tussock.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))
TREES = {file: ast.parse(file.read_text(encoding="utf-8")) for file in FILES}
MOST_PARAMETERS = 7
MOST_LONG_LISTS = 19
LARGE_ROOMS = {
    ".": "what all rooms stand on, and the few files that people meet by their names",
    "cli": "one file a command",
    "validate/experiments": "one file an experiment",
}
"""rooms of more than 20 modules, and why"""
DEFINED_ONCE = {"FloatArray", "Positive", "NotNegative", "Fraction", "Finite", "Pair", "Triple", "KINDS", "MODES"}


def parameters_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """As a reader counts them: all but self and cls."""
    given = function.args
    listed = [*given.posonlyargs, *given.args, *given.kwonlyargs, *filter(None, (given.vararg, given.kwarg))]
    return sum(one.arg not in {"self", "cls"} for one in listed)


def test_long_lists_of_parameters_are_rare() -> None:
    """Those of a public name are part of the interface; within, what belongs together travels as one object."""
    long = [
        f"{file.relative_to(ROOT)}:{node.lineno} {node.name}"
        for file, tree in TREES.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and parameters_of(node) > MOST_PARAMETERS
    ]
    assert len(long) <= MOST_LONG_LISTS, "gather what belongs together in a NamedTuple or a dataclass:\n" + "\n".join(
        long
    )


def test_parameters_are_counted_as_a_reader_does() -> None:
    (function,) = ast.parse("def f(self, a, /, b, *c, d=1, **e): ...").body
    assert isinstance(function, ast.FunctionDef)
    assert parameters_of(function) == 5


def test_rooms_have_a_size() -> None:
    sizes = Counter(file.parent.relative_to(ROOT).as_posix() for file in FILES if file.name != "__init__.py")
    large = {room for room, count in sizes.items() if count > 20}
    assert large <= set(LARGE_ROOMS), "divide them, or say why not"


@pytest.mark.parametrize("name", sorted(DEFINED_ONCE))
def test_what_all_use_has_one_home(name: str) -> None:
    homes = [
        file.relative_to(ROOT).as_posix()
        for file, tree in TREES.items()
        for node in tree.body
        if name in {ast.unparse(target) for target in _targets(node)}
    ]
    assert len(homes) <= 1, homes


def _targets(node: ast.stmt) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign) else []


def test_columns_of_surfaces_have_one_number_each() -> None:
    """Constants that several tables share, as SPECULAR, are counted in one place."""
    homes = Counter(
        part.id
        for tree in TREES.values()
        for node in tree.body
        for target in _targets(node)
        for part in ast.walk(target)
        if isinstance(part, ast.Name) and part.id in {"SPECULAR", "SHININESS", "TRANSMISSION", "RETRO"}
    )
    assert set(homes.values()) == {1}


def test_modes_are_numbered_in_their_order() -> None:
    assert [mode.name.lower().replace("_", "+") for mode in ModeNumber] == list(MODES)


@pytest.mark.parametrize("room", ["pulse", "signal"])
def test_chance_calls_no_sine_of_a_library(room: str) -> None:
    """Its last bits differ from one system to the next; `tussock.elementary` has one of our own."""
    for file in (ROOT / room).rglob("*.py"):
        text = file.read_text(encoding="utf-8")
        assert not re.search(r"\b(math|np)\.(cos|sin|exp)\(", text), file


def test_errors_are_not_taken_apart_as_text() -> None:
    """An `InputError` has its source, field and rule as fields."""
    for file in FILES:
        assert "startswith(str(" not in file.read_text(encoding="utf-8"), file


def test_no_file_of_ours_is_ignored() -> None:
    """A wheel leaves out what .gitignore names, whether or not it is tracked: `site/` there once cost a whole room."""
    top = Path(__file__).parents[2]
    if not (top / ".git").exists() or shutil.which("git") is None:
        pytest.skip("not a git checkout: run again in a clone of the project")
    words = ["git", "-C", str(top), "ls-files", "--cached", "--ignored", "--exclude-standard"]
    assert subprocess.run(words, check=True, capture_output=True, text=True).stdout == ""


def test_names_of_test_files_are_unique() -> None:
    """Two of one name cannot be collected together, and part of the suite would not tell."""
    names = Counter(file.name for file in Path(__file__).parents[1].rglob("*.py"))
    twice = {name for name, count in names.items() if count > 1} - {"__init__.py", "conftest.py"}
    assert twice == set()
