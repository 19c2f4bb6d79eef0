"""The loops of a graphics processor: one thread a sub-ray (`tussock.gpu.tracing`), then a pulse, then some rows.

What happens to a ray and to a pulse is in `tussock.trace` and `tussock.pulse`, in the source that the processor runs as
well (`tussock.trace.cuda.rebound`); here is only which thread does what. What no pulse of a scan does (mirrors,
vegetation that answers, volumes, waveforms) is left out of its kernel, which then needs much less memory a thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple

import numba
import numpy as np
from numpy.typing import NDArray

from tussock.frames.collect import Fired, fill_block, true_direction
from tussock.gpu.left_out import idle, unmet
from tussock.gpu.peaks import LATER, forget_peaks, remember_bracket, remember_compact, take_remembered
from tussock.gpu.probing import beside, probe_kernel, probes
from tussock.gpu.queues import Queues, kind_of, next_in_line, queue_up
from tussock.gpu.sharing import Many, Span, in_own_media, one_of, receiving_of, slots_of
from tussock.gpu.tracing import RayTable, aim_kernel, behind_kernel, hit_kernel, walk_kernel
from tussock.gpu.tuples import arrays_in, rebuilding, written, written_out
from tussock.gpu.wandering import Wandering, drawn_direction, fired_of, wandering_of
from tussock.pulse.adaptive import finish_lanes, met_in_group
from tussock.pulse.follow import ONE_IN, follow_lanes, may_go_on, through_leaves
from tussock.pulse.listen import hear_lanes, lift_lanes, listen_lanes
from tussock.pulse.loop import begin_firing, fire_group, meet_group, new_scratch, receive_group
from tussock.pulse.receive import receive_lanes
from tussock.pulse.record import add_drops, record_lanes
from tussock.pulse.reflect import rows_in_use
from tussock.pulse.tables import Lot, Scanning, Scratch, Slots
from tussock.pulse.vegetation import respond_lanes
from tussock.pulse.volumes import end_beams, stop_lanes
from tussock.pulse.weather import has_weather, weather_lanes
from tussock.rebound import Rebound, in_python
from tussock.signal.echoes import take_bracket, take_compact, take_rest
from tussock.signal.media import Media
from tussock.trace.cuda.packets import Traced
from tussock.trace.cuda.rebound import single_rays
from tussock.trace.surroundings import trace_volumes

__all__ = [
    "BLOCK",
    "FIRING",
    "KERNELS",
    "MOST_CLOUDS",
    "SCAN_THREADS",
    "Examples",
    "Placed",
    "bound",
    "local_arrays",
    "plain_new_scratch",
    "waiting_rays",
]

cuda: Any = import_module("numba.cuda")
int64 = getattr(numba, "int64")  # noqa: B009 (it has no types)
BLOCK = 8
"""pulses whose rows one thread counts"""
SCAN_THREADS = 256
"""of a group that sums up the rows of as many blocks of pulses"""
_LOCAL = 130  # elements of an array that is a thread's own
_SHARED = ("hits", "walk")
"""parts of a thread's memory that are not: what is in them at first is not the same for every sensor, or large"""
MOST_CLOUDS = 128
"""of dust or fog that one pulse may meet: a thread holds their numbers"""
_LIST = 16
"""elements: arrays of a thread that have as many are lists and stacks, of which only what the pulse wrote is read; to clear
them would take longer than to fill them"""
_NODES = 4
"""samples of a waveform that are taken together: one instruction takes one of them there"""
_LATER: dict[Any, Any] = {
    take_bracket: remember_bracket, take_compact: remember_compact, take_rest: take_remembered
}  # fmt: skip
_WAITING = (2, 32)
"""rays of one pulse that wait to go on: through leaves one at a time, and behind mirrors two for every bounce would do"""


class Placed(NamedTuple):
    """Where the rows of a frame begin."""

    starts: NDArray[np.int64]
    """of every block of every sensor, from the first of its group on, shape (sensors × blocks,)"""
    groups: NDArray[np.int64]
    """of every group of `SCAN_THREADS` blocks, shape (groups,)"""
    firsts: NDArray[np.int64]
    """of every sensor, and the end, shape (sensors + 1,)"""
    keep_misses: bool


