"""The suite itself: what is skipped says how not to be, and recordings are reached in one way."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
FILES = sorted(file for file in TESTS.rglob("*.py") if file != Path(__file__))
REMEDY = re.compile(r"pip install|apt-get install|\brun (it )?(on|again|as|with)\b|\bset [A-Z_]+|TUSSOCK_")
"""how to get what is wanted"""
SAYS_IT_ITSELF = {"absent", "skipped", "error"}
"""names of texts that the package makes, and whose own tests see to it that they name a remedy"""


def skips_of(file: Path) -> list[tuple[int, str]]:
    """Line and reason of every skip in a file; of reasons put together, their fixed parts and their names."""
    found = []
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called not in {"skip", "skipif", "importorskip"}:
            continue
        reason: ast.expr | None = next((k.value for k in node.keywords if k.arg == "reason"), None)
        if reason is None and called == "skip" and node.args:
            reason = node.args[0]
        words = []
        for part in ast.walk(reason) if reason is not None else ():
            if isinstance(part, ast.Constant):
                words.append(str(part.value))
            elif isinstance(part, ast.Name | ast.Attribute):
                words.append("{" + (part.id if isinstance(part, ast.Name) else part.attr) + "}")
        found.append((node.lineno, " ".join(words)))
    return found


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(TESTS)))
def test_every_skip_says_how_to_get_what_it_wants(file: Path) -> None:
    for line, reason in skips_of(file):
        itself = any("{" + name + "}" in reason for name in SAYS_IT_ITSELF)
        assert itself or REMEDY.search(reason), (
            f"{file.relative_to(TESTS)}:{line}: skips because {reason!r}; say how to get it, as "
            "reason=\"laspy is not installed: pip install 'tussock[las]'\""
        )


def test_a_skip_without_remedy_is_found(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text('laspy = pytest.importorskip("laspy", reason="there is no laspy")\n')
    assert [REMEDY.search(reason) for _, reason in skips_of(tmp_path / "one.py")] == [None]


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(TESTS)))
def test_recordings_are_reached_in_one_way(file: Path) -> None:
    """Else they cannot be hidden, and nobody knows whether the suite is green without them."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        joined = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and ast.unparse(node.right) == "'shared'"
        text = str(node.value) if isinstance(node, ast.Constant) else ""
        wrong = joined or "../shared" in text or "shared/data" in text
        where = f"{file.relative_to(TESTS)}:{getattr(node, 'lineno', 0)}"
        assert not wrong, f"{where}: take it from real_recordings.recorded(name)"
