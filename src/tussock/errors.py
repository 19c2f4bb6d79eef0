"""What goes wrong, said in one line: the field, the rule, what was given, what to do."""

from __future__ import annotations

import difflib
import errno
import re
from collections.abc import Iterable
from enum import Enum

__all__ = [
    "NOT_GIVEN",
    "InputError",
    "OutputError",
    "TraceError",
    "TussockError",
    "TussockWarning",
    "cause",
    "in_words",
    "nearest",
    "reason",
    "visible",
]


class _NotGiven(Enum):
    """What stands in `InputError.given` where nothing was given; an enum, as it stays itself when it is pickled."""

    NOT_GIVEN = "not given"


NOT_GIVEN = _NotGiven.NOT_GIVEN


class TussockError(Exception):
    """Base of every error that Tussock raises on purpose; its text is one line, fit to be shown as it is.

    >>> try:
    ...     sensor = tussock.load_sensor("vlp-17")
    ... except tussock.TussockError as error:
    ...     print("vlp-16" in str(error))
    True
    """


class TussockWarning(UserWarning):
    """Something that works, and that people should know of; at the command line it is a note."""


class InputError(TussockError):
    """Something the user gave cannot be used: a file, a setting, an array.

    Its text is ``source: field: rule, got given; remedy``, as far as these are known; each is an attribute too.

    >>> try:
    ...     tussock.box((1, -1, 1))
    ... except tussock.InputError as error:
    ...     print(type(error).__name__)
    InputError
    """

    def __init__(
        self, rule: str, *, field: str = "", given: object = NOT_GIVEN, remedy: str = "",
        source: object = None, more: int = 0,
    ) -> None:  # fmt: skip
        self.rule, self.field, self.given, self.remedy = rule, field, given, remedy
        self.sources: tuple[str, ...] = () if source is None else (str(source),)
        """what the field stands in, the outermost first: files, tables, objects"""
        self.more = more
        """how many further mistakes there are"""
        super().__init__(self._text())

    @classmethod
    def of(cls, field: str, rule: str, given: object, remedy: str = "", *, source: object = None) -> InputError:
        """The usual form: ``field: rule, got given; remedy``."""
        return cls(rule, field=field, given=given, remedy=remedy, source=source)

    def within(self, source: object) -> InputError:
        """The same mistake, told of ``source`` (a file, a table) too, once."""
        if self.sources[:1] != (str(source),):
            self.sources = (str(source), *self.sources)
            self.args = (self._text(),)
        return self

    def _text(self) -> str:
        text = ": ".join(part for part in (*self.sources, self.field, self.rule) if part)
        if self.given is not NOT_GIVEN:
            text += f", got {shorten(self.given)}"
        if self.remedy:
            text += f"; {self.remedy}"
        return f"{text} (and {self.more} more)" if self.more else text


class OutputError(TussockError):
    """A result cannot be written: it exists already, the folder is closed, the disk is full.

    >>> from pathlib import Path
    >>> _ = Path("taken.png").write_text("something")
    >>> try:
    ...     tussock.save_image(np.zeros((2, 2), np.uint8), "taken.png")
    ... except tussock.OutputError:
    ...     print("nothing was overwritten")
    nothing was overwritten
    """


class TraceError(TussockError):
    """The ray tracer refused: its library is missing, or it reported an error.

    >>> issubclass(tussock.TraceError, tussock.TussockError)
    True
    """


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


_SYSTEM = {
    errno.ENOSPC: "no space left on the disk",
    errno.EDQUOT: "no space left: the quota is used up",
    errno.EFBIG: "the file would become larger than is allowed here",
    errno.EACCES: "not allowed with your rights",
    errno.EPERM: "not allowed with your rights",
    errno.EROFS: "this disk can only be read",
    errno.ENAMETOOLONG: "the name is too long",
    errno.ENOENT: "no such file or folder",
    errno.EISDIR: "is a folder",
    errno.ENOTDIR: "a part of this path is no folder",
    errno.ELOOP: "its links lead in a circle",
    errno.EMFILE: "too many files are open",
    errno.ENOMEM: "out of memory",
}


def reason(error: OSError) -> str:
    """Why the system refused."""
    return _SYSTEM.get(error.errno or 0) or error.strerror or str(error) or type(error).__name__


def cause(error: BaseException, most: int = 160) -> str:
    """What went wrong in one line of ``most`` characters: the system's reason without its number, or what a library says."""
    said = reason(error) if isinstance(error, OSError) else str(error)
    return " ".join(said.split())[:most] or type(error).__name__


def in_words(error: OSError) -> str:
    """What the system refused, as ``name: why``."""
    names = [str(name) for name in (error.filename, error.filename2) if name is not None and not isinstance(name, int)]
    return f"{' -> '.join(names) or 'the system refused'}: {reason(error)}"


_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def visible(text: str) -> str:
    """``text`` with what a terminal would obey instead of show written out: control characters, and names of files that
    are no text (``\\x1b``, ``\\udcff``); tabs and line ends stay."""
    return _UNSEEN.sub(lambda found: found[0] if found[0] in "\n\t" else repr(found[0])[1:-1], text)