def number_of(scanning: Scanning, many: Many, traced: Traced, slots: Slots, span: Span, i: int) -> Any:
    """Pulse ``i`` of a launch: what its sensor reads, the slots of that sensor, and which of its pulses it is."""
    pulses = len(scanning.firing.lasers)
    j = span.first + i
    s = j // pulses
    p = int64(span.order[j - s * pulses])
    one = one_of(scanning, many, traced, span, s, i - p)
    return one, slots_of(slots, s * pulses, (s + 1) * pulses), Lot(p, 1, 1, one.chance)


def fire_pulse(
    scanning: Scanning, many: Many, traced: Traced, mine: Scratch, slots: Slots, span: Span, i: int
) -> None:  # fmt: skip
    """Pulse ``i`` of a launch: from what its sub-rays met to its returns."""
    one, into, lot = number_of(scanning, many, traced, slots, span, i)
    begin_firing(one, mine)
    forget_peaks(mine.heard.pulse_hits)
    fire_group(one, mine, into, lot)


def meet_pulse(
    scanning: Scanning, many: Many, traced: Traced, mine: Scratch, slots: Slots, span: Span, i: int
) -> int:  # fmt: skip
    """The first half of `fire_pulse`: what its sub-rays met stays in its column of hits; in which queue it is to wait."""
    one, into, lot = number_of(scanning, many, traced, slots, span, i)
    begin_firing(one, mine)
    return kind_of(one.receiving, meet_group(one, mine, into, lot), mine.hits)


def receive_pulse(
    scanning: Scanning, many: Many, traced: Traced, mine: Scratch, slots: Slots, span: Span, i: int
) -> None:  # fmt: skip
    """The second half: from its hits to its returns."""
    one, into, lot = number_of(scanning, many, traced, slots, span, i)
    forget_peaks(mine.heard.pulse_hits)
    receive_group(one, mine, into, lot, rows_in_use(mine.hits, len(scanning.firing.stencil)))


_FIRE = """
def fire_kernel(scanning, many, traced, whole, slots, span):
    t, threads = int64(cuda.grid(1)), int64(whole.hits.ranges.shape[2])
{arrays}
    if t < threads:
        i = t
        while i < span.pulses:
            fire_pulse(scanning, many, traced, {scratch}, slots, span, i)
            i += threads
"""
"""The kernel that fires pulses. Small arrays of a thread's memory are its own, which is quickest, and are made here,
where their sizes are known; those with a row for every hit are columns of the tables ``whole``."""
_MEET = """
def meet_kernel(scanning, many, traced, whole, slots, span, queues, turn):
    t, threads = int64(cuda.grid(1)), int64(whole.hits.ranges.shape[2])
{arrays}
    i, kind = turn * threads + t, int64(-1)
    if t < threads and i < span.pulses:
        kind = int64(meet_pulse(scanning, many, traced, {scratch}, slots, span, i))
    queue_up(queues, turn, kind, t)
"""
"""The first half of `_FIRE`, of as many pulses as there are columns of hits."""
_RECEIVE = """
def receive_kernel(scanning, many, traced, whole, slots, span, queues, turn):
    t, threads = next_in_line(queues, turn), int64(whole.hits.ranges.shape[2])
{arrays}
    if t >= 0:
        receive_pulse(scanning, many, traced, {scratch}, slots, span, turn * threads + t)
"""
"""The second half, of the same pulses in the order of their queues."""
_WRITTEN = {"fire_kernel": _FIRE, "meet_kernel": _MEET, "receive_kernel": _RECEIVE}
FIRING = frozenset(_WRITTEN)
"""the kernels of which steps are left out"""


def local_arrays(scanning: Scanning, returns: int) -> set[str]:
    """Paths of the arrays in a thread's memory that are small and no longer for more sub-rays."""
    firing = scanning.firing
    longer = firing._replace(stencil=np.concatenate([firing.stencil, firing.stencil]))
    small, large = (
        arrays_in(plain_new_scratch(scanning._replace(firing=some), returns), "whole") for some in (firing, longer)
    )
    return {
        path
        for path, array in small.items()
        if array.shape == large[path].shape and array.size <= _LOCAL and path.split(".")[1] not in _SHARED
    }


