"""Sending: to the given address only, each packet at its moment, whole revolutions or none."""

from __future__ import annotations

import errno
import socket
import struct
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import tussock.wire.live as live
import tussock.wire.pacing as pacing
from made_captures import Sent, pcap, records_of
from made_frames import made_frame
from tussock.errors import InputError, OutputError
from tussock.poses import Pose, Trajectory
from tussock.sensors.catalogue import load_sensor
from tussock.wire.addresses import Endpoint, open_sender
from tussock.wire.captures.datagrams import CaptureWarning, read_datagrams
from tussock.wire.live import Outlet, stream
from tussock.wire.pacing import Due, Lateness, Pacer
from tussock.wire.recording import open_recording
from tussock.wire.replay import replay
from tussock.wire.velodyne.decode import decode_packets
from tussock.wire.velodyne.encode import PacketEncoder


class Listener:
    """A port of this machine and what arrives there."""

    def __init__(self) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 8 << 20)
        self.socket.bind(("127.0.0.1", 0))
        self.socket.settimeout(30)
        self.endpoint = Endpoint.parse(f"127.0.0.1:{self.socket.getsockname()[1]}")
        self.received: list[bytes] = []
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    def _listen(self) -> None:
        while (data := self.socket.recv(4096)) != b"end":
            self.received.append(data)

    def stop(self) -> list[bytes]:
        self.socket.sendto(b"end", self.socket.getsockname())
        self._thread.join()
        self.socket.close()
        return self.received


@pytest.fixture
def listener():
    one = Listener()
    yield one
    if one._thread.is_alive():
        one.stop()


@pytest.fixture
def quick_scan(monkeypatch):
    """Frames by chance instead of a simulation; `delays` says how long each takes [s]."""
    delays: dict[int, float] = {}
    calls: list[int] = []

    def scan(world, sensor, pose=None, *, frame=0, **options):
        calls.append(frame)
        time.sleep(delays.get(frame, 0.0))
        made = made_frame(sensor, frame, share=0.3)
        path = pose if isinstance(pose, Trajectory) else Trajectory.standing(pose or Pose())
        return type(made)(**made.columns, meta=made.meta, trajectory=path)

    monkeypatch.setattr(live, "scan", scan)
    return delays, calls


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("127.0.0.1", "address: must be HOST:PORT"),
        (":2368", "address: must be HOST:PORT"),
        ("127.0.0.1:0", "port: must be a whole number from 1 to 65535, got '0'"),
        ("127.0.0.1:65536", "port: must be a whole number from 1 to 65535, got '65536'"),
        ("127.0.0.1:abc", "port: must be a whole number"),
        ("127.0.0.1:-5", "port: must be a whole number"),
        ("::1:2368", "address: must be HOST:PORT"),
        ("no.such.host.invalid:2368", "the host 'no.such.host.invalid' cannot be found"),
        ("a" * 300 + ":2368", "cannot be found"),
    ],
)
def test_bad_addresses(text: str, says: str) -> None:
    with pytest.raises(InputError, match=says) as caught:
        Endpoint.parse(text)
    assert "\n" not in str(caught.value)


def test_good_addresses() -> None:
    assert Endpoint.parse("127.0.0.1:65535").address == ("127.0.0.1", 65535)
    assert str(Endpoint.parse("[::1]:2368")) == "[::1]:2368"


def test_a_sender_is_bound_to_nothing() -> None:
    sender = open_sender(Endpoint.parse("127.0.0.1:2368"))
    assert sender.getsockname() == ("0.0.0.0", 0)
    with pytest.raises(OSError):
        sender.getpeername()
    sender.close()


