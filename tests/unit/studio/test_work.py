"""The worker: the newest wish is done, stale ones are given up, kinds go by urgency, and mistakes are told."""

from __future__ import annotations

import threading
import time

import pytest

from tussock.studio.work import Worker
from tussock.threads import Stopped, run_on_threads, stopped_by


@pytest.fixture
def told():
    return {"busy": [], "failed": []}


@pytest.fixture
def worker(told):
    made = Worker(("scan", "picture"), told["busy"].append, told["failed"].append)
    yield made
    made.close()


def test_the_newest_is_done_and_what_waits_before_it_is_not(worker):
    done, begun, go_on = [], threading.Event(), threading.Event()

    def first(stop):
        begun.set()
        go_on.wait(10)
        if not stop.is_set():
            done.append("first")

    worker.ask("scan", first)
    assert begun.wait(10)
    for k in range(5):
        worker.ask("scan", lambda stop, k=k: done.append(k))
    go_on.set()
    assert worker.idle(10)
    assert done == [4]


def test_points_go_before_pictures_and_these_are_done_after(worker):
    done, begun, go_on = [], threading.Event(), threading.Event()

    def picture(stop):
        begun.set()
        go_on.wait(10)
        if stop.is_set():
            raise Stopped
        done.append("picture")

    worker.ask("picture", picture)
    assert begun.wait(10)
    worker.ask("scan", lambda stop: done.append("scan"))
    go_on.set()
    assert worker.idle(10)
    assert done == ["scan", "picture"]


def test_cancel_gives_up_all_of_it(worker, told):
    begun = threading.Event()

    def endless(stop):
        begun.set()
        while True:
            run_on_threads(lambda one, of: time.sleep(0.01), 1)

    worker.ask("scan", endless)
    worker.ask("picture", endless)
    assert begun.wait(10)
    worker.cancel()
    assert worker.idle(10) and told["failed"] == []


def test_a_mistake_is_told_and_work_goes_on(worker, told):
    worker.ask("scan", lambda stop: 1 / 0)
    assert worker.idle(10)
    assert isinstance(told["failed"][0], ZeroDivisionError)
    worker.ask("scan", lambda stop: told["busy"].append("done"))
    assert worker.idle(10)
    assert "done" in told["busy"] and told["busy"][-1] == ""


def test_kernels_stop_between_their_pieces():
    stop, calls = threading.Event(), []

    def kernel(worker, workers):
        calls.append(worker)
        if len(calls) == 3:
            stop.set()

    with stopped_by(stop), pytest.raises(Stopped):
        run_on_threads(kernel, 1, pieces=100)
    assert len(calls) == 3
    run_on_threads(kernel, 1, pieces=2)  # out of the block nothing is stopped
    assert len(calls) == 5
