"""Scans on a graphics processor: the world and the sensor go there once, then a scan is four launches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.frames.collect import Fired, Out, bytes_of, columns_in, room_for
from tussock.gpu.kernels import BLOCK, SCAN_THREADS, Examples, Many, Placed, bound, local_arrays, plain_new_scratch
from tussock.gpu.tuples import arrays_in, mapped
from tussock.pulse.tables import PoseTable, Scanning, Slots
from tussock.randomness import Chance
from tussock.trace.cuda.compiled import compile_ptx, device_function, four_at_once
from tussock.trace.cuda.driver import DeviceArray, GpuDevice
from tussock.trace.cuda.packets import Traced, Ways
from tussock.trace.cuda.trees import WorldTrees
from tussock.trace.cuda.walk import Trees, four
from tussock.trace.surroundings import Surroundings

__all__ = ["GpuScan", "Shot", "compiled_kernels", "examples_of", "trees_on"]

_TRACE_THREADS = 1 << 22  # a launch; more rays are taken one after the other
_PULSES_A_PROCESSOR = 2048  # threads that a multiprocessor holds
_SHARE_FOR_SCRATCH = 4  # of the free memory, this part at most is for the threads' own


class Shot(NamedTuple):
    """What differs from one sensor of a scan to the next."""

    poses: PoseTable
    chance: Chance
    biases: NDArray[np.float32]


def trees_on(device: GpuDevice, trees: Trees) -> Trees:
    """Trees on the device; arrays in pairs are the same memory there as well."""
    nodes, triangles, placements = (device.copied(a) for a in (trees.nodes, trees.triangles, trees.placements))
    i4 = np.int32
    return Trees(
        nodes, triangles, triangles.as_type(i4), placements, placements.as_type(i4),
        device.copied(trees.moving),
    )  # fmt: skip


def with_ways(around: Surroundings, standing: Trees, moving: Trees | None, traced: Traced) -> Surroundings:
    """Surroundings with trees in place of the handles of Embree's scenes."""
    ways: Any = Ways(standing, moving or standing, moving is not None, traced, 0)
    return around._replace(standing=ways, moving=0)


def examples_of(trees: WorldTrees, scanning: Scanning, fired: Fired, slots: Slots) -> Examples:
    """Tuples of the processor's arrays like those that kernels get: enough to compile them."""
    traced = Traced(np.zeros((6, 1, 1), np.float32), np.zeros((3, 1, 1), np.uint32))
    there = scanning._replace(around=with_ways(scanning.around, trees.standing, None, traced))
    scratch = plain_new_scratch()(there, slots.range.shape[1])
    poses, chance = scanning.poses, scanning.chance
    many = Many(
        poses.times, poses.positions[None], poses.quaternions[None], np.array([chance], np.uint32),
        scanning.receiving.biases[None], np.zeros(1),
    )  # fmt: skip
    return Examples(
        there, many, traced, np.zeros(1, np.int32), mapped(scratch, lambda a: a[..., None]), slots,
        Placed(np.zeros(1, np.int64), False), fired, Out(**room_for(0)),
    )  # fmt: skip


def compiled_kernels(examples: Examples) -> dict[str, str]:
    """The PTX of every kernel, by its name."""
    made: dict[str, Any] = {}

    def function(name: str) -> Any:
        if not made:
            made.update(bound(device_function, examples, {four: four_at_once()}))
        return made[name]

    return {name: compile_ptx(name, args, partial(function, name)) for name, args in examples.arguments().items()}


def _order(fired: Fired) -> NDArray[np.int32]:
    """The pulses laser by laser: neighbours in azimuth meet the same things."""
    return np.argsort(fired.lasers, kind="stable").astype(np.int32)


