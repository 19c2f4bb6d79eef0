"""How fast a scan is, beside the ray tracer alone.

`bare` is what anybody would write first: a loop that only loads ready-made rays into packets of 16, one sub-ray of 16
pulses in the order in which they are fired, traces them and stores the range. `close` is the limit: the same loop with the rays
in the packets of the scan, which lie close together (`tussock.pulse.sub_rays`). `scan` is the whole `tussock.scan`, to a finished
frame with noise, truth and labels; for an image it is `tussock.look`, to a depth map. All are timed in turns in one run, because
the machine is never quite at rest.
"""

from __future__ import annotations

import os
import platform
import resource
import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.cameras.camera import Camera
from tussock.cameras.render import look
from tussock.cameras.viewing import TILE
from tussock.kernels import Array, Real, kernel
from tussock.poses import Pose
from tussock.pulse.sub_rays import apart_in_groups, packets_of, part_of
from tussock.rebound import in_python
from tussock.scene.material import Material
from tussock.scene.placements import Placements
from tussock.scene.primitives import box, plane, sphere
from tussock.scene.response import VegetationResponse
from tussock.scene.scene import Scene
from tussock.scene.surfaces import SURFACES
from tussock.sensors.beam import Beam
from tussock.sensors.noise import Noise
from tussock.sensors.receiver import Receiver
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.threads import cores, resolve_threads, run_on_threads
from tussock.trace.packets import LANES, NOTHING, distance_at, intersect, load_ray, new_packet, say_close
from tussock.trace.ray import ray_in_row
from tussock.trace.world import World
from tussock.version import VERSION

__all__ = [
    "Case",
    "bench_sensor",
    "everything_on",
    "machine",
    "measure",
    "measure_adaptive",
    "measure_image",
    "measure_mirrors_unused",
    "measure_response",
    "opaque",
    "peak_memory",
    "shiny",
    "timed_in_turns",
]

_RAYS_A_TURN = 64  # packets a thread takes at a time
_LEAST_ROUNDS, _ENOUGH_S = 3, 5.0


@dataclass(frozen=True)
class Case:
    """One measurement; rates are medians over the rounds."""

    name: str
    rays: int
    pulses: int
    triangles: int
    bare_pulses_per_s: float
    scan_pulses_per_s: float
    ratio: float
    rays_per_s: float
    times_real_time: float
    close_pulses_per_s: float | None = None
    close_ratio: float | None = None

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def bench_sensor(rays: int) -> Sensor:
    """64 lasers from −24.8° to +2°, 2083 steps, 10 Hz: the shape of an HDL-64E without its irregularities."""
    pattern = {
        "kind": "spinning",
        "elevation_deg": np.linspace(-24.8, 2.0, 64).tolist(),
        "steps": 2083,
        "rotation_hz": 10.0,
    }
    return Sensor(
        name=f"bench-64 with {rays} rays",
        pattern=pattern,
        beam=Beam(rays=rays, sampling="sequence", divergence_horizontal_mrad=3.0, divergence_vertical_mrad=3.0),
        receiver=Receiver(
            max_range_m=120.0,
            range_step_m=0.002,
            detects=["10 % at 50 m with probability 0.9", "80 % at 120 m with probability 0.9"],
        ),
        noise=Noise(ray_sigma_m=0.01, bias_sigma_m=0.078, stated_at={"distance_m": 50.0}),
    )


def everything_on(sensor: Sensor) -> Sensor:
    """The sensor with two returns a pulse and a detection limit; its noise is on already.

    Losses on the way, pointing noise and dropouts stay off: pointing noise would trace other rays than `bare`.
    """
    changes = {"name": f"{sensor.name}, everything on", "receiver.mode": "strongest+last"}
    return sensor.with_(**changes, **{"receiver.detection_limit": {}})


def shiny(scene: Scene) -> Scene:
    """The scene with a lobe of Phong on every material."""
    for name, material in scene.materials.items():
        scene.replace_material(name, material.changed(specular=0.3, shininess=20.0, leaf_transmission=0.0))
    return scene


def opaque(scene: Scene) -> Scene:
    """The scene with leaves that let nothing through."""
    for name, material in scene.materials.items():
        scene.replace_material(name, material.changed(leaf_transmission=0.0))
    return scene


