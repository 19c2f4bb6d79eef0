"""The loops of a graphics processor: one thread a sub-ray, then one thread a pulse, then one thread some rows.

What happens to a ray and to a pulse is in `tussock.trace` and `tussock.pulse`, in the source that the processor runs as
well (`tussock.trace.cuda.rebound`); here is only which thread does what. Sub-rays are traced one a thread beforehand,
in the order of the lasers, because neighbours in azimuth meet the same things.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from tussock.frames.collect import Fired, fill_block
from tussock.gpu.tuples import arrays_in, rebuilding, written, written_out
from tussock.pulse.aim import AIM_ROWS, POSE_ROWS, aim_lanes, aim_origins, load_lanes, stand
from tussock.pulse.loop import begin_firing, fire_group, new_scratch
from tussock.pulse.tables import PoseTable, Receiving, Scanning, Scratch, Slots
from tussock.randomness import Chance
from tussock.trace.cuda.packets import NOTHING, Packet, Traced, Ways, find_surfaces, keep_hit
from tussock.trace.cuda.rebound import Rebound, single_rays
from tussock.trace.cuda.walk import STACK
from tussock.trace.surroundings import Surroundings

__all__ = [
    "BLOCK",
    "KERNELS",
    "SCAN_THREADS",
    "Examples",
    "Many",
    "Placed",
    "bound",
    "local_arrays",
    "plain_new_scratch",
]

cuda: Any = import_module("numba.cuda")
float32, float64, int32, int64, uint32 = (
    getattr(numba, name) for name in ("float32", "float64", "int32", "int64", "uint32")
)
BLOCK = 8
"""pulses whose rows one thread writes"""
SCAN_THREADS = 1024
_LOCAL = 130  # elements of an array that is a thread's own
_SHARED = ("hits", "waiting", "walk")
"""parts of a thread's memory that are not: what is in them at first is not the same for every sensor, or large"""
_CONSTANTS = {("tussock.pulse.follow", "_DEPTH"): 32}
"""rays of one pulse that wait behind mirrors: two for every bounce would do"""


class Many(NamedTuple):
    """What differs from one sensor to the next."""

    times: NDArray[np.float64]
    """as in `PoseTable`, shape (k,)"""
    positions: NDArray[np.float64]
    """shape (sensors, k, 3)"""
    quaternions: NDArray[np.float64]
    """shape (sensors, k, 4)"""
    words: NDArray[np.uint32]
    """the numbers of `Chance`, shape (sensors, 4)"""
    biases: NDArray[np.float32]
    """[m], shape (sensors, lasers)"""
    start: NDArray[np.float64]
    """[s] of the frame, shape (1,)"""


class Placed(NamedTuple):
    """Where the rows of a frame begin."""

    starts: NDArray[np.int64]
    """of every block of every sensor, and the end, shape (sensors × blocks + 1,)"""
    keep_misses: bool


def one_of(scanning: Scanning, many: Many, traced: Traced, s: int) -> Scanning:
    """What sensor ``s`` reads."""
    around, words = scanning.around, many.words
    ways: Any = around.standing
    mine: Any = Ways(ways.standing, ways.moving, ways.moves, traced, s * len(scanning.firing.lasers))
    return Scanning(
        Surroundings(mine, around.moving, around.tables, around.volumes),
        scanning.firing,
        PoseTable(many.times, many.positions[s], many.quaternions[s]),
        receiving_of(scanning.receiving, many.biases[s]),
        Chance(words[s, 0], words[s, 1], words[s, 2], words[s, 3]),
        scanning.air,
    )  # fmt: skip


def receiving_of(whole: Receiving, biases: Any) -> Receiving:
    """The receiver with a sensor's own biases; written out by `bound`."""
    raise NotImplementedError


def slots_of(whole: Slots, begin: int, end: int) -> Slots:
    """The slots of a sensor; written out by `bound`."""
    raise NotImplementedError


