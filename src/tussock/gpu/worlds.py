"""What is kept on the graphics processor between scans: worlds, and the memory of sensors in them."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from tussock.errors import InputError
from tussock.frames.collect import Fired
from tussock.gpu.kernels import Examples
from tussock.gpu.scans import GpuScan, compiled_kernels, examples_of, trees_on
from tussock.pulse.tables import Scanning, Slots
from tussock.trace.cuda.driver import GpuDevice, gpu
from tussock.trace.cuda.trees import WorldTrees
from tussock.trace.world import World

__all__ = ["Wanted", "ready_on_gpu"]

_REGISTERS = {"fire_kernel": 128}
"""of a thread, where not 64: with more, fewer threads are at work, and what waits for memory waits for longer"""
_KEPT = 4  # sensors in a world whose memory is kept


class Wanted(NamedTuple):
    """A scan that is to be made."""

    sensor: object
    """only whether it is the same one counts"""
    scanning: Scanning
    fired: Fired
    slots: Slots
    start: float
    """[s]"""
    end: float
    sensors: int
    keep_misses: bool


class _Kept(NamedTuple):
    sensor: object
    directions: object
    """of the pulses that are on the device"""
    scan: GpuScan


def numbers_in(value: Any) -> tuple[Any, ...]:
    """The numbers in a tuple of arrays and numbers: kernels are launched with them."""
    if isinstance(value, tuple):
        return tuple(number for item in value for number in numbers_in(item))
    return () if isinstance(value, np.ndarray) else (value,)


class _OnGpu:
    """A world on the device."""

    def __init__(self, world: World) -> None:
        self.trees = WorldTrees(world)
        self.standing = trees_on(gpu(), self.trees.standing)
        self.kept: dict[tuple[Any, ...], _Kept] = {}


_worlds: WeakKeyDictionary[World, _OnGpu] = WeakKeyDictionary()


def codes_for(device: GpuDevice, examples: Examples) -> dict[str, Any]:
    """The kernels, ready on the device."""
    return {name: device.code(ptx, _REGISTERS.get(name, 64)) for name, ptx in compiled_kernels(examples).items()}


def ready_on_gpu(world: World, wanted: Wanted) -> GpuScan:
    """The scan on the device, with all that it needs there."""
    air = wanted.scanning.air
    if len(air.soft) or len(air.laws) or len(air.clouds):
        raise InputError("on='gpu': what the air sends back is not there yet; scan with on='cpu', or without weather")
    device = gpu()
    device.enter()
    there = _worlds.get(world)
    if there is None:
        there = _worlds[world] = _OnGpu(world)
    trees = there.trees.moving(wanted.start, wanted.end)
    moving = None if trees is None else trees_on(device, trees)
    fired, slots = wanted.fired, wanted.slots
    key = (
        id(wanted.sensor), wanted.sensors, wanted.keep_misses, len(wanted.scanning.poses.times), len(fired.lasers),
        len(fired.origins), slots.range.shape, slots.recording.samples.shape, numbers_in(wanted.scanning.receiving),
    )  # fmt: skip
    kept = there.kept.pop(key, None)
    if kept is None or kept.sensor is not wanted.sensor:
        while len(there.kept) >= _KEPT:
            there.kept.pop(next(iter(there.kept)))
        examples = examples_of(there.trees, wanted.scanning, fired, slots)
        scan = GpuScan(
            device, codes_for(device, examples), examples, there.standing, moving, wanted.sensors, wanted.keep_misses
        )
    else:
        scan = kept.scan
        if moving is not None:
            scan.move(wanted.scanning, moving)
        if kept.directions is not fired.true_directions:
            scan.aim(examples_of(there.trees, wanted.scanning, fired, slots))
    there.kept[key] = _Kept(wanted.sensor, fired.true_directions, scan)
    return scan
