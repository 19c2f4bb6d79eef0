"""The returns in the packets of a Livox.

A packet says where a return is, and of a pulse without one nothing but its time: it is all zeros there. Whereto such a pulse
went nobody knows who does not know the device's pattern and phase, so these are not among the firings, and these are not
complete.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.sensors.sensor import Sensor
from tussock.wire.captures.datagrams import Datagrams
from tussock.wire.captures.units import choose_unit
from tussock.wire.firings import Firings
from tussock.wire.livox.decode import LivoxPoints, decode_livox
from tussock.wire.livox.formats import FORMATS, SINCE_PULSE, WHITE

__all__ = ["livox_datagrams", "livox_firings"]

_FRAME_NS = 100_000_000  # where packets are not counted: what Livox's drivers make a frame of
_SECOND_NS = 1_000_000_000
_AT_ONCE_NS = 4_000_000_000  # device clocks that are this near to the recorder's are the same clock


def livox_datagrams(found: Datagrams) -> Datagrams:
    """Packets of points among datagrams, by what their headers say."""
    ours = np.zeros(len(found), bool)
    for form in FORMATS.values():
        rows = np.flatnonzero(found.size == form.packet.itemsize)
        right = np.ones(len(rows), bool)
        for at, value in form.says.items():
            right &= found.data[found.start[rows] + at] == value
        ours[rows] |= right
    return found.select(ours)


def livox_firings(found: Datagrams, sensor: Sensor | None, unit: str | None, say: Callable[[str], None]) -> Firings:
    """All returns of one unit in a capture; ``sensor`` says how many lines it has."""
    chosen = choose_unit(livox_datagrams(found), unit)
    if not len(chosen):
        raise InputError("holds no points of a Livox", source=found.path)
    for note in found.losses.notes(found.path):
        say(note)
    usual = int(np.bincount(chosen.size).argmax())
    if (chosen.size != usual).any():
        raise InputError("holds points of several formats; a Livox sends one", source=found.path)
    try:
        points = decode_livox(chosen.payloads())
    except InputError as error:
        raise error.within(found.path) from None
    recorded = chosen.time_ns[points.whole]
    if points.damaged:
        say(f"{found.path}: {points.damaged} data packets have a wrong checksum and are left out")
    told = _unwound(points, recorded)
    order = np.argsort(told[:, 0], kind="stable")
    mixed = int((np.diff(order) < 0).sum())
    if mixed:
        say(f"{found.path}: {mixed} data packets came in another order than they were sent")
    same = np.concatenate([[False], np.diff(told[order, 0]) == 0])
    if same.any():
        say(f"{found.path}: {int(same.sum())} data packets came twice")
    order = order[~same]
    times = told[order]
    lost = _missing(times)
    if lost:
        say(f"{found.path}: {lost} data packets are missing")
    apart = int(np.median(recorded[order] - times[:, -1]))
    if points.packet is None:
        frame = (times[:, 0] - times[0, 0]) // _FRAME_NS
    else:
        frame = np.concatenate([[0], np.cumsum(np.diff(points.packet[order].astype(np.int64)) < 0)])
    form = points.format
    lines = sensor.lasers if sensor is not None and form.pulses % sensor.lasers == 0 else 1
    # A row a pulse, with a column for each of its returns, shape (packets, pulses, returns, …).
    shape = (len(order), form.pulses, form.returns)
    xyz, hit = points.xyz[order].reshape(*shape, 3), points.hit[order].reshape(shape)
    packet, place = np.nonzero(hit.any(axis=2))
    ends, there = xyz[packet, place], hit[packet, place]
    reach = np.sqrt(np.einsum("ijk,ijk->ij", ends, ends))
    # All returns of a pulse lie on one line: the farthest tells best where it went.
    far = np.argmax(reach, axis=1)[:, None]
    way = np.take_along_axis(ends, far[..., None], 1)[:, 0] / np.take_along_axis(reach, far, 1)
    bright = points.reflectivity[order].reshape(shape)[packet, place] / np.float32(WHITE)
    laser = (place % lines).astype(np.uint16)
    when = times.reshape(shape)[packet, place, 0] + (0 if abs(apart) < _AT_ONCE_NS else apart)
    return Firings(
        sensor=sensor.name if sensor is not None else "livox",
        kinds=("strongest",) if form.returns == 1 else ("echo", "echo"),
        times=when / 1e9,
        lasers=laser,
        rings=laser,
        turns=frame[packet].astype(np.int32),
        azimuths=np.arctan2(way[:, 1], way[:, 0]),
        origins=np.zeros((len(way), 3)),
        directions=way,
        ranges=np.where(there, reach, np.nan),
        intensity=np.where(there, bright, 0).astype(np.float32),
        complete=False,
    )


def _unwound(points: LivoxPoints, recorded: NDArray[np.int64]) -> NDArray[np.int64]:
    """[ns] times by one clock, where the device's begins anew with every second, or is set on the way.

    Which second it is, and how far two clocks are apart, the recorder's clock tells.
    """
    times, clock = points.time_ns.copy(), points.clock
    pulsed = clock == SINCE_PULSE
    if pulsed.any():
        since = recorded[pulsed] - times[pulsed, 0]
        times[pulsed] += np.rint((since - since[0]) / _SECOND_NS).astype(np.int64)[:, None] * _SECOND_NS
    kinds = np.unique(clock)
    for kind in kinds if len(kinds) > 1 else ():
        rows = np.flatnonzero(clock == kind)
        apart = int(np.median(recorded[rows] - times[rows, -1]))
        times[rows] += 0 if abs(apart) < _AT_ONCE_NS else apart
    return times


def _missing(times: NDArray[np.int64]) -> int:
    """Packets that are missing by their times: numbers begin anew with every frame."""
    if len(times) < 2:
        return 0
    steps = np.diff(times[:, 0])
    usual = float(np.median(steps))
    return int(np.maximum(np.rint(steps / usual) - 1, 0)[steps < 1_000_000_000].sum()) if usual > 0 else 0
