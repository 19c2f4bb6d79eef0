"""The types that arguments of kernels have on a graphics processor."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import types

from tussock.trace.cuda.compiled import kernel_type


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
