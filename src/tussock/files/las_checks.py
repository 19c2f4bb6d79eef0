"""What a LAS or LAZ file says of itself, against what it holds.

laspy believes counts and lengths and takes memory for them before it reads; the decompressor of LAZ (lazrs) then ends
the process where there is none. So they are checked here first. A compressed file is the header with its records, of
which one describes the compression; the place of the chunk table; chunks of points; and the chunk table: a version,
the number of chunks, and the compressed length of each (and its number of points, where that varies).
"""

from __future__ import annotations

import struct
from typing import IO, Any, NamedTuple

from tussock.errors import InputError
from tussock.extras import load_extra
from tussock.limits import check_memory

__all__ = ["check_before_reading"]

_HEAD = 375
"""bytes of the longest header, that of LAS 1.4"""
_COMPRESSED = 0x80
"""the bit of the point format that says so"""
_LAYERS = {10: 9, 11: 1, 12: 2, 13: 1}
"""of the items that points are made of in LASzip's layered chunks: point, colour, colour and near infrared, wave packet"""
_BYTES = 14
"""the item of extra bytes, a layer each"""
_NO_CHUNKS, _IN_LAYERS = 1, 3
"""ways of compression: one stream without a table, and chunks of layers; 2 is chunks of whole points"""
_AT_THE_END = -1
"""place of a chunk table that was not known when the file was begun: its last eight bytes hold it"""


class _Compression(NamedTuple):
    way: int
    layers: int
    """of a chunk; 0 where it has none, or items unknown to us"""
    record: bytes


def check_before_reading(file: IO[bytes], size: int) -> bool:
    """Refuse a file of ``size`` bytes whose counts and lengths it cannot hold; whether its points are compressed."""
    head = file.read(_HEAD)
    _check_header(head, size)
    if not head[104] & _COMPRESSED:
        return False
    compression = _compression(file, head)
    if compression is None or compression.way == _NO_CHUNKS:
        return True
    start, width = _points_of(head)
    table = _check_chunk_table(file, start, width, size)
    if compression.way == _IN_LAYERS and compression.layers:
        _check_layers(file, compression.layers, (start, width), min(table, size), size)
    _check_chunks(file, start, compression.record, size)
    return True


def _points_of(head: bytes) -> tuple[int, int]:
    """Where the points start, and the bytes of each."""
    return struct.unpack_from("<I", head, 96)[0], struct.unpack_from("<H", head, 105)[0]


def _check_header(head: bytes, size: int) -> None:
    if head[:4] != b"LASF" or len(head) < 227:
        raise InputError("does not start with a LAS header; it is cut or not a LAS file")
    header_size, start, records = struct.unpack_from("<HII", head, 94)
    kind, width, points = struct.unpack_from("<BHI", head, 104)
    extended_start, extended = 0, 0
    if head[25] >= 4 and len(head) == _HEAD:
        extended_start, extended, points = struct.unpack_from("<QIQ", head, 235)
    compressed = bool(kind & _COMPRESSED)
    if compressed:
        check_memory(points * (width + 8 * 3), size)  # the coordinates come as doubles too
    plain = 0 if compressed else points * width
    if header_size + 54 * records > start or extended_start + 60 * extended > size or start + plain > size:
        raise InputError("its header says more than the file holds; it was cut or is damaged")


def _compression(file: IO[bytes], head: bytes) -> _Compression | None:
    """The record of LASzip; None where there is none that we can read (laspy says which is missing)."""
    at, _, records = struct.unpack_from("<HII", head, 94)
    for _ in range(records):
        file.seek(at)
        record = file.read(54)
        if len(record) < 54:
            return None
        number, length = struct.unpack_from("<HH", record, 18)
        if record[2:16] == b"laszip encoded" and number == 22204:
            body = file.read(length)
            if len(body) < 34:
                return None
            way, count = struct.unpack_from("<H", body)[0], struct.unpack_from("<H", body, 32)[0]
            if len(body) < 34 + 6 * count:
                return None
            items = [struct.unpack_from("<HHH", body, 34 + 6 * item) for item in range(count)]
            known = all(kind in _LAYERS or kind == _BYTES for kind, _, _ in items)
            layers = sum(width if kind == _BYTES else _LAYERS[kind] for kind, width, _ in items) if known else 0
            return _Compression(way, layers, body)
        at += 54 + length
    return None


def _check_chunk_table(file: IO[bytes], start: int, width: int, size: int) -> int:
    """Refuse more chunks than fit, of which each starts with a point as it is; where the table is."""
    file.seek(start)
    place = file.read(8)
    if place == struct.pack("<q", _AT_THE_END) and size >= 8:
        file.seek(size - 8)
        place = file.read(8)
    table = struct.unpack("<q", place)[0] if len(place) == 8 else 0
    if not start + 8 <= table <= size - 8:
        raise InputError("its table of chunks lies outside the file; it was cut or is damaged")
    file.seek(table + 4)
    chunks = struct.unpack("<I", file.read(4))[0]
    if chunks * max(width, 1) > size:
        raise InputError(f"its table has {chunks:,} chunks, which the file cannot hold; it is damaged")
    return int(table)


def _check_layers(file: IO[bytes], layers: int, points: tuple[int, int], end: int, size: int) -> None:
    """Refuse layers that are longer than the file: a chunk is a point, a count, the length of every layer, the layers."""
    start, width = points
    at = start + 8
    while at < end:
        file.seek(at + width)
        lengths = file.read(4 + 4 * layers)
        if len(lengths) < 4 + 4 * layers:
            return
        at += width + 4 + 4 * layers + sum(struct.unpack_from(f"<{layers}I", lengths, 4))
        if at > size:
            raise InputError("its compressed points are longer than the file; it was cut or is damaged")


def _check_chunks(file: IO[bytes], start: int, record: bytes, size: int) -> None:
    """Refuse chunks that are longer than the file, together: the decompressor takes memory for them first."""
    lazrs: Any = load_extra("lazrs", extra="las", purpose="a LAZ file")
    file.seek(start)
    try:
        chunks = lazrs.read_chunk_table(file, lazrs.LazVlr(record))
    except lazrs.LazrsError as error:
        raise InputError(f"its table of chunks cannot be read ({error}); it is damaged") from None
    if sum(length for _, length in chunks) > size:
        raise InputError("its table says that the compressed points are longer than the file; it is damaged")
