"""Binary USD files (crates): counts in them are held against their size before the library believes them.

It takes memory for what it reads there before it looks at more: a crate of 3 kB could ask for 4 GB. A crate begins with ``PXR-USDC``,
eight bytes of version and the place of its table of contents: how many sections, and for each its name (16 bytes), place
and size; and a section begins with the number of its entries. In PATHS the number of those that are written out follows (a
tree in three columns), in TOKENS the number of bytes before they are compressed. One section, FIELDS, says where each value lies: after
numbers of names it holds eight bytes a value, compressed by LZ4,

    bit 63 an array   62 it is in these eight bytes itself   61 compressed   48 to 55 its type   0 to 47 its place in the file

and where an array or a list lies, its number of entries comes first. Values of other moments than the first (of what moves)
lie deeper and are not looked at. Source: crateFile.h, crateFile.cpp and fastCompression.cpp of OpenUSD 24.
"""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from tussock.errors import InputError

__all__ = ["check_crate"]

_SECTIONS = 100  # a crate has six
_SWELL = 1020  # entries a byte: four to a byte before they are compressed, 255 times at most
_COMPRESSED_FROM = (0, 4)
_COUNTED_TWICE = frozenset({b"PATHS", b"TOKENS"})
_RANK_UP_TO, _SHORT_UP_TO = (0, 5), (0, 7)
"""versions before which an array says its rank first, and its number of entries in four bytes"""
_LISTS = frozenset({40, 41, 48, 49, 50})
"""types of lists: of paths, names, numbers, layer offsets, texts"""


def check_crate(path: Path) -> None:
    """Refuse a crate whose table of contents, or a count in it, is out of proportion to its size; other files pass."""
    with path.open("rb") as file:
        head = file.read(24)
        if head[:8] != b"PXR-USDC":
            return
        crate = _Crate(file, path.stat().st_size)
        try:
            sections = crate.sections(head)
            entries = [crate.numbers(place, "<Q")[0] for _, place, _ in sections]
            wrong = any(size < 0 or place + size > crate.end for _, place, size in sections)
        except (ValueError, struct.error):
            wrong, sections, entries = True, [], []
        if wrong or not sections or any(n > _SWELL * one[2] for n, one in zip(entries, sections, strict=True)):
            raise InputError("is no USD file that can be read (its table of contents is damaged)", source=path)
        if not crate.counts_fit(head, sections) or not crate.fits(head, sections):
            raise InputError("is no USD file that can be read (it names more values than it can hold)", source=path)


class _Crate:
    def __init__(self, file: Any, end: int) -> None:
        self._file, self.end = file, end

    def numbers(self, at: int, form: str) -> tuple[Any, ...]:
        if not 0 <= at <= self.end:
            raise ValueError
        self._file.seek(at)
        return struct.unpack(form, self._file.read(struct.calcsize(form)))

    def sections(self, head: bytes) -> list[tuple[bytes, int, int]]:
        """Name, place and size of each."""
        (table,) = struct.unpack("<16xq", head)
        (count,) = self.numbers(table, "<Q")
        found = [self.numbers(table + 8 + 32 * k, "<16sqq") for k in range(count if count < _SECTIONS else 0)]
        return [(name.rstrip(b"\0"), place, size) for name, place, size in found]

    def counts_fit(self, head: bytes, sections: list[tuple[bytes, int, int]]) -> bool:
        """Whether the second counts of sections are in proportion to their sizes."""
        if (head[8], head[9]) < _COMPRESSED_FROM:
            return True
        twice = [(place, size) for name, place, size in sections if name in _COUNTED_TWICE]
        return all(size >= 16 and self.numbers(place + 8, "<Q")[0] <= _SWELL * size for place, size in twice)

    def fits(self, head: bytes, sections: list[tuple[bytes, int, int]]) -> bool:
        """Whether no array and no list has more entries than the file can hold; what cannot be told the library finds out."""
        version = (head[8], head[9])
        fields = next(((place, size) for name, place, size in sections if name == b"FIELDS"), None)
        if fields is None or version < _COMPRESSED_FROM:
            return True
        try:
            values = self._values(*fields)
        except (ValueError, IndexError, struct.error):
            return True
        return all(self._fits(value, version) for (value,) in struct.iter_unpack("<Q", values))

    def _values(self, place: int, size: int) -> bytes:
        """Eight bytes of each value."""
        count, names = self.numbers(place, "<QQ")
        at = place + 16 + names
        (compressed,) = self.numbers(at, "<Q")
        if compressed > size:
            raise ValueError
        self._file.seek(at + 8)
        found = _unpacked(self._file.read(compressed), 8 * count)
        return found[: len(found) // 8 * 8]

    def _fits(self, value: int, version: tuple[int, int]) -> bool:
        place, kind = value & (1 << 48) - 1, value >> 48 & 255
        is_array, inside = bool(value >> 63), bool(value >> 62 & 1)
        if inside or not place or not (is_array or kind in _LISTS):
            return True
        short = is_array and version < _SHORT_UP_TO
        at = place + (4 if is_array and version < _RANK_UP_TO else 0)
        try:
            (count,) = self.numbers(at, "<I" if short else "<Q")
        except (ValueError, struct.error):
            return False
        return bool(count <= (_SWELL if value >> 61 & 1 else 1) * self.end)


def _unpacked(data: bytes, most: int) -> bytes:
    """What USD's "fast compression" made: a number of pieces (0: one without a size), each a block of LZ4."""
    if not data[0]:
        return _block(data[1:], most)
    out, at = b"", 1
    for _ in range(data[0]):
        (size,) = struct.unpack_from("<i", data, at)
        if size < 0:
            raise ValueError
        out += _block(data[at + 4 : at + 4 + size], most - len(out))
        at += 4 + size
    return out


def _block(data: bytes, most: int) -> bytes:
    """A block of LZ4: a byte of two lengths, literal bytes, how far back a copy begins; lengths of 15 go on."""
    out, at = bytearray(), 0

    def length(short: int) -> int:
        nonlocal at
        whole, more = short, short == 15
        while more:
            whole, more = whole + data[at], data[at] == 255
            at += 1
        return whole

    while at < len(data):
        lengths = data[at]
        at += 1
        literal = length(lengths >> 4)
        out += data[at : at + literal]
        at += literal
        if at >= len(data):
            break
        back = data[at] | data[at + 1] << 8
        at += 2
        copied = length(lengths & 15) + 4
        if not 0 < back <= len(out) or len(out) + copied > most:
            raise ValueError
        start = len(out) - back
        piece = out[start : start + min(back, copied)]
        out += (piece * (copied // len(piece) + 1))[:copied]
    return bytes(out)
