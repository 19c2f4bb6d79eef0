"""From the slots of the pulse loop to the columns of a frame: one row per return, in firing order."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.crew import run_on_crew
from tussock.frames.columns import COLUMNS, Column
from tussock.frames.memory import reused
from tussock.kernel_context import handed
from tussock.kernels import Real, Whole, inline_kernel, loop_kernel
from tussock.trace.hit_tables import material_of
from tussock.trace.packets import NOTHING

__all__ = ["Fired", "Out", "bytes_of", "collect", "columns_in", "fill_block", "room_for", "true_direction"]

_AIR = np.uint32(int(NOTHING) - 4)  # geometries from here on, and nothing, are the air's: see `tussock.pulse.weather`


class Fired(NamedTuple):
    """What the columns take from the pulses themselves."""

    directions: NDArray[np.float32]
    """as reported"""
    true_directions: Any
    """where the pulses really went, float32, shape (n, 3): the same but for pointing noise; or how that is drawn again
    (`tussock.gpu.wandering`)"""
    origins: NDArray[np.float32]
    offsets: NDArray[np.float64]
    lasers: NDArray[np.uint16]
    azimuths: NDArray[np.float32]
    elevations: NDArray[np.float32]
    start: float
    """[s] start of the frame"""


def collect(
    fired: Fired, slots: Any, tables: Any, block: int, block_counts: NDArray[np.int64], *, keep_misses: bool,
    threads: int,
) -> dict[str, NDArray[Any]]:  # fmt: skip
    """The columns of a frame. ``block_counts`` is the number of returns of every block of pulses.

    Radial speeds are those of a world at rest, and where they are measured their deviates.
    """
    rows = block_counts
    if keep_misses:
        misses = np.add.reduceat(slots.counts == 0, np.arange(0, len(fired.lasers), block)) if len(rows) else rows
        rows = rows + misses
    starts = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(rows, out=starts[1:])
    columns = room_for(int(starts[-1]))
    names = _Names(*(getattr(tables, name) for name in _Names._fields))
    found = _Found(*(getattr(slots, name) for name in _Found._fields))
    filling = handed(_Filling(_Rows(starts, block, keep_misses), fired, found, names, Out(**columns)))
    run_on_crew(_fill, filling, [_share(worker, threads) for worker in range(threads)])
    return columns


def room_for(rows: int) -> dict[str, NDArray[Any]]:
    """Empty columns in one piece of memory: the system hands out one large piece faster than many small."""
    return columns_in(reused(bytes_of(rows)), rows)


def bytes_of(rows: int) -> int:
    """Memory that the columns of so many rows take."""
    return sum([_whole_lines(rows * width) for _, _, _, width in _LAYOUT])


def columns_in(memory: NDArray[np.uint8], rows: int) -> dict[str, NDArray[Any]]:
    """The columns of so many rows in a piece of memory, one after the other."""
    columns, at = {}, 0
    for name, dtype, shape, width in _LAYOUT:
        columns[name] = np.ndarray((rows, *shape), dtype, memory, at)
        at += _whole_lines(rows * width)
    return columns


def _whole_lines(size: int) -> int:
    """[bytes] so many, up to the end of a line of the cache."""
    return (size + 63) // 64 * 64


def _layout(column: Column) -> tuple[str, np.dtype[Any], tuple[int, ...], int]:
    """Name, type, shape beside the rows, and bytes a row."""
    dtype = np.dtype(column.dtype)
    return column.name, dtype, () if column.width == 1 else (column.width,), column.width * dtype.itemsize


_LAYOUT = tuple(map(_layout, COLUMNS))
Out = NamedTuple("Out", [(column.name, Any) for column in COLUMNS])  # type: ignore[misc]


class _Rows(NamedTuple):
    """Which rows of the frame the pulses of every block get."""

    starts: Any
    """first row of every block, and the end, shape (blocks + 1,)"""
    block: int
    """pulses of a block"""
    keep_misses: bool


class _Names(NamedTuple):
    """Of `HitTables`, what says whose a hit is: the more arrays a kernel takes, the longer it compiles."""

    geometry_object: Any
    geometry_label: Any
    geometry_material: Any
    primitives: Any
    material_label: Any
    air_label: Any


class _Found(NamedTuple):
    """Of `Slots`, what becomes columns."""

    counts: Any
    true_range: Any
    range: Any
    intensity: Any
    signal: Any
    speed: Any
    geometry: Any
    primitive: Any
    copy: Any
    kind: Any


class _Filling(NamedTuple):
    """All that the threads which fill columns share."""

    rows: _Rows
    fired: Fired
    found: _Found
    names: _Names
    out: Any


class _Share(NamedTuple):
    """Every so many blocks, from one of the first on."""

    worker: int
    workers: int


@cache
def _share(worker: int, workers: int) -> Any:
    return handed(_Share(worker, workers))


@loop_kernel
def _fill(filling: _Filling, share: _Share) -> None:
    rows, fired, found, names, out = filling.rows, filling.fired, filling.found, filling.names, filling.out
    starts, block, pulses = rows.starts, rows.block, len(fired.lasers)
    for b in range(share.worker, len(starts) - 1, share.workers):
        # Unsigned: no index counts from the end, which the compiler would look at for every number of every row.
        begin, end = np.uint64(starts[b]), np.uint64(starts[b + 1])
        _number(starts[b], b * block, min(pulses, (b + 1) * block), rows.keep_misses, found, out)
        # A few columns at a time: of two dozen at once the processor fetches none ahead.
        for i in range(begin, end):
            _fill_fired(i, out.pulse[i], fired, found, out)
        for i in range(begin, end):
            _fill_measured(i, out.pulse[i], np.int64(out.return_number[i]) - 1, found, out)
        for i in range(begin, end):
            _fill_points(i, out.pulse[i], fired, out)
        for i in range(begin, end):
            _fill_met(i, out.pulse[i], np.int64(out.return_number[i]) - 1, found, names, out)


@inline_kernel
def _number(i: int, first: int, last: int, keep_misses: bool, slots: Any, out: Any) -> None:
    """Which pulse and which of its returns the rows from ``i`` on are of; ``first`` to before ``last`` are the pulses."""
    for p in range(first, last):
        count = slots.counts[np.uint64(p)]
        if count == 0 and not keep_misses:
            continue
        for k in range(max(count, 1)):
            out.pulse[np.uint64(i)] = p
            out.return_number[np.uint64(i)] = min(count, k + 1)
            i += 1


@inline_kernel
def _fill_fired(i: Whole, p: Whole, fired: Any, slots: Any, out: Any) -> None:
    """What row ``i`` says of its pulse."""
    out.time[i] = fired.start + fired.offsets[p]
    out.laser[i] = fired.lasers[p]
    out.azimuth[i] = fired.azimuths[p]
    out.elevation[i] = fired.elevations[p]
    out.return_count[i] = slots.counts[p]
    out.near_infrared[i] = np.nan


@inline_kernel
def _fill_measured(i: Whole, p: Whole, k: Whole, slots: Any, out: Any) -> None:
    """What a row says of return ``k`` of its pulse, which is −1 where there is none."""
    if k < 0:
        out.true_range[i] = out.range[i] = out.signal[i] = out.speed[i] = np.nan
        out.intensity[i] = 0.0
        out.return_kind[i] = 0
    else:
        out.true_range[i], out.range[i] = slots.true_range[p, k], slots.range[p, k]
        out.intensity[i] = slots.intensity[p, k]
        out.signal[i] = slots.signal[p, k]
        out.speed[i] = slots.speed[p, k] if slots.speed.shape[1] > 0 else np.float32(np.nan)
        out.return_kind[i] = slots.kind[p, k]


@inline_kernel
def _fill_points(i: Whole, p: Whole, fired: Any, out: Any) -> None:
    """Where a row's point is; nowhere, where its ranges are no numbers."""
    o = 0 if len(fired.origins) == 1 else p
    true_range, measured = out.true_range[i], out.range[i]
    for a in range(3):
        out.true_xyz[i, a] = fired.origins[o, a] + true_range * true_direction(fired, p, a)
        out.xyz[i, a] = fired.origins[o, a] + measured * fired.directions[p, a]


