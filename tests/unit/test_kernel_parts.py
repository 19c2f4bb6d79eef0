"""Kernels that call each other are compiled as one, and mean the same as Numba's own."""

from __future__ import annotations

import gc
import operator
from concurrent.futures import ThreadPoolExecutor

import numba
import numpy as np
import pytest

from tussock import kernels as kernels_module
from tussock.kernels import inline_kernel, kernel, loop_kernel


@pytest.fixture
def kernels(monkeypatch):
    """Three kernels that call each other, outermost first, compiled anew: those of a cache have no parts."""
    monkeypatch.setattr(kernels_module, "keep_compiled", lambda made, stamp: True)

    @inline_kernel
    def raised(x, by):
        return x + by

    @loop_kernel
    def total(values, by):
        found = np.float32(0.0)
        for value in values:
            found += raised(value, by)
        return found

    @kernel
    def totals(rows, by):
        found = np.empty(len(rows), np.float32)
        for i in range(len(rows)):
            found[i] = total(rows[i], by)
        return found

    return totals, total, raised


def test_a_part_is_compiled_with_its_caller_alone(kernels):
    totals, total, raised = kernels
    rows, by = np.arange(12, dtype=np.float32).reshape(3, 4), np.float32(0.5)
    np.testing.assert_array_equal(totals(rows, by), rows.sum(axis=1) + 2.0)
    assert len(totals.overloads) == 1
    for part in (total, raised):
        assert not part.overloads, "nobody called it from Python"
        assert len(part.part.overloads) == 1
    # called from Python it is compiled for that, and gives the same
    assert total(rows[1], by) == totals(rows, by)[1] and raised(np.float32(1.0), by) == 1.5
    assert len(total.overloads) == len(raised.overloads) == 1


def test_a_part_has_no_machine_code_of_its_own(kernels):
    totals, total, _ = kernels
    totals(np.ones((2, 3), np.float32), np.float32(1.0))
    (part,) = total.part.overloads.values()
    assert not part.library.get_pointer_to_function(part.fndesc.mangled_name)
    code = part.library.get_llvm_str()
    assert code.count("\ndefine ") == 1 and code.count("\ndeclare ") == 1, "itself, and the name of what it calls"


def test_the_collector_is_as_it_was_after_threads_have_compiled_at_once(kernels):
    before = gc.get_threshold()
    rows = np.ones((2, 3), np.float32)
    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(kernels[0], rows, np.float32(1.0)) for _ in range(4)]:
            assert (done.result() == 6.0).all()
    assert gc.get_threshold() == before


KINDS = (np.int32, np.uint32, np.int64, np.uint64, np.float32, np.float64, np.bool_)


@pytest.mark.parametrize("operation", ["add", "mul", "truediv", "lt", "floordiv"])
def test_what_was_asked_once_is_what_numba_answers(operation):
    """The types that operations give are remembered; those of Numba itself are the twin."""
    act = getattr(operator, operation)

    def work(a, b):
        return act(a[0], b[0]), act(b[0], a[0]), act(a[0], b[0])

    ours, theirs = kernel(work), numba.njit(error_model="numpy")(work)
    for one in KINDS:
        for other in KINDS[2:5]:
            given = np.ones(1, one), np.ones(1, other)
            types = tuple(numba.typeof(array) for array in given)
            assert ours.part.get_call_template(types, {})[0].cases[-1] == _resulting(theirs, types), (one, other)


def _resulting(dispatcher, types):
    dispatcher.compile(types)
    return dispatcher.overloads[types].signature
