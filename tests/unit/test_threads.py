from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tussock import threads as threads_module
from tussock.errors import InputError
from tussock.kernels import kernel, taken
from tussock.threads import cores, in_blocks, resolve_threads, run_jobs, run_on_threads


@pytest.mark.parametrize("threads", [1, 2, 3, 8, 17])
def test_every_worker_runs_once(threads: int) -> None:
    calls = np.zeros(threads, int)

    def kernel(worker: int, workers: int, step: int) -> None:
        assert workers == threads
        calls[worker] += step

    run_on_threads(kernel, threads, 2)
    assert (calls == 2).all()


@pytest.mark.parametrize(("jobs", "threads"), [(0, 2), (1, 4), (7, 1), (7, 3)])
def test_what_jobs_give_comes_in_their_order(jobs: int, threads: int) -> None:
    def job(k: int) -> int:
        time.sleep(0.002 * (jobs - k))
        return k

    assert run_jobs([partial(job, k) for k in range(jobs)], threads) == list(range(jobs))


@pytest.mark.parametrize("rows", [0, 1, 16_384, 16_385, 50_000])
def test_rows_in_blocks_are_those_of_the_whole(rows: int) -> None:
    values = np.arange(rows, dtype=np.int32)
    doubled, pairs = in_blocks(lambda some: (2 * values[some], np.stack([values[some]] * 2, 1)), rows, 3)
    assert doubled.dtype == np.int32 and np.array_equal(doubled, 2 * values)
    assert pairs.shape == (rows, 2) and np.array_equal(pairs[:, 1], values)


def test_all_have_ended_when_it_returns_even_after_an_error() -> None:
    ended: list[int] = []

    def kernel(worker: int, workers: int, who_fails: int) -> None:
        if worker == who_fails:
            raise ValueError(f"worker {worker}")
        time.sleep(0.02 * worker)
        ended.append(worker)

    for who_fails in range(4):
        ended.clear()
        with pytest.raises(ValueError, match=f"worker {who_fails}"):
            run_on_threads(kernel, 4, who_fails)
        after = list(ended)
        if who_fails:  # else helpers that have not begun then need not
            assert sorted(after) == [worker for worker in range(4) if worker != who_fails]
        time.sleep(0.1)
        assert ended == after


@pytest.mark.parametrize(("threads", "pieces"), [(1, 1), (1, 5), (3, 1), (3, 4), (8, 3)])
def test_in_pieces_every_part_is_done_once(threads: int, pieces: int) -> None:
    calls = np.zeros(1000, int)

    def kernel(worker: int, workers: int) -> None:
        for block in range(worker, len(calls), workers):
            calls[block] += 1

    run_on_threads(kernel, threads, pieces=pieces)
    assert (calls == 1).all()


@pytest.mark.parametrize("threads", [1, 3])
def test_an_interrupt_is_heard_between_pieces_and_waits_for_the_others(threads: int) -> None:
    """Also where a second one comes while the others are waited for: they write into the caller's arrays."""
    running, calls = set(), []

    def kernel(worker: int, workers: int) -> None:
        running.add(worker)
        calls.append(worker)
        if worker == 0:
            signal.raise_signal(signal.SIGINT)
            if threads > 1:
                threading.Timer(0.05, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT)).start()
        else:
            time.sleep(0.2)
        running.discard(worker)

    with pytest.raises(KeyboardInterrupt):
        run_on_threads(kernel, threads, pieces=1000)
    assert running <= {0}
    assert len(calls) <= threads


def test_from_several_threads_at_once_with_pools_that_grow() -> None:
    sums: dict[int, Any] = {}

    def work(number: int) -> None:
        counts = np.zeros(number + 1, int)

        def kernel(worker: int, workers: int) -> None:
            time.sleep(0.001)
            counts[worker] += 1

        for _ in range(20):
            run_on_threads(kernel, number + 1)
        sums[number] = counts

    callers = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(30)
    assert {number: counts.tolist() for number, counts in sums.items()} == {n: [20] * (n + 1) for n in range(6)}


def test_how_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TUSSOCK_THREADS", raising=False)
    assert resolve_threads(None) == cores() >= 1
    assert resolve_threads(3) == 3
    monkeypatch.setenv("TUSSOCK_THREADS", "5")
    assert resolve_threads(None) == 5
    assert resolve_threads(2) == 2, "what is asked for counts more"
    monkeypatch.setenv("TUSSOCK_THREADS", "many")
    with pytest.raises(InputError, match=r"^TUSSOCK_THREADS: must be a whole number above 0, got 'many'$"):
        resolve_threads(None)
    monkeypatch.setenv("TUSSOCK_THREADS", "0")
    with pytest.raises(InputError, match=r"^threads: must be a whole number from 1 to 4096, got 0$"):
        resolve_threads(None)


