"""What a file may reach that somebody else may have written.

Scenes, packs and manifests name other files. A name leads to plain files below the folder of the file that says it,
and nowhere else: symbolic links are followed before that is checked, and devices, pipes and sockets, which may never
end, are refused. Scenes of one's own that share meshes with others name the folders that they may read besides in
``TUSSOCK_READ`` (several are separated as in ``PATH``); packs cannot.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from tussock.errors import InputError

__all__ = ["Reach", "is_inside", "refuse_special"]


@dataclass(frozen=True)
class Reach:
    """The folders that the names in a file lead into."""

    folder: Path
    """of the file; relative names start here"""
    also: tuple[Path, ...] = ()

    @classmethod
    def of(cls, path: Path) -> Reach:
        """What the file at ``path`` reaches: its own folder, and those in ``TUSSOCK_READ``."""
        more = os.environ.get("TUSSOCK_READ", "").split(os.pathsep)
        return cls(path.parent, tuple(Path(folder) for folder in more if folder))

    def file(self, name: Path | str) -> Path:
        """Where ``name`` leads; whether there is such a file is left to whoever reads it."""
        if "\0" in str(name):
            raise InputError.of("file name", "must not hold the character NUL", str(name))
        path = self.folder / name
        if not any(is_inside(path, folder) for folder in (self.folder, *self.also)):
            raise InputError.of(
                "file name", "must not lead out of the folder of the file that names it", str(name),
                "move it there, or open its folder with TUSSOCK_READ=FOLDER",
            )  # fmt: skip
        refuse_special(path)
        return path


def is_inside(path: Path, folder: Path) -> bool:
    """Whether ``path``, with all links followed, lies below ``folder``."""
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError, ValueError):  # links in a circle, names that cannot be
        return False


def refuse_special(path: Path) -> None:
    """Refuse what is no plain file or folder and may never end: devices, pipes, sockets; and what no file can be called."""
    if "\0" in str(path):
        raise InputError.of("file name", "must not hold the character NUL", str(path))
    try:
        mode = path.stat().st_mode
    except OSError:
        return  # not there, or closed: the reader says it
    except ValueError:  # half a character, as JSON can write one
        raise InputError.of("file name", "must be text that this system can write", str(path)) from None
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        raise InputError(f"{path}: is a device, a pipe or a socket; name a plain file")
