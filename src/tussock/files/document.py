"""The JSON document that travels with a frame: its metadata, its trajectory, what its numbers are.

One text, stored where a format has room for it: an entry, schema metadata, comment lines of a header, or a
file beside (``name.csv.meta.json``). Numbers are written in their shortest exact form, so they come back with
the same bits.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tussock.errors import InputError
from tussock.poses import Trajectory

__all__ = ["Document", "comment_lines", "joined_comments", "path_beside"]

FORMAT = "tussock frame"
VERSION = 1

TAG = "tussock:"
"""starts the comments that are ours"""
LONGEST_COMMENT = 900
"""Common readers (RPly, Open3D) hold a header line in 1024 characters; a longer one breaks them."""


@dataclass(frozen=True)
class Document:
    rows: int
    """how many rows the file holds, so that a cut file is found out"""
    coords: Literal["sensor", "world"] = "sensor"
    meta: dict[str, Any] = field(default_factory=dict)
    trajectory: Trajectory | None = None

    def text(self) -> str:
        """The document as one line of ASCII."""
        path = self.trajectory
        content = {
            "format": FORMAT,
            "version": VERSION,
            "rows": self.rows,
            "coords": self.coords,
            "meta": self.meta,
            "trajectory": path
            and {
                "times": path.times.tolist(),
                "positions": path.positions.tolist(),
                "quaternions": path.quaternions.tolist(),
            },
        }
        try:
            return json.dumps(content, separators=(",", ":"))
        except (TypeError, ValueError) as error:
            raise InputError(f"frame meta: must be plain data that JSON can hold ({error})") from None

    @classmethod
    def parse(cls, text: str, path: Path) -> Document:
        """Read `text` back; anything else is an `InputError` that names ``path``."""
        try:
            content = json.loads(text)
            if content["format"] != FORMAT:
                raise ValueError(f"format is {content['format']!r}")
            if content["version"] > VERSION:
                raise InputError("was written by a newer version of Tussock; update to read it", source=path)
            given = content["trajectory"]
            trajectory = given and Trajectory(
                *(np.array(given[key], float) for key in ("times", "positions", "quaternions"))
            )
            rows, coords, meta = content["rows"], content["coords"], content["meta"]
            if type(rows) is not int or coords not in ("sensor", "world") or not isinstance(meta, dict):
                raise ValueError("rows, coords or meta are not what they should be")
            _check_meta(meta)
        except KeyError as error:
            raise InputError(f"its description is damaged (no {error})", source=path) from None
        except (ValueError, TypeError, RecursionError) as error:
            raise InputError(f"its description is damaged ({error})", source=path) from None
        return cls(rows=rows, coords=coords, meta=meta, trajectory=trajectory)


_KINDS: dict[str, tuple[type, ...]] = {
    "pulses": (int,), "frame": (int,), "seed": (int,), "start_s": (int, float), "sensor": (dict,), "labels": (dict,),
    "materials": (list,), "first_instance": (list,),
}  # fmt: skip
"""of what the programs that read frames look up in their metadata"""


def _check_meta(meta: dict[str, Any]) -> None:
    for key, kinds in _KINDS.items():
        value = meta.get(key)
        if value is not None and (not isinstance(value, kinds) or isinstance(value, bool)):
            raise ValueError(f"meta {key!r} must be of the kind {kinds[-1].__name__}")
    if not all(isinstance(number, int) for number in (meta.get("labels") or {}).values()):
        raise ValueError("meta 'labels' must be numbers")
    if not all(isinstance(number, int) and 0 <= number < 2**32 for number in meta.get("first_instance") or ()):
        raise ValueError("meta 'first_instance' must be whole numbers")
    if not np.isfinite(meta.get("start_s") or 0.0) or not 0 <= (meta.get("pulses") or 0) < 2**63:
        raise ValueError("meta 'start_s' and 'pulses' must be finite")


def comment_lines(text: str) -> list[str]:
    """The document cut into comments that every reader can hold."""
    return [f"{TAG} {text[k : k + LONGEST_COMMENT]}" for k in range(0, len(text), LONGEST_COMMENT)]


def joined_comments(comments: Iterable[str]) -> str | None:
    """The document in the comments of a header, None where there is none; undoes `comment_lines`."""
    ours = [comment.removeprefix(f"{TAG} ") for comment in comments if comment.startswith(f"{TAG} ")]
    return "".join(ours) or None


def path_beside(path: Path) -> Path:
    """Where the document of a file is that has no room for it."""
    return path.with_name(f"{path.name}.meta.json")
