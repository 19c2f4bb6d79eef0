"""A sensor in shared memory, in lock step and by the clock, with consumers in Python and in C."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import tussock.wire.live as live
import tussock.wire.shared.lockstep as lockstep_module
from made_frames import made_frame
from tussock.errors import OutputError
from tussock.poses import Pose, Trajectory
from tussock.sensors.catalogue import load_sensor
from tussock.wire.live import Outlet, stream
from tussock.wire.ros.messages import rings_of
from tussock.wire.shared.lockstep import lockstep
from tussock.wire.shared.shared_memory import SharedSegment
from tussock.wire.shared.shared_run import Command, SharedRun

if not Path("/dev/shm").is_dir():
    pytest.skip("this system has no /dev/shm: run it on Linux", allow_module_level=True)

ROOT = Path(__file__).parents[4]
SENSOR = load_sensor("vlp-16")


@pytest.fixture
def name(request):
    chosen = f"tussock-run-{os.getpid()}-{abs(hash(request.node.name)) % 10**8}"
    yield chosen
    (Path("/dev/shm") / chosen).unlink(missing_ok=True)


@pytest.fixture
def paths(monkeypatch) -> list:
    """Frames by chance instead of a simulation, and the poses that they were asked for."""
    asked: list = []

    def scan(world, sensor, pose=None, *, frame=0, **options):
        asked.append(pose)
        made = made_frame(sensor, frame, share=0.3)
        path = pose if isinstance(pose, Trajectory) else Trajectory.standing(pose or Pose())
        return type(made)(**made.columns, meta=made.meta, trajectory=path)

    monkeypatch.setattr(live, "scan", scan)
    monkeypatch.setattr(lockstep_module, "scan", scan)
    return asked


def test_what_a_consumer_sees(name: str) -> None:
    frame = made_frame(SENSOR, 3, pose=Pose.at(1, 2, 3))
    with SharedRun(name, SENSOR, Pose.at(1, 2, 3), image_shape=(4, 6)) as run, SharedSegment.attach(name) as seen:
        run.publish(frame, dropped=2, speed=1.5)
        points = seen.latest("points")
        np.testing.assert_array_equal(points.array[:, :3], frame.xyz)
        np.testing.assert_array_equal(points.array[:, 3], frame.intensity)
        np.testing.assert_array_equal(points.array[:, 4], rings_of(SENSOR)[frame.laser])
        np.testing.assert_allclose(points.array[:, 5], frame.time - 0.3, atol=1e-7)
        assert points.time == pytest.approx(0.4)
        np.testing.assert_allclose(seen.latest("pose").array, [1, 2, 3, 0, 0, 0, 1])
        told = seen.latest("numbers").array
        np.testing.assert_allclose(told, [3, 0.3, 0.4, frame.pulses, len(frame), 2, 1.5, 0])
        image = np.arange(72, dtype=np.uint8).reshape(4, 6, 3)
        run.publish_image(image, time=0.35)
        np.testing.assert_array_equal(seen.latest("image").array, image)


def test_any_frame_fits(name: str) -> None:
    """Revolutions differ by a firing cycle; with two returns a pulse there is room for twice as many."""
    sensor = SENSOR.with_(**{"receiver.mode": "strongest+last"})
    with SharedRun(name, sensor, Pose()) as run:
        for number in range(5):
            run.publish(made_frame(sensor, number, returns="dual", share=1.0))


def test_what_comes_back(name: str) -> None:
    with SharedRun(name, SENSOR, Pose.at(0, 0, 2)) as run, SharedSegment.attach(name, control=True) as other:
        assert run.command == Command.GO_ON and run.numbers is None
        np.testing.assert_array_equal(run.path(0).position, [0, 0, 2])
        other.publish("pose_in", [1, 0, 2, 0, 0, 0, 1])
        moved = run.path(1)
        assert moved.times.tolist() == pytest.approx([0.1, 0.2])
        np.testing.assert_allclose(moved.positions, [[0, 0, 2], [1, 0, 2]])
        np.testing.assert_array_equal(run.path(2).position, [1, 0, 2])  # nothing new: it stands there
        other.publish("numbers_in", np.arange(16.0))
        np.testing.assert_array_equal(run.numbers, np.arange(16.0))
        other.publish("command", [Command.STOP])
        assert run.command == Command.STOP
        other.publish("command", [77])
        assert run.command == Command.GO_ON


def test_lock_step_with_the_consumer_in_c(name: str, paths: list, tmp_path: Path) -> None:
    """Compiled here without warnings, it sees each frame once and moves the sensor half a metre a step."""
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        pytest.skip("this system has no C compiler: apt-get install gcc")
    program = tmp_path / "consumer"
    source = ROOT / "examples" / "43_shared_memory.c"
    subprocess.run(
        [compiler, "-O2", "-std=c11", "-Wall", "-Wextra", "-Werror", "-o", program, source, "-lm"], check=True
    )
    with SharedRun(name, SENSOR, Pose.at(0, 0, 2), lockstep=True) as run:
        consumer = subprocess.Popen([program, name, "4"], stdout=subprocess.PIPE, text=True)
        frames = list(lockstep(None, SENSOR, run, range(100), timeout=60))
        told, _ = consumer.communicate(timeout=30)
    assert consumer.returncode == 0
    assert len(frames) == 4
    for line, frame, step in zip(told.splitlines(), frames, range(1, 5), strict=True):
        nearest = np.linalg.norm(frame.xyz.astype(float), axis=1).min()
        assert line == f"step {step}: {len(frame)} points, the nearest {nearest:.3f} m away"
    assert paths[3].positions[:, 0].tolist() == [1.0, 1.5]
    missing = subprocess.Popen([program, name, "1"], stderr=subprocess.PIPE, text=True)
    time.sleep(0.1)
    missing.kill()
    missing.communicate()


def test_lock_step_without_a_consumer_ends_with_one_line(name: str, paths: list) -> None:
    alone = pytest.raises(OutputError, match=r"nobody answered on .* within 0\.1 s; start a consumer")
    with SharedRun(name, SENSOR, Pose(), lockstep=True) as run, alone:
        list(lockstep(None, SENSOR, run, range(5), timeout=0.1))


def test_free_running_publishes_by_the_clock(name: str, paths: list) -> None:
    """Nobody reads, then somebody does, who stops it."""
    seen: list[int] = []

    def consume() -> None:
        with SharedSegment.attach(name, wait=20, control=True) as other:
            number = 0
            for _ in range(4):
                sample = other.wait_for("points", after=number, timeout=20)
                number = sample.number
                seen.append(round(sample.time * 10))
            other.publish("command", [Command.STOP])

    with SharedRun(name, SENSOR, Pose.at(0, 0, 2)) as run:
        thread = threading.Thread(target=consume)
        thread.start()
        (report,) = stream(None, [Outlet(SENSOR, Pose.at(0, 0, 2), share=run)], seconds=20)
        thread.join()
    assert seen == sorted(seen) and len(seen) == 4
    assert report.revolutions + report.dropped < 150
    assert report.packets == 0
