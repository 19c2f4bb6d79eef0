"""Live: simulate in the loop, and send every packet at its own moment.

The simulation runs ahead of the clock and hands whole revolutions to a `Pacer`: up to five seconds of packets, so that a
machine that has other things to do for that long loses none; half a second where watchers look on, whose clouds and
pictures are large; one revolution where a consumer may say where to go next. One that is not ready when its first packet is due is not sent at all, and
the simulation goes on with the first revolution that it can have ready in time. So a receiver sees whole revolutions
or none, with honest times.

Several sensors take turns, the one that is due first; each has its own addresses. Watchers (`tussock.wire.watch`) are
told of every frame when it is complete: what they send is made ready while simulating.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import floor, inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tussock.errors import InputError
from tussock.frames.frame import Frame
from tussock.poses import Pose, Trajectory
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.trace.world import World
from tussock.wire.addresses import Endpoint
from tussock.wire.families import family_of, open_encoder
from tussock.wire.pacing import Due, Lateness, Pacer, Route
from tussock.wire.packets import EPOCH, Channel, Encoder, Sent, whole_nanoseconds
from tussock.wire.shared.shared_run import Command, SharedRun
from tussock.wire.velodyne.position import GeoOrigin
from tussock.wire.watch.seen import Seen, Watcher, look_at

__all__ = ["Outlet", "StreamReport", "stream"]

_AHEAD = 0.5  # [s] rides out a busy moment of the machine
_LONG_AHEAD = 5.0  # [s] a busy while
_MOST_HELD = 64 << 20  # [bytes] of packets that wait for their moments
_GRACE = 2e-3  # [s] that the first packet of a revolution may be late
_SWITCH = 5e-4  # [s] how long Python lets a thread run before the pacer gets its turn


@dataclass(eq=False)
class Outlet:
    """A sensor, where it is, and where what it sees goes to.

    >>> outlet = tussock.Outlet(tussock.load_sensor("vlp-16"), tussock.Pose.at(0, 0, 2), to=tussock.Endpoint.parse("127.0.0.1:2368"))
    """

    sensor: Sensor
    pose: Pose | Trajectory
    to: Endpoint | None = None
    """for the packets"""
    positions_to: Endpoint | None = None
    """for where it is, which Velodyne's sensors tell"""
    imu_to: Endpoint | None = None
    """for what its inertial sensor feels, where packets carry that"""
    share: SharedRun | None = None
    origin: GeoOrigin = field(default_factory=GeoOrigin)
    number: int = 0
    """tells units of one maker apart"""
    name: str = ""
    """what watchers call it; the sensor's own name if empty"""
    picture: Callable[[float], NDArray[np.uint8]] | None = None
    """gives a picture (height, width, 3) from the sensor's place at a simulation time [s], for watchers"""
    route: Route | None = None
    """where a packet goes to when it is due, for a sensor that its driver may send elsewhere"""

    @property
    def addresses(self) -> dict[Channel, Endpoint]:
        """Where each channel goes to; what has no address is not sent."""
        given: dict[Channel, Endpoint | None] = {"data": self.to, "positions": self.positions_to, "imu": self.imu_to}
        return {channel: endpoint for channel, endpoint in given.items() if endpoint is not None}

    def encoder(self, epoch: float = EPOCH) -> Encoder | None:
        """What makes its packets, None where they go nowhere; refuses what the sensor cannot send."""
        if not self.addresses:
            return None
        encoder = open_encoder(self.sensor, epoch=epoch, origin=self.origin, number=self.number)
        known = family_of(self.sensor).ports
        for channel in self.addresses:
            if channel not in known or (channel == "imu" and self.sensor.imu is None):
                raise InputError(f"sensor {self.sensor.name}: sends no {channel} packets; give no address for them")
        return encoder


@dataclass
class StreamReport:
    """What became of one outlet."""

    sensor: str
    revolutions: int = 0
    dropped: int = 0
    """whole revolutions that were not ready in time"""
    packets: int = 0
    lost: int = 0
    """packets that the system had no room to send"""
    busy_s: float = 0.0
    """time spent on simulating and encoding"""
    simulated_s: float = 0.0
    elapsed_s: float = 0.0
    lateness: Lateness = field(default_factory=Lateness)

    @property
    def speed(self) -> float:
        """How many times as fast as real time it could have run."""
        return self.simulated_s / self.busy_s if self.busy_s else inf


