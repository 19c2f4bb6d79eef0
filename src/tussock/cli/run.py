"""``tussock run``: a plan becomes a data set, here or on many machines; run it again to go on after any stop."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["run"]


def run(
    plan: Annotated[Path, typer.Argument(help="A plan file (.toml).")],
    out: Annotated[
        str, typer.Option(help="Folder or URL (s3://…) of the data set; one begun there is taken up again.")
    ],
    dask: Annotated[
        str | None,
        typer.Option(help="Run on Dask: local, tcp://HOST:PORT, or slurm, pbs, lsf, sge, htcondor, oar."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Workers to start, for --dask local and batch systems.", min=1)
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Threads of one scan: all cores, or one on Dask.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write also where other files are.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False,
) -> None:
    """Make the data set of a plan: worlds × sensors × paths × weather. What is done is not made again."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    from tussock.cli.console import out as console
    from tussock.cli.console import print_json, said
    from tussock.cli.interrupt import going_on
    from tussock.jobs.engines import dask_engine, here
    from tussock.jobs.plan import load_plan
    from tussock.jobs.run import run_plan
    from tussock.threads import resolve_threads

    chosen = load_plan(plan)
    if threads is not None:
        resolve_threads(threads)

    def say(line: str) -> None:
        if not as_json:
            said.print(line, markup=False)

    engine = here(threads) if dask is None else dask_engine(dask, workers=workers, threads=threads, say=say)
    columns = (
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=said, transient=True, disable=as_json or not said.is_terminal) as bar:
        task = bar.add_task("items", total=len(chosen), rate="")

        kept_items = 0

        def show(done: int, total: int, size: int) -> None:
            nonlocal kept_items
            kept_items = done
            speed = bar.tasks[0].speed
            bar.update(task, completed=done, total=total, rate=f"{speed * chosen.frames:.1f} frames/s" if speed else "")

        def what_is_kept() -> str:
            return f"{kept_items} of {len(chosen)} items are finished and kept: the same command goes on from there"

        with going_on(what_is_kept):
            result = run_plan(chosen, out, engine=engine, force=force, on_item=show)
    if as_json:
        print_json({"made": result.made, **result.summary})
    else:
        kept = result.items - result.made - len(result.failed)
        console.print(
            f"{result.items} items of {chosen.frames} frames: {result.made} made"
            + (f", {kept} kept from before" if kept else ""),
            markup=False,
        )
        for number, why in sorted(result.failed.items()):
            said.print(f"failed: {chosen.item(number).name}: {why}", markup=False)
        console.print(f"{result.summary['files']} files, {result.summary['bytes'] / 1e6:.1f} MB in {out}", markup=False)
    if result.failed:
        raise typer.Exit(3)
