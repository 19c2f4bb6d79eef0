"""``tussock scan``: point a sensor at a scene and write what it sees."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, get_args

import typer

from tussock.errors import InputError, nearest

__all__ = ["scan"]


def scan(
    scene: Annotated[str, typer.Argument(help="A scene file (.toml) or the name of a ready scene.")],
    sensor: Annotated[str, typer.Option(help="A sensor of the catalogue, or a sensor file (.toml).")],
    out: Annotated[Path, typer.Option(help="File to write; its ending gives the format.")],
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
    mode: Annotated[
        str | None, typer.Option(help="Returns to report: strongest, last, first, strongest+last or all.")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Any other sensor setting, as key=value; may be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all chance.")] = 0,
    coords: Annotated[str, typer.Option(help="Coordinates of the points: sensor or world.")] = "sensor",
    misses: Annotated[bool, typer.Option("--misses", help="Keep a row for every pulse without return.")] = False,
    picture: Annotated[Path | None, typer.Option(help="Also draw the (first) frame to this PNG.")] = None,
    threads: Annotated[int | None, typer.Option(help="Threads to use; one a core if not given.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False,
) -> None:
    """Scan a scene and write the frame, or one numbered file a frame over a time range."""
    from tussock.cli.console import out as console
    from tussock.cli.console import print_json, steps, waiting
    from tussock.cli.settings import parse_settings
    from tussock.cli.sources import open_pose, open_scene
    from tussock.picture import draw_frame
    from tussock.sensors.catalogue import load_sensor
    from tussock.simulate import frames_between
    from tussock.simulate import scan as scan_once
    from tussock.trace.world import World
    from tussock.whole_files import check_writable
    from tussock.write.formats import format_of, save_frame

    device = load_sensor(sensor)
    changes = parse_settings(settings or [])
    if rate is not None:
        changes["rotation_hz"] = rate
    if rays is not None:
        changes["beam.rays"] = rays
    if mode is not None:
        changes["receiver.mode"] = _known_mode(mode)
    device = device.with_(**changes) if changes else device
    place = open_pose(pose, trajectory)
    first = frames_between(device, start, start)
    frames = frames_between(device, start, end) if end is not None else range(first.start, first.start + 1)
    if not len(frames):
        raise InputError.of("time range", "holds no start of a frame", f"{start:g} s to {end:g} s")
    format_of(out)
    if coords not in ("sensor", "world"):
        raise InputError.of("coords", "must be sensor or world", coords)
    files = [out] if len(frames) == 1 else [out.with_stem(f"{out.stem}_{frame:06d}") for frame in frames]
    for file in [*files, *([picture] if picture else [])]:
        check_writable(file, force=force)

    with waiting("building the scene", quiet=as_json) as built:
        world = World(open_scene(scene))
    returns, pulses = 0, 0
    with waiting("scanning", quiet=True) as scanned:
        for frame, file in steps(zip(frames, files, strict=True), "scanning", total=len(frames), quiet=as_json):
            seen = scan_once(world, device, place, seed=seed, frame=frame, keep_misses=misses, threads=threads)
            save_frame(seen, file, force=force, coords=coords)  # type: ignore[arg-type]
            if picture and frame == frames[0]:
                draw_frame(seen, picture, force=force)
            returns += int(seen.hit.sum())
            pulses += seen.pulses
    if as_json:
        print_json(
            {
                "scene": world.name, "triangles": world.triangles, "placements": world.placements,
                "sensor": device.name, "frames": len(frames), "pulses": pulses, "returns": returns, "seed": seed,
                "build_s": built["seconds"], "scan_s": scanned["seconds"], "files": [str(file) for file in files],
            }
        )  # fmt: skip
        return
    console.print(
        f"{world.name}: {world.triangles:,} triangles in {world.placements:,} placements, "
        f"ready in {built['seconds']:.1f} s"
    )
    console.print(f"{device.name}: {pulses:,} pulses, {returns:,} returns in {len(frames)} frame(s)")
    console.print(f"wrote {files[0]}" + (f" … {files[-1].name}" if len(files) > 1 else ""))
    if picture:
        console.print(f"drew {picture}")


def _known_mode(mode: str) -> str:
    from tussock.sensors.receiver import Mode

    known = get_args(Mode)
    if mode not in known:
        remedy = nearest(mode, known)
        remedy += "" if remedy.startswith("known") else f" (known: {', '.join(known)})"
        raise InputError(f"--mode {mode!r}: no such mode; {remedy}")
    return mode
