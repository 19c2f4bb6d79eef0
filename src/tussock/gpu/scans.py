"""Scans on a graphics processor: the world and the sensor go there once, then a scan is a few launches."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import sealed
from tussock.errors import InputError
from tussock.frames.collect import Fired, Out, bytes_of, columns_in, room_for
from tussock.frames.memory import copy_on_threads, reused
from tussock.gpu.kernels import (
    BLOCK,
    FIRING,
    SCAN_THREADS,
    Examples,
    Placed,
    bound,
    local_arrays,
    plain_new_scratch,
    waiting_rays,
)
from tussock.gpu.left_out import names_of
from tussock.gpu.probing import GROUP, group_order, probes
from tussock.gpu.queues import QUEUES, Queues
from tussock.gpu.sharing import Many, Span, in_own_media
from tussock.gpu.tracing import RayTable
from tussock.gpu.tuples import arrays_in, mapped
from tussock.pulse.tables import Firing, Scanning, Slots
from tussock.signal.air import Air
from tussock.trace.cuda.compiled import compile_ptx, device_function
from tussock.trace.cuda.driver import DeviceArray, GpuDevice
from tussock.trace.cuda.instructions import in_one_instruction
from tussock.trace.cuda.packets import LEAVES, Traced, Ways
from tussock.trace.cuda.trees import WorldTrees
from tussock.trace.cuda.walk import Trees
from tussock.trace.surroundings import Surroundings
from tussock.trace.wind.sway import Swaying

__all__ = ["GpuScan", "Shots", "compiled_kernels", "examples_of", "shots_of", "trees_on"]

_MOST_RAYS = 1 << 24  # of a launch, some 1.4 GB; more are taken one launch after the other
_SAME_MEDIA = sealed(np.zeros((0, 4), np.float32))
_COPYING = 8  # threads that saturate the memory of a processor
_THREADS_A_PROCESSOR = 2048  # threads that a multiprocessor holds
_MANY_THREADS = 512  # of a block whose pulses are neighbours: they find in its memory what the others looked at
_RECEIVING = 128  # threads of a group whose pulses are of a kind
_SHARE_FOR_SCRATCH = 4  # of the free memory, this part at most is for the threads' own


class Shots(NamedTuple):
    """What differs from one sensor of a scan to the next; one row each."""

    positions: NDArray[np.float64]
    """[m], tracer's coordinates, shape (sensors, times, 3)"""
    quaternions: NDArray[np.float64]
    """shape (sensors, times, 4)"""
    words: NDArray[np.uint32]
    """the numbers of `tussock.randomness.Chance`, shape (sensors, 4)"""
    biases: NDArray[np.float32]
    """[m], shape (sensors, lasers)"""
    media: NDArray[np.float32]
    """those that each stands in, shape (sensors, 4), (0, 4) where all stand in the same"""


def shots_of(scanning: Scanning) -> Shots:
    """A scan with one sensor."""
    poses = scanning.poses
    return Shots(
        poses.positions[None], poses.quaternions[None], np.array([scanning.chance], np.uint32),
        scanning.receiving.biases[None], _SAME_MEDIA,
    )  # fmt: skip


def trees_on(device: GpuDevice, trees: Trees) -> Trees:
    """Trees on the device; arrays in pairs are the same memory there as well."""
    nodes, triangles, placements = (device.copied(a) for a in (trees.nodes, trees.triangles, trees.placements))
    i4 = np.int32
    return Trees(
        nodes, triangles, triangles.as_type(i4), placements, placements.as_type(i4),
        device.copied(trees.moving), mapped(trees.pictures, device.copied), device.copied(trees.plants),
    )  # fmt: skip


def with_ways(around: Surroundings, standing: Trees, moving: Trees | None, traced: Traced) -> Surroundings:
    """Surroundings with trees in place of the handles of Embree's scenes."""
    ways: Any = Ways(standing, moving or standing, moving is not None, traced, 0, 0)
    return around._replace(standing=ways, moving=0)


def examples_of(
    trees: WorldTrees, scanning: Scanning, fired: Fired, slots: Slots, *, own_media: bool = False
) -> Examples:
    """Tuples of the processor's arrays like those that kernels get: enough to compile them."""
    traced = _traced(np.zeros, 1, 1, 1, 1)
    there = scanning._replace(around=with_ways(scanning.around, trees.standing, None, traced))
    scratch = plain_new_scratch(there, slots.range.shape[1])
    poses, chance = scanning.poses, scanning.chance
    many = Many(
        poses.times, poses.positions[None], poses.quaternions[None], np.array([chance], np.uint32),
        scanning.receiving.biases[None], np.ones((1, 4), np.float32) if own_media else _SAME_MEDIA, np.zeros(1),
    )  # fmt: skip
    return Examples(
        there, many, traced, RayTable.with_room(np.zeros, 1), Span(np.zeros(1, np.int32), 0, 1),
        mapped(scratch, lambda a: a[..., None]), slots,
        Placed(np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(2, np.int64), False), fired, Out(**room_for(0)),
        Queues(np.zeros((1, QUEUES), np.int32), np.zeros((QUEUES, 1), np.int32)),
    )  # fmt: skip


