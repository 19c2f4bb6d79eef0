"""Ctrl-C: every command stops within a second, and says what is kept and how to go on.

Python hears a signal between two of its own steps, and a compiled kernel or a library may keep it from that for
minutes. So a thread waits for signals beside the command: the system tells it at once, whatever the command does. A
command that has not ended by itself after a moment is ended: what it was writing is removed first.
"""

from __future__ import annotations

import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from tussock.leftovers import finished_files, remove_leftovers

__all__ = ["Watch", "going_on", "watch"]

_GRACE = 0.5  # [s] that a command has to end by itself
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_END = 0  # no signal has this number

_ways_on: list[Callable[[], str]] = []


@contextmanager
def going_on(say: Callable[[], str]) -> Iterator[None]:
    """Within the block, ``say()`` tells somebody who stops the command what is kept and how to go on."""
    _ways_on.append(say)
    try:
        yield
    except KeyboardInterrupt:
        raise  # it still holds when the message is written
    except BaseException:
        _ways_on.pop()
        raise
    _ways_on.pop()


class Watch:
    """What was heard while a command ran."""

    def __init__(self) -> None:
        self.heard = 0
        """number of the signal, 0 for none"""

    @property
    def status(self) -> int:
        """The exit status of a command that a signal ended."""
        return 128 + (self.heard or signal.SIGINT)

    def message(self) -> str:
        """What is left of the command, in a line."""
        word = "interrupted" if self.heard in (0, signal.SIGINT) else "stopped"
        return f"{word}; {_ways_on[-1]() if _ways_on else _what_is_there()}"


def _what_is_there() -> str:
    finished = finished_files()
    if not finished.count:
        return "nothing was written"
    return f"{finished.count} finished file(s) are kept, the last is {finished.last}"


@contextmanager
def watch() -> Iterator[Watch]:
    """Listen for signals while the block runs; outside the main thread nothing is done."""
    heard = Watch()
    _ways_on.clear()
    if threading.current_thread() is not threading.main_thread():
        yield heard
        return

    def interrupt(number: int, frame: FrameType | None) -> None:
        heard.heard = number
        raise KeyboardInterrupt

    receiver, sender = socket.socketpair()
    sender.setblocking(False)
    ended = threading.Event()
    thread = threading.Thread(target=_listen, args=(receiver, ended, heard), name="tussock-signals", daemon=True)
    # A signal that the parent wants to be ignored (nohup) stays ignored.
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    taken = [number for number, handler in handlers.items() if handler != signal.SIG_IGN]
    before = signal.set_wakeup_fd(sender.fileno(), warn_on_full_buffer=False)
    for number in taken:
        signal.signal(number, interrupt)
    thread.start()
    try:
        yield heard
    finally:
        ended.set()
        for number in taken:
            signal.signal(number, handlers[number])
        signal.set_wakeup_fd(before)
        with suppress(OSError):
            sender.send(bytes([_END]))
        thread.join()
        receiver.close()
        sender.close()


def _listen(receiver: socket.socket, ended: threading.Event, heard: Watch) -> None:
    while number := receiver.recv(1)[0]:
        if number in _SIGNALS:
            heard.heard = number
            if not ended.wait(_GRACE):
                _end_now(heard)


def _end_now(heard: Watch) -> None:
    text = heard.message()
    remove_leftovers()
    with suppress(OSError):
        if os.isatty(2):
            os.write(2, b"\r\x1b[K\x1b[?25h")  # a progress bar may have hidden the cursor
        os.write(2, f"{text}\n".encode("utf-8", "backslashreplace"))
    os._exit(heard.status)
