"""``tussock scan``: point a sensor at a scene and write what it sees."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tussock.errors import InputError

if TYPE_CHECKING:
    from tussock.frames.frame import Frame

__all__ = ["scan"]


def scan(
    scene: Annotated[
        str, typer.Argument(help="A scene file (.toml), a pack (.tussock), a .blend, or a ready scene's name.")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="File to write; its ending gives the format.")],
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
    rate: Annotated[
        float | None, typer.Option(help="Revolutions per second, within the data sheet's limits.")
    ] = None,
    rays: Annotated[int | None, typer.Option(help="Sub-rays a pulse.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Any other sensor setting, as key=value; may be repeated.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of all chance; 0, or the pack's, if not given.")] = None,
    coords: Annotated[str, typer.Option(help="Coordinates of the points: sensor or world.")] = "sensor",
    misses: Annotated[bool, typer.Option("--misses", help="Keep a row for every pulse without return.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Also draw the (first) frame to this PNG.")] = None,
    threads: Annotated[int | None, typer.Option(help="Threads to use; one a core if not given.")] = None,
    into: Annotated[
        Path | None, typer.Option(help="Also write a copy of the .blend with clean and noisy points as meshes.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False,
) -> None:
    """Scan a scene and write the frame, or one numbered file a frame over a time range.

    A range that was interrupted goes on where it stopped when the same command is given again.
    """
    from tussock.cli.console import out as console
    from tussock.cli.console import print_json, steps, waiting
    from tussock.cli.settings import parse_settings
    from tussock.cli.sources import open_source
    from tussock.picture import draw_frame
    from tussock.runs import Run
    from tussock.simulate import frames_between
    from tussock.simulate import scan as scan_once
    from tussock.trace.world import World
    from tussock.whole_files import check_writable
    from tussock.write.formats import format_of, save_frame

    format_of(out)
    if coords not in ("sensor", "world"):
        raise InputError.of("coords", "must be sensor or world", coords)
    changes = parse_settings(settings or [])
    if rate is not None:
        changes["rotation_hz"] = rate
    if rays is not None:
        changes["beam.rays"] = rays
    if sensor is None and Path(scene).suffix.lower() not in (".tussock", ".blend"):
        raise InputError("sensor: is required; name one of the catalogue (see `tussock sensors`)")
    for file in [*([out] if end is None else []), *([picture] if picture else []), *([into] if into else [])]:
        check_writable(file, force=force)
    if into is not None:
        _check_into(into, scene, end)

    with waiting("building the scene", quiet=as_json) as built:
        source = open_source(scene)
        station = source.station(sensor, pose, trajectory)
        assert station.sensor is not None
        device = station.sensor.with_(**changes) if changes else station.sensor
        chance = source.seed if seed is None else seed
        first = frames_between(device, start, start).start
        run, finished = None, []
        if end is not None:
            run = Run(
                source.scene, device, station.place, out, start, end,
                seed=chance, coords=coords, keep_misses=misses, threads=threads,  # type: ignore[arg-type]
            )  # fmt: skip
            finished = run.prepare(force=force)
            first = run.frames.start
        world = World(source.scene)

    def one(frame: int) -> Frame:
        return scan_once(
            world, device, station.place, seed=chance, frame=frame, keep_misses=misses, threads=threads
        )  # fmt: skip

    returns, pulses = 0, 0
    files = run.files if run else [out]
    seen: Frame | None = None
    with waiting("scanning", quiet=True) as scanned:
        if run is None:
            seen = one(first)
            save_frame(seen, out, force=force, coords=coords)  # type: ignore[arg-type]
            returns, pulses = int(seen.hit.sum()), seen.pulses
        else:
            for done in steps(run.scan(world, finished=finished), "scanning", total=len(files), quiet=as_json):
                if done.frame is not None:
                    returns, pulses = returns + int(done.frame.hit.sum()), pulses + done.frame.pulses
                seen = done.frame if done.number == first else seen
    if picture:
        draw_frame(seen or one(first), picture, force=force)
    if into is not None:
        from tussock.blender.points import add_points

        add_points(Path(scene), into, seen or one(first), force=force)
    if as_json:
        print_json(
            {
                "scene": world.name, "triangles": world.triangles, "placements": world.placements,
                "sensor": device.name, "frames": len(files), "kept": len(finished), "pulses": pulses,
                "returns": returns, "seed": chance,
                "build_s": built["seconds"], "scan_s": scanned["seconds"], "files": [str(file) for file in files],
            }
        )  # fmt: skip
        return
    console.print(
        f"{world.name}: {world.triangles:,} triangles in {world.placements:,} placements, "
        f"ready in {built['seconds']:.1f} s"
    )
    console.print(f"{device.name}: {pulses:,} pulses, {returns:,} returns in {len(files) - len(finished)} frame(s)"
                  + (f", {len(finished)} were there already" if finished else ""))  # fmt: skip
    console.print(f"wrote {files[0]}" + (f" … {files[-1].name}" if len(files) > 1 else ""))
    if picture:
        console.print(f"drew {picture}")
    if into:
        console.print(f"wrote {into}")


def _check_into(into: Path, scene: str, end: float | None) -> None:
    if Path(scene).suffix.lower() != ".blend":
        raise InputError.of("--into", "goes with a .blend as the scene", scene)
    if into.suffix.lower() != ".blend":
        raise InputError.of("--into", "must name a .blend", str(into))
    if end is not None:
        raise InputError("--into: takes one frame; leave --to out")
    if into.resolve() == Path(scene).resolve():
        raise InputError.of("--into", "must not be the scene itself", str(into))
