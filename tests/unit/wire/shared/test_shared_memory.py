"""Shared segments: layout, sequence lock, life and death of both sides."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tussock.errors import InputError, OutputError
from tussock.wire.shared import shm_layout
from tussock.wire.shared.shared_memory import SharedSegment, SimulatorGone
from tussock.wire.shared.shm_files import process_start
from tussock.wire.shared.shm_layout import CHANNEL, HEADER, SLOT, ChannelSpec

if not Path("/dev/shm").is_dir():
    pytest.skip("this system has no /dev/shm: run it on Linux", allow_module_level=True)

ROOT = Path(__file__).parents[4]
CHANNELS = [
    ChannelSpec("points", "out", "f4", (1000, 6)),
    ChannelSpec("image", "out", "u1", (4, 5, 3)),
    ChannelSpec("pose_in", "in", "f8", (7,)),
]


@pytest.fixture
def name(request):
    chosen = f"tussock-test-{os.getpid()}-{abs(hash(request.node.name)) % 10**8}"
    yield chosen
    (Path("/dev/shm") / chosen).unlink(missing_ok=True)


def start(code: str, *words: str) -> subprocess.Popen[str]:
    """Another Python process."""
    text = (
        "import sys, os, time\nimport numpy as np\n"
        "from tussock.wire.shared.shared_memory import SharedSegment, SimulatorGone\n"
        "from tussock.wire.shared.shm_layout import ChannelSpec\nfrom tussock.errors import InputError\n"
    ) + code
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.Popen(
        [sys.executable, "-c", text, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def test_arrays_go_both_ways(name: str) -> None:
    with SharedSegment.create(name, CHANNELS) as ours, SharedSegment.attach(name, control=True) as theirs:
        assert theirs.channels == ("points", "image", "pose_in")
        assert theirs.latest("points") is None
        for number in range(1, 6):
            points = np.full((number, 6), number, np.float32)
            assert ours.publish("points", points, time=number / 10) == number
            sample = theirs.latest("points")
            assert (sample.number, sample.time) == (number, number / 10)
            np.testing.assert_array_equal(sample.array, points)
        assert theirs.latest("points", after=5) is None
        image = np.arange(60, dtype=np.uint8).reshape(4, 5, 3)
        ours.publish("image", image)
        np.testing.assert_array_equal(theirs.latest("image").array, image)
        theirs.publish("pose_in", np.arange(7.0))
        np.testing.assert_array_equal(ours.latest("pose_in").array, np.arange(7.0))


def test_the_layout_is_what_it_says(name: str) -> None:
    """Read with nothing but offsets, as C or MATLAB would."""
    with SharedSegment.create(name, CHANNELS, lockstep=True) as ours:
        ours.publish("points", np.arange(12, dtype=np.float32).reshape(2, 6), time=1.5)
        raw = (Path("/dev/shm") / name).read_bytes()

        def number(at: int, kind: str = "<u8"):
            return np.frombuffer(raw, kind, 1, at)[0]

        assert raw[:8] == b"TUSSOCK\0"
        assert [number(8, "<u4"), number(12, "<u4"), number(16)] == [1, 1, len(raw)]
        assert [number(24, "<u4"), number(28, "<u4"), number(32)] == [3, 128, 1]
        assert number(40) == os.getpid()
        entry = 256
        assert raw[entry : entry + 7] == b"points\0"
        assert [number(entry + k, "<u4") for k in (40, 44, 48)] == [1, 9, 2]
        assert [number(entry + k) for k in (56, 64, 72)] == [1000, 6, 1]
        assert number(entry + 96) == 1
        slot = int(number(entry + 80)) + int(number(entry + 88))  # the first array lies in slot 1
        assert slot % 64 == 0
        assert [number(slot), number(slot + 8), number(slot + 16, "<f8"), number(slot + 24)] == [2, 1, 1.5, 2]
        np.testing.assert_array_equal(np.frombuffer(raw, "<f4", 12, slot + 64), np.arange(12))


def test_documents_and_examples_have_the_same_offsets() -> None:
    """The tables for people, the MATLAB script and the code say the same."""
    document = (ROOT / "docs" / "shared_memory.md").read_text(encoding="utf-8")
    for title, layout in (("Header", HEADER), ("Channel entry", CHANNEL), ("Slot", SLOT)):
        table = document.split(f"### {title}")[1].split("###")[0]
        told = {match[1]: int(match[0]) for match in re.findall(r"^\| (\d+) \| `(\w+)` \|", table, re.MULTILINE)}
        assert told == {field: layout.fields[field][1] for field in layout.names}
        assert f"{layout.itemsize} bytes" in table
    for kind, code in shm_layout.ELEMENT_TYPES.items():
        assert f"| {code} | `{kind}` |" in document

    script = (ROOT / "examples" / "44_shared_memory.m").read_text(encoding="utf-8")
    sizes = {"uint8": 1, "uint32": 4, "uint64": 8, "double": 8}
    at = 0
    for kind, count, field, told in re.findall(r"'(\w+)', +\[1 (\d+)\], '(\w+)'[^%\n]*%\s+(\d+)", script):
        at = 0 if int(told) == 0 else at
        assert at == int(told), field
        at += sizes[kind] * int(count)


def test_what_may_not_be_written(name: str) -> None:
    with SharedSegment.create(name, CHANNELS) as ours, SharedSegment.attach(name) as theirs:
        with pytest.raises(InputError, match=r"holds arrays of up to \(1000, 6\), got \(1001, 6\)"):
            ours.publish("points", np.zeros((1001, 6)))
        with pytest.raises(InputError, match="is written by the other side"):
            ours.publish("pose_in", np.zeros(7))
        with pytest.raises(InputError, match="attach with control=True"):
            theirs.publish("pose_in", np.zeros(7))
        with pytest.raises(InputError, match="did you mean 'points'"):
            theirs.latest("point")


def test_names(name: str) -> None:
    with pytest.raises(InputError, match="must be letters"):
        SharedSegment.create("../etc/passwd", CHANNELS)
    with pytest.raises(InputError, match="there is no such segment; start the simulator first"):
        SharedSegment.attach(name)
    busy = pytest.raises(OutputError, match=f"is in use by process {os.getpid()}; choose another name")
    with SharedSegment.create(name, CHANNELS), busy:
        SharedSegment.create(name, CHANNELS)
    assert not (Path("/dev/shm") / name).exists()
    (Path("/dev/shm") / name).write_bytes(b"somebody else's memory")
    with pytest.raises(OutputError, match="belongs to another program"):
        SharedSegment.create(name, CHANNELS)
    with pytest.raises(InputError, match="not"):
        SharedSegment.attach(name)


def test_too_large_for_the_machine_is_one_line(name: str) -> None:
    with pytest.raises(OutputError, match="no space left in shared memory"):
        SharedSegment.create(name, [ChannelSpec("points", "out", "f8", (10**9, 10**3))])
    assert not (Path("/dev/shm") / name).exists()


def test_a_killed_simulator_leaves_a_stale_segment_that_is_replaced(name: str) -> None:
    code = (
        "s = SharedSegment.create(sys.argv[1], [ChannelSpec('points', 'out', 'f4', (1000, 6))])\n"
        "s.publish('points', np.ones((3, 6)))\nprint('up', flush=True)\ntime.sleep(60)\n"
    )
    simulator = start(code, name)
    assert simulator.stdout.readline() == "up\n"
    with SharedSegment.attach(name) as reader:
        assert reader.simulator_alive
        simulator.send_signal(signal.SIGKILL)
        simulator.wait()
        assert not reader.simulator_alive
        with pytest.raises(SimulatorGone, match="its simulator has gone"):
            reader.wait_for("points", after=1, timeout=10)
        assert len(reader.latest("points").array) == 3  # what it has mapped stays readable
        with pytest.raises(InputError, match="its simulator has gone"):
            SharedSegment.attach(name)
        with SharedSegment.create(name, CHANNELS) as again, SharedSegment.attach(name) as late:
            again.publish("points", np.zeros((2, 6)))
            assert len(late.latest("points").array) == 2
            assert len(reader.latest("points").array) == 3
    simulator.communicate()


def test_a_writer_killed_half_way_hides_nothing(name: str) -> None:
    """An odd sequence in the other slot: readers keep the last whole array, the next writer goes on."""
    with SharedSegment.create(name, CHANNELS) as ours, SharedSegment.attach(name) as theirs:
        ours.publish("points", np.full((5, 6), 1.0))
        row = ours._row("points", None)
        slot, data = ours._slot(row, 2)
        slot["sequence"] = 7
        data[:] = np.nan
        assert (theirs.latest("points").array == 1.0).all()
        ours.publish("points", np.full((5, 6), 2.0))
        sample = theirs.latest("points")
        assert sample.number == 2 and (sample.array == 2.0).all()


WRITER = """
with SharedSegment.create(sys.argv[1], [ChannelSpec('points', 'out', 'f4', (20000, 6))]) as s:
    print('up', flush=True)
    value, end = 0, time.monotonic() + 120
    while time.monotonic() < end:
        value += 1
        s.publish('points', np.full((20000 - value % 7, 6), value, np.float32))
