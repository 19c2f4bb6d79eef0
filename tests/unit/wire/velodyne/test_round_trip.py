"""Any gaps, any sensor, any mode: written to a capture and read back, exactly the pulses that were fired.

Made frames stand for scenes here: what is written and read are the pulses of a frame, and a made one can have gaps of a
shape that no scene of ours has.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from gappy_frames import gappy_frame
from tussock.poses import Pose
from tussock.scene.primitives import plane
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.sensors.sensor import Sensor
from tussock.simulate import scan
from tussock.wire.packets import EPOCH
from tussock.wire.read_firings import read_firings
from tussock.wire.recording import open_recording

NAMES = [
    "vlp-16", "puck-hi-res", "hdl-32e", "vlp-32c", "hdl-64e-s2", "hdl-64e-s3", "hdl-64e-s3-dual", "vls-128",
    "vls-128-recorded",
]  # fmt: skip
MODES = ["strongest", "last", "strongest+last"]
CASES = 20
"""of each sensor in each mode: 540 in all"""


def sensor_of(name: str, mode: str, rng: np.random.Generator) -> Sensor:
    sensor = load_sensor(name)
    low, high = sensor.pattern.rotation_hz_limits
    rate = float(rng.choice([max(low, high / 2), high, round(float(rng.uniform(high / 2, high)), 2)]))
    start = float(rng.choice([0.0, 90.0, -33.3]))
    return sensor.with_(**{"receiver.mode": mode, "rotation_hz": rate, "pattern.start_deg": start})


def named(name: str) -> str | None:
    """Short captures of an HDL-64E do not tell their model."""
    return name if name.startswith("hdl-64e") else None


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("mode", MODES)
def test_gaps_of_any_shape(tmp_path: Path, name: str, mode: str) -> None:
    for case in range(CASES):
        rng = np.random.default_rng([case, NAMES.index(name), MODES.index(mode)])
        check(tmp_path / "run.pcap", sensor_of(name, mode, rng), name, rng)


def check(path: Path, sensor: Sensor, name: str, rng: np.random.Generator) -> None:
    first = int(rng.integers(0, 3))
    numbers = range(first, first + int(rng.integers(1, 3)))
    made = [gappy_frame(sensor, number, rng) for number in numbers]
    with open_recording(path, sensor, force=True) as run:
        for frame, _ in made:
            run.write(frame)
    notes: list[str] = []
    found = read_firings(path, model=named(name), say=notes.append)
    assert notes == []
    pulses = [sensor.pulses(number) for number in numbers]
    fired = sum(len(part) for part in pulses)
    # The last packet is completed with firings without return.
    assert fired <= len(found) and not np.isfinite(found.ranges[fired:]).any()
    found = found.select(slice(fired))
    np.testing.assert_array_equal(found.lasers, np.concatenate([part.lasers for part in pulses]))
    mode = str(sensor.receiver.mode)
    kinds = ("strongest", "last") if mode == "strongest+last" else (mode,)
    # An HDL-64E tells strongest from last only in the table that it sends over a second.
    assert found.kinds == kinds or (name.startswith("hdl-64e") and found.kinds == ("strongest",))
    for column, kind in enumerate(kinds):
        steps = np.nan_to_num(found.ranges[:, column] / sensor.receiver.range_step_m)
        np.testing.assert_array_equal(np.rint(steps), np.concatenate([truth[kind] for _, truth in made]))
        assert np.abs(steps - np.rint(steps)).max() < 1e-6
    # The wire has 0.01°; the rate is known from one packet to the next.
    azimuth = np.concatenate([part.azimuths for part in pulses])
    assert np.rad2deg(np.abs(np.angle(np.exp(1j * (found.azimuths - azimuth))))).max() < 0.0051 + 0.002
    elevation = np.concatenate([part.elevations for part in pulses])
    np.testing.assert_allclose(np.arcsin(found.directions[:, 2]), elevation, atol=1e-6)
    if sensor.pattern.axis_height_m:
        np.testing.assert_allclose(found.origins, np.concatenate([part.origins for part in pulses]), atol=1e-6)
    times = np.concatenate([n * sensor.frame_period + p.offsets for n, p in zip(numbers, pulses, strict=True)])
    assert np.abs(found.times - EPOCH - times).max() < 3e-6
    # A revolution ends where the head has turned around, up to the wire's 0.01° in the azimuth.
    turns = np.concatenate([np.full(len(part), k) for k, part in enumerate(pulses)])
    assert (found.turns != turns).sum() <= len(pulses) * sensor.lasers


def patches(*places: tuple[float, float], size: float) -> Scene:
    scene = Scene("patches")
    for k, (x, y) in enumerate(places):
        scene.add(plane((size, size)), name=f"patch {k}", position=(x, y, 0))
    return scene


@pytest.mark.parametrize("name", ["vlp-16", "hdl-32e", "vlp-32c", "vls-128"])
@pytest.mark.parametrize("mode", ["strongest", "strongest+last"])
@pytest.mark.parametrize(
    "scene",
    [
        patches((6, 0), (-4, 5), (-3, -6), size=3.0),
        patches((5, 1), (-6, -2), size=0.8),
        patches((200, 0), size=1.0),
    ],
    ids=["three patches", "two small ones", "nothing in reach"],
)
def test_patches_of_ground_with_nothing_between(tmp_path: Path, scene: Scene, name: str, mode: str) -> None:
    sensor = load_sensor(name).with_(**{"receiver.mode": mode})
    with open_recording(tmp_path / "run.pcap", sensor) as run:
        frames = [scan(scene, sensor, Pose.at(0, 0, 1.5), frame=k, keep_misses=True) for k in range(3)]
        for frame in frames:
            run.write(frame)
    found = read_firings(tmp_path / "run.pcap")
    ranges = []
    for frame in frames:
        one = frame.select(frame.return_number <= 1)
        assert len(one) == frame.pulses
        steps = np.rint(one.range / np.float32(sensor.receiver.range_step_m))
        ranges.append(np.where(one.hit & (steps >= 1) & (steps <= 65535), steps, 0))
    wanted = np.concatenate(ranges)
    got = np.nan_to_num(found.ranges[: len(wanted), 0]) / sensor.receiver.range_step_m
    np.testing.assert_array_equal(np.rint(got), wanted)
