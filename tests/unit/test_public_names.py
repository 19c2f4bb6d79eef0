"""The interface: one list of public names, with types, enough for every example, and inner modules that say so."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tussock

PACKAGE = Path(tussock.__file__).parent
ROOT = Path(__file__).parents[2]
STUB = PACKAGE / "__init__.pyi"

USER = """
import tussock
scene = tussock.Scene("one")
wall = scene.add(tussock.box((1, 1, 1)), name="wall")
frame = tussock.scan(scene, tussock.load_sensor("vlp-16"), tussock.Pose.at(0, 0, 1))
reveal_type((scene, wall, frame, frame.xyz))
"""
SEEN = (
    "tussock.scene.scene.Scene, tussock.scene.scene.SceneObject, tussock.frames.frame.Frame, numpy.ndarray[tuple[Any, ...], "
    "numpy.dtype[numpy.floating[numpy._typing._nbit_base._32Bit]]]"
)


def test_the_stub_is_one_name_a_line() -> None:
    for line in STUB.read_text(encoding="utf-8").splitlines():
        if line.startswith(("#", "__version__: str")) or not line:
            continue
        assert re.fullmatch(r"from tussock\.([\w.]+) import (\w+) as \2", line), line


def test_no_name_hides_a_module() -> None:
    """Else `import tussock.pack` would change what `tussock.pack` is."""
    modules = {path.name.removesuffix(".py") for path in PACKAGE.iterdir()}
    assert modules & set(tussock.__all__) == set()


def test_a_strict_user_sees_types(tmp_path: Path) -> None:
    pytest.importorskip("mypy", reason="mypy is not installed: pip install 'tussock[dev]'")
    assert (PACKAGE / "py.typed").is_file(), "without it a type checker takes everything for Any"
    every = "".join(f"reveal_type(tussock.{name})\n" for name in tussock.__all__)
    (tmp_path / "user.py").write_text(USER + every, encoding="utf-8")
    settings = ["--strict", f"--config-file={ROOT / 'pyproject.toml'}", f"--cache-dir={ROOT / '.mypy_cache'}"]
    done = subprocess.run(
        [sys.executable, "-m", "mypy", *settings, "user.py"],
        cwd=tmp_path, env={"MYPYPATH": str(PACKAGE.parent)}, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    first, *others = re.findall(r'Revealed type is "(.*)"', done.stdout)
    assert first == f"tuple[{SEEN}]"
    assert len(others) == len(tussock.__all__)
    assert [name for name, kind in zip(tussock.__all__, others, strict=True) if kind == "Any"] == []


def inner_imports(code: str) -> list[str]:
    """Modules of Tussock that a program imports past the public names."""
    found = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tussock."):
            found.append(str(node.module))
        elif isinstance(node, ast.Import):
            found += [name.name for name in node.names if name.name.startswith("tussock.")]
    return found


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("*.py")), ids=lambda path: path.stem)
def test_examples_need_nothing_inner(example: Path) -> None:
    inner = inner_imports(example.read_text(encoding="utf-8"))
    assert not inner, f"give the names a line in {STUB.relative_to(PACKAGE.parent)} and use them as tussock.name"


ROOMS = sorted(path.parent.relative_to(PACKAGE.parent) for path in PACKAGE.glob("*/__init__.py"))


@pytest.mark.parametrize("room", ROOMS, ids=str)
def test_inner_rooms_say_that_they_are(room: Path) -> None:
    module = importlib.import_module(".".join(room.parts))
    assert (module.__doc__ or "").rstrip().endswith("Inner: people use the names in `tussock`."), (
        f"the docstring of {room}/__init__.py ends so"
    )