"""


def test_no_read_is_torn(name: str) -> None:
    """A writer at full speed: every array is whole, of one number and of its own length."""
    writer = start(WRITER, name)
    assert writer.stdout.readline() == "up\n"
    try:
        with SharedSegment.attach(name, wait=5) as reader:
            last = 0
            for _ in range(1500):
                sample = reader.wait_for("points", after=last, timeout=20)
                value = sample.array[0, 0]
                assert value == sample.number and len(sample.array) == 20000 - int(value) % 7
                assert (sample.array == value).all()
                assert sample.number > last
                last = sample.number
    finally:
        writer.kill()
        writer.communicate()


def test_lock_step_and_its_time_out(name: str) -> None:
    consumer = (
        "with SharedSegment.attach(sys.argv[1], wait=20, control=True) as s:\n"
        "    for _ in range(int(sys.argv[2])):\n"
        "        step = s.await_step(timeout=20)\n"
        "        s.publish('pose_in', np.full(7, step))\n"
        "        s.answer(step)\n"
    )
    with SharedSegment.create(name, CHANNELS, lockstep=True) as ours:
        other = start(consumer, name, "50")
        for number in range(1, 51):
            ours.publish("points", np.full((3, 6), number))
            step = ours.step()
            assert ours.await_answer(step, timeout=30)
            assert ours.latest("pose_in").array[0] == step == number
        assert other.wait(30) == 0, other.stderr.read()
        other.communicate()
        begin = time.monotonic()
        assert not ours.await_answer(ours.step(), timeout=0.2)
        assert 0.15 < time.monotonic() - begin < 5
        # Another consumer takes its place and answers what was left open.
        late = start(consumer, name, "1")
        assert ours.await_answer(51, timeout=30)
        late.communicate()


def test_one_consumer_has_control(name: str) -> None:
    code = "try:\n    SharedSegment.attach(sys.argv[1], control=True)\nexcept InputError as error:\n    print(error)\n"
    with SharedSegment.create(name, CHANNELS), SharedSegment.attach(name, control=True):
        told, _ = start(code, name).communicate(timeout=60)
        assert f"is controlled by process {os.getpid()} already" in told


CONSUMER = """
while True:
    try:
        with SharedSegment.attach(sys.argv[1], wait=30, control=True) as s:
            while True:
                step = s.await_step(timeout=30)
                s.latest('points')
                s.publish('pose_in', np.full(7, step))
                s.answer(step)
    except SimulatorGone:
        continue
