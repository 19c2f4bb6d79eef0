"""``tussock demo``: the main job from end to end, in a few seconds."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from tussock.cli.options import Seed, complete_sensor

__all__ = ["demo"]


def demo(
    out: Annotated[Path, typer.Option(help="Folder for what the demo writes.")] = Path("demo_out"),
    full: Annotated[bool, typer.Option("--full", help="The whole courtyard: 191 million triangles.")] = False,
    sensor: Annotated[
        str, typer.Option(autocompletion=complete_sensor, help="A sensor of the catalogue.")
    ] = "hdl-64e-s2",
    rays: Annotated[int, typer.Option(help="Sub-rays a pulse.")] = 9,
    seed: Seed = 0,
    force: Annotated[bool, typer.Option("--force", help="Overwrite files that exist.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False,
) -> None:
    """Build a vegetated yard, scan it, write files and a picture, and say what was done."""
    from tussock.bench import peak_memory
    from tussock.cli.console import out as console
    from tussock.cli.console import print_json, waiting
    from tussock.errors import OutputError
    from tussock.files.formats import save_frame
    from tussock.plots.frame import plot_frame
    from tussock.poses import Pose
    from tussock.scenes.courtyard import courtyard
    from tussock.sensors.catalogue import load_sensor
    from tussock.simulate import scan
    from tussock.trace.world import World
    from tussock.whole_files import check_writable

    device = load_sensor(sensor).with_(**{"beam.rays": rays})
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{out}: cannot be made a folder ({error.strerror})") from None
    name = "courtyard" if full else "yard"
    files = [out / f"{name}.pcd", out / f"{name}.parquet"]
    picture = out / f"{name}.png"
    for file in [*files, picture]:
        check_writable(file, force=force)

    with waiting("growing the yard", quiet=as_json) as grown:
        scene = courtyard(full=full, seed=seed)
    with waiting("building the hierarchies", quiet=as_json) as built:
        world = World(scene)
    place = Pose.at(0.0, 0.0, 2.0)
    with waiting("scanning", quiet=as_json):
        scan(world, device, place, seed=seed)  # the first scan compiles the kernels or loads them
    first_cpu = time.process_time()
    with waiting("scanning", quiet=as_json) as scanned:
        frame = scan(world, device, place, seed=seed)
    with waiting("writing", quiet=as_json):
        for file in files:
            save_frame(frame, file, force=force)
        plot_frame(frame, picture, color="label", force=force)

    names = {number: word for word, number in world.labels.items()}
    shares = {names[int(label)]: int((frame.label == label).sum()) for label in set(frame.label.tolist())}
    rate = frame.pulses * rays / scanned["seconds"]
    if as_json:
        print_json(
            {
                "scene": name, "triangles": world.triangles, "placements": world.placements,
                "grow_s": grown["seconds"], "build_s": built["seconds"], "sensor": device.name, "rays": rays,
                "pulses": frame.pulses, "returns": len(frame), "scan_s": scanned["seconds"], "rays_per_s": rate,
                "times_real_time": device.frame_period / scanned["seconds"], "returns_by_label": shares,
                "first_frame_cpu_s": first_cpu, "peak_memory_gib": peak_memory(),
                "files": [str(file) for file in [*files, picture]],
            }
        )  # fmt: skip
        return
    console.print(f"scene    {world.triangles:,} triangles in {world.placements:,} placements")
    console.print(f"         grown in {grown['seconds']:.1f} s, ready to scan in {built['seconds']:.1f} s more, "
                  f"{peak_memory():.2f} GiB")  # fmt: skip
    console.print(f"sensor   {device.name}, {rays} rays a pulse")
    console.print(
        f"scan     {frame.pulses:,} pulses, {len(frame):,} returns in {scanned['seconds']:.3f} s: "
        f"{rate / 1e6:.1f} million rays/s, {device.frame_period / scanned['seconds']:.2f} × real time"
    )
    ranked = sorted(shares.items(), key=lambda item: -item[1])
    console.print("returns  " + ", ".join(f"{count:,} {label}" for label, count in ranked))
    for file in [*files, picture]:
        console.print(f"wrote    {file}")
