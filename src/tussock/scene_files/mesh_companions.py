"""The files that a mesh file names: materials (MTL), textures, buffers.

Names are relative to the file, or to the MTL file that says them; backslashes and the options of MTL (``-s 2 2 1``) are
understood; of a path that is not there, as from the computer of whoever made the mesh, the file of the same name beside
it is taken. trimesh would leave out what it cannot find, and everything in another folder, without a word.
"""

from __future__ import annotations

import io
import json
import re
import struct
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from tussock.errors import InputError
from tussock.limits import read_bytes
from tussock.reach import Reach
from tussock.scene.pictures import open_picture

__all__ = ["Companions", "gltf_header", "opacity_pictures"]

_OPTION = re.compile(r"-[A-Za-z]\w*(?:\s+(?:[-+.\d][-+.\deE]*|on|off|[rgbmlz])(?=\s))*\s+")
_PICTURES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".bmp", ".gif", ".tga", ".webp", ".ppm")


class Companions:
    """Finds and reads what a mesh file names; trimesh asks it in place of the file system."""

    def __init__(self, path: Path, reach: Reach | None = None) -> None:
        self.file_path, self.file_name = str(path), path.name  # trimesh looks at these
        self._folders = [path.parent]
        # A mesh that somebody opens by its own name may share textures with others.
        self._reach = reach or Reach(path.parent, (Path(path.absolute().anchor),))
        self.refused: InputError | None = None
        """what could not be read, which trimesh keeps to itself"""
        self.checked: set[tuple[int, int]] = set()
        """sizes of the pictures that were read here"""

    def find(self, name: str) -> Path | None:
        """Where a file of this name is, None where it is not."""
        plain = _OPTION.sub("", name.strip() + " ").strip() if name.strip().startswith("-") else name.strip()
        names = [plain, unquote(plain), plain.replace("\\", "/")]
        for folder in reversed(self._folders):
            for one in dict.fromkeys([*names, names[-1].rpartition("/")[2]]):
                if one and "\0" not in one and _is_there(folder / one):
                    return self._reach.file((folder / one).absolute())
        return None

    def get(self, name: str) -> bytes:
        """The bytes of a file; a picture as a PNG that is known to be one."""
        try:
            file = self.find(name)
            if file is None:
                raise FileNotFoundError(name)
            if file.suffix.lower() == ".mtl":
                self._folders.append(file.parent)
            if file.suffix.lower() in _PICTURES:
                return self._picture(file)
            return read_bytes(file)
        except InputError as error:
            self.refused = self.refused or error
            raise

    def _picture(self, file: Path) -> bytes:
        data = read_bytes(file)
        try:
            picture = open_picture(data)
        except InputError as error:
            raise error.within(file) from None
        self.checked.add(picture.size)
        if picture.format in ("PNG", "JPEG"):
            return data
        plain = io.BytesIO()
        picture.convert("RGBA").save(plain, "PNG", compress_level=1)
        return plain.getvalue()

    def __getitem__(self, name: str) -> bytes:
        return self.get(name)

    def refuse_missing(self, path: Path) -> None:
        """Refuse a mesh whose textures are not there."""
        for where, name in _named_textures(path, self):
            if self.find(name) is None:
                raise InputError.of(f"texture of {where}", "must be a file", name, "add it or remove the line")
        del self._folders[1:]


def _is_there(path: Path) -> bool:
    try:
        return path.exists() and not path.is_dir()
    except OSError:
        return False


def _named_textures(path: Path, companions: Companions) -> list[tuple[str, str]]:
    """Textures that a mesh file names, each with the file that names it."""
    if path.suffix.lower() == ".gltf":
        images = gltf_header(path).get("images", [])
        uris = [str(image["uri"]) for image in images if "uri" in image]
        return [(path.name, uri) for uri in uris if not uri.startswith("data:")]
    named: list[tuple[str, str]] = []
    if path.suffix.lower() == ".obj":
        text = path.read_text(encoding="utf-8", errors="replace")
        for library in re.findall(r"^mtllib[ \t]+(.+?)[ \t]*$", text, re.MULTILINE):
            file = companions.find(library)
            if file is not None:
                lines = companions.get(library).decode("utf-8", "replace")
                maps = re.findall(r"^[ \t]*map_(?:kd|d)[ \t]+(.+?)[ \t]*$", lines, re.MULTILINE | re.IGNORECASE)
                named += [(library, name) for name in maps]
    return named


def opacity_pictures(path: Path, companions: Companions) -> dict[str, Any]:
    """Pictures of Pillow that the MTL files of an OBJ name as the opacity of materials (map_d), by material."""
    found: dict[str, Any] = {}
    if path.suffix.lower() != ".obj":
        return found
    text = path.read_text(encoding="utf-8", errors="replace")
    for library in re.findall(r"^mtllib[ \t]+(.+?)[ \t]*$", text, re.MULTILINE):
        if companions.find(library) is None:
            continue
        name = ""
        for line in companions.get(library).decode("utf-8", "replace").splitlines():
            word, _, rest = line.strip().partition(" ")
            if word.lower() == "newmtl":
                name = rest.strip()
            elif word.lower() == "map_d":
                file = companions.find(rest)
                assert file is not None  # it was looked for before
                try:
                    found[name] = open_picture(file)
                except InputError as error:
                    raise error.within(file) from None
    return found


def gltf_header(path: Path) -> dict[str, Any]:
    """The JSON of a glTF or GLB file, as it stands there; nothing for other files."""
    if path.suffix.lower() == ".gltf":
        header = json.loads(path.read_text(encoding="utf-8"))
    elif path.suffix.lower() == ".glb":
        with path.open("rb") as file:
            (length,) = struct.unpack_from("<I", file.read(20), 12)
            header = json.loads(file.read(length))
    else:
        return {}
    if not isinstance(header, dict):
        raise InputError("its JSON is no glTF document")
    return header
