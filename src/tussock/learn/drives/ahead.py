"""Parts of a drive that are read while who asked for them still works on the part before.

Reading keeps one core busy and learning all of them; one after the other, all but one would wait for every part.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Generic, TypeVar

__all__ = ["ReadAhead"]

T = TypeVar("T")


class ReadAhead(Generic[T]):
    """The same ``parts``, as often as asked for; one more of them is in memory at a time.

    >>> list(ReadAhead([1, 2, 3]))
    [1, 2, 3]
    """

    def __init__(self, parts: Iterable[T]) -> None:
        self._parts = parts

    def __iter__(self) -> Iterator[T]:
        parts = iter(self._parts)
        # Who stops half-way, or is interrupted, waits for the part that is being read.
        with ThreadPoolExecutor(1, thread_name_prefix="tussock") as reader:
            coming = reader.submit(_some, parts)
            while some := coming.result():
                coming = reader.submit(_some, parts)
                yield some[0]


def _some(parts: Iterator[T]) -> list[T]:
    """The next part; nothing where there is none, for `StopIteration` does not pass from thread to thread."""
    for part in parts:
        return [part]
    return []
