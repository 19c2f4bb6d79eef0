"""Shapes that take long to make are kept in the user's cache folder and read from there the next time.

The folder is ``TUSSOCK_CACHE``, else ``tussock`` in the system's folder for caches. A file is named after what was
made, with every option, the version, and the code that made it. It appears whole or not at all, its checksums are
tested as it is read, and a damaged one is made again. The folder may be deleted at any time. Where it cannot be
written, nothing is kept.
"""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tussock.errors import OutputError
from tussock.scene.mesh import Mesh
from tussock.version import VERSION
from tussock.whole_files import whole_file

__all__ = ["cache_folder", "kept"]


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
    """``make(**options)``, from the cache where it is; the materials come from a small shape made anew."""
    code = Path(inspect.getfile(make)).read_bytes()
    key = hashlib.blake2b(repr(sorted(options.items())).encode() + code, digest_size=8).hexdigest()
    file = cache_folder() / f"{make.__name__}-{VERSION}-{key}.npz"
    try:
        with file.open("rb") as opened, np.load(opened, allow_pickle=False) as arrays:
            names = [str(name) for name in arrays["materials"]]
            from tussock.scene.surfaces import SURFACES

            chosen = arrays["chosen"] if "chosen" in arrays.files else None
            return Mesh(arrays["vertices"], arrays["triangles"], tuple(SURFACES[n] for n in names), chosen)
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        pass  # not there, or damaged
    mesh = make(**options)
    arrays = {
        "vertices": mesh.vertices,
        "triangles": mesh.triangles,
        "materials": np.array([m.name for m in mesh.materials]),
    }
    if mesh.triangle_materials is not None:
        arrays["chosen"] = mesh.triangle_materials
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(file, force=True, counts=False) as temporary, temporary.open("wb") as target:
            np.savez(target, allow_pickle=False, **arrays)
    except (OSError, OutputError):
        pass  # a closed or full disk costs time the next time, nothing else
    return mesh
