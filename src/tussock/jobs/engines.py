"""Who does the work: this process, or the workers of a Dask cluster. We write no scheduler.

An engine takes item numbers and gives back, in any order, `Outcome`s. With Dask a bounded window of items is
submitted at a time, so a plan of a million items needs no million futures; a worker that is killed is replaced, and
its items are given to others.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Any, NamedTuple

from tussock.errors import InputError, OutputError, TussockError, cause
from tussock.extras import load_extra
from tussock.jobs.layouts.kitti import kitti_files
from tussock.jobs.layouts.parquet import parquet_files
from tussock.jobs.layouts.webdataset import webdataset_files
from tussock.jobs.ledger import read_receipt, write_receipt
from tussock.jobs.making import make_item
from tussock.jobs.plan import Plan
from tussock.jobs.shelf import Shelf
from tussock.jobs.store import Store
from tussock.threads import resolve_threads
from tussock.version import VERSION

__all__ = ["Engine", "Outcome", "dask_engine", "here", "make_and_store"]

LAYOUTS: dict[str, Callable[..., dict[str, bytes]]] = {
    "kitti": kitti_files,
    "parquet": parquet_files,
    "webdataset": webdataset_files,
}
_WINDOW = 3
"""items given to each worker at a time"""
_RETRIES = 5
"""workers that may die over one item before it counts as poisoned"""


class Outcome(NamedTuple):
    number: int
    bytes: int
    failed: str | None = None
    """why it could not be made"""


Engine = Callable[[Plan, Store, Iterator[int]], Iterator[Outcome]]


def make_and_store(plan: Plan, store: Store, index: int, shelf: Shelf, threads: int | None) -> Outcome:
    """Make one item, write its files, then its receipt. What is wrong with the item itself is an outcome.

    An item that has its receipt is left as it is: Dask gives it out again where a worker dies after its work and
    before its word has come.
    """
    done = read_receipt(store, index)
    if done is not None:
        return Outcome(index, sum(file.size for file in done))
    try:
        files = LAYOUTS[plan.output.layout](make_item(plan, index, shelf), threads)
    except TussockError as error:
        return Outcome(index, 0, " ".join(str(error).split()))
    except Exception as error:  # one poisoned item must not stop the others, whatever is wrong with it
        return Outcome(index, 0, f"{type(error).__name__}: {cause(error, 300)}")
    stored = [store.put(path, data) for path, data in files.items()]
    write_receipt(store, index, stored)
    return Outcome(index, sum(file.size for file in stored))


def here(threads: int | None = None) -> AbstractContextManager[Engine]:
    """One item after the other in this process."""

    @contextmanager
    def opened() -> Iterator[Engine]:
        shelf = Shelf()

        def run(plan: Plan, store: Store, todo: Iterator[int]) -> Iterator[Outcome]:
            for index in todo:
                yield make_and_store(plan, store, index, shelf, threads)

        yield run

    return opened()


def dask_engine(
    where: str, *, workers: int | None = None, threads: int | None = None, say: Callable[[str], None] | None = None
) -> AbstractContextManager[Engine]:
    """Workers of Dask: ``local`` (processes of this machine), ``tcp://…`` (a scheduler that runs), or a batch system.

    Batch systems are those of dask-jobqueue: slurm, pbs, lsf, sge, htcondor, oar; their settings stand in Dask's own
    configuration. ``threads`` are those of one item's scan: one, unless given.

    >>> done = tussock.run_plan(plan, "grassland", engine=tussock.dask_engine("local"))  # doctest: +SKIP
    """
    distributed = load_extra("distributed", extra="jobs", purpose="running on Dask")

    @contextmanager
    def opened() -> Iterator[Engine]:
        with _cluster(where, workers) as cluster:
            try:
                client = distributed.Client(cluster, timeout="8s", set_as_default=False)
            except (OSError, TimeoutError, ValueError) as error:
                raise InputError(
                    f"Dask scheduler {where!r}: cannot be reached ({cause(error, 120)}); start it with "
                    "`dask scheduler`, or use --dask local"
                ) from None
            with client:
                batch = where != "local" and "://" not in where
                if batch and say is not None:
                    say(f"waiting for the first worker from {where}; its queue decides when (Ctrl-C gives up)")
                _wait_for_a_worker(client, None if batch else 60.0)
                _same_versions(client)
                if say is not None and client.dashboard_link:
                    say(f"dashboard: {client.dashboard_link}")
                yield lambda plan, store, todo: _submitted(client, plan, store, todo, threads or 1)

    return opened()


@contextmanager
def _cluster(where: str, workers: int | None) -> Iterator[Any]:
    if where == "local":
        distributed = load_extra("distributed", extra="jobs", purpose="running on Dask")
        count = workers or resolve_threads(None)
        try:
            # A port of its own and no fixed dashboard: several runs may share a machine.
            cluster = distributed.LocalCluster(
                n_workers=count, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0",
                host="127.0.0.1", silence_logs=logging.CRITICAL,
            )  # fmt: skip
        except (OSError, RuntimeError, TimeoutError) as error:
            raise InputError(f"--dask local: its workers did not start ({cause(error, 120)}); run it again") from None
        with cluster:
            yield cluster
    elif "://" in where:
        yield where
    else:
        names = {"slurm": "SLURMCluster", "pbs": "PBSCluster", "lsf": "LSFCluster", "sge": "SGECluster",
                 "htcondor": "HTCondorCluster", "oar": "OARCluster"}  # fmt: skip
        if where not in names:
            raise InputError.of("--dask", "must be local, tcp://HOST:PORT or one of " + ", ".join(names), where)
        jobqueue = load_extra("dask_jobqueue", extra="jobs", purpose=f"running on {where}")
        try:
            cluster = getattr(jobqueue, names[where])()
        except (ValueError, TypeError) as error:
            raise InputError(
                f"--dask {where}: dask-jobqueue says: {' '.join(str(error).split())[:160]}; set it in jobqueue.yaml"
            ) from None
        with cluster:
            cluster.scale(jobs=workers or 1)
            yield cluster


def _wait_for_a_worker(client: Any, patience: float | None) -> None:
    """Wait for ``patience`` [s]; None: as long as it takes."""
    try:
        client.wait_for_workers(1, timeout=patience)
    except TimeoutError:
        raise InputError(f"Dask: no worker came within {patience:g} s; start some with `dask worker ADDRESS`") from None


def _same_versions(client: Any) -> None:
    """Workers must run the same Tussock: another one might give other bits."""
    theirs: dict[str, Any] = client.run(_version, on_error="return")
    for worker, version in theirs.items():
        if version != VERSION:
            raise InputError.of(f"Dask worker {worker}", f"must have Tussock {VERSION}", version, "install it there")


def _version() -> str:
    return VERSION


def _submitted(client: Any, plan: Plan, store: Store, todo: Iterator[int], threads: int) -> Iterator[Outcome]:
    distributed = load_extra("distributed", extra="jobs", purpose="running on Dask")
    text = plan.model_dump_json(exclude_unset=True)
    waiting = distributed.as_completed(loop=client.loop)
    underway: dict[str, int] = {}

    def submit() -> bool:
        index = next(todo, None)
        if index is None:
            return False
        future = client.submit(_on_worker, text, store.root, int(index), threads, pure=False, retries=_RETRIES,
                               key=f"tussock-{plan.digest[:8]}-{int(index)}")  # fmt: skip
        underway[future.key] = int(index)
        waiting.add(future)
        return True

    size = _WINDOW * max(1, len(client.scheduler_info(n_workers=-1)["workers"]))
    for _ in range(size):
        if not submit():
            break
    for future in waiting:
        index = underway.pop(future.key)
        if future.status == "finished":
            yield Outcome(*future.result())
        elif future.status in ("cancelled", "lost"):
            raise OutputError(
                "Dask: the scheduler is gone; what is finished is kept: the same command goes on from there"
            )
        else:
            error = future.exception()
            if isinstance(error, OutputError):
                raise error  # the place is full or gone: that concerns every item
            yield Outcome(index, 0, f"{type(error).__name__}: {cause(error, 300)}")
        future.release()
        submit()


def _on_worker(plan_text: str, root: str, index: int, threads: int) -> tuple[int, int, str | None]:
    return tuple(make_and_store(_plan(plan_text), _store(root), index, _shelf(), threads))  # type: ignore[return-value]


@lru_cache(maxsize=4)
def _plan(text: str) -> Plan:
    return Plan.model_validate_json(text)


@lru_cache(maxsize=4)
def _store(root: str) -> Store:
    return Store(root)


@lru_cache(maxsize=1)
def _shelf() -> Shelf:
    return Shelf()
