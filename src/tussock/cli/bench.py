"""``tussock bench``: how fast, beside the ray tracer alone."""

from __future__ import annotations

from typing import Annotated

import typer

from tussock.cli.options import Threads

__all__ = ["bench"]


def bench(
    full: Annotated[bool, typer.Option("--full", help="Also the courtyard of 191 million triangles.")] = False,
    rounds: Annotated[
        int, typer.Option(help="Rounds at most, three where they take long; figures are medians over them.", min=1)
    ] = 9,
    threads: Threads = None,
    on: Annotated[str, typer.Option(help="What to measure: cpu, or gpu (an NVIDIA graphics processor).")] = "cpu",
    as_json: Annotated[bool, typer.Option("--json", help="As JSON, for machines.")] = False,
) -> None:
    """Measure whole scans against a loop that only traces the same rays."""
    from dataclasses import asdict

    from rich.table import Table

    from tussock.bench import (
        bench_sensor,
        everything_on,
        machine,
        measure,
        measure_adaptive,
        measure_image,
        measure_mirrors_unused,
        measure_response,
        opaque,
        peak_memory,
        shiny,
        timed_in_turns,
    )
    from tussock.bench_cut_outs import measure_cut_outs
    from tussock.bench_weather import measure_weather
    from tussock.cameras.camera import Camera
    from tussock.cameras.render import render
    from tussock.cli.console import out, print_json, waiting
    from tussock.poses import Pose
    from tussock.scenes.courtyard import courtyard
    from tussock.scenes.meadow import meadow
    from tussock.sensors.catalogue import load_sensor
    from tussock.simulate import checked_on
    from tussock.trace.world import World

    if checked_on(on) == "gpu":
        _bench_gpu(full, rounds, as_json)
        return
    place = Pose.at(0.0, 0.0, 2.0)
    with waiting("growing the meadow", quiet=as_json):
        world = World(meadow())
    about = machine(world)
    cases = []
    for rays in (1, 9):
        with waiting(f"meadow, {rays} ray(s)", quiet=as_json):
            cases.append(measure("meadow", world, bench_sensor(rays), place, rounds=rounds, threads=threads))
    for rays in (16, 32, 48):
        with waiting(f"meadow, beams on, {rays} rays", quiet=as_json):
            cases.append(measure("beams on", world, bench_sensor(rays), place, rounds=rounds, threads=threads))
    with waiting("meadow, adaptive beams", quiet=as_json):
        cases.append(measure_adaptive("adaptive", world, bench_sensor(48), place, rounds=rounds, threads=threads))
    with waiting("meadow, hit by hit", quiet=as_json):
        by_hit = bench_sensor(48).with_(**{"receiver.model": "hits"})
        cases.append(measure("hit by hit", world, by_hit, place, rounds=rounds, threads=threads))
    with waiting("meadow, depth image", quiet=as_json):
        camera = Camera(width=2000, height=2000)
        cases.append(measure_image("depth image", world, camera, place, rounds=rounds, threads=threads))
    with waiting("meadow, no mirrors, opaque leaves", quiet=as_json):
        world = World(opaque(meadow()))
        cases.append(measure("opaque leaves", world, bench_sensor(48), place, rounds=rounds, threads=threads))
        cases.append(
            measure_mirrors_unused("no mirrors", world, bench_sensor(9), place, rounds=rounds, threads=threads)
        )
    with waiting("bushes, tagged response", quiet=as_json):
        response = measure_response(rounds=rounds, threads=threads)
    with waiting("meadow, everything on", quiet=as_json):
        world = World(shiny(meadow()))
        sensor = everything_on(bench_sensor(9))
        cases.append(measure("everything on", world, sensor, place, rounds=rounds, threads=threads))
    with waiting("meadow, weather", quiet=as_json):
        air = measure_weather(meadow(), place, rounds=rounds, threads=threads)
    with waiting("leaves on cards, cut out", quiet=as_json):
        cards = measure_cut_outs(plants=1000, rounds=rounds)
    if full:
        with waiting("building the courtyard", quiet=as_json) as built:
            world = World(courtyard(full=True))
        about["courtyard_ready_s"] = built["seconds"]
        sensor = load_sensor("hdl-64e-s2").with_(**{"beam.rays": 9})
        with waiting("courtyard, 9 rays", quiet=as_json):
            cases.append(measure("courtyard", world, sensor, place, rounds=rounds, threads=threads))
        with waiting("courtyard, adaptive beams", quiet=as_json):
            sensor = load_sensor("hdl-64e-s2")
            cases.append(measure_adaptive("courtyard, adaptive", world, sensor, place, rounds=rounds, threads=threads))
        with waiting("courtyard, colour picture", quiet=as_json):
            camera = Camera(width=1920, height=1080)
            _, taken = timed_in_turns(lambda: None, lambda: render(world, camera, place, threads=threads), rounds=1)
        about["courtyard_picture_s"] = taken
    about["peak_memory_gib"] = peak_memory()
    if as_json:
        leaves = {name: way._asdict() for name, way in cards.items()}
        plain = [case.plain() for case in cases]
        print_json({"machine": about, "cases": plain, "response": asdict(response), "weather": air, "cut_outs": leaves})
        return
    out.print(
        f"{about['processor']}, {about['cores']} cores, Embree {about['embree']}, medians of up to {rounds} rounds"
    )
    table = Table(box=None, pad_edge=False)
    for heading in (
        "case", "rays", "bare Mpulses/s", "close Mpulses/s", "scan Mpulses/s", "scan/bare", "scan/close", "Mrays/s",
        "× real time",
    ):  # fmt: skip
        table.add_column(heading, justify="left" if heading == "case" else "right")
    for case in cases:
        table.add_row(
            case.name, str(case.rays), f"{case.bare_pulses_per_s / 1e6:.2f}",
            "" if case.close_pulses_per_s is None else f"{case.close_pulses_per_s / 1e6:.2f}",
            f"{case.scan_pulses_per_s / 1e6:.2f}", f"{case.ratio:.3f}",
            "" if case.close_ratio is None else f"{case.close_ratio:.3f}", f"{case.rays_per_s / 1e6:.1f}",
            f"{case.times_real_time:.1f}",
        )  # fmt: skip
    out.print(table)
    out.print(
        "bare: a loop that only traces the rays, one of 16 pulses in firing order a packet; close: the same loop with the rays in "
        "the scan's packets, which lie close together; scan: all of it"
    )
    out.print(
        "beams on: the receiver of echoes with as many rays as the catalogue has, leaves let light through; opaque leaves: "
        "they do not; hit by hit: Goodin's receiver"
    )
    out.print("adaptive: bare is the same scan with all sub-rays")
    out.print("no mirrors: opaque leaves, and bare is the same scan with max_bounces = 0")
    out.print(
        f"tagged response, met by {100 * response.tagged_share:.0f} % of the pulses: {response.one_return:.2f} × the "
        f"plain scan with one return, {response.two_returns:.2f} × with two"
    )
    out.print("weather, × the dry scan: " + ", ".join(f"{name} {ratio:.2f}" for name, ratio in air.items()))
    cut, grown = cards["cut out"], cards["triangles"]
    out.print(
        f"leaves as pictures on cards, cut out: {cut.time:.2f} × the scan with the same leaves as triangles "
        f"({cut.triangles} triangles a plant instead of {grown.triangles}); returns from leaves {100 * cut.share:.2f} % "
        f"and {100 * grown.share:.2f} %"
    )
    if full:
        out.print(
            f"courtyard ready in {about['courtyard_ready_s']:.1f} s, peak memory {about['peak_memory_gib']:.2f} GiB, "
            f"a colour picture of 1920 × 1080 pixels in {about['courtyard_picture_s']:.1f} s"
        )


