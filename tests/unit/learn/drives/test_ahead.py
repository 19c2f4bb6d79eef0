"""Reading ahead changes neither what is read nor what goes wrong."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from tussock.errors import InputError
from tussock.learn.drives.ahead import ReadAhead


def test_parts_come_in_their_order_and_again() -> None:
    parts = ReadAhead(range(40))
    assert list(parts) == list(parts) == list(range(40))
    assert list(ReadAhead([])) == []


def test_the_next_part_is_read_meanwhile() -> None:
    read = threading.Event()

    def parts() -> Iterator[int]:
        yield 0
        read.set()
        yield 1

    found = iter(ReadAhead(parts()))
    assert next(found) == 0
    assert read.wait(10)
    assert list(found) == [1]


def test_what_goes_wrong_comes_after_the_parts_before_it() -> None:
    def parts() -> Iterator[int]:
        yield 0
        raise InputError("packets: are damaged")

    found = iter(ReadAhead(parts()))
    assert next(found) == 0
    with pytest.raises(InputError, match="packets: are damaged"):
        next(found)


def test_who_stops_half_way_leaves_no_reader_behind() -> None:
    before = threading.active_count()
    for part in ReadAhead(range(1000)):
        if part == 2:
            break
    assert threading.active_count() == before
