"""Work on all cores: kernels that release the interpreter, called from threads that sleep in between.

A kernel takes ``(worker, workers, ...)`` and does the blocks ``worker, worker + workers, …`` of its work. Which
thread does a block never changes the block's result. Several threads may ask for work at once; each has helpers of its own.

A helper has a queue of its own and asks for the interpreter's lock once to begin. Threads of an executor hand that lock to and
fro several times a task: on a server of 16 cores 0.45 ms each, so that the last one began 7 ms after the first.
"""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import count
from queue import SimpleQueue
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.limits import check_room

__all__ = [
    "CODE_MIB", "Stopped", "check_stopped", "cores", "in_blocks", "resolve_threads", "run_jobs", "run_on_threads", "stopped_by",
]  # fmt: skip

T = TypeVar("T")
_ROWS = 1 << 14
"""of a block: what NumPy puts down on the way to a result stays in the cache"""

_asked = threading.local()
"""``stop``: the event that ends this thread's work early"""
_known: set[int] = set()
"""kernels that have run: their code is in memory"""
CODE_MIB = 1024
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


def check_stopped() -> None:
    """Raise `Stopped` where nobody waits any more for what this thread does."""
    asked: threading.Event | None = getattr(_asked, "stop", None)
    if asked is not None and asked.is_set():
        raise Stopped


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
        check_room(CODE_MIB, "compiled code")
        _known.add(id(kernel))
    workers = threads * pieces
    stop = threading.Event()
    asked: threading.Event | None = getattr(_asked, "stop", None)
    check_stopped()
    waiting = count(threads)  # the next piece; taking it is one step of the interpreter

    def work(worker: int) -> None:
        while worker < workers:
            kernel(worker, workers, *args)
            if stop.is_set() or (asked is not None and asked.is_set()):
                return
            worker = next(waiting)

    job = _Job(work)
    helpers = _helpers(threads - 1)
    try:
        for worker, helper in enumerate(helpers, 1):
            helper.jobs.put(partial(job.begin, worker))
        work(0)
        for worker in range(1, threads):  # those whose helper sleeps still, or that have none
            if not job.helped(worker):
                work(worker)
    except BaseException:
        stop.set()
        raise
    finally:
        try:
            job.wait(threads, stop)
        finally:
            _idle.extend(helpers)
    for worker in sorted(job.ended):
        if (error := job.ended[worker]) is not None:
            raise error
    check_stopped()


def run_jobs(jobs: Sequence[Callable[[], T]], threads: int) -> list[T]:
    """What each job gives, in their order: of NumPy, which leaves the interpreter to the others while it works.

    >>> run_jobs([lambda: 1, lambda: 2], 2)
    [1, 2]
    """
    workers, given = max(min(threads, len(jobs)), 1), dict[int, T]()
    run_on_threads(_do_jobs, workers, jobs, given, pieces=-(-len(jobs) // workers))
    return [given[k] for k in range(len(jobs))]


def _do_jobs(worker: int, workers: int, jobs: Sequence[Callable[[], T]], given: dict[int, T]) -> None:
    for k in range(worker, len(jobs), workers):
        given[k] = jobs[k]()


_known.add(id(_do_jobs))  # nothing is compiled for it


def in_blocks(find: Callable[[slice], tuple[NDArray[Any], ...]], rows: int, threads: int) -> tuple[NDArray[Any], ...]:
    """Columns of so many rows, of which each needs nothing of the others: ``find`` gives those of some of them.

    >>> in_blocks(lambda some: (np.arange(5)[some] ** 2,), 5, 2)
    (array([ 0,  1,  4,  9, 16]),)
    """
    blocks = [slice(first, first + _ROWS) for first in range(0, max(rows, 1), _ROWS)]
    found = run_jobs([partial(find, block) for block in blocks], threads)
    return found[0] if len(found) == 1 else tuple(np.concatenate(column) for column in zip(*found, strict=True))


class _Job:
    """Work that helpers share with who asked for it.

    Ctrl-C may come between any two steps of who asked. So what is known stands in dictionaries, each changed in one step, and
    may be asked for again; nothing is counted along the way.
    """

    def __init__(self, work: Callable[[int], None]) -> None:
        self.ended: dict[int, BaseException | None] = {}
        """helper's number: the error that ended it"""
        self._work = work
        self._helped: dict[int, bool] = {}
        """number: whether a helper does it; what is said first holds"""
        self._news: SimpleQueue[None] = SimpleQueue()

    def begin(self, worker: int) -> None:
        """A helper's part, unless it comes too late."""
        if not self._helped.setdefault(worker, True):
            return
        error: BaseException | None = None
        try:
            self._work(worker)
        except BaseException as raised:
            error = raised
        self.ended[worker] = error
        self._news.put(None)

    def helped(self, worker: int) -> bool:
        """Whether a helper has begun; from now on none does."""
        return self._helped.setdefault(worker, False)

    def wait(self, threads: int, stop: threading.Event) -> None:
        """Wait for all helpers that began, also through interrupts: they write into arrays of who asked."""
        interrupted: BaseException | None = None
        while True:
            try:
                if all(worker in self.ended for worker in range(1, threads) if self.helped(worker)):
                    break
                self._news.get()
            except BaseException as error:
                stop.set()
                interrupted = error
        if interrupted is not None:
            raise interrupted


class _Helper:
    """A thread that does what is put into its queue, one job after the other."""

    def __init__(self) -> None:
        self.jobs: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.busy = False
        threading.Thread(target=self._run, name="tussock", daemon=True).start()

    def _run(self) -> None:
        while True:
            job = self.jobs.get()
            self.busy = True
            job()
            del job  # nothing of it is kept while the thread sleeps
            self.busy = False


_idle: list[_Helper] = []
_all: list[_Helper] = []


def _helpers(wanted: int) -> list[_Helper]:
    """So many threads that nobody uses, or as many as the system has room for."""
    found: list[_Helper] = []
    while len(found) < wanted:
        try:
            found.append(_idle.pop())
        except IndexError:
            try:
                found.append(_Helper())
            except RuntimeError:  # no room for another thread
                break
            _all.append(found[-1])
    return found


def _let_finish() -> None:
    """Kernels that still run, for a thread that nobody waits for, end before the interpreter takes their memory away."""
    while any(helper.busy for helper in _all):
        time.sleep(0.001)


def _forget_helpers() -> None:
    _idle.clear()
    _all.clear()


atexit.register(_let_finish)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_helpers)
