"""The pages of the site that are made, not written: start, gallery, examples, reference, changelog, contributing.

A hook of MkDocs (see ``mkdocs.yml``). The examples are run, each in an empty folder, and shown with what they said and
drew; ``TUSSOCK_SITE_EXAMPLES=no`` shows their code alone. The reference has one page a room, with the names that
``src/tussock/__init__.pyi`` lists.
"""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parents[1]
LANGUAGES = {".py": "python", ".c": "c", ".m": "matlab"}
PICTURES = {".png", ".jpg"}
ROOMS = {
    "scanning": ("simulate", "trace", "frames", "poses", "runs", "errors"),
    "scenes": ("scene", "scenes", "scene_files", "blender", "pack"),
    "plants-and-ground": ("plants", "ground", "worlds"),
    "sensors": ("sensors",),
    "cameras-and-rigs": ("cameras", "rigs"),
    "files-and-data-sets": ("files", "datasets", "jobs"),
    "wire": ("wire",),
    "learning": ("learn",),
    "pictures": ("plots", "viewer"),
}
"""pages of the reference, and whose names they hold; rooms that are not here get a page of their own"""


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Fill in the navigation: examples, reference, and pages that nobody named."""
    named = re.findall(r"[\w/-]+\.md", str(config.nav))
    more = [page.name for page in sorted((ROOT / "docs").glob("*.md")) if page.name not in named]
    for entry in config.nav or []:
        if entry.get("Examples"):
            entry["Examples"] = ["examples/index.md", *(f"examples/{path.stem}.md" for path in _examples())]
        if entry.get("Reference"):
            entry["Reference"] = ["reference/index.md", *(f"reference/{page}.md" for page in _reference())]
    if more:
        config.nav.insert(-1, {"More": more})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    made: dict[str, str | bytes] = {
        "index.md": _from_root("README.md"),
        "changelog.md": _from_root("CHANGELOG.md"),
        "contributing.md": _from_root("CONTRIBUTING.md"),
    }
    made |= dict(_reference_pages())
    made |= dict(_example_pages())
    made["gallery.md"] = _gallery(made)
    for uri, content in made.items():
        files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links that lead out of docs/ in the repository stay on the site."""
    return _moved(markdown, "../")


def _from_root(name: str) -> str:
    """A page of the repository's root, with its links as they are from within docs/."""
    return _moved((ROOT / name).read_text(encoding="utf-8"), "").replace("](docs/", "](")


def _moved(text: str, above: str) -> str:
    homes = {"README.md": "index.md", "CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
    for name, home in homes.items():
        text = text.replace(f"]({above}{name})", f"]({home})")
    text = re.sub(rf"\]\({re.escape(above)}examples/(\w+)\.\w+\)", r"](examples/\1.md)", text)
    return re.sub(rf"\]\({re.escape(above)}examples/?\)", "](examples/index.md)", text)


def _listed() -> Iterator[tuple[str, str]]:
    for line in (ROOT / "src" / "tussock" / "__init__.pyi").read_text(encoding="utf-8").splitlines():
        if line.startswith("from "):
            _, home, _, name, *_ = line.split()
            yield home, name


def _reference() -> dict[str, list[tuple[str, str]]]:
    """Pages of the reference, and the public names on each."""
    pages: dict[str, list[tuple[str, str]]] = {}
    page_of = {room: page for page, rooms in ROOMS.items() for room in rooms}
    order = list(ROOMS)
    for home, name in _listed():
        room = home.split(".")[1]
        pages.setdefault(page_of.get(room, room.replace("_", "-")), []).append((home, name))
    return dict(sorted(pages.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order)))


