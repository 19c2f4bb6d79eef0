"""The story of a run: what is done is left alone, the rest is made, and a manifest says what there is."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NamedTuple

from tussock.jobs.engines import Engine, here
from tussock.jobs.ledger import Ledger
from tussock.jobs.plan import Plan
from tussock.jobs.store import Store

__all__ = ["RunResult", "run_plan"]

_GATHER_EVERY = 5.0
"""[s] between two journal segments"""
_GATHER_AT = 2000
"""receipts that make a segment at once"""


class RunResult(NamedTuple):
    items: int
    made: int
    """in this run"""
    failed: dict[int, str]
    """item number and reason"""
    summary: dict[str, Any]


def run_plan(
    plan: Plan,
    out: str | Path,
    *,
    engine: AbstractContextManager[Engine] | None = None,
    force: bool = False,
    on_item: Callable[[int, int, int], None] | None = None,
) -> RunResult:
    """Make what is missing of a plan's data set at ``out`` (a folder or a URL).

    ``engine``: `tussock.jobs.engines.here` unless given. ``on_item`` is told how many items are done, how many there
    are, and how many bytes the last one has. Run it again after any stop: the result is the same, byte for byte.

    >>> done = tussock.run_plan(tussock.load_plan("grassland.toml"), "grassland")  # doctest: +SKIP
    """
    store = Store(out)
    ledger = Ledger(store, plan, force=force)
    todo = ledger.todo()
    failed: dict[int, str] = {}
    made, gathered = 0, time.monotonic()
    heard: list[int] = []
    before = len(plan) - len(todo)
    if len(todo):
        with engine if engine is not None else here() as run:
            for outcome in run(plan, store, map(int, todo)):
                if outcome.failed is not None:
                    failed[outcome.number] = outcome.failed
                else:
                    made += 1
                    heard.append(outcome.number)
                if len(heard) >= _GATHER_AT or (heard and time.monotonic() - gathered > _GATHER_EVERY):
                    ledger.gather(heard)
                    gathered, heard = time.monotonic(), []
                if on_item is not None:
                    on_item(before + made, len(plan), outcome.bytes)
    summary = ledger.close(failed)
    return RunResult(len(plan), made, failed, summary)
