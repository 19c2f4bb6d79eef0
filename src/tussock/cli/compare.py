"""``tussock compare``: how like a simulated scan is to a real one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tussock.cli.options import takes
from tussock.cli.scans import ModelOption, UnitOption
from tussock.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from tussock.learn.measured_pulses import MeasuredPulses
    from tussock.learn.scoring.field_scores import FieldScores

__all__ = ["compare"]


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """What the command takes."""

    real: Annotated[
        Path,
        typer.Argument(
            help="The real scan: .pcap or .pcapng, KITTI .bin, a file of a frame or of points, a log or a sequence."
        ),
    ]
    simulated: Annotated[
        Path,
        typer.Argument(
            help="The simulated scan, with its pulses without return (--misses); or learned volumes (.volumes), which the "
            "pulses of the real scan are fired into again."
        ),
    ]
    seconds: Annotated[
        str | None, typer.Option(help="Of a drive, the even or the odd seconds alone; learn from the others.")
    ] = None
    seed: Annotated[int, typer.Option(help="Seed of the chance with which volumes are passed.")] = 0
    angle_deg: Annotated[float, typer.Option(help="Width of an angle bin [deg].")] = 0.09
    range_m: Annotated[float, typer.Option(help="Width of a range bin [m].")] = 0.002
    box: Annotated[
        str | None, typer.Option(help="Only pulses that pass through x0,y0,z0,x1,y1,z1 [m], in each scan's own frame.")
    ] = None
    regions_m: Annotated[
        str, typer.Option(help="Edges of the ranges that are scored by themselves [m], as 0,10,30; the last goes on.")
    ] = "0,10,30"
    trajectory: Annotated[
        Path | None, typer.Option("--trajectory", "--poses", help="Poses of a real scan from a moving sensor.")
    ] = None
    returns_only: Annotated[
        bool, typer.Option("--returns-only", help="Leave pulses without return out, where a file has none.")
    ] = False
    model: ModelOption = None
    unit: UnitOption = None
    simulated_model: Annotated[str | None, typer.Option(help="The same of a simulated capture.")] = None
    simulated_unit: Annotated[str | None, typer.Option(help="The same of a simulated capture.")] = None
    turns: Annotated[str | None, typer.Option(help="Revolutions of the real scan, as 0,1 or 0-2.")] = None
    simulated_turns: Annotated[str | None, typer.Option(help="Revolutions of the simulated scan.")] = None
    picture: Annotated[Path | None, typer.Option(help="Also draw both to this PNG.")] = None
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for machines.")] = False


@takes(CompareOptions)
def compare(given: CompareOptions) -> None:
    """Bhattacharyya distance of the histograms over angle and range, hit rates, range quantiles, and the field's scores."""
    import math
    from contextlib import suppress

    from rich.table import Table

    from tussock.cli.console import out, print_json, waiting
    from tussock.cli.scans import parse_box
    from tussock.learn.scoring.field_scores import field_scores, scores_by_label, scores_by_region
    from tussock.learn.scoring.scores import QUANTILES
    from tussock.learn.scoring.scores import compare as score_of
    from tussock.learn.through_box import through_box
    from tussock.plots.canvas import check_picture
    from tussock.plots.comparison import plot_comparison
    from tussock.plots.field_scores import FLOOR

    if given.picture is not None:
        check_picture(given.picture, force=given.force)
    corners = None if given.box is None else parse_box(given.box)
    with waiting("reading", quiet=given.as_json):
        one = _real(given)
        rest = _rest(given, one)
        two = _simulated(given, one)
    if corners is not None:
        one, two = (through_box(pulses, corners) for pulses in (one, two))
        with suppress(InputError):  # where a part of the real recording has no pulse in the box, there is no floor
            rest = None if rest is None else (through_box(rest[0], corners), through_box(rest[1], corners))
    if not given.returns_only:
        _check_alike(given.real, one, given.simulated, two)
    else:
        one, two = one.select(one.hit), two.select(two.hit)
        rest = None if rest is None else (rest[0].select(rest[0].hit), rest[1].select(rest[1].hit))
    angle_bin, edges = math.radians(given.angle_deg), _edges(given.regions_m)
    field = {"all": field_scores(one, two, angle_bin=angle_bin)}
    for (near, far), found in scores_by_region(one, two, edges=edges, angle_bin=angle_bin).items():
        field[f"{near:g} m and further" if math.isinf(far) else f"{near:g} to {far:g} m"] = found
    field |= scores_by_label(one, two, angle_bin=angle_bin)
    floor = None if rest is None else score_of(*rest, angle_bin=angle_bin, range_bin=given.range_m)
    if rest is not None:
        field[FLOOR] = field_scores(*rest, angle_bin=angle_bin)
    score = score_of(one, two, angle_bin=math.radians(given.angle_deg), range_bin=given.range_m)
    if given.picture is not None:
        plot_comparison(
            one,
            two,
            score,
            given.picture,
            title=f"{given.real.name} and {given.simulated.name}",
            field=field,
            force=given.force,
        )
    if given.as_json:
        scores = {name: found.plain() for name, found in field.items()}
        print_json(score.plain() | {"floor": None if floor is None else floor.plain(), "field": scores})
        return
    table = Table(box=None, pad_edge=False)
    for heading in ("", "real", "simulated", "difference"):
        table.add_column(heading, justify="left" if not heading else "right")
    table.add_row("pulses", f"{score.real_pulses:,}", f"{score.simulated_pulses:,}", "")
    table.add_row(
        "hit rate", f"{score.real_hit_rate:.4f}", f"{score.simulated_hit_rate:.4f}", f"{score.hit_rate_difference:+.4f}"
    )
    rows = zip(QUANTILES, score.real_quantiles, score.simulated_quantiles, score.quantile_differences, strict=True)
    for share, mine, other, apart in rows:
        table.add_row(f"range, {share:.0%} [m]", f"{mine:.3f}", f"{other:.3f}", f"{apart:+.3f}")
    out.print(table)
    least = "" if floor is None else f"; between revolutions of the real scan {floor.distance:.4f}, the floor"
    out.print(f"Bhattacharyya distance {score.distance:.4f}{least}")
    out.print(_field_table(field))
    if given.picture is not None:
        out.print(f"drew {given.picture}")


