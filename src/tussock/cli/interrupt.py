"""Ctrl-C: every command stops within a second, says what is kept and how to go on, and leaves nothing half written.

Python hears a signal between two of its own steps, and a compiled kernel or a library may keep it from that for
minutes; and an exception that comes out of nowhere is caught in places that were made for others, or tears what a
library was building. So nothing is raised. A thread waits for signals beside the command: the system tells it at once,
whatever the command does. It says what is kept, removes what is being written, and ends the process.
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from tussock.errors import visible
from tussock.leftovers import finished_files, remove_leftovers

__all__ = ["going_on", "watch", "what_is_kept"]

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_END = 0  # no signal has this number
_SOON_S = 0.2

_parked = threading.Event()
_ways_on: list[tuple[Callable[[], str], int | None]] = []


@contextmanager
def going_on(say: Callable[[], str], *, status: int | None = None) -> Iterator[None]:
    """Within the block, ``say()`` tells somebody who stops the command what is kept and how to go on.

    ``status``: the exit status then, where to be stopped is how the command ends.
    """
    _ways_on.append((say, status))
    try:
        yield
    finally:
        _ways_on.pop()


def what_is_kept() -> str:
    """What somebody who stops the command now is told."""
    if _ways_on:
        return _ways_on[-1][0]()
    finished = finished_files()
    if not finished.count:
        return "nothing was written"
    return f"{finished.count} finished file(s) are kept, the last is {finished.last}"


@contextmanager
def watch() -> Iterator[None]:
    """Listen for signals while the block runs; outside the main thread nothing is done."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    thread = threading.Thread(target=_listen, args=(receiver,), name="tussock-signals", daemon=True)
    # A signal that the parent wants to be ignored (nohup) stays ignored.
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    taken = [number for number, handler in before.items() if handler != signal.SIG_IGN]
    atexit.unregister(_done)
    atexit.register(_done)
    told = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    for number in taken:
        signal.signal(number, _park)
    thread.start()
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, before[number])
        signal.set_wakeup_fd(told)
        with suppress(OSError):
            sender.send(bytes([_END]))
        thread.join()
        receiver.close()
        sender.close()


def _done() -> None:
    """Everything is written, and the process ends: a Ctrl-C now has nothing to stop, and no traceback to show."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def _park(number: int, frame: FrameType | None) -> None:
    """What the command does from its next step on: nothing, until the process has ended."""
    _parked.set()
    while True:
        time.sleep(60)


def _listen(receiver: socket.socket) -> None:
    while number := receiver.recv(1)[0]:
        if number in _SIGNALS:
            _end(number)


def _end(number: int) -> None:
    word = "interrupted" if number == signal.SIGINT else "stopped"
    status = _ways_on[-1][1] if _ways_on else None
    try:
        text = f"{word}; {what_is_kept()}"
    except Exception:  # the line must not keep the process from ending
        text = word
    # A command that is just making a file would make it after everything was removed. One that computes comes to no
    # step of its own for long, and makes none meanwhile.
    _parked.wait(_SOON_S)
    remove_leftovers()
    with suppress(OSError, ValueError):
        sys.stdout.flush()
    with suppress(OSError):
        if os.isatty(2):
            os.write(2, b"\r\x1b[K\x1b[?25h")  # a progress bar may have hidden the cursor
        os.write(2, f"{visible(text)}\n".encode("utf-8", "backslashreplace"))
    os._exit(128 + number if status is None else status)
