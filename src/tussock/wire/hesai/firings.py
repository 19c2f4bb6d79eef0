"""Every firing in the packets of a Hesai, with or without return, from the packets alone.

A block says where the rotor was at the block's time; each channel fires at its own moment about that (the table of the
model), while the rotor turns on. How fast it turns is taken from the packets around:

    azimuth of a pulse = azimuth of its block + rate · time since the block's + the channel's own azimuth.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

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

Say = Callable[[str], None]
Numbers = NDArray[np.float64]


def hesai_datagrams(found: Datagrams) -> Datagrams:
    """The data packets of Hesai's sensors among datagrams."""
    sizes = [model.packet.itemsize for model in MODELS.values()]
    return found.select(found.begins(HESAI_FLAG) & (found.size >= min(sizes)))


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
    whole = np.ones(len(payloads), bool) if not packets.damaged else packets.whole
    packets, recorded, raw = _in_order(packets, chosen.times[whole], payloads[whole], found, say)
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
    same = np.concatenate([[False], (np.diff(stamps[order]) == 0) & (raw[order][1:] == raw[order][:-1]).all(axis=1)])
    if same.any():
        say(f"{found.path}: {int(same.sum())} data packets came twice")
    order = order[~same]
    packets = packets.select(order)
    lost = packets.lost if packets.sequence is not None else _lost_by_time(packets.stamp_us)
    if lost:
        say(f"{found.path}: {lost} data packets are missing")
    return packets, recorded[order], raw[order]


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
    model, count, cycles = packets.model, len(packets.stamp_us), packets.azimuth.shape[1]
    cycle_us = float(pattern.cycle) * 1e6
    # [s] the time of every block, by the packet's, that of its last block.
    back = (cycles - 1 - np.arange(cycles)) * cycle_us
    block_us = packets.stamp_us[:, None] - model.stamp_us - back
    along = _along(packets, block_us, cycle_us)
    leaves = packets.stamp_us * 1e-6 + (cycle_us - model.block_us - model.stamp_us) * 1e-6
    apart = float(np.median(recorded - leaves))
    times = block_us * 1e-6 + (0.0 if abs(apart) < _AT_ONCE else apart)
    moves = Cycles(-_RAD * packets.azimuth.astype(np.float64), times, along.turns, -along.rate * _RAD)
    tables = [_lasers(pattern, turn, model) for turn in range(len(pattern.order))]
    place = _places(packets)
    many = np.array([len(table.number) for table in tables])[packets.turn]  # pulses of every cycle
    first = (np.cumsum(many.ravel()) - many.ravel()).reshape(many.shape)
    total, returns = int(many.sum()), place.shape[2]
    columns = FiringColumns.empty(total, returns)
    lasers = np.empty(total, np.int64)
    for turn, table in enumerate(tables):
        size = len(table.number)
        if len(tables) == 1:
            fire(raw, place, table, moves, (DISTANCE_STEP_M, WHITE), columns)
            lasers[:] = np.tile(table.number, count * cycles)
            continue
        for cycle in range(cycles):
            chosen = np.flatnonzero(packets.turn[:, cycle] == turn)
            if not len(chosen):
                continue
            here = np.s_[chosen, cycle : cycle + 1]
            part = Cycles(moves.head[here], moves.times[here], moves.turns[here], moves.rate[chosen])
            room = FiringColumns.empty(len(chosen) * size, returns)
            fire(raw[chosen], place[cycle : cycle + 1], table, part, (DISTANCE_STEP_M, WHITE), room)
            rows = (first[chosen, cycle][:, None] + np.arange(size)).ravel()
            filled: tuple[NDArray[Any], ...] = columns
            for column, values in zip(filled, room, strict=True):
                column[rows] = values
            lasers[rows] = np.tile(table.number, len(chosen))
    directions, origins, azimuths, when, turns, ranges, intensity = columns
    rank = np.argsort(np.argsort(pattern.elevation_deg, kind="stable"), kind="stable")
    return Firings(
        sensor=sensor.name,
        kinds=("strongest", "last") if returns == 2 else (packets.mode,),
        times=when,
        lasers=lasers.astype(np.uint16),
        rings=rank[lasers].astype(np.uint16),
        turns=turns,
        azimuths=azimuths,
        origins=origins,
        directions=directions,
        ranges=ranges,
        intensity=intensity,
    )


def _lasers(pattern: SpinningPattern, turn: int, model: HesaiModel) -> Lasers:
    """Those that fire in a turn, in their order."""
    row = pattern.order[turn]
    fires = np.array(row.firing_us or (0.0,) * pattern.lasers)
    order = np.argsort(fires, kind="stable")
    order = order[~np.isin(order, list(row.resting))]
    elevation = np.deg2rad(np.array(pattern.elevation_deg))[order]
    offset = np.deg2rad(pattern.azimuth_deg)[order] if pattern.azimuth_deg else np.zeros(len(order))
    none = np.zeros(len(order))
    return Lasers(order, fires[order] - model.block_us, offset, np.cos(elevation), np.sin(elevation), none, none, none)


def _places(packets: HesaiPackets) -> NDArray[np.int16]:
    """[bytes] where a return begins in the packet, shape (cycles, lasers, returns); of two, the strongest first."""
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
