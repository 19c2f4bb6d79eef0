"""Shared arrays: nobody changes them, neither who gave them nor who got them."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.arrays import read_only


def test_what_is_kept_does_not_follow_what_was_given() -> None:
    given = np.arange(6.0).reshape(2, 3)
    kept = read_only(given)
    given[0, 0] = 99
    assert kept[0, 0] == 0 and given.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        kept[0, 0] = 1


def test_a_read_only_view_of_something_writable_is_copied() -> None:
    given = np.arange(4.0)
    view = given[:]
    view.flags.writeable = False
    kept = read_only(view)
    given[0] = 99
    assert kept[0] == 0


def test_what_is_safe_already_is_not_copied() -> None:
    once = read_only([1.0, 2.0])
    assert read_only(once) is once
    assert read_only(once, np.float32) is not once


@pytest.mark.parametrize("shape", [(), (0,), (3, 0), (2, 3)])
def test_shapes_stay(shape: tuple[int, ...]) -> None:
    assert read_only(np.zeros(shape), np.float32).shape == shape


def test_other_orders_become_contiguous() -> None:
    kept = read_only(np.asfortranarray(np.arange(6).reshape(2, 3)), np.uint8)
    assert kept.flags.c_contiguous and kept.dtype == np.uint8 and kept.tolist() == [[0, 1, 2], [3, 4, 5]]