def trace_kernel(scanning: Scanning, many: Many, traced: Traced, order: NDArray[np.int32]) -> None:
    """One thread a sub-ray: what it meets first."""
    i, threads = int64(cuda.grid(1)), int64(cuda.gridsize(1))
    turn, aim = cuda.local.array(POSE_ROWS, float64), cuda.local.array(AIM_ROWS, float32)
    weights, numbers, bits = cuda.local.array(1, float32), cuda.local.array(16, float32), cuda.local.array(8, uint32)
    masks, materials, stack = cuda.local.array(1, uint32), cuda.local.array(1, int32), cuda.local.array(STACK, int32)
    packet: Any = Packet(numbers, bits, masks, materials, stack)
    firing = scanning.firing
    pulses, rays = len(firing.lasers), len(firing.stencil)
    masks[0], materials[0] = NOTHING, -1
    for a in range(AIM_ROWS):
        aim[a] = np.float32(0.0)
    while i < len(many.words) * rays * pulses:
        p, k, s = int64(order[i % pulses]), i // pulses % rays, i // pulses // rays
        one = one_of(scanning, many, traced, s)
        stand(one.poses, turn)
        aim_origins(firing, 0, turn, aim)
        aim_lanes(firing, one.poses, p, one.chance, turn, aim)
        load_lanes(packet, aim, firing, k, p, one.chance, one.receiving.max_range / one.receiving.media.inner, weights)
        find_surfaces(one.around, packet)
        keep_hit(packet, traced, k, s * pulses + p)
        i += threads


def fire_pulses(
    scanning: Scanning, many: Many, traced: Traced, mine: Scratch, slots: Slots, t: int, threads: int
) -> None:
    """One thread a pulse, and the next: from what its sub-rays met to its returns."""
    pulses = len(scanning.firing.lasers)
    i = int64(t)
    while i < len(many.words) * pulses:
        s = i // pulses
        one = one_of(scanning, many, traced, s)
        begin_firing(one, mine)
        fire_group(one, mine, slots_of(slots, s * pulses, (s + 1) * pulses), i - s * pulses)
        i += threads


_FIRE = """
def fire_kernel(scanning, many, traced, whole, slots):
    t, threads = int64(cuda.grid(1)), int64(whole.hits.ranges.shape[2])
{arrays}
    if t < threads:
        fire_pulses(scanning, many, traced, {scratch}, slots, t, threads)
"""
"""The kernel that fires pulses. Small arrays of a thread's memory are its own, which is quickest, and are made here,
where their sizes are known; those with a row for every hit are columns of the tables ``whole``."""


def local_arrays(scanning: Scanning, returns: int) -> set[str]:
    """Paths of the arrays in a thread's memory that are small and no longer for more sub-rays."""
    firing = scanning.firing
    longer = firing._replace(stencil=np.concatenate([firing.stencil, firing.stencil]))
    small, large = (
        arrays_in(plain_new_scratch()(scanning._replace(firing=some), returns), "whole") for some in (firing, longer)
    )
    return {
        path
        for path, array in small.items()
        if array.shape == large[path].shape and array.size <= _LOCAL and path.split(".")[1] not in _SHARED
    }


def _fire_kernel(example: Scratch, local: set[str]) -> Callable[..., None]:
    """`_FIRE` written out for a thread's memory like ``example``, which has a last axis for the threads."""
    names: dict[str, Any] = {"cuda": cuda, "int64": int64, "fire_pulses": fire_pulses}
    lines, own = [], {}
    for number, path in enumerate(sorted(local)):
        array = arrays_in(example, "whole")[path][..., 0]
        own[path] = f"own{number}"
        names[f"kind{number}"] = numba.from_dtype(array.dtype)
        lines.append(f"own{number} = cuda.local.array({array.shape}, kind{number})")
        lines.append(f"for i in range({array.size}):")
        lines.append(f"    own{number}[{', '.join(_unravelled(array.shape))}] = 0")
        for place in np.ndindex(array.shape):
            if array[place] != 0:
                lines.append(f"own{number}[{', '.join(map(str, place))}] = {array[place].item()}")

    def found(path: str, axes: int) -> str:
        return own.get(path) or f"{path}[{':, ' * (axes - 1)}t]"

    scratch = written("whole", example, found, names)
    text = _FIRE.format(arrays="\n".join(f"    {line}" for line in lines), scratch=scratch)
    return written_out("fire_kernel", text, names)


def _unravelled(shape: tuple[int, ...]) -> list[str]:
    """The indices of element ``i`` of an array of a shape."""
    return [f"i // {int(np.prod(shape[a + 1 :]))} % {shape[a]}" for a in range(len(shape))]


