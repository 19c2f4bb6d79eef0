"""NPZ, NumPy's own: each column an array of its name, vectors of shape (n, 3), the document a string.

From Python: ``points = numpy.load("frame.npz")["xyz"]``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.files.contents import Contents, field_names
from tussock.files.file_format import Format
from tussock.frames.columns import COLUMNS
from tussock.numpy_files import load_npz

__all__ = ["NPZ"]

DOCUMENT = "document"


def save(contents: Contents, path: Path) -> None:
    arrays = {
        column.name: contents.fields[column.name]
        if column.width == 1
        else np.stack([contents.fields[name] for name in field_names(column)], axis=1)
        for column in COLUMNS
    }
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays, **{DOCUMENT: np.array(contents.document or "")})


def load(path: Path) -> Contents:
    arrays = load_npz(path)
    vectors = {column.name: field_names(column) for column in COLUMNS if column.width > 1}
    document = str(arrays.pop(DOCUMENT)) if DOCUMENT in arrays else None
    fields: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        if name in vectors:
            if array.ndim != 2 or array.shape[1] != len(vectors[name]):
                raise InputError.of(f"array {name!r}", f"must have the shape (n, {len(vectors[name])})", array.shape)
            fields |= dict(zip(vectors[name], array.T, strict=True))
        elif array.ndim == 1:
            fields[name] = array
    if len({len(array) for array in fields.values()}) > 1:
        raise InputError("its columns have different lengths")
    return Contents(fields, document)


NPZ = Format(".npz", "NPZ", save, load)
