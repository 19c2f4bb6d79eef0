"""What Tussock needs to know of a file format.

A new format is one file with a `Format` in it and one row in `tussock.files.formats`. ``save`` writes to the
path it is given (a temporary one) and ``load`` returns what it finds; both leave overwriting, renaming and
the wording of unforeseen errors to `save_frame` and `load_frame`. Heavy libraries are imported inside them.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tussock.errors import InputError, cause
from tussock.files.contents import Contents
from tussock.files.document import path_beside

__all__ = ["DOCUMENT_BESIDE", "Beside", "Format", "has_waveforms", "load_document_beside"]

Save = Callable[[Contents, Path], None]
Load = Callable[[Path], Contents]


@dataclass(frozen=True)
class Beside:
    """A second file that belongs to the first: what it is called, and how it is written."""

    path: Callable[[Path], Path]
    save: Save
    needed: Callable[[Contents], bool] = lambda contents: True
    """whether these contents have anything for it"""


@dataclass(frozen=True)
class Format:
    suffix: str
    """with the dot, in small letters"""
    name: str
    """for people"""
    save: Save
    load: Load | None = None
    beside: tuple[Beside, ...] = ()
    exact: bool = True
    """whether every column of any frame comes back with the same bits"""
    waveforms: tuple[Beside, ...] | None = None
    """files beside that hold the waveforms of a frame that has them; (): they are inside; None: there is no room"""


def has_waveforms(contents: Contents) -> bool:
    """For what is beside to hold them."""
    return contents.waveforms is not None


def _save_document(contents: Contents, path: Path) -> None:
    # Indented for people; reading it back gives the same numbers.
    content = json.loads(contents.document or "null")
    path.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


DOCUMENT_BESIDE = Beside(path_beside, _save_document)


def load_document_beside(path: Path) -> str | None:
    """The document beside ``path``, None where there is no such file."""
    beside = path_beside(path)
    if not beside.exists():
        return None
    try:
        return beside.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{beside}: cannot be read ({cause(error)})") from None
