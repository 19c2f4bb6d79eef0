"""Live timing by a clock that only the test moves: how far ahead, what is dropped, pauses, batches of a replay."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from made_captures import Sent, pcap, records_of
from made_frames import made_frame
from tussock.errors import InputError
from tussock.poses import Pose, Trajectory
from tussock.sensors.catalogue import load_sensor
from tussock.wire import live, pacing, replay
from tussock.wire.addresses import Endpoint
from tussock.wire.captures.datagrams import read_datagrams
from tussock.wire.firing_frames import frames_of
from tussock.wire.firings import Firings
from tussock.wire.pacing import Due, Lateness, Pacer
from tussock.wire.packets import Packets, whole_nanoseconds
from tussock.wire.shared.shared_run import Command
from tussock.wire.watch.seen import look_at

PERIOD = 0.1


class FakeTime:
    """Time passes in sleeps, and in the work that takes some."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def monotonic(self) -> float:
        return self.now

    perf_counter = time = monotonic

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Kept:
    """A pacer that keeps what it is given."""

    def __init__(self, route: object = None) -> None:
        self.batches: list[list[Due]] = []
        self.sent, self.lost, self.lateness = 7, 2, Lateness()

    def put(self, batch: list[Due]) -> None:
        self.batches.append(batch)

    def finish(self) -> None:
        pass


class Encoder:
    """Frames of so many bytes; what is begun is one packet."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.frames: list[int] = []

    def encode(self, frame: Any) -> dict[str, Packets]:
        self.frames.append(frame)
        begin = frame * PERIOD
        data = Packets(np.broadcast_to(np.uint8(0), (2, self.size // 2)), begin + np.array([0.05, 0.1]))
        return {"data": data, "imu": Packets(np.zeros((1, 3), np.uint8), np.array([begin + 0.07]))}

    def flush(self) -> dict[str, Packets]:
        return {"data": Packets(np.zeros((1, 2), np.uint8), np.array([99.0]))}


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> FakeTime:
    fake = FakeTime()
    monkeypatch.setattr(live, "time", fake)
    monkeypatch.setattr(live, "Pacer", Kept)
    return fake


def running(
    clock: FakeTime, monkeypatch: pytest.MonkeyPatch, costs: list[float], *, size: int | None = 1000, seconds: float | None = 10.0,
    share: Any = None, period: float = PERIOD, watchers: tuple[Any, ...] = (), said: list[str] | None = None,
) -> Any:  # fmt: skip
    """One outlet whose revolutions take these times, one after the other, the last one ever after; and when each began."""
    begun: list[tuple[int, float]] = []
    left = list(costs)

    def scan(world: object, sensor: object, path: object, *, frame: int) -> int:
        begun.append((frame, round(clock.now - zero, 6)))
        clock.now += left.pop(0) if len(left) > 1 else left[0]
        return frame

    monkeypatch.setattr(live, "scan", scan)
    here, there = Endpoint("127.0.0.1", 1), Endpoint("127.0.0.1", 2)
    outlet = SimpleNamespace(
        sensor=SimpleNamespace(name="mine", frame_period=period), pose=Pose(), share=share, route=None,
        addresses={"data": here, "imu": there}, encoder=lambda epoch: None if size is None else Encoder(size),
    )  # fmt: skip
    zero = clock.now + 0.25
    run = live._Live(None, outlet, live._Clock(zero), seconds, {}, watchers, ([] if said is None else said).append)  # type: ignore[arg-type]
    return run, begun


@pytest.mark.parametrize(
    ("size", "period", "ahead"),
    [
        (1000, 0.1, 5.0),  # little is held
        (2 << 20, 0.1, 3.2),  # of 64 MiB
        (30 << 20, 0.1, 0.5),
        (30 << 20, 0.4, 64 / 30 * 0.4),
        (300 << 20, 0.4, 0.8),  # two revolutions at least
    ],
)
def test_how_far_ahead_of_its_moment_a_revolution_is_made(
    clock: FakeTime, monkeypatch: pytest.MonkeyPatch, size: int, period: float, ahead: float
) -> None:
    run, begun = running(clock, monkeypatch, [0.001], size=size, period=period, seconds=90 * period)
    for _ in range(90):
        run.advance()
    late = [frame * period - at for frame, at in begun[-5:]]
    assert late == pytest.approx([ahead] * 5, abs=0.003) and run.report.dropped == 0
    assert run.report.revolutions == 90 and run.done and run.report.simulated_s == pytest.approx(90 * period)
    assert run.report.busy_s == pytest.approx(0.09) and run.report.speed == pytest.approx(1000 * period)


def test_in_shared_memory_a_revolution_is_made_one_period_ahead(
    clock: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Any] = []
    share = SimpleNamespace(
        command=Command.GO_ON, path=lambda frame: Pose(), publish=lambda frame, **more: told.append((frame, more))
    )
    run, begun = running(clock, monkeypatch, [0.001], share=share)
    for _ in range(20):
        run.advance()
    assert [round(frame * PERIOD - at, 3) for frame, at in begun[5:]] == [0.1] * 15
    batch = run.pacer.batches[6]
    assert [round(due.moment - run._clock.zero, 3) for due in batch] == [0.65, 0.67, 0.7, 0.7]
    assert [None if due.to is None else due.to.port for due in batch] == [1, 2, 1, None]
    batch[-1].payload()
    assert told == [(6, {"dropped": 0, "speed": pytest.approx(100.0)})]


def test_without_packets_half_a_second(clock: FakeTime, monkeypatch: pytest.MonkeyPatch) -> None:
    run, begun = running(clock, monkeypatch, [0.001], size=None)
    for _ in range(20):
        run.advance()
    assert [round(frame * PERIOD - at, 3) for frame, at in begun[9:]] == [0.5] * 11
    run.finish()
    assert (run.report.packets, run.report.lost) == (7, 2)


def test_a_revolution_that_is_not_ready_in_time_is_dropped_whole(
    clock: FakeTime, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each takes 0.25 s of 0.1 s: what is taken up next is one that can still be ready, by what they took of late."""
    said: list[str] = []
    run, begun = running(clock, monkeypatch, [0.25], seconds=6.0, said=said)
    while not run.done:
        run.advance()
    assert run.report.revolutions + run.report.dropped == 60
    handed = run._encoder.frames
    assert len(handed) == run.report.revolutions and 18 <= len(handed) <= 25
    for frame, at in begun:
        ready = at + 0.25 <= frame * PERIOD + 2e-3 + 1e-9
        assert ready == (frame in handed)
    # A packet begun is sent before a gap.
    assert sum(len(batch) == 1 for batch in run.pacer.batches) > 5
    assert said and said[0].startswith("mine: cannot keep up (a revolution takes") and len(said) <= 3
    assert "× as long as it lasts); 1 whole revolutions dropped so far" in said[0]