def test_a_pacer_keeps_order_and_never_sends_early(listener: Listener) -> None:
    pacer = Pacer()
    start = time.monotonic() + 0.02
    early: list[float] = []
    for batch in range(5):
        dues = [
            Due(start + k * 1e-3, struct.pack("<I", k), listener.endpoint) for k in range(batch * 40, batch * 40 + 40)
        ]
        dues.append(Due(dues[-1].moment, lambda due=dues[-1].moment: early.append(time.monotonic() - due), None))
        pacer.put(dues)
    pacer.finish()
    assert [struct.unpack("<I", data)[0] for data in listener.stop()] == list(range(200))
    assert pacer.sent == 200
    assert len(early) == 5 and min(early) > -1e-4
    assert pacer.lateness.counts.sum() == 200


def test_nobody_listening_does_not_matter() -> None:
    free = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    free.bind(("127.0.0.1", 0))
    port = free.getsockname()[1]
    free.close()
    pacer = Pacer()
    pacer.put([Due(0.0, b"x", Endpoint.parse(f"127.0.0.1:{port}")) for _ in range(20)])
    pacer.finish()
    assert pacer.sent == 20


def test_a_datagram_that_cannot_be_sent_is_one_line() -> None:
    pacer = Pacer()
    pacer.put([Due(0.0, bytes(70_000), Endpoint.parse("127.0.0.1:2368"))])
    with pytest.raises(OutputError, match=r"127\.0\.0\.1:2368: cannot be sent to \(Message too long\)"):
        pacer.finish()


def test_what_is_late_does_not_leave_all_at_once() -> None:
    """A receiver's buffer holds some ninety packets: 200 ms that were missed go out in no less than a quarter of that."""
    pacer, done = Pacer(), []
    start = time.monotonic() - 0.4
    pacer.put([Due(start + k * 1e-3, lambda: done.append(time.monotonic()), None) for k in range(200)])
    pacer.finish()
    assert done[-1] - done[0] > 0.199 / 4 - 0.003
    assert (np.diff(done[::20]) > 0.020 / 4 - 0.003).all()


class _FullQueue:
    """A socket of a system that has room for a datagram at every ``every``-th try."""

    def __init__(self, every: int) -> None:
        self.every, self.tries, self.taken = every, 0, []

    def sendto(self, payload: bytes, address: object) -> None:
        self.tries += 1
        if self.tries % self.every:
            raise OSError(errno.ENOBUFS, "No buffer space available")
        self.taken.append(payload)

    def close(self) -> None:
        pass


@pytest.mark.parametrize(("every", "sent"), [(3, 5), (10_000, 0)])
def test_a_full_queue_is_asked_again_and_what_is_lost_is_counted(monkeypatch, every: int, sent: int) -> None:
    queue = _FullQueue(every)
    monkeypatch.setattr(pacing, "open_sender", lambda endpoint: queue)
    monkeypatch.setattr(pacing, "_WAIT_FOR_ROOM", 0.0)
    pacer = Pacer()
    pacer.put([Due(0.0, bytes([k]), Endpoint.parse("127.0.0.1:2368")) for k in range(5)])
    pacer.finish()
    assert (pacer.sent, pacer.lost) == (sent, 5 - sent)
    assert queue.taken == [bytes([k]) for k in range(sent)]


def test_lateness_counts() -> None:
    late = Lateness()
    for value in (0.0, 0.00005, 0.004, 0.0049, 0.006, 3.0):
        late.add(value)
    assert late.share_within(5e-3) == pytest.approx(4 / 6)
    assert late.worst == 3.0
    assert late.quantile(0.5) == pytest.approx(0.0041, abs=1e-4)


def test_what_is_streamed_arrives_whole_and_in_order(listener: Listener, quick_scan) -> None:
    sensor = load_sensor("hdl-32e").with_(rotation_hz=20.0)
    (report,) = stream(None, [Outlet(sensor, Pose.at(0, 0, 2), to=listener.endpoint)], seconds=0.5)
    received = np.array([np.frombuffer(data, np.uint8) for data in listener.stop()])
    if report.dropped:
        pytest.skip("this machine was too busy to make ten revolutions in time: run it again when it is not")
    encoder = PacketEncoder(sensor)
    expected = [encoder.encode(made_frame(sensor, k, share=0.3)) for k in range(10)] + [encoder.flush()]
    payloads = np.concatenate([part.payloads for part in expected])
    assert report.packets == len(received) == len(payloads)
    # All but the time of day.
    np.testing.assert_array_equal(received[:, :1200], payloads[:, :1200])
    np.testing.assert_array_equal(received[:, 1204:], payloads[:, 1204:])
    stamps = decode_packets(received).stamp.astype(np.int64)
    assert (np.abs(np.diff(stamps) % 3_600_000_000 - 552.96) <= 1).all()
    assert report.revolutions == 10
    assert report.speed > 0