def _traced(make: Any, rays: int, through: int, pulses: int, probed: int) -> Traced:
    """Room for what sub-rays meet, of which ``through`` of each pulse go through leaves; ``make(shape, dtype)``.

    Of so many pulses as are ``probed`` it is noted whether they met anything.
    """
    f4, u4 = np.float32, np.uint32
    return Traced(
        make((6, rays, pulses), f4), make((3, rays, pulses), u4),
        make((6, LEAVES * through, pulses), f4), make((3, LEAVES * through, pulses), u4), make((probed,), np.uint8),
    )  # fmt: skip


def compiled_kernels(examples: Examples) -> dict[str, str]:
    """The PTX of every kernel, by its name."""
    made: dict[str, Any] = {}
    unmet = names_of(examples.unmet()) + (" with media of their own" if in_own_media(examples.many) else "")
    left_out = (
        " ".join(step.__name__ for step in examples.unused())
        + f" with {waiting_rays(examples.scanning)} waiting {len(examples.scanning.firing.off_plane)} probes {unmet}"
    )

    def function(name: str) -> Any:
        if not made:
            made.update(bound(device_function, examples, in_one_instruction()))
        return made[name]

    return {
        name: compile_ptx(name, args, partial(function, name), without=left_out if name in FIRING else unmet)
        for name, args in examples.arguments().items()
    }


