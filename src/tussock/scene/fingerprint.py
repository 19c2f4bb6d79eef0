"""A scene in 32 characters: the same scene, the same fingerprint; any part that differs changes it.

Everything counts that `tussock.scene.parts` knows, down to the last bit of an array, with the names of the parts, so
that nothing slides from one into the next. Whether two objects share a mesh or have equal ones makes no difference.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from tussock.scene.parts import parts

__all__ = ["fingerprint"]


def fingerprint(thing: Any) -> str:
    """Of a scene, or of anything that a scene is made of: a trajectory, a mesh, volumes."""
    return _Digests().of(thing).hex()


class _Digests:
    """The digest of each thing, made once: many objects share a mesh."""

    def __init__(self) -> None:
        self._known: dict[int, bytes] = {}

    def of(self, thing: Any) -> bytes:
        # A thing is a part of the scene, so its id is its own as long as this lives.
        if id(thing) not in self._known:
            digest = hashlib.blake2b(digest_size=16)
            for piece in self._pieces(thing):
                digest.update(piece)
            self._known[id(thing)] = digest.digest()
        return self._known[id(thing)]

    def _pieces(self, thing: Any) -> list[Any]:
        if isinstance(thing, np.ndarray):
            flat = np.ascontiguousarray(thing).reshape(-1)
            return [f"array {thing.dtype.str} {thing.shape}:".encode(), flat.view(np.uint8).data]
        if isinstance(thing, list | tuple):
            return [f"sequence {len(thing)}:".encode(), *map(self._piece, thing)]
        if isinstance(thing, set | frozenset):
            return [f"set {len(thing)}:".encode(), *sorted(map(self._piece, thing))]
        kind, table = ("table", thing) if isinstance(thing, dict) else (type(thing).__name__, parts(thing))
        pieces = [f"{kind} {len(table)}:".encode()]
        for name in sorted(table):
            pieces += [f"{name!r}=".encode(), self._piece(table[name])]
        return pieces

    def _piece(self, part: Any) -> bytes:
        if isinstance(part, np.generic):
            part = part.item()
        if isinstance(part, int | float) and not isinstance(part, bool):
            # A number is the same whether it was given as 2 or as 2.0: a file may turn one into the other.
            return f"number {float(part)!r};".encode() if abs(part) < 2**53 else f"number {part!r};".encode()
        if part is None or isinstance(part, bool | str):
            return f"{type(part).__name__} {part!r};".encode()
        return self.of(part)