def measure_mirrors_unused(
    name: str, world: World, sensor: Sensor, pose: Pose, *, rounds: int = 9, threads: int | None = None
) -> Case:
    """What a scene without mirrors and glass pays for them: ``bare`` is the same scan with no bounces allowed."""
    count = resolve_threads(threads)
    plain, bouncing = (sensor.with_(**{"receiver.max_bounces": bounces}) for bounces in (0, 6))
    without, whole = timed_in_turns(
        lambda: scan(world, plain, pose, threads=count),
        lambda: scan(world, bouncing, pose, threads=count),
        rounds=3 * rounds,  # two times that hardly differ: noise would be all there is to see
    )
    return _case(name, world, sensor, without, whole)


def measure_adaptive(
    name: str, world: World, sensor: Sensor, pose: Pose, *, rounds: int = 9, threads: int | None = None
) -> Case:
    """Adaptive sub-rays: ``bare`` is the same scan with all of them."""
    sensor = sensor.with_(**{"beam.sampling": "sequence"})
    count, adaptive = resolve_threads(threads), sensor.with_(**{"beam.adaptive": True})
    whole, few = timed_in_turns(
        lambda: scan(world, sensor, pose, threads=count),
        lambda: scan(world, adaptive, pose, threads=count),
        rounds=rounds,
    )
    return _case(name, world, sensor, whole, few)


def measure(
    name: str, world: World, sensor: Sensor, pose: Pose, *, rounds: int = 9, threads: int | None = None
) -> Case:
    """Time ``bare``, ``close`` and ``scan`` in turns."""
    count = resolve_threads(threads)
    bare_rays, close_rays = ready_rays(sensor, pose, world), ready_rays(sensor, pose, world, close=True)
    ranges = np.empty(max(bare_rays.used.size, close_rays.used.size) * LANES, np.float32)
    reach = np.float32(sensor.receiver.max_range_m)
    bare, close, whole = timed_in_turns(
        lambda: run_on_threads(_trace_only, count, world.handle, bare_rays, reach, ranges),
        lambda: run_on_threads(_trace_only, count, world.handle, close_rays, reach, ranges),
        lambda: scan(world, sensor, pose, threads=count),
        rounds=rounds,
    )
    case = _case(name, world, sensor, bare, whole)
    return replace(case, close_pulses_per_s=case.pulses / close, close_ratio=close / whole)


@dataclass(frozen=True)
class ResponseCost:
    """What the response of tagged vegetation costs, times the plain scan of the same scene."""

    tagged_share: float
    """of the pulses that meet a tagged shape"""
    one_return: float
    two_returns: float


def measure_response(*, rounds: int = 9, threads: int | None = None) -> ResponseCost:
    """64 beams over 90° into a scene half covered by tagged bushes, plain and with a response of σ = 1 m.

    The set-up of table 2 of Mattes and Pace (Neya Systems, 2021).
    """
    count, place = resolve_threads(threads), Pose.at(0.0, 0.0, 2.0)
    one, two = (_over_a_quarter(mode) for mode in ("strongest", "strongest+last"))
    plain, tagged = (World(half_covered(sigma)) for sigma in (0.0, 1.0))
    taken = timed_in_turns(
        lambda: scan(plain, one, place, threads=count),
        lambda: scan(tagged, one, place, threads=count),
        lambda: scan(tagged, two, place, threads=count),
        rounds=rounds,
    )
    frame = scan(plain, one, place, threads=count)
    met = int((frame.label == plain.labels["vegetation"]).sum())
    return ResponseCost(met / len(one.pulses(0)), taken[1] / taken[0], taken[2] / taken[0])


def half_covered(sigma: float) -> Scene:
    """A hedge of round bushes to the left of the sensor and open ground to its right, a wall behind all of it."""
    around = np.deg2rad(np.arange(8.0, 56.0, 6.0))
    middles = np.stack([5.5 * np.cos(around), 5.5 * np.sin(around), np.full_like(around, 1.0)], 1)
    scene = Scene("half covered by bushes")
    scene.add(plane((300, 300), material=SURFACES["soil"]), name="ground", label="terrain")
    scene.add(box((0.5, 200, 30), material=SURFACES["concrete"]), name="wall", position=(40, 0, 15))
    scene.add(
        sphere(1.4, subdivisions=4, material=Material(name="hedge", reflectance=0.45)),
        name="bushes",
        label="vegetation",
        tags=("vegetation",),
        placements=Placements.of(middles),
        response=VegetationResponse(sigma_m=sigma),
    )
    return scene