def test_whole_revolutions_are_dropped(listener: Listener, quick_scan) -> None:
    """Revolution 4 takes as long as five: it and those that it delays are not sent, the others are whole."""
    delays, _ = quick_scan
    sensor = load_sensor("vlp-16")
    delays[4] = 0.5
    said: list[str] = []
    (report,) = stream(None, [Outlet(sensor, Pose.at(0, 0, 2), to=listener.endpoint)], seconds=1.5, say=said.append)
    raw = decode_packets(np.array([np.frombuffer(data, np.uint8) for data in listener.stop()]))
    assert report.dropped >= 3
    assert report.revolutions + report.dropped == 15
    assert len(said) == 1 and "cannot keep up" in said[0] and "whole revolutions dropped" in said[0]
    sent = [frame for frame in range(15) if frame not in _dropped(raw)]
    assert 4 not in sent and sent[:4] == [0, 1, 2, 3] and len(sent) == report.revolutions
    # Every revolution that was sent has all its returns.
    assert raw.returns == sum(len(made_frame(sensor, frame, share=0.3)) for frame in sent)


def _dropped(raw) -> set[int]:
    """Revolutions without a packet in their middle."""
    stamps = raw.stamp.astype(np.int64)
    times = (stamps - stamps[0]) % 3_600_000_000 * 1e-6
    return {k for k in range(15) if not ((times > k * 0.1 + 0.03) & (times < k * 0.1 + 0.07)).any()}


def test_several_sensors_and_their_positions(quick_scan) -> None:
    first, second, positions = Listener(), Listener(), Listener()
    outlets = [
        Outlet(load_sensor("vlp-16"), Pose.at(0, 0, 2), to=first.endpoint, positions_to=positions.endpoint),
        Outlet(load_sensor("hdl-32e"), Pose.at(1, 0, 2), to=second.endpoint),
    ]
    reports = stream(None, outlets, seconds=0.4)
    data = [one.stop() for one in (first, second, positions)]
    assert {len(part) for part in data[0] + data[1]} == {1206} and {len(part) for part in data[2]} == {512}
    assert data[0][0][-2:] == b"\x37\x22" and data[1][0][-2:] == b"\x37\x21"
    assert len(data[0]) + len(data[2]) == reports[0].packets and len(data[1]) == reports[1].packets
    assert data[2][0][206:212] == b"$GPRMC"


def test_what_cannot_be_streamed() -> None:
    with pytest.raises(InputError, match="needs at least one sensor"):
        stream(None, [])
    with pytest.raises(InputError, match="its packets are not known"):
        stream(None, [Outlet(load_sensor("lms-111"), Pose(), to=Endpoint.parse("127.0.0.1:2368"))])
    with pytest.raises(InputError, match="seconds: must be above 0"):
        stream(None, [Outlet(load_sensor("vlp-16"), Pose())], seconds=0.0)


def test_replay(tmp_path: Path) -> None:
    data, positions = Listener(), Listener()
    sensor = load_sensor("vlp-16")
    with open_recording(tmp_path / "run.pcap", sensor) as run:
        for number in range(2):
            run.write(made_frame(sensor, number))
    recorded = read_datagrams(tmp_path / "run.pcap")
    data_rows, position_rows = (np.flatnonzero(recorded.port == port) for port in (2368, 8308))
    report = replay(tmp_path / "run.pcap", data.endpoint, positions_to=positions.endpoint, speed=2.0, loops=2)
    told, where = data.stop(), positions.stop()
    assert told == 2 * [recorded.payload(row) for row in data_rows]
    assert where == 2 * [recorded.payload(row) for row in position_rows]
    assert report.packets == 2 * len(recorded)
    assert report.seconds >= 0.19  # 0.4 s of recording, twice as fast
    # Each time through ends with a pause like those between its packets.
    span, pauses = np.ptp(recorded.time_ns) / 1e9, len(recorded) - 1
    assert report.recorded_s == pytest.approx(2 * span * (pauses + 1) / pauses, rel=1e-9)


