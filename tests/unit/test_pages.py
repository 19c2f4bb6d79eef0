"""Every block of every page runs as written, in an empty folder; CONTRIBUTING.md says how pages are written."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import typer

from pages import NOT_RUN, PageError, blocks_of, run_page, tussock_lines
from tussock.cli.app import app

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if page.exists()]
COMMANDS = typer.main.get_command(app).commands  # type: ignore[attr-defined]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_every_block_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BROWSER", "true")
    done = run_page(page)
    if done.left_out:
        pytest.skip(f"all else ran, but {'; '.join(done.left_out)}: pip install it, or apt-get install it")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_no_command_hides_from_the_tests(page: Path) -> None:
    """Blocks that are only indented, and fences without a language, would not run."""
    text = re.sub(r"^```.*?^```[ ]*$", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    hidden = re.findall(r"^    \s*(?:\$ )?((?:tussock|pip|python|import|from) .*)$", text, re.M)
    assert not hidden, f"{page.name}: put it into a ```sh or ```python fence: {hidden[0]}"
    assert all(block.language in {"python", "sh", "bash", "toml", *NOT_RUN} for block in blocks_of(page))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_in_the_text_exist(page: Path) -> None:
    for name, words in tussock_lines(page):
        if words[1].startswith("-") or not words[1].islower():
            continue
        assert words[1] in COMMANDS, f"{name}: there is no command {words[1]!r}"
        known = {
            option for parameter in COMMANDS[words[1]].params for option in (*parameter.opts, *parameter.secondary_opts)
        }
        known |= {"--help"}
        for word in words[2:]:
            option = word.split("=")[0].strip("[]")
            if re.match(r"-[a-z-]", option):
                assert option in known, f"{name}: `tussock {words[1]}` has no option {option}"


@pytest.mark.parametrize(
    ("page", "words"),
    [
        ("```python\n1 / 0\n```\n", "page.md:1: ZeroDivisionError"),
        ("```python\nx = 1\n```\n\n```python\nprint(y)\n```\n", "page.md:5: NameError"),
        ("```sh\ntussock scan nowhere.toml --out a.npz\n```\n", "ended with status 2"),
        ("```sh\ntussock scenes yard |\n```\n", "ended with status"),
        ("```sh\nfalse\n```\n", "ended with status 1"),
        ("```sh\npip install 'tussock[nothing]'\n```\n", "no extra"),
        ("```sh\nmake nothing\n```\n", "no target"),
        ("```\ntussock scenes\n```\n", "names its language"),
        ("```toml\nbase = 'vlp-16'\n```\n", "begins with the name of its file"),
        ("```toml\n# a.toml\nbase = 'vlp-17'\n```\n", "a.toml is refused"),
        ("<!-- in the tests: 3 => 2 -->\n```python\nx = 1\n```\n", "that is there"),
        ("<!-- status: 1 -->\n```sh\ntussock scenes\n```\n", "ended with status 0, not 1"),
    ],
)
def test_what_is_wrong_is_found(page: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    with pytest.raises(PageError, match=re.escape(words)):
        run_page(tmp_path / "page.md")


def test_what_is_said_before_a_fence_is_heeded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "page.md").write_text(
        "<!-- in the tests: 20 => 2 -->\n<!-- in the tests: a => b -->\n\n```python\na = 20\n```\n"
        "<!-- needs: a_module_that_is_not_there -->\n```python\n1 / 0\n```\n"
        "```toml\n# more/own.toml\nbase = 'vlp-16'\n```\n```python\nassert b == 2\nimport tussock\n"
        "tussock.load_sensor('more/own.toml')\n```\n```text\nnot run\n```\n",
        encoding="utf-8",
    )
    assert run_page(tmp_path / "page.md").left_out == ["page.md:8 needs a_module_that_is_not_there"]