def stream(
    world: World, outlets: Sequence[Outlet], *, seconds: float | None = None, seed: int = 0,
    threads: int | None = None, watchers: Sequence[Watcher] = (), say: Callable[[str], None] = lambda text: None,
) -> list[StreamReport]:  # fmt: skip
    """Stream until ``seconds`` have passed, a trajectory ends, or a consumer commands a stop; for ever without.

    >>> report, = tussock.stream(world, [outlet], seconds=1.0)  # doctest: +SKIP
    """
    if not outlets:
        raise InputError("stream: needs at least one sensor")
    if seconds is not None and not seconds > 0:
        raise InputError.of("seconds", "must be above 0", seconds)
    # A sensor without packets is refused before anything starts.
    encoders = [outlet.encoder() for outlet in outlets]
    for _ in range(2):  # the first time code is compiled or loaded, the second tells how long a revolution takes
        begin = time.perf_counter()
        for outlet, encoder in zip(outlets, encoders, strict=True):
            frame = scan(world, outlet.sensor, _first_pose(outlet), seed=seed, threads=threads)
            if encoder is not None:
                encoder.encode(frame)
            if watchers:
                seen = _seen(outlet, frame, 0)
                for watcher in watchers:
                    watcher.prepare(seen)
        once = time.perf_counter() - begin
    # A few revolutions' time before the first is due: a busy machine needs longer for some of them.
    clock = _Clock(time.monotonic() + 4 * once + 0.05)
    options = {"seed": seed, "threads": threads}
    runs = [_Live(world, outlet, clock, seconds, options, watchers, say) for outlet in outlets]
    switch = sys.getswitchinterval()
    sys.setswitchinterval(_SWITCH)
    try:
        while waiting := [run for run in runs if not run.done]:
            min(waiting, key=lambda run: run.next_start).advance()
        for run in runs:
            run.finish()
    except BaseException:
        for run in runs:
            run.pacer.abandon()
        raise
    finally:
        sys.setswitchinterval(switch)
    for run in runs:
        run.report.elapsed_s = time.monotonic() - clock.zero
    return [run.report for run in runs]


class _Clock:
    """Simulation time 0 on the monotonic clock and on the wall's."""

    def __init__(self, zero: float) -> None:
        self.zero = zero
        self.epoch = time.time() + zero - time.monotonic()

    @property
    def now(self) -> float:
        """[s] simulation time that is real now."""
        return time.monotonic() - self.zero