class GpuScan:
    """Some sensors of one kind in one world, on the device: its memory is used again by every scan."""

    def __init__(
        self, device: GpuDevice, codes: dict[str, Any], examples: Examples, standing: Trees, moving: Trees | None, sensors: int,
        keep_misses: bool,
    ) -> None:  # fmt: skip
        """``codes`` are the kernels by name, ``standing`` and ``moving`` trees on the device."""
        self._device, self._sensors = device, sensors
        scanning, slots, pulses = examples.scanning, examples.slots, len(examples.fired.lasers)
        rays, total = len(scanning.firing.stencil), sensors * pulses
        self._codes = codes
        self._uploaded: dict[int, tuple[NDArray[Any], DeviceArray]] = {}
        traced: Any = Traced(device.empty((6, rays, total), np.float32), device.empty((3, rays, total), np.uint32))
        poses = (device.empty((sensors, *a.shape), np.float64) for a in scanning.poses[1:])
        many = Many(
            device.copied(scanning.poses.times), next(poses), next(poses), device.empty((sensors, 4), np.uint32),
            device.empty((sensors, len(scanning.receiving.biases)), np.float32), device.empty(1, np.float64),
        )  # fmt: skip
        self.slots: Any = mapped(slots, lambda a: device.empty((len(a) * sensors, *a.shape[1:]), a.dtype))
        most = total * max(slots.range.shape[1], 1)
        out = Out(**{name: device.empty((most, *a.shape[1:]), a.dtype) for name, a in room_for(0).items()})
        self.columns: dict[str, DeviceArray] = out._asdict()
        self._blocks = (pulses + BLOCK - 1) // BLOCK
        placed: Any = Placed(device.empty(sensors * self._blocks + 1, np.int64), keep_misses)
        self._ready = Examples(
            self._there(scanning, standing, moving, traced), many, traced, device.copied(_order(examples.fired)),
            self._scratch(examples, total), self.slots, placed, mapped(examples.fired, self._upload), out,
        )  # fmt: skip
        self._last: dict[str, Any] = {}
        self._prepare()

    def _upload(self, array: NDArray[Any]) -> DeviceArray:
        """An array on the device; one that is in several tuples, as those of the pulses, goes there once."""
        if id(array) not in self._uploaded:
            self._uploaded[id(array)] = (array, self._device.copied(array))
        return self._uploaded[id(array)][1]

    def _there(self, scanning: Scanning, standing: Trees, moving: Trees | None, traced: Traced) -> Scanning:
        around = with_ways(scanning.around, standing, moving, traced)
        return Scanning(
            around._replace(
                tables=mapped(around.tables, self._upload), volumes=mapped(around.volumes, self._upload)
            ),
            mapped(scanning.firing, self._upload), mapped(scanning.poses, self._upload),
            mapped(scanning.receiving, self._upload), scanning.chance, mapped(scanning.air, self._upload),
        )  # fmt: skip

    def _prepare(self) -> None:
        """Pack the arguments of all launches."""
        total = self._sensors * len(self._ready.fired.lasers)
        threads = {
            "trace_kernel": min(total * len(self._ready.scanning.firing.stencil), _TRACE_THREADS),
            "fire_kernel": self._ready.scratch.hits.ranges.shape[2],
            "place_kernel": SCAN_THREADS,
            "fill_kernel": self._sensors * self._blocks,
        }
        self._launches = [
            self._device.launch(self._codes[name], args, threads[name], SCAN_THREADS if name == "place_kernel" else 128)
            for name, args in self._ready.arguments().items()
        ]

    def move(self, scanning: Scanning, moving: Trees) -> None:
        """Other things that move: their trees (on the device), and the tables that say where they are."""
        ready = self._ready
        tables = mapped(scanning.around.tables, self._device.copied)
        around = ready.scanning.around
        ways: Any = around.standing
        ways = ways._replace(moving=moving)
        self._ready = ready._replace(
            scanning=ready.scanning._replace(around=around._replace(standing=ways, tables=tables))
        )
        self._prepare()

    def aim(self, examples: Examples) -> None:
        """Other pulses, as many as before."""
        for old, new in (
            (self._ready.scanning.firing, examples.scanning.firing),
            (self._ready.fired, examples.fired),
        ):
            for field, there in old._asdict().items():
                if isinstance(there, DeviceArray):
                    there.fill(getattr(new, field))
        self._ready.order.fill(_order(examples.fired))

    def _scratch(self, examples: Examples, total: int) -> Any:
        """Memory for as many pulses as are fired at the same time."""
        device, example = self._device, examples.scratch
        local = local_arrays(examples.scanning, examples.slots.range.shape[1])
        kept = arrays_in(example, "whole")
        size = sum(array.nbytes for path, array in kept.items() if path not in local)
        room = device.free_memory() // _SHARE_FOR_SCRATCH // size
        if room < 128:
            raise InputError(
                f"on='gpu': too little memory on the graphics processor, {size} bytes a pulse; on='cpu' works without"
            )
        threads = min(-(-total // 128) * 128, device.processors * _PULSES_A_PROCESSOR, room // 128 * 128)
        there = {
            id(array): device.copied(array if path in local else np.repeat(array, threads, -1))
            for path, array in kept.items()
        }
        return mapped(example, lambda array: there[id(array)])

    def fire(self, shots: Sequence[Shot], start: float) -> None:
        """Launch a scan; results are in `columns` when it is done."""
        many = self._ready.many
        for name, values in (
            ("positions", np.stack([shot.poses.positions for shot in shots])),
            ("quaternions", np.stack([shot.poses.quaternions for shot in shots])),
            ("words", np.array([shot.chance for shot in shots], np.uint32)),
            ("biases", np.stack([shot.biases for shot in shots])),
            ("start", np.array([start])),
        ):
            if name not in self._last or not np.array_equal(self._last[name], values):
                getattr(many, name).fill(values)
                self._last[name] = values
        for launch in self._launches:
            launch.start()

    def starts(self) -> NDArray[np.int64]:
        """First row of every sensor, and the end, shape (sensors + 1,); waits for the scan."""
        starts: Any = self._ready.placed.starts
        if self._sensors == 1:
            return np.array([0, starts.last().to_host()[0]])
        return np.asarray(starts.to_host()[:: self._blocks])

    def to_host(self, rows: int) -> dict[str, NDArray[Any]]:
        """The first rows of all columns in the processor's memory, in one piece."""
        memory = self._device.staging(bytes_of(rows))
        for name, array in columns_in(memory, rows).items():
            self.columns[name].first(rows).start_copy(array)
        self._device.wait()
        return columns_in(memory.copy(), rows)
