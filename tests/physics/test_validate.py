"""The papers' experiments hold, and each of their criteria can fail."""

from __future__ import annotations

import json
import math
import re
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from stand_monte_carlo import mean_range_depths, nine_slopes
from typer.testing import CliRunner

from tussock.cli.app import app
from tussock.errors import InputError
from tussock.validate.experiment import Criterion, Outcome, Trial, experiment_names, load_experiment
from tussock.validate.experiments import grass_law
from tussock.validate.experiments.reproducibility import differences
from tussock.validate.experiments.shrub import peaks
from tussock.validate.experiments.vegetation_like import like_vegetation
from tussock.validate.report import as_html, as_json
from tussock.validate.running import Result, run_experiment
from tussock.validate.summary import as_markdown

QUICK = Trial(quick=True, seed=0)
EFFECTS = [(name, effect) for name in experiment_names() for effect in load_experiment(name).effects]


def marks_of(name: str) -> list[pytest.MarkDecorator]:
    """Experiments after recordings are also tried without them."""
    return [pytest.mark.recordings] if name in {"hdl-64e", "recorded-place"} else []


@cache
def result_of(name: str) -> Result:
    return run_experiment(load_experiment(name), QUICK)


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """Every experiment, run once for all tests of this file."""
    return {name: result_of(name) for name in experiment_names()}


@pytest.mark.parametrize("name", [pytest.param(name, marks=marks_of(name)) for name in experiment_names()])
def test_criteria_hold(name: str) -> None:
    result = result_of(name)
    if result.outcome is None:
        pytest.skip(result.skipped)
    assert result.outcome.criteria
    for criterion in result.outcome.criteria:
        assert np.isfinite(criterion.measured), criterion.name
        # Times depend on what else the machine does: they belong to the report, not to a test.
        assert criterion.passed or criterion.machine, f"{criterion.name}: {criterion.measured}, {criterion.bound}"


@pytest.mark.parametrize(
    ("name", "effect"),
    [pytest.param(name, effect, id=f"{name}-{effect}", marks=marks_of(name)) for name, effect in EFFECTS],
)
def test_criteria_fail_without_the_effect(name: str, effect: str) -> None:
    if name == "learned-vegetation" and find_spec("pymeshlab") is None:
        pytest.skip("PyMeshLab, which makes a surface, is not installed: pip install 'tussock[surface]'")
    result = run_experiment(load_experiment(name), Trial(quick=True, seed=0, without=effect))
    if result.outcome is None:
        pytest.skip(result.skipped)
    assert not all(c.passed for c in result.outcome.criteria if not c.machine)


@pytest.mark.parametrize("measured", [math.inf, -math.inf, math.nan])
def test_what_is_not_there_is_reported(measured: float) -> None:
    """Without fog there is no false peak: the report says so, and its criterion does not hold."""
    criterion = Criterion("place of the false peak", measured, "%", least=-1.0, most=2.0)
    assert not criterion.passed
    result = Result(load_experiment("weather"), QUICK, Outcome((criterion,)))
    assert criterion.name in as_html([result])
    assert criterion.name in as_markdown([result])
    json.dumps(as_json([result]), allow_nan=False)


def test_enough_effects_are_switched_off() -> None:
    assert len(EFFECTS) >= 6


def test_unknown_effect_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'cutoff'"):
        run_experiment(load_experiment("mixed-pixels"), Trial(without="cutof"))


def test_every_figure_can_be_read(results: dict[str, Result]) -> None:
    for result in results.values():
        for figure in result.outcome.figures if result.outcome else ():
            assert figure.png.startswith(b"\x89PNG")
            assert figure.title
            assert figure.reading.endswith(".")


def test_report_stands_alone(results: dict[str, Result]) -> None:
    page = as_html(list(results.values()))
    assert "src='data:image/png;base64," in page
    assert not re.search(r"(src|href)=['\"](?!data:|#)", page), "nothing is loaded from elsewhere"
    for name, result in results.items():
        assert f"id='{name}'" in page
        assert result.experiment.paper.replace("&", "&amp;") in page


def test_machine_figures_are_kept_apart(results: dict[str, Result]) -> None:
    document = as_json(list(results.values()))
    json.dumps(document, allow_nan=False)
    for name, result in results.items():
        if result.outcome is None:
            continue
        seeded = {c["name"] for c in document["experiments"][name]["criteria"]}
        assert seeded == {c.name for c in result.outcome.criteria if not c.machine}
        assert "seconds" not in document["experiments"][name]


def test_summary_lists_every_criterion(results: dict[str, Result]) -> None:
    text = as_markdown(list(results.values()))
    for result in results.values():
        for criterion in result.outcome.criteria if result.outcome else ():
            assert criterion.name in text


@pytest.mark.parametrize("case", grass_law.CASES, ids=str)
def test_mean_depths_come_from_the_monte_carlo(case: grass_law.Case) -> None:
    """The table in the experiment is that of the 2-D Monte Carlo, within 4 standard errors of a smaller run."""
    depths = mean_range_depths(*case, nine_slopes(grass_law.DIVERGENCE), pulses=15_000, seed=99)
    error = depths.std() / np.sqrt(len(depths))
    assert abs(depths.mean() - grass_law.MONTE_CARLO_MEAN[case]) < 4 * error + 0.003 * depths.mean()


