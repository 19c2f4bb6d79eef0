"""Shared segments byte by byte and by a clock that only the test moves: layout, waiting, limits of what may be written."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from made_frames import made_frame
from tussock.errors import InputError, OutputError
from tussock.poses import Pose, Trajectory
from tussock.sensors.catalogue import load_sensor
from tussock.wire.shared import shared_memory, shm_files
from tussock.wire.shared.shared_memory import SharedSegment, SimulatorGone
from tussock.wire.shared.shared_run import Command, SharedRun, shared_points
from tussock.wire.shared.shm_layout import ChannelSpec, slot_bytes

if not Path("/dev/shm").is_dir():
    pytest.skip("this system has no /dev/shm: run it on Linux", allow_module_level=True)


@pytest.fixture
def name(request: pytest.FixtureRequest) -> Iterator[str]:
    chosen = f"tussock-hand-{os.getpid()}-{abs(hash(request.node.name)) % 10**8}"
    yield chosen
    (Path("/dev/shm") / chosen).unlink(missing_ok=True)


def test_a_segment_byte_by_byte(name: str) -> None:
    """Header of 256 bytes, 128 a channel, two slots each on multiples of 64; as the page says for C and MATLAB."""
    specs = [ChannelSpec("points", "out", "f4", (3, 7)), ChannelSpec("pose_in", "in", "i8", (8,))]
    assert [slot_bytes(spec) for spec in specs] == [64 + 128, 64 + 64]
    with SharedSegment.create(name, specs, lockstep=True) as ours:
        data = (Path("/dev/shm") / name).read_bytes()
        assert len(data) == 512 + 2 * 192 + 2 * 128 and data[:8] == b"TUSSOCK\0"
        assert struct.unpack_from("<IIQII", data, 8) == (1, 1, len(data), 2, 128)
        assert struct.unpack_from("<QQQ", data, 32)[:2] == (1, os.getpid())
        start = int(Path(f"/proc/{os.getpid()}/stat").read_text().rpartition(")")[2].split()[19])
        assert struct.unpack_from("<Q", data, 48) == (start,)
        for k, (spec, at, size) in enumerate(zip(specs, (512, 512 + 384), (192, 128), strict=True)):
            row = data[256 + 128 * k : 384 + 128 * k]
            assert row[:40].rstrip(b"\0").decode() == spec.name
            assert struct.unpack_from("<III", row, 40) == ((1, 9, 2), (2, 8, 1))[k]
            assert struct.unpack_from("<QQQQQQ", row, 56) == (*(*spec.shape, 1, 1)[:3], at, size, 0)
        for number in (1, 2, 3):
            assert ours.publish("points", np.full((number, 7), number, np.float32), time=0.5 * number) == number
        data = (Path("/dev/shm") / name).read_bytes()
        assert struct.unpack_from("<Q", data, 256 + 96) == (3,)
        for number, at, times in ((2, 512, 1), (3, 512 + 192, 2)):
            assert struct.unpack_from("<QQdQQQ", data, at) == (2 * times, number, 0.5 * number, number, 7, 1)
            assert np.frombuffer(data, "<f4", 7 * number, at + 64).tolist() == [number] * 7 * number
        assert ours.lockstep and ours.simulator_alive and ours.channels == ("points", "pose_in")
        assert ours.step() == 1 and ours.step() == 2
        assert struct.unpack_from("<QQ", (Path("/dev/shm") / name).read_bytes(), 88) == (2, 0)
    assert not (Path("/dev/shm") / name).exists()


def test_what_a_channel_may_be(name: str) -> None:
    for spec in (
        ChannelSpec("", "out", "f4", (1,)), ChannelSpec("n" * 40, "out", "f4", (1,)), ChannelSpec("ä", "out", "f4", (1,)),
        ChannelSpec("a", "out", "f2", (1,)), ChannelSpec("a", "up", "f4", (1,)), ChannelSpec("a", "out", "f4", ()),  # type: ignore[arg-type]
        ChannelSpec("a", "out", "f4", (1, 1, 1, 1)), ChannelSpec("a", "out", "f4", (3, 0)),
    ):  # fmt: skip
        with pytest.raises(InputError, match="channel"):
            SharedSegment.create(name, [spec])
    one = ChannelSpec("n" * 39, "out", "u1", (1, 1, 1))
    for channels in ([], [one, one]):
        with pytest.raises(InputError, match="needs channels, each with a name of its own"):
            SharedSegment.create(name, channels)
    with SharedSegment.create(name, [one]), pytest.raises(OutputError, match="is in use by process"):
        SharedSegment.create(name, [one])
    for wrong in ("", "a/b", "-a", ".a", "a" * 201):
        with pytest.raises(InputError, match="must be letters"):
            shm_files.segment_path(wrong)
    assert shm_files.segment_path("a" * 200).parent == Path("/dev/shm")


def test_what_may_be_written_into_a_channel(name: str) -> None:
    specs = [ChannelSpec("points", "out", "f4", (3, 2)), ChannelSpec("back", "in", "f8", (2,))]
    with SharedSegment.create(name, specs) as ours, SharedSegment.attach(name) as theirs:
        assert ours.latest("points") is None
        ours.publish("points", np.zeros((0, 2)))
        sample = theirs.latest("points")
        assert sample is not None and sample.array.shape == (0, 2) and sample.number == 1 and sample.time == 0.0
        ours.publish("points", [[1, 2], [3, 4], [5, 6]], time=2.5)
        assert theirs.latest("points").array.tolist() == [[1, 2], [3, 4], [5, 6]]  # type: ignore[union-attr]
        assert theirs.latest("points", after=1).number == 2 and theirs.latest("points", after=2) is None  # type: ignore[union-attr]
        for wrong in (np.zeros((4, 2)), np.zeros((2, 3)), np.zeros(2), np.zeros((1, 2, 1))):
            with pytest.raises(InputError, match=r"holds arrays of up to \(3, 2\)"):
                ours.publish("points", wrong)
        with pytest.raises(InputError, match="is written by the other side"):
            ours.publish("back", [1.0, 2.0])
        with pytest.raises(InputError, match="not in this segment"):
            ours.publish("pointz", [1.0])
        with pytest.raises(InputError, match="only a consumer with control may write"):
            theirs.publish("back", [1.0, 2.0])
        with pytest.raises(InputError, match="only a consumer with control may answer"):
            theirs.answer(1)


class FakeTime:
    def __init__(self) -> None:
        self.now, self.naps = 100.0, 0

    def monotonic(self) -> float:
        return self.now

    def monotonic_ns(self) -> int:
        return round(self.now * 1e9)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self.naps += 1


def test_waiting_looks_often_and_ends_when_it_was_told_to(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """200 looks, then one between naps of 50 µs; the heart beats every 50 ms meanwhile."""
    fake = FakeTime()
    monkeypatch.setattr(shared_memory, "time", fake)
    with SharedSegment.create(name, [ChannelSpec("a", "out", "f4", (1,))]) as ours:
        looks: list[float] = []
        assert not ours._wait(lambda: bool(looks.append(fake.now)), 0.2)
        assert fake.now - 100.0 == pytest.approx(0.2, abs=1e-4) and fake.naps == pytest.approx(4000, abs=2)
        assert sum(at == 100.0 for at in looks) == 201
        beat = int(ours._header["simulator_heartbeat"][0]) / 1e9
        assert 100.15 - 1e-4 <= beat <= 100.2 + 1e-9
        count = iter(range(300))
        naps = fake.naps
        assert ours._wait(lambda: next(count) == 199, 5.0) and fake.naps == naps
        assert ours._wait(lambda: next(count) == 210, 5.0) and fake.naps == naps
        count = iter(range(999))
        assert ours._wait(lambda: next(count) == 300, 5.0) and fake.naps == naps + 100
        assert not ours.await_answer(1, timeout=0.01)
        with SharedSegment.attach(name, control=True) as theirs:
            with pytest.raises(InputError, match=r"no step within 0\.5 s"):
                theirs.await_step(timeout=0.5)
            with pytest.raises(InputError, match=r"nothing new on 'a' within 0\.1 s"):
                theirs.wait_for("a", timeout=0.1)
            ours.step()
            assert theirs.await_step(timeout=0.0) == 1
            theirs.answer(1)
            assert ours.await_answer(1, timeout=0.0)
            ours.publish("a", [3.0])
            assert theirs.wait_for("a", timeout=0.0).array.tolist() == [3.0]
            ours._header["state"] = 2
            begin = fake.now
            with pytest.raises(SimulatorGone, match="its simulator has gone"):
                theirs.await_step(timeout=9.0)
            assert fake.now - begin == pytest.approx(0.05, abs=1e-3)


def test_joining_waits_for_the_simulator(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    fake = FakeTime()
    monkeypatch.setattr(shared_memory, "time", fake)
    with pytest.raises(InputError, match="there is no such segment; start the simulator first"):
        SharedSegment.attach(name, wait=0.5)
    assert fake.now == pytest.approx(100.5, abs=0.0101) and fake.naps == pytest.approx(50, abs=1)
    before = fake.naps
    with pytest.raises(InputError, match="there is no such segment"):
        SharedSegment.attach(name)
    assert fake.naps == before, "who does not want to wait looks once"
    path = Path("/dev/shm") / name
    for content, why in (
        (b"", "not .yet. a segment"),
        (bytes(300), "not .yet. a segment"),
        (b"TUSSOCK\0" + bytes(200), "not .yet."),
    ):
        path.write_bytes(content)
        with pytest.raises(InputError, match=why):
            SharedSegment.attach(name)
    path.write_bytes((b"TUSSOCK\0" + struct.pack("<I", 2)).ljust(256, b"\0"))
    with pytest.raises(InputError, match="has another layout version"):
        SharedSegment.attach(name)
    path.write_bytes((b"TUSSOCK\0" + struct.pack("<I", 1)).ljust(256, b"\0"))
    with pytest.raises(InputError, match="its simulator has gone"):
        SharedSegment.attach(name)
    path.write_bytes(b"something else")
    with pytest.raises(OutputError, match="belongs to another program"):
        SharedSegment.create(name, [ChannelSpec("a", "out", "f4", (1,))])
    path.write_bytes(bytes(20))
    with SharedSegment.create(name, [ChannelSpec("a", "out", "f4", (1,))]):
        pass
    assert shm_files.process_start(2**31) == 0


def test_a_run_tells_and_is_told(name: str) -> None:
    """Points, pose and numbers of a frame; a pose that comes back is where the next frame ends."""
    sensor = load_sensor("vlp-16")
    frame = made_frame(sensor, 2, share=0.01, pose=Pose.at(1, 2, 3))
    with (
        SharedRun(name, sensor, Pose.at(1, 2, 3), image_shape=(2, 3)) as run,
        SharedSegment.attach(name, control=True) as theirs,
    ):
        run.publish(frame, dropped=4, speed=2.5)
        points = theirs.latest("points")
        rings = np.argsort(np.argsort(sensor.pattern.elevation_deg))
        assert points is not None and points.time == pytest.approx(0.3) and points.array.shape == (len(frame), 6)
        assert (
            points.array[:, :3] == pytest.approx(frame.xyz)
            and points.array[:, 4].tolist() == rings[frame.laser].tolist()
        )
        assert points.array[:, 5] == pytest.approx(frame.time - 0.2, abs=1e-6)
        assert theirs.latest("numbers").array == pytest.approx([2, 0.2, 0.3, frame.pulses, len(frame), 4, 2.5, 0])  # type: ignore[union-attr]
        assert theirs.latest("pose").array == pytest.approx([1, 2, 3, 0, 0, 0, 1])  # type: ignore[union-attr]
        run.publish_image(np.full((2, 3, 3), 9, np.uint8), time=0.7)
        assert theirs.latest("image").time == 0.7  # type: ignore[union-attr]
        first = run.path(3)
        assert isinstance(first, Pose) and first.position.tolist() == [1, 2, 3]
        theirs.publish("pose_in", [5, 2, 3, 0, 0, 0, 1])
        moved = run.path(3)
        assert isinstance(moved, Trajectory) and moved.times.tolist() == pytest.approx([0.3, 0.4])
        assert moved.positions.tolist() == [[1, 2, 3], [5, 2, 3]]
        still = run.path(4)
        assert isinstance(still, Pose) and still.position.tolist() == [5, 2, 3]
        assert run.command == Command.GO_ON and run.numbers is None
        for value, command in (
            (1, Command.PAUSE),
            (2, Command.STOP),
            (3, Command.GO_ON),
            (-1, Command.GO_ON),
            (0, Command.GO_ON),
        ):
            theirs.publish("command", [value])
            assert run.command == command
        theirs.publish("numbers_in", np.arange(16.0))
        assert run.numbers is not None and run.numbers.tolist() == list(range(16))
    some = frame.select(np.arange(3))
    assert shared_points(some, rings.astype(np.uint16), 0.0)[:, 3] == pytest.approx(some.intensity)
