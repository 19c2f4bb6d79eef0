"""Memory is used again once nothing lies in it, and never while something does."""

from __future__ import annotations

import numpy as np

from tussock.kept_memory import room_for

SIZE = 3 << 20


def address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def test_what_nobody_looks_at_is_used_again() -> None:
    one = room_for(SIZE)
    where = address(one)
    del one
    assert address(room_for(SIZE)) == where
    assert address(room_for(SIZE - 5)) == where
    assert len(room_for(SIZE - 5)) == SIZE - 5


def test_a_view_of_a_view_keeps_it() -> None:
    view = room_for(SIZE)[64 : 64 + 8000].view(np.float64).reshape(-1, 2)[3:, 1]
    view[:] = 7.0
    others = [room_for(SIZE) for _ in range(4)]
    for other in others:
        other[:] = 1
    assert (view == 7.0).all()
    assert len({address(other) for other in others}) == 4


def test_it_can_be_written_and_small_or_huge_pieces_are_not_kept() -> None:
    room = room_for(SIZE)
    room[:] = 3
    assert room.flags.writeable and room.flags.c_contiguous
    assert room_for(100).base is None
    assert room_for((1 << 27) + 1).base is None
    assert room_for(0).shape == (0,)
