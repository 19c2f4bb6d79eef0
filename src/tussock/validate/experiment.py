"""An experiment: what is set up, what is measured, and what would make it fail.

Every experiment lives in a module of its own, which ends in ``EXPERIMENT = Experiment(...)``. Its run gives an
`Outcome`: criteria with a measured figure and a bound, tables, figures and notes. An experiment also names the
effects that it proves; run without one of them, at least one of its criteria must fail. That is how the tests
know that the criteria can fail.

What depends on the machine (times, memory) is kept apart from what depends on the seed alone, so that two runs
with one seed can be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from tussock.errors import InputError, nearest
from tussock.validate.numbers import number

__all__ = ["Criterion", "Experiment", "Figure", "Outcome", "Table", "Trial", "experiment_names", "load_experiment"]

_HOMES = {
    "grass-law": "grass_law",
    "mixed-pixels": "mixed_pixels",
    "shrub": "shrub",
    "hdl-64e": "hdl64",
    "courtyard": "courtyard",
    "autonomy": "autonomy",
    "blensor-scene": "blensor_scene",
    "blensor-effects": "blensor_effects",
    "phong": "phong",
    "tagged-vegetation": "tagged_vegetation",
    "packets": "packets",
    "learned-vegetation": "learned_vegetation",
    "volume-transfer": "volume_transfer",
    "learned-drive": "learned_drive",
    "recorded-place": "recorded_place",
    "receiver": "receiver",
    "weather": "weather",
    "wind": "wind",
    "reproducibility": "reproducibility",
}
"""name of the experiment: its module, in the order of the report"""


@dataclass(frozen=True)
class Trial:
    """How an experiment is run."""

    quick: bool = False
    """fewer pulses and smaller scenes, same criteria"""
    seed: int = 0
    without: str | None = None
    """an effect to switch off: the experiment is then expected to fail"""
    doing: Callable[[str], None] = field(default=lambda step: None)
    """told what is under way"""

    def has(self, effect: str) -> bool:
        return self.without != effect


@dataclass(frozen=True)
class Criterion:
    """One figure against its bounds; at least one bound is given."""

    name: str
    measured: float
    unit: str = ""
    least: float | None = None
    most: float | None = None
    paper: str = ""
    """what the paper reports, in its own words or numbers"""
    machine: bool = False
    """whether the figure depends on the machine: a time, a rate, memory"""

    def __post_init__(self) -> None:
        if self.least is None and self.most is None:
            raise InputError(f"criterion {self.name!r}: needs a bound")

    @property
    def passed(self) -> bool:
        """A figure that is not a number passes nothing."""
        above = self.least is None or self.measured >= self.least
        return bool(above and (self.most is None or self.measured <= self.most) and self.measured == self.measured)

    @property
    def bound(self) -> str:
        """The bounds in words: ``≤ 0.1``, ``1 to 2``."""
        low, high = (None if bound is None else number(bound) for bound in (self.least, self.most))
        if low is not None and high is not None:
            text = low if low == high else f"{low} to {high}"
        else:
            text = f"≤ {high}" if high is not None else f"≥ {low}"
        return f"{text} {self.unit}".strip()


@dataclass(frozen=True)
class Table:
    title: str
    heading: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    """numbers, texts or None, one for each heading"""
    reading: str = ""
    machine: bool = False
    """whether any of its figures depends on the machine"""


@dataclass(frozen=True)
class Figure:
    title: str
    png: bytes
    reading: str
    """one line: what to see in it"""


@dataclass(frozen=True)
class Outcome:
    criteria: tuple[Criterion, ...]
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    notes: tuple[str, ...] = ()
    """what differs from the paper, and why"""

    @property
    def passed(self) -> bool:
        return all(criterion.passed for criterion in self.criteria)


@dataclass(frozen=True)
class Experiment:
    name: str
    title: str
    paper: str
    """authors, year, section"""
    setup: str
    """what is built and measured, in a few sentences"""
    run: Callable[[Trial], Outcome]
    effects: dict[str, str] = field(default_factory=dict)
    """what can be switched off, and what that means"""
    missing: Callable[[], str | None] = field(default=lambda: None)
    """why it cannot run here (a recording is absent), or None"""


def experiment_names() -> tuple[str, ...]:
    """All experiments, in the order of the report."""
    return tuple(_HOMES)


def load_experiment(name: str) -> Experiment:
    if name not in _HOMES:
        raise InputError(f"experiment {name!r}: no such experiment; {nearest(name, _HOMES)}")
    experiment = import_module(f"tussock.validate.experiments.{_HOMES[name]}").EXPERIMENT
    assert isinstance(experiment, Experiment)
    assert experiment.name == name
    return experiment