def _reference_pages() -> Iterator[tuple[str, str]]:
    index = ["# Reference", "", "Everything below is found in `tussock`: `tussock.scan`, `tussock.Scene`, …", ""]
    for page, names in _reference().items():
        title = page.replace("-", " ").capitalize()
        text = [f"# {title}", ""]
        for home, name in sorted(names, key=lambda pair: pair[1].lower()):
            text += [f"::: {home}.{name}", ""]
        yield f"reference/{page}.md", "\n".join(text)
        links = ", ".join(
            f"[`{name}`]({page}.md#{home}.{name})" for home, name in sorted(names, key=lambda p: p[1].lower())
        )
        index += [f"**[{title}]({page}.md)**: {links}", ""]
    yield "reference/index.md", "\n".join(index)


def _examples() -> list[Path]:
    return sorted(path for path in (ROOT / "examples").iterdir() if path.suffix in LANGUAGES)


def _about(path: Path) -> str:
    """What an example says of itself."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return ast.get_docstring(ast.parse(text)) or path.stem
    first = re.match(r"\s*(?:/\*+|%+)\s*(.+)", text)
    return first[1].rstrip("*/ ") if first else path.stem


def _example_pages() -> Iterator[tuple[str, Any]]:
    wanted = os.environ.get("TUSSOCK_SITE_EXAMPLES") != "no"
    with ThreadPoolExecutor(2) as pool:
        ran = list(pool.map(run_example if wanted else lambda path: ("", {}), _examples()))
    index = ["# Examples", "", "Short programs, run by the tests and, for these pages, by the site itself.", ""]
    for path, (said, pictures) in zip(_examples(), ran, strict=True):
        about = _about(path)
        code = path.read_text(encoding="utf-8").replace(f'"""{about}"""', "").strip()
        text = [
            f"# {path.stem}",
            "",
            about.replace("\n    ", "\n\n    "),
            "",
            f"```{LANGUAGES[path.suffix]}",
            code,
            "```",
            "",
        ]
        if said.strip():
            text += ["It says:", "", "```text", said.rstrip(), "```", ""]
        for name, content in pictures.items():
            yield f"examples/{path.stem}/{name}", content
            text += [f"![{name}]({path.stem}/{name})", ""]
        yield f"examples/{path.stem}.md", "\n".join(text)
        index.append(f"- [{path.stem}]({path.stem}.md): {about.splitlines()[0]}")
    yield "examples/index.md", "\n".join(index) + "\n"


def run_example(path: Path) -> tuple[str, dict[str, bytes]]:
    """What an example said, and the pictures it left, by name."""
    if path.suffix != ".py":
        return "", {}
    source = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, str(path)], cwd=folder, env={**os.environ, "PYTHONPATH": source}, capture_output=True,
            text=True, timeout=600,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(f"{path.name} failed: {done.stderr.strip().splitlines()[-1]}")
        found = sorted(file for file in Path(folder).iterdir() if file.suffix in PICTURES)
        return done.stdout, {file.name: file.read_bytes() for file in found}


def _gallery(made: dict[str, Any]) -> str:
    """All pictures of the pages and of the examples, each with a link to where it comes from."""
    shown: dict[str, tuple[str, str]] = {}
    for page in sorted((ROOT / "docs").glob("*.md")):
        for title, picture in re.findall(r"!\[([^\]]*)\]\((pictures/[^)]+)\)", page.read_text(encoding="utf-8")):
            shown.setdefault(picture, (title, page.name))
    for title, picture in re.findall(
        r"!\[([^\]]*)\]\(docs/(pictures/[^)]+)\)", (ROOT / "README.md").read_text("utf-8")
    ):
        shown.setdefault(picture, (title, "index.md"))
    for uri in made:
        if Path(uri).suffix in PICTURES:
            shown[uri] = (Path(uri).parent.name, f"{Path(uri).parent}.md")
    text = ["# Gallery", "", '<div class="grid" markdown>', ""]
    for picture, (title, page) in shown.items():
        if Path(picture).suffix not in PICTURES:  # diagrams
            continue
        text += [
            "<figure markdown>",
            f"[![{title}]({picture}){{ loading=lazy }}]({page})",
            f"<figcaption>{title}</figcaption>",
        ]
        text += ["</figure>", ""]
    return "\n".join([*text, "</div>", ""])
