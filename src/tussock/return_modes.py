"""Which returns there are: the kinds that a row of a frame can be, and the modes that a receiver chooses them by."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal, get_args

__all__ = ["KINDS", "MODES", "Mode", "ModeNumber", "ReturnKind"]


class ReturnKind(IntEnum):
    """What a return is among those of its pulse; the column ``return_kind`` of a frame."""

    NONE = 0
    """a pulse without return"""
    STRONGEST = 1
    LAST = 2
    FIRST = 3
    ECHO = 4
    """one after the other, nearest first"""
    SECOND = 5
    """the second strongest"""


KINDS: tuple[str, ...] = tuple(kind.name.lower() for kind in ReturnKind)
"""their names, by number"""

Mode = Literal[
    "strongest", "last", "first", "second", "strongest+last", "first+last", "first+strongest", "strongest+second", "all"
]
MODES: tuple[str, ...] = get_args(Mode)


class ModeNumber(IntEnum):
    """The place of a mode in `MODES`, as kernels know it."""

    STRONGEST = 0
    LAST = 1
    FIRST = 2
    SECOND = 3
    STRONGEST_LAST = 4
    FIRST_LAST = 5
    FIRST_STRONGEST = 6
    STRONGEST_SECOND = 7
    ALL = 8
