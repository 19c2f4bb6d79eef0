"""What ``tussock stream`` sends where: sensors, their places, their addresses, and who looks on."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from tussock.cameras.camera import Camera
from tussock.cameras.render import render
from tussock.cli.settings import parse_settings
from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.sources import open_pose
from tussock.trace.world import World
from tussock.wire.addresses import Endpoint
from tussock.wire.live import Outlet
from tussock.wire.livox.driver import LivoxDriverLink, LivoxState, device_address
from tussock.wire.livox.encode import LivoxEncoder
from tussock.wire.ouster.encode import OusterEncoder
from tussock.wire.ouster.http import OusterServer
from tussock.wire.velodyne.position import GeoOrigin
from tussock.wire.watch.targets import is_watcher

__all__ = [
    "devices_of",
    "livox_links",
    "one_each",
    "outlets_of",
    "picture_size",
    "places_of",
    "servers_of",
    "split_targets",
    "take_pictures",
]


def devices_of(names: list[str], rate: float | None, rays: int | None, settings: list[str]) -> list[Sensor]:
    changes: dict[str, Any] = parse_settings(settings)
    if rate is not None:
        changes["rotation_hz"] = rate
    if rays is not None:
        changes["beam.rays"] = rays
    return [load_sensor(name).with_(**changes) if changes else load_sensor(name) for name in names]


def split_targets(to: list[str]) -> tuple[list[str], list[str]]:
    """Places to look at, and addresses for packets."""
    return [text for text in to if is_watcher(text)], [text for text in to if not is_watcher(text)]


def picture_size(camera: str | None, shown: list[str]) -> tuple[int, int] | None:
    if camera is None:
        return None
    if not shown:
        raise InputError("--camera: pictures go to foxglove, rerun or dds; give --to one of them")
    width, _, height = camera.lower().partition("x")
    if not (width.isdigit() and height.isdigit() and 8 <= int(width) <= 4096 and 8 <= int(height) <= 4096):
        raise InputError.of("--camera", "must be WIDTHxHEIGHT, from 8 to 4096 pixels each", camera)
    return int(width), int(height)


def take_pictures(outlets: list[Outlet], world: World, size: tuple[int, int], threads: int | None) -> None:
    """Give every outlet a camera that looks ahead from the sensor's place."""
    camera = Camera(width=size[0], height=size[1], samples=1)

    def picture(pose: Pose | Trajectory, time: float) -> Any:
        return render(world, camera, pose, time=time, threads=threads).rgb

    for outlet in outlets:
        outlet.picture = partial(picture, outlet.pose)


def places_of(devices: list[Sensor], poses: list[str], trajectory: Path | None) -> list[Pose | Trajectory]:
    given = poses * len(devices) if len(poses) == 1 else one_each("--pose", poses, len(devices))
    return [open_pose(place, trajectory) for place in given]


def outlets_of(
    devices: list[Sensor], places: list[Pose | Trajectory], to: list[str], positions_to: list[str], imu_to: list[str],
    origin: str | None,
) -> list[Outlet]:  # fmt: skip
    def endpoints(option: str, given: list[str]) -> list[Endpoint | None]:
        return [Endpoint.parse(text) if text else None for text in one_each(option, given, len(devices))]

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
            name=device.name if sum(other.name == device.name for other in devices) == 1 else f"{device.name}_{number}",
        )
        for number, (device, place) in enumerate(zip(devices, places, strict=True))
    ]
    for outlet in outlets:
        outlet.encoder()  # refuses a sensor without packets before the scene is built
    return outlets


Servers = list[Callable[[], AbstractContextManager[Any]]]


def livox_links(outlets: list[Outlet], livox: list[str | None]) -> Servers:
    """What answers the drivers of Livox's sensors, which may send packets elsewhere."""
    links: Servers = []
    for outlet, text in zip(outlets, livox, strict=True):
        if text is None:
            continue
        encoder = outlet.encoder()
        if not isinstance(encoder, LivoxEncoder) or encoder.format.sdk != 2 or outlet.to is None:
            raise InputError(
                f"--livox: sensor {outlet.sensor.name} is no Livox of the second SDK with --to; only those answer"
            )
        for to in (outlet.to, outlet.imu_to):
            if to is not None and to.family != socket.AF_INET:
                raise InputError.of("--to", "must be an IPv4 address where --livox is given", str(to))
        at = device_address(text)
        serial = f"TUSSOCK{outlet.number:07d}"
        state = LivoxState(at, outlet.to, outlet.imu_to, point_type=encoder.format.type, serial=serial)
        outlet.route = state.route
        links.append(partial(LivoxDriverLink, state, at))
    return links


def servers_of(outlets: list[Outlet], http: list[str | None]) -> Servers:
    """What opens the HTTP end points of the sensors that have them; their packets come from the same address."""
    servers: Servers = []
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


def one_each(option: str, given: list[str], sensors: int) -> list[str | None]:
    if given and len(given) != sensors:
        raise InputError.of(option, f"must be given once for each of the {sensors} sensors, or not at all", given)
    return list(given) or [None] * sensors
