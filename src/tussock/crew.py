"""Kernels on all cores without the interpreter: threads that wait in machine code for what to do.

Threads that wait in Python need its lock to begin, and get it one after the other: on a server of 16 cores each began 0.08 ms
after the one before it, the last one when a scan of few rays was a quarter done. A hand of the crew waits at a semaphore of
the C library, inside a kernel, and all begin within some microseconds. Where there are no such semaphores, or no threads are
to be had, Python's do the work (`tussock.threads`).

A hand has a box of its own memory: the address of a kernel's code and of its two arguments, both `handed`; what the kernel
said; and two semaphores, one to begin at and one to say that it is done.
"""

# mypy: disable-error-code="no-untyped-call"
# Numba has no types.

from __future__ import annotations

import atexit
import ctypes
import os
import threading
import time
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from tussock.kernel_context import address_for, code_for
from tussock.kernels import INTERPRETED, Array, Whole, kernel, uint64_view
from tussock.limits import check_room
from tussock.threads import CODE_MIB, check_stopped, run_on_threads

__all__ = ["run_on_crew"]

_BEGUN, _BUSY, _CODE, _SHARED, _OWN, _SAID, _UNTIL, _BEGIN, _DONE, _SIZE = 0, 1, 2, 3, 4, 5, 6, 8, 16, 24
"""places in a box, in numbers of eight bytes; a semaphore takes 64 bytes at most"""
_AT_BEGIN, _AT_DONE, _AT_UNTIL = np.uint64(8 * _BEGIN), np.uint64(8 * _DONE), np.uint64(8 * _UNTIL)
_TURN_NS, _SECOND_NS = np.uint64(20_000_000), np.uint64(1_000_000_000)
"""after so long who waits looks whether Ctrl-C was pressed"""
_REALTIME = 0
_NEEDED = ("sem_init", "sem_wait", "sem_timedwait", "sem_post", "clock_gettime")
_int32: Any = types.int32
_wait = types.ExternalFunction("sem_wait", _int32(types.uint64))
_wait_until = types.ExternalFunction("sem_timedwait", _int32(types.uint64, types.uint64))
_post = types.ExternalFunction("sem_post", _int32(types.uint64))
_clock: Any = types.ExternalFunction("clock_gettime", _int32(_int32, types.uint64))


def run_on_crew(work: Any, shared: Any, own: Sequence[Any]) -> None:
    """Call the kernel ``work(shared, one)`` for each of ``own``, all at once, and wait for all; both are `handed`.

    Ctrl-C is heard when it is done; what takes long is for `run_on_threads`, with pieces.
    """
    check_stopped()
    code = code_for(work, shared, own[0])
    if len(own) == 1:
        code(shared, own[0])
        check_stopped()
        return
    hands = _hands(len(own) - 1)
    if len(hands) < len(own) - 1:
        _idle.extend(hands)
        run_on_threads(lambda worker, workers: code(shared, own[worker]), len(own))
        return
    for hand, one in zip(hands, own[1:], strict=True):
        hand.box[: _SAID + 1] = 0, 0, address_for(work, shared, one), shared.address, one.address, 0
    boxes = np.array([hand.address for hand in hands], np.uint64)
    interrupted: BaseException | None = None
    try:
        _begin(boxes)
        code(shared, own[0])
    except BaseException as error:  # Ctrl-C may come between any two steps
        interrupted = error
    waiting = True
    while waiting:  # through interrupts, too: hands write into arrays of who asked
        try:
            waiting = not _all_done(boxes)
        except BaseException as error:
            interrupted = error
    said = [int(hand.box[_SAID]) for hand in hands]
    _idle.extend(hands)
    if interrupted is not None:
        raise interrupted
    check_stopped()
    if any(said):
        raise RuntimeError(f"kernel {work.__name__} ended with an error on another thread: {said}")