def _order(fired: Fired, firing: Firing, few: bool) -> NDArray[np.int32]:
    """The pulses laser by laser: neighbours in azimuth meet the same things.

    Where there are so ``few`` rays that all are traced at once, as they were fired: then the slowest count, and those
    are neighbours as well. Where sub-rays are adaptive, group by group.
    """
    if probes(firing):
        return group_order(len(fired.lasers), firing.apart).astype(np.int32)
    order = np.arange(len(fired.lasers)) if few else np.argsort(fired.lasers, kind="stable")
    return order.astype(np.int32)


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
        at_once = min(total, max(_MOST_RAYS // rays, 1))
        self._few = total * rays <= device.processors * _THREADS_A_PROCESSOR
        self._through = examples.through_leaves()
        self._probes = probes(scanning.firing)
        traced = _traced(device.empty, rays, self._through, at_once, at_once if self._probes else 0)
        poses = (device.empty((sensors, *a.shape), np.float64) for a in scanning.poses[1:])
        many = Many(
            device.copied(scanning.poses.times), next(poses), next(poses), device.empty((sensors, 4), np.uint32),
            device.empty((sensors, len(scanning.receiving.biases)), np.float32),
            device.empty((sensors if in_own_media(examples.many) else 0, 4), np.float32), device.empty(1, np.float64),
        )  # fmt: skip
        self.slots: Any = mapped(slots, lambda a: device.empty((len(a) * sensors, *a.shape[1:]), a.dtype))
        most = total * max(slots.range.shape[1], 1)
        out = Out(**{name: device.empty((most, *a.shape[1:]), a.dtype) for name, a in room_for(0).items()})
        self.columns: dict[str, DeviceArray] = out._asdict()
        self._blocks = (pulses + BLOCK - 1) // BLOCK
        groups = -(-sensors * self._blocks // SCAN_THREADS)
        placed: Any = Placed(
            device.empty(sensors * self._blocks, np.int64), device.empty(groups, np.int64),
            device.empty(sensors + 1, np.int64), keep_misses,
        )  # fmt: skip
        scratch = self._scratch(examples, at_once)
        threads = scratch.hits.ranges.shape[2]
        queues: Any = Queues(
            device.empty((-(-at_once // threads), QUEUES), np.int32), device.empty((QUEUES, threads), np.int32)
        )
        self._ready = Examples(
            self._there(scanning, standing, moving, traced), many, traced, RayTable.with_room(device.empty, at_once * rays),
            Span(device.copied(_order(examples.fired, scanning.firing, self._few)), 0, at_once), scratch, self.slots,
            placed, mapped(examples.fired, self._upload), out, queues,
        )  # fmt: skip
        self._last: dict[str, Any] = {}
        self._air = scanning.air._asdict()
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
        ready = self._ready
        total = self._sensors * len(ready.fired.lasers)
        ways: Any = ready.scanning.around.standing
        self._launches: list[Any] = []
        for first, pulses in self._spans():
            span = ready.span._replace(first=first, pulses=pulses)
            args = ready._replace(span=span).arguments()
            count = span.pulses * len(ready.scanning.firing.stencil)
            self._add("aim_kernel", args["aim_kernel"], count)
            self._add("walk_kernel", args["walk_kernel"], count)
            if ways.moves:
                self._add("walk_kernel", (ways.moving, ready.scanning.around.tables, ready.rays, count, True), count)
            self._add("hit_kernel", args["hit_kernel"], count)
            if self._through:
                self._add("behind_kernel", args["behind_kernel"], span.pulses * self._through, _MANY_THREADS)
            if self._probes:
                self._add("probe_kernel", args["probe_kernel"], span.pulses)
            self._add_firing(args, span.pulses)
        args = ready.arguments()
        blocks = self._sensors * self._blocks
        self._add("place_kernel", args["place_kernel"], blocks, SCAN_THREADS)
        self._add("total_kernel", args["total_kernel"], SCAN_THREADS, SCAN_THREADS)
        self._add("fill_kernel", args["fill_kernel"], total)

    def _add_firing(self, args: dict[str, Any], pulses: int) -> None:
        """Fire so many pulses; where they queue up, as many at a time as there are columns of hits."""
        threads = self._ready.scratch.hits.ranges.shape[2]
        if "fire_kernel" in args:
            self._add("fire_kernel", args["fire_kernel"], threads, _MANY_THREADS)
            return
        for turn in range(-(-pulses // threads)):
            self._add("meet_kernel", (*args["meet_kernel"][:-1], turn), threads)
            self._add("receive_kernel", (*args["receive_kernel"][:-1], turn), threads + QUEUES * _RECEIVING, _RECEIVING)

    def _spans(self) -> list[tuple[int, int]]:
        """Where launches begin and how many pulses each has; no group of pulses that are probed is in two."""
        pulses, at_once = len(self._ready.fired.lasers), self._ready.span.pulses
        total = self._sensors * pulses
        if not self._probes or at_once >= total:
            step, whole = at_once, total
        else:
            step, whole = (
                (at_once // pulses * pulses, total) if at_once >= pulses else (at_once // GROUP * GROUP, pulses)
            )
        return [
            (first, min(step, begin + whole - first))
            for begin in range(0, total, whole)
            for first in range(begin, begin + whole, step)
        ]

    def _add(self, name: str, args: Any, threads: int, block: int = 128) -> None:
        self._launches.append(self._device.launch(self._codes[name], args, threads, block))

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

    def sway(self, sway: Swaying) -> None:
        """The wind of another moment: where tips are, and when."""
        there: Any = self._ready.scanning.around.tables.sway
        if len(sway.plants):
            there.tips.fill(sway.tips)
            there.moment.fill(sway.moment)

    def aim(self, examples: Examples) -> None:
        """Other pulses, as many as before."""
        for old, new in (
            (self._ready.scanning.firing, examples.scanning.firing),
            (self._ready.fired, examples.fired),
        ):
            for field, there in old._asdict().items():
                if isinstance(there, DeviceArray):
                    there.fill(getattr(new, field))
        order: Any = self._ready.span.order
        order.fill(_order(examples.fired, examples.scanning.firing, self._few))

    def blow(self, air: Air) -> None:
        """Other air, with arrays of the same shapes and the same numbers beside them: clouds that drift."""
        there = self._ready.scanning.air
        for field, array in air._asdict().items():
            if isinstance(array, np.ndarray) and array is not self._air[field]:
                getattr(there, field).fill(array)
        self._air = air._asdict()

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
        threads = min(-(-total // 128) * 128, device.processors * _THREADS_A_PROCESSOR, room // 128 * 128)
        there = {
            id(array): device.copied(array if path in local else np.repeat(array, threads, -1))
            for path, array in kept.items()
        }
        return mapped(example, lambda array: there[id(array)])

    def fire(self, shots: Shots, start: float) -> None:
        """Launch a scan; results are in `columns` when it is done."""
        for name, values in (*shots._asdict().items(), ("start", np.array([start]))):
            if name not in self._last or not np.array_equal(self._last[name], values):
                getattr(self._ready.many, name).fill(values)
                self._last[name] = values
        for launch in self._launches:
            launch.start()

    def starts(self) -> NDArray[np.int64]:
        """First row of every sensor, and the end, shape (sensors + 1,); waits for the scan."""
        firsts: Any = self._ready.placed.firsts
        if self._sensors == 1:
            return np.array([0, firsts.last().to_host()[0]])
        return np.asarray(firsts.to_host())

    def to_host(self, rows: int, threads: int = 1) -> dict[str, NDArray[Any]]:
        """The first rows of all columns in the processor's memory, in one piece."""
        size = bytes_of(rows)
        memory, kept = self._device.staging(size), reused(size)
        for name, array in columns_in(memory, rows).items():
            self.columns[name].start_copy(array)
        self._device.wait()
        copy_on_threads(memory, kept, min(threads, _COPYING))
        return columns_in(kept, rows)
