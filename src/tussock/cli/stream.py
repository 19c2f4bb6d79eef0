"""``tussock stream``: a sensor that is not there, live on the network or in shared memory."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tussock.errors import InputError

if TYPE_CHECKING:
    from tussock.poses import Pose, Trajectory
    from tussock.sensors.sensor import Sensor
    from tussock.wire.live import Outlet, StreamReport

__all__ = ["stream"]


def stream(
    scene: Annotated[str, typer.Argument(help="A scene file (.toml) or the name of a ready scene.")],
    sensor: Annotated[list[str], typer.Option(help="A sensor of the catalogue or a sensor file; may be repeated.")],
    to: Annotated[
        list[str] | None, typer.Option(help="HOST:PORT for the packets, one for each sensor in their order.")
    ] = None,
    positions_to: Annotated[
        list[str] | None, typer.Option(help="HOST:PORT for position packets, one for each sensor in their order.")
    ] = None,
    imu_to: Annotated[
        list[str] | None,
        typer.Option(help="HOST:PORT for inertial packets (Ouster), one for each sensor in their order."),
    ] = None,
    http: Annotated[
        list[str] | None,
        typer.Option(
            help="HOST:PORT where an Ouster answers its driver (drivers ask at port 80), one for each sensor."
        ),
    ] = None,
    share: Annotated[
        list[str] | None, typer.Option(help="Name of a shared memory segment, one for each sensor.")
    ] = None,
    lockstep: Annotated[
        bool, typer.Option("--lockstep", help="Wait for the consumer's answer after every frame; needs --share.")
    ] = False,
    timeout: Annotated[float, typer.Option(help="How long to wait for an answer in lock step [s].")] = 10.0,
    pose: Annotated[
        list[str] | None, typer.Option(help="x,y,z or x,y,z,roll,pitch,yaw [m, deg]; one, or one for each sensor.")
    ] = None,
    trajectory: Annotated[Path | None, typer.Option(help="The path of all sensors: a TUM or CSV file.")] = None,
    seconds: Annotated[float | None, typer.Option(help="Stop after this long; for ever without.")] = None,
    rate: Annotated[float | None, typer.Option(help="Revolutions per second.")] = None,
    rays: Annotated[int | None, typer.Option(help="Sub-rays a pulse.")] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="Any other sensor setting, as key=value; may be repeated.")
    ] = None,
    origin: Annotated[
        str | None, typer.Option(help="Latitude,longitude of the scene's origin, for GPS sentences.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all chance.")] = 0,
    threads: Annotated[int | None, typer.Option(help="Threads to use; one a core if not given.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Say what was done as JSON.")] = False,
) -> None:
    """Simulate in the loop and send every packet at its own moment, or share every frame with another program."""
    from contextlib import ExitStack

    from tussock.cli.console import note, waiting
    from tussock.cli.interrupt import going_on
    from tussock.cli.sources import open_scene
    from tussock.trace.world import World
    from tussock.wire.live import stream as run
    from tussock.wire.shared.shared_run import SharedRun

    devices = _devices(sensor, rate, rays, settings or [])
    places = _places(devices, pose or [], trajectory)
    outlets = _outlets(devices, places, to or [], positions_to or [], imu_to or [], origin)
    servers = _servers(outlets, _one_each("--http", http or [], len(outlets)))
    names = _one_each("--share", share or [], len(devices))
    if not to and not share:
        raise InputError("stream: give --to HOST:PORT for packets, --share NAME for shared memory, or both")
    if lockstep and (to or len(devices) > 1 or not share):
        raise InputError("lock step: needs --share NAME, one sensor, and no --to: packets go by the clock")
    if lockstep and not timeout > 0:
        raise InputError.of("timeout", "must be above 0 s", timeout)
    with ExitStack() as stack:
        for server in servers:
            stack.enter_context(server())
        for outlet, name in zip(outlets, names, strict=True):
            if name is not None:
                outlet.share = stack.enter_context(SharedRun(name, outlet.sensor, outlet.pose, lockstep=lockstep))
        with waiting("building the scene", quiet=as_json):
            world = World(open_scene(scene))
        if lockstep:
            with going_on(lambda: "no more is shared"):
                _in_lockstep(world, outlets[0], seconds, timeout, seed, threads, as_json)
            return
        with going_on(lambda: "no more is sent"):
            reports = run(world, outlets, seconds=seconds, seed=seed, threads=threads, say=note)
    _tell(reports, as_json)


def _devices(names: list[str], rate: float | None, rays: int | None, settings: list[str]) -> list[Sensor]:
    from tussock.cli.settings import parse_settings
    from tussock.sensors.catalogue import load_sensor

    changes: dict[str, Any] = parse_settings(settings)
    if rate is not None:
        changes["rotation_hz"] = rate
    if rays is not None:
        changes["beam.rays"] = rays
    return [load_sensor(name).with_(**changes) if changes else load_sensor(name) for name in names]


def _places(devices: list[Sensor], poses: list[str], trajectory: Path | None) -> list[Pose | Trajectory]:
    from tussock.cli.sources import open_pose

    given = poses * len(devices) if len(poses) == 1 else _one_each("--pose", poses, len(devices))
    return [open_pose(place, trajectory) for place in given]


def _outlets(
    devices: list[Sensor], places: list[Pose | Trajectory], to: list[str], positions_to: list[str], imu_to: list[str],
    origin: str | None,
) -> list[Outlet]:  # fmt: skip
    from tussock.wire.addresses import Endpoint
    from tussock.wire.live import Outlet
    from tussock.wire.velodyne.position import GeoOrigin

    def endpoints(option: str, given: list[str]) -> list[Endpoint | None]:
        return [Endpoint.parse(text) if text else None for text in _one_each(option, given, len(devices))]

    targets, others, imus = (
        endpoints("--to", to),
        endpoints("--positions-to", positions_to),
        endpoints("--imu-to", imu_to),
    )
    used = [target.address for target in targets if target]
    if len(set(used)) != len(used):
        raise InputError("--to: two sensors cannot share one address; give each a port of its own")
    outlets = [
        Outlet(
            device,
            place,
            to=targets[number],
            positions_to=others[number],
            imu_to=imus[number],
            origin=GeoOrigin.parse(origin) if origin else GeoOrigin(),
            number=number,
        )
        for number, (device, place) in enumerate(zip(devices, places, strict=True))
    ]
    for outlet in outlets:
        outlet.encoder()  # refuses a sensor without packets before the scene is built
    return outlets


def _servers(outlets: list[Outlet], http: list[str | None]) -> list[Callable[[], AbstractContextManager[Any]]]:
    """What opens the HTTP end points of the sensors that have them; their packets come from the same address."""
    from dataclasses import replace
    from functools import partial

    from tussock.wire.addresses import Endpoint
    from tussock.wire.ouster.encode import OusterEncoder
    from tussock.wire.ouster.http import OusterServer

    servers: list[Callable[[], AbstractContextManager[Any]]] = []
    for outlet, text in zip(outlets, http, strict=True):
        if text is None:
            continue
        encoder = outlet.encoder()
        if not isinstance(encoder, OusterEncoder) or outlet.to is None:
            raise InputError(f"--http: sensor {outlet.sensor.name} is no Ouster with --to; only those answer over HTTP")
        unit = replace(encoder.unit, lidar_port=outlet.to.port)
        if outlet.imu_to is not None:
            unit = replace(unit, imu_port=outlet.imu_to.port)
        at = Endpoint.parse(text)
        servers.append(partial(OusterServer, unit, at, destination=str(outlet.to.address[0])))
        if at.address[0] not in ("0.0.0.0", "::"):
            # Drivers drop what does not come from the sensor that they asked.
            outlet.to = replace(outlet.to, source=at.address[0])
            outlet.imu_to = outlet.imu_to and replace(outlet.imu_to, source=at.address[0])
    return servers


def _one_each(option: str, given: list[str], sensors: int) -> list[str | None]:
    if given and len(given) != sensors:
        raise InputError.of(option, f"must be given once for each of the {sensors} sensors, or not at all", given)
    return list(given) or [None] * sensors


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
                    "dropped_revolutions": report.dropped, "seconds": report.elapsed_s,
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
