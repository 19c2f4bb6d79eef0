"""NPZ, NumPy's own: each column an array of its name, vectors of shape (n, 3), the document a string.

From Python: ``points = numpy.load("frame.npz")["xyz"]``.
"""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.files.contents import Contents, field_names
from tussock.files.file_format import Format
from tussock.frames.columns import COLUMNS

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
    if not zipfile.is_zipfile(path):
        raise InputError("is cut or not an NPZ file")
    fields: dict[str, NDArray[Any]] = {}
    with np.load(path, allow_pickle=False) as file:
        vectors = {column.name: field_names(column) for column in COLUMNS if column.width > 1}
        document = str(file[DOCUMENT]) if DOCUMENT in file else None
        for name in file:
            if name in vectors:
                fields |= dict(zip(vectors[name], file[name].T, strict=True))
            elif name != DOCUMENT and file[name].ndim == 1:
                fields[name] = file[name]
    if len({len(array) for array in fields.values()}) > 1:
        raise InputError("its columns have different lengths")
    return Contents(fields, document)


NPZ = Format(".npz", "NPZ", save, load)
