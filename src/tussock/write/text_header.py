"""Lines of text above binary data, as PCD and PLY files begin."""

from __future__ import annotations

from tussock.errors import InputError

__all__ = ["header_line"]

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