def test_a_moment_late_is_not_too_late(clock: FakeTime, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two milliseconds of grace; then the frame is dropped, and what it took is learned from, by halves."""
    for late, dropped in ((0.0019, 0), (0.0021, 1)):
        run, _ = running(clock, monkeypatch, [0.25 + late, 0.001])
        run.advance()
        assert run.report.dropped == dropped and run._takes == pytest.approx((0.25 + late) / 2)


@pytest.mark.parametrize("asked", [Command.PAUSE, Command.STOP])
def test_a_consumer_pauses_and_stops(clock: FakeTime, monkeypatch: pytest.MonkeyPatch, asked: Command) -> None:
    commands: Iterator[Command] = iter([Command.GO_ON] * 4 + [asked] * 201 + [Command.GO_ON] * 99)

    class Share:
        path = staticmethod(lambda frame: Pose())
        publish = staticmethod(lambda frame, **more: None)

        @property
        def command(self) -> Command:
            return next(commands)

    run, begun = running(clock, monkeypatch, [0.001], share=Share())
    for _ in range(2):
        run.advance()
    begin = clock.now
    run.advance()
    if asked == Command.STOP:
        assert run.done and len(begun) == 2
        return
    assert clock.now - begin >= 200 * 0.005 - 1e-9, "a hundred looks at 5 ms each, at least"
    frame, at = begun[2]
    assert frame == math.ceil((clock.now - 0.001 - run._clock.zero) / PERIOD - 1e-6) or frame * PERIOD >= at
    assert run.report.dropped == 0, "nothing was missed while nothing was asked for"


def test_watchers_are_told_when_a_revolution_is_over(clock: FakeTime, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[str] = []
    watchers = tuple(SimpleNamespace(prepare=lambda seen, k=k: lambda: told.append(f"{k} {seen}")) for k in range(2))
    monkeypatch.setattr(live, "_seen", lambda outlet, frame, epoch: f"{frame} {epoch}")
    run, begun = running(clock, monkeypatch, [0.001], watchers=watchers)
    for _ in range(30):
        run.advance()
    assert [round(frame * PERIOD - at, 3) for frame, at in begun[9:]] == [0.5] * 21, "pictures are not held for long"
    batch = run.pacer.batches[3]
    assert [round(due.moment - run._clock.zero, 3) for due in batch] == [0.35, 0.37, 0.4, 0.4, 0.4]
    for due in batch[3:]:
        due.payload()
    epoch = whole_nanoseconds(run._clock.epoch)
    assert told == [f"0 3 {epoch}", f"1 3 {epoch}"] and run._clock.epoch == pytest.approx(run._clock.zero)


def test_what_is_told_stands_among_the_packets_by_its_moment(clock: FakeTime, monkeypatch: pytest.MonkeyPatch) -> None:
    """A packet that is complete after the revolution leaves after it is told."""
    watchers = (SimpleNamespace(prepare=lambda seen: lambda: None),)
    monkeypatch.setattr(live, "_seen", lambda outlet, frame, epoch: None)
    run, _ = running(clock, monkeypatch, [0.001], watchers=watchers)
    late = Packets(np.zeros((2, 4), np.uint8), np.array([0.05, 0.13]))
    run._encoder.encode = lambda frame: {"data": late}
    run.advance()
    assert [(round(due.moment - run._clock.zero, 3), due.to is None) for due in run.pacer.batches[0]] == [
        (0.05, False), (0.1, True), (0.13, False),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("seconds", "path_end", "wanted"),
    [(1.0, None, 10), (1.01, None, 11), (0.05, None, 1), (None, 0.55, 5), (None, 0.6, 6), (2.0, 0.75, 7), (0.3, 9.0, 3), (None, None, math.inf)],
)  # fmt: skip
def test_how_many_revolutions_there_are(seconds: float | None, path_end: float | None, wanted: float) -> None:
    pose = Pose() if path_end is None else Trajectory.through([0.0, path_end], [Pose(), Pose.at(1, 0, 0)])
    outlet = SimpleNamespace(sensor=SimpleNamespace(frame_period=PERIOD), pose=pose)
    assert live._frame_limit(outlet, seconds) == wanted  # type: ignore[arg-type]
    assert live._first_pose(outlet).position.tolist() == [0, 0, 0]  # type: ignore[arg-type]


def test_what_is_no_stream() -> None:
    late = SimpleNamespace(
        sensor=SimpleNamespace(frame_period=PERIOD), pose=Trajectory.through([0.1, 1.0], [Pose(), Pose.at(1, 0, 0)])
    )
    with pytest.raises(InputError, match="must start at 0 s"):
        live._frame_limit(late, None)  # type: ignore[arg-type]
    late.pose = Trajectory.through([0.0, 0.09], [Pose(), Pose.at(1, 0, 0)])
    with pytest.raises(InputError, match=r"at least one revolution of 0\.1 s"):
        live._frame_limit(late, None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least one sensor"):
        live.stream(None, [])  # type: ignore[arg-type]
    for seconds in (0.0, -1.0, math.nan):
        with pytest.raises(InputError, match="seconds: must be above 0"):
            live.stream(None, [None], seconds=seconds)  # type: ignore[list-item, arg-type]


def paced(monkeypatch: pytest.MonkeyPatch) -> tuple[Pacer, FakeTime]:
    fake = FakeTime()
    pacer = Pacer()
    pacer.finish()  # its thread is not needed
    monkeypatch.setattr(pacing, "time", fake)
    return pacer, fake


def test_what_is_late_leaves_at_four_times_its_rate(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind what was done last, at a quarter of the time between their moments; and never before its own."""
    pacer, _ = paced(monkeypatch)
    assert pacer._earliest(50.0) == 50.0
    pacer._last = 50.0, 53.0
    assert pacer._earliest(50.4) == pytest.approx(53.1)
    assert pacer._earliest(58.0) == 58.0 and pacer._earliest(54.0) == pytest.approx(54.0)


def test_sleeps_are_short_enough_to_hear_a_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    pacer, fake = paced(monkeypatch)
    assert pacer._await(1000.5) and fake.slept == pytest.approx([0.2, 0.2, 0.1])
    fake.slept.clear()
    assert pacer._await(fake.now + 29e-6) and pacer._await(fake.now - 5.0) and fake.slept == []
    assert pacer._await(fake.now + 31e-6) and len(fake.slept) == 1
    pacer._stop.set()
    assert not pacer._await(fake.now + 1.0)


def test_lateness_in_steps_of_a_tenth_of_a_millisecond() -> None:
    late = Lateness()
    assert late.share_within(1.0) == 1.0 and late.quantile(0.5) == 0.0
    for value in (-1.0, 0.00011, 0.00019, 0.5, 1.0, 7.0):
        late.add(value)
    assert np.flatnonzero(late.counts).tolist() == [0, 1, 5000, 10_000] and late.counts[10_000] == 2
    assert late.share_within(1e-4) == pytest.approx(1 / 6) and late.share_within(0.5) == pytest.approx(3 / 6)
    assert (
        late.quantile(0.5) == pytest.approx(2e-4) and late.quantile(0.51) == pytest.approx(0.5001) and late.worst == 7.0
    )
    late.add(0.99999)
    assert late.counts[9999] == 1 and len(late.counts) == 10_001


def test_pauses_of_a_recording() -> None:
    def told(moments: list[float], speed: float = 1.0, longest: float = 600.0) -> list[str]:
        notes: list[str] = []
        replay._check_pauses(Path("a"), np.array(moments), speed, longest, notes.append)
        return notes

    assert told([0.0]) == [] and told([0.0, 10.0, 20.0]) == []
    assert told([0, 10.1, 11, 611]) == [
        "a: nothing is sent for 10 s before packet 2: so it was recorded",
        "a: nothing is sent for 600 s before packet 4: so it was recorded",
    ]
    assert len(told([20.0 * k for k in range(9)])) == 3 and told([0, 40], speed=4.0) == []
    with pytest.raises(InputError, match=r"packet 3 comes 1,202 s after the one before it.*play it with speed 2$"):
        told([0, 1, 1203])
    with pytest.raises(InputError, match=r"packet 2 comes 5 s .*play it with speed 1\.67$"):
        told([0, 5], longest=3.0)
    with pytest.raises(InputError, match=r"allow a longer pause$"):
        told([0, 1e12], longest=3.0)


def test_what_is_played_of_a_capture(tmp_path: Path) -> None:
    """Of one sensor its packets, and its positions where they are asked for, in the order of time."""
    base = 1_700_000_000_000_000_000
    sents = [
        Sent(b"a", base + 5), Sent(b"b", base + 3, port=8308), Sent(b"c", base + 4, port=99), Sent(b"d", base + 1),
        Sent(b"e", base + 2, port=8308, source="10.0.0.1"), Sent(b"f", base + 6, port=8308, vlan=(3,)),
    ]  # fmt: skip
    (tmp_path / "a").write_bytes(pcap(records_of(sents), nano=True))
    every = read_datagrams(tmp_path / "a")

    def names(**how: Any) -> str:
        chosen = replay._sensors(every, how.pop("port", 2368), None, **how)
        return b"".join(chosen.payload(row) for row in range(len(chosen))).decode()

    assert names(positions=False) == "da" and names(positions=True) == "dba" and names(port=99, positions=False) == "c"
    with pytest.raises(
        InputError, match=r"holds no datagrams to port 7 to send; .*there are 99 \(1\), 2368 \(2\), 8308 \(3\)"
    ):
        names(port=7, positions=False)
    to, there = Endpoint("h", 1), Endpoint("h", 2)
    chosen = replay._sensors(every, 2368, None, positions=True)
    (batch,) = replay._batches(chosen, np.array([1.0, 2.0, 3.0]), to, there)
    assert [(due.moment, due.payload, due.to) for due in batch] == [
        (1.0, b"d", to),
        (2.0, b"b", there),
        (3.0, b"a", to),
    ]
    (tmp_path / "b").write_bytes(pcap(records_of([Sent(b"x", base + k) for k in range(1001)])))
    many = read_datagrams(tmp_path / "b")
    assert [len(batch) for batch in replay._batches(many, np.zeros(1001), to, None)] == [500, 500, 1]
    for speed in (0.0, -1.0, 1.1e6, math.nan):
        with pytest.raises(InputError, match="speed: must be above 0"):
            replay.replay(tmp_path / "a", to, speed=speed)


def test_a_replay_by_the_clock(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Twice, at double speed: three packets a second apart take two seconds and one more until they begin anew."""
    base = 1_700_000_000_000_000_000
    (tmp_path / "a").write_bytes(pcap(records_of([Sent(b"%d" % k, base + k * 10**9) for k in range(3)]), nano=True))
    fake, kept = FakeTime(), Kept()
    monkeypatch.setattr(replay, "time", fake)
    monkeypatch.setattr(replay, "Pacer", lambda: kept)
    report = replay.replay(tmp_path / "a", Endpoint("h", 1), speed=2.0, loops=2)
    moments = [due.moment - 1000.02 for batch in kept.batches for due in batch]
    assert moments == pytest.approx([0.0, 0.5, 1.0, 1.5, 2.0, 2.5])
    # Never more than a second ahead of the clock.
    assert fake.now == pytest.approx(1000.52) and report.recorded_s == pytest.approx(6.0) and report.packets == 7
    assert report.seconds == pytest.approx(0.5)


def test_revolutions_of_firings_as_frames() -> None:
    """Of a pulse with two returns two rows, unless they are the same; without return one row."""
    n = np.nan
    ranges = np.array([[5.0, 5.0], [6.0, 8.0], [n, n], [7.0, 7.0], [n, 9.0]])
    bright = np.array([[0.5, 0.5], [0.2, 0.9], [0, 0], [0.3, 0.4], [0, 0.7]], np.float32)
    way = np.tile([0.6, 0.0, 0.8], (5, 1))
    firings = Firings(
        "mine", ("strongest", "last"), np.arange(5.0) + 10, np.arange(5, dtype=np.uint16), np.zeros(5, np.uint16),
        np.array([0, 0, 0, 2, 2], np.int32), np.linspace(0, 1, 5), np.tile([0.0, 0, 1], (5, 1)), way, ranges, bright,
    )  # fmt: skip
    one, two = frames_of(firings)
    assert one.pulse.tolist() == [0, 1, 1, 2] and two.pulse.tolist() == [0, 0, 1]
    assert one.range == pytest.approx([5, 6, 8, n], nan_ok=True) and two.range == pytest.approx([7, 7, 9])
    assert one.return_number.tolist() == [1, 1, 2, 0] and one.return_count.tolist() == [1, 2, 2, 0]
    assert one.return_kind.tolist() == [1, 1, 2, 0] or len(set(one.return_kind.tolist())) == 3
    assert two.return_number.tolist() == [1, 2, 1] and two.return_count.tolist() == [2, 2, 1]
    assert one.xyz[1] == pytest.approx([3.6, 0, 5.8]) and one.elevation == pytest.approx(np.arcsin(0.8))
    assert (one.meta["frame"], two.meta["frame"], one.pulses, two.pulses) == (0, 1, 3, 2)
    assert (
        two.meta["start_s"] == 13.0
        and two.laser.tolist() == [3, 3, 4]
        and one.intensity.tolist() == pytest.approx([0.5, 0.2, 0.9, 0])
    )


def test_what_watchers_are_told() -> None:
    sensor = load_sensor("vlp-16")
    frame = made_frame(sensor, 3, share=0.01)
    still = look_at(frame, sensor, "one", 10**18)
    assert (still.frame, still.start_ns, still.end_ns) == (3, 10**18 + 300_000_000, 10**18 + 400_000_000)
    assert [place.time_ns for place in still.places] == [10**18 + 300_000_000] and still.imu is None
    assert still.points["time"] == pytest.approx(frame.time - 0.3, abs=1e-6) and len(still.points) == len(frame)
    assert (
        still.points["ring"].tolist() == frame.laser.tolist() and still.points["label"].tolist() == frame.label.tolist()
    )
    path = Trajectory.through([0.0, 10.0], [Pose(), Pose.at(10, 0, 0)])
    columns = {name: getattr(frame, name) for name in frame.columns}
    moving = look_at(type(frame)(**columns, meta=frame.meta, trajectory=path), sensor, "one", 0)
    assert [place.time_ns for place in moving.places] == [10_000_000 * k for k in range(30, 40)]
    assert [place.pose.position[0] for place in moving.places] == pytest.approx([0.01 * k for k in range(30, 40)])


def test_what_an_inertial_sensor_feels_is_told_with_its_moments() -> None:
    felt = load_sensor("os0-128").with_(**{"pattern.steps": 512})
    imu = look_at(made_frame(felt, 1, share=0.0001), felt, "two", 5)
    assert imu.imu is not None and imu.imu_ns.tolist() == [5 + 10_000_000 * k for k in range(10, 20)]
    later = look_at(made_frame(felt, 36_000, share=0.0001), felt, "two", 5)
    assert later.imu_ns.tolist() == [5 + 3600 * 10**9 + 10_000_000 * k for k in range(10)], "an hour later"
    assert (later.start_ns, later.end_ns) == (5 + 3600 * 10**9, 5 + 3600 * 10**9 + 100_000_000)


@pytest.mark.parametrize(
    ("error", "why"), [(OSError(5, "no such place"), "no such place"), (UnicodeError("odd"), "odd")]
)
def test_why_a_host_is_not_found(monkeypatch: pytest.MonkeyPatch, error: Exception, why: str) -> None:
    def ask(*where: object, **how: object) -> None:
        raise error

    monkeypatch.setattr("tussock.wire.addresses.socket.getaddrinfo", ask)
    with pytest.raises(InputError, match=rf"address h:5: the host 'h' cannot be found \({why}\)$"):
        Endpoint.parse("h:5")