class _Live:
    """One outlet under way."""

    def __init__(
        self, world: World, outlet: Outlet, clock: _Clock, seconds: float | None, options: dict[str, Any],
        watchers: Sequence[Watcher], say: Callable[[str], None],
    ) -> None:  # fmt: skip
        self._world, self._outlet, self._clock, self._watchers = world, outlet, clock, watchers
        self._options = options  # of `scan`
        self._say, self._said = say, -inf
        self.pacer = Pacer(outlet.route)
        self.report = StreamReport(outlet.sensor.name)
        self._encoder = outlet.encoder(clock.epoch)
        self._period = outlet.sensor.frame_period
        self._ahead = self._period if outlet.share else max(_AHEAD, 2 * self._period)
        self._frame = 0
        self._frames = _frame_limit(outlet, seconds)
        self._takes = 0.0  # [s] that a revolution takes, as of late

    @property
    def done(self) -> bool:
        return self._frame >= self._frames

    @property
    def next_start(self) -> float:
        return self._frame * self._period

    def advance(self) -> None:
        """Simulate the next revolution that can be ready in time, and hand it on."""
        self._obey()
        time.sleep(max(0.0, self.next_start - self._ahead - self._clock.now))
        ready = self._clock.now + self._takes
        if ready > self.next_start + _GRACE:
            # The first revolution that can still be ready when it is due.
            self._drop(int(np.ceil(ready / self._period)) - self._frame)
        if self.done:
            return
        begin = time.perf_counter()
        path = self._outlet.share.path(self._frame) if self._outlet.share else self._outlet.pose
        frame = scan(self._world, self._outlet.sensor, path, frame=self._frame, **self._options)
        in_time = self._clock.now <= self.next_start + _GRACE
        if in_time:
            self._hand_on(frame)
        took = time.perf_counter() - begin
        self._takes += 0.5 * (took - self._takes)
        self.report.busy_s += took
        self.report.simulated_s += self._period
        if not in_time:
            self._drop(1)
            return
        self.report.revolutions += 1
        self._frame += 1

    def finish(self) -> None:
        """Send the packet begun and wait until everything is out."""
        if self._encoder:
            self.pacer.put(self._dues(self._encoder.flush()))
        self.pacer.finish()
        self.report.packets, self.report.lateness = self.pacer.sent, self.pacer.lateness
        self.report.lost = self.pacer.lost

    def _hand_on(self, frame: Frame) -> None:
        batch: list[Due] = []
        if self._encoder:
            sent = self._encoder.encode(frame)
            batch = self._dues(sent)
            if not self._outlet.share and not self._watchers:
                held = sum(packets.payloads.nbytes for packets in sent.values())
                long = min(_LONG_AHEAD, self._period * _MOST_HELD / max(held, 1))
                self._ahead = max(_AHEAD, 2 * self._period, long)
        share = self._outlet.share
        # Known when the revolution is complete.
        complete = self._clock.zero + self.next_start + self._period
        told: list[Callable[[], None]] = []
        if share is not None:
            told.append(partial(share.publish, frame, dropped=self.report.dropped, speed=self.report.speed))
        if self._watchers:
            seen = _seen(self._outlet, frame, whole_nanoseconds(self._clock.epoch))
            told += [watcher.prepare(seen) for watcher in self._watchers]
        batch += [Due(complete, tell, None) for tell in told]
        if told:
            batch.sort(key=lambda due: due.moment)
        self.pacer.put(batch)

    def _dues(self, sent: Sent) -> list[Due]:
        zero = self._clock.zero
        dues: list[Due] = []
        for channel, endpoint in self._outlet.addresses.items():
            packets = sent.get(channel)
            if packets is not None:
                moments = (zero + packets.times).tolist()
                dues += [
                    Due(moment, payload, endpoint) for moment, payload in zip(moments, packets.payloads, strict=True)
                ]
        if len(self._outlet.addresses) > 1:
            dues.sort(key=lambda due: due.moment)
        return dues

    def _drop(self, count: int) -> None:
        count = max(1, min(count, int(min(self._frames - self._frame, 1e9))))
        if self._encoder:
            self.pacer.put(self._dues(self._encoder.flush()))
        self._frame += count
        self.report.dropped += count
        if self._clock.now - self._said > 5.0:
            self._said = self._clock.now
            slower = self._takes / self._period
            self._say(
                f"{self.report.sensor}: cannot keep up (a revolution takes {slower:.1f} × as long as it lasts); "
                f"{self.report.dropped} whole revolutions dropped so far"
            )

    def _obey(self) -> None:
        share = self._outlet.share
        if share is None:
            return
        while share.command == Command.PAUSE:
            time.sleep(0.005)
            self._frame = max(self._frame, int(np.ceil((self._clock.now + self._takes) / self._period)))
        if share.command == Command.STOP:
            self._frames = self._frame


def _seen(outlet: Outlet, frame: Frame, epoch_ns: int) -> Seen:
    picture = None if outlet.picture is None else outlet.picture(float(frame.meta["start_s"]))
    return look_at(frame, outlet.sensor, outlet.name or outlet.sensor.name, epoch_ns, picture)


def _first_pose(outlet: Outlet) -> Pose:
    return outlet.pose if isinstance(outlet.pose, Pose) else outlet.pose.pose(0.0)


def _frame_limit(outlet: Outlet, seconds: float | None) -> float:
    """How many revolutions there are to send."""
    period, path = outlet.sensor.frame_period, outlet.pose
    limit = inf if seconds is None else float(np.ceil(seconds / period - 1e-9))
    if isinstance(path, Trajectory) and path.moving:
        if path.times[0] > 1e-9:
            raise InputError.of("trajectory", "must start at 0 s to be streamed", f"{path.times[0]:g} s")
        limit = min(limit, floor(path.times[-1] / period + 1e-9))
    if limit < 1:
        raise InputError.of("stream", f"must last for at least one revolution of {period:g} s", limit * period)
    return limit
