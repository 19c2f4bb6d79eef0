"""Every firing in the packets of a Hesai, with or without return, from the packets alone.

A block says where the rotor was at the block's time; each channel fires at its own moment about that (the table of the
model), while the rotor turns on. How fast it turns is taken from the packets around:

    azimuth of a pulse = azimuth of its block + rate · time since the block's + the channel's own azimuth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.sensors.catalogue import load_sensor, sensor_names
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.sensors.sensor import Sensor
from tussock.wire.captures.datagrams import Datagrams
from tussock.wire.captures.units import choose_unit
from tussock.wire.firing_loop import Cycles, FiringColumns, Lasers, fire
from tussock.wire.firings import Firings
from tussock.wire.hesai.decode import HesaiPackets, decode_hesai, hesai_model
from tussock.wire.hesai.models import DISTANCE_STEP_M, MODELS, WHITE, HesaiModel

__all__ = ["HESAI_FLAG", "hesai_datagrams", "hesai_firings"]

HESAI_FLAG = b"\xee\xff"
_TURN = 36000  # [0.01°]
_RATE_WINDOW_US = 4000
"""to either side: the rotor's wander is slower"""
_AT_ONCE = 4.0  # [s] device clocks that are this near to the recorder's are the same clock
_RAD = np.pi / 18000  # of 0.01°
_MIXED_US = 1_000_000
"""within which packets may have come in another order than they were sent"""

_LEAST = min(model.with_flags(0).packet.itemsize for model in MODELS.values())  # [bytes] of a packet

Say = Callable[[str], None]
Numbers = NDArray[np.float64]


def hesai_datagrams(found: Datagrams) -> Datagrams:
    """The data packets of Hesai's sensors among datagrams."""
    return found.select(found.begins(HESAI_FLAG) & (found.size >= _LEAST))


def hesai_firings(found: Datagrams, sensor: Sensor | None, unit: str | None, say: Say) -> Firings:
    """All pulses of one unit in a capture; ``sensor`` has the angles and times of its channels, the catalogue's if None."""
    chosen = choose_unit(hesai_datagrams(found), unit)
    for note in found.losses.notes(found.path):
        say(note)
    usual = int(np.bincount(chosen.size).argmax())
    if (chosen.size != usual).any():
        say(
            f"{found.path}: {int((chosen.size != usual).sum())} data packets do not have {usual} bytes and are left out"
        )
        chosen = chosen.select(chosen.size == usual)
    payloads = chosen.payloads()
    model = hesai_model(payloads[0])
    if model is None:
        begins = payloads[0, :8].tobytes().hex(" ")
        raise InputError(f"holds packets of a Hesai that is not known (they begin {begins}); known: {', '.join(MODELS)}",
                         source=found.path)  # fmt: skip
    device = _sensor(model, sensor)
    try:
        packets = decode_hesai(payloads)
    except InputError as error:
        raise error.within(found.path) from None
    recorded = chosen.times
    if packets.damaged:
        recorded, payloads = recorded[packets.whole], payloads[packets.whole]
    packets, recorded, raw = _in_order(packets, recorded, payloads, found, say)
    return _firings(packets, recorded, raw, device)


def _sensor(model: HesaiModel, given: Sensor | None) -> Sensor:
    if given is not None:
        if given.packets != model.name:
            raise InputError.of("model", f"must send the packets of a {model.name}, as the capture's are", given.name)
        return given
    for name in sensor_names():
        sensor = load_sensor(name)
        if sensor.packets == model.name:
            return sensor
    raise InputError(f"packets {model.name}: no sensor of the catalogue sends them; name one with --model")


def _in_order(
    packets: HesaiPackets, recorded: Numbers, raw: NDArray[np.uint8], found: Datagrams, say: Say
) -> tuple[HesaiPackets, Numbers, NDArray[np.uint8]]:
    """Packets in the order of the sensor's clock, each once; what is doubled, mixed up or missing is said."""
    if packets.damaged:
        say(f"{found.path}: {packets.damaged} data packets have a wrong checksum and are left out")
    stamps = packets.stamp_us
    jumps = np.concatenate([[0], np.cumsum(np.abs(np.diff(stamps)) > _MIXED_US)])  # the clock was set
    order = np.lexsort((stamps, jumps))
    mixed = int((np.diff(order) < 0).sum())
    if mixed:
        say(f"{found.path}: {mixed} data packets came in another order than they were sent")
    close = np.flatnonzero(np.diff(stamps[order]) == 0)
    again = close[(raw[order[close]] == raw[order[close + 1]]).all(axis=1)] + 1
    if len(again):
        say(f"{found.path}: {len(again)} data packets came twice")
        order = np.delete(order, again)
    if not np.array_equal(order, np.arange(len(raw))):
        packets, recorded, raw = packets.select(order), recorded[order], raw[order]
    lost = packets.lost if packets.sequence is not None else _lost_by_time(packets.stamp_us)
    if lost:
        say(f"{found.path}: {lost} data packets are missing")
    return packets, recorded, raw


def _lost_by_time(stamps: NDArray[np.int64]) -> int:
    """Packets that are missing, where they carry no numbers."""
    steps = np.diff(stamps)
    usual = np.median(steps) if len(steps) else 0
    if not usual > 0:
        return 0
    few = steps[(steps > 0) & (steps < _MIXED_US)]
    return int((np.rint(few / usual) - 1).sum())


