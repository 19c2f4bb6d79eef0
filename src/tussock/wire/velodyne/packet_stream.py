"""The data packets of one Velodyne, in the order of its own clock, each once; what is missing is counted.

The stamp in a packet counts microseconds past the hour. Over a second and less it orders packets that the network or the
recorder mixed up; a larger step is taken for what the sensor's clock did (it was set, or the sensor was off), and the
order of the recording is kept there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.sensors.sensor import Sensor
from tussock.wire.captures.datagrams import Datagrams
from tussock.wire.captures.units import choose_unit
from tussock.wire.velodyne.calibration import Calibration, bundled_calibration, catalogue_calibration
from tussock.wire.velodyne.layout import PACKET, PACKET_BYTES, layout_of
from tussock.wire.velodyne.models import MODELS, PacketModel, ReturnMode, model_of
from tussock.wire.velodyne.pauses import find_pauses
from tussock.wire.velodyne.recognise import (
    RELATED,
    check_timing,
    nearest_timing,
    no_model,
    recognise_bytes,
    recognise_mode,
    sensor_named,
    timing_of,
    variants,
)
from tussock.wire.velodyne.told_calibration import Told, is_catalogues, told_calibration

__all__ = ["FIRST_FLAG", "PacketStream", "data_packets", "order_packets", "stream_of"]

FIRST_FLAG = b"\xff\xee"
_HOUR = 3_600_000_000  # [µs]
_MIXED = 1_000_000
"""[µs] within which packets may have come in another order than they were sent"""

Say = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class PacketStream:
    """Packets of one unit, in order."""

    path: Path
    packets: NDArray[Any]
    """records of `PACKET`, shape (n,)"""
    stamps: NDArray[np.int64]
    """[µs] the sensor's clock without its turn of the hour; after a jump of that clock it goes on evenly, shape (n,)"""
    recorded: NDArray[np.float64]
    """[s] Unix time at which each was recorded, shape (n,)"""
    numbers: NDArray[np.int64]
    """which packet of the stream it is, those that are missing counted, shape (n,)"""
    late_us: NDArray[np.float64]
    """how much later than its place in the packet says a cycle was fired, shape (n, cycles)"""
    follows: NDArray[np.bool_]
    """whether its first firing comes right after the last of the packet before, shape (n,)"""
    interval_us: float
    """from packet to packet"""
    model: PacketModel
    mode: ReturnMode
    sensor: Sensor
    """when its lasers fire"""
    name: str
    """of the model, where several send the same packets"""
    calibration: Calibration
    """where they look"""

    def __len__(self) -> int:
        return len(self.packets)


def data_packets(found: Datagrams, unit: str | None, say: Say) -> Datagrams:
    """The data packets of one Velodyne among datagrams."""
    ours = found.select(found.begins(FIRST_FLAG))
    whole = ours.select(ours.size == PACKET_BYTES)
    if not len(whole):
        other = f"only {len(found)} other datagrams" if len(found) else "none"
        if len(ours):
            other = f"only {len(ours)} of {' or '.join(map(str, np.unique(ours.size)[:3]))} bytes"
        why = "".join(f"; {note}" for note in found.losses.notes(None))
        raise InputError(
            f"must hold Velodyne packets of {PACKET_BYTES} bytes, but holds {other}{why}", source=found.path
        )
    if len(whole) < len(ours):
        say(
            f"{found.path}: {len(ours) - len(whole)} of {len(ours)} data packets do not have {PACKET_BYTES} bytes and are "
            "left out"
        )
    return choose_unit(whole, unit)


def stream_of(found: Datagrams, *, model: str | None = None, unit: str | None = None, say: Say) -> PacketStream:
    """The packets of one Velodyne in a capture; ``model`` wins over what they say, ``unit`` chooses among several."""
    chosen = data_packets(found, unit, say)
    for note in found.losses.notes(found.path):
        say(note)
    return order_packets(found.path, chosen.payloads(), chosen.times, model=model, say=say)


