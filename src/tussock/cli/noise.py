"""``tussock noise``: how much vegetation spreads the range, and a scene that spreads it as much."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tussock.cli.options import Threads, takes
from tussock.cli.scans import ScanFileOptions, open_given_scan, parse_box
from tussock.errors import InputError

if TYPE_CHECKING:
    from tussock.learn.match_response import Match
    from tussock.learn.range_spread import RangeSpread

__all__ = ["noise"]


@dataclass(frozen=True, kw_only=True)
class NoiseOptions(ScanFileOptions):
    """What the command takes."""

    box: Annotated[str, typer.Option(help="Where the vegetation is: x0,y0,z0,x1,y1,z1 [m], in the scan's frame.")]
    window_deg: Annotated[float, typer.Option(help="Neighbours lie within this angle to either side [deg].")] = 1.0
    picture: Annotated[Path | None, typer.Option(help="Also draw it to this PNG.")] = None
    match: Annotated[
        str | None, typer.Option(help="A scene whose vegetation shall spread as much; needs --sensor and --out.")
    ] = None
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The scene file to write (.toml).")] = None
    sensor: Annotated[str | None, typer.Option(help="The sensor that scans the scene.")] = None
    pose: Annotated[str | None, typer.Option(help="x,y,z or x,y,z,roll,pitch,yaw of that sensor [m, deg].")] = None
    match_box: Annotated[
        str | None,
        typer.Option(help="Box in the world in which the scene's scan is measured; tagged shapes if not given."),
    ] = None
    frames: Annotated[int, typer.Option(help="Scans of the scene that the variance is taken from.")] = 4
    seed: Annotated[int | None, typer.Option(help="Seed of the scene's scans.")] = None
    threads: Threads = None
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for machines.")] = False


@takes(NoiseOptions)
def noise(given: NoiseOptions) -> None:
    """Measure the range spread of vegetation in a box: measured − expected range, ring by ring and in all."""
    import numpy as np

    from tussock.cli.console import out as console
    from tussock.cli.console import print_json, waiting
    from tussock.learn.range_spread import measure_range_spread
    from tussock.plots.canvas import check_picture
    from tussock.plots.range_spread import plot_range_spread
    from tussock.scene_files.scene_save import check_scene_path

    goes_with = [
        ("--out", given.out), ("--sensor", given.sensor), ("--pose", given.pose), ("--match-box", given.match_box),
    ]  # fmt: skip
    if given.match is None and (surplus := [name for name, value in goes_with if value is not None]):
        raise InputError(f"{surplus[0]}: goes with --match only")
    if given.match is not None and (missing := [name for name, value in goes_with[:2] if value is None]):
        raise InputError(f"{missing[0]}: is required with --match")
    if given.picture is not None:
        check_picture(given.picture, force=given.force)
    if given.out is not None:
        check_scene_path(given.out, force=given.force)
    corners = parse_box(given.box)
    inside = None if given.match_box is None else parse_box(given.match_box)
    with waiting("reading", quiet=given.as_json):
        pulses = open_given_scan(given)
    spread = measure_range_spread(pulses, corners, window=float(np.deg2rad(given.window_deg)))
    found = None
    if given.match is not None:
        with waiting("matching", quiet=given.as_json):
            found = _match(given.match, spread, inside, given)
    if given.picture is not None:
        plot_range_spread(
            spread, pulses, given.picture, title=f"Range spread in {given.capture.name}", force=given.force
        )
    if given.as_json:
        print_json(_plain(spread, found))
        return
    _print_table(spread)
    if given.picture is not None:
        console.print(f"drew {given.picture}")
    if found is not None:
        console.print(
            f"{found.scene.name}: variance {found.before.variance:.4f} m² without a response, {found.after.variance:.4f} "
            f"m² with σ {found.sigma:g} m ({found.after.count:,} points, mean {found.after.mean:+.4f} m)"
        )
        console.print(f"wrote {given.out}")


def _match(name: str, spread: RangeSpread, box: list[float] | None, given: NoiseOptions) -> Match:
    """Give a scene the response that spreads ranges as much, and write it."""
    import numpy as np

    from tussock.cli.sources import open_source
    from tussock.learn.match_response import match_response
    from tussock.scene_files.scene_save import save_scene

    source = open_source(name)
    station = source.station(given.sensor, given.pose, None)
    assert station.sensor is not None and given.out is not None
    found = match_response(
        source.scene, station.sensor, station.place, spread.variance, box=box,
        window=float(np.deg2rad(given.window_deg)), frames=given.frames,
        seed=source.seed if given.seed is None else given.seed, threads=given.threads,
    )  # fmt: skip
    save_scene(found.scene, given.out, force=given.force)
    return found


def _plain(spread: RangeSpread, found: Match | None) -> dict[str, Any]:
    data: dict[str, Any] = spread.plain() | {"alone": spread.alone}
    data["rings"] = [{"ring": ring} | part.plain() for ring, part in spread.by_ring().items()]
    if found is not None:
        data["match"] = {"sigma_m": found.sigma, "before": found.before.plain(), "after": found.after.plain()}
    return data


def _print_table(spread: RangeSpread) -> None:
    from rich.table import Table

    from tussock.cli.console import out as console

    table = Table(box=None, pad_edge=False)
    for heading in ("ring", "points", "mean [m]", "variance [m²]", "σ of one range [m]"):
        table.add_column(heading, justify="right")
    rows: list[tuple[str, RangeSpread]] = [(str(ring), part) for ring, part in spread.by_ring().items()]
    for name, part in [*rows, ("all", spread)]:
        table.add_row(name, f"{part.count:,}", f"{part.mean:+.4f}", f"{part.variance:.4f}", f"{part.sigma:.4f}")
    console.print(table)
    if spread.alone:
        console.print(f"{spread.alone:,} points have no neighbour in their ring and are left out")
