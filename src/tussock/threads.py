"""Work on all cores: kernels that release the interpreter, called from a pool of threads.

A kernel takes ``(worker, workers, ...)`` and does the blocks ``worker, worker + workers, …`` of its work. Which
thread does a block never changes the block's result. The pool may be used from several threads at once.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any

from tussock.errors import InputError
from tussock.limits import check_room

__all__ = ["Stopped", "cores", "resolve_threads", "run_on_threads", "stopped_by"]

_lock = threading.Lock()
_asked = threading.local()
"""``stop``: the event that ends this thread's work early"""
_pool: ThreadPoolExecutor | None = None
_pool_size = 0
_known: set[int] = set()
"""kernels that have run: their code is in memory"""
_CODE_MIB = 1024
"""of addresses while code is compiled, or taken from the cache; where they end, the compiler ends the process"""


class Stopped(Exception):
    """Nobody waits for this work any more."""


@contextmanager
def stopped_by(event: threading.Event) -> Iterator[None]:
    """Within the block, kernels that this thread runs end with `Stopped` soon after ``event`` is set.

    >>> nobody_waits = threading.Event()
    >>> with stopped_by(nobody_waits):
    ...     run_on_threads(lambda worker, workers: None, 1)
    """
    before = getattr(_asked, "stop", None)
    _asked.stop = event
    try:
        yield
    finally:
        _asked.stop = before


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def resolve_threads(threads: int | None) -> int:
    """The asked number of threads; None: TUSSOCK_THREADS, else one a core."""
    if threads is None:
        text = os.environ.get("TUSSOCK_THREADS", "")
        if not text:
            return cores()
        if not text.isdigit():
            raise InputError.of("TUSSOCK_THREADS", "must be a whole number above 0", text)
        threads = int(text)
    if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 4096:
        raise InputError.of("threads", "must be a whole number from 1 to 4096", threads)
    return threads


def run_on_threads(kernel: Callable[..., Any], threads: int, *args: Any, pieces: int = 1) -> None:
    """Call ``kernel(worker, workers, *args)`` for every worker and wait for all.

    Long work is cut into ``pieces`` for each thread. A thread that is done with one takes the next that nobody has, so
    that none waits for one with more to do; and Python hears Ctrl-C only between two calls of a kernel.
    """
    if id(kernel) not in _known:
        check_room(_CODE_MIB, "compiled code")
        _known.add(id(kernel))
    workers = threads * pieces
    stop = threading.Event()
    asked: threading.Event | None = getattr(_asked, "stop", None)
    if asked is not None and asked.is_set():
        raise Stopped
    waiting = count(threads)  # the next piece; taking it is one step of the interpreter

    def work(worker: int) -> None:
        while worker < workers:
            kernel(worker, workers, *args)
            if stop.is_set() or (asked is not None and asked.is_set()):
                return
            worker = next(waiting)

    unbegun = set(range(threads))

    def begin(first: int) -> None:
        try:
            unbegun.remove(first)  # one step of the interpreter: whoever does it does the work
        except KeyError:
            return
        work(first)

    others: list[Future[None]] = []
    try:
        if threads > 1:
            pool = _pool_of(threads - 1)
            with suppress(
                RuntimeError
            ):  # no room for another thread; what the pool has taken may still be in its queue
                for first in range(1, threads):
                    others.append(pool.submit(begin, first))
        for first in (0, *range(1 + len(others), threads)):
            begin(first)
    except BaseException:
        stop.set()
        unbegun.difference_update(range(1 + len(others), threads))
        raise
    finally:
        _wait_for(others)
    for other in others:
        other.result()
    if asked is not None and asked.is_set():
        raise Stopped


def _wait_for(others: list[Future[None]]) -> None:
    """Wait for all, also through interrupts: the others write into our arrays and must not run on behind our back."""
    interrupted: BaseException | None = None
    while True:
        try:
            wait(others)
            break
        except BaseException as error:
            interrupted = error
    if interrupted is not None:
        raise interrupted


def _pool_of(size: int) -> ThreadPoolExecutor:
    global _pool, _pool_size
    with _lock:
        if _pool is None or _pool_size < size:
            # An outgrown pool finishes what it was given; its threads end when it is collected.
            _pool, _pool_size = ThreadPoolExecutor(size, thread_name_prefix="tussock"), size
        return _pool


def _forget_pool() -> None:
    global _pool, _pool_size, _lock
    _pool, _pool_size, _lock = None, 0, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_pool)
