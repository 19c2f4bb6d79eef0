"""The report: one HTML page that needs nothing else, and the same figures as JSON.

In the JSON everything that the seed decides stands under ``experiments``, and everything that the machine decides
(times, rates, memory) under ``machine``: two runs with one seed and one version are equal but for the latter.
"""

from __future__ import annotations

import base64
import datetime
import html
import json
import platform
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from tussock.plots.report_figures import DPI
from tussock.threads import cores
from tussock.validate.experiment import Criterion, Figure, Table
from tussock.validate.numbers import number
from tussock.validate.running import Result
from tussock.version import VERSION
from tussock.whole_files import whole_file

__all__ = ["as_html", "as_json", "write_report"]


def write_report(results: Sequence[Result], folder: Path, *, force: bool = False) -> tuple[Path, Path]:
    """Write ``report.html`` and ``report.json`` into a folder; their paths."""
    page, data = folder / "report.html", folder / "report.json"
    with whole_file(page, force=force) as path:
        path.write_text(as_html(results), encoding="utf-8")
    with whole_file(data, force=force) as path:
        path.write_text(json.dumps(as_json(results), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return page, data


def as_json(results: Sequence[Result]) -> dict[str, Any]:
    seeded, machine = {}, {}
    for result in results:
        name, outcome = result.experiment.name, result.outcome
        entry: dict[str, Any] = {
            "title": result.experiment.title,
            "paper": result.experiment.paper,
            "seed": result.trial.seed,
            "quick": result.trial.quick,
        }
        own: dict[str, Any] = {"seconds": result.seconds}
        if result.trial.without:
            entry["without"] = result.trial.without
        if outcome is None:
            entry["skipped"] = result.skipped
        else:
            for into, where in ((entry, False), (own, True)):
                into["criteria"] = [_criterion(c) for c in outcome.criteria if c.machine == where]
                into["tables"] = [_table(t) for t in outcome.tables if t.machine == where]
            entry["notes"] = list(outcome.notes)
        seeded[name], machine[name] = entry, own
    about = {"cores": cores(), "system": platform.platform(), "python": platform.python_version()}
    return {
        "version": VERSION,
        "experiments": seeded,
        "machine": {"about": about, "date": _today(), "experiments": machine},
    }


def _criterion(one: Criterion) -> dict[str, Any]:
    return {
        "name": one.name,
        "measured": _plain(one.measured),
        "bound": one.bound,
        "passed": one.passed,
        "paper": one.paper,
    }


def _table(one: Table) -> dict[str, Any]:
    rows = [dict(zip(one.heading, map(_plain, row), strict=True)) for row in one.rows]
    return {"title": one.title, "rows": rows}


def _plain(value: Any) -> Any:
    """NumPy's numbers as Python's; what JSON has no word for as None."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if isinstance(value, float) and not np.isfinite(value) else value


def _today() -> str:
    return datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC")


def as_html(results: Sequence[Result]) -> str:
    style = (files("tussock.validate") / "report.css").read_text(encoding="utf-8")
    criteria = [c for r in results if r.outcome for c in r.outcome.criteria]
    failed = sum(not c.passed for c in criteria)
    skipped = sum(r.outcome is None for r in results)
    verdict = f"{len(criteria) - failed} of {len(criteria)} criteria hold"
    if skipped:
        verdict += f"; {skipped} experiment{'s' if skipped > 1 else ''} skipped"
    quick = any(r.trial.quick for r in results)
    seconds = sum(r.seconds for r in results)
    facts = [
        f"Tussock {VERSION}",
        f"seed {results[0].trial.seed}" if results else "",
        "quick run" if quick else "full run",
        f"{seconds:,.0f} s on {cores()} cores",
        _today(),
    ]
    parts = [
        "<!doctype html><html lang='en'><head><meta charset='utf-8'>",
        "<meta name='viewport' content='width=device-width, initial-scale=1'>",
        f"<title>Tussock: the papers' experiments</title><style>{style}</style></head><body><main>",
        "<header><p class='over'>Tussock validation report</p>",
        "<h1>The experiments of five papers, run again</h1>",
        f"<p class='verdict {'bad' if failed else 'good'}'>{_text(verdict)}</p>",
        f"<p class='facts'>{_text(' · '.join(fact for fact in facts if fact))}</p></header>",
        _summary(results),
        *(_section(result) for result in results),
        "<footer>Bounds are Tussock's own criteria; “paper” is what the paper reports. Figures that depend on the "
        "machine are marked †. <code>report.json</code> beside this page holds the same numbers.</footer>",
        "</main></body></html>",
    ]
    return "\n".join(parts)


def _text(words: str) -> str:
    return html.escape(words, quote=False)


def _mark(passed: bool | None) -> str:
    if passed is None:
        return "<span class='mark none'>skipped</span>"
    return "<span class='mark good'>pass</span>" if passed else "<span class='mark bad'>fail</span>"


def _summary(results: Sequence[Result]) -> str:
    rows = []
    for result in results:
        experiment, outcome = result.experiment, result.outcome
        held = "" if outcome is None else f"{sum(c.passed for c in outcome.criteria)} of {len(outcome.criteria)}"
        rows.append(
            f"<tr><td><a href='#{experiment.name}'>{_text(experiment.title)}</a></td>"
            f"<td class='soft'>{_text(experiment.paper)}</td><td class='n'>{held}</td>"
            f"<td class='n'>{result.seconds:.1f} "
            f"s</td><td>{_mark(None if outcome is None else outcome.passed)}</td></tr>"
        )
    head = "<tr><th>experiment</th><th>paper</th><th class='n'>criteria</th><th class='n'>time</th><th></th></tr>"
    return f"<table class='summary'><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _section(result: Result) -> str:
    experiment, outcome = result.experiment, result.outcome
    passed = None if outcome is None else outcome.passed
    parts = [
        f"<section id='{experiment.name}'><h2>{_text(experiment.title)} {_mark(passed)}</h2>",
        f"<p class='paper'>{_text(experiment.paper)}</p><p>{_text(experiment.setup)}</p>",
    ]
    if result.trial.without:
        parts.append(f"<p class='warn'>Run without {_text(experiment.effects[result.trial.without])}</p>")
    if outcome is None:
        parts.append(f"<p class='warn'>Skipped: {_text(result.skipped)}</p>")
    else:
        parts.append(_criteria(outcome.criteria))
        parts += [_figure(figure) for figure in outcome.figures]
        parts += [_as_table(table) for table in outcome.tables]
        if outcome.notes:
            parts.append("<div class='notes'>" + "".join(f"<p>{_text(note)}</p>" for note in outcome.notes) + "</div>")
    facts = f"<code>tussock validate {experiment.name}</code> · seed {result.trial.seed} · {result.seconds:.1f} s"
    parts.append(f"<p class='facts'>{facts} · version {VERSION}</p></section>")
    return "".join(parts)


def _criteria(criteria: Sequence[Criterion]) -> str:
    rows = "".join(
        f"<tr><td>{_text(one.name)}{' †' if one.machine else ''}</td>"
        f"<td class='n'><b>{_text(number(one.measured))}</b>{f' {_text(one.unit)}' if one.unit else ''}</td>"
        f"<td class='n'>{_text(one.bound)}</td><td "
        f"class='soft'>{_text(one.paper)}</td><td>{_mark(one.passed)}</td></tr>"
        for one in criteria
    )
    head = "<tr><th>criterion</th><th class='n'>measured</th><th class='n'>bound</th><th>paper</th><th></th></tr>"
    return f"<table class='criteria'><thead>{head}</thead><tbody>{rows}</tbody></table>"


def _figure(figure: Figure) -> str:
    data = base64.b64encode(figure.png).decode("ascii")
    # A PNG says its width in bytes 16 to 19; shown at 96 dots an inch, all figures have the same size of type.
    width = int.from_bytes(figure.png[16:20], "big") * 96 // DPI
    return (
        f"<figure><img alt='{html.escape(figure.title)}' style='width:{width}px' src='data:image/png;base64,{data}'>"
        f"<figcaption><b>{_text(figure.title)}.</b> {_text(figure.reading)}</figcaption></figure>"
    )


def _as_table(table: Table) -> str:
    numeric = [
        all(not isinstance(row[i], str) for row in table.rows) and bool(table.rows) for i in range(len(table.heading))
    ]
    head = "".join(
        f"<th{' class=n' if n else ''}>{_text(word)}</th>" for word, n in zip(table.heading, numeric, strict=True)
    )
    rows = "".join(
        "<tr>"
        + "".join(
            f"<td{' class=n' if n else ''}>{_text(number(cell))}</td>" for cell, n in zip(row, numeric, strict=True)
        )
        + "</tr>"
        for row in table.rows
    )
    mark = " †" if table.machine else ""
    reading = f" {_text(table.reading)}" if table.reading else ""
    return (
        f"<div class='wide'><p class='caption'><b>{_text(table.title)}{mark}.</b>{reading}</p>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
