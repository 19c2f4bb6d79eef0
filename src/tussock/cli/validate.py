"""``tussock validate``: the papers' experiments, with a report."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tussock.errors import InputError, OutputError

__all__ = ["validate"]


def validate(
    names: Annotated[list[str] | None, typer.Argument(help="Experiments to run; all if none is named.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for report.html and report.json.")] = Path("report"),
    quick: Annotated[bool, typer.Option("--quick", help="Fewer pulses, same criteria: a minute or two.")] = False,
    seed: Annotated[int, typer.Option(help="Seed of all chance.")] = 0,
    without: Annotated[
        str | None, typer.Option(help="Switch an effect of one experiment off, to see its criteria fail.")
    ] = None,
    summary: Annotated[Path | None, typer.Option(help="Also write the table of all criteria (Markdown).")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the experiments and stop.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Also print the figures as JSON.")] = False,
) -> None:
    """Run the papers' experiments and write a report; exit status 1 if a criterion does not hold."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    from tussock.cli.console import out as console
    from tussock.cli.console import print_json, said
    from tussock.randomness import check_seed
    from tussock.validate.experiment import Experiment, Trial, experiment_names, load_experiment
    from tussock.validate.numbers import number
    from tussock.validate.report import as_json as plain
    from tussock.validate.report import write_report
    from tussock.validate.running import run_experiments
    from tussock.validate.summary import write_summary
    from tussock.whole_files import check_writable

    experiments = [load_experiment(name) for name in dict.fromkeys(names or experiment_names())]
    if listed:
        width = max(len(known.name) for known in experiments)
        for known in experiments:
            effects = f"  (--without {', '.join(known.effects)})" if known.effects else ""
            console.print(f"{known.name:{width}}  {known.title}{effects}", soft_wrap=True)
        return
    if without is not None and len(experiments) != 1:
        raise InputError("without: name the one experiment to run without it")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{out}: cannot be made a folder ({error.strerror})") from None
    for path in (out / "report.html", out / "report.json", *([summary] if summary else [])):
        check_writable(path, force=force)
    trial = Trial(quick=quick, seed=check_seed(seed), without=without)

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=said, transient=True) as bar:
        task = bar.add_task("", total=len(experiments))

        def show(experiment: Experiment, step: str) -> None:
            at = experiments.index(experiment)
            bar.update(task, completed=at, description=experiment.name + (f": {step}" if step else ""))

        results = run_experiments(experiments, trial, doing=show)
    page, data = write_report(results, out, force=force)
    if summary:
        write_summary(results, summary, force=force)
    if as_json:
        print_json(plain(results))
    else:
        for result in results:
            if result.outcome is None:
                console.print(f"skipped  {result.experiment.name}: {result.skipped}", soft_wrap=True)
                continue
            for one in result.outcome.criteria:
                word = "pass" if one.passed else "FAIL"
                console.print(
                    f"{word}     {result.experiment.name}: {one.name}: {number(one.measured)} {one.unit}".rstrip()
                    + f" (bound {one.bound})",
                    soft_wrap=True,
                )
        for path in (page, data, *([summary] if summary else [])):
            console.print(f"wrote    {path}", soft_wrap=True)
    if not all(result.passed for result in results):
        raise typer.Exit(1)
