"""The loop over pulses for a plain scan, with nothing in it that such a scan never does.

Weather, wind, volumes, vegetation that answers, receivers that look at hits one by one, adaptive beams and waveforms that are
kept make up almost half of the loop. A scan with none of them runs a copy of it in which those steps are empty, and the first scan after an
installation waits that much less for the compiler. The steps that are left are the same, and so are the bits.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import FunctionType
from typing import Any, NamedTuple, cast

import numpy as np

from tussock.crew import run_on_crew
from tussock.kernel_context import code_for, handed
from tussock.kernels import INTERPRETED, Array, Real, Whole, inline_kernel, kernel_like
from tussock.pulse.adaptive import finish_lanes
from tussock.pulse.kept_scratch import Shelf, scratch_from, shelf_for
from tussock.pulse.listen import draw_of, hear_lanes, lift_lanes
from tussock.pulse.loop import Shot, Turns, pulse_loop
from tussock.pulse.receive import receive_lanes
from tussock.pulse.record import add_drops, record_lanes
from tussock.pulse.tables import Chosen, Heard, Hits, Lot, Part, Recording, Scanning, Scratch, Slots
from tussock.pulse.vegetation import respond_lanes
from tussock.pulse.volumes import end_beams, stop_lanes
from tussock.pulse.weather import has_weather, weather_lanes
from tussock.randomness import Chance
from tussock.rebound import Rebound
from tussock.trace.packets import Packet
from tussock.trace.placed_volumes import VolumeWalk
from tussock.trace.surroundings import Surroundings, trace_volumes
from tussock.trace.triangles import Corners
from tussock.trace.wind.sway import swayed

__all__ = [
    "ReadyToFire",
    "fire_at_once",
    "fire_on_a_thread",
    "is_dry",
    "is_plain",
    "loop_for",
    "plain_loop",
    "ready_to_fire",
]


def loop_for(scanning: Scanning, slots: Slots) -> Callable[..., None]:
    """The loop that a scan is to run."""
    return plain_loop() if is_plain(scanning, slots) else pulse_loop


class ReadyToFire(NamedTuple):
    """A scan, for the threads that fire its pulses."""

    loop: Callable[..., None]
    scanning: Scanning
    slots: Slots
    shot: Any
    """what of them the loop reads, handed"""
    shelf: Shelf


def ready_to_fire(
    turns: Turns, scanning: Scanning, slots: Slots, loop: Callable[..., None] | None = None
) -> ReadyToFire:
    """What the threads of a scan share, taken apart once."""
    loop = loop or loop_for(scanning, slots)
    if INTERPRETED or loop is not plain_loop():
        return ReadyToFire(loop, scanning, slots, handed(Shot(turns, scanning, slots)), shelf_for(scanning, slots))
    shot = handed(Shot(turns, *_read(scanning, slots)))
    return ReadyToFire(loop, scanning, slots, shot, shelf_for(scanning, slots, _written))


def fire_at_once(ready: ReadyToFire, threads: int) -> None:
    """Fire all pulses on so many threads."""
    with scratch_from(ready.shelf, ready.scanning, ready.slots, threads) as own:
        run_on_crew(ready.loop, ready.shot, own)


def fire_on_a_thread(worker: int, workers: int, ready: ReadyToFire) -> None:
    """Fire pulses until there are no more, as `run_on_threads` calls it: in memory that no other call uses."""
    with scratch_from(ready.shelf, ready.scanning, ready.slots) as (scratch,):
        code_for(ready.loop, ready.shot, scratch)(ready.shot, scratch)


class _Volumes(NamedTuple):
    model: Array
    gaussians: Any


class _Gaussians(NamedTuple):
    intensity: Array
    held: Array


class _Sway(NamedTuple):
    first: Array


class _Air(NamedTuple):
    soft: Array
    laws: Array
    clouds: Array
    soft_path: np.float32
    soft_peak: np.float32


class _Recording(NamedTuple):
    samples: Array


def _read(scanning: Scanning, slots: Slots) -> tuple[Any, Any]:
    """What the plain loop reads of all tables, 0 for the rest: the more arrays a kernel takes, the longer it compiles."""
    around, air, nothing = scanning.around, scanning.air, cast(Any, 0)
    volumes, gaussians = around.volumes, around.volumes.gaussians
    tables = around.tables._replace(
        geometry_object=nothing, geometry_label=nothing, material_label=nothing, geometry_response=nothing,
        geometry_bit=nothing, air_label=nothing, uv=nothing, sway=cast(Any, _Sway(around.tables.sway.first)),
    )  # fmt: skip
    few = cast(Any, _Volumes(volumes.model, _Gaussians(gaussians.intensity, gaussians.held)))
    clear = cast(Any, _Air(air.soft, air.laws, air.clouds, air.soft_path, air.soft_peak))
    return (
        scanning._replace(around=around._replace(tables=tables, volumes=few), air=clear),
        slots._replace(recording=cast(Any, _Recording(slots.recording.samples))),
    )


def _written(scratch: Scratch) -> Any:
    """What the plain loop writes of a worker's memory, 0 for the rest."""
    nothing = cast(Any, 0)
    return scratch._replace(
        second=nothing, errors=nothing, chosen=nothing, walk=nothing, ended=nothing, air=nothing
    )  # fmt: skip


