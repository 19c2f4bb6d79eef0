"""Imports point one way, every public name has one home, and `import tussock` stays light."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import tussock

ROOT = Path(tussock.__file__).parent

LAYERS: list[set[str]] = [
    {"errors", "kept_memory", "leftovers", "version", "arrays", "once", "quantities", "return_modes", "shown"},
    {"kernel_cache", "kernel_parts", "limits", "reach", "sbet", "steps", "tried_apart"},
    {"numpy_files", "settings", "whole_files", "poses", "kernels", "threads", "extras"},
    {"kernel_context", "page_server", "rebound"},
    {"crew"},
    {"elementary"},
    {"randomness"},
    {"sampler"},
    {"air"},
    {"scene", "sensors"},
    {"plants", "ground"},
    {"scenes", "scene_files"},
    {"worlds"},
    {"trace", "signal"},
    {"pulse"},
    {"listening"},
    {"frame_meta", "scattering"},
    {"frames"},
    {"gpu"},
    {"simulate"},
    {"many"},
    {"files", "wire"},
    {"cameras", "runs", "pack", "blender"},
    {"rigs", "sources"},
    {"drive"},
    {"gym"},
    {"learn"},
    {"plots"},
    {"datasets", "viewer"},
    {"studio"},
    {"jobs"},
    {"bench", "validate"},
    {"bench_cut_outs", "bench_gpu", "bench_weather"},
    {"cli"},
]
"""From the bottom up: a package or module imports from the layers below its own, and from itself."""

NEVER: dict[str, set[str]] = {
    "trace": {"sensors"},  # rays and a scene, whoever sends them
    "signal": {"scene", "sensors"},  # pure functions on numbers
    "pulse": {"scene", "sensors"},  # plain tables
    "files": {"sensors", "trace", "pulse", "simulate"},
}
"""What would be below, and is still none of its business."""

HEAVY = {
    "numpy", "scipy", "numba", "llvmlite", "matplotlib", "trimesh", "pyarrow", "pydantic", "typer", "rich", "embreex"
}  # fmt: skip


def part_of(module: str) -> str:
    """``tussock.scene.mesh`` belongs to ``scene``."""
    return module.split(".")[1]


def imports_of(file: Path) -> set[str]:
    """The parts of Tussock that a file imports, at the top or late, whole or in parts."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            if node.module == "tussock":
                found |= {f"tussock.{name.name}" for name in node.names}
            elif node.module and node.module.startswith("tussock."):
                found.add(node.module)
        elif isinstance(node, ast.Import):
            found |= {name.name for name in node.names if name.name.startswith("tussock.")}
    return {part_of(module) for module in found}


FILES = sorted(file for file in ROOT.rglob("*.py") if file != ROOT / "__init__.py")


def part_of_file(file: Path) -> str:
    return file.relative_to(ROOT).parts[0].removesuffix(".py")


def test_every_part_has_its_layer() -> None:
    known = set().union(*LAYERS)
    assert {part_of_file(file) for file in FILES} <= known


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_imports_point_down(file: Path) -> None:
    part = part_of_file(file)
    height = next(i for i, layer in enumerate(LAYERS) if part in layer)
    below = set().union(*LAYERS[:height]) | {part}
    wrong = imports_of(file) - below | imports_of(file) & NEVER.get(part, set())
    assert not wrong, f"{part} must not import {sorted(wrong)}"


def test_no_file_is_longer_than_500_lines_and_none_is_a_drawer() -> None:
    for file in FILES:
        assert len(file.read_text(encoding="utf-8").splitlines()) <= 500, file
        assert file.stem not in {"utils", "helpers", "misc", "common", "core"}, file


def fresh(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_bare_import_is_light() -> None:
    loaded = json.loads(fresh("import json, sys, tussock; print(json.dumps(sorted(sys.modules)))"))
    assert HEAVY & {name.split(".")[0] for name in loaded} == set()
    assert [name for name in loaded if name.startswith("tussock.")] == []


def test_scanning_needs_no_pictures_tables_or_mesh_files() -> None:
    code = "import json, sys, tussock; tussock.scan; print(json.dumps(sorted(sys.modules)))"
    loaded = {name.split(".")[0] for name in json.loads(fresh(code))}
    assert {"matplotlib", "trimesh", "pyarrow", "typer", "rich"} & loaded == set()


@pytest.mark.parametrize("name", tussock.__all__)
def test_public_names_are_there_and_are_public_at_home(name: str) -> None:
    value = getattr(tussock, name)
    home = importlib.import_module(tussock._HOMES[name])
    assert name in home.__all__
    assert getattr(home, name) is value
    assert name in dir(tussock)


def test_unknown_names_are_unknown() -> None:
    assert isinstance(tussock.__version__, str)
    with pytest.raises(AttributeError, match="has no attribute 'scann'"):
        _ = tussock.scann


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_what_a_module_says_it_offers_it_has(file: Path) -> None:
    relative = file.relative_to(ROOT).with_suffix("")
    parts = relative.parts[:-1] if relative.name == "__init__" else relative.parts
    module = importlib.import_module(".".join(("tussock", *parts)))
    for name in getattr(module, "__all__", []):
        assert hasattr(module, name), f"{module.__name__}.{name}"
