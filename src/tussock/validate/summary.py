"""The summary: every criterion in one text table, small enough to be kept with the source."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tussock.threads import cores
from tussock.validate.numbers import number
from tussock.validate.running import Result
from tussock.version import VERSION
from tussock.whole_files import whole_file

__all__ = ["as_markdown", "write_summary"]

_HEAD = """\
# Validation

The experiments of the five papers, run again by one command. Each has criteria that are computed and can fail. Most
name effects that can be switched off, and `tests/physics/test_validate.py` shows that they fail without them; those on
size, speed and memory (`courtyard`, `blensor-scene`) name none.

<!-- in the tests: validate --out => validate phong --quick --out -->
<!-- in the tests: validate --quick => validate phong --quick -->
<!-- in the tests: grass-law => phong --quick -->
```sh
tussock validate --out report/            # everything: report.html with figures, report.json
tussock validate --quick --out quick/     # fewer pulses, same criteria
tussock validate grass-law --out grass/   # one experiment
```

See one fail:

<!-- status: 1 -->
```sh
tussock validate mixed-pixels --without cutoff --quick --out without/
```

This page is written by `tussock validate --out report/ --summary docs/validation.md --force`. Figures marked † depend
on the machine; all others come back with the same seed.
"""


def as_markdown(results: Sequence[Result]) -> str:
    criteria = [c for r in results if r.outcome for c in r.outcome.criteria]
    held = sum(c.passed for c in criteria)
    trial = results[0].trial
    lines = [
        _HEAD,
        f"Version {VERSION}, seed {trial.seed}, {'quick' if trial.quick else 'full'} run on {cores()} cores, "
        f"{sum(r.seconds for r in results):,.0f} s: {held} of {len(criteria)} criteria hold.",
        "",
    ]
    for result in results:
        experiment = result.experiment
        lines += [f"## {experiment.title}", "", f"`{experiment.name}` · {experiment.paper}", ""]
        if result.outcome is None:
            lines += [f"Skipped: {result.skipped}", ""]
            continue
        lines += ["| criterion | measured | bound | paper | |", "|---|---:|---:|---|---|"]
        for one in result.outcome.criteria:
            cells = (
                one.name + (" †" if one.machine else ""),
                f"{number(one.measured)} {one.unit}".strip(),
                one.bound,
                one.paper,
                "pass" if one.passed else "**fail**",
            )
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
        lines += [f"- {note}" for note in result.outcome.notes]
        if result.outcome.notes:
            lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def write_summary(results: Sequence[Result], path: Path, *, force: bool = False) -> None:
    with whole_file(path, force=force) as part:
        part.write_text(as_markdown(results), encoding="utf-8")
