"""What goes wrong, said in one line: the field, the rule, what was given, what to do."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

__all__ = ["InputError", "OutputError", "TraceError", "TussockError", "nearest"]


class TussockError(Exception):
    """Base of every error that Tussock raises on purpose; its text is one line, fit to be shown as it is."""


class InputError(TussockError):
    """Something the user gave cannot be used: a file, a setting, an array."""

    @classmethod
    def of(cls, field: str, rule: str, given: object, remedy: str = "") -> InputError:
        """The usual form: ``field: rule, got given; remedy``."""
        return cls(f"{field}: {rule}, got {shorten(given)}" + (f"; {remedy}" if remedy else ""))


class OutputError(TussockError):
    """A result cannot be written: it exists already, the folder is closed, the disk is full."""


class TraceError(TussockError):
    """The ray tracer refused: its library is missing, or it reported an error."""


def shorten(given: object, limit: int = 80) -> str:
    """``repr`` of a value on one line of at most ``limit`` characters."""
    text = " ".join(repr(given).split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def nearest(word: str, known: Iterable[str]) -> str:
    """A remedy that names the known word nearest to ``word``, or all of them where none is near."""
    words = sorted(known)
    close = difflib.get_close_matches(word, words, n=1, cutoff=0.5)
    if close:
        return f"did you mean {close[0]!r}?"
    return "known: " + ", ".join(words) if words else "none is known here"
