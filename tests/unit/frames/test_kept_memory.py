"""Memory of frames that is used again, and never while anybody still looks at it."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tussock.frames import memory
from tussock.frames.memory import copy_on_threads, reused

MEGABYTE = 1 << 20


def address(array: np.ndarray) -> int:
    return int(array.ctypes.data)


def test_what_nobody_needs_is_used_again() -> None:
    memory._kept.clear()
    first = reused(MEGABYTE)
    where = address(first)
    del first
    again = reused(MEGABYTE - 1000)
    assert address(again) == where
    assert len(again) == MEGABYTE - 1000


def test_a_view_keeps_its_memory() -> None:
    memory._kept.clear()
    whole = reused(MEGABYTE)
    whole[:] = 7
    view = whole[1000:2000].view(np.float32).reshape(-1, 2)
    where = address(whole)
    del whole
    other = reused(MEGABYTE)
    assert address(other) != where
    other[:] = 9
    assert (view.view(np.uint8) == 7).all()


@settings(max_examples=20, deadline=None)
@given(sizes=st.lists(st.integers(1, 3 * MEGABYTE), min_size=1, max_size=12), keep=st.integers(0, 5))
def test_pieces_in_use_never_overlap(sizes: list[int], keep: int) -> None:
    held: list[np.ndarray] = []
    for number, size in enumerate(sizes):
        piece = reused(size)
        piece[:] = number
        assert len(piece) == size
        held.append(piece)
        del piece
        del held[: max(len(held) - keep - 1, 0)]
    for piece in held:
        assert (piece == piece[0]).all()
    spans = sorted((address(piece), address(piece) + len(piece)) for piece in held)
    assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))


def test_not_more_is_held_back_than_is_said() -> None:
    memory._kept.clear()
    pieces = [reused(size << 20) for size in (40, 40, 40, 48, 48, 48, 56, 56, 64)]
    del pieces
    assert sum(size * len(some) for size, some in memory._kept.items()) <= 1 << 28
    memory._kept.clear()


def test_a_copy_on_several_threads() -> None:
    source = np.random.default_rng(1).integers(0, 256, 1_000_003, dtype=np.uint8)
    for threads in (1, 3):
        target = np.zeros_like(source)
        copy_on_threads(source, target, threads)
        assert (target == source).all()
    copy_on_threads(source[:0], target[:0], 4)