def test_laws_are_distributions_with_the_densities_of_the_paper() -> None:
    case = grass_law.CASES[0]
    depth = np.linspace(1e-3, 5, 4000)
    for law in (grass_law.gamma_law, grass_law.exponential_law):
        share = law(case, depth)
        assert (np.diff(share) > 0).all()
        assert share[-1] == pytest.approx(1)
    # eq (5) before it is cut: its ratio between two depths is that of the law's slope
    shape, rate = 1 + 1e-3 * 400, 50 * 0.01
    density = depth ** (shape - 1) * np.exp(-shape * rate * depth)
    slope = np.gradient(grass_law.gamma_law(case, depth), depth)
    middle = slice(200, 3800)
    assert np.ptp(slope[middle] / density[middle]) < 1e-3 * slope.max()


def test_kolmogorov_smirnov_is_scipys() -> None:
    from scipy.stats import kstest

    sample = np.sort(np.random.default_rng(3).exponential(size=500))
    law = 1 - np.exp(-sample / 1.1)
    expected = kstest(sample, lambda x: 1 - np.exp(-x / 1.1)).statistic
    assert grass_law.kolmogorov_smirnov(sample, law) == pytest.approx(expected)


@pytest.mark.parametrize(("apart", "expected"), [(0.0, 1), (0.05, 1), (0.3, 2)])
def test_peaks_are_told_apart(apart: float, expected: int) -> None:
    rng = np.random.default_rng(1)
    ranges = np.concatenate([rng.normal(8, 0.05, 20_000), rng.normal(8 + apart, 0.05, 15_000)])
    assert len(peaks(ranges)[2]) == expected


def test_what_spreads_above_the_ground_is_like_vegetation() -> None:
    rng = np.random.default_rng(5)
    ground = np.stack([*rng.uniform(-10, 10, (2, 40_000)), rng.normal(-2, 0.01, 40_000)], 1)
    wall = np.stack([rng.normal(8.2, 0.01, 9000), rng.uniform(-5, 5, 9000), rng.uniform(-2, 2, 9000)], 1)
    pole = np.stack([*rng.normal(3.2, 0.02, (2, 900)), rng.uniform(-2, 2, 900)], 1)
    bush = np.array([-5.2, 2.2, -0.7]) + rng.uniform(-0.6, 0.6, (3000, 3))
    grass = np.stack([*rng.uniform(-9, -8, (2, 3000)), rng.uniform(-2, -1.8, 3000)], 1)
    parts = [ground, wall, pole, bush, grass]
    found = np.split(like_vegetation(np.concatenate(parts)), np.cumsum([len(part) for part in parts])[:-1])
    assert [round(float(part.mean()), 1) for part in found] == [0, 0, 0, 1, 0]


def test_a_recording_that_is_absent_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TUSSOCK_RECORDINGS", str(tmp_path))
    result = run_experiment(load_experiment("recorded-place"), QUICK)
    assert result.outcome is None
    assert result.skipped.startswith("velodyne/vls128_static/packets.pcap is absent; set TUSSOCK_RECORDINGS")
    assert "Skipped: velodyne" in as_markdown([result])


def test_criterion_bounds() -> None:
    assert Criterion("a", 1.0, most=1.0).passed
    assert not Criterion("a", 1.1, most=1.0).passed
    assert not Criterion("a", float("nan"), most=1.0).passed
    assert Criterion("a", 3.0, least=3, most=3).bound == "3"
    assert Criterion("a", 3.0, "m", least=2, most=4).bound == "2 to 4 m"
    with pytest.raises(InputError, match="needs a bound"):
        Criterion("a", 1.0)


def test_differences_are_found_anywhere() -> None:
    one = {"a": [1, {"b": 2}], "c": "x"}
    assert differences(one, json.loads(json.dumps(one))) == []
    assert differences(one, {"a": [1, {"b": 3}], "c": "x"}) == [".a[1].b"]
    assert differences(one, {"a": [1], "c": "x"}) == [".a"]


def test_command_writes_a_report_and_its_status(tmp_path: Path) -> None:
    out, summary = tmp_path / "report", tmp_path / "validation.md"
    arguments = ["validate", "mixed-pixels", "--quick", "--out", str(out), "--summary", str(summary)]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "mixed-pixels" in summary.read_text(encoding="utf-8")
    assert {path.name for path in out.iterdir()} == {"report.html", "report.json"}
    again = CliRunner().invoke(app, arguments)
    assert "exists already" in str(again.exception)
    failed = CliRunner().invoke(app, [*arguments, "--force", "--without", "beam"])
    assert failed.exit_code == 1
    assert "FAIL" in failed.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["grass-lore"], "did you mean 'grass-law'"),
        (["--without", "beam"], "name the one experiment"),
        (["mixed-pixels", "--without", "bean"], "did you mean 'beam'"),
        (["--seed", "-1"], "seed"),
    ],
)
def test_command_refuses_in_one_line(arguments: list[str], words: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["validate", *arguments, "--quick", "--out", str(tmp_path / "report")])
    assert isinstance(done.exception, InputError)
    assert words in str(done.exception)


def test_command_lists_the_experiments() -> None:
    done = CliRunner().invoke(app, ["validate", "--list"])
    assert done.exit_code == 0
    assert all(name in done.output for name in experiment_names())
