"""Messages by pattern: one is serialised as usual, and those like it differ from it in a few numbers.

A vehicle's small sensors send dozens of messages a step that are alike but for their time and some numbers. The pattern
is serialised once with marks in the places of these numbers; where the marks lie in the bytes, the numbers go.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence

__all__ = ["MARK_SECONDS", "Pattern", "marks"]

MARK_SECONDS = 1_234_567_890
_MARK_NANOSECONDS = 123_456_789
MARK_TIME = MARK_SECONDS * 1_000_000_000 + _MARK_NANOSECONDS


def marks(count: int) -> list[float]:
    """Numbers that no message has by itself."""
    return [-7.77e200 * (k + 1) for k in range(count)]


class Pattern:
    """A message with places for its time and ``count`` numbers (float64)."""

    def __init__(self, make: Callable[[int, Sequence[float]], bytes], count: int) -> None:
        """``make`` serialises a message of a time [ns] and numbers."""
        numbers = marks(count)
        self._bytes = bytearray(make(MARK_TIME, numbers))
        self._time = self._place(struct.pack("<iI", MARK_SECONDS, _MARK_NANOSECONDS))
        self._places = [self._place(struct.pack("<d", number)) for number in numbers]

    def _place(self, mark: bytes) -> int:
        at = self._bytes.find(mark)
        assert at >= 0, "every mark is in the message"
        assert self._bytes.find(mark, at + 1) < 0, "and only once"
        return at

    def message(self, nanoseconds: int, numbers: Sequence[float]) -> bytes:
        """The message of a time and numbers."""
        struct.pack_into("<iI", self._bytes, self._time, *divmod(nanoseconds, 1_000_000_000))
        for at, number in zip(self._places, numbers, strict=True):
            struct.pack_into("<d", self._bytes, at, number)
        return bytes(self._bytes)
