"""One thread that works for the page: the newest wish is worked on, older ones are given up.

Somebody who drags a sensor asks for more than a processor gives. So at most one piece of work of a kind waits, and asking
anew ends what is being done: kernels end within a part of a second (`tussock.threads.stopped_by`), and what is stale is
never shown. Kinds wait beside one another; those that were named first go first (points before pictures).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import NamedTuple

from tussock.threads import Stopped, stopped_by

__all__ = ["Worker"]

Job = Callable[[threading.Event], None]
"""takes an event that is set when nobody waits for it any more"""


class _Asked(NamedTuple):
    kind: str
    job: Job
    stop: threading.Event


class Worker:
    """Does the newest job of every kind, one after the other.

    ``kinds`` are in the order of urgency: asking for one also gives up running work of a later kind. ``busy`` is told what
    is being worked on ("" for nothing), ``failed`` what went wrong. Both are called on the worker's thread.
    """

    def __init__(
        self, kinds: tuple[str, ...], busy: Callable[[str], None], failed: Callable[[BaseException], None]
    ) -> None:
        self._kinds = kinds
        self._busy, self._failed = busy, failed
        self._waiting: dict[str, _Asked] = {}
        self._running: _Asked | None = None
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._work, name="tussock-studio", daemon=True)
        self._thread.start()

    def ask(self, kind: str, job: Job) -> None:
        """Do this next among its kind, instead of what was asked of it before."""
        with self._changed:
            if self._closed:
                return
            running = self._running
            if running is not None and self._kinds.index(kind) <= self._kinds.index(running.kind):
                running.stop.set()
                if running.kind != kind:
                    self._waiting.setdefault(running.kind, _Asked(running.kind, running.job, threading.Event()))
            self._waiting[kind] = _Asked(kind, job, threading.Event())
            self._changed.notify_all()

    def cancel(self) -> None:
        """Give up everything."""
        with self._changed:
            self._waiting.clear()
            if self._running is not None:
                self._running.stop.set()
            self._changed.notify_all()

    def idle(self, seconds: float) -> bool:
        """Wait until nothing is left to do; whether that came true in time."""
        with self._changed:
            return self._changed.wait_for(lambda: self._running is None and not self._waiting, seconds)

    def close(self) -> None:
        """Give up everything, and end the thread."""
        with self._changed:
            self._closed = True
        self.cancel()
        if threading.current_thread() is not self._thread:
            self._thread.join(5.0)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closed)
                if self._closed:
                    return
                kind = min(self._waiting, key=self._kinds.index)
                asked = self._running = self._waiting.pop(kind)
            try:
                self._busy(kind)
                with stopped_by(asked.stop):
                    asked.job(asked.stop)
            except Stopped:
                pass
            except Exception as error:
                if not asked.stop.is_set():
                    self._failed(error)
            finally:
                with self._changed:
                    self._running = None
                    last = not self._waiting
                    self._changed.notify_all()
                if last and not self._closed:
                    self._busy("")