def _written_kernel(name: str, template: str, example: Scratch, local: set[str]) -> Callable[..., None]:
    """A kernel written out for a thread's memory like ``example``, which has a last axis for the threads."""
    names: dict[str, Any] = {
        function.__name__: function
        for function in (fire_pulse, meet_pulse, receive_pulse, queue_up, next_in_line)
    } | {"cuda": cuda, "int64": int64}  # fmt: skip
    lines, own = [], {}
    for number, path in enumerate(sorted(local)):
        array = arrays_in(example, "whole")[path][..., 0]
        own[path] = f"own{number}"
        names[f"kind{number}"] = numba.from_dtype(array.dtype)
        lines.append(f"own{number} = cuda.local.array({array.shape}, kind{number})")
        if array.size >= _LIST:
            continue
        lines.append(f"for i in range({array.size}):")
        lines.append(f"    own{number}[{', '.join(_unravelled(array.shape))}] = 0")
        for place in np.ndindex(array.shape):
            if array[place] != 0:
                lines.append(f"own{number}[{', '.join(map(str, place))}] = {array[place].item()}")

    def found(path: str, axes: int) -> str:
        return own.get(path) or f"{path}[{':, ' * (axes - 1)}t]"

    scratch = written("whole", example, found, names)
    text = template.format(arrays="\n".join(f"    {line}" for line in lines), scratch=scratch)
    return written_out(name, text, names)


def _unravelled(shape: tuple[int, ...]) -> list[str]:
    """The indices of element ``i`` of an array of a shape."""
    return [f"i // {int(np.prod(shape[a + 1 :]))} % {shape[a]}" for a in range(len(shape))]


