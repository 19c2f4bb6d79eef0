"""The page on frames lists every column and every format."""

from __future__ import annotations

from pathlib import Path

from tussock.files.formats import FORMATS
from tussock.frames.columns import COLUMNS
from tussock.return_modes import ReturnKind

PAGE = (Path(__file__).parents[3] / "docs" / "frames.md").read_text(encoding="utf-8")


def test_every_column_stands_there_as_it_is() -> None:
    for column in COLUMNS:
        wide = "" if column.width == 1 else f" × {column.width}"
        assert f"| `{column.name}` | {column.dtype}{wide} | {column.unit} | {column.meaning} |" in PAGE


def test_every_format_stands_there() -> None:
    rows = [line for line in PAGE.splitlines() if line.startswith("| `.")]
    assert {suffix for suffix in FORMATS if any(f"`{suffix}`" in row for row in rows)} == set(FORMATS)


def test_every_kind_of_return_stands_there() -> None:
    assert ", ".join(f"{kind.value} {kind.name.lower()}" for kind in ReturnKind) in PAGE
