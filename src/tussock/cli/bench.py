"""``tussock bench``: how fast, beside the ray tracer alone."""

from __future__ import annotations

from typing import Annotated

import typer

__all__ = ["bench"]


def bench(
    full: Annotated[bool, typer.Option("--full", help="Also the courtyard of 191 million triangles.")] = False,
    rounds: Annotated[int, typer.Option(help="Rounds; figures are medians over them.", min=1)] = 9,
    threads: Annotated[int | None, typer.Option(help="Threads to use; one a core if not given.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for machines.")] = False,
) -> None:
    """Measure whole scans against a loop that only traces the same rays."""
    from rich.table import Table

    from tussock.bench import (
        bench_sensor,
        everything_on,
        machine,
        measure,
        measure_mirrors_unused,
        peak_memory,
        shiny,
    )
    from tussock.cli.console import out, print_json, waiting
    from tussock.poses import Pose
    from tussock.scene.courtyard import courtyard
    from tussock.scene.meadow import meadow
    from tussock.sensors.catalogue import load_sensor
    from tussock.trace.world import World

    place = Pose.at(0.0, 0.0, 2.0)
    with waiting("growing the meadow", quiet=as_json):
        world = World(meadow())
    about = machine(world)
    cases = []
    for rays in (1, 9):
        with waiting(f"meadow, {rays} ray(s)", quiet=as_json):
            cases.append(measure("meadow", world, bench_sensor(rays), place, rounds=rounds, threads=threads))
    with waiting("meadow, no mirrors", quiet=as_json):
        cases.append(
            measure_mirrors_unused("no mirrors", world, bench_sensor(9), place, rounds=rounds, threads=threads)
        )
    with waiting("meadow, everything on", quiet=as_json):
        world = World(shiny(meadow()))
        sensor = everything_on(bench_sensor(9))
        cases.append(measure("everything on", world, sensor, place, rounds=rounds, threads=threads))
    if full:
        with waiting("building the courtyard", quiet=as_json) as built:
            world = World(courtyard(full=True))
        about["courtyard_ready_s"] = built["seconds"]
        sensor = load_sensor("hdl-64e-s2").with_(**{"beam.rays": 9})
        with waiting("courtyard, 9 rays", quiet=as_json):
            cases.append(measure("courtyard", world, sensor, place, rounds=rounds, threads=threads))
    about["peak_memory_gib"] = peak_memory()
    if as_json:
        print_json({"machine": about, "cases": [case.plain() for case in cases]})
        return
    out.print(f"{about['processor']}, {about['cores']} cores, Embree {about['embree']}, medians of {rounds}")
    table = Table(box=None, pad_edge=False)
    for heading in ("case", "rays", "bare Mpulses/s", "scan Mpulses/s", "ratio", "Mrays/s", "× real time"):
        table.add_column(heading, justify="left" if heading == "case" else "right")
    for case in cases:
        table.add_row(
            case.name, str(case.rays), f"{case.bare_pulses_per_s / 1e6:.2f}", f"{case.scan_pulses_per_s / 1e6:.2f}",
            f"{case.ratio:.3f}", f"{case.rays_per_s / 1e6:.1f}", f"{case.times_real_time:.1f}",
        )  # fmt: skip
    out.print(table)
    out.print("no mirrors: here bare is the same scan with max_bounces = 0", markup=False)
    if full:
        out.print(
            f"courtyard ready in {about['courtyard_ready_s']:.1f} s, peak memory {about['peak_memory_gib']:.2f} GiB"
        )
