"""Arrays that are shared: their names in annotations, and how they are kept from being changed."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

__all__ = ["FloatArray", "read_only", "sealed", "shown"]

FloatArray = NDArray[np.float64]


def read_only(array: Any, dtype: DTypeLike | None = None) -> NDArray[Any]:
    """``array`` in C order as an array that refuses to be written to, by its giver as well as by its taker.

    An array that owns its memory and is read-only is handed on as it is; anything else is copied where it has to be.
    """
    kept = np.asarray(array, dtype, order="C")
    if not kept.flags.owndata or (kept is array and kept.flags.writeable):
        kept = kept.copy()
    kept.flags.writeable = False
    return kept


def sealed(array: NDArray[Any]) -> NDArray[Any]:
    """``array`` itself, read-only from now on: for one that was just made, and that nobody else writes to."""
    array.flags.writeable = False
    return array


def shown(array: NDArray[Any]) -> NDArray[Any]:
    """A read-only view: who gave the array may go on writing to it, who reads it here may not."""
    return sealed(array.view())
