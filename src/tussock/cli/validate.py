"""``tussock validate``: the papers' experiments, with a report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from tussock.cli.options import Seed, takes
from tussock.errors import InputError, OutputError

__all__ = ["validate"]


@dataclass(frozen=True, kw_only=True)
class ValidateOptions:
    """What the command takes."""

    names: Annotated[list[str] | None, typer.Argument(help="Experiments to run; all if none is named.")] = None
    out: Annotated[Path, typer.Option(help="Folder for report.html and report.json.")] = Path("report")
    quick: Annotated[bool, typer.Option("--quick", help="Fewer pulses, same criteria: a minute or two.")] = False
    seed: Seed = 0
    without: Annotated[
        str | None, typer.Option(help="Switch an effect of one experiment off, to see its criteria fail.")
    ] = None
    summary: Annotated[Path | None, typer.Option(help="Also write the table of all criteria (Markdown).")] = None
    listed: Annotated[bool, typer.Option("--list", help="List the experiments and stop.")] = False
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Also print the figures as JSON.")] = False


@takes(ValidateOptions)
def validate(given: ValidateOptions) -> None:
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

    experiments = [load_experiment(name) for name in dict.fromkeys(given.names or experiment_names())]
    if given.listed:
        width = max(len(known.name) for known in experiments)
        for known in experiments:
            effects = f"  (--without {', '.join(known.effects)})" if known.effects else ""
            console.print(f"{known.name:{width}}  {known.title}{effects}", soft_wrap=True)
        return
    if given.without is not None and len(experiments) != 1:
        raise InputError("without: name the one experiment to run without it")
    try:
        given.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{given.out}: cannot be made a folder ({error.strerror})") from None
    for path in (given.out / "report.html", given.out / "report.json", *([given.summary] if given.summary else [])):
        check_writable(path, force=given.force)
    trial = Trial(quick=given.quick, seed=check_seed(given.seed), without=given.without)

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
    page, data = write_report(results, given.out, force=given.force)
    if given.summary:
        write_summary(results, given.summary, force=given.force)
    if given.as_json:
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
        for path in (page, data, *([given.summary] if given.summary else [])):
            console.print(f"wrote    {path}", soft_wrap=True)
    if not all(result.passed for result in results):
        raise typer.Exit(1)