def test_replay_sends_positions_nowhere_unasked(listener: Listener, tmp_path: Path) -> None:
    sensor = load_sensor("vlp-16")
    with open_recording(tmp_path / "run.pcap", sensor) as run:
        run.write(made_frame(sensor, 0))
    report = replay(tmp_path / "run.pcap", listener.endpoint, speed=100.0)
    assert {len(data) for data in listener.stop()} == {1206}
    assert report.packets == 76


def test_replay_sends_what_one_sensor_sent(listener: Listener, tmp_path: Path) -> None:
    """Not the name service's datagrams, nor those of the other sensor."""
    mine, yours = (Sent(bytes([k]) * 1206, source=f"192.168.1.{k}") for k in (201, 202))
    mixed = [mine, Sent(b"who is there?", port=5353), yours, mine, Sent(b"IMU", port=7503)]
    path = tmp_path / "two.pcap"
    path.write_bytes(pcap(records_of(mixed)))
    with pytest.raises(InputError, match=r"two\.pcap: holds packets of 2 units, 192\.168\.1\.201 \(2 packets\) and"):
        replay(path, listener.endpoint)
    replay(path, listener.endpoint, unit="192.168.1.201")
    replay(path, listener.endpoint, port=7503)
    assert listener.stop() == [mine.payload, mine.payload, b"IMU"]


def test_replay_refuses_before_it_sends(listener: Listener, tmp_path: Path) -> None:
    sensor = load_sensor("vlp-16")
    path = tmp_path / "run.pcap"
    with open_recording(path, sensor) as run:
        run.write(made_frame(sensor, 0))
    with pytest.raises(InputError, match="speed: must be above 0"):
        replay(path, listener.endpoint, speed=0.0)
    with pytest.raises(
        InputError, match=r"run\.pcap: holds no datagrams to port 2369 to send; .* there are 2368 \(76\)"
    ):
        replay(path, listener.endpoint, port=2369)
    whole = path.read_bytes()
    path.write_bytes(b"x" + whole)
    with pytest.raises(InputError, match=r"run\.pcap: is neither a pcap nor a pcapng capture"):
        replay(path, listener.endpoint)
    assert listener.stop() == []


def test_replay_says_that_a_capture_was_cut(listener: Listener, tmp_path: Path) -> None:
    sensor = load_sensor("vlp-16")
    path = tmp_path / "run.pcap"
    with open_recording(path, sensor) as run:
        run.write(made_frame(sensor, 0))
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.warns(CaptureWarning, match=r"run\.pcap: ends in the middle of record \d+; the \d+ before it are read"):
        report = replay(path, listener.endpoint, speed=100.0)
    assert report.packets == len(listener.stop()) == 75


def test_coming_before_others_is_given_back_or_refused_in_one_line(monkeypatch) -> None:
    import os

    from tussock.errors import OutputError
    from tussock.wire.pacing import before_others

    if not hasattr(os, "sched_setscheduler"):
        with pytest.raises(OutputError, match="this system has no such scheduling"), before_others():
            pass
        return
    asked = []
    monkeypatch.setattr(os, "sched_setscheduler", lambda thread, how, level: asked.append(how))
    with before_others():
        assert asked == [os.SCHED_RR]
    assert asked == [os.SCHED_RR, os.sched_getscheduler(0)]

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "sched_setscheduler", refuse)
    with pytest.raises(OutputError, match=r"real time: the system does not give it .*CAP_SYS_NICE"), before_others():
        pass
