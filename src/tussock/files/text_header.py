"""Lines of text above binary data, as PCD and PLY files begin."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from tussock.errors import InputError

__all__ = ["header_line", "write_below"]

LONGEST_LINE = 65536
"""Real header lines are far shorter; binary rubbish is not searched any further."""


def header_line(data: memoryview, place: int, format: str) -> tuple[str, int]:
    """The line at ``place`` without its end, and where the next begins; ``format`` is for errors."""
    piece = bytes(data[place : place + LONGEST_LINE])
    end = piece.find(b"\n")
    if end < 0:
        raise InputError(f"has no complete {format} header; it is cut or not a {format} file")
    try:
        return piece[:end].decode("ascii").rstrip("\r"), place + end + 1
    except UnicodeDecodeError:
        raise InputError(f"does not start with a {format} header; it is not a {format} file") from None


def write_below(header: Sequence[str], records: NDArray[Any], path: Path) -> None:
    """The header's lines, then the records as they lie in memory."""
    with path.open("wb") as file:
        file.write(("\n".join(header) + "\n").encode("ascii"))
        file.write(records.data)
