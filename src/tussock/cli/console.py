"""What people see while they wait: messages and progress on standard error, results on standard output.

Text is shown as it is. Names come from files and may hold anything: rich's ``[markup]`` means nothing here, and what a
terminal would obey (escape sequences) is written out.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.text import Text

from tussock.errors import visible

__all__ = ["note", "out", "print_json", "said", "steps", "waiting"]

T = TypeVar("T")


class _Plain(Console):
    """A console that shows text as it is."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, soft_wrap=True, markup=False, emoji=False)

    def print(self, *objects: Any, **options: Any) -> None:
        super().print(*(visible(one) if isinstance(one, str) else one for one in objects), **options)


out = _Plain()
said = _Plain(stderr=True)


def note(text: str) -> None:
    """Something that people should know, on standard error, whatever is asked for on standard output."""
    said.print(f"note: {text}")


def print_json(data: Any) -> None:
    """One JSON document on standard output, for machines."""
    out.print(json.dumps(data, indent=2))


@contextmanager
def waiting(doing: str, *, quiet: bool = False) -> Iterator[dict[str, float]]:
    """Show that something is under way; the yielded dict has ``seconds`` when it is done."""
    taken: dict[str, float] = {}
    begin = time.perf_counter()
    if quiet:
        yield taken
    else:
        with said.status(Text(visible(doing))) as status, _saying_what_compiles(status, doing):
            yield taken
    taken["seconds"] = time.perf_counter() - begin


def _saying_what_compiles(status: Any, doing: str) -> AbstractContextManager[Any]:
    """Have ``status`` say so while code is compiled, as it is at the first use."""
    if "numba" not in sys.modules or not said.is_terminal:
        return nullcontext()
    from numba.core import event

    class Compiling(event.Listener):
        depth = done = 0

        def on_start(self, event: Any) -> None:
            self.depth += 1
            self.show()

        def on_end(self, event: Any) -> None:
            self.depth, self.done = self.depth - 1, self.done + 1
            self.show()

        def show(self) -> None:
            text = f": compiling code for this machine, once, {self.done} kernels so far" if self.depth > 0 else ""
            status.update(Text(visible(doing + text)))

    install: Any = event.install_listener
    listened: AbstractContextManager[Any] = install("numba:compile", Compiling())
    return listened


def steps(things: Iterable[T], doing: str, *, total: int, quiet: bool = False) -> Iterator[T]:
    """Go through things behind a progress bar."""
    if quiet or total < 2:
        yield from things
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=said, transient=True) as bar:
        yield from bar.track(things, total=total, description=doing)
