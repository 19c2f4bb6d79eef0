"""PCD, the format of the Point Cloud Library, version 0.7.

Written binary: one packed record per row, x, y, z and intensity first, every field in its own type, the
document in comment lines of the header. Read as ``ascii``, ``binary`` or ``binary_compressed`` (LZF, field
after field). Fields with several values per point, and padding (``_``), are passed over; so is the viewpoint,
which programs disagree about.

Source: "The PCD (Point Cloud Data) file format", PCL documentation.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.files.contents import Contents
from tussock.files.document import comment_lines, joined_comments
from tussock.files.file_format import Format
from tussock.files.records import packed, read_records, read_text_table
from tussock.files.text_header import header_line, write_below

__all__ = ["PCD"]

KIND_TYPES = {"f": "F", "u": "U", "i": "I"}
TYPE_KINDS = {letter: kind for kind, letter in KIND_TYPES.items()}


def save(contents: Contents, path: Path) -> None:
    records = packed(contents.fields)
    types = [array.dtype for array in contents.fields.values()]
    comments = comment_lines(contents.document or "")
    header = [
        "# .PCD v0.7 - Point Cloud Data file format",
        *(f"# {comment}" for comment in comments),
        "VERSION 0.7",
        "FIELDS " + " ".join(contents.fields),
        "SIZE " + " ".join(str(dtype.itemsize) for dtype in types),
        "TYPE " + " ".join(KIND_TYPES[dtype.kind] for dtype in types),
        "COUNT " + " ".join("1" for _ in types),
        f"WIDTH {len(records)}",
        "HEIGHT 1",
        "VIEWPOINT 0 0 0 1 0 0 0",
        f"POINTS {len(records)}",
        "DATA binary",
    ]
    write_below(header, records, path)


def load(path: Path) -> Contents:
    data = memoryview(path.read_bytes())
    header = _read_header(data)
    body = data[header.length :]
    if header.encoding == "ascii":
        fields = _from_text(body, header)
    elif header.encoding == "binary":
        records = read_records(body, header.layout, header.points)
        if len(body) - records.nbytes >= header.layout.itemsize:
            raise InputError(f"holds more than the {header.points} points that its header says")
        fields = {name: records[name] for name in header.names}
    else:
        fields = _from_columns(_decompressed(body), header)
    scalars = {name: array for name, array in fields.items() if array.ndim == 1 and not name.startswith("_")}
    return Contents(scalars, header.document)


PCD = Format(".pcd", "PCD", save, load)


@dataclass(frozen=True)
class _Header:
    layout: np.dtype[Any]
    points: int
    encoding: str
    document: str | None
    length: int
    """[bytes] where the data begin"""

    @property
    def names(self) -> tuple[str, ...]:
        return self.layout.names or ()


def _read_header(data: memoryview) -> _Header:
    words: dict[str, list[str]] = {}
    comments: list[str] = []
    place = 0
    while "DATA" not in words:
        line, place = header_line(data, place, "PCD")
        if line.startswith("#"):
            comments.append(line[1:].removeprefix(" "))
        elif line.strip():
            key, *values = line.split()
            words[key] = values
    for key in ("FIELDS", "SIZE", "TYPE", "DATA"):
        if not words.get(key):
            raise InputError(f"its PCD header has no {key}")
    names = words["FIELDS"]
    counts = words.get("COUNT") or ["1"] * len(names)
    if not len(names) == len(words["SIZE"]) == len(words["TYPE"]) == len(counts):
        raise InputError("its PCD header has different numbers of FIELDS, SIZE, TYPE and COUNT")
    encoding = words["DATA"][0].lower()
    if encoding not in ("ascii", "binary", "binary_compressed"):
        raise InputError.of("DATA", "must be ascii, binary or binary_compressed", encoding)
    return _Header(
        layout=_layout(names, words["SIZE"], words["TYPE"], counts),
        points=_points(words),
        encoding=encoding,
        document=joined_comments(comments),
        length=place,
    )


def _layout(names: list[str], sizes: list[str], types: list[str], counts: list[str]) -> np.dtype[Any]:
    fields: list[tuple[Any, ...]] = []
    for k, (name, size, letter, count) in enumerate(zip(names, sizes, types, counts, strict=True)):
        kind = TYPE_KINDS.get(letter.upper())
        allowed = ("4", "8") if kind == "f" else ("1", "2", "4", "8")
        if kind is None or size not in allowed or not count.isdigit() or int(count) > 2**16:
            raise InputError(f"field {name!r} of its PCD header has an odd type: {letter} {size} × {count}")
        # Padding fields may all be called "_"; a record needs names that differ.
        unique = name if name != "_" and name not in names[:k] else f"_{k}"
        shape = () if count == "1" else (int(count),)
        fields.append((unique, f"<{kind}{size}", shape))
    return np.dtype(fields)


def _points(words: dict[str, list[str]]) -> int:
    try:
        numbers = {key: int(words[key][0]) for key in ("POINTS", "WIDTH", "HEIGHT") if words.get(key)}
    except ValueError as error:
        raise InputError(f"its PCD header has a size that is no number ({error})") from None
    grid = numbers["WIDTH"] * numbers.get("HEIGHT", 1) if "WIDTH" in numbers else None
    points = numbers.get("POINTS", grid)
    if points is None or points < 0 or (grid is not None and grid != points):
        raise InputError("its PCD header is at odds with itself: POINTS must be WIDTH × HEIGHT")
    return points


def _from_text(body: memoryview, header: _Header) -> dict[str, NDArray[Any]]:
    widths = [header.layout[name].shape[0] if header.layout[name].shape else 1 for name in header.names]
    table = read_text_table(body, sum(widths), header.points)
    starts = np.cumsum([0, *widths[:-1]])
    return {
        name: table[:, start] for name, start, width in zip(header.names, starts, widths, strict=True) if width == 1
    }


def _decompressed(body: memoryview) -> memoryview:
    from tussock.files.lzf import decompress  # compiles a kernel: only where it is needed

    if len(body) < 8:
        raise InputError("ends before its compressed data; the file was cut")
    packed_size, size = (int(n) for n in np.frombuffer(body[:8], "<u4"))
    if len(body) - 8 < packed_size:
        raise InputError(f"ends after {len(body) - 8} of {packed_size} compressed bytes; the file was cut")
    # LZF turns 3 bytes into at most 264, so a larger claim is damage and must not be allocated.
    if size > packed_size * 88 + 264:
        raise InputError("its compressed size cannot be right; the file is damaged")
    return decompress(np.frombuffer(body[8 : 8 + packed_size], np.uint8), size).data


def _from_columns(data: memoryview, header: _Header) -> dict[str, NDArray[Any]]:
    """Compressed data hold all values of one field, then all of the next."""
    if len(data) != header.points * header.layout.itemsize:
        raise InputError(f"its compressed data do not hold the {header.points} points that its header says")
    fields: dict[str, NDArray[Any]] = {}
    place = 0
    for name in header.names:
        part = header.layout[name]
        size = header.points * part.itemsize
        fields[name] = read_records(data[place : place + size], part, header.points)
        place += size
    return fields
