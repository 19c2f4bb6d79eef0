"""Captures as pulses: every pulse of the sensor, with or without return, and each mistake in one line."""

from __future__ import annotations

import numpy as np
import pytest

from tussock.errors import InputError
from tussock.learn.readers.read_pulses import load_pulses
from tussock.poses import Pose, Trajectory
from tussock.scene.material import Material
from tussock.scene.primitives import box, plane
from tussock.scene.response import VegetationResponse
from tussock.scene.scene import Scene
from tussock.sensors.catalogue import load_sensor
from tussock.simulate import scan
from tussock.trace.world import World
from tussock.wire.captures.datagrams import CaptureWarning
from tussock.wire.packets import EPOCH
from tussock.wire.recording import open_recording

WHITE = Material(name="white", reflectance=0.8)


def yard() -> Scene:
    """Ground, and a wall ahead; above it the sky, where pulses have no return."""
    scene = Scene("yard")
    scene.add(plane((80, 80), material=WHITE), name="ground")
    scene.add(box((0.2, 30, 3), material=WHITE), name="wall", position=(9, 0, 1.5))
    return scene


def recorded(path, name: str, scene: Scene | None = None, **settings):
    """Three frames of a sensor as a capture, and the frames."""
    sensor = load_sensor(name).with_(**({"noise.ray_sigma_m": 0.0} | settings))
    frames = []
    with open_recording(path, sensor, force=True) as run:
        for number in range(3):
            frames.append(scan(scene or yard(), sensor, Pose.at(0, 0, 1.5), frame=number, keep_misses=True))
            run.write(frames[-1])
    return sensor, frames


@pytest.mark.parametrize("name", ["vlp-16", "hdl-32e", "vlp-32c", "vls-128"])
def test_every_pulse_is_there_where_it_went(tmp_path, name: str) -> None:
    sensor, frames = recorded(tmp_path / "run.pcap", name)
    pulses = load_pulses(tmp_path / "run.pcap")
    fired = sum(frame.pulses for frame in frames)
    # The encoder closes the last packet with empty firings, and the decoder may drop what follows the last revolution.
    assert len(pulses) == pytest.approx(fired, rel=0.01)
    assert pulses.hit.mean() == pytest.approx(np.mean([frame.hit.mean() for frame in frames]), abs=0.01)
    assert len(np.unique(pulses.rings)) == sensor.lasers
    steps = pulses.ranges[pulses.hit] / sensor.receiver.range_step_m
    assert np.abs(steps - np.rint(steps)).max() < 0.03
    # A pulse that ended on the ground ended where its line meets it, up to the decoder's offsets of a laser.
    ground = pulses.hit & (pulses.directions[:, 2] < -0.1) & (pulses.points[:, 0] < 5)
    assert ground.sum() > 1000
    assert np.abs(pulses.points[ground, 2] + 1.5).max() < 0.07
    # Pulses without return went up, or flat and far; but the last packet was filled up with none.
    before = pulses.turns < pulses.turns.max()
    assert pulses.directions[before & ~pulses.hit, 2].min() > -0.1
    rising = [np.median(pulses.directions[pulses.rings == ring, 2]) for ring in range(sensor.lasers)]
    assert (np.diff(rising) > 0).all()


def test_of_two_returns_the_strongest_is_taken(tmp_path) -> None:
    scene = yard()
    scene.add(
        box((0.2, 8, 3), material=WHITE), name="hedge", position=(5, 0, 1.5), tags=["vegetation"],
        response=VegetationResponse(sigma_m=0.3),
    )  # fmt: skip
    _, frames = recorded(tmp_path / "dual.pcap", "vlp-16", scene, **{"receiver.mode": "strongest+last"})
    pulses = load_pulses(tmp_path / "dual.pcap")
    assert len(pulses) == pytest.approx(sum(frame.pulses for frame in frames), rel=0.02)
    wanted = np.concatenate([f.range[(f.return_number == 1) & f.hit] for f in frames])
    assert np.sort(pulses.ranges[pulses.hit])[::500] == pytest.approx(np.sort(wanted)[::500], abs=0.01)


def test_a_short_capture_of_an_hdl_64e_must_be_named(tmp_path) -> None:
    _, frames = recorded(tmp_path / "run.pcap", "hdl-64e-s3")
    with pytest.raises(InputError, match="factory bytes"):
        load_pulses(tmp_path / "run.pcap")
    with pytest.raises(InputError, match="model 'hdl-65e': no such model; did you mean 'hdl-"):
        load_pulses(tmp_path / "run.pcap", model="hdl-65e")
    pulses = load_pulses(tmp_path / "run.pcap", model="hdl-64e-s3")
    assert len(pulses) == pytest.approx(sum(frame.pulses for frame in frames), rel=0.02)
    assert np.abs(pulses.origins[:, :2]).max() < 0.1


def test_a_longer_one_tells_its_own_calibration(tmp_path) -> None:
    """All of it has been sent after 4160 packets."""
    sensor = load_sensor("hdl-64e-s3")
    with open_recording(tmp_path / "run.pcap", sensor) as run:
        world = World(yard())
        for number in range(13):
            run.write(scan(world, sensor, Pose.at(0, 0, 1.5), frame=number))
    pulses = load_pulses(tmp_path / "run.pcap", turns=[1])
    ground = pulses.hit & (pulses.directions[:, 2] < -0.1) & (pulses.points[:, 0] < 5)
    assert np.median(np.abs(pulses.points[ground, 2] + 1.5)) < 0.02
    assert len(np.unique(pulses.rings)) == 64


def test_a_trajectory_puts_them_into_the_world(tmp_path) -> None:
    recorded(tmp_path / "run.pcap", "vlp-16")
    still = load_pulses(tmp_path / "run.pcap", turns=[0])
    path = Trajectory.through([EPOCH - 1, EPOCH + 9], [Pose.at(0, 0, 1.5), Pose.at(100, 0, 1.5)])
    moved = load_pulses(tmp_path / "run.pcap", turns=[0], trajectory=path)
    assert moved.origins[:, 0].min() == pytest.approx(10, abs=0.1)
    assert moved.origins[:, 0].max() == pytest.approx(11, abs=0.1)
    assert np.array_equal(moved.ranges[moved.hit], still.ranges[still.hit])
    with pytest.raises(InputError, match=r"trajectory: must cover the times of run\.pcap"):
        load_pulses(tmp_path / "run.pcap", trajectory=Trajectory.through([0, 1], [Pose(), Pose()]))


def test_what_a_capture_lacks_is_said(tmp_path) -> None:
    """What is wrong with packets is told in `tests/unit/wire/velodyne/test_packet_stream.py`."""
    recorded(tmp_path / "run.pcap", "vlp-16")
    raw = (tmp_path / "run.pcap").read_bytes()
    (tmp_path / "run.pcap").write_bytes(raw[:-300])
    with pytest.warns(CaptureWarning, match="ends in the middle of record"):
        load_pulses(tmp_path / "run.pcap")
    notes: list[str] = []
    load_pulses(tmp_path / "run.pcap", say=notes.append)
    assert len(notes) == 1
    (tmp_path / "run.pcap").write_bytes(raw[:24])
    with pytest.raises(InputError, match="must hold Velodyne packets of 1206 bytes, but holds none"):
        load_pulses(tmp_path / "run.pcap")
    with pytest.raises(InputError, match=r"unit: goes with a capture \(\.pcap\), not with frame\.npz"):
        load_pulses(tmp_path / "frame.npz", unit="192.168.1.201")
