"""Shared memory between two processes: python benchmarks/shared_memory.py [READS] [KILLS]

HDL-64E frames a second, torn reads, round trips in lock step, and what happens when either side is killed at random.
"""

import multiprocessing as mp
import os
import random
import signal
import sys
import time

import numpy as np

from tussock.errors import InputError
from tussock.wire.shared.shared_memory import SharedSegment, SimulatorGone
from tussock.wire.shared.shm_layout import ChannelSpec

READS = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
KILLS = int(sys.argv[2]) if len(sys.argv) > 2 else 50
POINTS = 133_376  # one revolution of an HDL-64E S2 at 10 Hz
NAME = os.environ.setdefault("TUSSOCK_BENCH_NAME", f"tussock-bench-{os.getpid()}")  # children inherit it
CHANNELS = [ChannelSpec("points", "out", "f4", (POINTS, 6)), ChannelSpec("pose_in", "in", "f8", (7,))]


def write_frames(rate: float | None) -> None:
    """Every frame is all of one number; at a rate [Hz], or as fast as it goes."""
    with SharedSegment.create(NAME, CHANNELS) as segment:
        frame = np.empty((POINTS, 6), np.float32)
        start, number = time.monotonic(), 0
        while True:
            number += 1
            frame.fill(number % 16_000_000)
            segment.publish("points", frame)
            if rate:
                time.sleep(max(0.0, start + number / rate - time.monotonic()))


def answer() -> None:
    while True:
        try:
            with SharedSegment.attach(NAME, wait=60, control=True) as segment:
                while True:
                    step = segment.await_step(timeout=60)
                    segment.publish("pose_in", np.full(7, float(step)))
                    segment.answer(step)
        except SimulatorGone:
            continue


def simulate(progress) -> None:
    with SharedSegment.create(NAME, CHANNELS, lockstep=True) as segment:
        frame = np.zeros((POINTS, 6), np.float32)
        while True:
            segment.publish("points", frame)
            segment.await_answer(segment.step(), timeout=1.0)
            progress.value += 1


def started(target, *arguments) -> mp.Process:
    process = mp.get_context("spawn").Process(target=target, args=arguments, daemon=True)
    process.start()
    return process


def ended(process: mp.Process) -> None:
    os.kill(process.pid, signal.SIGKILL)
    process.join()


def frames_per_second() -> None:
    writer = started(write_frames, 250.0)
    with SharedSegment.attach(NAME, wait=60) as segment:
        number, count, begin = segment.wait_for("points", timeout=60).number, 0, time.perf_counter()
        while time.perf_counter() < begin + 5:
            number = segment.wait_for("points", after=number, timeout=10).number
            count += 1
        print(f"frames of {POINTS:,} points read: {count / 5:.0f} a second, of 250 written")
    ended(writer)


def torn_reads() -> None:
    writer = started(write_frames, None)
    torn = 0
    with SharedSegment.attach(NAME, wait=60) as segment:
        segment.wait_for("points", timeout=60)
        begin = time.perf_counter()
        for _ in range(READS):
            array = segment.latest("points").array
            torn += not (array == array[0, 0]).all()
        taken = time.perf_counter() - begin
        written = segment.latest("points").number
    ended(writer)
    print(f"{READS:,} reads of 3.2 MB in {taken:.0f} s beside {written:,} writes at full speed: {torn} torn")


def round_trips() -> None:
    consumer = started(answer)
    with SharedSegment.create(NAME, CHANNELS, lockstep=True) as segment:
        assert segment.await_answer(segment.step(), timeout=60)
        begin, count = time.perf_counter(), 10_000
        for _ in range(count):
            assert segment.await_answer(segment.step(), timeout=10)
        print(f"lock step: {count / (time.perf_counter() - begin):,.0f} round trips a second")
        ended(consumer)


def kills() -> None:
    progress = mp.get_context("spawn").Value("q", 0, lock=False)
    simulator, consumer = started(simulate, progress), started(answer)
    harmed = 0
    for turn in range(KILLS):
        seen, end = progress.value, time.monotonic() + 30
        while progress.value < seen + 5 and time.monotonic() < end:
            time.sleep(0.001)
        harmed += progress.value < seen + 5
        time.sleep(random.random() * 0.02)
        if turn % 2:
            ended(simulator)
            harmed += not consumer.is_alive()
            simulator = started(simulate, progress)
        else:
            ended(consumer)
            harmed += not simulator.is_alive()
            consumer = started(answer)
    ended(consumer)
    ended(simulator)
    print(f"{KILLS} kills of either side at random: {harmed} times the other hung or died")


if __name__ == "__main__":
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    try:
        frames_per_second()
        torn_reads()
        round_trips()
        kills()
    except InputError as error:
        print(error)
    finally:
        if os.path.exists(f"/dev/shm/{NAME}"):  # noqa: PTH110
            os.unlink(f"/dev/shm/{NAME}")  # noqa: PTH108
