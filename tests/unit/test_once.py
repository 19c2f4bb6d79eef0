"""What is kept of an object is kept for that one, and no longer than it lives."""

from __future__ import annotations

import gc
import weakref
from dataclasses import dataclass

from tussock.once import _MOST, once_for_each


@dataclass(frozen=True)
class Thing:
    number: int


def counted() -> tuple:
    asked: list[tuple[int, int, int]] = []

    @once_for_each
    def total(thing: Thing, more: int = 0, *, last: int = 0) -> list[int]:
        asked.append((thing.number, more, last))
        return [thing.number + more + last]

    return total, asked


def test_it_is_made_once_for_each_object_and_each_value() -> None:
    total, asked = counted()
    one, same = Thing(1), Thing(1)
    assert total(one, 2) == [3] and total(one, 2) is total(one, 2)
    assert total(one, 3, last=4) is total(one, 3, last=4)
    assert total(one, 3, last=4) == [8]
    assert total(same, 2) == [3]  # equal is not the same
    assert asked == [(1, 2, 0), (1, 3, 4), (1, 2, 0)]


def test_nothing_is_kept_of_what_is_gone() -> None:
    total, asked = counted()
    one = Thing(1)
    gone, made = weakref.ref(one), total(one)
    del one
    gc.collect()
    assert gone() is None and made == [1]
    for _ in range(50):  # of which some get the name in memory of one before
        assert total(Thing(5)) == [5]
    assert len(asked) == 51


def test_few_are_kept_of_one_object() -> None:
    total, asked = counted()
    one = Thing(0)
    for number in range(_MOST):
        total(one, number)
    assert total(one, 0) == [0] and len(asked) == _MOST
    assert total(one, _MOST) == [_MOST]  # one too many: all are forgotten
    assert total(one, 0) == [0] and len(asked) == _MOST + 2


def test_none_is_a_result() -> None:
    asked = []

    @once_for_each
    def nothing(thing: Thing) -> None:
        asked.append(thing)

    one = Thing(1)
    assert nothing(one) is None and nothing(one) is None and len(asked) == 1
