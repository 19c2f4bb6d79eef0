"""What people see while they wait: messages and progress on standard error, results on standard output."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

__all__ = ["note", "out", "print_json", "said", "steps", "waiting"]

T = TypeVar("T")

out = Console(highlight=False, soft_wrap=True)
said = Console(stderr=True, highlight=False, soft_wrap=True)


def note(text: str) -> None:
    """Something that people should know, on standard error, whatever is asked for on standard output."""
    said.print(f"note: {text}", markup=False)


def print_json(data: Any) -> None:
    """One JSON document on standard output, for machines."""
    out.print(json.dumps(data, indent=2), soft_wrap=True, markup=False)


@contextmanager
def waiting(doing: str, *, quiet: bool = False) -> Iterator[dict[str, float]]:
    """Show that something is under way; the yielded dict has ``seconds`` when it is done."""
    taken: dict[str, float] = {}
    begin = time.perf_counter()
    if quiet:
        yield taken
    else:
        with said.status(doing):
            yield taken
    taken["seconds"] = time.perf_counter() - begin


def steps(things: Iterable[T], doing: str, *, total: int, quiet: bool = False) -> Iterator[T]:
    """Go through things behind a progress bar."""
    if quiet or total < 2:
        yield from things
        return
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=said, transient=True) as bar:
        yield from bar.track(things, total=total, description=doing)
