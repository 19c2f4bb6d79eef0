"""Play a recording back: every datagram at its own moment, as fast or slow as asked for.

Only what the sensor sent is played. Its data packets go to one address. Position packets (those that the same sensor
sent to port 8308) go to another, and nowhere if none is given: nothing is sent where it was not told to.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from tussock.errors import InputError
from tussock.wire.addresses import Endpoint
from tussock.wire.captures.datagrams import Datagrams, read_datagrams, warn
from tussock.wire.captures.units import choose_unit
from tussock.wire.pacing import Due, Lateness, Pacer
from tussock.wire.velodyne.models import DATA_PORT
from tussock.wire.velodyne.position import POSITION_PORT

__all__ = ["ReplayReport", "replay"]

_BATCH = 500  # datagrams handed on at a time
LONGEST_PAUSE = 600.0  # [s] in which nothing is sent, unless told otherwise
_LONG_PAUSE = 10.0  # [s] that are worth a word
_LEAD = 0.02  # [s] before the first is sent


@dataclass(frozen=True)
class ReplayReport:
    packets: int
    seconds: float
    """how long it took"""
    recorded_s: float
    """how long the recording is"""
    lateness: Lateness
    lost: int = 0
    """packets that the system had no room to send"""


def replay(
    path: Path | str, to: Endpoint, *, positions_to: Endpoint | None = None, port: int = DATA_PORT, unit: str | None = None,
    speed: float = 1.0, loops: int = 1, longest_pause_s: float = LONGEST_PAUSE, say: Callable[[str], None] = warn,
) -> ReplayReport:  # fmt: skip
    """Send a capture, ``loops`` times (0: for ever), at ``speed`` times its own.

    Played are the datagrams that were sent to ``port`` by one sensor; ``unit`` names it where there are several. A
    capture in which nothing is sent for more than ``longest_pause_s`` is refused. What it lacks is told to ``say``.

    >>> from pathlib import Path
    >>> report = tussock.replay(Path("run.pcap"), tussock.Endpoint.parse("127.0.0.1:2368"))  # doctest: +SKIP
    """
    if not 0 < speed <= 1e6:
        raise InputError.of("speed", "must be above 0 and at most 1e6", speed)
    if not longest_pause_s > 0:
        raise InputError.of("longest_pause_s", "must be above 0", longest_pause_s)
    # Read whole: a broken capture is refused before anything is sent.
    chosen = _sensors(read_datagrams(path), port, unit, positions=positions_to is not None)
    for note in chosen.losses.notes(Path(path)):
        say(note)
    moments = (chosen.time_ns - chosen.time_ns[0]) / 1e9
    _check_pauses(Path(path), moments, speed, longest_pause_s, say)
    length = float(moments[-1] + moments[-1] / max(len(moments) - 1, 1))
    pacer = Pacer()
    start = time.monotonic() + _LEAD
    done = 0
    try:
        while loops == 0 or done < loops:
            begin = start + done * length / speed
            for batch in _batches(chosen, begin + moments / speed, to, positions_to):
                # Never far ahead of the clock: a long capture is not held whole.
                time.sleep(max(0.0, batch[0].moment - time.monotonic() - 1.0))
                pacer.put(batch)
            done += 1
        pacer.finish()
    except BaseException:
        pacer.abandon()
        raise
    return ReplayReport(pacer.sent, time.monotonic() - start, length * done, pacer.lateness, pacer.lost)


def _check_pauses(path: Path, moments: np.ndarray, speed: float, longest: float, say: Callable[[str], None]) -> None:
    """Refuse to wait for hours: a damaged time reads as a date many years away. Shorter pauses are not waited for without a word."""
    pauses = np.diff(moments) / speed
    for at in np.flatnonzero((pauses > _LONG_PAUSE) & (pauses <= longest))[:3]:
        say(f"{path}: nothing is sent for {pauses[at]:,.0f} s before packet {at + 2}: so it was recorded")
    if len(pauses) and pauses.max() > longest:
        at = int(np.argmax(pauses))
        faster = float(pauses[at] * speed) / longest
        raise InputError(
            f"packet {at + 2} comes {pauses[at] * speed:,.0f} s after the one before it, so its time is damaged or the recording "
            "rests; cut it there, allow a longer pause" + (f", or play it with speed {faster:.3g}" if faster < 1e6 else ""),
            source=path,
        )  # fmt: skip


def _sensors(every: Datagrams, port: int, unit: str | None, *, positions: bool) -> Datagrams:
    """The data packets of one sensor, and its positions if they are wanted, in the order of time."""
    data = every.select(every.port == port)
    if not len(data):
        ports, counts = np.unique(every.port, return_counts=True)
        found = ", ".join(f"{p} ({n})" for p, n in sorted(zip(ports.tolist(), counts.tolist(), strict=True))[:8])
        raise InputError(
            f"{every.path}: holds no datagrams to port {port} to send; "
            + (f"choose another with --port; there are {found}" if found else "it holds none at all")
        )
    data = choose_unit(data, unit)
    mine = (every.source == data.source[0]).all(1) & (every.lane == data.lane[0])
    wanted = np.isin(every.start, data.start)
    if positions:
        wanted |= mine & (every.port == POSITION_PORT)
    chosen = every.select(wanted)
    return chosen.select(np.argsort(chosen.time_ns, kind="stable"))


def _batches(
    chosen: Datagrams, moments: np.ndarray, to: Endpoint, positions_to: Endpoint | None
) -> Iterator[list[Due]]:
    for first in range(0, len(chosen), _BATCH):
        yield [
            Due(float(moments[row]), chosen.payload(row), positions_to if chosen.port[row] == POSITION_PORT else to)
            for row in range(first, min(first + _BATCH, len(chosen)))
        ]