class _Along(NamedTuple):
    """How the rotor turned."""

    rate: Numbers
    """[0.01°/µs] in each packet, clockwise, shape (packets,)"""
    turns: NDArray[np.int32]
    """revolution of every cycle, shape (packets, cycles)"""


def _firings(packets: HesaiPackets, recorded: Numbers, raw: NDArray[np.uint8], sensor: Sensor) -> Firings:
    pattern = sensor.pattern
    assert isinstance(pattern, SpinningPattern)
    model, cycles = packets.model, packets.azimuth.shape[1]
    cycle_us = float(pattern.cycle) * 1e6
    # [s] the time of every block, by the packet's, that of its last block.
    back = (cycles - 1 - np.arange(cycles)) * cycle_us
    block_us = packets.stamp_us[:, None] - model.stamp_us - back
    along = _along(packets, block_us, cycle_us)
    leaves = packets.stamp_us * 1e-6 + (cycle_us - model.block_us - model.stamp_us) * 1e-6
    apart = float(np.median(recorded - leaves))
    times = block_us * 1e-6 + (0.0 if abs(apart) < _AT_ONCE else apart)
    if packets.turn.max(initial=0) >= len(pattern.order):
        known = f"must be one of the {len(pattern.order)} of a {sensor.name}"
        raise InputError.of("packets: state of a block", known, int(packets.turn.max()))
    turned = -_RAD * packets.azimuth.astype(np.float64)
    cycles_of = Cycles(turned, times, along.turns, packets.turn, -along.rate * _RAD)
    lasers, place = _lasers(pattern, model), _places(packets)
    out = FiringColumns.empty(int(lasers.many[packets.turn].sum()), place.shape[2])
    fire(raw, place, lasers, cycles_of, (DISTANCE_STEP_M, WHITE), out)
    return out.firings(sensor.name, packets.returns[::-1])


def _lasers(pattern: SpinningPattern, model: HesaiModel) -> Lasers:
    """In the order of firing, those that rest in a turn last."""
    rank = np.argsort(np.argsort(pattern.elevation_deg, kind="stable"), kind="stable")
    fires = np.array([turn.firing_us or (0.0,) * pattern.lasers for turn in pattern.order])
    rests = np.zeros(fires.shape, bool)
    for row, turn in enumerate(pattern.order):
        rests[row, list(turn.resting)] = True
    order = np.lexsort((fires, rests))
    elevation = np.deg2rad(np.array(pattern.elevation_deg))[order]
    offset = np.deg2rad(pattern.azimuth_deg)[order] if pattern.azimuth_deg else np.zeros(order.shape)
    late = np.take_along_axis(fires, order, 1) - model.block_us
    none = np.zeros(order.shape)
    return Lasers(
        (~rests).sum(axis=1), order, rank[order], late, offset, np.cos(elevation), np.sin(elevation), none, none, none
    )


def _places(packets: HesaiPackets) -> NDArray[np.int16]:
    """[bytes] where a return begins in the packet, shape (cycles, lasers, returns); of two, that of the second block first."""
    fields = packets.model.packet.fields
    assert fields is not None
    block = fields["blocks"][0].base
    assert block.fields is not None
    units, start = block.fields["units"], fields["blocks"][1]
    returns = 2 if packets.mode == "dual" else 1
    cycle, laser, slot = np.ix_(range(packets.azimuth.shape[1]), range(packets.model.lasers), range(returns))
    at = start + (cycle * returns + returns - 1 - slot) * block.itemsize
    return np.asarray(at + units[1] + laser * units[0].base.itemsize, np.int16)


def _along(packets: HesaiPackets, block_us: Numbers, cycle_us: float) -> _Along:
    azimuth = packets.azimuth.astype(np.float64)
    flat, when = azimuth.ravel(), block_us.ravel()
    step, since = np.diff(flat), np.diff(when)
    inside = np.mod(np.diff(azimuth, axis=1), _TURN) if azimuth.shape[1] > 1 else np.mod(np.diff(azimuth[:, 0]), _TURN)
    span = cycle_us if azimuth.shape[1] > 1 else float(np.median(np.diff(when))) if len(when) > 1 else cycle_us
    usual = float(np.median(inside)) / span if inside.size else 10 * _TURN * 1e-6
    if usual * span > _TURN / 2:  # the other way round
        usual -= _TURN / span
    # From cycle to cycle the rotor turns by less than half a circle more or less than it usually does.
    step += _TURN * np.rint((since * usual - step) / _TURN)
    whole = np.concatenate([[0.0], np.cumsum(step)])
    sense = 1.0 if usual >= 0 else -1.0
    turns = np.maximum(np.maximum.accumulate(np.floor((sense * whole + 1e-6) / _TURN)), 0)
    cycles = azimuth.shape[1]
    begin, clock = whole[::cycles], when[::cycles]
    reach = max(1, int(np.ceil(_RATE_WINDOW_US / (cycles * cycle_us))))
    here = np.arange(len(begin))
    run = np.concatenate([[0], np.cumsum(np.abs(np.diff(clock)) > 3 * cycles * cycle_us)])
    low = np.maximum(here - reach, np.searchsorted(run, run))
    high = np.minimum(here + reach, np.searchsorted(run, run, side="right") - 1)
    apart = clock[high] - clock[low]
    rate = np.where(apart > 0, (begin[high] - begin[low]) / np.where(apart > 0, apart, 1.0), usual)
    return _Along(rate, turns.astype(np.int32).reshape(azimuth.shape))