def place_kernel(counts: NDArray[np.uint8], placed: Placed, pulses: int) -> None:
    """One thread a block of pulses: where its rows begin among those of its group, and how many rows a group has."""
    t, b = cuda.threadIdx.x, int64(cuda.grid(1))
    sums = cuda.shared.array(SCAN_THREADS, int64)
    blocks = (pulses + BLOCK - 1) // BLOCK
    own = int64(0)
    if b < len(placed.starts):
        first = b // blocks * pulses + b % blocks * BLOCK
        for p in range(first, min(first + BLOCK, (b // blocks + 1) * pulses)):
            rows = int64(counts[p])
            own += int64(1) if rows == 0 and placed.keep_misses else rows
    _sum_up(sums, t, own)
    if b < len(placed.starts):
        placed.starts[b] = sums[t] - own
    if t == SCAN_THREADS - 1:
        placed.groups[b // SCAN_THREADS] = sums[t]


def total_kernel(placed: Placed) -> None:
    """One block of threads: where the rows of every group begin, and where all end."""
    t = cuda.threadIdx.x
    groups = placed.groups
    sums = cuda.shared.array(SCAN_THREADS, int64)
    share = (len(groups) + SCAN_THREADS - 1) // SCAN_THREADS
    begin = min(t * share, len(groups))
    end = min(begin + share, len(groups))
    own = int64(0)
    for g in range(begin, end):
        own += groups[g]
    _sum_up(sums, t, own)
    at = sums[t] - own
    for g in range(begin, end):
        rows = groups[g]
        groups[g] = at
        at += rows
    if t == SCAN_THREADS - 1:
        placed.firsts[len(placed.firsts) - 1] = sums[t]


def _sum_up(sums: Any, t: int, own: int) -> None:
    """The numbers of a block of threads, each added to all before it (Hillis and Steele, 1986)."""
    sums[t] = own
    cuda.syncthreads()
    step = 1
    while step < SCAN_THREADS:
        before = sums[t - step] if t >= step else int64(0)
        cuda.syncthreads()
        sums[t] += before
        cuda.syncthreads()
        step *= 2


def fill_kernel(fired: Fired, many: Many, slots: Slots, tables: Any, placed: Placed, out: Any) -> None:
    """One thread a pulse: its rows in the columns, beside those of its neighbours."""
    i = int64(cuda.grid(1))
    pulses = len(fired.lasers)
    blocks = (pulses + BLOCK - 1) // BLOCK
    if i < len(slots.counts):
        s = i // pulses
        p = i - s * pulses
        b = s * blocks + p // BLOCK
        begin = placed.groups[b // SCAN_THREADS] + placed.starts[b]
        if p == 0:
            placed.firsts[s] = begin
        for q in range(i - p % BLOCK, i):
            rows = int64(slots.counts[q])
            begin += int64(1) if rows == 0 and placed.keep_misses else rows
        mine = slots_of(slots, s * pulses, (s + 1) * pulses)
        fill_block(begin, p, p + 1, placed.keep_misses, fired_of(fired, many, s), mine, tables, out)


KERNELS: tuple[Callable[..., None], ...] = (
    aim_kernel, walk_kernel, hit_kernel, behind_kernel, probe_kernel, place_kernel, total_kernel, fill_kernel,
)  # fmt: skip


class Examples(NamedTuple):
    """Tuples like those that the kernels get, with arrays of any size, on the device or not."""

    scanning: Scanning
    many: Many
    traced: Traced
    rays: RayTable
    span: Span
    scratch: Scratch
    slots: Slots
    placed: Placed
    fired: Fired
    out: Any
    queues: Queues

    def arguments(self) -> dict[str, tuple[Any, ...]]:
        """The arguments of every kernel, by its name."""
        ways: Any = self.scanning.around.standing
        tables, sub_rays = self.scanning.around.tables, len(self.scanning.firing.stencil)
        count = self.span.pulses * sub_rays
        tracing = (self.scanning, self.many, self.traced, self.rays, self.span)
        return {
            "aim_kernel": (*tracing, self.queues.counts),
            "walk_kernel": (ways.standing, tables, self.rays, count, False),
            "hit_kernel": (ways.standing, ways.moving, tables, self.rays, self.traced, sub_rays, count),
            **({"behind_kernel": tracing} if self.through_leaves() else {}),
            **({"probe_kernel": tracing} if probes(self.scanning.firing) else {}),
            **self._firing(),
            "place_kernel": (self.slots.counts, self.placed, len(self.fired.lasers)),
            "total_kernel": (self.placed,),
            "fill_kernel": (self.fired, self.many, self.slots, tables, self.placed, self.out),
        }  # fmt: skip

    def _firing(self) -> dict[str, tuple[Any, ...]]:
        """The arguments of the kernel that fires pulses, or of its two halves."""
        whole = (self.scanning, self.many, self.traced, self.scratch, self.slots, self.span)
        if not self.queue():
            return {"fire_kernel": whole}
        return dict.fromkeys(("meet_kernel", "receive_kernel"), (*whole, self.queues, 0))

    def queue(self) -> bool:
        """Whether pulses queue up for the receiver: where some have echoes that take long to find, and there is nothing in the air,
        of which a thread remembers more than hits."""
        scanning = self.scanning
        return (
            len(scanning.firing.stencil) > 1 and scanning.receiving.echoes and not in_python(has_weather)(scanning.air)
        )

    def through_leaves(self) -> int:
        """How many sub-rays of a pulse go on through leaves."""
        scanning = self.scanning
        if scanning.receiving.bounces == 0 or not in_python(through_leaves)(scanning):
            return 0
        return -(-len(scanning.firing.stencil) // ONE_IN)

    def unused(self) -> tuple[Any, ...]:
        """The steps of a pulse that this scan never takes."""
        around, receiving, air = self.scanning.around, self.scanning.receiving, self.scanning.air
        taken: dict[Any, Any] = {
            follow_lanes: in_python(may_go_on)(self.scanning),
            respond_lanes: len(around.tables.responses) > 0,
            end_beams: len(around.volumes.model) > 0,
            stop_lanes: len(around.volumes.model) > 0,
            trace_volumes: len(around.volumes.model) > 0,
            finish_lanes: probes(self.scanning.firing),
            record_lanes: len(self.slots.recording.samples) > 0,
            add_drops: len(self.slots.recording.samples) > 0 and len(air.laws) > 0,
            listen_lanes: receiving.echoes,
            receive_lanes: not receiving.echoes,
            hear_lanes: len(air.laws) > 0,
            lift_lanes: len(air.haze) > 0 and len(air.clouds) > 0,
            weather_lanes: len(air.soft) or len(air.laws) or len(air.clouds),
        }
        return tuple(step for step, used in taken.items() if not used)

    def unmet(self) -> dict[Any, str]:
        """The steps of a walk that this world has no use for, and what stands for each."""
        ways: Any = self.scanning.around.standing
        return unmet(ways.standing)


def bound(
    wrap: Callable[..., Any], examples: Examples, instead: Mapping[Any, Any] | None = None
) -> dict[str, Callable[..., None]]:  # fmt: skip
    """The kernels by name, with one ray in every packet.

    ``wrap(function, original)`` makes what kernels call; ``instead`` are functions that have another body there.
    """
    others = dict(instead or {}) | idle(wrap, examples.unmet())
    rebound: Rebound = single_rays(wrap, _constants(waiting_rays(examples.scanning)), others)
    written = {
        receiving_of: rebuilding("receiving_of", _own_receiving(examples), _of_many, "many, s"),
        slots_of: rebuilding("slots_of", examples.slots, lambda path, axes: f"{path}[begin:end]", "begin, end"),
    }
    for original, function in written.items():
        rebound.put(original, wrap(function, original))
    if isinstance(examples.fired.true_directions, Wandering):
        rebound.put(true_direction, rebound.of(drawn_direction))
        rebound.put(fired_of, rebound.of(wandering_of))
    rebound.put(met_in_group, rebound.of(beside))
    for at_once, later in _LATER.items():
        rebound.put(at_once, rebound.of(later))
    for step, nothing in idle(wrap, dict.fromkeys(examples.unused(), "0")).items():
        rebound.put(step, nothing)
    for function in (one_of, _sum_up, number_of, fire_pulse, meet_pulse, receive_pulse, queue_up, next_in_line):
        rebound.put(function, rebound.of(function))
    local = local_arrays(examples.scanning, examples.slots.range.shape[1])
    kernels = (*KERNELS, *[_written_kernel(name, text, examples.scratch, local) for name, text in _WRITTEN.items()])
    return {kernel.__name__: rebound.plain(kernel) for kernel in kernels}


def _own_receiving(examples: Examples) -> Any:
    """The receiver, with arrays in place of all that each sensor has of its own."""
    receiving: Any = examples.scanning.receiving
    if not in_own_media(examples.many):
        return receiving
    return receiving._replace(media=Media(*[np.zeros(1)] * len(Media._fields)))


def _of_many(path: str, axes: int) -> str:
    """Where `Many` has what is at a path of the receiver."""
    name, *rest = path.split(".")[1:]
    return f"many.{name}[s, {Media._fields.index(rest[0])}]" if rest else f"many.{name}[s]"


def waiting_rays(scanning: Scanning) -> int:
    """How many rays of a pulse may wait to go on."""
    return _WAITING[bool(scanning.around.tables.bends)]


def _constants(waiting: int) -> dict[tuple[str, str], Any]:
    """What is another number for one thread than for a worker of the processor."""
    nodes = {
        (f"tussock.{module}", name): row * _NODES
        for module in ("signal.waveform", "signal.echoes", "pulse.tables")
        for row, name in enumerate(("NODE", "VALUE", "SLOPE", "CURVE"))
    } | {(f"tussock.{module}", "NODES"): _NODES for module in ("signal.waveform", "signal.echoes", "pulse.tables")}
    return {
        ("tussock.pulse.follow", "_DEPTH"): waiting,
        ("tussock.pulse.clouds", "_LEAST"): MOST_CLOUDS,
        ("tussock.pulse.tables", "_LATER"): LATER,
    } | nodes


def plain_new_scratch(scanning: Scanning, returns: int) -> Scratch:
    """`new_scratch` for one ray in every packet."""
    return _new_scratch_for(waiting_rays(scanning))(scanning, returns)


@cache
def _new_scratch_for(waiting: int) -> Callable[..., Scratch]:
    rebound = single_rays(lambda function, original: function, _constants(waiting))
    made: Callable[..., Scratch] = rebound.of(new_scratch)
    return made
