"""The types that arguments of kernels have on a graphics processor, and what is compiled of a thread's own array."""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import types

from tussock.trace.cuda.compiled import compile_ptx, kernel_type


class Two(NamedTuple):
    one: Any
    other: Any


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        (True, types.boolean),
        (np.bool_(False), types.boolean),
        (3, types.int64),
        (np.float32(1.5), types.float32),
        (1.5, types.float64),
        (np.zeros((2, 3), np.uint32), types.Array(types.uint32, 2, "C")),
    ],
)
def test_of_plain_values(value: Any, kind: Any) -> None:
    assert kernel_type(value) == kind


def test_of_tuples() -> None:
    kind = kernel_type(Two(1, np.zeros(4)))
    assert kind == types.NamedTuple([types.int64, types.Array(types.float64, 1, "C")], Two)


def test_an_array_of_a_thread_is_not_cleared() -> None:
    """It is written before it is read; to clear half a kilobyte for every ray took a tenth of its walk."""
    pytest.importorskip("numba_cuda", reason="needs the extra: pip install 'tussock[cuda]'")
    cuda, int32 = import_module("numba.cuda"), types.int32

    def kernel(out: Any) -> None:
        own = cuda.local.array(128, int32)
        own[out[0]] = out[1]
        out[2] = own[out[3]]

    ptx = compile_ptx("keeping_kernel", (np.zeros(4, np.int32),), lambda: kernel, without="one number of its own")
    assert ptx.count("st.local") == 1
    assert "bra" not in ptx
