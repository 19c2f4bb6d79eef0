"""The same source for another machine: kernels whose names stand for other things.

The steps of a pulse are written once, in functions that call each other by name, for lanes of packets. `Rebound` makes
a copy of a function in which the names of `tussock.trace.packets` (how many lanes there are, how a packet looks, who
traces it) stand for those of `tussock.trace.cuda.packets`, and the kernels that it calls for their copies. Nothing of
the physics is written twice.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from typing import Any

from tussock.trace import packets, surroundings
from tussock.trace.cuda import packets as single

__all__ = ["Rebound", "single_rays"]


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


def single_rays(
    wrap: Callable[..., Any], constants: Mapping[tuple[str, str], Any] | None = None,
    instead: Mapping[Any, Any] | None = None,
) -> Rebound:  # fmt: skip
    """Kernels over packets of sixteen rays as kernels over one.

    ``constants`` of modules that are to be others, ``instead`` what stands for further functions.
    """
    rebound = Rebound({("", "LANES"): single.LANES} | dict(constants or {}), wrap)
    for original, other in (instead or {}).items():
        rebound.put(original, other)
    bodies: dict[Any, Any] = {
        getattr(packets, name): getattr(single, name)
        for name in packets.__all__
        if hasattr(getattr(packets, name), "py_func")
    }
    bodies[surroundings.find_surfaces] = single.find_surfaces
    bodies[surroundings.stop_light] = single.stop_light
    bodies[surroundings.trace_sub_ray] = single.trace_sub_ray
    for original, body in bodies.items():
        rebound.put(original, rebound.of(body))
    rebound.put(packets.Packet, single.Packet)
    return rebound
