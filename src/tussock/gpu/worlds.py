"""What is kept on the graphics processor between scans: worlds, and the memory of sensors in them."""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from tussock.errors import InputError
from tussock.frames.collect import Fired
from tussock.gpu.kernels import MOST_CLOUDS, Examples
from tussock.gpu.scans import GpuScan, compiled_kernels, examples_of, trees_on
from tussock.gpu.tuples import arrays_in, mapped
from tussock.gpu.wandering import Wandering
from tussock.pulse.tables import Scanning, Slots
from tussock.trace.cuda.driver import GpuDevice, gpu
from tussock.trace.cuda.trees import WorldTrees
from tussock.trace.cuda.walk import Trees
from tussock.trace.hit_tables import HitTables
from tussock.trace.world import World

__all__ = ["OnGpu", "Wanted", "on_gpu", "ready_on_gpu"]

_REGISTERS = {"behind_kernel": 128, "fire_kernel": 128, "hit_kernel": 96, "meet_kernel": 128, "receive_kernel": 128}
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
    own_media: bool = False
    """whether the sensors stand in different media"""


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


def shapes_in(tables: Any) -> tuple[tuple[int, ...], ...]:
    """The shapes of the arrays in a tuple of arrays and numbers."""
    return tuple(array.shape for array in arrays_in(tables, "").values())


class OnGpu:
    """A world on the device."""

    def __init__(self, world: World, device: GpuDevice) -> None:
        self.device = device
        self.trees = WorldTrees(world)
        self.standing = self.uploaded(self.trees.standing)
        self.kept: dict[tuple[Any, ...], _Kept] = {}
        self.views: dict[tuple[Any, ...], Any] = {}
        """memory of cameras' images, by their size"""
        self._tables: tuple[HitTables, HitTables] | None = None

    def uploaded(self, trees: Trees) -> Trees:
        """Trees on the device."""
        return trees_on(self.device, trees)

    def tables_of(self, tables: HitTables) -> HitTables:
        """Tables on the device; where nothing moves they are the same every time, and go there once."""
        if self._tables is None or self._tables[0] is not tables:
            self._tables = (tables, mapped(tables, self.device.copied))
        return self._tables[1]


_worlds: WeakKeyDictionary[World, OnGpu] = WeakKeyDictionary()


def on_gpu(world: World) -> OnGpu:
    """A world on the device, put there at the first call; this thread speaks to the device from then on."""
    device = gpu()
    device.enter()
    if world not in _worlds:
        _worlds[world] = OnGpu(world, device)
    return _worlds[world]


def codes_for(device: GpuDevice, examples: Examples) -> dict[str, Any]:
    """The kernels, ready on the device."""
    return {name: device.code(ptx, _REGISTERS.get(name, 64)) for name, ptx in compiled_kernels(examples).items()}


def ready_on_gpu(world: World, wanted: Wanted) -> GpuScan:
    """The scan on the device, with all that it needs there."""
    air = wanted.scanning.air
    if len(air.clouds) > MOST_CLOUDS:
        raise InputError.of(
            "weather", f"must have at most {MOST_CLOUDS} clouds on='gpu'", len(air.clouds), "on='cpu' takes more"
        )
    there = on_gpu(world)
    device = there.device
    trees = there.trees.moving(wanted.start, wanted.end)
    moving = None if trees is None else there.uploaded(trees)
    fired, slots = wanted.fired, wanted.slots
    wander = isinstance(fired.true_directions, Wandering)
    directions = fired.directions if wander else fired.true_directions
    key = (
        id(wanted.sensor), wanted.sensors, wanted.keep_misses, len(wanted.scanning.poses.times), type(fired.true_directions), wanted.own_media, len(fired.lasers),
        len(fired.origins), slots.range.shape, slots.recording.samples.shape, numbers_in(wanted.scanning.receiving),
        wanted.scanning.firing.probes, wanted.scanning.around.tables.sway.tips.shape, numbers_in(air), shapes_in(air),
    )  # fmt: skip
    kept = there.kept.pop(key, None)
    if kept is None or kept.sensor is not wanted.sensor:
        while len(there.kept) >= _KEPT:
            there.kept.pop(next(iter(there.kept)))
        examples = examples_of(there.trees, wanted.scanning, fired, slots, own_media=wanted.own_media)
        scan = GpuScan(
            device, codes_for(device, examples), examples, there.standing, moving, wanted.sensors, wanted.keep_misses
        )
    else:
        scan = kept.scan
        if moving is not None:
            scan.move(wanted.scanning, moving)
        else:
            scan.sway(wanted.scanning.around.tables.sway)
        if kept.directions is not directions:
            scan.aim(examples_of(there.trees, wanted.scanning, fired, slots, own_media=wanted.own_media))
        scan.blow(air)
    there.kept[key] = _Kept(wanted.sensor, directions, scan)
    return scan
