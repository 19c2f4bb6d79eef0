"""The same seed, the same figures: experiments run twice, and their JSON compared number by number.

The second time everything runs on a single thread. Times, rates and memory are kept apart in the report and are not
compared; every other number and text must come back exactly.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tussock.validate.experiment import Criterion, Experiment, Outcome, Table, Trial, experiment_names, load_experiment
from tussock.validate.report import as_json
from tussock.validate.running import run_experiment

__all__ = ["EXPERIMENT", "differences"]

_CHEAP = ("mixed-pixels", "hdl-64e", "blensor-effects", "phong")
"""what a quick run repeats; a full run repeats all"""


def differences(one: Any, other: Any, where: str = "") -> list[str]:
    """Paths of all values that differ between two JSON documents."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = sorted(one.keys() | other.keys())
        return [d for key in keys for d in differences(one.get(key), other.get(key), f"{where}.{key}")]
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        pairs = enumerate(zip(one, other, strict=True))
        return [d for at, (a, b) in pairs for d in differences(a, b, f"{where}[{at}]")]
    return [] if one == other else [where]


def leaves(document: Any) -> int:
    """How many values a JSON document holds."""
    if isinstance(document, dict):
        return sum(map(leaves, document.values()))
    return sum(map(leaves, document)) if isinstance(document, list) else 1


@contextmanager
def on_threads(count: int) -> Iterator[None]:
    """Run on ``count`` threads whatever was asked for."""
    before = os.environ.get("TUSSOCK_THREADS")
    os.environ["TUSSOCK_THREADS"] = str(count)
    try:
        yield
    finally:
        if before is None:
            del os.environ["TUSSOCK_THREADS"]
        else:
            os.environ["TUSSOCK_THREADS"] = before


def seeded(name: str, trial: Trial) -> Any:
    """The part of an experiment's JSON that the seed decides, as a reader of the file gets it."""
    document = as_json([run_experiment(load_experiment(name), trial)])
    entry = json.loads(json.dumps(document["experiments"]))[name]
    entry.pop("seed")
    return entry


def _run(trial: Trial) -> Outcome:
    names = _CHEAP if trial.quick else [name for name in experiment_names() if name != "reproducibility"]
    rows, differ = [], 0
    for name in names:
        trial.doing(name)
        first = seeded(name, Trial(quick=True, seed=trial.seed))
        again = Trial(quick=True, seed=trial.seed if trial.has("seed") else trial.seed + 1)
        with on_threads(1):
            second = seeded(name, again)
        unlike = differences(first, second)
        differ += len(unlike)
        rows.append((name, leaves(first), len(unlike), unlike[0] if unlike else "–"))
    criteria = (
        Criterion("values that differ between two runs with one seed", float(differ), most=0),
        Criterion("values compared", float(sum(row[1] for row in rows)), least=100),
    )
    table = Table("Values compared", ("experiment", "values", "different", "the first of them"), tuple(rows))
    return Outcome(criteria, (table,))


EXPERIMENT = Experiment(
    name="reproducibility",
    title="The same seed, the same figures",
    paper="Gschwandtner et al. 2011 (BlenSor), section 5.1",
    setup=(
        "The experiments of this report (the short ones in a quick run) run twice with the same seed, the second "
        "time on "
        "a single thread. Everything in their JSON but times, rates and memory is compared."
    ),
    run=_run,
    effects={"seed": "another seed the second time"},
)
