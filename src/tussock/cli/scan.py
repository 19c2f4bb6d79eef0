"""``tussock scan``: point a sensor at a scene and write what it sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_args

import typer

from tussock.errors import InputError, nearest

if TYPE_CHECKING:
    from tussock.frames.frame import Frame

__all__ = ["scan"]


def scan(
    scene: Annotated[
        str, typer.Argument(help="A scene file (.toml), a pack (.tussock), a .blend, or a ready scene's name.")
    ],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="File to write; its ending gives the format. .pcap, .mcap, .rosbag2 hold a whole run."
        ),
    ],
    sensor: Annotated[
        str | None,
        typer.Option(help="A sensor of the catalogue, a sensor file (.toml), or a camera of the .blend."),
    ] = None,
    pose: Annotated[str | None, typer.Option(help="x,y,z or x,y,z,roll,pitch,yaw of the sensor [m, deg].")] = None,
    trajectory: Annotated[Path | None, typer.Option(help="The sensor's path: a TUM or CSV file.")] = None,
    start: Annotated[float, typer.Option("--from", help="Start of the time range [s].")] = 0.0,
    end: Annotated[
        float | None, typer.Option("--to", help="End of the time range [s]; one frame if not given.")
    ] = None,
    rate: Annotated[float | None, typer.Option(help="Revolutions per second, within the data sheet's limits.")] = None,
    rays: Annotated[int | None, typer.Option(help="Sub-rays a pulse.")] = None,
    mode: Annotated[
        str | None, typer.Option(help="Returns to report: strongest, last, first, strongest+last or all.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Any other sensor setting, as key=value; may be repeated.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all chance; 0, or the pack's, if not given.")] = None,
    coords: Annotated[str, typer.Option(help="Coordinates of the points: sensor or world.")] = "sensor",
    misses: Annotated[bool, typer.Option("--misses", help="Keep a row for every pulse without return.")] = False,
    table: Annotated[
        Path | None, typer.Option(help="Also write BlenSor's table of twelve fields: .csv or .parquet.")
    ] = None,
    utc: Annotated[
        str | None, typer.Option(help="Date and time of simulation time 0 in a run, as 2025-01-01T00:00:00.")
    ] = None,
    origin: Annotated[
        str | None, typer.Option(help="Latitude,longitude of the scene's origin, for a capture's GPS sentences.")
    ] = None,
    picture: Annotated[Path | None, typer.Option(help="Also draw the (first) frame to this PNG.")] = None,
    over: Annotated[
        Path | None, typer.Option(help="Also draw the (first) frame over a camera's picture: .png or .jpg.")
    ] = None,
    camera: Annotated[Path | None, typer.Option(help="The camera of --over, a file (.toml).")] = None,
    into: Annotated[
        Path | None, typer.Option(help="Also write a copy of the .blend with clean and noisy points as meshes.")
    ] = None,
    threads: Annotated[int | None, typer.Option(help="Threads to use; one a core if not given.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False,
) -> None:
    """Scan a scene and write the frame, one numbered file a frame over a time range, or one run of them all.

    A range that was interrupted goes on where it stopped when the same command is given again.
    """
    from tussock.cli.console import out as console
    from tussock.cli.console import print_json, steps, waiting
    from tussock.cli.over import draw_over
    from tussock.cli.render import open_camera
    from tussock.cli.settings import parse_settings
    from tussock.cli.sources import open_source, parse_utc
    from tussock.picture import draw_frame
    from tussock.runs import Run
    from tussock.simulate import frames_between
    from tussock.simulate import scan as scan_once
    from tussock.trace.world import World
    from tussock.whole_files import check_writable
    from tussock.wire.encode import EPOCH
    from tussock.wire.position import GeoOrigin
    from tussock.wire.runs import RUN_SUFFIXES, check_run, open_run
    from tussock.write.formats import format_of, save_frame
    from tussock.write.truth_table import save_truth_table

    one_run = out.suffix in RUN_SUFFIXES
    if not one_run:
        format_of(out, also=RUN_SUFFIXES)
    if coords not in ("sensor", "world"):
        raise InputError.of("coords", "must be sensor or world", coords)
    if sensor is None and Path(scene).suffix.lower() not in (".tussock", ".blend"):
        raise InputError("sensor: is required; name one of the catalogue (see `tussock sensors`)")
    _check_endings(table, over)
    if into is not None:
        _check_into(into, scene, end)
    changes = parse_settings(settings or [])
    for key, value in (("rotation_hz", rate), ("beam.rays", rays), ("receiver.mode", _known_mode(mode))):
        if value is not None:
            changes[key] = value
    epoch = parse_utc(utc) if utc else EPOCH
    place_on_earth = GeoOrigin.parse(origin) if origin else GeoOrigin()
    eye = open_camera(camera, None, None, {})
    for target in (picture, over, into, None if one_run or end is not None else out):
        if target is not None:
            check_writable(target, force=force)

    with waiting("building the scene", quiet=as_json) as built:
        source = open_source(scene)
        station = source.station(sensor, pose, trajectory)
        assert station.sensor is not None
        device = station.sensor.with_(**changes) if changes else station.sensor
        place, chance = station.place, source.seed if seed is None else seed
        first = frames_between(device, start, start).start
        frames = range(first, first + 1) if end is None else frames_between(device, start, end)
        if not len(frames):
            raise InputError.of("time range", "holds no start of a frame", f"{start:g} s to {end:g} s")
        if one_run:
            check_run(out, device, force=force)
        numbered, finished = None, []
        if end is not None and not one_run:
            numbered = Run(
                source.scene, device, place, out, start, end,
                seed=chance, coords=coords, keep_misses=misses, threads=threads,  # type: ignore[arg-type]
            )  # fmt: skip
            finished = numbered.prepare(force=force)
        tables = _numbered(table, frames)
        for target in tables:
            check_writable(target, force=force or bool(finished))
        world = World(source.scene)

    def one(frame: int) -> Frame:
        return scan_once(world, device, place, seed=chance, frame=frame, keep_misses=misses, threads=threads)

    def single() -> Iterator[tuple[int, Frame | None]]:
        seen = one(first)
        save_frame(seen, out, force=force, coords=coords)  # type: ignore[arg-type]
        yield first, seen

    def resumed() -> Iterator[tuple[int, Frame | None]]:
        assert numbered is not None
        for done in numbered.scan(world, finished=finished):
            yield done.number, done.frame

    def recorded() -> Iterator[tuple[int, Frame | None]]:
        with open_run(out, device, force=force, epoch=epoch, origin=place_on_earth) as run:
            yield from _through(run.write, one, frames)

    returns, pulses = 0, 0
    shown: Frame | None = None
    results = recorded() if one_run else resumed() if numbered else single()
    with waiting("scanning", quiet=True) as scanned:
        for index, (number, seen) in enumerate(steps(results, "scanning", total=len(frames), quiet=as_json)):
            if table is not None and (seen is not None or not tables[index].exists()):
                save_truth_table(seen or one(number), tables[index], force=True)
            if seen is None:
                continue
            returns, pulses = returns + int(seen.hit.sum()), pulses + seen.pulses
            shown = seen if number == first else shown
    if picture:
        draw_frame(shown or one(first), picture, force=force)
    if over:
        draw_over(shown or one(first), world, eye, place, over, seed=chance, threads=threads, force=force)
    if into is not None:
        from tussock.blender.points import add_points

        add_points(Path(scene), into, shown or one(first), force=force)

    files = numbered.files if numbered else [out]
    if as_json:
        print_json(
            {
                "scene": world.name, "triangles": world.triangles, "placements": world.placements,
                "sensor": device.name, "frames": len(frames), "kept": len(finished), "pulses": pulses,
                "returns": returns, "seed": chance, "build_s": built["seconds"], "scan_s": scanned["seconds"],
                "files": [str(file) for file in files],
            }
        )  # fmt: skip
        return
    size = f"{world.triangles:,} triangles in {world.placements:,} placements"
    console.print(f"{world.name}: {size}, ready in {built['seconds']:.1f} s")
    kept = f", {len(finished)} were there already" if finished else ""
    console.print(
        f"{device.name}: {pulses:,} pulses, {returns:,} returns in {len(frames) - len(finished)} frame(s){kept}"
    )
    console.print(f"wrote {files[0]}" + (f" … {files[-1].name}" if len(files) > 1 else ""))
    for drawn in (picture, over):
        if drawn:
            console.print(f"drew {drawn}")
    if into:
        console.print(f"wrote {into}")


def _through(
    write: Callable[[Any], Any], one: Callable[[int], Frame], frames: range
) -> Iterator[tuple[int, Frame | None]]:
    """Scan the frames and write each before it is handed on."""
    for number in frames:
        seen = one(number)
        write(seen)
        yield number, seen


def _numbered(path: Path | None, frames: range) -> list[Path]:
    """One file a frame; a single frame has the name as it was given."""
    if path is None:
        return []
    return [path] if len(frames) == 1 else [path.with_stem(f"{path.stem}_{frame:06d}") for frame in frames]


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
    from tussock.sensors.receiver import Mode

    known = get_args(Mode)
    if mode is not None and mode not in known:
        remedy = nearest(mode, known)
        remedy += "" if remedy.startswith("known") else f" (known: {', '.join(known)})"
        raise InputError(f"--mode {mode!r}: no such mode; {remedy}")
    return mode
