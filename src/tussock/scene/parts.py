"""What a scene is made of, part by part: the one table that fingerprints, files and tests go by.

A part is a public field: of a dataclass, of settings, or an attribute of a plain class. Who adds a field adds a part;
there is no list to forget it in. `plain_parts` splits them into arrays, for archives, and plain data, for JSON.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tussock.settings import Settings

__all__ = ["part_names", "parts", "plain_parts"]


def part_names(kind: type) -> tuple[str, ...]:
    """The parts that every object of a dataclass or of settings has."""
    if is_dataclass(kind):
        return tuple(field.name for field in fields(kind))
    assert issubclass(kind, Settings), f"{kind.__name__} has no table of fields"
    return tuple(kind.model_fields)


def parts(thing: Any) -> dict[str, Any]:
    """The parts of ``thing`` by name."""
    kind = type(thing)
    if is_dataclass(kind) or issubclass(kind, Settings):
        return {name: getattr(thing, name) for name in part_names(kind)}
    # What a scene has not got is no part of it: scenes without wind keep the fingerprint that they had before wind was. What was
    # computed from the parts and is remembered is none either: it is there only once somebody has asked for it.
    return {
        name: value
        for name, value in vars(thing).items()
        if not name.startswith("_") and value is not None and not isinstance(getattr(kind, name, None), cached_property)
    }


def plain_parts(thing: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The parts that are arrays, and all others as plain data."""
    arrays = {name: value for name, value in parts(thing).items() if isinstance(value, np.ndarray)}
    plain = {
        name: value.model_dump(mode="json", exclude_unset=True) if isinstance(value, Settings) else value
        for name, value in parts(thing).items()
        if name not in arrays
    }
    return arrays, plain
