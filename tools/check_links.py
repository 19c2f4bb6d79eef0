"""Every link of the built site that stays on it leads somewhere: pages, pictures, styles, and places on pages.

python tools/check_links.py site
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Links(HTMLParser):
    """What a page links to, and the places on it that can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.places: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name in {"href", "src"} and value:
                self.links.append(value)
            elif name in {"id", "name"} and value:
                self.places.add(value)


def broken_links(site: Path) -> list[str]:
    """``page: link`` for each that leads nowhere."""
    pages = {path: Links(path.read_text(encoding="utf-8")) for path in site.rglob("*.html")}
    broken = []
    for page, found in pages.items():
        if page.name == "404.html":  # served from anywhere, so its links are absolute
            continue
        for link in found.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or link.startswith("javascript:"):
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page.resolve()
            if target.is_dir():
                target /= "index.html"
            if not target.exists():
                broken.append(f"{page.relative_to(site)}: {link}")
            elif parts.fragment and target.suffix == ".html":
                places = next(other.places for path, other in pages.items() if path.resolve() == target)
                if unquote(parts.fragment) not in places:
                    broken.append(f"{page.relative_to(site)}: {link}")
    return broken


if __name__ == "__main__":
    site = Path(sys.argv[1])
    broken = broken_links(site)
    print("\n".join(broken) or f"{len(list(site.rglob('*.html')))} pages, no link broken")
    sys.exit(bool(broken))
