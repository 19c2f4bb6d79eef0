"""Every firing in the packets of a Velodyne, with or without return, from the packets alone.

A block says where the head looked when its first laser fired. Each laser fires at its own moment after that (the table of
the model), while the head turns on; how fast it turns is taken from one packet to the next. So

    azimuth of a pulse = azimuth of its block + rate · time since the block began + the laser's own azimuth.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tussock.arrays import FloatArray
from tussock.sensors.patterns.pattern import per_laser
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.wire.firing_loop import Cycles, FiringColumns, Lasers, fire
from tussock.wire.firings import Firings
from tussock.wire.velodyne.calibration import Calibration
from tussock.wire.velodyne.layout import LAST, PACKET_BYTES, STRONGEST, layout_of
from tussock.wire.velodyne.packet_stream import PacketStream
from tussock.wire.velodyne.pauses import shorter_way

__all__ = ["firing_parts", "firings_of"]

_TURN = 36000  # [0.01°]
_CLOCK_WINDOW = 500
"""packets over which the recorder's clock is compared with the sensor's"""
_RATE_WINDOW_US = 2000.0
"""to either side: the head's wander is slower"""
_NEAR_X, _NEAR_Y, _FAR = 2.4, 1.93, 25.04
"""[m] where an HDL-64E is calibrated (S2 manual, appendix on two-point calibration)"""
_RAD = np.pi / 18000  # of 0.01°


def firings_of(stream: PacketStream) -> Firings:
    """All pulses of a stream of packets, those without return among them."""
    return next(firing_parts(stream, len(stream)))


def firing_parts(stream: PacketStream, packets: int) -> Iterator[Firings]:
    """The same, so many packets at a time: memory is that of the packets, not that of their pulses."""
    lasers, cycles = _lasers(stream), _cycles(stream)
    raw = stream.packets.view(np.uint8).reshape(-1, PACKET_BYTES)
    for first in range(0, len(stream), packets):
        part = slice(first, first + packets)
        some = Cycles(cycles.head[part], cycles.times[part], cycles.turns[part], cycles.row[part], cycles.rate[part])
        yield _fired(stream, raw[part], lasers, some)


def _fired(stream: PacketStream, raw: NDArray[np.uint8], lasers: Lasers, cycles: Cycles) -> Firings:
    layout = layout_of(stream.model, stream.mode)
    count, returns = len(raw) * layout.cycles * stream.model.lasers, layout.returns
    out = FiringColumns.empty(count, returns)
    scale = float(stream.model.distance_step_m), float(stream.model.white)
    fire(raw, layout.place, lasers, cycles, scale, out)
    names = {STRONGEST: "strongest", LAST: "last"}
    kinds = (stream.mode,) if returns == 1 else tuple(names[k] for k in range(returns))
    return out.firings(stream.name, kinds, _corrected(stream.calibration, out.ranges, out.directions, out.lasers))


def _lasers(stream: PacketStream) -> Lasers:
    pattern = stream.sensor.pattern
    assert isinstance(pattern, SpinningPattern)
    fires = np.array(per_laser(pattern.firing_us, stream.model.lasers, "firing_us"))
    order = np.argsort(fires, kind="stable")
    known = stream.calibration
    level, rise = np.cos(known.elevation), np.sin(known.elevation)
    return Lasers(
        many=np.array([len(order)]),
        number=order[None],
        ring=np.asarray(known.rings, np.int64)[order][None],
        fires_us=fires[order][None],
        azimuth=known.azimuth[order][None],
        level=level[order][None],
        rise=rise[order][None],
        back=(known.vertical_offset * rise)[order][None],
        left=known.horizontal_offset[order][None],
        above=(known.vertical_offset * level + known.height)[order][None],
    )


def _cycles(stream: PacketStream) -> Cycles:
    layout = layout_of(stream.model, stream.mode)
    period = stream.interval_us / layout.cycles
    rate = _rates(stream)
    block = layout.place[:, 0, 0] // 100
    since = (np.arange(layout.cycles) - layout.block_cycle[block]) * period  # [µs] since the cycle's block began
    azimuth = stream.packets["blocks"]["azimuth"].astype(np.float64)[:, block] + rate[:, None] * since
    late = np.arange(layout.cycles) * period + stream.late_us
    times = _times(stream)[:, None] + late * 1e-6
    row = np.zeros(azimuth.shape, np.int64)
    return Cycles(-azimuth * _RAD, times, _turns(stream, azimuth, rate), row, -rate * _RAD)


