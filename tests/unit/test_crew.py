"""The crew does what threads of Python do, whatever comes between: other threads, forks, Ctrl-C, no room."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from tussock import crew
from tussock.crew import run_on_crew
from tussock.kernel_context import handed
from tussock.kernels import INTERPRETED, loop_kernel
from tussock.threads import Stopped, stopped_by

compiled = pytest.mark.skipif(INTERPRETED, reason="kernels are not compiled: run it again without NUMBA_DISABLE_JIT")


class Sums(NamedTuple):
    values: Any
    out: Any


class Part(NamedTuple):
    number: int
    parts: int


@loop_kernel
def add_up(sums: Sums, part: Part) -> None:
    found = 0.0
    for k in range(part.number, len(sums.values), part.parts):
        found += sums.values[k]
    sums.out[part.number] += found


def sums_of(values: Any, parts: int) -> Any:
    out = np.zeros(parts)
    run_on_crew(add_up, handed(Sums(values, out)), [handed(Part(number, parts)) for number in range(parts)])
    return out


@pytest.mark.parametrize("parts", [1, 2, 3, 16, 40])
def test_every_part_is_done_once(parts):
    values = np.random.default_rng(parts).integers(0, 1000, 10_007).astype(float)
    for _ in range(5):
        np.testing.assert_array_equal(sums_of(values, parts), [values[k::parts].sum() for k in range(parts)])


def test_hands_are_used_again():
    sums_of(np.ones(10), 4)
    before = threading.active_count()
    for _ in range(20):
        sums_of(np.ones(10), 4)
    assert threading.active_count() == before


def test_many_threads_may_ask_at_once():
    wrong = []

    def ask(seed):
        values = np.random.default_rng(seed).integers(0, 9, 5000).astype(float)
        for parts in (2, 5, 3, 7) * 25:
            if sums_of(values, parts).sum() != values.sum():
                wrong.append((seed, parts))

    askers = [threading.Thread(target=ask, args=(seed,)) for seed in range(6)]
    for one in askers:
        one.start()
    for one in askers:
        one.join()
    assert wrong == []


def test_without_semaphores_threads_of_python_do_it(monkeypatch):
    monkeypatch.setattr(crew, "_possible", lambda: False)
    monkeypatch.setattr(crew, "_idle", [])
    np.testing.assert_array_equal(sums_of(np.arange(10.0), 3), [18.0, 12.0, 15.0])


def test_without_room_for_threads_those_that_are_there_do_it(monkeypatch):
    def full(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", full)
    np.testing.assert_array_equal(sums_of(np.arange(100.0), 60).sum(), 4950.0)


def test_what_nobody_waits_for_is_not_begun():
    nobody_waits = threading.Event()
    nobody_waits.set()
    out = np.zeros(2)
    with stopped_by(nobody_waits), pytest.raises(Stopped):
        run_on_crew(add_up, handed(Sums(np.ones(4), out)), [handed(Part(number, 2)) for number in range(2)])
    assert (out == 0).all()


@compiled
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs a system that forks: run it on one")
def test_a_child_has_a_crew_of_its_own():
    program = """
import os, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from test_crew import sums_of
assert sums_of(np.ones(9), 3).sum() == 9
child = os.fork()
if child == 0:
    os._exit(0 if sums_of(np.ones(9), 3).sum() == 9 else 1)
print(os.waitpid(child, 0)[1])
"""
    done = run_alone(program)
    assert done.stdout.strip() == "0", done.stderr


@compiled
def test_ctrl_c_at_any_moment_leaves_nobody_waiting():
    """Signals come between any two steps of who asks; what is asked afterwards is right, and the process ends."""
    program = """
import os, random, signal, sys, threading, time
sys.path.insert(0, sys.argv[1])
import numpy as np
from test_crew import sums_of
values, stop, heard = np.ones(20_000), threading.Event(), 0
sums_of(values, 4)

def pester():
    while not stop.is_set():
        time.sleep(random.random() * 0.004)
        os.kill(os.getpid(), signal.SIGINT)

pestering, end = threading.Thread(target=pester, daemon=True), time.monotonic() + 3.0
pestering.start()
while time.monotonic() < end:
    try:
        while time.monotonic() < end:
            assert sums_of(values, 4).sum() == 20_000
    except KeyboardInterrupt:
        heard += 1
while pestering.is_alive():
    try:
        stop.set()
        pestering.join()
    except KeyboardInterrupt:
        pass
assert sums_of(values, 4).sum() == 20_000
print(heard)
"""
    done = run_alone(program)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 50


@compiled
def test_the_interpreter_ends_while_a_thread_still_works():
    program = """
import sys, threading
sys.path.insert(0, sys.argv[1])
import numpy as np
from test_crew import sums_of
values = np.ones(3_000_000)
sums_of(values, 2)

def ask():
    while True:
        sums_of(values, 4)

threading.Thread(target=ask, daemon=True).start()
"""
    for _ in range(3):
        done = run_alone(program)
        assert done.returncode == 0, done.stderr


def run_alone(program):
    """A program of its own, which finds this file."""
    here = str(Path(__file__).parent)
    return subprocess.run(
        [sys.executable, "-c", program, here], capture_output=True, text=True, timeout=120, check=False
    )