"""
SIMULATOR = """
specs = [ChannelSpec('points', 'out', 'f4', (2000, 6)), ChannelSpec('pose_in', 'in', 'f8', (7,))]
with SharedSegment.create(sys.argv[1], specs, lockstep=True) as s:
    while True:
        s.publish('points', np.ones((2000, 6)))
        step = s.step()
        s.await_answer(step, timeout=1.0)
        print(step, flush=True)
"""


def test_killing_either_side_harms_nobody(name: str) -> None:
    """The other side goes on with the next one; fifty times in benchmarks/shared_memory.py."""
    rng = np.random.default_rng(1)
    simulator, consumer = start(SIMULATOR, name), start(CONSUMER, name)
    try:
        for turn in range(6):
            for _ in range(int(rng.integers(3, 40))):
                assert simulator.stdout.readline(), simulator.stderr.read()
            if turn % 2:
                simulator.kill()
                simulator.communicate()
                assert consumer.poll() is None, consumer.stderr.read()
                simulator = start(SIMULATOR, name)
            else:
                consumer.kill()
                consumer.communicate()
                assert simulator.poll() is None, simulator.stderr.read()
                consumer = start(CONSUMER, name)
        for _ in range(20):
            assert simulator.stdout.readline()
    finally:
        for process in (simulator, consumer):
            process.kill()
            process.communicate()


def test_a_process_is_told_from_a_later_one_of_its_number() -> None:
    """By when it started: that of this one lies before that of its child, and both before now."""
    ours = process_start(os.getpid())
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        theirs = process_start(child.pid)
        child.communicate(b"\n")
    up = float(Path("/proc/uptime").read_text().split()[0]) * os.sysconf("SC_CLK_TCK")
    assert 0 < ours <= theirs <= up + 1
    assert process_start(os.getpid()) == ours
    assert process_start(2**22 + 1) == 0, "none has that number"