class _Hand:
    """A thread that does what stands in its box, one thing after the other."""

    def __init__(self) -> None:
        self.box = np.zeros(_SIZE, np.uint64)
        self.address = int(self.box.ctypes.data)
        for place in (_AT_BEGIN, _AT_DONE):
            if _library().sem_init(ctypes.c_void_p(self.address + int(place)), 0, 0) != 0:
                raise OSError("this system has no semaphores without a name")
        threading.Thread(target=_serve, args=(np.uint64(self.address),), name="tussock", daemon=True).start()


_idle: list[_Hand] = []
_all: list[_Hand] = []  # what is in a box is never given back: its thread looks there for ever


def _hands(wanted: int) -> list[_Hand]:
    """So many threads that nobody uses, or as many as there are to be had."""
    found: list[_Hand] = []
    while len(found) < wanted:
        try:
            found.append(_idle.pop())
        except IndexError:
            if not _possible():
                break
            try:
                _all.append(_Hand())
            except (OSError, RuntimeError):  # no room for another thread
                break
            found.append(_all[-1])
    return found


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None)


@cache
def _possible() -> bool:
    """Whether there are the semaphores; kernels that wait at them are compiled here, before any thread needs them."""
    if INTERPRETED or not all(hasattr(_library(), name) for name in _NEEDED):
        return False
    check_room(CODE_MIB, "compiled code")
    _serve.compile((types.uint64,))
    none = np.zeros(0, np.uint64)
    _begin(none)
    _all_done(none)
    return True


def _called(typing_context: Any, code: Any, shared: Any, own: Any) -> Any:
    """A kernel of two addresses, called as Numba does: where to put what it gives and what went wrong comes first."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        nowhere = ir.IntType(8).as_pointer()
        kind = ir.FunctionType(ir.IntType(32), [nowhere.as_pointer(), nowhere.as_pointer(), nowhere, nowhere])
        given, wrong = (cgutils.alloca_once_value(builder, ir.Constant(nowhere, None)) for _ in range(2))
        addresses = [builder.inttoptr(address, nowhere) for address in args[1:]]
        return builder.call(builder.inttoptr(args[0], kind.as_pointer()), [given, wrong, *addresses])

    return _int32(types.uint64, types.uint64, types.uint64), generate


_call: Any = intrinsic(_called)


def _forever(box: Whole) -> None:
    words = uint64_view(box, _SIZE)
    while True:
        while _wait(box + _AT_BEGIN) != 0:  # a signal
            pass
        words[_SAID] = np.uint64(_call(words[_CODE], words[_SHARED], words[_OWN]) != 0)
        words[_BUSY] = 0
        _post(box + _AT_DONE)


_serve: Any = kernel(_forever)


@kernel
def _begin(boxes: Array) -> None:
    for box in boxes:
        words = uint64_view(box, _SIZE)
        words[_BEGUN] = words[_BUSY] = 1
        _post(box + _AT_BEGIN)


@kernel
def _all_done(boxes: Array) -> bool:
    """Wait for all that began, for a while; what was waited for once is not again, however often this is asked."""
    for box in boxes:
        words = uint64_view(box, _SIZE)
        if words[_BEGUN] == 0:
            continue
        until = uint64_view(box + _AT_UNTIL, 2)
        _clock(_REALTIME, box + _AT_UNTIL)
        until[1] += _TURN_NS
        if until[1] >= _SECOND_NS:
            until[0], until[1] = until[0] + np.uint64(1), until[1] - _SECOND_NS
        if _wait_until(box + _AT_DONE, box + _AT_UNTIL) != 0:
            return False
        words[_BEGUN] = 0
    return True


def _let_finish() -> None:
    """Hands that still work, for a thread that nobody waits for, end before the interpreter takes their memory away."""
    while any(hand.box[_BUSY] for hand in _all):
        time.sleep(0.001)


def _forget_hands() -> None:
    _idle.clear()
    _all.clear()


atexit.register(_let_finish)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_hands)
