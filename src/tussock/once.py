"""What is worked out once of an object that does not change, and kept for as long as the object lives.

It is found by which object it is. To compare models of settings, or to make a hash of one, takes about as long as what is spared here:
a scan of a few milliseconds on many cores waits for every such step on one of them.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

__all__ = ["once_for_each"]

T = TypeVar("T")
P = ParamSpec("P")
Made = TypeVar("Made")

_MOST = 8
"""results that are kept of one object"""


def once_for_each(function: Callable[Concatenate[T, P], Made]) -> Callable[Concatenate[T, P], Made]:
    """Keep what a function gives for its first argument, a frozen object, and the others, which are compared as values.

    What it gives is shared by all who ask, so it must not be changed.
    """
    kept: dict[int, tuple[weakref.ref[Any], dict[Any, Any]]] = {}

    def values_of(thing: T) -> dict[Any, Any]:
        found = kept.get(id(thing))
        if found is None or found[0]() is not thing:

            def forget(gone: Any, name: int = id(thing)) -> None:
                if name in kept and kept[name][0] is gone:
                    kept.pop(name, None)

            found = kept[id(thing)] = weakref.ref(thing, forget), {}
        return found[1]

    @wraps(function)
    def once(thing: T, *more: P.args, **named: P.kwargs) -> Made:
        values, key = values_of(thing), (more, *sorted(named.items())) if named else more
        made = values.get(key, values)  # no result is the table itself
        if made is values:
            made = function(thing, *more, **named)
            if len(values) >= _MOST:
                values.clear()
            values[key] = made
        return made

    return cast("Callable[Concatenate[T, P], Made]", once)
