"""What several test files need: the command line, a plain sensor, and the exact rays that a sensor's pulses are."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation

from real_recordings import recorded
from tussock.poses import Pose, Trajectory
from tussock.sensors.beam import Beam
from tussock.sensors.noise import Noise
from tussock.sensors.patterns.spinning import SpinningPattern
from tussock.sensors.receiver import Receiver
from tussock.sensors.sensor import Sensor

# No test is timed: the first call of a kernel compiles it, and machines are busy.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")

# A shell that runs the suite in the background lets it ignore Ctrl-C, and so would every command that a test starts and stops.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that reach for recordings carry a mark, so that they can be run again with the recordings hidden."""
    for item in items:
        if getattr(getattr(item, "module", None), "recorded", None) is recorded:
            item.add_marker("recordings")


@pytest.fixture(autouse=True)
def _pinned_for_one_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a command or a page pins (`--isa`, `--edges`) it pins for its process: here that is for one test."""
    for name in ("TUSSOCK_ISA", "TUSSOCK_EDGES"):
        monkeypatch.setenv(name, os.environ.get(name, ""))


_skipped: set[str] = set()


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.skipped and not hasattr(report, "wasxfail"):
        _skipped.add(report.nodeid)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    if report.skipped:
        _skipped.add(report.nodeid)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """The tests that were skipped, a line each, into the file that TUSSOCK_SKIPPED names: see `make test-skipped`."""
    if (name := os.environ.get("TUSSOCK_SKIPPED")) and not hasattr(session.config, "workerinput"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).write_text("".join(f"{test}\n" for test in sorted(_skipped)))


class Rays(NamedTuple):
    """The axes of pulses in the world, in float64."""

    origins: NDArray[np.float64]
    """[m], shape (n, 3)"""
    directions: NDArray[np.float64]
    """unit vectors, shape (n, 3)"""
    times: NDArray[np.float64]
    """[s], shape (n,)"""


@pytest.fixture
def tussock(monkeypatch, capsys, tmp_path) -> Callable[..., tuple[int, str, str]]:
    """Runs the command line in an empty folder: exit status, standard output, standard error."""
    from tussock.cli.app import main

    monkeypatch.chdir(tmp_path)

    def run(*words: object) -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "argv", ["tussock", *map(str, words)])
        with pytest.raises(SystemExit) as stop:
            main()
        captured = capsys.readouterr()
        code = stop.value.code or 0
        assert isinstance(code, int)
        return code, captured.out, captured.err

    return run


@pytest.fixture(scope="session")
def plain_sensor() -> Callable[..., Sensor]:
    """Makes a sensor without noise: 16 lasers from -15° to 15°, 360 steps at 10 Hz, unless told otherwise."""

    def make(
        *,
        beam: Beam | None = None,
        receiver: Receiver | None = None,
        noise: Noise | None = None,
        **pattern: object,
    ) -> Sensor:
        given: dict[str, object] = {
            "elevation_deg": {"first": -15.0, "last": 15.0, "count": 16},
            "rotation_hz": 10.0,
        }
        if "cycle_us" not in pattern:
            given["steps"] = 360
        return Sensor(
            name="plain",
            pattern=SpinningPattern(**(given | pattern)),
            beam=beam or Beam(),
            receiver=receiver or Receiver(max_range_m=200.0),
            noise=noise or Noise(),
        )

    return make


@pytest.fixture(scope="session")
def rays_of() -> Callable[..., Rays]:
    """Gives the pulses of a frame as rays, each at the exact pose of the sensor at its own time."""

    def rays(sensor: Sensor, pose: Pose | Trajectory, frame: int = 0) -> Rays:
        path = pose if isinstance(pose, Trajectory) else Trajectory.standing(pose)
        pulses = sensor.pulses(frame)
        times = frame * sensor.frame_period + pulses.offsets
        positions, quaternions = path.at(times)
        turn = Rotation.from_quat(quaternions)
        origins = np.zeros((len(pulses), 3)) if pulses.origins is None else pulses.origins.astype(float)
        return Rays(positions + turn.apply(origins), turn.apply(pulses.directions.astype(float)), times)

    return rays


@pytest.fixture(scope="session")
def closed_rays() -> Callable[..., Rays]:
    """Gives the same rays from the angles alone: azimuth −ω·t (the head turns clockwise), elevation by laser."""

    def rays(sensor: Sensor, pose: Pose | Trajectory, frame: int = 0) -> Rays:
        path = pose if isinstance(pose, Trajectory) else Trajectory.standing(pose)
        pattern = sensor.pattern
        assert isinstance(pattern, SpinningPattern)
        assert pattern.clockwise
        assert not pattern.azimuth_deg
        pulses = sensor.pulses(frame)
        times = frame * sensor.frame_period + pulses.offsets
        azimuth = -2 * np.pi * pattern.rotation_hz * times
        elevation = np.deg2rad(pattern.elevation_deg)[pulses.lasers]
        level = np.cos(elevation)
        directions = np.stack([level * np.cos(azimuth), level * np.sin(azimuth), np.sin(elevation)], 1)
        positions, quaternions = path.at(times)
        return Rays(positions, Rotation.from_quat(quaternions).apply(directions), times)

    return rays
