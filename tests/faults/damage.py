"""Files damaged by chance: byte by byte, and with their structure in mind.

Bytes that are changed blindly seldom get past a header. So what has a structure (TOML, JSON, tables, archives, arrays,
captures) is taken apart, one of its parts changed, and put together again, checksums included.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import random
import re
import struct
import tomllib
import zipfile
import zlib
from collections.abc import Callable
from typing import Any

import tomli_w

__all__ = ["damage"]

NUMBERS: list[Any] = [
    0, -1, 1, 2, 3, 15, 16, 255, 65535, 65536, 2**31 - 1, 2**31, 2**32, 2**53, 2**63 - 1, -(2**63), 1e-320, 1e-300,
    1e-12, 0.5, 1e9, 1e19, 1e30, 1e38, 1e39, 1e300, 1.7e308, -0.0, math.nan, math.inf, -math.inf,
]  # fmt: skip
TEXTS = [
    "", " ", "\0", "a\0b", "..", "../x", "/dev/zero", "/etc/passwd", "/", ".", "[/bold]", "[red]x", "\x1b[31m", "a" * 300,
    "é☃𝄞", "\ud7ff", "nan", "1e999", "true", "null", "0x10", "-", "vlp-16", "grass", "scene.toml", "%s%n", "{0}", "\n", "C:\\x",
]  # fmt: skip
TOKENS = [
    b"", b"nan", b"inf", b"-inf", b"1e999", b"-1", b"0", b"1e300", b"9" * 4301, b"9" * 40, b"x", b"\0", b"\xff\xfe", b"1,2", b"[" * 500,
    b"{" * 500, b"[[[", b"=", b'"', b"'", b"#", b"\n", b"\r", b",", b" ", b"1e-320", b"4294967296", b"1_000", b"0x7f", b"tree",
]  # fmt: skip


def damage(data: bytes, suffix: str, draw: random.Random) -> bytes:
    """``data`` of a file with this suffix, changed."""
    structured = STRUCTURES.get(suffix)
    if structured is not None and draw.random() < 0.7:
        try:
            return structured(data, draw)
        except (
            ValueError,
            KeyError,
            IndexError,
            TypeError,
            struct.error,
            zipfile.BadZipFile,
            OverflowError,
            AttributeError,
            RecursionError,
        ):
            pass  # it was damaged beyond taking apart, or cannot be put together again
    return damaged_bytes(data, draw)


def damaged_bytes(data: bytes, draw: random.Random) -> bytes:
    """A few bytes changed, cut, doubled, or put in."""
    found = bytearray(data)
    for _ in range(draw.choice((1, 1, 1, 2, 4, 16))):
        size = len(found)
        # Headers decide most, so they are hit most.
        at = draw.randrange(min(size, 128)) if size and draw.random() < 0.5 else draw.randrange(size + 1)
        length = min(draw.choice((1, 2, 4, 8, 16, 100, 1000)), size - at)
        kind = draw.randrange(8)
        if kind == 0 and at < size:
            found[at] ^= 1 << draw.randrange(8)
        elif kind == 1:
            found[at : at + length] = draw.randbytes(length)
        elif kind == 2:
            del found[at : at + length]
        elif kind == 3:
            found[at:at] = found[at : at + length] * draw.choice((1, 2, 50))
        elif kind == 4:
            del found[at:]
        elif kind == 5:
            found[at : at + length] = draw.choice((b"\0", b"\xff", b"\x7f", b"\x80")) * length
        elif kind == 6:
            form = draw.choice(("<I", ">I", "<H", ">H", "<Q", "<q", "<d", "<f"))
            number = draw.choice([n for n in NUMBERS if isinstance(n, int) == (form[1] in "IHQq")])
            try:
                found[at : at + struct.calcsize(form)] = struct.pack(form, number)
            except (struct.error, OverflowError):
                found[at : at + 4] = b"\xff" * 4
        else:
            found[at:at] = draw.choice(TOKENS)
    return bytes(found)


def damaged_tree(tree: Any, draw: random.Random) -> Any:
    """One or two values of nested lists and tables changed, removed, doubled or nested."""
    for _ in range(draw.choice((1, 1, 2))):
        places = list(_places(tree))
        if not places:
            return tree
        holder, key = draw.choice(places)
        value = holder[key]
        kind = draw.randrange(7)
        if kind <= 2:
            holder[key] = _other(value, draw)
        elif kind == 3:
            del holder[key]
        elif kind == 4:
            if isinstance(holder, list):
                holder.insert(draw.randrange(len(holder) + 1), json.loads(json.dumps(value, default=str)))
            else:
                holder[draw.choice([*TEXTS, "mesh", "seed", "noise", "size_m"])] = _other(value, draw)
        elif kind == 5:
            other, where = draw.choice(places)
            holder[key] = json.loads(json.dumps(other[where], default=str))
        else:
            for _ in range(draw.choice((1, 3, 90, 400))):
                value = [value] if draw.random() < 0.5 else {"a": value}
            holder[key] = value
    return tree


def _other(value: Any, draw: random.Random) -> Any:
    if isinstance(value, int | float) and not isinstance(value, bool) and draw.random() < 0.8:
        return draw.choice([*NUMBERS, value * -1, value * 1e6, value / 1e6, float(value), draw.uniform(-10, 10)])
    if isinstance(value, str) and draw.random() < 0.7:
        return draw.choice(TEXTS)
    return draw.choice(
        [*NUMBERS, *TEXTS, [], {}, True, [0], [[]], [1, 2, 3], [math.nan] * 3, [1e308] * 3, list(range(2000))]
    )


def _places(tree: Any) -> Any:
    items = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in items:
        yield tree, key
        yield from _places(value)


def damaged_text(data: bytes, draw: random.Random) -> bytes:
    """Words and lines of a text changed, removed, doubled."""
    if draw.random() < 0.7:
        words = list(re.finditer(rb"[^\s,=;:\[\]{}\"]+", data[:65536]))
        for _ in range(draw.choice((1, 1, 2, 3))):
            word = draw.choice(words)
            data = data[: word.start()] + draw.choice(TOKENS) + data[word.end() :]
        return data
    lines = data.split(b"\n")
    at = draw.randrange(len(lines))
    kind = draw.randrange(4)
    if kind == 0:
        del lines[at]
    elif kind == 1:
        lines.insert(at, draw.choice(lines))
    elif kind == 2:
        lines[at] = lines[at] + b"," + draw.choice(TOKENS)
    else:
        other = draw.randrange(len(lines))
        lines[at], lines[other] = lines[other], lines[at]
    return b"\n".join(lines)


def damaged_toml(data: bytes, draw: random.Random) -> bytes:
    if draw.random() < 0.3:
        return damaged_text(data, draw)
    tree = tomllib.loads(data.decode())
    if len(tree.get("objects", [])) > 2:  # a few objects are quicker, and no other than many
        kept = draw.sample(tree["objects"], draw.choice((1, 2)))
        tree["objects"] = [one for one in tree["objects"] if one in kept or one.get("name") == "hills"]
    return tomli_w.dumps(damaged_tree(tree, draw)).encode()


def damaged_json(data: bytes, draw: random.Random) -> bytes:
    if draw.random() < 0.3:
        return damaged_text(data, draw)
    lines = data.splitlines()
    if len(lines) > 1 and all(line.startswith(b"{") for line in lines):  # a journal: one document a line
        at = draw.randrange(len(lines))
        lines[at] = json.dumps(damaged_tree(json.loads(lines[at]), draw)).encode()
        return b"\n".join(lines) + b"\n"
    return json.dumps(damaged_tree(json.loads(data), draw)).encode()


def damaged_zip(data: bytes, draw: random.Random) -> bytes:
    """A member changed, and where there is a manifest of checksums, that too."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        comment = archive.comment
        members = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    chosen = draw.choice(list(members))
    members[chosen] = damage(members[chosen], "." + chosen.rpartition(".")[2], draw)
    if "manifest.json" in members and draw.random() < 0.8:
        if chosen != "manifest.json":
            manifest = json.loads(members["manifest.json"])
            manifest["entries"][chosen] = {
                "bytes": len(members[chosen]), "sha256": hashlib.sha256(members[chosen]).hexdigest()
            }  # fmt: skip
            members["manifest.json"] = json.dumps(manifest).encode()
        comment = hashlib.sha256(members["manifest.json"]).hexdigest().encode()
    if draw.random() < 0.1:
        members[draw.choice(["../x", "/x", "x\0y", "a" * 300, "scene", chosen + "/x"])] = b"x"
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED if draw.random() < 0.3 else zipfile.ZIP_STORED) as archive:
        archive.comment = comment
        for name, member in members.items():
            archive.writestr(zipfile.ZipInfo(name), member)
    return out.getvalue()


