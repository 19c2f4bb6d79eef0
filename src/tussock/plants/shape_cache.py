"""Shapes that take long to make are kept in the user's cache folder and read from there the next time.

The folder is ``TUSSOCK_CACHE``, else ``tussock`` in the system's folder for caches. A file is named after what was
made, with every option, the version, and all code behind it. It appears whole or not at all, its checksums are
tested as it is read, and a damaged one is made again. The folder may be deleted at any time. Where it cannot be
written, nothing is kept.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import numpy as np

from tussock.errors import InputError, OutputError
from tussock.numpy_files import load_npz
from tussock.scene.mesh import Mesh
from tussock.scene.parts import plain_parts
from tussock.scene.surfaces import SURFACES
from tussock.version import VERSION
from tussock.whole_files import whole_file

__all__ = ["cache_folder", "code_behind", "kept"]


def cache_folder() -> Path:
    """Where shapes are kept."""
    named = os.environ.get("TUSSOCK_CACHE")
    if named:
        return Path(named)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "tussock"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", str(Path.home()))) / "tussock" / "Cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tussock"


def kept(make: Callable[..., Mesh], **options: Any) -> Mesh:
    """``make(**options)``, from the cache where it is; materials are named there, and must be among `SURFACES`."""
    try:
        file = cache_folder() / f"{make.__name__}-{VERSION}-{_key(make, options)}.npz"
    except RuntimeError:  # nobody knows where this user's files are
        return make(**options)
    try:
        arrays: dict[str, Any] = load_npz(file)
        materials = tuple(SURFACES[str(name)] for name in arrays.pop("materials"))
        return Mesh(materials=materials, **arrays)
    except (InputError, ValueError, KeyError, TypeError):
        pass  # not there, or damaged
    mesh = make(**options)
    if any(SURFACES.get(material.name) != material for material in mesh.materials):
        return mesh
    arrays = {**plain_parts(mesh)[0], "materials": np.array([material.name for material in mesh.materials])}
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(file, force=True, counts=False) as temporary, temporary.open("wb") as target:
            np.savez(target, allow_pickle=False, **arrays)
    except (OSError, OutputError):
        pass  # a closed or full disk costs time the next time, nothing else
    return mesh


def _key(make: Callable[..., Mesh], options: dict[str, Any]) -> str:
    """Over all that the shape depends on: the options, the code, and the libraries that do the arithmetic."""
    digest = hashlib.blake2b(digest_size=8)
    digest.update(repr((sorted(options.items()), np.__version__, numba.__version__)).encode())
    for file in code_behind(make):
        digest.update(file.name.encode() + file.read_bytes())
    return digest.hexdigest()


def code_behind(make: Callable[..., Any]) -> list[Path]:
    """The files of the package that ``make`` may run: its own, what that imports, and so on."""
    package = Path(__file__).parents[1]
    found: set[Path] = set()
    new = [Path(inspect.getfile(make)).resolve()]
    while new:
        file = new.pop()
        if file in found or not file.is_file():
            continue
        found.add(file)
        for module in re.findall(r"^\s*from tussock\.([\w.]+) import", file.read_text(encoding="utf-8"), re.MULTILINE):
            new.append((package / f"{module.replace('.', '/')}.py").resolve())
    return sorted(found)
