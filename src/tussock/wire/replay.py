"""Play a recording back: every datagram at its own moment, as fast or slow as asked for.

Data packets go to one address. Position packets (those sent to port 8308) go to another, and nowhere if none is
given: nothing is sent where it was not told to.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from tussock.errors import InputError
from tussock.wire.addresses import Endpoint
from tussock.wire.pacing import Due, Lateness, Pacer
from tussock.wire.pcap import POSITION_PORT, Datagram, read_capture

__all__ = ["ReplayReport", "replay"]

_BATCH = 500  # datagrams read ahead at a time
_LEAD = 0.02  # [s] before the first is sent


@dataclass(frozen=True)
class ReplayReport:
    packets: int
    seconds: float
    """how long it took"""
    recorded_s: float
    """how long the recording is"""
    lateness: Lateness


def replay(
    path: Path, to: Endpoint, *, positions_to: Endpoint | None = None, speed: float = 1.0, loops: int = 1
) -> ReplayReport:
    """Send a capture, ``loops`` times (0: for ever), at ``speed`` times its own."""
    if not 0 < speed <= 1e6:
        raise InputError.of("speed", "must be above 0 and at most 1e6", speed)
    # Read through once: a broken capture is refused before anything is sent.
    chosen = [(d.time, d.port) for d in read_capture(path) if _target(d, to, positions_to)]
    if not chosen:
        raise InputError(f"{path}: holds no datagrams to send")
    first = chosen[0][0]
    length = max(chosen[-1][0] - first, 0.0) + (chosen[-1][0] - first) / max(len(chosen) - 1, 1)
    pacer = Pacer()
    start = time.monotonic() + _LEAD
    done = 0
    try:
        while loops == 0 or done < loops:
            begin = start + done * length / speed
            for batch in _batches(read_capture(path), to, positions_to, first, begin, speed):
                # Never far ahead of the clock: a long capture is not held whole.
                time.sleep(max(0.0, batch[0].moment - time.monotonic() - 1.0))
                pacer.put(batch)
            done += 1
        pacer.finish()
    except BaseException:
        pacer.abandon()
        raise
    return ReplayReport(pacer.sent, time.monotonic() - start, length * done, pacer.lateness)


def _target(datagram: Datagram, to: Endpoint, positions_to: Endpoint | None) -> Endpoint | None:
    return positions_to if datagram.port == POSITION_PORT else to


def _batches(
    datagrams: Iterator[Datagram],
    to: Endpoint,
    positions_to: Endpoint | None,
    first: float,
    begin: float,
    speed: float,
) -> Iterator[list[Due]]:
    while part := list(islice(datagrams, _BATCH)):
        batch = [
            Due(begin + (datagram.time - first) / speed, datagram.payload, target)
            for datagram in part
            if (target := _target(datagram, to, positions_to)) is not None
        ]
        if batch:
            yield batch
