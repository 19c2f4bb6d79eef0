"""Tuples that kernels hand on by address mean what they mean by value."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba.core.errors import TypingError

from tussock.kernel_context import held, keep_until_here
from tussock.kernels import apart_kernel, inline_kernel, kernel


class Offset(NamedTuple):
    """Numbers alone: read whole."""

    left: Any
    right: Any


class Rows(NamedTuple):
    """With an array: held."""

    values: Any
    offset: Offset
    turned: bool


class Work(NamedTuple):
    rows: Rows
    scale: Any
    out: Any


@inline_kernel
def scaled(work, i):
    rows = work.rows
    offset = rows.offset
    both = Offset(offset.left * work.scale, offset.right)
    value = rows.values[i] * work.scale
    return value - both.left if rows.turned else value + both.right


@apart_kernel
def fill(work):
    for i in range(len(work.rows.values)):
        work.out[i] = scaled(work, i)


@kernel
def by_address(work):
    fill(held(work))


@kernel
def by_value(work):
    fill(work)


@kernel
def with_memory_of_its_own(values):
    work = Work(Rows(values * 2.0, Offset(1.0, 2.0), False), 3.0, np.zeros(len(values)))
    fill(held(work))
    keep_until_here(work)
    return work.out.copy()


@pytest.mark.parametrize("turned", [False, True])
def test_by_address_and_by_value_are_the_same(turned):
    values = np.random.default_rng(1).random(7)
    outs = []
    for fire in (by_address, by_value):
        out = np.zeros(7)
        fire(Work(Rows(values, Offset(0.25, 0.5), turned), 3.0, out))
        outs.append(out)
    np.testing.assert_array_equal(outs[0], outs[1])
    np.testing.assert_array_equal(outs[0], values * 3.0 - 0.75 if turned else values * 3.0 + 0.5)


def test_each_call_reads_what_it_is_given():
    """The compiler may read a field once in a call, never once for all calls."""
    for scale in (1.0, 2.0, 5.0):
        out = np.zeros(3)
        by_address(Work(Rows(np.ones(3), Offset(0.0, 0.0), False), scale, out))
        assert (out == scale).all()


def test_arrays_of_the_kernel_itself_live_as_long_as_they_are_held():
    values = np.arange(1000.0)
    np.testing.assert_array_equal(with_memory_of_its_own(values), values * 6.0 + 2.0)


def test_a_field_that_is_not_there():
    @apart_kernel
    def wrong(work):
        return work.colour

    @kernel
    def ask(work):
        return wrong(held(work))

    with pytest.raises(TypingError, match="colour"):
        ask(Work(Rows(np.ones(1), Offset(0.0, 0.0), False), 1.0, np.ones(1)))
