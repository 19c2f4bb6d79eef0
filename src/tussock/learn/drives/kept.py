"""What has been found of a drive so far, in a folder beside the result, so that learning goes on where it was stopped.

One file a pass, each whole or not there. A note says what is being learned from what; a folder of something else is not
used. When the volumes are written, the folder is gone.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.numpy_files import load_npz
from tussock.whole_files import whole_file

__all__ = ["KeptPasses"]

_NOTE = "learning.json"


class KeptPasses:
    """A folder for the passes of one drive; ``about`` is all that decides what they find."""

    def __init__(self, folder: Path, about: dict[str, Any], say: Callable[[str], None]) -> None:
        self.folder, self._say = folder, say
        note = folder / _NOTE
        text = json.dumps(about, sort_keys=True, indent=1)
        if folder.exists():
            known = note.read_text(encoding="utf-8") if note.is_file() else None
            if known is None:
                raise InputError(f"{folder}: exists and is not of a drive that is being learned; move it away")
            if known != text:
                say(f"{folder.name}: is of another drive or of other settings; begun anew")
                shutil.rmtree(folder)
        folder.mkdir(parents=True, exist_ok=True)
        with whole_file(note, force=True, counts=False) as temporary:
            temporary.write_text(text, encoding="utf-8")

    def found(self, name: str, find: Callable[[], dict[str, NDArray[Any]]]) -> dict[str, NDArray[Any]]:
        """What was kept by this name, else what ``find`` finds, which is kept."""
        file = self.folder / f"{name}.npz"
        if file.is_file():
            try:
                kept: dict[str, NDArray[Any]] = dict(load_npz(file, damaged="is damaged"))
            except InputError:
                kept = {}
            if kept:
                self._say(f"{file.name}: found before, taken from there")
                return kept
        arrays = find()
        with whole_file(file, force=True, counts=False) as temporary, temporary.open("wb") as out:
            np.savez(out, **arrays)  # type: ignore[arg-type]
        return arrays

    def done(self) -> None:
        """Nothing more is needed of it."""
        shutil.rmtree(self.folder, ignore_errors=True)
