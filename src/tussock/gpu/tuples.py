"""Tuples of arrays, as kernels take them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tussock.trace.cuda.driver import DeviceArray

__all__ = ["arrays_in", "mapped", "rebuilding", "written", "written_out"]


def mapped(value: Any, change: Callable[[Any], Any]) -> Any:
    """A tuple of arrays, numbers and further tuples with each array changed."""
    if isinstance(value, np.ndarray | DeviceArray):
        return change(value)
    if isinstance(value, tuple):
        return type(value)(*[mapped(item, change) for item in value])
    return value


def rebuilding(name: str, example: Any, array: Callable[[str, int], str], parameters: str) -> Callable[..., Any]:
    """A function for kernels that takes a tuple like ``example`` apart and puts it together with other arrays.

    ``array(path, ndim)`` is what stands for the array at a path; ``parameters`` are the names in it. Numba has no loop
    over a tuple of different things, so the function is written out.
    """
    kinds: dict[str, Any] = {}
    text = f"def {name}(whole, {parameters}):\n    return {written('whole', example, array, kinds)}\n"
    return written_out(name, text, kinds)


def written_out(name: str, text: str, names: dict[str, Any]) -> Callable[..., Any]:
    """The function called ``name`` in a piece of source in which ``names`` are known."""
    exec(compile(text, f"<{name}>", "exec"), names)
    made: Callable[..., Any] = names[name]
    made.__module__ = __name__
    return made


def arrays_in(value: Any, path: str) -> dict[str, Any]:
    """The arrays in a tuple by their paths, ``path.field.field``."""
    if isinstance(value, tuple):
        fields = type(value)._fields  # type: ignore[attr-defined]
        return {
            name: array
            for field, item in zip(fields, value, strict=True)
            for name, array in arrays_in(item, f"{path}.{field}").items()
        }
    return {path: value} if isinstance(value, np.ndarray | DeviceArray) else {}


def written(path: str, example: Any, array: Callable[[str, int], str], kinds: dict[str, Any]) -> str:
    """The source of a tuple like ``example``, each array as ``array(path, ndim)`` says; its classes into ``kinds``."""
    if isinstance(example, np.ndarray | DeviceArray):
        return array(path, example.ndim)
    if isinstance(example, tuple):
        kind = type(example)
        kinds[kind.__name__] = kind
        fields = kind._fields  # type: ignore[attr-defined]
        parts = [written(f"{path}.{field}", item, array, kinds) for field, item in zip(fields, example, strict=True)]
        return f"{kind.__name__}({', '.join(parts)})"
    return path
