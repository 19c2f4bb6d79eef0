"""Parquet: one scalar column per field (x, y, z, true_x, …), units and meanings in the fields' metadata, the
document in the schema's under ``tussock``.
"""

from __future__ import annotations

from pathlib import Path

from tussock.errors import InputError
from tussock.files.contents import Contents, field_names
from tussock.files.file_format import Format
from tussock.frames.columns import COLUMNS
from tussock.limits import check_memory

__all__ = ["PARQUET"]

KEY = b"tussock"


def save(contents: Contents, path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet

    about = {name: column for column in COLUMNS for name in field_names(column)}
    schema = pa.schema(
        [
            pa.field(
                name,
                pa.from_numpy_dtype(array.dtype),
                nullable=False,
                metadata={"unit": about[name].unit, "meaning": about[name].meaning},
            )
            for name, array in contents.fields.items()
        ],
        metadata={KEY: (contents.document or "").encode()},
    )
    table = pa.table(list(contents.fields.values()), schema=schema)
    # Dictionaries pay for the few values of a label, not for coordinates.
    repeated = [name for name, array in contents.fields.items() if array.dtype.kind == "u"]
    with path.open("wb") as file:
        pa.parquet.write_table(table, file, compression="zstd", use_dictionary=repeated)


def load(path: Path) -> Contents:
    import pyarrow as pa
    import pyarrow.parquet

    with path.open("rb") as file:
        source = pa.parquet.ParquetFile(file)
        about = source.metadata
        # A column of one value takes a few bytes, however many rows it has.
        check_memory(about.num_rows * about.num_columns * 8, path.stat().st_size)
        table = source.read()
    document = (table.schema.metadata or {}).get(KEY, b"").decode() or None
    numeric = [f.name for f in table.schema if pa.types.is_integer(f.type) or pa.types.is_floating(f.type)]
    if len(set(numeric)) != len(numeric):
        raise InputError("has two columns of one name")
    return Contents({name: table[name].to_numpy() for name in numeric}, document)


PARQUET = Format(".parquet", "Parquet", save, load)