def _over_a_quarter(mode: str) -> Sensor:
    beams = {
        "kind": "grid",
        "azimuth_deg": np.linspace(45, -45, 900).tolist(),
        "elevation_deg": np.linspace(2, -24.8, 64).tolist(),
        "frame_hz": 10.0,
    }
    return bench_sensor(1).with_(**{"name": "64 beams over 90°", "pattern": beams, "receiver.mode": mode})


def _case(name: str, world: World, sensor: Sensor, bare: float, whole: float) -> Case:
    """A case from the two times of a frame [s]."""
    pulses = len(sensor.pulses(0))
    return Case(
        name=name,
        rays=sensor.beam.rays,
        pulses=pulses,
        triangles=world.triangles,
        bare_pulses_per_s=pulses / bare,
        scan_pulses_per_s=pulses / whole,
        ratio=bare / whole,
        rays_per_s=pulses * sensor.beam.rays / whole,
        times_real_time=sensor.frame_period / whole,
    )


def measure_image(
    name: str, world: World, camera: Camera, pose: Pose, *, rounds: int = 9, threads: int | None = None
) -> Case:
    """Time ``bare`` and a depth map in turns; pulses are pixels."""
    count = resolve_threads(threads)
    down, across = np.arange(camera.height // TILE * TILE), np.arange(camera.width // TILE * TILE)
    tiles = np.broadcast_arrays(down.reshape(-1, 1, TILE, 1), across.reshape(1, -1, 1, TILE))
    line, column = (axis.ravel() for axis in tiles)
    starts, directions = camera.rays(np.stack([column, line], 1))
    origins = (pose.apply(starts) - world.origin).astype(np.float32)
    towards = (directions @ pose.rotation.T).astype(np.float32)
    ranges = np.empty(len(towards), np.float32)
    reach = np.float32(camera.max_range_m)
    rays = ReadyRays(origins, towards, np.full(len(towards) // LANES, LANES), False)
    bare, whole = timed_in_turns(
        lambda: run_on_threads(_trace_only, count, world.handle, rays, reach, ranges),
        lambda: look(world, camera, pose, depth_only=True, threads=count),
        rounds=rounds,
    )
    return Case(
        name=name,
        rays=1,
        pulses=len(towards),
        triangles=world.triangles,
        bare_pulses_per_s=len(towards) / bare,
        scan_pulses_per_s=len(towards) / whole,
        ratio=bare / whole,
        rays_per_s=len(towards) / whole,
        times_real_time=camera.frame_period / whole,
    )


def timed_in_turns(*jobs: Callable[[], Any], rounds: int) -> list[float]:
    """Median wall time of each job [s], all jobs once a round, after one round that does not count.

    So many ``rounds``, or three if they take long enough for a median to be one: more than `_ENOUGH_S`.
    Every other round goes backwards, so that no job always has what the same other job left in the caches.
    """
    times: list[list[float]] = [[] for _ in jobs]
    order = list(zip(jobs, times, strict=True))
    start = time.perf_counter()
    for turn in range(rounds + 1):
        for job, taken in order if turn % 2 else order[::-1]:
            begin = time.perf_counter()
            job()
            if turn:
                taken.append(time.perf_counter() - begin)
        if turn >= _LEAST_ROUNDS and time.perf_counter() - start > _ENOUGH_S:
            break
    return [statistics.median(taken) for taken in times]


class ReadyRays(NamedTuple):
    """Rays in the order in which they are traced, sixteen a packet."""

    origins: NDArray[np.float32]
    """[m], shape (16 × packets, 3)"""
    directions: NDArray[np.float32]
    """unit vectors, shape (16 × packets, 3)"""
    used: NDArray[np.int64]
    """rays of each packet, shape (packets,)"""
    close: bool
    """whether those of a packet lie close together"""


def ready_rays(sensor: Sensor, pose: Pose, world: World, *, close: bool = False) -> ReadyRays:
    """All sub-rays of a frame: in packets of one sub-ray of 16 pulses, or ``close`` together as the scan has them."""
    pulses = sensor.pulses(0)
    axis = pulses.directions.astype(np.float64)
    flat = np.maximum(np.hypot(axis[:, 0], axis[:, 1]), 1e-9)
    left = np.stack([-axis[:, 1] / flat, axis[:, 0] / flat, np.zeros(len(axis))], 1)
    up = np.cross(axis, left)
    offsets = sensor.beam.stencil().astype(np.float64)
    directions = axis[:, None] + offsets[:, :1] * left[:, None] + offsets[:, 1:] * up[:, None]
    directions = (directions / np.linalg.norm(directions, axis=2, keepdims=True)) @ pose.rotation.T
    starts = np.zeros((1, 3)) if pulses.origins is None else pulses.origins.astype(np.float64)
    origins = np.broadcast_to((pose.apply(starts) - world.origin)[:, None], directions.shape)
    members, used = _members(directions.shape[1], close)
    groups, together = -(-len(axis) // LANES), False
    if close:
        apart = apart_in_groups(pulses.lasers, directions.shape[1])
        together = apart > 1 or bool(in_python(part_of)(0, directions.shape[1]).along)
        order = _in_groups(len(axis), apart)
        origins, directions = origins[order] if len(origins) > 1 else origins, directions[order]
    return ReadyRays(
        _in_packets(origins, members), _in_packets(directions, members), np.tile(used, groups), together
    )  # fmt: skip


def _in_groups(pulses: int, apart: int) -> NDArray[np.int64]:
    """Pulse numbers group after group, as `tussock.pulse.sub_rays.lot_of` has them."""
    whole = pulses // (LANES * apart) * LANES * apart
    turns = np.arange(whole).reshape(-1, LANES, apart).transpose(0, 2, 1)
    return np.concatenate([turns.ravel(), np.arange(whole, pulses)])


def _members(rays: int, close: bool) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Pulse and sub-ray of every lane of every packet of a group, shape (packets, 16, 2), and lanes in use."""
    if not close:
        k, lane = np.mgrid[:rays, :LANES]
        return np.stack([lane, k], 2), np.full(rays, LANES)
    part, packets = in_python(part_of), in_python(packets_of)
    parts = [part(n, rays) for n in range(packets(rays))]
    lanes = np.arange(LANES)
    members = [
        np.stack([np.full(LANES, p.pulse), p.ray + np.minimum(lanes, p.used - 1)], 1)
        if p.along
        else np.stack([lanes, np.full(LANES, p.ray)], 1)
        for p in parts
    ]
    return np.array(members), np.array([p.used for p in parts])


def _in_packets(vectors: NDArray[np.float64], members: NDArray[np.int64]) -> NDArray[np.float32]:
    """(pulses, rays, 3) → packet after packet, group after group; the last pulse fills the last group."""
    fill = -len(vectors) % LANES
    padded = np.concatenate([vectors, np.repeat(vectors[-1:], fill, 0)]) if fill else vectors
    groups = padded.reshape(-1, LANES, *vectors.shape[1:])[:, members[..., 0], members[..., 1]]
    return np.ascontiguousarray(groups, np.float32).reshape(-1, 3)


@kernel
def _trace_only(worker: int, workers: int, scene: int, rays: ReadyRays, reach: Real, out: Array) -> None:
    packet = new_packet()
    say_close(packet, rays.close)
    count = len(rays.used)
    for turn in range(worker, (count + _RAYS_A_TURN - 1) // _RAYS_A_TURN, workers):
        for p in range(turn * _RAYS_A_TURN, min(count, (turn + 1) * _RAYS_A_TURN)):
            first = p * LANES
            for l in range(LANES):
                packet.masks[l] = NOTHING if l < rays.used[p] else np.uint32(0)
                load_ray(packet, l, ray_in_row(rays.origins, rays.directions, first + l, reach), NOTHING)
            intersect(scene, packet, 0)
            for l in range(LANES):
                out[first + l] = distance_at(packet, l)


def machine(world: World) -> dict[str, Any]:
    """What the figures were taken on."""
    return {
        "processor": _processor(),
        "cores": cores(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "embree": world.device.version,
        "isa": world.device.isa,
        "tussock": VERSION,
    }


def peak_memory() -> float:
    """The most memory this process has held so far [GiB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def _processor() -> str:
    if os.path.exists("/proc/cpuinfo"):  # noqa: PTH110
        with open("/proc/cpuinfo", encoding="utf-8") as lines:  # noqa: PTH123
            for line in lines:
                if line.startswith("model name"):
                    return line.split(":", 1)[1].strip()
    return platform.processor() or "unknown"
