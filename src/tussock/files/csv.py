"""CSV: a line of names, then one line per row; the document in ``name.csv.meta.json`` beside.

Numbers are written in the shortest form that reads back to the same bits, NaN as ``nan``.
"""

from __future__ import annotations

from pathlib import Path

from tussock.errors import InputError
from tussock.files.contents import FIELD_TYPES, SHARED_FIELDS, Contents
from tussock.files.document import Document
from tussock.files.file_format import DOCUMENT_BESIDE, Format, load_document_beside

__all__ = ["CSV"]

POINTS = ("x", "y", "z", "true_x", "true_y", "true_z")


def save(contents: Contents, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.csv

    table = pa.table(contents.fields)
    with path.open("wb") as file:
        # pyarrow would put the names in quotes
        file.write((",".join(contents.fields) + "\n").encode("ascii"))
        pa.csv.write_csv(table, file, pa.csv.WriteOptions(include_header=False))


def load(path: Path) -> Contents:
    import pyarrow as pa
    import pyarrow.csv

    document = load_document_beside(path)
    with path.open("rb") as file:
        names = [name.strip().strip('"') for name in file.readline(65536).decode("utf-8-sig").split(",")]
        if document is not None:
            # A number that lost its last digits is still a number: only the missing line end tells.
            file.seek(-1, 2)
            if file.read() != b"\n":
                raise InputError("ends in the middle of a line; the file was cut")
    if len(set(names)) != len(names) or not set("xyz") <= set(names):
        raise InputError("its first line must name the columns, x, y and z among them")
    known = {name for name in names if name in FIELD_TYPES or name.lower() in SHARED_FIELDS}
    types = {name: FIELD_TYPES[name] for name in known & FIELD_TYPES.keys()}
    if document is None or Document.parse(document, path).coords == "world":
        types |= dict.fromkeys(known & set(POINTS), "f8")
    table = pa.csv.read_csv(
        path,
        read_options=pa.csv.ReadOptions(column_names=names, skip_rows=1),
        convert_options=pa.csv.ConvertOptions(
            column_types={name: _arrow_type(code) for name, code in types.items()},
            include_columns=[name for name in names if name in known],
            null_values=[""],  # nan is a number
        ),
    )
    return Contents({name: table[name].to_numpy() for name in table.column_names}, document)


def _arrow_type(code: str) -> object:
    import numpy as np
    import pyarrow as pa

    return pa.from_numpy_dtype(np.dtype(code))


CSV = Format(".csv", "CSV", save, load, beside=(DOCUMENT_BESIDE,))
