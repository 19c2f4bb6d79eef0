"""Shapes that are kept: made once, the same from the cache, and made again when anything behind them changes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tussock
from tussock.plants import shape_cache
from tussock.plants.root_system import root_system
from tussock.plants.shape_cache import code_behind, kept
from tussock.scene.material import Material
from tussock.scene.mesh import Mesh
from tussock.scene.surfaces import SURFACES

PACKAGE = Path(tussock.__file__).parent


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("TUSSOCK_CACHE", str(tmp_path))
    return tmp_path


def leaf(*, size: float = 1.0, material: str = "grass") -> Mesh:
    made.append(size)
    corners = np.eye(3, dtype=np.float32) * np.float32(size)
    paint = SURFACES.get(material, Material(name=material))
    return Mesh(corners, np.array([[0, 1, 2]]), (paint, SURFACES["soil"]), np.array([1]), np.ones((3, 2)))


made: list[float] = []


def test_what_is_kept_is_made_once_and_whole(folder) -> None:
    made.clear()
    one, two = kept(leaf, size=2.0), kept(leaf, size=2.0)
    assert made == [2.0] and one is not two
    for name in ("vertices", "triangles", "triangle_materials", "uv"):
        assert np.array_equal(getattr(one, name), getattr(two, name)), name
    assert one.materials == two.materials
    kept(leaf, size=3.0)
    assert made == [2.0, 3.0] and len(list(folder.iterdir())) == 2


def test_a_damaged_file_is_made_again(folder) -> None:
    made.clear()
    kept(leaf)
    (file,) = folder.iterdir()
    file.write_bytes(file.read_bytes()[:-40])
    assert np.array_equal(kept(leaf).uv, np.ones((3, 2))) and made == [1.0, 1.0]


def test_a_material_of_ones_own_is_not_kept(folder) -> None:
    assert kept(leaf, material="mine").materials[0].name == "mine"
    assert list(folder.iterdir()) == []


def test_all_code_that_runs_is_behind_the_name() -> None:
    found = {file.relative_to(PACKAGE).as_posix() for file in code_behind(root_system)}
    assert {"plants/root_system.py", "plants/stems.py", "sampler.py", "randomness.py", "elementary.py"} <= found
    code = (
        "import json, sys; from tussock.plants.root_system import root_system; root_system(triangles=100_000)\n"
        "print(json.dumps([m.__file__ for n, m in sys.modules.items() if n.startswith('tussock.')]))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=True)
    ran = {Path(file).relative_to(PACKAGE).as_posix() for file in json.loads(done.stdout)}
    assert {name for name in ran if not name.endswith("__init__.py")} <= found


@pytest.mark.parametrize("changed", ["plants/stems.py", "sampler.py", "plants/root_system.py"])
def test_changed_code_is_another_shape(changed: str, monkeypatch, tmp_path) -> None:
    before = shape_cache._key(root_system, {"seed": 0})
    assert shape_cache._key(root_system, {"seed": 1}) != before == shape_cache._key(root_system, {"seed": 0})
    other = tmp_path / "changed.py"
    other.write_text((PACKAGE / changed).read_text() + "# changed\n")
    files = [other if file == (PACKAGE / changed).resolve() else file for file in code_behind(root_system)]
    monkeypatch.setattr(shape_cache, "code_behind", lambda make: files)
    assert shape_cache._key(root_system, {"seed": 0}) != before


def test_other_libraries_make_another_shape(monkeypatch) -> None:
    before = shape_cache._key(root_system, {})
    monkeypatch.setattr(np, "__version__", "99.0")
    assert shape_cache._key(root_system, {}) != before