@pytest.mark.parametrize("bad", [0, -1, 5000, 1.5, "2", True])
def test_bad_numbers(bad: Any) -> None:
    with pytest.raises(InputError, match=r"^threads: must be a whole number from 1 to 4096, got "):
        resolve_threads(bad)


@pytest.mark.parametrize("room", [0, 1, 3])
def test_where_no_thread_can_be_had_the_others_do_its_share(monkeypatch: pytest.MonkeyPatch, room: int) -> None:
    """As under a limit on memory."""
    started: list[threading.Thread] = []
    start = threading.Thread.start

    def refuse(self: threading.Thread) -> None:
        if len(started) == room:
            raise RuntimeError("can't start new thread")
        started.append(self)
        start(self)

    monkeypatch.setattr(threads_module, "_idle", [])
    monkeypatch.setattr(threading.Thread, "start", refuse)
    done: list[int] = []
    for _ in range(3):
        run_on_threads(lambda worker, workers: done.append(worker), 6, pieces=2)
    assert sorted(done) == sorted(3 * list(range(12)))
    assert len(started) == room


def test_who_wakes_up_late_does_not_do_what_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who asked does not wait for helpers that have not begun, does their part, and they do nothing when they come to it."""
    late: list[Callable[[], None]] = []

    class Sleeper:
        class jobs:
            put = staticmethod(late.append)

    monkeypatch.setattr(threads_module, "_idle", [])
    monkeypatch.setattr(threads_module, "_helpers", lambda wanted: [Sleeper() for _ in range(wanted)])
    done: list[int] = []
    run_on_threads(lambda worker, workers: done.append(worker), 4, pieces=2)
    assert sorted(done) == list(range(8))
    for job in late:
        job()
    assert sorted(done) == list(range(8))


def test_helpers_are_kept_and_hold_nothing_while_they_sleep() -> None:
    names: list[int] = []

    class Large:
        pass

    held = Large()
    kept = weakref.ref(held)
    for _ in range(20):
        run_on_threads(lambda worker, workers, it: names.append(threading.get_ident()), 3, held)
    del held
    for _ in range(200):
        if kept() is None:
            break
        time.sleep(0.01)
    assert kept() is None
    assert len(set(names)) <= 3


def test_after_a_fork_the_child_has_helpers_of_its_own() -> None:
    code = """
import os, numpy as np
from tussock.threads import run_on_threads
calls = np.zeros(4, int)
def kernel(worker, workers):
    calls[worker] += 1
run_on_threads(kernel, 4)
if (child := os.fork()) == 0:
    run_on_threads(kernel, 4)
    os._exit(0 if calls.tolist() == [2, 2, 2, 2] else 1)
assert os.waitpid(child, 0)[1] == 0
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr[-500:]


def test_the_interpreter_ends_while_a_thread_that_nobody_waits_for_works() -> None:
    code = """
import threading, time
from tussock.threads import run_on_threads
begun = threading.Event()
def kernel(worker, workers):
    begun.set()
    time.sleep(0.3)
    print("ended", flush=True) if worker else None
threading.Thread(target=run_on_threads, args=(kernel, 2), daemon=True).start()
begun.wait()
time.sleep(0.1)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "ended\n", "")


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="this system has no RLIMIT_AS and /proc: run it on Linux"
)
def test_a_limit_on_memory_that_leaves_no_room_for_code_is_one_line() -> None:
    """The compiler would end the process."""
    code = """
import resource
import tussock
from tussock.errors import InputError
scene = tussock.Scene("s")
scene.add(tussock.box((1, 1, 1)), name="box")
world = tussock.World(scene)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 300 * 2**20,) * 2)
try:
    tussock.scan(world, tussock.load_sensor("vlp-16"), tussock.Pose.at(0, 0, 2))
except InputError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done.stderr[-500:]
    assert re.fullmatch(
        r"memory limit: must leave 1,024 MiB for compiled code, got '\d+ MiB'; raise it .*\n", done.stdout
    )


@kernel
def _take_all(worker: int, workers: int, counter: np.ndarray, seen: np.ndarray) -> None:
    while True:
        number = taken(counter)
        if number >= len(seen):
            return
        seen[number] += 1


def test_no_two_threads_take_the_same_number() -> None:
    counter, seen = np.zeros(1, np.int64), np.zeros(20_000, np.int64)
    run_on_threads(_take_all, 4, counter, seen)
    assert (seen == 1).all()
    assert len(seen) <= counter[0] <= len(seen) + 4