def place_kernel(counts: NDArray[np.uint8], placed: Placed, pulses: int) -> None:
    """Where the rows of every block of pulses begin; one block of 1024 threads."""
    t = cuda.threadIdx.x
    starts = placed.starts
    sums = cuda.shared.array(SCAN_THREADS, int64)
    blocks = (pulses + BLOCK - 1) // BLOCK
    share = (len(starts) - 1 + SCAN_THREADS - 1) // SCAN_THREADS
    begin = min(t * share, len(starts) - 1)
    end = min(begin + share, len(starts) - 1)
    total = int64(0)
    for b in range(begin, end):
        starts[b] = total
        first = b // blocks * pulses + b % blocks * BLOCK
        for p in range(first, min(first + BLOCK, (b // blocks + 1) * pulses)):
            rows = int64(counts[p])
            total += int64(1) if rows == 0 and placed.keep_misses else rows
    sums[t] = total
    cuda.syncthreads()
    step = 1
    while step < SCAN_THREADS:
        before = sums[t - step] if t >= step else int64(0)
        cuda.syncthreads()
        sums[t] += before
        cuda.syncthreads()
        step *= 2
    before = sums[t - 1] if t > 0 else int64(0)
    for b in range(begin, end):
        starts[b] += before
    if t == SCAN_THREADS - 1:
        starts[len(starts) - 1] = sums[t]


def fill_kernel(fired: Fired, many: Many, slots: Slots, tables: Any, placed: Placed, out: Any) -> None:
    """One thread a block of pulses: its rows in the columns."""
    b = int64(cuda.grid(1))
    pulses = len(fired.lasers)
    blocks = (pulses + BLOCK - 1) // BLOCK
    if b < len(placed.starts) - 1:
        s, own = b // blocks, b % blocks
        when = Fired(
            fired.directions, fired.true_directions, fired.origins, fired.offsets, fired.lasers, fired.azimuths, fired.elevations,
            many.start[0],
        )  # fmt: skip
        first, last = own * BLOCK, min(own * BLOCK + BLOCK, pulses)
        fill_block(
            placed.starts[b], first, last, placed.keep_misses, when,
            slots_of(slots, s * pulses, (s + 1) * pulses), tables, out,
        )  # fmt: skip


KERNELS: tuple[Callable[..., None], ...] = (trace_kernel, place_kernel, fill_kernel)


class Examples(NamedTuple):
    """Tuples like those that the kernels get, with arrays of any size, on the device or not."""

    scanning: Scanning
    many: Many
    traced: Traced
    order: Any
    scratch: Scratch
    slots: Slots
    placed: Placed
    fired: Fired
    out: Any

    def arguments(self) -> dict[str, tuple[Any, ...]]:
        """The arguments of every kernel, by its name."""
        return {
            "trace_kernel": (self.scanning, self.many, self.traced, self.order),
            "fire_kernel": (self.scanning, self.many, self.traced, self.scratch, self.slots),
            "place_kernel": (self.slots.counts, self.placed, len(self.fired.lasers)),
            "fill_kernel": (self.fired, self.many, self.slots, self.scanning.around.tables, self.placed, self.out),
        }  # fmt: skip


def bound(
    wrap: Callable[..., Any], examples: Examples, instead: Mapping[Any, Any] | None = None
) -> dict[str, Callable[..., None]]:  # fmt: skip
    """The kernels by name, with one ray in every packet.

    ``wrap(function, original)`` makes what kernels call; ``instead`` are functions that have another body there.
    """
    rebound: Rebound = single_rays(wrap, _CONSTANTS, instead)
    written = {
        receiving_of: rebuilding("receiving_of", examples.scanning.receiving, lambda path, axes: "biases", "biases"),
        slots_of: rebuilding("slots_of", examples.slots, lambda path, axes: f"{path}[begin:end]", "begin, end"),
    }
    for original, function in written.items():
        rebound.put(original, wrap(function, original))
    for function in (one_of, fire_pulses):
        rebound.put(function, rebound.of(function))
    local = local_arrays(examples.scanning, examples.slots.range.shape[1])
    kernels = (*KERNELS, _fire_kernel(examples.scratch, local))
    return {kernel.__name__: rebound.plain(kernel) for kernel in kernels}


@cache
def plain_new_scratch() -> Callable[..., Scratch]:
    """`new_scratch` for one ray in every packet, as plain Python."""
    rebound = single_rays(lambda function, original: function, _CONSTANTS)
    made: Callable[..., Scratch] = rebound.of(new_scratch)
    return made
