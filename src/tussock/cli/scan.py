"""``tussock scan``: point a sensor at a scene and write what it sees."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tussock.cli.options import SCENE_HELP, Threads, WeatherWords, WindWords, complete_scene, complete_sensor, takes
from tussock.errors import InputError, nearest

if TYPE_CHECKING:
    from tussock.cli.scan_plan import ScanPlan
    from tussock.frames.frame import Frame

__all__ = ["scan"]


@dataclass(frozen=True, kw_only=True)
class ScanOptions:
    """What the command takes."""

    scene: Annotated[
        str,
        typer.Argument(
            autocompletion=complete_scene,
            help=SCENE_HELP,
        ),
    ]
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="File to write; its ending gives the format. .pcap, .mcap, .rosbag2 hold a whole run."
        ),
    ]
    sensor: Annotated[
        str | None,
        typer.Option(
            autocompletion=complete_sensor,
            help="A sensor of the catalogue, a sensor file (.toml), or a camera of the .blend.",
        ),
    ] = None
    pose: Annotated[str | None, typer.Option(help="x,y,z or x,y,z,roll,pitch,yaw of the sensor [m, deg].")] = None
    trajectory: Annotated[Path | None, typer.Option(help="The sensor's path: a TUM or CSV file.")] = None
    weather: WeatherWords = None
    start: Annotated[
        float | None, typer.Option("--from", help="Start of the time range [s]; the epoch if not given.")
    ] = None
    end: Annotated[float | None, typer.Option("--to", help="End of the time range [s]; one frame if not given.")] = None
    epoch: Annotated[
        float, typer.Option(help="When frame 0 starts [s]: a UNIX time, where poses and motions are in UNIX time.")
    ] = 0.0
    rate: Annotated[float | None, typer.Option(help="Revolutions per second, within the data sheet's limits.")] = None
    rays: Annotated[int | None, typer.Option(help="Sub-rays a pulse.")] = None
    mode: Annotated[
        str | None, typer.Option(help="Returns to report: strongest, last, first, strongest+last or all.")
    ] = None
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Any other sensor setting, as key=value; may be repeated.")
    ] = None
    wind: WindWords = None
    seed: Annotated[int | None, typer.Option(help="Seed of all chance; 0, or the pack's, if not given.")] = None
    coords: Annotated[str, typer.Option(help="Coordinates of the points: sensor or world.")] = "sensor"
    misses: Annotated[bool, typer.Option("--misses", help="Keep a row for every pulse without return.")] = False
    waveform: Annotated[
        bool, typer.Option("--waveform", help="Keep the received signal of every pulse: .npz, .parquet or .las.")
    ] = False
    waveform_picture: Annotated[
        Path | None, typer.Option(help="Also draw the waveform of the richest pulse of the (first) frame: a PNG.")
    ] = None
    table: Annotated[
        Path | None, typer.Option(help="Also write BlenSor's table of twelve fields: .csv or .parquet.")
    ] = None
    utc: Annotated[
        str | None, typer.Option(help="Date and time of simulation time 0 in a run, as 2025-01-01T00:00:00.")
    ] = None
    origin: Annotated[
        str | None, typer.Option(help="Latitude,longitude of the scene's origin, for a capture's GPS sentences.")
    ] = None
    picture: Annotated[Path | None, typer.Option(help="Also draw the (first) frame to this PNG.")] = None
    over: Annotated[
        Path | None, typer.Option(help="Also draw the (first) frame over a camera's picture: .png or .jpg.")
    ] = None
    camera: Annotated[Path | None, typer.Option(help="The camera of --over, a file (.toml).")] = None
    into: Annotated[
        Path | None, typer.Option(help="Also write a copy of the .blend with clean and noisy points as meshes.")
    ] = None
    sun: Annotated[
        str | None, typer.Option(help="Where the sun stands, for sensors that see it: azimuth,elevation [deg].")
    ] = None
    threads: Threads = None
    on: Annotated[str, typer.Option(help="Where to compute: cpu, or gpu (an NVIDIA graphics processor).")] = "cpu"
    together: Annotated[
        bool | None,
        typer.Option(
            "--together/--one-a-frame",
            help="All frames of a time range in one file. As it is with a line scanner's .las and .laz; else one a frame.",
        ),
    ] = None
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False


@takes(ScanOptions)
def scan(given: ScanOptions) -> None:
    """Scan a scene and write the frame, one numbered file a frame over a time range, or one run of them all.

    A range that was interrupted goes on where it stopped when the same command is given again.
    """
    from tussock.cli.console import note, print_json, steps, waiting
    from tussock.cli.over import plot_over
    from tussock.cli.render import open_camera
    from tussock.cli.scan_plan import plan_scan
    from tussock.cli.sources import parse_utc
    from tussock.plots.frame import plot_frame
    from tussock.whole_files import check_writable, named_together
    from tussock.wire.packets import EPOCH
    from tussock.wire.recording import RECORDING_SUFFIXES
    from tussock.wire.velodyne.position import GeoOrigin

    _check_words(given)
    _check_waveform(given.waveform, given.waveform_picture, given.out)
    changes = _changes(given.settings, given.rate, given.rays, given.mode)
    epoch = parse_utc(given.utc) if given.utc else EPOCH
    place_on_earth = GeoOrigin.parse(given.origin) if given.origin else GeoOrigin()
    eye = open_camera(given.camera, None, None, {})
    for target in (
        given.picture,
        given.waveform_picture,
        given.over,
        given.into,
        None if given.out.suffix in RECORDING_SUFFIXES or given.end is not None else given.out,
    ):
        if target is not None:
            check_writable(target, force=given.force)
    with waiting("building the scene", quiet=given.as_json) as built:
        plan = plan_scan(given, changes)

    returns, pulses = 0, 0
    shown: Frame | None = None
    written = steps(plan.written(epoch, place_on_earth), "scanning", total=len(plan.frames), quiet=given.as_json)
    # A range is taken up again by its files; the files of one frame are there together, or none is.
    with nullcontext() if plan.numbered else named_together():
        with waiting("scanning", quiet=True) as scanned, plan.telling_what_is_kept():
            for number, seen in written:
                if seen is not None:
                    returns, pulses = returns + int(seen.hit.sum()), pulses + seen.pulses
                    shown = seen if number == plan.frames[0] else shown
        if pulses and not returns:
            note(
                f"no returns: nothing that {plan.sensor.name} can see stands within its reach; see --pose and its range"
            )
        if given.picture or given.waveform_picture or given.over or given.into:
            shown = shown or plan.frame(plan.frames[0])
            if given.picture:
                plot_frame(shown, given.picture, force=given.force)
            if given.waveform_picture:
                from tussock.plots.waveform import plot_waveform

                plot_waveform(shown, given.waveform_picture, force=given.force)
            if given.over:
                plot_over(plan, shown, eye, given.over)
            if given.into:
                from tussock.blender.points import add_points

                add_points(Path(given.scene), given.into, shown, force=given.force)

    if given.as_json:
        print_json(
            {
                "scene": plan.world.name, "triangles": plan.world.triangles, "placements": plan.world.placements,
                "sensor": plan.sensor.name, "frames": len(plan.frames), "kept": len(plan.finished), "pulses": pulses,
                "returns": returns, "seed": plan.seed, "build_s": built["seconds"], "scan_s": scanned["seconds"],
                "files": [str(file) for file in plan.files],
            }
        )  # fmt: skip
    else:
        _say(plan, pulses, returns, built["seconds"],
             [("drew", given.picture), ("drew", given.waveform_picture), ("drew", given.over), ("wrote", given.into)])  # fmt: skip


def _say(plan: ScanPlan, pulses: int, returns: int, seconds: float, more: list[tuple[str, Path | None]]) -> None:
    from tussock.cli.console import out as console

    world, files, kept = plan.world, plan.files, len(plan.finished)
    size = f"{world.triangles:,} triangles in {world.placements:,} placements"
    console.print(f"{world.name}: {size}, ready in {seconds:.1f} s")
    there = f", {kept} were there already" if kept else ""
    console.print(
        f"{plan.sensor.name}: {pulses:,} pulses, {returns:,} returns in {len(plan.frames) - kept} frame(s){there}"
    )
    console.print(f"wrote {files[0]}" + (f" … {files[-1].name}" if len(files) > 1 else ""))
    for done, file in more:
        if file:
            console.print(f"{done} {file}")


def _check_words(given: ScanOptions) -> None:
    """What can be refused before anything is opened."""
    from tussock.files.formats import format_of
    from tussock.wire.recording import RECORDING_SUFFIXES

    if given.out.suffix not in RECORDING_SUFFIXES:
        format_of(given.out, also=RECORDING_SUFFIXES)
    if given.coords not in ("sensor", "world"):
        raise InputError.of("coords", "must be sensor or world", given.coords)
    if given.sensor is None and Path(given.scene).suffix.lower() not in (".tussock", ".blend"):
        raise InputError("sensor: is required; name one of the catalogue (see `tussock sensors`)")
    _check_endings(given.table, given.over)
    if given.into is not None:
        _check_into(given.into, given.scene, given.end)


def _check_waveform(waveform: bool, picture: Path | None, out: Path) -> None:
    from tussock.files.formats import FORMATS

    if picture is not None and not waveform:
        raise InputError("--waveform-picture: goes with --waveform")
    able = sorted(suffix for suffix, format in FORMATS.items() if format.waveforms is not None)
    if waveform and out.suffix.lower() not in able:
        raise InputError.of("--waveform", f"needs a file of {', '.join(able)}", out.suffix)


def _changes(settings: list[str] | None, rate: float | None, rays: int | None, mode: str | None) -> dict[str, object]:
    """The settings of the sensor that differ from its file."""
    from tussock.cli.settings import parse_settings

    changes: dict[str, object] = dict(parse_settings(settings or []))
    named = {"rotation_hz": rate, "beam.rays": rays, "receiver.mode": _known_mode(mode)}
    return changes | {key: value for key, value in named.items() if value is not None}


def _check_endings(table: Path | None, over: Path | None) -> None:
    if over is not None and over.suffix.lower() not in (".png", ".jpg", ".jpeg"):
        raise InputError.of(f"{over}: suffix", "must be .png or .jpg", over.suffix)
    if table is not None and table.suffix.lower() not in (".csv", ".parquet"):
        raise InputError.of(f"{table}: suffix", "must be .csv or .parquet", table.suffix)


def _check_into(into: Path, scene: str, end: float | None) -> None:
    if Path(scene).suffix.lower() != ".blend":
        raise InputError.of("--into", "goes with a .blend as the scene", scene)
    if into.suffix.lower() != ".blend":
        raise InputError.of("--into", "must name a .blend", str(into))
    if end is not None:
        raise InputError("--into: takes one frame; leave --to out")
    if into.resolve() == Path(scene).resolve():
        raise InputError.of("--into", "must not be the scene itself", str(into))


def _known_mode(mode: str | None) -> str | None:
    from tussock.return_modes import MODES

    if mode is not None and mode not in MODES:
        remedy = nearest(mode, MODES)
        remedy += "" if remedy.startswith("known") else f" (known: {', '.join(MODES)})"
        raise InputError(f"--mode {mode!r}: no such mode; {remedy}")
    return mode
