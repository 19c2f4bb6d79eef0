"""Optional parts: libraries that are imported when they are first needed, with an error that says how to get them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tussock.errors import InputError

__all__ = ["load_extra"]


def load_extra(module: str, *, extra: str, purpose: str) -> Any:
    """Import ``module``; where it is missing, an `InputError` names the extra that brings it."""
    try:
        return import_module(module)
    except ImportError as error:
        if error.name is not None and error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise InputError(
            f"{purpose} needs {module.split('.')[0]}; install it with: pip install 'tussock[{extra}]'"
        ) from None
