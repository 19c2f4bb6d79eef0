"""Run experiments one after the other, and keep what each gave."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from tussock.errors import InputError, nearest
from tussock.validate.experiment import Experiment, Outcome, Trial

__all__ = ["Result", "run_experiment", "run_experiments"]


@dataclass(frozen=True)
class Result:
    experiment: Experiment
    trial: Trial
    outcome: Outcome | None
    """None where the experiment could not run"""
    seconds: float = 0.0
    skipped: str = ""
    """why it could not run"""

    @property
    def passed(self) -> bool:
        """Nothing measured has failed."""
        return self.outcome is None or self.outcome.passed


def run_experiment(experiment: Experiment, trial: Trial) -> Result:
    if trial.without is not None and trial.without not in experiment.effects:
        remedy = nearest(trial.without, experiment.effects)
        raise InputError(f"without: {experiment.name} has no effect {trial.without!r} to switch off; {remedy}")
    why = experiment.missing()
    if why:
        return Result(experiment, trial, None, skipped=why)
    begin = time.perf_counter()
    outcome = experiment.run(trial)
    return Result(experiment, trial, outcome, time.perf_counter() - begin)


def run_experiments(
    experiments: Iterable[Experiment],
    trial: Trial,
    *,
    doing: Callable[[Experiment, str], None] = lambda one, step: None,
) -> list[Result]:
    """All of them with one seed; ``doing`` is told which experiment is at which step."""
    results = []
    for experiment in experiments:
        doing(experiment, "")

        def step(text: str, experiment: Experiment = experiment) -> None:
            doing(experiment, text)

        results.append(run_experiment(experiment, replace(trial, doing=step)))
    return results