def is_plain(scanning: Scanning, slots: Slots) -> bool:
    """Whether a scan does nothing that the plain loop leaves out."""
    around = scanning.around
    return (
        bool(scanning.receiving.echoes)
        and not len(slots.recording.samples)
        and not len(around.volumes.model)
        and not len(around.tables.responses)
        and not len(around.tables.sway.plants)
        and is_dry(scanning)
        and scanning.firing.probes == len(scanning.firing.stencil)
    )


def is_dry(scanning: Scanning) -> bool:
    """Whether there is no weather."""
    return not getattr(has_weather, "py_func", has_weather)(scanning.air)


@cache
def plain_loop() -> Callable[..., None]:
    """`pulse_loop` without the steps that a plain scan does not take."""
    if INTERPRETED:
        return pulse_loop

    def like(copy: FunctionType, original: Any) -> Any:
        # Compiled code goes by these names, in the cache and in memory: both loops may be there at once, and the linker
        # takes two functions of one name for the same.
        copy.__name__ = copy.__qualname__ = f"plain_{copy.__name__}"
        return kernel_like(copy, original, kept=original is pulse_loop)

    rebound = Rebound({}, like)
    for step, idle in _IDLE.items():
        rebound.put(step, idle)
    loop: Callable[..., None] = rebound.of(pulse_loop)
    return loop


@inline_kernel
def _no_volumes(
    around: Surroundings, packet: Packet, lanes: int, pulses: Array, chance: Chance, walk: VolumeWalk
) -> None:
    return


@inline_kernel
def _no_ends(scanning: Scanning, scratch: Scratch, lot: Lot, returns: int) -> None:
    return


@inline_kernel
def _no_stop(scanning: Scanning, scratch: Scratch, part: Part, lanes: int) -> None:
    return


@inline_kernel
def _no_sway(
    sway: Any, geometry: Whole, copy: Whole, time: Real, at: Corners, material: Whole, known: Array
) -> Corners:  # fmt: skip
    return at


@inline_kernel
def _no_response(scanning: Scanning, scratch: Scratch, part: Part, lot: Lot, dual: bool) -> None:
    return


@inline_kernel
def _no_weather(scanning: Scanning, scratch: Scratch, lot: Lot, used: int, recorded: bool) -> None:
    return


@inline_kernel
def _no_lift(scanning: Scanning, lot: Lot, hits: Hits, heard: Heard) -> None:
    return


@inline_kernel
def _no_drops(scanning: Scanning, scratch: Scratch, lot: Lot) -> None:
    return


@inline_kernel
def _add_none(scanning: Scanning, scratch: Scratch) -> None:
    return


@inline_kernel
def _one_after_the_other(row: Whole, e: int) -> Whole:
    return e


@inline_kernel
def _no_hits(scanning: Scanning, lot: Lot, used: int, hits: Hits, chosen: Chosen, slots: Slots) -> int:
    return 0


@inline_kernel
def _no_recording(
    scanning: Scanning, lot: Lot, used: int, hits: Hits, heard: Heard, recording: Recording
) -> None:  # fmt: skip
    return


@inline_kernel
def _no_others(scanning: Scanning, scratch: Scratch, lot: Lot) -> None:
    return


_IDLE: dict[Any, Any] = {
    trace_volumes: _no_volumes,
    end_beams: _no_ends,
    stop_lanes: _no_stop,
    swayed: _no_sway,
    respond_lanes: _no_response,
    weather_lanes: _no_weather,
    lift_lanes: _no_lift,
    hear_lanes: _no_drops,
    draw_of: _one_after_the_other,
    receive_lanes: _no_hits,
    record_lanes: _no_recording,
    add_drops: _add_none,
    finish_lanes: _no_others,
}
"""what stands for the steps that are left out"""
