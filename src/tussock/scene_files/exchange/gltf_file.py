"""glTF 2.0 as data: the JSON of a .gltf or .glb, its buffers, accessors and images.

Source: Khronos glTF 2.0 specification, sections 3.6 (accessors), 3.8 (images) and 4 (GLB).
"""

from __future__ import annotations

import base64
import json
import struct
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.limits import check_memory, read_bytes
from tussock.reach import Reach
from tussock.scene.texture import Texture

__all__ = ["INSTANCING", "NUMBERS", "WIDTHS", "GltfFile", "glb_bytes"]

INSTANCING = "EXT_mesh_gpu_instancing"
NUMBERS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_WEBP = "EXT_texture_webp"
_KNOWN = {
    INSTANCING, _WEBP, "KHR_texture_transform", "KHR_materials_unlit", "KHR_mesh_quantization", "KHR_materials_specular",
}  # fmt: skip
_GLB, _JSON, _BIN = 0x46546C67, 0x4E4F534A, 0x004E4942


class GltfFile:
    """One file, opened."""

    def __init__(self, path: Path, reach: Reach) -> None:
        self._reach, self._binary = reach, b""
        data = read_bytes(path)
        text = data
        if path.suffix.lower() == ".glb":
            text, self._binary = _chunks(data)
        try:
            self.json: dict[str, Any] = json.loads(text)
            assert isinstance(self.json, dict)
        except (ValueError, AssertionError, RecursionError):
            raise InputError("its JSON is no glTF document; it is cut short or damaged") from None
        if str(self.json.get("asset", {}).get("version", "")).split(".")[0] != "2":
            raise InputError.of("asset version", "must be 2.0", self.json.get("asset", {}).get("version"))
        strange = sorted(set(self.json.get("extensionsRequired", ())) - _KNOWN)
        if strange:
            raise InputError.of("extensions", "cannot be read", ", ".join(strange), "export it without compression")
        self._size = len(data)
        self._buffers: dict[int, bytes] = {}

    def entry(self, kind: str, number: Any) -> dict[str, Any]:
        """One of the lists' entries, checked."""
        entries = self.json.get(kind, [])
        if not isinstance(number, int) or not 0 <= number < len(entries) or not isinstance(entries[number], dict):
            raise InputError.of(kind, f"must be one of the {len(entries)} that the file has", number)
        entry: dict[str, Any] = entries[number]
        return entry

    def view(self, number: Any) -> tuple[bytes, int]:
        """The bytes of a buffer view, and its stride (0: close together)."""
        view = self.entry("bufferViews", number)
        whole = self._buffer(view.get("buffer"))
        start, size = int(view.get("byteOffset", 0)), int(view.get("byteLength", 0))
        if start < 0 or size < 0 or start + size > len(whole):
            raise InputError.of(
                f"bufferViews {number}", f"must lie in the {len(whole)} bytes of its buffer", start + size
            )
        return whole[start : start + size], int(view.get("byteStride", 0))

    def accessor(self, number: Any) -> NDArray[Any]:
        """The numbers of an accessor, shape (n, width); normalised ones as fractions."""
        entry = self.entry("accessors", number)
        if "sparse" in entry:
            raise InputError(f"accessors {number}: is sparse, which cannot be read; export it plainly")
        kind, width = NUMBERS.get(entry.get("componentType", 0)), WIDTHS.get(entry.get("type", ""))
        count = entry.get("count")
        if kind is None or width is None or not isinstance(count, int) or count < 0:
            raise InputError.of(
                f"accessors {number}", "must have a type, a component type and a count", str(entry)[:80]
            )
        dtype = np.dtype(kind)
        if "bufferView" not in entry:
            check_memory(count * width * dtype.itemsize, self._size)
            return np.zeros((count, width), dtype)
        data, stride = self.view(entry["bufferView"])
        start, row = int(entry.get("byteOffset", 0)), width * dtype.itemsize
        stride = stride or row
        if start < 0 or (count and start + (count - 1) * stride + row > len(data)):
            raise InputError.of(f"accessors {number}", f"must lie in the {len(data)} bytes of its view", count)
        values = np.ndarray((count, width), dtype, data, start, (stride, dtype.itemsize))
        if entry.get("normalized") and dtype.kind in "iu":
            return np.maximum(values / np.float64(np.iinfo(dtype).max), -1.0)
        return np.array(values)

    def picture(self, number: Any) -> Texture:
        """A texture's image."""
        texture = self.entry("textures", number)
        # The PNG or JPEG for readers without WebP may be missing.
        source = texture.get("source", texture.get("extensions", {}).get(_WEBP, {}).get("source"))
        image = self.entry("images", source)
        if "bufferView" in image:
            data = self.view(image["bufferView"])[0]
            return Texture.parse("data:image/any;base64," + base64.b64encode(data).decode())
        uri = str(image.get("uri", ""))
        if uri.startswith("data:image/"):
            return Texture.parse(uri)
        return Texture.load(self._reach.file(unquote(uri)))

    def _buffer(self, number: Any) -> bytes:
        if number not in self._buffers:
            entry = self.entry("buffers", number)
            uri = entry.get("uri")
            if uri is None:
                data = self._binary
            elif str(uri).startswith("data:"):
                try:
                    data = base64.b64decode(str(uri).partition("base64,")[2], validate=True)
                except ValueError:
                    raise InputError(f"buffers {number}: its data: text cannot be read") from None
            else:
                data = read_bytes(self._reach.file(unquote(str(uri))))
            if len(data) < int(entry.get("byteLength", 0)):
                raise InputError.of(f"buffers {number}", f"must have {entry['byteLength']} bytes", len(data))
            self._buffers[number] = data
        return self._buffers[number]


def _chunks(data: bytes) -> tuple[bytes, bytes]:
    """The JSON and the binary part of a GLB."""
    if len(data) < 20 or struct.unpack_from("<I", data)[0] != _GLB:
        raise InputError("is no GLB file; it is cut short or damaged")
    version, total = struct.unpack_from("<II", data, 4)
    if version != 2:
        raise InputError.of("GLB version", "must be 2", version)
    if total > len(data):
        raise InputError.of("GLB file", f"must have {total} bytes", len(data), "it is cut short")
    found: dict[int, bytes] = {}
    at = 12
    while at + 8 <= total:
        size, kind = struct.unpack_from("<II", data, at)
        found.setdefault(kind, data[at + 8 : at + 8 + size])
        at += 8 + size + (-size % 4)
    return found.get(_JSON, b""), found.get(_BIN, b"")


def glb_bytes(document: dict[str, Any], binary: bytes) -> bytes:
    """A GLB file of a document and its one buffer."""
    text = json.dumps(document, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    binary += b"\0" * (-len(binary) % 4)
    parts = struct.pack("<II", len(text), _JSON) + text + struct.pack("<II", len(binary), _BIN) + binary
    return struct.pack("<III", _GLB, 2, 12 + len(parts)) + parts
