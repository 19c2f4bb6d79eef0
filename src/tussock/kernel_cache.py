"""The cache of compiled code: kept where it can be, done without where it cannot.

Numba keeps compiled code beside the package, in the user's folder for caches, or in ``NUMBA_CACHE_DIR``. In a container
there may be none of these that can be written: then kernels are compiled for this process alone, which is said once, as
the first of them is. A cache that is damaged or full is no reason to stop either.
"""

from __future__ import annotations

import warnings
from typing import Any

from numba.core import event

from tussock.errors import TussockWarning

__all__ = ["UncachedWarning", "keep_compiled", "kept_in"]

_ADVICE = "set NUMBA_CACHE_DIR to a folder that can be written"


class UncachedWarning(TussockWarning):
    """Compiled code is not kept, so the next start compiles it again."""


def keep_compiled(dispatcher: Any, stamp: str) -> bool:
    """Have Numba keep the code of a kernel as long as ``stamp`` stays the same; False where it cannot say that."""
    try:
        dispatcher.enable_caching()
    except RuntimeError:  # no folder can be written
        _Compiling.listen()
        return True
    # Numba has no public way to say what cached code depends on; without this one we do not cache.
    cache: Any = getattr(dispatcher, "_cache", None)
    cache_file: Any = getattr(cache, "_cache_file", None)
    if not hasattr(cache_file, "_source_stamp"):
        return False
    cache_file._source_stamp = (cache_file._source_stamp, stamp)
    load, save, index = cache.load_overload, cache.save_overload, cache_file._load_index

    def index_or_none() -> Any:
        try:
            return index()
        except Exception:  # a damaged pickle fails in any way, and so does one that names a class which is gone
            return {}

    def load_or_not(*words: Any) -> Any:
        try:
            return load(*words)
        except Exception:
            return None

    def save_or_not(*words: Any) -> None:
        try:
            save(*words)
        except OSError as error:
            _warn(f"compiled code could not be kept ({error.strerror}): the next start compiles it again; {_ADVICE}")

    cache_file._load_index, cache.load_overload, cache.save_overload = index_or_none, load_or_not, save_or_not
    return True


def kept_in(dispatcher: Any) -> str | None:
    """The folder that the code of a kernel is kept in, None where it is not kept."""
    return getattr(getattr(dispatcher, "_cache", None), "cache_path", None)


class _Compiling(event.Listener):
    """Says, when the first kernel is compiled, that it is compiled in vain."""

    _listening = False

    @classmethod
    def listen(cls) -> None:
        if not cls._listening:
            cls._listening = True
            register: Any = event.register  # it carries no types
            register("numba:compile", cls())

    def on_start(self, event: Any) -> None:
        _warn(f"no folder can be written to keep compiled code: every start compiles it again; {_ADVICE}")

    def on_end(self, event: Any) -> None:
        pass


_warned = False


def _warn(text: str) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(text, UncachedWarning, stacklevel=2)
