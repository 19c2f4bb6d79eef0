"""Which frames or moments a range of time holds."""

from __future__ import annotations

import math

from tussock.errors import InputError

__all__ = ["MOST_STEPS", "first_whole", "steps_between"]

MOST_STEPS = 10_000_000
"""of one range: more is a slip of the hand, and would be counted for hours before anybody is told"""
_MOST = 2**56
"""numbers that frames have: chance is counted by them"""


def first_whole(place: float) -> int:
    """The first whole number from ``place`` on; a place that is one but for a rounding error counts as that one."""
    return math.ceil(place - max(1e-9, 4 * math.ulp(place)))


def steps_between(first: float, last: float, name: str) -> range:
    """The whole numbers in [first, last), by `first_whole`; ``name`` says in errors what is counted."""
    if not (math.isfinite(first) and math.isfinite(last)) or last > _MOST:
        raise InputError.of("time range", f"must end before number {_MOST} of the {name}", f"{last:.3g}", "shorten it")
    numbers = range(first_whole(first), first_whole(last))
    if len(numbers) > MOST_STEPS:
        raise InputError.of(
            "time range", f"must hold at most {MOST_STEPS:,} {name}", f"{len(numbers):,}", "do it in parts"
        )
    return numbers
