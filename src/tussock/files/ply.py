"""PLY, the polygon file format, as a cloud of vertices.

Written binary little-endian: every field a property of the element ``vertex``, in its own type, x, y, z and
intensity first, the document in comment lines. Read in all three encodings. Elements after the vertices
(faces) are passed over; before them only elements of fixed size can be, and lists in a vertex are refused.

Source: Greg Turk, "The PLY polygon file format", Stanford, 1994.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tussock.errors import InputError
from tussock.files.contents import Contents
from tussock.files.document import comment_lines, joined_comments
from tussock.files.file_format import Format
from tussock.files.records import packed, read_records, read_text_table
from tussock.files.text_header import header_line, write_below

__all__ = ["PLY"]

TYPE_NAMES = {
    "i1": "char",
    "u1": "uchar",
    "i2": "short",
    "u2": "ushort",
    "i4": "int",
    "u4": "uint",
    "f4": "float",
    "f8": "double",
}
TYPES = {name: code for code, name in TYPE_NAMES.items()} | {
    "int8": "i1",
    "uint8": "u1",
    "int16": "i2",
    "uint16": "u2",
    "int32": "i4",
    "uint32": "u4",
    "float32": "f4",
    "float64": "f8",
}
ENCODINGS = {"ascii": "=", "binary_little_endian": "<", "binary_big_endian": ">"}


def save(contents: Contents, path: Path) -> None:
    records = packed(contents.fields)
    header = [
        "ply",
        "format binary_little_endian 1.0",
        *(f"comment {comment}" for comment in comment_lines(contents.document or "")),
        f"element vertex {len(records)}",
        *(
            f"property {TYPE_NAMES[f'{array.dtype.kind}{array.dtype.itemsize}']} {name}"
            for name, array in contents.fields.items()
        ),
        "end_header",
    ]
    write_below(header, records, path)


def load(path: Path) -> Contents:
    data = memoryview(path.read_bytes())
    header = _read_header(data)
    body = data[header.length :]
    vertices = next((k for k, element in enumerate(header.elements) if element.name == "vertex"), None)
    if vertices is None:
        raise InputError("its PLY header has no element 'vertex'")
    element = header.elements[vertices]
    before = header.elements[:vertices]
    if any(e.lists for e in [*before, element]):
        raise InputError("has lists before or in its vertices, which Tussock cannot read; save it as a plain cloud")
    if header.encoding == "ascii":
        skipped = sum(e.count for e in before)
        table = read_text_table(body, len(element.properties), element.count, skip=skipped)
        fields = {name: table[:, k] for k, name in enumerate(element.properties)}
    else:
        order = ENCODINGS[header.encoding]
        skipped = sum(e.count * e.layout(order).itemsize for e in before)
        records = read_records(body[skipped:], element.layout(order), element.count)
        if vertices == len(header.elements) - 1 and len(body) - skipped - records.nbytes >= records.itemsize:
            raise InputError(f"holds more than the {element.count} vertices that its header says")
        fields = {name: records[name] for name in element.properties}
    return Contents(fields, header.document)


PLY = Format(".ply", "PLY", save, load)


@dataclass
class _Element:
    name: str
    count: int
    properties: dict[str, str] = field(default_factory=dict)
    """type by name, in the order of the file"""
    lists: bool = False

    def layout(self, order: str) -> np.dtype[Any]:
        return np.dtype([(name, order + code) for name, code in self.properties.items()])


@dataclass(frozen=True)
class _Header:
    encoding: str
    elements: list[_Element]
    document: str | None
    length: int
    """[bytes] where the data begin"""


def _read_header(data: memoryview) -> _Header:
    first, place = header_line(data, 0, "PLY")
    if first.strip() != "ply":
        raise InputError("does not start with 'ply'; it is not a PLY file")
    encoding = ""
    elements: list[_Element] = []
    comments: list[str] = []
    while True:
        line, place = header_line(data, place, "PLY")
        match line.split():
            case ["end_header"]:
                break
            case ["format", name, _] if name in ENCODINGS:
                encoding = name
            case ["comment", *_]:
                comments.append(line.removeprefix("comment "))
            case ["obj_info", *_] | []:
                pass
            case ["element", name, count] if count.isdigit():
                elements.append(_Element(name, int(count)))
            case ["property", "list", _, _, _] if elements:
                elements[-1].lists = True
            case ["property", code, name] if elements and code in TYPES and name not in elements[-1].properties:
                elements[-1].properties[name] = TYPES[code]
            case _:
                raise InputError.of("its PLY header", "has a line that makes no sense", line)
    if not encoding:
        raise InputError("its PLY header has no format")
    return _Header(encoding, elements, joined_comments(comments), place)
