"""The interface: one list of public names, with types, enough for every example, and inner modules that say so."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections.abc import Callable
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


@pytest.fixture
def tussock_command(request: pytest.FixtureRequest) -> Callable[..., tuple[int, str, str]]:
    """The command line; in this file `tussock` is the package."""
    command: Callable[..., tuple[int, str, str]] = request.getfixturevalue("tussock")
    return command


def path_parameters() -> list[tuple[str, str, str]]:
    """Public function or method, parameter, annotation: where a path is taken."""
    found = []
    for name in tussock.__all__:
        value = getattr(tussock, name)
        functions = {name: value}
        if inspect.isclass(value):
            methods = inspect.getmembers(value, lambda m: inspect.isfunction(m) or inspect.ismethod(m))
            functions = {f"{name}.{key}": method for key, method in methods if not key.startswith("_")}
        for called, function in functions.items():
            if not (getattr(function, "__module__", None) or "").startswith("tussock") or not callable(function):
                continue
            for parameter in inspect.signature(function).parameters.values():
                if re.search(r"\bPath\b", str(parameter.annotation)):
                    found.append((called, parameter.name, str(parameter.annotation)))
    return found


def test_paths_are_taken_as_text_too() -> None:
    found = path_parameters()
    assert len(found) > 30
    assert [where for where in found if "str" not in where[2]] == []


def test_texts_do_as_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    cube, scene = tussock.box((1, 1, 1)), tussock.Scene("one")
    scene.add(cube, name="cube", motion=tussock.Trajectory.through([0, 1], [tussock.Pose(), tussock.Pose.at(1)]))
    tussock.save_mesh(cube, "cube.ply")
    assert tussock.load_mesh("cube.ply").vertices.tobytes() == cube.vertices.tobytes()
    tussock.save_pack(scene, "one.tussock")
    assert tussock.load_pack("one.tussock").scene.name == "one"
    assert tussock.unpack("one.tussock", "folder")
    assert tussock.save_paths(tussock.object_paths(scene, tussock.sample_times(0, 1, 2)), "paths.csv") == [
        Path("paths.csv")
    ]
    tussock.Trajectory.standing(tussock.Pose()).save_tum("one.tum")
    assert not tussock.Trajectory.load("one.tum").moving
    run = tussock.Run(scene, tussock.load_sensor("vlp-16"), tussock.Pose.at(5, 0, 0), "f.npz", start=0, end=0.1)
    assert [done.file for done in run.scan(tussock.World(scene), finished=run.prepare())] == [Path("f_000000.npz")]
    assert len(tussock.open_recordings("f_000000.npz")) == 1
    tussock.plot_scene(scene, "one.png", tussock.Pose.at(-5, 0, 0), size=(64, 36))
    with pytest.raises(tussock.InputError, match="no such file"):
        tussock.load_blend("none.blend")
    with pytest.raises(tussock.InputError):
        tussock.image_terrain("none.png", (1, 1), (0, 1))
    with pytest.raises(tussock.InputError):
        tussock.geotiff_terrain("none.tif")


def test_what_to_do_is_said_in_the_words_of_the_one_who_asked(
    tmp_path: Path, tussock_command: Callable[..., tuple[int, str, str]]
) -> None:
    path = tmp_path / "cube.ply"
    tussock.save_mesh(tussock.box((1, 1, 1)), path)
    with pytest.raises(tussock.OutputError, match="exists already; choose another name or pass force=True"):
        tussock.save_mesh(tussock.box((1, 1, 1)), path)
    tussock_command("sensors", "vlp-16", "--plot", "a.png")
    status, _, said = tussock_command("sensors", "vlp-16", "--plot", "a.png")
    assert (status, said) == (2, "error: a.png: exists already; choose another name or pass --force\n")


def test_scene_names() -> None:
    assert list(tussock.scene_names())[:2] == ["courtyard", "crossing"]
    with pytest.raises(tussock.InputError, match="did you mean 'yard'"):
        tussock.ready_scene("yrd")
