"""Doing things at their moments: a thread that sends every datagram when it is due.

Moments are absolute, on the monotonic clock, so nothing adds up: a datagram that left late does not delay the next.
Where the system allows it, the thread asks to be woken before others (it sleeps nearly all the time). After a pause that
the system made, what is due goes out at a few times its own rate, not all at once: a receiver's usual buffer (208 KiB in
Linux) holds some ninety packets, and what does not fit is lost.
"""

from __future__ import annotations

import contextlib
import errno
import os
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import OutputError
from tussock.wire.addresses import Endpoint, open_sender

__all__ = ["Due", "Lateness", "Pacer", "Route", "before_others"]

_SHORTEST_SLEEP = 30e-6  # [s] below this the system sleeps longer than asked for
_LONGEST_SLEEP = 0.2  # [s] so that a stop is noticed
_CATCHING_UP = 4.0  # times the usual rate, for what is late
_AT_ONCE = 2e-3  # [s] of what is late that may leave together: sleeps are not shorter than some 0.1 ms
_WAIT_FOR_ROOM = 5e-4  # [s] before the system is asked again to take a datagram
_MOST_WAITS = 40


class Due(NamedTuple):
    """Something to do: send ``payload`` to ``to``, or where there is no address call it."""

    moment: float
    """[s] monotonic clock"""
    payload: Any
    to: Endpoint | None


Route = Callable[[Endpoint], Endpoint | None]


@dataclass
class Lateness:
    """How late things were done, counted in steps of 0.1 ms."""

    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros(10_001, np.int64))
    worst: float = 0.0

    def add(self, seconds: float) -> None:
        self.counts[min(max(int(seconds * 1e4), 0), 10_000)] += 1
        self.worst = max(self.worst, seconds)

    def share_within(self, seconds: float) -> float:
        """Share of all that were done within this time of their moment."""
        total = int(self.counts.sum())
        return float(self.counts[: round(seconds * 1e4)].sum() / total) if total else 1.0

    def quantile(self, share: float) -> float:
        """[s] within which this share was done."""
        total = np.cumsum(self.counts)
        return float((np.searchsorted(total, share * total[-1]) + 1) * 1e-4) if total[-1] else 0.0


class Pacer:
    """Sends what it is given, in the order it is given, each at its moment.

    ``route`` says at that moment where a datagram really goes to, or None for nowhere.
    """

    def __init__(self, route: Route | None = None) -> None:
        self._route = route
        self.sent = 0
        self.lost = 0
        """datagrams that the system had no room for, however often it was asked"""
        self.lateness = Lateness()
        self._last = (-inf, -inf)  # [s] of what was done last: its own moment, and when it counts as done
        self._queue: queue.Queue[list[Due] | None] = queue.Queue()
        self._sockets: dict[Endpoint, socket.socket] = {}
        self._stop = threading.Event()
        self._error: OutputError | None = None
        self._thread = threading.Thread(target=self._work, name="tussock-pacer", daemon=True)
        self._thread.start()

    def put(self, batch: list[Due]) -> None:
        """Add things in the order of their moments; what went wrong before is raised here."""
        self._check()
        self._queue.put(batch)

    def finish(self) -> None:
        """Wait until all is done."""
        self._queue.put(None)
        while self._thread.is_alive():
            # Joined in pieces, so that an interrupt is heard.
            self._thread.join(_LONGEST_SLEEP)
        self._close()
        self._check()

    def abandon(self) -> None:
        """Stop at once; what is not sent yet is not sent."""
        self._stop.set()
        self._queue.put(None)
        self._thread.join()
        self._close()

    def _check(self) -> None:
        if self._error is not None:
            raise self._error

    def _close(self) -> None:
        for sender in self._sockets.values():
            sender.close()

    def _work(self) -> None:
        _ask_for_priority()
        try:
            while (batch := self._queue.get()) is not None:
                for due in batch:
                    moment = self._earliest(due.moment)
                    if not self._await(moment):
                        return
                    self._do(due)
                    self._last = due.moment, max(moment, time.monotonic() - _AT_ONCE)
        except OutputError as error:
            self._error = error

    def _earliest(self, moment: float) -> float:
        """When something may be done that is due at ``moment``: then, or behind what was late before it."""
        before, done = self._last
        return max(moment, done + (moment - before) / _CATCHING_UP) if before > -inf else moment

    def _await(self, moment: float) -> bool:
        """Sleep until a moment; False if told to stop."""
        while not self._stop.is_set():
            left = moment - time.monotonic()
            if left <= _SHORTEST_SLEEP:
                return True
            time.sleep(min(left, _LONGEST_SLEEP))
        return False

    def _do(self, due: Due) -> None:
        if due.to is None:
            due.payload()
            return
        to = due.to if self._route is None else self._route(due.to)
        if to is None:
            return
        if self._send(due.payload, to):
            self.sent += 1
        else:
            self.lost += 1
        self.lateness.add(time.monotonic() - due.moment)

    def _send(self, payload: Any, to: Endpoint) -> bool:
        """Whether the system took a datagram; where its queue is full, it is asked again for a while."""
        sender = self._sockets.get(to) or self._sockets.setdefault(to, open_sender(to))
        for _ in range(_MOST_WAITS):
            try:
                sender.sendto(payload, to.address)
            except ConnectionRefusedError:
                return True  # nobody listens: a sensor does not care
            except OSError as error:
                if error.errno != errno.ENOBUFS:
                    raise OutputError(f"{to}: cannot be sent to ({error.strerror})") from None
                time.sleep(_WAIT_FOR_ROOM)
            else:
                return True
        return False


def _ask_for_priority() -> None:
    """Real-time turns for this thread, which usually only an administrator may give."""
    if hasattr(os, "sched_setscheduler"):
        with contextlib.suppress(OSError):
            os.sched_setscheduler(threading.get_native_id(), os.SCHED_RR, os.sched_param(1))


@contextlib.contextmanager
def before_others() -> Iterator[None]:
    """Within the block this thread, and those that it starts, come before all that is not real-time.

    For a stream whose simulation takes a small part of the time that it lasts: a program that is never done would let
    nobody else run on its core. An `OutputError` where the system has no such turns or does not give them.
    """
    if not hasattr(os, "sched_setscheduler"):
        raise OutputError("real time: this system has no such scheduling; leave it out")
    thread = threading.get_native_id()
    before, how = os.sched_getscheduler(thread), os.sched_getparam(thread)
    try:
        os.sched_setscheduler(thread, os.SCHED_RR, os.sched_param(1))
    except OSError as error:
        raise OutputError(
            f"real time: the system does not give it ({error.strerror}); run with CAP_SYS_NICE or after ulimit -r 1"
        ) from None
    try:
        yield
    finally:
        os.sched_setscheduler(thread, before, how)
