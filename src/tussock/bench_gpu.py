"""How fast a scan on a graphics processor is, beside the same one on the CPU."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tussock.bench import timed_in_turns
from tussock.frames.frame import Frame
from tussock.gpu.scans import shots_of
from tussock.gpu.worlds import Wanted, ready_on_gpu
from tussock.poses import Pose, Trajectory
from tussock.sensors.sensor import Sensor
from tussock.simulate import prepare, scan
from tussock.trace.world import World

__all__ = ["GpuCase", "measure_gpu"]


@dataclass(frozen=True)
class GpuCase:
    """A scan on a graphics processor; times are medians over the rounds."""

    name: str
    rays: int
    pulses: int
    triangles: int
    device_ms: float
    """to the finished columns in the device's memory"""
    frame_ms: float
    """to a frame in the computer's memory"""
    cpu_ms: float
    """the same frame on all threads of the CPU"""
    rays_per_s: float
    """on the device"""
    same: float
    """share of returns whose true range is that of the CPU to 0.1 mm"""

    def plain(self) -> dict[str, Any]:
        return asdict(self)


def measure_gpu(name: str, world: World, sensor: Sensor, pose: Pose, *, rounds: int = 9) -> GpuCase:
    """Time a scan on the graphics processor, with and without the way back, and on the CPU, in turns."""
    ready = prepare(world, sensor, Trajectory.standing(pose), 0, 0)
    scanning, fired = ready.scanning, ready.fired
    there = ready_on_gpu(world, Wanted(sensor, scanning, fired, ready.slots, fired.start, ready.end, 1, False))
    shots = shots_of(scanning)

    def fire() -> None:
        there.fire(shots, fired.start)
        there.starts()

    device, frame, cpu = timed_in_turns(
        fire, lambda: scan(world, sensor, pose, on="gpu"), lambda: scan(world, sensor, pose), rounds=rounds
    )
    pulses = len(fired.lasers)
    return GpuCase(
        name, sensor.beam.rays, pulses, world.triangles, 1e3 * device, 1e3 * frame, 1e3 * cpu,
        pulses * sensor.beam.rays / device, _same_share(scan(world, sensor, pose), scan(world, sensor, pose, on="gpu")),
    )  # fmt: skip


def _same_share(one: Frame, other: Frame) -> float:
    """Share of the returns of two frames that both have, at the same true range to 0.1 mm."""
    keys = [frame.pulse.astype(np.int64) * 256 + frame.return_number for frame in (one, other)]
    _, here, there = np.intersect1d(keys[0], keys[1], return_indices=True)
    near = np.abs(np.nan_to_num(one.true_range[here]) - np.nan_to_num(other.true_range[there])) <= 1e-4
    return float(near.sum() / max(len(one), len(other), 1))
