"""Optional parts: libraries that are imported when they are first needed, with an error that says how to get them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from tussock.errors import InputError

__all__ = ["load_extra"]


def load_extra(module: str, *, extra: str, purpose: str) -> Any:
    """Import ``module``; where it is missing, an `InputError` names the extra that brings it.

    What a library does about Ctrl-C while it is imported is undone (dask-jobqueue ends the program without a word).
    """
    try:
        with _same_interrupts():
            return import_module(module)
    except ImportError as error:
        if error.name is not None and error.name.split(".")[0] != module.split(".")[0]:
            raise
        raise InputError(
            f"{purpose} needs {module.split('.')[0]}; install it with: pip install 'tussock[{extra}]'"
        ) from None


@contextmanager
def _same_interrupts() -> Iterator[None]:
    """Ctrl-C is answered afterwards as before; only the main thread may say how."""
    before = signal.getsignal(signal.SIGINT)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is not before and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, before)
