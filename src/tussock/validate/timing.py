"""How long work takes: wall time and the time of all cores together, the least of a few rounds.

Whatever else runs on the machine only ever adds to a time, so the least is the nearest to the truth. The time of
the cores (of all threads of this process) hardly feels the others at all.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

__all__ = ["Taken", "least", "timed"]

T = TypeVar("T")


class Taken(NamedTuple):
    wall: float
    """[s]"""
    cores: float
    """[s], summed over threads"""


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """What the work gave, and how long it took [s]."""
    begin = time.perf_counter()
    given = work()
    return given, time.perf_counter() - begin


def least(*jobs: Callable[[], Any], rounds: int) -> list[Taken]:
    """The least times of each job; all jobs once a round, after one round that does not count."""
    taken: list[list[Taken]] = [[] for _ in jobs]
    for turn in range(rounds + 1):
        for job, mine in zip(jobs, taken, strict=True):
            wall, cores = time.perf_counter(), time.process_time()
            job()
            if turn:
                mine.append(Taken(time.perf_counter() - wall, time.process_time() - cores))
    return [Taken(min(t.wall for t in mine), min(t.cores for t in mine)) for mine in taken]