def _rates(stream: PacketStream) -> FloatArray:
    """[0.01°/µs] how fast the head turned in each packet, shape (n,): over some packets to either side of it.

    From one packet to the next the step of an azimuth on the wire, 0.01°, would be too coarse.
    """
    azimuth = stream.packets["blocks"]["azimuth"].astype(np.float64)
    layout = layout_of(stream.model, stream.mode)
    count = len(stream)
    # Packets that follow each other, without a gap or a pause between.
    follows = stream.follows[1:] & ~np.any(stream.late_us > 0, axis=1)[:-1]
    step = np.where(follows, shorter_way(np.diff(azimuth[:, 0])), 0.0)
    along = np.concatenate([[0.0], np.cumsum(step)])
    run = np.concatenate([[0], np.cumsum(~follows)])
    reach = int(np.ceil(_RATE_WINDOW_US / stream.interval_us))
    here = np.arange(count)
    first = np.maximum(here - reach, np.searchsorted(run, run))
    last = np.minimum(here + reach, np.searchsorted(run, run, side="right") - 1)
    with np.errstate(invalid="ignore"):
        rate = (along[last] - along[first]) / ((last - first) * stream.interval_us)
    # Alone: by its own blocks.
    end = int(np.flatnonzero(layout.block_cycle >= 0)[-1])
    span = layout.block_cycle[end] * stream.interval_us / layout.cycles
    alone = np.flatnonzero(np.isnan(rate) & ~np.any(stream.late_us > 0, axis=1))
    if span:
        rate[alone] = shorter_way(azimuth[alone, end] - azimuth[alone, 0]) / span
    usual = np.nanmedian(rate) if np.isfinite(rate).any() else 10 * _TURN * 1e-6
    return np.where(np.isnan(rate), usual, rate)


def _turns(stream: PacketStream, azimuth: FloatArray, rate: FloatArray) -> NDArray[np.int32]:
    """The revolution of every cycle, from where the recording begins, shape (packets, cycles)."""
    usual = float(np.median(rate))
    if usual < 0:
        azimuth, usual = -azimuth, -usual
    since = (stream.stamps - stream.stamps[0])[:, None] + stream.late_us
    since = (since + np.arange(azimuth.shape[1]) * (stream.interval_us / azimuth.shape[1])).ravel()
    # From cycle to cycle the head turns by less than half a circle more or less than it usually does.
    step, expected = np.diff(azimuth.ravel()), np.diff(since) * usual
    step += _TURN * np.rint((expected - step) / _TURN)
    along = np.concatenate([[0.0], np.cumsum(step)])
    whole = np.maximum.accumulate(np.floor((along + 1e-6) / _TURN))
    return np.maximum(whole, 0).astype(np.int32).reshape(azimuth.shape)


def _times(stream: PacketStream) -> FloatArray:
    """[s] Unix time of the first firing in each packet, by the recorder's clock and as even as the sensor's, (n,)."""
    sensor = (stream.stamps - stream.model.stamp_us) * 1e-6
    # A packet leaves when its last laser has fired.
    apart = stream.recorded - (stream.interval_us + stream.late_us[:, -1]) * 1e-6 - sensor
    pieces = np.array_split(np.arange(len(stream)), max(len(stream) // _CLOCK_WINDOW, 1))
    centres = np.array([sensor[piece].mean() for piece in pieces])
    offsets = np.array([np.median(apart[piece]) for piece in pieces])
    return sensor + offsets[0] + np.interp(sensor, centres, offsets - offsets[0])


def _corrected(
    calibration: Calibration, ranges: FloatArray, direction: FloatArray, laser: NDArray[np.uint16]
) -> FloatArray:
    """Ranges with the distance corrections of an HDL-64E: near targets, aside (x) and ahead (y), have their own."""
    if not (calibration.distance.any() or calibration.distance_x.any() or calibration.distance_y.any()):
        return ranges
    far = calibration.distance[laser][:, None]
    corrected = ranges + far
    for near, axis, start, weight in (
        (calibration.distance_x, 1, _NEAR_X, direction[:, 1] ** 2),
        (calibration.distance_y, 0, _NEAR_Y, direction[:, 0] ** 2 + direction[:, 2] ** 2),
    ):
        aside = np.abs((ranges + far) * direction[:, axis, None])
        less = (near[laser][:, None] - far) * (1 - (aside - start) / (_FAR - start))
        corrected += less * weight[:, None]
    return np.maximum(corrected, 0.0)