def _bench_gpu(full: bool, rounds: int, as_json: bool) -> None:
    """Scans on the graphics processor, beside the same ones on the CPU."""
    from rich.table import Table

    from tussock.bench import bench_sensor, machine
    from tussock.bench_gpu import measure_gpu
    from tussock.cli.console import out, print_json, waiting
    from tussock.poses import Pose
    from tussock.scenes.ready import ready_scene
    from tussock.sensors.catalogue import load_sensor
    from tussock.trace.cuda.driver import gpu
    from tussock.trace.world import World

    device = gpu()
    place, cases, about = Pose.at(0.0, 0.0, 2.0), [], {}
    for name in ("meadow", "courtyard") if full else ("meadow",):
        with waiting(f"building the {name}", quiet=as_json):
            world = World(ready_scene(name))
        about = machine(world) | {"gpu": device.name, "driver": device.driver}
        for rays in (1, 9):
            sensor = bench_sensor(rays) if name == "meadow" else load_sensor("hdl-64e-s2").with_(**{"beam.rays": rays})
            with waiting(f"{name}, {rays} ray(s)", quiet=as_json):
                cases.append(measure_gpu(name, world, sensor, place, rounds=rounds))
    if as_json:
        print_json({"machine": about, "cases": [case.plain() for case in cases]})
        return
    out.print(f"{about['gpu']}, beside {about['processor']}, {about['cores']} cores, medians of {rounds}")
    table = Table(box=None, pad_edge=False)
    for heading in ("case", "rays", "on the device ms", "to a frame ms", "CPU ms", "Mrays/s", "same %"):
        table.add_column(heading, justify="left" if heading == "case" else "right")
    for case in cases:
        table.add_row(
            case.name, str(case.rays), f"{case.device_ms:.2f}", f"{case.frame_ms:.2f}", f"{case.cpu_ms:.0f}",
            f"{case.rays_per_s / 1e6:.0f}", f"{100 * case.same:.3f}",
        )  # fmt: skip
    out.print(table)
