"""Links of the pages lead somewhere: files of the repository, and headings of pages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def slugs(page: Path) -> set[str]:
    """The names of a page's headings in links, as MkDocs and code hosts make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    headings = re.findall(r"^#+\s+(.*?)\s*$", text, re.M)
    return {re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower()) for heading in headings}


def broken(page: Path) -> list[str]:
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    wrong = []
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", link):
            continue
        name, _, place = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (place and target.suffix == ".md" and place not in slugs(target)):
            wrong.append(link)
    return wrong


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    assert broken(page) == []


def test_a_broken_link_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "# One thing\n[x](b.md) [y](a.md#one-thing) [z](#two) ![p](p.png) [w](https://a.b)\n"
    )
    assert broken(tmp_path / "a.md") == ["b.md", "#two", "p.png"]
