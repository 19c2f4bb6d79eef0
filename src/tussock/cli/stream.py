"""``tussock stream``: a sensor that is not there, live on the network or in shared memory."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tussock.cli.options import (
    SCENE_HELP,
    Seed,
    Threads,
    WeatherWords,
    WindWords,
    complete_scene,
    complete_sensor,
    takes,
)
from tussock.errors import InputError

if TYPE_CHECKING:
    from tussock.wire.live import Outlet, StreamReport

__all__ = ["stream"]


@dataclass(frozen=True, kw_only=True)
class StreamOptions:
    """What the command takes."""

    scene: Annotated[str, typer.Argument(autocompletion=complete_scene, help=SCENE_HELP)]
    sensor: Annotated[
        list[str],
        typer.Option(
            autocompletion=complete_sensor, help="A sensor of the catalogue or a sensor file; may be repeated."
        ),
    ]
    to: Annotated[
        list[str] | None,
        typer.Option(
            help="HOST:PORT for the packets, one for each sensor in their order; also foxglove, rerun or dds: see there."
        ),
    ] = None
    positions_to: Annotated[
        list[str] | None, typer.Option(help="HOST:PORT for position packets, one for each sensor in their order.")
    ] = None
    imu_to: Annotated[
        list[str] | None,
        typer.Option(help="HOST:PORT for inertial packets (Ouster, Livox), one for each sensor in their order."),
    ] = None
    http: Annotated[
        list[str] | None,
        typer.Option(
            help="HOST:PORT where an Ouster answers its driver (drivers ask at port 80), one for each sensor."
        ),
    ] = None
    livox: Annotated[
        list[str] | None,
        typer.Option(
            help="IPv4 address of this machine where a Livox (Mid-360) answers its driver, one for each sensor."
        ),
    ] = None
    camera: Annotated[
        str | None,
        typer.Option(help="WIDTHxHEIGHT of a picture from each sensor's place, for foxglove, rerun and dds."),
    ] = None
    share: Annotated[list[str] | None, typer.Option(help="Name of a shared memory segment, one for each sensor.")] = (
        None
    )
    lockstep: Annotated[
        bool, typer.Option("--lockstep", help="Wait for the consumer's answer after every frame; needs --share.")
    ] = False
    timeout: Annotated[float, typer.Option(help="How long to wait for an answer in lock step [s].")] = 10.0
    pose: Annotated[
        list[str] | None, typer.Option(help="x,y,z or x,y,z,roll,pitch,yaw [m, deg]; one, or one for each sensor.")
    ] = None
    trajectory: Annotated[Path | None, typer.Option(help="The path of all sensors: a TUM or CSV file.")] = None
    weather: WeatherWords = None
    seconds: Annotated[float | None, typer.Option(help="Stop after this long; for ever without.")] = None
    rate: Annotated[float | None, typer.Option(help="Revolutions per second.")] = None
    rays: Annotated[int | None, typer.Option(help="Sub-rays a pulse.")] = None
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Any other sensor setting, as key=value; may be repeated.")
    ] = None
    origin: Annotated[str | None, typer.Option(help="Latitude,longitude of the scene's origin, for GPS sentences.")] = (
        None
    )
    real_time: Annotated[
        bool, typer.Option("--real-time", help="Simulate before all other programs, where the system gives that.")
    ] = False
    wind: WindWords = None
    seed: Seed = 0
    threads: Threads = None
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False


@takes(StreamOptions)
def stream(given: StreamOptions) -> None:
    """Simulate in the loop and send every packet at its own moment, or share every frame with another program."""
    from contextlib import ExitStack, closing

    from tussock.cli.console import note, waiting
    from tussock.cli.interrupt import going_on
    from tussock.cli.outlets import (
        devices_of,
        livox_links,
        one_each,
        outlets_of,
        picture_size,
        places_of,
        servers_of,
        split_targets,
        take_pictures,
    )
    from tussock.cli.sources import open_scene
    from tussock.trace.world import World
    from tussock.wire.live import stream as run
    from tussock.wire.pacing import before_others
    from tussock.wire.shared.shared_run import SharedRun
    from tussock.wire.watch.targets import open_watcher

    devices = devices_of(given.sensor, given.rate, given.rays, given.settings or [])
    places = places_of(devices, given.pose or [], given.trajectory)
    shown, packets_to = split_targets(given.to or [])
    outlets = outlets_of(devices, places, packets_to, given.positions_to or [], given.imu_to or [], given.origin)
    size = picture_size(given.camera, shown)
    servers = servers_of(outlets, one_each("--http", given.http or [], len(outlets)))
    servers += livox_links(outlets, one_each("--livox", given.livox or [], len(outlets)))
    names = one_each("--share", given.share or [], len(devices))
    if not given.to and not given.share:
        raise InputError(
            "stream: give --to HOST:PORT for packets, --to foxglove, rerun or dds to look, --share NAME for shared memory"
        )
    if given.lockstep and (given.to or len(devices) > 1 or not given.share):
        raise InputError("lock step: needs --share NAME, one sensor, and no --to: packets go by the clock")
    if given.lockstep and not given.timeout > 0:
        raise InputError.of("timeout", "must be above 0 s", given.timeout)
    with ExitStack() as stack:
        for server in servers:
            stack.enter_context(server())
        called = [outlet.name for outlet in outlets]
        opened = [open_watcher(text, called, pictures=size is not None) for text in shown]
        watchers = [stack.enter_context(closing(watcher)) for watcher in opened]
        for outlet, name in zip(outlets, names, strict=True):
            if name is not None:
                outlet.share = stack.enter_context(SharedRun(name, outlet.sensor, outlet.pose, lockstep=given.lockstep))
        with waiting("building the scene", quiet=given.as_json):
            world = World(open_scene(given.scene, given.weather, wind=given.wind))
        if given.lockstep:
            with going_on(lambda: "no more is shared"):
                _in_lockstep(world, outlets[0], given.seconds, given.timeout, given.seed, given.threads, given.as_json)
            return
        if size is not None:
            take_pictures(outlets, world, size, given.threads)
        if given.real_time:
            stack.enter_context(before_others())
        with going_on(lambda: "no more is sent"):
            reports = run(
                world,
                outlets,
                seconds=given.seconds,
                seed=given.seed,
                threads=given.threads,
                watchers=watchers,
                say=note,
            )
    _tell(reports, given.as_json)


def _in_lockstep(
    world: Any, outlet: Outlet, seconds: float | None, timeout: float, seed: int, threads: int | None, as_json: bool
) -> None:
    import time

    from tussock.cli.console import out, print_json
    from tussock.simulate import frames_between
    from tussock.wire.shared.lockstep import lockstep

    assert outlet.share is not None
    frames = count() if seconds is None else frames_between(outlet.sensor, 0.0, seconds)
    begin, done, returns = time.perf_counter(), 0, 0
    steps = lockstep(world, outlet.sensor, outlet.share, frames, timeout=timeout, seed=seed, threads=threads)
    for frame in steps:
        done += 1
        returns += len(frame)
    taken = time.perf_counter() - begin
    if as_json:
        print_json({"sensor": outlet.sensor.name, "frames": done, "returns": returns, "seconds": taken})
        return
    out.print(f"{outlet.sensor.name}: {done} frames in lock step, {done / taken:.1f} a second")


def _tell(reports: list[StreamReport], as_json: bool) -> None:
    from tussock.cli.console import out, print_json

    if as_json:
        print_json(
            [
                {
                    "sensor": report.sensor, "packets": report.packets, "revolutions": report.revolutions,
                    "dropped_revolutions": report.dropped, "lost_packets": report.lost, "seconds": report.elapsed_s,
                    "times_real_time": report.speed, "within_5_ms": report.lateness.share_within(5e-3),
                    "worst_late_s": report.lateness.worst,
                }
                for report in reports
            ]
        )  # fmt: skip
        return
    for report in reports:
        line = f"{report.sensor}: {report.revolutions} revolutions"
        if report.packets:
            line += f", {report.packets:,} packets ({report.packets / report.elapsed_s:,.0f} a second), "
            line += f"{report.lateness.share_within(5e-3):.1%} within 5 ms of their time"
        out.print(line + f"; could run {report.speed:.1f} × real time", soft_wrap=True)
        if report.dropped:
            out.print(f"{report.sensor}: could not keep up; {report.dropped} whole revolutions were dropped")
        if report.lost:
            out.print(f"{report.sensor}: {report.lost} packets were lost: the system's queue was full")