@inline_kernel
def _fill_met(i: Whole, p: Whole, k: Whole, slots: Any, tables: Any, out: Any) -> None:
    """What a row's return came from."""
    geometry = slots.geometry[p, max(k, 0)] if k >= 0 else NOTHING
    if geometry >= _AIR:  # a pulse without return, noise, the light of another sensor; or the air's
        out.true_speed[i] = np.nan
        out.object_id[i] = out.placement[i] = out.material[i] = 0
        out.label[i] = 0 if geometry == NOTHING else tables.air_label[NOTHING - np.uint32(1) - geometry]
    else:
        material = material_of(tables, geometry, slots.primitive[p, k])
        label = tables.material_label[material]
        out.true_speed[i] = 0.0
        out.object_id[i] = tables.geometry_object[geometry]
        out.placement[i] = slots.copy[p, k]
        out.label[i] = tables.geometry_label[geometry] if label < 0 else label
        out.material[i] = material


@inline_kernel
def true_direction(fired: Any, p: Whole, a: Whole) -> Real:
    """A coordinate of where a pulse really went."""
    return fired.true_directions[p, a]


@inline_kernel
def fill_block(
    i: int, first: int, last: int, keep_misses: bool, fired: Any, slots: Any, tables: Any, out: Any
) -> None:  # fmt: skip
    """The rows of the pulses from ``first`` to before ``last``, from row ``i`` of the columns on."""
    _number(i, first, last, keep_misses, slots, out)
    for p in range(first, last):
        count = slots.counts[p]
        if count > 0 or keep_misses:
            for row in range(max(count, 1)):
                k = row if count > 0 else -1
                _fill_fired(i, p, fired, slots, out)
                _fill_measured(i, p, k, slots, out)
                _fill_points(i, p, fired, out)
                _fill_met(i, p, k, slots, tables, out)
                i += 1
