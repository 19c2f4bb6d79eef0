"""The loop over the firings of packets: everything that is computed for each pulse."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import FloatArray
from tussock.kept_memory import room_for
from tussock.kernels import kernel
from tussock.wire.firings import Firings

__all__ = ["Cycles", "FiringColumns", "Lasers", "fire"]

_LINE = 64  # [bytes] of the processor's cache


class Lasers(NamedTuple):
    """The lasers in the order of firing, each array of shape (turns, lasers); offsets in metres, angles in radians.

    Where cycles take turns, each turn has its own order and its own lasers that rest: only the first ``many`` fire.
    """

    many: NDArray[np.int64]
    """how many fire in a turn, shape (turns,)"""
    number: NDArray[np.int64]
    ring: NDArray[np.int64]
    """rank by elevation"""
    fires_us: FloatArray
    azimuth: FloatArray
    level: FloatArray
    rise: FloatArray
    back: FloatArray
    """how far the origin lies behind the axis"""
    left: FloatArray
    above: FloatArray


class Cycles(NamedTuple):
    """The firing cycles of each packet."""

    head: FloatArray
    """[rad] where the head looked, counter-clockwise, shape (packets, cycles)"""
    times: FloatArray
    """[s], shape (packets, cycles)"""
    turns: NDArray[np.int32]
    """revolution, shape (packets, cycles)"""
    row: NDArray[np.int64]
    """which turn of `Lasers` it takes, shape (packets, cycles)"""
    rate: FloatArray
    """[rad/µs] counter-clockwise, shape (packets,)"""


class FiringColumns(NamedTuple):
    """Columns of `tussock.wire.firings.Firings`, to be filled."""

    directions: FloatArray
    origins: FloatArray
    azimuths: FloatArray
    times: FloatArray
    ranges: FloatArray
    turns: NDArray[np.int32]
    intensity: NDArray[np.float32]
    lasers: NDArray[np.uint16]
    rings: NDArray[np.uint16]

    @classmethod
    def empty(cls, count: int, returns: int) -> FiringColumns:
        """Room for ``count`` pulses of so many returns each.

        All columns lie in one piece of memory: the system hands out large pieces in large pages, and filling
        fresh memory page by small page takes longer than to compute what is put there. It is used again (`tussock.kept_memory`).
        """
        wanted: list[tuple[tuple[int, ...], Any]] = [
            ((count, 3), np.float64), ((count, 3), np.float64), ((count,), np.float64), ((count,), np.float64),
            ((count, returns), np.float64), ((count,), np.int32), ((count, returns), np.float32),
            ((count,), np.uint16), ((count,), np.uint16),
        ]  # fmt: skip
        sizes = [int(np.prod(shape)) * np.dtype(kind).itemsize for shape, kind in wanted]
        starts = np.cumsum([0, *(-(-size // _LINE) * _LINE for size in sizes)])
        room = room_for(int(starts[-1]))
        parts = [
            room[start : start + size].view(kind).reshape(shape)
            for start, size, (shape, kind) in zip(starts, sizes, wanted, strict=False)
        ]
        return cls(*parts)

    def firings(self, sensor: str, kinds: tuple[str, ...], ranges: FloatArray | None = None) -> Firings:
        """The columns, filled, as what they are; ``ranges`` [m] where they were corrected since."""
        columns = self._asdict() | ({} if ranges is None else {"ranges": ranges})
        return Firings(sensor=sensor, kinds=kinds, **columns)


@kernel
def fire(raw: Any, place: Any, lasers: Lasers, cycles: Cycles, scale: Any, out: FiringColumns) -> None:
    """Fill the columns of `Firings`, pulse by pulse; ``scale``: metres a step, byte of a white wall."""
    directions, origins, azimuths, times, ranges, turns, intensity, numbers, rings = out
    rows, most = lasers.number.shape
    returns = place.shape[2]
    c, s, turned = np.empty((rows, most)), np.empty((rows, most)), np.empty((rows, most))
    known = np.full(rows, -1)
    i = 0
    for packet in range(len(raw)):
        for cycle in range(place.shape[0]):
            row = cycles.row[packet, cycle]
            if known[row] != packet:
                known[row] = packet
                for k in range(lasers.many[row]):
                    # What a laser looks aside of the head when it fires.
                    angle = lasers.azimuth[row, k] + cycles.rate[packet] * lasers.fires_us[row, k]
                    turned[row, k], c[row, k], s[row, k] = angle, np.cos(angle), np.sin(angle)
            head = cycles.head[packet, cycle]
            c_head, s_head = np.cos(head), np.sin(head)
            for k in range(lasers.many[row]):
                x = c_head * c[row, k] - s_head * s[row, k]
                y = s_head * c[row, k] + c_head * s[row, k]
                directions[i, 0], directions[i, 1] = lasers.level[row, k] * x, lasers.level[row, k] * y
                directions[i, 2] = lasers.rise[row, k]
                origins[i, 0] = -lasers.back[row, k] * x - lasers.left[row, k] * y
                origins[i, 1] = -lasers.back[row, k] * y + lasers.left[row, k] * x
                origins[i, 2] = lasers.above[row, k]
                angle = head + turned[row, k]
                azimuths[i] = angle - 2 * np.pi * np.rint(angle / (2 * np.pi))
                times[i] = cycles.times[packet, cycle] + lasers.fires_us[row, k] * 1e-6
                turns[i] = cycles.turns[packet, cycle]
                number = lasers.number[row, k]
                numbers[i], rings[i] = number, lasers.ring[row, k]
                for r in range(returns):
                    at = place[cycle, number, r]
                    steps = np.int64(raw[packet, at]) | np.int64(raw[packet, at + 1]) << 8
                    ranges[i, r] = steps * scale[0] if steps > 0 else np.nan
                    intensity[i, r] = raw[packet, at + 2] / scale[1] if steps > 0 else 0.0
                i += 1
