"""The same source for another use: kernels whose names stand for other things.

Kernels are functions that call each other by name. `Rebound` makes a copy of one in which some names stand for something
else, and the kernels that it calls for their copies: nothing is written twice.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

__all__ = ["Rebound", "in_python"]


class Rebound:
    """Copies of kernels, each made once.

    ``constants`` by module and name ("" for every module); ``wrap(copy, original)`` makes a kernel of a function.
    """

    def __init__(self, constants: Mapping[tuple[str, str], Any], wrap: Callable[..., Any]) -> None:
        self._copies: dict[int, Any] = {}
        self._constants = dict(constants)
        self._wrap = wrap
        self._kept: list[Any] = []  # what ``_copies`` knows by its id must not be collected

    def put(self, original: Any, other: Any) -> None:
        """Let ``other`` stand wherever ``original`` is named."""
        self._kept.append(original)
        self._copies[id(original)] = other

    def of(self, function: Any) -> Any:
        """The copy of a kernel, and of every kernel that it calls."""
        if id(function) not in self._copies:
            self.put(function, self._wrap(copy := _copied(function), function))
            self._rename(copy)
        return self._copies[id(function)]

    def plain(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The copy of a function that is no kernel yet, still to be compiled."""
        copy = _copied(function)
        self._rename(copy)
        return copy

    def _rename(self, copy: types.FunctionType) -> None:
        names = copy.__globals__
        for name in _names_in(copy.__code__):
            constant = self._constants.get((copy.__module__, name), self._constants.get(("", name)))
            if constant is not None:
                names[name] = constant
            elif name in names and (id(names[name]) in self._copies or hasattr(names[name], "py_func")):
                names[name] = self.of(names[name])


@cache
def in_python(kernel: Any) -> Callable[..., Any]:
    """A kernel, and all that it calls, as the Python that they are: for what runs once and would compile for long."""
    plain: Callable[..., Any] = Rebound({}, lambda copy, original: copy).of(kernel)
    return plain


def _copied(function: Any) -> types.FunctionType:
    """A function with names of its own."""
    plain = getattr(function, "py_func", function)
    copy = types.FunctionType(
        plain.__code__, dict(plain.__globals__), plain.__name__, plain.__defaults__, plain.__closure__
    )
    copy.__module__, copy.__qualname__ = plain.__module__, plain.__qualname__
    return copy


def _names_in(code: types.CodeType) -> set[str]:
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names_in(constant)
    return names