def _real(given: CompareOptions) -> MeasuredPulses:
    """The real scan; of a drive all that was recorded, or the seconds that were asked for."""
    from tussock.cli.console import note
    from tussock.cli.scans import open_scan
    from tussock.learn.drives.sequences import is_sequence
    from tussock.learn.learn_drive import DriveOptions, open_drive
    from tussock.learn.measured_pulses import join_pulses
    from tussock.poses import Trajectory

    if given.seconds is None and not is_sequence(given.real):
        return open_scan(given.real, trajectory=given.trajectory, model=given.model, unit=given.unit, turns=given.turns)
    if given.turns is not None:
        raise InputError("turns: goes with a single scan, not with a drive; leave it out")
    poses = None if given.trajectory is None else Trajectory.load(given.trajectory)
    options = DriveOptions(model=given.model, unit=given.unit, seconds=given.seconds)
    parts = list(open_drive([given.real], poses, options, note))
    if not parts:
        raise InputError(f"{given.real.name}: holds no {given.seconds} seconds")
    return join_pulses(parts)


def _simulated(given: CompareOptions, real: MeasuredPulses) -> MeasuredPulses:
    """The simulated scan; of volumes what the real pulses meet there."""
    from tussock.cli.scans import open_scan
    from tussock.learn.scan_volumes import simulate_volumes
    from tussock.randomness import check_seed
    from tussock.scene_files.volume_file import VOLUME_SUFFIX, load_volumes

    if given.simulated.suffix.lower() == VOLUME_SUFFIX:
        return simulate_volumes(load_volumes(given.simulated), real, seed=check_seed(given.seed))
    return open_scan(
        given.simulated, model=given.simulated_model, unit=given.simulated_unit, turns=given.simulated_turns
    )


def _edges(text: str) -> list[float]:
    """``0,10,30`` as 0, 10, 30, ∞."""
    try:
        return [*(float(part) for part in text.split(",")), float("inf")]
    except ValueError:
        raise InputError.of("regions", "must be distances [m], as 0,10,30", text) from None


def _rest(given: CompareOptions, one: MeasuredPulses) -> tuple[MeasuredPulses, MeasuredPulses] | None:
    """Two parts of the real recording for the floor: the chosen revolutions and the others, or even and odd ones."""
    import numpy as np

    from tussock.cli.scans import open_scan

    if given.turns is not None and given.trajectory is None:
        whole = open_scan(given.real, model=given.model, unit=given.unit, quiet=True)
        others = ~np.isin(whole.turns, np.unique(one.turns))
        return (one, whole.select(others)) if others.any() else None
    even = one.turns % 2 == 0
    return (one.select(even), one.select(~even)) if even.any() and not even.all() else None


def _field_table(field: dict[str, FieldScores]) -> Table:
    from rich.table import Table

    table = Table(box=None, pad_edge=False)
    columns = ("chamfer [m²]", "F-score", "depth [m]", "depth, rms", "drops right", "drops, F", "intensity, rms")
    for heading in ("", "pairs", *columns):
        table.add_column(heading, justify="left" if not heading else "right")
    for name, score in field.items():
        figures = list(score.plain().values())[1:]
        shown = ["-" if figure is None else f"{figure:.4f}" for figure in figures]
        table.add_row(name, f"{score.pairs:,}", *shown)
    return table


def _check_alike(real: Path, one: MeasuredPulses, simulated: Path, two: MeasuredPulses) -> None:
    """Pulses without return count in both scans or in none: hit rates would be those of the files, not of the scene."""
    if one.complete == two.complete:
        return
    whole, poor = (real, simulated) if one.complete else (simulated, real)
    raise InputError(
        f"{poor.name}: holds no pulses without return but {whole.name} does; scan it with --misses, or compare with "
        "--returns-only"
    )
