"""Vegetation learned from scans: six targets, volumes against a surface (Deschaud et al. 2012, section VI, fig. 6).

What is fired, learned and scored is in `tussock.validate.experiments.six_targets`; here are the bounds, the sweeps over voxel
size, τ and partition, and the pictures.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.learn.fit_volumes import Method, fit_volumes
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.scan_volumes import simulate_volumes
from tussock.learn.scoring.scores import compare
from tussock.plots.report_figures import plotting
from tussock.validate.experiment import Criterion, Experiment, Figure, Outcome, Table, Trial
from tussock.validate.experiments.six_targets import TARGETS, VOXEL, TargetScore, fired, score_target

__all__ = ["EXPERIMENT"]

_SWEPT = "medium tree"
_VOXELS = (0.02, 0.05, 0.10, 0.20, 0.30)
_TAUS = (1.0, 1.5, 2.0, 3.0)
_METHODS: tuple[Method, ...] = ("voxels", "two-means", "growing")


def _run(trial: Trial) -> Outcome:
    scores: list[TargetScore] = []
    shown: dict[str, tuple[MeasuredPulses, MeasuredPulses]] = {}
    swept = None
    for name in TARGETS:
        trial.doing(name)
        train, test = fired(name, quick=trial.quick, seed=trial.seed)
        score = score_target(name, train, test, seed=trial.seed)
        if not trial.has("volumes") and score.surface is not None:
            score = replace(score, volumes=score.surface, chosen=score.surface)
        scores.append(score)
        shown[name] = (test, simulate_volumes(fit_volumes(train, voxel=VOXEL), test, seed=trial.seed))
        if name == _SWEPT:
            swept = train, test
    trial.doing("sweeps")
    assert swept is not None
    notes = [
        "The targets are ours, as the paper's trees and grass are not available: the scores stand side by side, not "
        "target by target.",
        "Each direction is sampled by nine random rays with the strongest return and 0.5 mrad of pointing jitter.",
        "Lasers 0.42° apart leave 6 cm between their rows at 8 m, more than the 4 cm of the surface's kernel: where "
        "leaves are small, the surface has holes that the paper's need not have had.",
    ]
    above = [
        f"{one.target} {one.volumes.distance:.3f} against {one.paper.volumes:g} (floor {one.floor:.3f}, at the size chosen "
        f"{one.chosen.distance:.3f})"
        for one in scores
        if one.volumes.distance > one.paper.volumes
    ]
    if above:
        notes.append(
            f"Not reached at 5 cm: {'; '.join(above)}. Our grass is not the paper's; no model can be expected below the "
            "floor."
        )
    if scores[0].surface is None:
        notes.append("The surface model was left out: PyMeshLab is not installed (pip install 'tussock[surface]').")
    return Outcome(_criteria(scores), (_table(scores), *_sweeps(*swept, trial)), (_figure(shown),), tuple(notes))


def _criteria(scores: list[TargetScore]) -> tuple[Criterion, ...]:
    vegetation = [score for score in scores if score.paper.vegetation]
    planes = next(score for score in scores if not score.paper.vegetation)
    criteria = [
        Criterion(
            "score of volumes at 5 cm, worst vegetation target",
            max(score.volumes.distance for score in vegetation),
            most=0.15,
            paper="0.054 to 0.125",
        ),
        Criterion("score of volumes at 5 cm, planes", planes.volumes.distance, most=0.10, paper="0.068"),
        Criterion(
            "score at the size that the learner chooses over the floor, worst vegetation target",
            max(score.chosen.distance / score.floor for score in vegetation),
            most=1.6,
        ),
        Criterion(
            "hit rate off at 5 cm, worst target",
            max(100 * abs(score.volumes.hit_rate_difference) for score in scores),
            "%",
            most=1.0,
        ),
    ]
    surfaces = [score.surface for score in vegetation if score.surface is not None]
    if surfaces:
        better = sum(v.volumes.distance < s.distance for v, s in zip(vegetation, surfaces, strict=True))
        criteria.append(
            Criterion("vegetation targets on which volumes beat the surface", float(better), least=5, paper="5")
        )
    return tuple(criteria)


def _table(scores: list[TargetScore]) -> Table:
    rows = [
        (
            s.target,
            None if s.surface is None else s.surface.distance,
            s.paper.surface,
            s.volumes.distance,
            s.paper.volumes,
            s.chosen.distance,
            100 * s.chosen_voxel,
            s.floor,
            s.plain.distance,
            100 * s.volumes.hit_rate_difference,
            100 * s.plain.hit_rate_difference,
            s.count,
        )
        for s in scores
    ]
    heading = (
        "target", "surface", "surface, paper", "volumes, 5 cm", "volumes, paper", "volumes, chosen size",
        "size chosen [cm]", "floor", "5 cm, one ρ each", "hit rate off [%]", "off, one ρ each [%]", "volumes of 5 cm",
    )  # fmt: skip
    return Table(
        "Bhattacharyya distance",
        heading,
        tuple(rows),
        "0 is a perfect match. The floor is the score of the learning pulses themselves: a fifth of the data, as it "
        "is; volumes can fall below it, as they fire as many pulses as the test has. One ρ each is the paper's plain "
        "rule: what slips past the shell of τ = 2 is missing from its hit rate.",
    )


def _sweeps(train: MeasuredPulses, test: MeasuredPulses, trial: Trial) -> tuple[Table, ...]:
    """Voxel size, τ and partition on one target."""

    def score(**options: Any) -> tuple[float, float, int]:
        volumes = fit_volumes(train, **{"voxel": VOXEL, **options})
        found = compare(test, simulate_volumes(volumes, test, seed=trial.seed))
        return found.distance, 100 * found.hit_rate_difference, len(volumes)

    sizes = [(100 * v, *score(voxel=v), *score(voxel=v, plain=True)[:2]) for v in _VOXELS]
    taus = [(tau, *score(tau=tau)[:2], *score(tau=tau, plain=True)[:2]) for tau in _TAUS]
    methods = [(method, *score(method=method)) for method in _METHODS]
    both = ("score", "hit rate off [%]")
    plain = ("score, one ρ each", "off, one ρ each [%]")
    return (
        Table(f"Voxel size, {_SWEPT}", ("voxel [cm]", *both, "volumes", *plain), tuple(sizes)),
        Table(
            f"τ, {_SWEPT}, 5 cm",
            ("τ", *both, *plain),
            tuple(taus),
            "With shells out to the edge of the voxel τ hardly matters; with one permeability a volume, a small τ lets "
            "pulses slip past and a large one stops those that should pass.",
        ),
        Table(f"Partition, {_SWEPT}, 5 cm", ("partition", *both, "volumes"), tuple(methods)),
    )


def _figure(shown: dict[str, tuple[MeasuredPulses, MeasuredPulses]]) -> Figure:
    with plotting(2, 6, size=(13.4, 5.0), sharex=True) as picture:
        for column, (name, pair) in enumerate(shown.items()):
            ring = np.bincount(pair[0].rings[pair[0].hit]).argmax() if pair[0].hit.any() else 0
            found = pair[0].ranges[pair[0].hit & (pair[0].rings == ring)]
            span = (np.quantile(found, 0.002) - 0.1, np.quantile(found, 0.998) + 0.1) if len(found) else (7.0, 9.0)
            for row, (pulses, what) in enumerate(zip(pair, ("real", "volumes"), strict=True)):
                axes, mine = picture.axes[row, column], pulses.hit & (pulses.rings == ring)
                half = np.rad2deg(np.abs(pulses.azimuths).max()) + 0.045
                counts = _histogram(pulses, mine, span, half)
                image = np.ma.masked_equal(np.log1p(counts.T), 0)  # white where nothing came back
                axes.imshow(image, origin="lower", aspect="auto", cmap="magma_r", vmin=-1, extent=(-half, half, *span))
                axes.set_title(f"{name}, {what}", fontsize=8)
                axes.grid(False)
        for axes in picture.axes[-1]:
            axes.set_xlabel("azimuth [°]")
        for axes in picture.axes[:, 0]:
            axes.set_ylabel("range [m]")
    return Figure(
        "Histograms over angle and range of one laser, as fig. 6 of the paper",
        picture.png,
        "Above the test pulses, below the same pulses fired into volumes of 5 cm; darker is more often.",
    )


def _histogram(
    pulses: MeasuredPulses, mine: NDArray[np.bool_], span: tuple[float, float], half: float
) -> NDArray[np.float64]:
    edges = [np.linspace(-half, half, round(half / 0.045)), np.linspace(*span, 90)]
    return np.histogram2d(np.rad2deg(pulses.azimuths[mine]), pulses.ranges[mine], edges)[0]


EXPERIMENT = Experiment(
    name="learned-vegetation",
    title="Vegetation learned from scans",
    paper="Deschaud et al. 2012, section VI, fig. 6",
    setup=(
        "Six targets 8 m from an HDL-64E, 1,500 pulses in each of 180 directions (80 in a quick run), a fifth of them "
        "to learn from. Volumes of 5 cm, volumes of the size that foretells held-out learning pulses best, and a "
        "surface model (RIMLS and marching cubes) fire the other pulses again; histograms over angle (0.09°) and "
        "range (2 mm) are compared. Sweeps over voxel size, τ and partition."
    ),
    run=_run,
    effects={"volumes": "the surface model instead of the volumes"},
)
