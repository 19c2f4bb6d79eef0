"""Fields as packed records, one per point, as PCD and PLY store them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError

__all__ = ["packed", "read_records", "read_text_table"]


def packed(fields: dict[str, NDArray[Any]]) -> NDArray[np.void]:
    """One little-endian record per row, without padding, shape (n,)."""
    layout = np.dtype([(name, array.dtype.newbyteorder("<")) for name, array in fields.items()])
    records = np.empty(len(next(iter(fields.values()))), layout)
    for name, array in fields.items():
        records[name] = array
    return records


def read_records(data: memoryview, layout: np.dtype[Any], rows: int) -> NDArray[np.void]:
    """The first ``rows`` records of ``data``; fewer are an error."""
    needed = rows * layout.itemsize
    if len(data) < needed:
        whole = len(data) // max(layout.itemsize, 1)
        raise InputError(f"ends after {whole} of {rows} points; the file was cut")
    return np.frombuffer(data, layout, rows) if rows else np.empty(0, layout)


def read_text_table(data: memoryview, columns: int, rows: int, *, skip: int = 0) -> NDArray[np.float64]:
    """A table of numbers written as text, after ``skip`` other lines, shape (rows, columns)."""
    lines = bytes(data).decode("ascii").splitlines()[skip : skip + rows]
    if len(lines) < rows:
        raise InputError(f"ends after {len(lines)} of {rows} points; the file was cut")
    if not rows:
        return np.empty((0, columns))
    table = np.loadtxt(lines, ndmin=2, comments=None)
    if table.shape != (rows, columns):
        raise InputError(f"holds {table.shape[0]} rows of {table.shape[1]} numbers, not {rows} of {columns}")
    return table
