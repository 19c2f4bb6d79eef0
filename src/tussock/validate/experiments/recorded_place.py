"""A real place, learned from two revolutions and foretold for the third (Deschaud et al. 2012, sections V.B and VI.B).

A VLS-128 stood beside a road with hedges and trees. Its first two revolutions are learned as volumes, and as a surface
to compare with; both then fire the pulses of the third revolution, those without return included, along their own
directions. What they give is compared with what the sensor measured, in the whole place and in the directions that look
at something like vegetation (`tussock.validate.experiments.vegetation_like` says which).

The floor is the second revolution against the third: a model that knew the place perfectly would score about as much,
as it draws its own chance where the sensor had its. The surface is made of the returns within 50 m, as a fine one of the
whole place takes minutes; where it is compared, whatever ends farther off counts as no return.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.learn.dead_lasers import dead_rings
from tussock.learn.fit_volumes import fit_volumes
from tussock.learn.measured_pulses import MeasuredPulses
from tussock.learn.readers.read_pulses import load_pulses
from tussock.learn.scan_volumes import simulate_volumes
from tussock.learn.scoring.scores import QUANTILES, Score, compare
from tussock.learn.surface import scan_surface, surface_mesh
from tussock.plots.report_figures import BLUE, GREY, INK, ORANGE, plotting
from tussock.scene.volumes import Volumes
from tussock.validate.experiment import Criterion, Experiment, Figure, Outcome, Table, Trial
from tussock.validate.experiments.vegetation_like import towards_vegetation
from tussock.validate.recordings import absent, recording

__all__ = ["CAPTURE", "EXPERIMENT"]

CAPTURE = "velodyne/vls128_static/packets.pcap"
PAPER_VOXEL = 0.3
"""[m] for a whole place (Deschaud et al. 2012, section VI.B)"""
_CELL, _KERNEL = 0.3, 0.4  # [m] of the surface, as in the paper
_NEAR = 50.0  # [m] as far as the surface goes
_SIZES = (0.1, 0.2, 0.3, 0.5)  # [m]
_ANGLE_BIN, _RANGE_BIN = float(np.deg2rad(2.0)), 0.25
_QUICK_SECTOR = np.deg2rad([60.0, 180.0])
"""to the left of the sensor: a hedge along the road, round trees behind it, a building"""
_STRIP = (-29.0, -19.0)
"""[m] of x: three round trees, drawn from the side"""
_VIEW = 35.0  # [m] to each side, drawn from above


@dataclass(frozen=True)
class _Foretold:
    """One way to foretell the third revolution, and its score in each area."""

    name: str
    pulses: MeasuredPulses
    scores: dict[str, Score]


WHOLE, NEAR, VEGETATION = "whole", f"within {_NEAR:g} m", f"vegetation within {_NEAR:g} m"


def _missing() -> str | None:
    if recording(CAPTURE) is None:
        return absent(CAPTURE)
    if find_spec("velodyne_decoder") is None:
        return "velodyne-decoder is not installed (pip install 'tussock[capture]')"
    return None


def _revolutions(trial: Trial) -> tuple[MeasuredPulses, MeasuredPulses, int]:
    """Two to learn from, and the third, without lasers that are dead, and how many those are.

    In a quick run a third of the way around.
    """
    path = recording(CAPTURE)
    assert path is not None
    pulses = load_pulses(path, turns=(0, 1, 2))
    dead = dead_rings(pulses)
    pulses = pulses.select(~np.isin(pulses.rings, dead))
    if trial.quick:
        pulses = pulses.select((pulses.azimuths >= _QUICK_SECTOR[0]) & (pulses.azimuths < _QUICK_SECTOR[1]))
    return pulses.select(pulses.turns < 2), pulses.select(pulses.turns == 2), len(dead)


def _within(pulses: MeasuredPulses) -> MeasuredPulses:
    """What ends farther off than `_NEAR` counts as no return."""
    return replace(pulses, ranges=np.where(pulses.ranges < _NEAR, pulses.ranges, np.nan))


def _learned(past: MeasuredPulses, voxel: float, trial: Trial, *, plain: bool = False) -> Volumes:
    if not trial.has("misses"):
        past = past.select(past.hit)
    volumes = fit_volumes(past, voxel=voxel, plain=plain)
    if not trial.has("permeability"):
        volumes = replace(volumes, shells=np.zeros_like(volumes.shells))
    return volumes


def _scorer(past: MeasuredPulses, later: MeasuredPulses) -> Callable[[str, MeasuredPulses], _Foretold]:
    """What scores a revolution against the real one, area by area."""
    green = towards_vegetation(past, later)
    near = _within(later)

    def scored(name: str, pulses: MeasuredPulses) -> _Foretold:
        mask = green if pulses.azimuths is later.azimuths else towards_vegetation(past, pulses)
        cut = _within(pulses)
        scores = {
            WHOLE: _score(later, pulses),
            NEAR: _score(near, cut),
            VEGETATION: _score(near.select(green), cut.select(mask)),
        }
        return _Foretold(name, pulses, scores)

    return scored


def _score(real: MeasuredPulses, other: MeasuredPulses) -> Score:
    return compare(real, other, angle_bin=_ANGLE_BIN, range_bin=_RANGE_BIN)


def _run(trial: Trial) -> Outcome:
    trial.doing("reading the capture")
    past, later, dead = _revolutions(trial)
    scored = _scorer(past, later)
    floor = scored("floor: the second revolution", past.select(past.turns == 1))
    trial.doing("volumes")
    learned = {size: _learned(past, size, trial) for size in _SIZES}
    sizes = {size: scored(f"volumes of {100 * size:g} cm", _fired(one, later, trial)) for size, one in learned.items()}
    volumes = sizes[PAPER_VOXEL]
    plain = _learned(past, PAPER_VOXEL, trial, plain=True)
    models = [volumes, scored(f"{100 * PAPER_VOXEL:g} cm, one ρ each", _fired(plain, later, trial))]
    surface = None
    if find_spec("pymeshlab") is not None:
        trial.doing("surface")
        mesh = surface_mesh(past.select(past.ranges < _NEAR), cell=_CELL, kernel=_KERNEL)
        surface = scored("surface", scan_surface(mesh, later, seed=trial.seed))
        models.append(surface)
    trial.doing("drawing")
    drawn = [replace(volumes, name="measured", pulses=later), *([volumes, surface] if surface else [volumes])]
    counts = {size: len(one) for size, one in learned.items()}
    return Outcome(
        _criteria(volumes, surface, floor),
        (_table([*models, floor]), _size_table(sizes, counts)),
        (_views(drawn), _ranges(drawn, towards_vegetation(past, later))),
        _notes(surface, later, volumes, dead),
    )


def _fired(volumes: Volumes, later: MeasuredPulses, trial: Trial) -> MeasuredPulses:
    return simulate_volumes(volumes, later, seed=trial.seed)


def _criteria(volumes: _Foretold, surface: _Foretold | None, floor: _Foretold) -> tuple[Criterion, ...]:
    criteria = []
    for area in (WHOLE, VEGETATION):
        mine, least = volumes.scores[area], floor.scores[area]
        criteria += [
            Criterion(f"score of volumes over the floor, {area}", mine.distance / least.distance, most=1.6),
            Criterion(f"hit rate off, {area}", 100 * abs(mine.hit_rate_difference), "%", most=1.0),
        ]
    score = volumes.scores[VEGETATION]
    off = score.quantile_differences[2] / score.real_quantiles[2]
    criteria.append(Criterion(f"median range off, {VEGETATION}", 100 * abs(off), "%", most=5.0))
    if surface is not None:
        share = volumes.scores[VEGETATION].distance / surface.scores[VEGETATION].distance
        criteria.append(Criterion(f"score of volumes over that of the surface, {VEGETATION}", share, most=0.5))
    return tuple(criteria)


def _table(models: list[_Foretold]) -> Table:
    rows = []
    for area in (WHOLE, NEAR, VEGETATION):
        for model in models:
            if area == WHOLE and model.name == "surface":
                continue
            score = model.scores[area]
            off = [_rounded(100 * apart, 1) for apart in score.quantile_differences]
            rows.append(
                (area, model.name, score.distance, 100 * score.simulated_hit_rate,
                 _rounded(100 * score.hit_rate_difference), *off, score.simulated_pulses)
            )  # fmt: skip
    heading = (
        "area", "foretold by", "score", "hit rate [%]", "off [%]",
        *(f"{100 * share:g} % of ranges off [cm]" for share in QUANTILES), "pulses",
    )  # fmt: skip
    return Table(
        "The third revolution, foretold",
        heading,
        tuple(rows),
        "Bhattacharyya distance (bins of 2° and 25 cm) and what is off, against the real third revolution. One ρ each "
        "is the paper's plain rule.",
    )


def _rounded(value: float, digits: int = 2) -> float:
    """As many digits as mean something, and no −0."""
    return round(value, digits) + 0.0


def _size_table(sizes: dict[float, _Foretold], counts: dict[float, int]) -> Table:
    rows = []
    for size, model in sizes.items():
        whole, green = model.scores[WHOLE], model.scores[VEGETATION]
        rows.append(
            (100 * size, whole.distance, _rounded(100 * whole.hit_rate_difference), green.distance,
             _rounded(100 * green.hit_rate_difference), counts[size])
        )  # fmt: skip
    return Table(
        "Voxel size",
        ("voxel [cm]", "score, whole", "hit rate off [%]", "score, vegetation", "hit rate off [%]", "volumes"),
        tuple(rows),
        "Small voxels know more of what is near. Far off they lie apart, as the sensor's own pulses do, and pulses slip "
        "between them.",
    )


def _notes(surface: _Foretold | None, later: MeasuredPulses, volumes: _Foretold, dead: int) -> tuple[str, ...]:
    share = volumes.scores[VEGETATION].real_pulses / len(later)
    notes = [
        "The paper shows its mobile data as pictures and gives no score of a whole place, so there is none beside ours.",
        f"{100 * share:.0f} % of the pulses look at something like vegetation.",
        f"Lasers that never return, between two that do: {dead}. Their pulses are left out.",
    ]
    if surface is None:
        notes.append("The surface model was left out: PyMeshLab is not installed (pip install 'tussock[surface]').")
    return tuple(notes)


def _views(drawn: list[_Foretold]) -> Figure:
    """Measured points and foretold ones, from above and from the side."""
    with plotting(2, len(drawn), size=(4.4 * len(drawn), 6.4), height_ratios=(2.6, 1)) as picture:
        for column, model in enumerate(drawn):
            points = model.pulses.points[model.pulses.hit]
            above, beside = picture.axes[0, column], picture.axes[1, column]
            shown = points[(np.abs(points[:, :2]) < _VIEW).all(1)]
            shown = shown[np.argsort(shown[:, 2])]
            drawn_points = _dots(above, shown[:, 0], shown[:, 1], shown[:, 2])
            above.set(title=f"{model.name}, from above", xlabel="x [m]", xlim=(-_VIEW, _VIEW), ylim=(-_VIEW, _VIEW))
            strip = points[(points[:, 0] > _STRIP[0]) & (points[:, 0] < _STRIP[1])]
            _dots(beside, strip[:, 1], strip[:, 2], strip[:, 2])
            beside.set(title=f"x from −{-_STRIP[0]:g} to −{-_STRIP[1]:g} m, from the side", xlabel="y [m]")
            beside.set(xlim=(-3, 32), ylim=(-2, 6.5))
        picture.axes[0, 0].set_ylabel("y [m]")
        picture.axes[1, 0].set_ylabel("z [m]")
        picture.figure.colorbar(drawn_points, ax=picture.axes[:, -1], label="height [m]", shrink=0.6)
    return Figure(
        "The measured revolution beside what was foretold",
        picture.png,
        "Volumes spread the range as hedges and trees do and let pulses through; the surface makes the hedge beside the road solid, "
        "so most of the trees behind it are gone.",
    )


def _dots(axes: Any, across: NDArray[np.float64], up: NDArray[np.float64], height: NDArray[np.float64]) -> Any:
    axes.set_aspect("equal")
    axes.grid(False)
    return axes.scatter(across, up, c=height, s=0.35, linewidths=0, cmap="viridis", vmin=-2.5, vmax=6)


def _ranges(drawn: list[_Foretold], green: NDArray[np.bool_]) -> Figure:
    """How the ranges of the pulses towards vegetation spread."""
    width = 0.5
    edges = np.arange(0, _NEAR + width, width)
    with plotting(1, 1, size=(8.4, 3.6)) as picture:
        axes = picture.axes[0, 0]
        for model, color in zip(drawn, (INK, BLUE, ORANGE), strict=False):
            mine = model.pulses.select(green)
            share = np.histogram(mine.ranges[mine.hit], edges)[0] / len(mine) / width
            name = f"{model.name}, hit rate {100 * (mine.ranges < _NEAR).mean():.1f} %"
            if color == INK:
                axes.stairs(share, edges, fill=True, color=GREY, alpha=0.4, label=name)
            else:
                axes.stairs(share, edges, color=color, label=name, linewidth=1.3)
        axes.set(title="pulses towards vegetation", xlabel="range [m]", ylabel="share of pulses [1/m]", xlim=(0, _NEAR))
        axes.set_ylim(bottom=0)
        axes.legend()
    return Figure(
        "Ranges of the pulses that look at vegetation",
        picture.png,
        "The volumes follow what was measured; the surface stops too many pulses at what is near.",
    )


EXPERIMENT = Experiment(
    name="recorded-place",
    title="A real place, a revolution held out",
    paper="Deschaud et al. 2012, sections V.B and VI.B",
    setup=(
        "Two revolutions of a VLS-128 beside a road are learned as volumes of the paper's 30 cm, and as a surface (RIMLS "
        "and marching cubes, 30 cm cells, 40 cm kernel; within 50 m). Both fire the pulses of the third revolution again "
        "(in a quick run a third of the way around). A direction counts as vegetation where at least half of the learned "
        "returns lie in cells of half a metre whose points spread in all three directions, above the ground."
    ),
    run=_run,
    effects={
        "permeability": "every volume stops every pulse that meets it",
        "misses": "pulses without return are left out of the learning",
    },
    missing=_missing,
)