def order_packets(
    path: Path, payloads: NDArray[np.uint8], recorded: NDArray[np.float64], *, model: str | None, say: Say
) -> PacketStream:
    """Packets (n, 1206) recorded at Unix times [s] (n,), in order; what is wrong with them is told to ``say``."""
    packets = np.ascontiguousarray(payloads).view(PACKET)[:, 0]
    stamp = packets["stamp"].astype(np.int64)
    step = _wrapped(np.diff(stamp, prepend=stamp[:1]))
    waited = np.diff(recorded, prepend=recorded[:1]) * 1e6
    # A long pause that the recorder's clock knows of too is no jump of the sensor's.
    jumps = (np.abs(step) > _MIXED) & (np.abs(step - waited) > _MIXED / 2)
    part = np.cumsum(jumps, dtype=np.int64)
    even = np.cumsum(np.where(jumps, 0, step))
    rows = np.lexsort((even, part))
    late = int((even < _running_most(even, part)).sum())
    close = np.flatnonzero((np.diff(even[rows]) == 0) & (np.diff(part[rows]) == 0))
    again = close[(payloads[rows[close]] == payloads[rows[close + 1]]).all(axis=1)] + 1
    rows = np.delete(rows, again)

    kind, sensors, name, mode = _recognised(path, packets, model)
    interval = _interval(even[rows], part[rows]) or timing_of(sensors[0], mode)
    sensor, _ = nearest_timing(sensors, mode, interval)
    check_timing(path, sensor, mode, interval, named=model is not None, say=say)
    right = (packets["blocks"]["flag"] == layout_of(kind, mode).flags).all(axis=1)
    wrong = int((~right[rows]).sum())
    rows = rows[right[rows]]
    if not len(rows):
        raise InputError(f"{path}: its blocks are not those of a {kind.name} in mode {mode}; name another with --model")
    if not np.array_equal(rows, np.arange(len(packets))):
        packets = np.ascontiguousarray(payloads[rows]).view(PACKET)[:, 0]
    recorded, even, part = recorded[rows], even[rows], part[rows]
    stamps = even + np.rint(part * interval).astype(np.int64)  # a jump is one packet long
    stamps += int(packets["stamp"][0]) - stamps[0]
    azimuth = packets["blocks"]["azimuth"].astype(np.float64)
    pauses = find_pauses(azimuth, stamps, layout_of(kind, mode), interval)
    lost = int(pauses.missing.sum())
    for count, text in (
        (len(again), "packets were recorded twice"),
        (late, "packets came out of order and are put in order"),
        (wrong, f"packets do not have the blocks of a {kind.name} and are left out"),
        (lost, f"packets are missing, of {lost + len(packets)}"),
        (int(jumps.sum()), "times the sensor's clock jumped"),
    ):
        if count:
            say(f"{path}: {count} {text}")
    numbers = np.arange(len(packets)) + np.cumsum(pauses.missing)
    told = told_calibration(packets["factory"], numbers) if kind.model_byte is None else None
    if told is not None and mode != "dual" and told.mode != "dual":
        mode = told.mode  # blocks do not tell strongest from last
    calibration = _calibration(path, sensor, name, packets, numbers, told, say)
    return PacketStream(
        path,
        packets,
        stamps,
        recorded,
        numbers,
        pauses.late_us,
        pauses.follows,
        interval,
        kind,
        mode,
        sensor,
        name,
        calibration,
    )


def _wrapped(step: NDArray[np.int64]) -> NDArray[np.int64]:
    """Differences of stamps, the shorter way around the hour."""
    return (step + _HOUR // 2) % _HOUR - _HOUR // 2


def _running_most(values: NDArray[np.int64], part: NDArray[np.int64]) -> NDArray[np.int64]:
    """The largest value up to each row of its part."""
    far = np.int64(1) << 52  # keeps the parts apart on one axis
    return np.maximum.accumulate(values + part * far) - part * far


def _interval(even: NDArray[np.int64], part: NDArray[np.int64]) -> float:
    """[µs] from packet to packet where none is missing; 0 where nobody can tell."""
    steps = np.diff(even)[np.diff(part) == 0]
    steps = steps[steps > 0]
    if len(steps) < 2:
        return 0.0
    usual = np.quantile(steps, 0.1)
    return float(steps[steps < 1.5 * usual].mean())


def _recognised(
    path: Path, packets: NDArray[Any], model: str | None
) -> tuple[PacketModel, list[Sensor], str, ReturnMode]:
    """The packets' model, the sensors that may have sent them, a name, and the return mode."""
    if model is not None:
        kind, sensor, name = sensor_named(model)
        sensors = variants(kind) if name in MODELS else [sensor]
    else:
        found = recognise_bytes(path, packets["factory"])
        if found is None:
            told = told_calibration(packets["factory"], np.arange(len(packets)))
            if told is None:
                raise no_model(path, packets["factory"])
            found = MODELS[told.model]
        kind, name, sensors = found, found.name, variants(found)
    return kind, sensors, name, recognise_mode(path, kind, packets)


def _calibration(
    path: Path, sensor: Sensor, name: str, packets: NDArray[Any], numbers: NDArray[np.int64], told: Told | None, say: Say
) -> Calibration:  # fmt: skip
    if model_of(sensor).model_byte is not None:
        return bundled_calibration(name) if name in ("vlp-32a", "vlp-32b") else catalogue_calibration(sensor)
    if told is not None:
        return told.calibration
    if name not in RELATED and is_catalogues(packets["factory"], numbers, sensor):
        return catalogue_calibration(sensor)
    say(
        f"{path}: does not hold the whole calibration of its HDL-64E (a second and a half does), so that of another unit is "
        "used; ranges can be off by decimetres"
    )
    return bundled_calibration(name if name in RELATED else model_of(sensor).name)
