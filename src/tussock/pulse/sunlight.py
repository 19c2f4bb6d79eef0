"""The sunlight that a sensor receives beside its own: what Ouster calls near infrared.

A detector counts sunlight of its wavelength between pulses. In units of what a white wall sends back that faces the sun,
a surface of reflectance ρ whose normal makes the angle θ with the sun sends back

    ρ·(cos θ + D·(1 + n_z)/2)    in the sun,    ρ·D·(1 + n_z)/2    in the shade,

D the light of the whole sky over that of the sun: at 865 nm a clear sky has less than a tenth of the sun (ASTM G173-03,
global less direct; 0.08 is taken, unverified). A leaf that has the sun behind it glows with what it lets through, and a
ray into the open sees the sky, D.

One ray a pulse, along its axis, and one to the sun. Left out: volumes, mirrors and glass, clouds, light from one surface
to another, the noise of counting.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tussock.elementary import cosine_of_turns, sine_of_turns
from tussock.kernels import Array, Real, inline_kernel, kernel, loop_kernel
from tussock.pulse.aim import AIM_ROWS, POSE_ROWS, aim_lanes, aim_origins, axes_at, stand, stencil_ray
from tussock.pulse.tables import Lot, Scanning
from tussock.trace.hit_tables import DIFFUSE, LEAF
from tussock.trace.packets import LANES, NOTHING, Packet, hit_at, load_ray, new_packet, ray_at, was_stopped
from tussock.trace.ray import Hit, Ray, lift_at
from tussock.trace.surroundings import stop_light, trace_surfaces

__all__ = ["SKY", "Sun", "sun_at", "sunlight_loop"]

SKY = 0.08
"""D: light of a clear sky at 865 nm over that of the sun"""
_GROUPS = 32  # of sixteen pulses, that a thread takes at a time
_ZERO, _HALF, _ONE = np.float32(0.0), np.float32(0.5), np.float32(1.0)


class Sun(NamedTuple):
    """Where the sun stands, a unit vector in the world, and how bright sun and sky are."""

    x: Real
    y: Real
    z: Real
    direct: Real
    """1, or 0 below the horizon"""
    sky: Real


def sun_at(azimuth_deg: float, elevation_deg: float) -> Sun:
    """The sun at an azimuth, counter-clockwise from x of the world, and an elevation."""
    around, above = np.float32(azimuth_deg / 360 % 1.0), np.float32(elevation_deg / 360 % 1.0)
    level, up = cosine_of_turns(above), float(elevation_deg > 0)
    numbers = (
        level * cosine_of_turns(around), level * sine_of_turns(around), sine_of_turns(above), up, up * SKY,
    )  # fmt: skip
    return Sun(*(np.float32(number) for number in numbers))


@kernel
def sunlight_loop(worker: int, workers: int, scanning: Scanning, sun: Sun, out: Array) -> None:
    """The sunlight of every pulse into ``out`` (n,)."""
    turn, aim = np.zeros(POSE_ROWS * LANES, np.float64), np.zeros(AIM_ROWS * LANES, np.float32)
    _fill(worker, workers, scanning, sun, out, _Room(turn, aim, new_packet(), new_packet()))


class _Room(NamedTuple):
    """A thread's memory."""

    turn: Array
    aim: Array
    packet: Packet
    shade: Packet
    """rays towards the sun"""


@loop_kernel
def _fill(worker: int, workers: int, scanning: Scanning, sun: Sun, out: Array, room: _Room) -> None:
    turn, aim = room.turn, room.aim
    groups = (len(out) + LANES - 1) // LANES
    stand(scanning.poses, turn)
    aim_origins(scanning.firing, Lot(0, 1, LANES, scanning.chance), turn, aim)
    for part in range(worker, (groups + _GROUPS - 1) // _GROUPS, workers):
        for group in range(part * _GROUPS, min(groups, (part + 1) * _GROUPS)):
            lot = Lot(group * LANES, 1, LANES, scanning.chance)
            aim_lanes(scanning.firing, scanning.poses, lot, turn, aim)
            _light_lanes(scanning, sun, group * LANES, out, room)


@loop_kernel
def _light_lanes(scanning: Scanning, sun: Sun, first: int, out: Array, room: _Room) -> None:
    """The sunlight of the sixteen pulses from ``first`` on."""
    packet, shade, optics = room.packet, room.shade, scanning.around.tables.optics
    for l in range(LANES):
        ray = stencil_ray(axes_at(room.aim, l), _ONE, _ZERO, _ZERO, np.float32(np.inf))
        load_ray(packet, l, ray, NOTHING)
    trace_surfaces(scanning.around, packet)
    for l in range(LANES):
        hit = hit_at(packet, l)
        lit = hit.material >= 0 and sun.direct > _ZERO
        shade.masks[l] = NOTHING if lit else 0
        load_ray(shade, l, _to_the_sun(ray_at(packet, l), hit, sun) if lit else ray_at(packet, l), NOTHING)
    stop_light(scanning.around, shade)
    for l in range(min(LANES, len(out) - first)):
        ray, hit = ray_at(packet, l), hit_at(packet, l)
        if hit.material < 0:
            out[first + l] = sun.sky
            continue
        direct = _ZERO if shade.masks[l] == 0 or was_stopped(shade, l) else sun.direct
        per, facing = _unit(hit), _facing(ray, hit)
        cosine = facing * per * (hit.nx * sun.x + hit.ny * sun.y + hit.nz * sun.z)
        above = _HALF * (_ONE + facing * per * hit.nz)
        before = direct * max(cosine, _ZERO) + sun.sky * above
        behind = direct * max(-cosine, _ZERO) + sun.sky * (_ONE - above)
        out[first + l] = optics[hit.material, DIFFUSE] * before + optics[hit.material, LEAF] * behind


@inline_kernel
def _unit(hit: Hit) -> Real:
    """1 over the length of the normal."""
    return _ONE / np.float32(math.sqrt(hit.nx * hit.nx + hit.ny * hit.ny + hit.nz * hit.nz + np.float32(1e-37)))


@inline_kernel
def _facing(ray: Ray, hit: Hit) -> Real:
    """−1 where the normal points away from the sensor, else 1."""
    return -_ONE if ray.dx * hit.nx + ray.dy * hit.ny + ray.dz * hit.nz > _ZERO else _ONE


@inline_kernel
def _to_the_sun(ray: Ray, hit: Hit, sun: Sun) -> Ray:
    """From the side of the surface that the sun is on."""
    t = hit.distance
    x, y, z = ray.x + t * ray.dx, ray.y + t * ray.dy, ray.z + t * ray.dz
    lift = lift_at(x, y, z) * _unit(hit)
    lift = -lift if hit.nx * sun.x + hit.ny * sun.y + hit.nz * sun.z < _ZERO else lift
    return Ray(
        x + lift * hit.nx, y + lift * hit.ny, z + lift * hit.nz, sun.x, sun.y, sun.z, _ZERO, np.float32(np.inf), ray.time
    )  # fmt: skip