def damaged_npy(data: bytes, draw: random.Random) -> bytes:
    """The header's words, its length kept."""
    (length,) = struct.unpack_from("<H", data, 8)
    head = data[10 : 10 + length].rstrip()
    head = (damaged_text(head, draw) if draw.random() < 0.7 else damaged_bytes(head, draw))[:60000]
    head = head.ljust(length - 1) + b"\n"
    return data[:8] + struct.pack("<H", len(head)) + head + data[10 + length :]


def damaged_with_header(data: bytes, draw: random.Random) -> bytes:
    """PLY, PCD and their like: a text on top, numbers below."""
    end = max(data.find(b"end_header"), data.find(b"DATA "))
    end = data.index(b"\n", end if end > 0 else 0) + 1
    return damaged_text(data[:end], draw) + data[end:]


def damaged_pcap(data: bytes, draw: random.Random) -> bytes:
    """One record's time, length or bytes."""
    records, at = [], 24
    while at + 16 <= len(data):
        (length,) = struct.unpack_from("<I", data, at + 8)
        records.append((at, length))
        at += 16 + length
    at, length = draw.choice(records[:50] or [(24, 0)])
    found = bytearray(data)
    if draw.random() < 0.5:
        struct.pack_into(
            "<I", found, at + 4 * draw.randrange(4), draw.choice((0, 1, 2**31, 2**32 - 1, draw.randrange(2**32)))
        )
    else:
        found[at + 16 : at + 16 + length] = damaged_bytes(bytes(found[at + 16 : at + 16 + length]), draw)
    return bytes(found)


def damaged_png(data: bytes, draw: random.Random) -> bytes:
    """One chunk changed, with a checksum that fits."""
    chunks, at = [], 8
    while at + 8 <= len(data):
        (length,) = struct.unpack_from(">I", data, at)
        chunks.append((data[at + 4 : at + 8], data[at + 8 : at + 8 + length]))
        at += 12 + length
    chosen = draw.randrange(len(chunks))
    kind, body = chunks[chosen]
    chunks[chosen] = (kind, damaged_bytes(body, draw))
    parts = [struct.pack(">I", len(b)) + k + b + struct.pack(">I", zlib.crc32(k + b)) for k, b in chunks]
    return data[:8] + b"".join(parts)


STRUCTURES: dict[str, Callable[[bytes, random.Random], bytes]] = {
    ".toml": damaged_toml, ".json": damaged_json, ".jsonl": damaged_json, ".gltf": damaged_json, ".csv": damaged_text,
    ".tum": damaged_text, ".txt": damaged_text, ".obj": damaged_text, ".mtl": damaged_text, ".npz": damaged_zip,
    ".volumes": damaged_zip, ".tussock": damaged_zip, ".npy": damaged_npy, ".ply": damaged_with_header,
    ".pcd": damaged_with_header, ".pcap": damaged_pcap, ".png": damaged_png,
}  # fmt: skip
